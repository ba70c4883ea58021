"""What every result object offers: a table, plain values for JSON, and a view in notebooks."""

import html
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from holdfast.serialization import to_plain

SHOWN_ROWS, SHOWN_COLUMNS = 20, 40
"""Rows of a table in a notebook, and columns above which there is none; ``to_frame()`` has all."""


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
            One entry per attribute.
        """
        return {field.name: to_plain(getattr(self, field.name)) for field in _fields(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers and texts as a frame of one row.

        Returns
        -------
        DataFrame
            One column per attribute that is a number or a text.
        """
        values = {field.name: getattr(self, field.name) for field in _fields(self)}
        return pd.DataFrame([{name: value for name, value in values.items() if _is_scalar(value)}])

    @property
    def _title(self) -> str:
        """The line above the table in a notebook."""
        return repr(self).split("\n", 1)[0]

    def _repr_html_(self) -> str:
        """Return the view in notebooks: a line and the first rows of the table, all of it escaped."""
        title, frame = f"<p>{html.escape(self._title)}</p>", self.to_frame()
        if frame.shape[1] > SHOWN_COLUMNS:
            return f"<div>{title}</div>"
        hidden = len(frame) - SHOWN_ROWS
        more = f"<p>{hidden:,} more rows: see to_frame().</p>" if hidden > 0 else ""
        table = frame.head(SHOWN_ROWS).to_html(
            index=not isinstance(frame.index, pd.RangeIndex),
            escape=True,
            border=0,
            na_rep="–",
            float_format="{:.3f}".format,
        )
        return f"<div>{title}{table}{more}</div>"


def _fields(result: Any) -> Any:
    return fields(result) if is_dataclass(result) else ()


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, bool, int, float, np.generic))
