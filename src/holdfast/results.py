"""What every result object offers: a table, plain values for JSON, and a view in notebooks."""

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

SHOWN_ROWS = 20
"""Rows of a table in a notebook; ``to_frame()`` has all."""


class ResultMixin:
    """Gives a result ``to_dict()``, ``to_frame()`` and a view in notebooks, from the fields of its dataclass.

    Override :meth:`to_frame` where a result is a table of its own, and :meth:`to_dict` where its fields are not what a
    reader wants. Whatever is overridden, ``to_dict()`` returns what :func:`to_plain` makes.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
        """
        return {field.name: to_plain(getattr(self, field.name)) for field in _fields(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers and texts as a frame of one row.

        Returns
        -------
        DataFrame
        """
        values = {field.name: getattr(self, field.name) for field in _fields(self)}
        return pd.DataFrame([{name: value for name, value in values.items() if _is_scalar(value)}])

    @property
    def _title(self) -> str:
        """The line above the table in a notebook."""
        return repr(self).split("\n", 1)[0]

    def _repr_html_(self) -> str:
        """Return the view in notebooks: a line and the first rows of the table, all of it escaped."""
        frame = self.to_frame()
        hidden = len(frame) - SHOWN_ROWS
        more = f"<p>{hidden:,} more rows: see to_frame().</p>" if hidden > 0 else ""
        table = frame.head(SHOWN_ROWS).to_html(
            index=not isinstance(frame.index, pd.RangeIndex),
            escape=True,
            border=0,
            na_rep="–",
            float_format="{:.3f}".format,
        )
        return f"<div><p>{html.escape(self._title)}</p>{table}{more}</div>"


def _fields(result: Any) -> Any:
    return fields(result) if is_dataclass(result) else ()


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, bool, int, float, np.generic))


def to_plain(value: Any) -> Any:
    """Return a value as JSON can hold it: numbers, texts, lists and mappings; undefined and infinite numbers are None.

    Parameters
    ----------
    value : object
        Numbers, texts, arrays, frames, results, and lists and mappings of them; anything else becomes its text.

    Returns
    -------
    None, bool, int, float, str, list or dict

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.results import to_plain
    >>> to_plain({"value": np.float64("nan"), "sizes": np.array([1, 2])})
    {'value': None, 'sizes': [1, 2]}
    """
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, pd.DataFrame):
        table = value if isinstance(value.index, pd.RangeIndex) else value.reset_index()
        return [to_plain(row) for row in table.to_dict(orient="records")]
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, (np.ndarray, pd.Series)):
        return to_plain(value.tolist())
    if hasattr(value, "to_dict"):
        return to_plain(value.to_dict())
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Iterable):
        return [to_plain(item) for item in value]
    return None if value is pd.NA or value is pd.NaT else str(value)
