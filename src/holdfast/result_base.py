"""What every result object offers: a table, plain values for JSON, and a card in notebooks."""

import re
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd

from holdfast.cards import Card, write_card
from holdfast.serialization import to_plain


class ResultMixin:
    """Gives a result ``to_dict()``, ``to_frame()`` and a card in notebooks, from the fields of its dataclass.

    Override :meth:`to_frame` where a result is a table of its own, and :meth:`to_dict` where its fields are not what a
    reader wants. Whatever is overridden, ``to_dict()`` returns what :func:`to_plain` makes. Override :meth:`_card`
    where a notebook should show another line, other columns, or a picture.
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
        """The answer in one line, above the table in a notebook."""
        return repr(self).split("\n", 1)[0]

    def _card(self) -> Card:
        """Return what the card in a notebook holds: the kind of result, the answer in one line, and the table."""
        return Card(title=_words(type(self).__name__), verdict=self._title, frame=self.to_frame())

    def _repr_html_(self) -> str:
        """Return the card for notebooks, everything in it escaped."""
        return write_card(self._card())


def _words(name: str) -> str:
    """Return the name of a class in words: StabilityTest is a stability test."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def _fields(result: Any) -> Any:
    return fields(result) if is_dataclass(result) else ()


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, bool, int, float, np.generic))
