"""What every result object offers: a table, plain values for JSON, and a card in notebooks."""

import re
from dataclasses import fields, is_dataclass
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from holdfast.cards import Card, Svg, write_card
from holdfast.serialization import to_plain

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart as AnyChart
else:
    AnyChart = Any  # a chart of Altair, which is imported when something is drawn


class ResultMixin:
    """Gives a result ``to_dict()``, ``to_frame()`` and a card in notebooks, from the fields of its dataclass.

    A result declares what differs from that: ``_columns``, ``_table_field``, ``_heading`` and ``_shown`` below, its
    answer in one line (:attr:`_title`) and a small picture (:meth:`_picture`). Where more is to be said, it overrides
    :meth:`to_frame`, :meth:`to_dict` or :meth:`_card`; ``to_dict()`` always returns what :func:`to_plain` makes.
    """

    _columns: ClassVar[tuple[str, ...]] = ()
    """Attributes that ``to_dict()`` holds, in their order; the fields of the dataclass if none are named."""
    _table_field: ClassVar[str] = ""
    """Attribute that is the table which ``to_frame()`` returns; a row of numbers and texts if it is empty."""
    _heading: ClassVar[str] = ""
    """Title of the card; the name of the class in words if it is empty."""
    _shown: ClassVar[tuple[str, ...]] = ()
    """Columns of the table that the card shows; all if none are named."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            One entry per attribute.
        """
        return {name: to_plain(getattr(self, name)) for name in self._columns or _field_names(self)}

    def to_frame(self) -> pd.DataFrame:
        """Return the table of the result, or its numbers and texts as a frame of one row.

        Returns
        -------
        DataFrame
            The table; else one column per attribute that is a number or a text.
        """
        if self._table_field:
            table: pd.DataFrame = getattr(self, self._table_field)
            return table
        values = {name: getattr(self, name) for name in _field_names(self)}
        scalar = (str, bool, int, float, np.generic, NoneType)
        return pd.DataFrame([{name: value for name, value in values.items() if isinstance(value, scalar)}])

    @property
    def _title(self) -> str:
        """The answer in one line, above the table in a notebook."""
        return repr(self).split("\n", 1)[0]

    def _picture(self) -> Svg | None:
        """Draw the small picture of the card."""
        return None

    def _card(self) -> Card:
        """Return what the card in a notebook holds: the kind of result, the answer in one line, picture and table."""
        frame = self.to_frame()
        return Card(
            title=self._heading or _words(type(self).__name__),
            verdict=self._title,
            frame=frame[list(self._shown)] if self._shown else frame,
            picture=self._picture(),
        )

    def _repr_html_(self) -> str:
        """Return the card for notebooks, everything in it escaped."""
        return write_card(self._card())


class DrawnResult(ResultMixin):
    """A result that a function of :mod:`holdfast.plots` draws."""

    _drawn_by: ClassVar[str]
    """Name of that function."""

    def plot(self) -> "AnyChart":
        """Draw the result.

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast import plots

        chart: AnyChart = getattr(plots, self._drawn_by)(self)
        return chart


def _words(name: str) -> str:
    """Return the name of a class in words: StabilityTest is a stability test."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).capitalize()


def _field_names(result: Any) -> list[str]:
    return [field.name for field in fields(result)] if is_dataclass(result) else []
