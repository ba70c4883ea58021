"""Tables of cards: the first rows of a frame as HTML, numbers rounded for reading, everything escaped."""

import html
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from holdfast.serialization import to_plain
from holdfast.text import clean_text, format_count, format_number, shorten

MOST_COLUMNS, MOST_LETTERS = 10, 80


def write_table(frame: pd.DataFrame, most: int) -> str:
    """Return the first rows and columns of a frame as an HTML table, and how many more there are as a line below."""
    shown = frame.iloc[:most, :MOST_COLUMNS]
    named = not isinstance(frame.index, pd.RangeIndex)
    columns = [_format_column(shown.iloc[:, place]) for place in range(shown.shape[1])]
    right = [np.issubdtype(np.asarray(shown.iloc[:, place]).dtype, np.number) for place in range(shown.shape[1])]
    if named:
        columns, right = [[format_cell(label) for label in shown.index], *columns], [False, *right]
    names = [_index_name(frame.index), *map(str, shown.columns)] if named else list(map(str, shown.columns))
    head = "".join(_cell("th", name, number) for name, number in zip(names, right, strict=True))
    rows = "".join(
        f"<tr>{''.join(_cell('td', text, number) for text, number in zip(row, right, strict=True))}</tr>"
        for row in zip(*columns, strict=True)
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return f'<div class="holdfast-table">{table}</div>{_count_rest(frame, len(shown), shown.shape[1])}'


def _count_rest(frame: pd.DataFrame, rows: int, columns: int) -> str:
    hidden = [(len(frame) - rows, "row"), (frame.shape[1] - columns, "column")]
    more = " and ".join(format_count(count, f"more {noun}") for count, noun in hidden if count)
    return f'<div class="holdfast-note">{more}: see to_frame()</div>' if more else ""


def _index_name(index: "pd.Index[Any]") -> str:
    return ", ".join("" if name is None else str(name) for name in index.names)


def _cell(tag: str, text: str, right: bool) -> str:
    wrap = ";white-space:nowrap" if right or tag == "th" else ""
    return f'<{tag} style="text-align:{"right" if right else "left"}{wrap}">{html.escape(clean_text(text))}</{tag}>'


def _format_column(column: "pd.Series[Any]") -> list[str]:
    """The cells of a column; whole numbers that pandas holds as floats, because some are missing, have no decimals."""
    values = list(column)
    numbers = [float(value) for value in values if isinstance(value, float) and math.isfinite(value)]
    if numbers and all(number.is_integer() for number in numbers) and max(map(abs, numbers)) > 1:
        values = [int(value) if isinstance(value, float) and math.isfinite(value) else value for value in values]
    return [format_cell(value) for value in values]


def format_cell(value: Any) -> str:
    """Format an entry of a table for reading: three decimals, a dash for what is undefined.

    Examples
    --------
    >>> [format_cell(value) for value in (0.12345, 1e-5, 20_000, None, ("a", "b"), True)]
    ['0.123', '1e-05', '20,000', '–', 'a, b', 'yes']
    """
    if isinstance(value, tuple) or (isinstance(value, Iterable) and not isinstance(value, str)):
        text = ", ".join(format_cell(item) for item in value)
        return text and shorten(text, MOST_LETTERS)
    plain = to_plain(value)
    if plain is None or plain == "":
        return "–" if plain is None else ""
    if isinstance(plain, bool):
        return "yes" if plain else "no"
    if isinstance(plain, int):
        return format_number(plain, 0)
    if isinstance(plain, float):
        if 0 < abs(plain) < 0.0005:
            return f"{plain:.1g}"
        return f"{plain:.4g}".replace("-", "−") if abs(plain) >= 1e6 else format_number(plain, 3)
    return shorten(str(plain), MOST_LETTERS)
