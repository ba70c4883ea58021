"""Numbers as people write them: decimal commas, marks between thousands, and what a column of texts says about them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from holdfast.io import limits

SPACES = " \u00a0\u202f\u2009"  # plain, non-breaking, narrow non-breaking and thin
APOSTROPHES = "'\u2019"  # as in Switzerland
DASHES = frozenset({"-", "--", "\u2013", "\u2014"})
"""What stands for a missing value in a column of numbers; in a column of texts it may mean negative."""
OTHER = {",": ".", ".": ","}
_LIKE_NUMBER = re.compile(
    rf"[+-]?[\d.,{SPACES}{APOSTROPHES}]*\d[\d.,]*(?:[eE][+-]?\d+)?|[+-]?(?:inf|infinity|nan)", re.I
)
_SPACING = re.compile(rf"(?<=\d)[{SPACES}{APOSTROPHES}](?=\d{{3}})")
_GROUPED = r"[+-]?[1-9]\d{{0,2}}(?:[{0}]\d{{3}}){1}"


def _patterns(mark: str) -> dict[str, "re.Pattern[str]"]:
    other = OTHER[mark]
    exponent = r"(?:[eE][+-]?\d+)?"
    decimal = rf"[+-]?(?:\d*{re.escape(mark)}\d+|\d+{re.escape(mark)}\d*)"
    return {
        "maybe": re.compile(_GROUPED.format(mark, "{1}")),
        "decimal": re.compile(decimal + exponent),
        "groups": re.compile(_GROUPED.format(mark, "{2,}")),
        "groups before": re.compile(_GROUPED.format(mark, "+") + rf"{re.escape(other)}\d*{exponent}"),
    }


PATTERNS = {mark: _patterns(mark) for mark in ",."}


def read_mark(cell: str) -> tuple[str, str] | None:
    """Return what a cell says of its comma or point: ``(mark, "decimal" | "thousands" | "maybe")``, or None.

    ``1,234`` may be either; ``1,5``, ``0,123`` and ``1234,567`` have a decimal comma, ``1,234,567`` has commas between
    thousands, and so has ``1,234.5``, of which the decimal point is reported.
    """
    cell = _SPACING.sub("", cell)
    for mark, patterns in PATTERNS.items():
        if patterns["maybe"].fullmatch(cell):
            return mark, "maybe"
        if patterns["decimal"].fullmatch(cell):
            return mark, "decimal"
        if patterns["groups"].fullmatch(cell):
            return mark, "thousands"
        if patterns["groups before"].fullmatch(cell):
            return OTHER[mark], "decimal"
    return None


@dataclass
class Evidence:
    """Examples of what commas and points are in a file, ``(column, cell)`` by ``(mark, meaning)``."""

    examples: dict[tuple[str, str], tuple[str, str]]

    @classmethod
    def from_cells(cls, cells: Iterable[tuple[str, str]]) -> "Evidence":
        """Collect the first example of each kind from columns and cells."""
        examples: dict[tuple[str, str], tuple[str, str]] = {}
        for column, cell in cells:
            said = read_mark(cell)
            if said is not None:
                examples.setdefault(said, (column, cell))
        return cls(examples)

    def says(self, mark: str, meaning: str) -> bool:
        """Whether a cell shows this meaning of a mark."""
        return (mark, meaning) in self.examples

    def decimal(self, mark: str) -> bool:
        """Whether a mark must be a decimal one: by itself, or because the other stands between thousands."""
        return self.says(mark, "decimal") or self.says(OTHER[mark], "thousands")


def number_texts(column: "pd.Series[Any]") -> list[str] | None:
    """Return the different texts of a column if all but dashes look like numbers and one does, else None."""
    present = column.dropna()
    if not len(present) or not isinstance(present.iloc[0], str):
        return None
    if not _is_like_number(present.iloc[0]):
        return None
    texts = present.unique().tolist()
    if not all(isinstance(text, str) and _is_like_number(text) for text in texts):
        return None
    return [text.strip() for text in texts if text.strip() not in DASHES] or None


def _is_like_number(text: str) -> bool:
    bare = text.strip()
    if len(bare) > limits.LONGEST_NUMBER:
        return False
    return bare in DASHES or _LIKE_NUMBER.fullmatch(bare) is not None


def as_decimal_column(column: "pd.Series[Any]", decimal: str) -> "pd.Series[Any] | None":
    """Return a column of texts as floats, with dashes as gaps; None unless every text is a number in this notation."""
    texts = number_texts(column)
    if texts is None:
        return None
    numbers = {text: to_number(text, decimal) for text in texts}
    if any(number is None for number in numbers.values()):
        return None
    values = [numbers.get(entry.strip()) if isinstance(entry, str) else None for entry in column]
    return pd.Series([np.nan if value is None else value for value in values], index=column.index, name=column.name)


def to_number(text: str, decimal: str) -> float | None:
    """Return the number that a text writes, to its last digit, or None; marks between thousands must be in place."""
    whole, mark, rest = text.partition(decimal)
    marks = {sign for sign in whole if sign in f"{OTHER[decimal]}{SPACES}{APOSTROPHES}"}
    if len(marks) > 1:
        return None
    for sign in marks:
        if not re.fullmatch(_GROUPED.format(re.escape(sign), "+"), whole):
            return None
        whole = whole.replace(sign, "")
    if "_" in rest or "_" in whole or OTHER[decimal] in rest:
        return None
    try:
        return float(whole + ("." if mark else "") + rest)
    except ValueError:
        return None


def thousands_mark(texts: Iterable[str], decimal: str) -> str | None:
    """Return the first mark between thousands in texts that are numbers, if there is any."""
    for text in texts:
        for sign in text.partition(decimal)[0]:
            if sign in f"{OTHER[decimal]}{SPACES}{APOSTROPHES}":
                return sign
    return None
