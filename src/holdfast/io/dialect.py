"""How a text file writes a table: its encoding, what separates columns, how numbers are written.

:func:`detect_dialect` guesses from the first lines. A single ``1,234`` is ambiguous, so marks are read as *evidence*
(:class:`Evidence`): each cell that can only mean a decimal mark, or only a mark between thousands, counts for all.
"""

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

MAX_NUMBER_LENGTH = 400
"""Characters of a text that may be a number; the time to match a text may grow as the square of its length."""
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
    """Return what the comma or point of a cell means: ``(mark, "decimal" | "thousands" | "maybe")``, or None.

    ``1,234`` may be either; ``1,5``, ``0,123`` and ``1234,567`` have a decimal comma, ``1,234,567`` has commas between
    thousands, and so has ``1,234.5``, of which the decimal point is reported.
    """
    cell = _SPACING.sub("", cell)
    for mark, patterns in PATTERNS.items():
        if mark not in cell:
            continue
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
    def from_cells(cls, cells: Iterable[tuple[str, str]], until: tuple[str, str] | None = None) -> "Evidence":
        """Collect the first example of each meaning from columns and cells, until one meaning is found."""
        examples: dict[tuple[str, str], tuple[str, str]] = {}
        for column, cell in cells:
            meaning = read_mark(cell)
            if meaning is not None:
                examples.setdefault(meaning, (column, cell))
                if meaning == until:
                    break
        return cls(examples)

    def decimal(self, mark: str) -> tuple[str, str] | None:
        """Return the example by which a mark must be decimal: as it is, or as the other one separates thousands."""
        return self.examples.get((mark, "decimal")) or self.examples.get((OTHER[mark], "thousands"))


def number_texts(column: "pd.Series[Any]") -> list[str] | None:
    """Return the different texts of a column if all but dashes look like numbers and one does, else None."""
    present = column.dropna()
    if not len(present) or not _is_like_number(present.iloc[0]):  # before all different entries are collected
        return None
    texts = present.unique().tolist()
    if not all(map(_is_like_number, texts)):
        return None
    return [text.strip() for text in texts if text.strip() not in DASHES] or None


def _is_like_number(entry: Any) -> bool:
    if not isinstance(entry, str):
        return False
    bare = entry.strip()
    return bare in DASHES or (len(bare) <= MAX_NUMBER_LENGTH and _LIKE_NUMBER.fullmatch(bare) is not None)


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
    """Return the number that a text writes, to its last digit, or None; thousands must be separated correctly."""
    whole, mark, rest = text.partition(decimal)
    thousands = thousands_mark([text], decimal)
    if thousands is not None:
        if not re.fullmatch(_GROUPED.format(re.escape(thousands), "+"), whole):
            return None
        whole = whole.replace(thousands, "")
    if "_" in rest or "_" in whole or OTHER[decimal] in rest:
        return None
    try:
        return float(whole + ("." if mark else "") + rest)
    except ValueError:
        return None


def thousands_mark(texts: Iterable[str], decimal: str) -> str | None:
    """Return the first mark between thousands in texts that are numbers, if there is any."""
    marks = f"{OTHER[decimal]}{SPACES}{APOSTROPHES}"
    return next((sign for text in texts for sign in text.partition(decimal)[0] if sign in marks), None)


BLANKS = r"\s+"  # runs of spaces, as pandas spells them
SEPARATORS = {",": "','", ";": "';'", "\t": "tabs", "|": "'|'", BLANKS: "spaces"}
"""What may separate columns, with what notes call it."""
SAMPLE_LINES, SAMPLE_CHARACTERS = 30, 300_000
SEP_LINE = re.compile(r'"?sep=(.)"?\s*?\r?\n', re.IGNORECASE)  # Excel's own first line
_NUMBER = re.compile(r"[+-]?(?:\d[\d., ]*|[.,]\d+)(?:[eE][+-]?\d+)?|NA|NaN|", re.IGNORECASE)
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"),
)  # fmt: skip
_ENCODING_NAMES = {
    "utf-8": "UTF-8", "utf-8-sig": "UTF-8", "utf-16": "UTF-16", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16",
    "utf-32": "UTF-32", "latin-1": "Latin-1", "cp1252": "Windows-1252",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Dialect:
    r"""How a text file writes a table.

    Attributes
    ----------
    sep : str
        What separates columns; ``\s+`` for runs of spaces.
    decimal : {".", ","}
        Decimal mark.
    thousands : str or None
        Mark between thousands, if any number has one.
    encoding : str
        Encoding, by Python's name.
    skip : int
        Characters before the header: Excel's ``sep=;`` line, blank lines, comments and titles.
    """

    sep: str = ","
    decimal: str = "."
    thousands: str | None = None
    encoding: str = "utf-8"
    skip: int = 0

    def __str__(self) -> str:
        numbers = " with decimal commas" if self.decimal == "," else ""
        if self.thousands is not None:
            mark = {",": "commas", ".": "points"}.get(self.thousands)
            mark = mark or ("apostrophes" if self.thousands in APOSTROPHES else "spaces")
            numbers += f"{' and' if numbers else ' with'} {mark} between thousands"
        return f"text separated by {SEPARATORS.get(self.sep, repr(self.sep))}{numbers}"

    @property
    def encoding_name(self) -> str:
        """The encoding as people call it."""
        return _ENCODING_NAMES.get(self.encoding, self.encoding)


# Encoding


def detect_encoding(content: bytes) -> str:
    """Return the encoding of a text by its byte order mark, by where its zeros are, or by what it cannot be."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if content.startswith(mark):
            return encoding
    start = content[:4096]
    if b"\0" in start:
        return "utf-16-le" if start[1::2].count(0) >= start[::2].count(0) else "utf-16-be"
    with suppress(UnicodeDecodeError):
        content.decode("utf-8")
        return "utf-8"
    # where Latin-1 has control characters, Windows has quotes and dashes, but for five that it does not define
    is_windows = re.search(rb"[\x80-\x9f]", content) and not re.search(rb"[\x81\x8d\x8f\x90\x9d]", content)
    return "cp1252" if is_windows else "latin-1"


def is_binary(content: bytes) -> bool:
    """Whether the beginning of a file cannot be text of any encoding: zeros that are not every second byte."""
    start = content[:4096]
    if not start.count(0) or start.startswith(tuple(mark for mark, _ in _BYTE_ORDER_MARKS)):
        return False
    even, odd = start[::2].count(0), start[1::2].count(0)
    return min(even, odd) > 0.1 * max(even, odd) or max(even, odd) < 0.3 * len(start) / 2


# Separator and decimal mark


def detect_dialect(text: str, expected: str, *, sep: str | None = None, decimal: str | None = None) -> Dialect:
    """Return the dialect that the first lines of a text show, except for what is given.

    ``expected`` is the separator of the file's ending; it is taken where others fit as well. The decimal mark is a
    guess, to be confirmed by the whole file (:func:`holdfast.io.delimited.read_delimited`).
    """
    line = SEP_LINE.match(text)
    skip = line.end() if line else 0
    sample = _sample(text, skip)
    if sep is None:
        sep = line[1] if line else _detect_separator(sample, expected)
    above = _find_header(sample, sep)
    records = _records(sample[above:], sep)
    return Dialect(sep=sep, decimal=decimal or _guess_decimal(records), skip=skip + above)


def _find_header(sample: str, sep: str) -> int:
    """Return where the header begins: below blank lines, comments and titles, which are shorter than the table.

    A header is as long as most lines, or one cell shorter, as R writes it. What is above it is left out only if it is
    blank or a comment, or if the header holds no number.
    """
    if sample.count('"', 0, sample.find("\n")) % 2:  # a name of several lines
        return 0
    lines = re.findall(r"[^\n]*\n|[^\n]+", sample)  # str.splitlines also cuts at \x85 and the like, in a name
    cells = [next(iter(_records(line, sep)), []) for line in lines]
    width = max(Counter(map(len, filter(any, cells))).items(), key=lambda item: (item[1], item[0]), default=(0, 0))[0]
    above = 0
    for line, record in zip(lines, cells, strict=True):
        filled = sum(cell.strip() != "" for cell in record)
        if filled and len(record) in (width, width - 1) and (filled > 1 or width <= 2):
            plain = all(not text.strip() or text.startswith("#") for text in sample[:above].split("\n"))
            return above if plain or not any(_NUMBER.fullmatch(cell.strip()) for cell in record if cell) else 0
        above += len(line)
    return 0


def _sample(text: str, skip: int) -> str:
    """Return the first lines: the header, two more, and others that fit; a line that was cut is left out."""
    start, lines = skip, 0
    while (lines < SAMPLE_LINES and start - skip < SAMPLE_CHARACTERS) or lines < 3:
        end = text.find("\n", start)
        if end < 0:
            return text[skip:]
        start, lines = end + 1, lines + (text[start:end].strip() != "")
    return text[skip:start]


def _records(sample: str, sep: str) -> list[list[str]]:
    """Return the cells of the first lines; none if they cannot be split."""
    with suppress(csv.Error, TypeError):
        return [record for _, record in split_records(sample, sep)]
    return []


def split_records(text: str, sep: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of its last line and the cells of each record that is not empty."""
    if sep == BLANKS:  # one space for each run of blanks, and none at the ends of lines
        text, sep = re.sub(r"(?m)^ | (?=\r?$)", "", re.sub(r"[ \t]+", " ", text)), " "
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    return ((reader.line_num, record) for record in reader if record)


def _detect_separator(sample: str, expected: str) -> str:
    """Return the separator whose columns agree best with the header, of these the one with most numbers."""
    order = sorted(SEPARATORS, key=lambda sep: (sep == BLANKS, sep != expected))  # cells may contain spaces
    ratings = {sep: _rate(_records(sample[_find_header(sample, sep) :], sep)) for sep in order[:-1]}
    best = max(ratings, key=lambda sep: ratings[sep])  # the first of equals
    if ratings[best][0] > 0:
        return best
    return BLANKS if _rate(_records(sample[_find_header(sample, BLANKS) :], BLANKS))[0] > 0 else expected


def _rate(records: list[list[str]]) -> tuple[int, float]:
    """Rate cells: how well lines agree with the header (2: as long; 1: one longer, as R writes), share of numbers."""
    if len(records) < 2:
        width = len(records[0]) if records else 0
        return (1 if width > 1 else 0), 0.0
    (header, *below) = records
    width, times = Counter(map(len, below)).most_common(1)[0]
    if width < 2 or times < 0.8 * len(below):
        return 0, 0.0
    fit = 2 if width == len(header) else 1 if width == len(header) + 1 and len(header) > 1 else 0
    cells = [cell for record in below for cell in record[1:]]
    numbers = sum(_NUMBER.fullmatch(cell.strip()) is not None for cell in cells)
    return fit, round(numbers / len(cells), 2)


def _guess_decimal(records: list[list[str]]) -> str:
    """Guess the decimal mark: a comma if cells show it, or may show it and none shows a point."""
    cells = [cell.strip() for record in records[1:] for cell in record]
    if not any("," in cell or cell.count(".") > 1 for cell in cells):
        return "."
    evidence = Evidence.from_cells(("", cell) for cell in cells)
    if evidence.decimal(","):
        return ","
    shows_points = evidence.decimal(".") or (".", "maybe") in evidence.examples
    return "," if (",", "maybe") in evidence.examples and not shows_points else "."
