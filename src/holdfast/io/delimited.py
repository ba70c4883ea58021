"""Tables in text files: CSV, TSV and their relatives, in whatever dialect they are written."""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from holdfast.io import files
from holdfast.io.dialect import (
    BLANKS,
    DASHES,
    OTHER,
    SEPARATORS,
    Dialect,
    Evidence,
    as_decimal_column,
    collapse_blanks,
    detect_dialect,
    number_texts,
    read_mark,
    thousands_mark,
)
from holdfast.io.files import Loaded, as_number, decode, file_ending, is_text, read_bytes
from holdfast.io.options import Reading
from holdfast.io.questions import (
    ReadingError,
    ask_decimal,
    ask_decimal_mark,
    ask_separator,
    quote_names,
    quoted,
)
from holdfast.text import join_first

USUAL_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t", ".dat": BLANKS}
"""Endings of text tables, with the separator to expect."""
NAMED_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": BLANKS, " ": BLANKS, "pipe": "|"}
OWN_MARK = "holdfast:"  # the first header cell of a file that holdfast wrote: holdfast:subset, :ranking or :weighting
_BEFORE_3_1 = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _BEFORE_3_1 else {}
"""Makes pandas read numbers to their last digit, which it does by itself since 3.1."""


@dataclass(frozen=True)
class TextTable:
    """A text file with a table: what messages call it, its text, and how it is written."""

    path: Path
    text: str
    dialect: Dialect

    def parse(self, **options: Any) -> pd.DataFrame:
        """Return the cells, the header's too."""
        content = io.BytesIO(self.text[self.dialect.skip :].encode("utf-8", "surrogatepass"))
        sep, decimal = self.dialect.sep, self.dialect.decimal
        frame = pd.read_csv(content, sep=sep, decimal=decimal, header=None, low_memory=False, **EXACT, **options)
        return frame.copy()  # one block of memory in place of one per column: many columns get ten times as fast

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of its last line and the cells of each line that is not empty."""
        text, sep = self.text[self.dialect.skip :], self.dialect.sep
        if sep == BLANKS:
            text, sep = collapse_blanks(text), " "
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
        first = self.text.count("\n", 0, self.dialect.skip)
        return ((first + reader.line_num, record) for record in reader if record)


def open_text(path: Path, reading: Reading | None = None) -> TextTable:
    """Open a text file, in the dialect that its first lines show except for what is given."""
    reading = _check_reading(reading or Reading())
    text, encoding = decode(read_bytes(path), path, reading.encoding)
    _check_width(text, path)
    usual = USUAL_SEPARATORS.get(file_ending(path), ",")
    if text.lstrip('"').startswith(OWN_MARK):
        return TextTable(path, text, Dialect(sep=reading.sep or usual, decimal=reading.decimal or "."))
    dialect = detect_dialect(text, usual, sep=reading.sep, decimal=reading.decimal)
    return TextTable(path, text, replace(dialect, encoding=encoding))


def _check_width(text: str, path: Path) -> None:
    """Raise if a line has more columns than any table; a column costs far more memory than its few characters."""
    place = 0
    while len(text) - place > files.MAX_COLUMNS:
        end = text.find("\n", place)
        end = len(text) if end < 0 else end
        if end - place > files.MAX_COLUMNS:
            most = max(text.count(mark, place, end) for mark in ",;\t| ")
            if most >= files.MAX_COLUMNS:
                raise ValueError(
                    f"Expected at most {files.MAX_COLUMNS:,} columns in {path}, got {most + 1:,} in one line; has "
                    "the file lost its line ends?"
                )
        place = end + 1


def _check_reading(reading: Reading) -> Reading:
    if reading.decimal not in (None, ".", ","):
        raise ReadingError(f"Expected decimal='.' or decimal=',', got decimal={reading.decimal!r}.", ask_decimal_mark())
    sep = None if reading.sep is None else NAMED_SEPARATORS.get(reading.sep, reading.sep)
    if sep is not None and sep not in SEPARATORS and (len(sep) != 1 or sep.isalnum() or sep in '".\r\n'):
        raise ReadingError(
            f"Expected one character that separates columns for sep=, such as ';', or 'tab' or 'space', got {sep!r}.",
            ask_separator(f"{quoted(sep)} cannot separate columns."),
        )
    return replace(reading, sep=sep)


def read_delimited(path: Path, row: str, gaps: list[str], reading: Reading) -> Loaded:
    """Read a table with a header from a text file.

    ``row`` is what messages call a row, ``gaps`` are texts that mean a missing value besides those of pandas.
    """
    table = open_text(path, reading)
    header, frame = _parse(table, row, gaps)
    names = _names(table, header, frame, row)
    if reading.decimal is None and not table.text.lstrip('"').startswith(OWN_MARK):
        decimal = _settle_decimal(table, frame, names, gaps)
        if decimal != table.dialect.decimal:
            table = replace(table, dialect=replace(table.dialect, decimal=decimal))
            frame = table.parse(skiprows=1, na_values=gaps)
    frame, thousands, dashes = _convert_texts(frame, names, table.dialect.decimal)
    dialect = replace(table.dialect, thousands=thousands)
    frame.columns = pd.Index(names)
    words = f"{dialect}, {dialect.encoding_name}"
    said_by_ending = "," if file_ending(path) in (".txt", ".dat") else USUAL_SEPARATORS.get(file_ending(path), ",")
    notes = [f"Read as {dialect} ({dialect.encoding_name})."] if not dialect.is_plain(said_by_ending) else []
    notes += [f"Took dashes for missing values in {quote_names(dashes)}."] if dashes else []
    return Loaded(frame=frame, file_format=words, notes=tuple(notes), decimal=dialect.decimal)


# Header and shape


def _parse(table: TextTable, row: str, gaps: list[str]) -> tuple[list[str], pd.DataFrame]:
    path = table.path
    try:
        header = [str(name) for name in table.parse(nrows=1, dtype=str, keep_default_na=False).iloc[0]]
        return header, table.parse(skiprows=1, na_values=gaps)
    except pd.errors.EmptyDataError:
        raise ValueError(
            f"Expected a header line and one line per {row} in {path}, got less; add the missing lines."
        ) from None
    except pd.errors.ParserError as error:
        _check_ragged(table)
        raise ValueError(f"Expected a table in {path}, got something else: {str(error).strip().rstrip('.')}.") from None


def _names(table: TextTable, header: list[str], frame: pd.DataFrame, row: str) -> list[str]:
    """Return the names of the columns; raise if the header cannot be one."""
    path, n_columns = table.path, frame.shape[1]
    if len(header) != n_columns or frame.isna().to_numpy().any():
        _check_ragged(table)
    if len(header) == n_columns - 1:
        first = frame.iloc[:, 0]
        if is_text(first) or first.tolist() == list(range(1, len(first) + 1)):
            header = ["", *header]  # R's write.table() names the rows but not their column
    if len(header) != n_columns:
        raise ValueError(
            f"Expected as many columns as the header of {path} names, {len(header)}, got {n_columns}; "
            "is a name missing, or a separator inside a name?"
        )
    numbers = all(name.replace(".", "", 1).replace(",", "", 1).isdecimal() for name in header)
    if numbers and (len(set(header)) < len(header) or header == ["1", "0"]):
        raise ValueError(
            f"Expected feature names in the first line of {path}, got the numbers of a {row}; add a header."
        )
    return header


def _check_ragged(table: TextTable) -> None:
    """Raise if not all lines below the header have one length; where some do not, that of the header is right."""
    with suppress(csv.Error, TypeError):
        (_, width), *below = [(line, len(record)) for line, record in table.records()]
        if len({length for _, length in below}) > 1:
            line, length = next((line, length) for line, length in below if length != width)
            called = SEPARATORS.get(table.dialect.sep, table.dialect.sep)
            raise ReadingError(
                f"Expected {width} columns in every line of {table.path}, got {length} in line {line}; fix it, or name "
                f"the separator with sep= if it is not {called}.",
                ask_separator(
                    f"Read as text separated by {called}, the file has {width} columns in its first line and {length} "
                    f"in line {line}."
                ),
            )


# Decimal marks, by what all columns say


def _settle_decimal(table: TextTable, frame: pd.DataFrame, names: list[str], gaps: list[str]) -> str:
    """Return the decimal mark of a file; raise if its columns contradict each other or leave it open.

    pandas has read the numbers in the notation of ``table.dialect``: what it made of a column of texts is asked here.
    """
    guess, other = table.dialect.decimal, OTHER[table.dialect.decimal]
    said = _text_evidence(frame, names)
    if said.decimal(other):
        flipped = replace(table, dialect=replace(table.dialect, decimal=other))
        contrary = _text_evidence(flipped.parse(skiprows=1, na_values=gaps), names)
        if contrary.decimal(guess):
            raise _contradiction(table.path, said, contrary, other)
        return other
    if said.says(",", "maybe") and not (said.decimal(".") or _shows_points(table, frame)):
        raise _ambiguity(table.path, *said.examples[",", "maybe"])
    if guess == "," or (table.dialect.sep == ";" and (frame.dtypes == "float64").any()):
        raw = _raw_evidence(table, guess)
        if raw.says(guess, "maybe") and not (raw.decimal(guess) or said.decimal(guess)):
            raise _ambiguity(table.path, *raw.examples[guess, "maybe"])
    return guess


def _shows_points(table: TextTable, frame: pd.DataFrame) -> bool:
    """Whether numbers have decimal points; in a file separated by commas, all that have a point do."""
    if table.dialect.sep != ",":
        return _raw_evidence(table, ".").decimal(".")
    return any((frame.iloc[:, place].dropna() % 1 != 0).any() for place in _places(frame, "float64"))


def _text_evidence(frame: pd.DataFrame, names: list[str]) -> Evidence:
    """What the columns say that pandas left as texts though every cell looks like a number."""
    columns = _places(frame, "object", "str")
    return Evidence.from_cells(
        (names[column], text) for column in columns for text in number_texts(frame.iloc[:, column]) or ()
    )


def _places(frame: pd.DataFrame, *dtypes: str) -> list[int]:
    return [place for place, dtype in enumerate(frame.dtypes) if any(dtype == name for name in dtypes)]


def _raw_evidence(table: TextTable, mark: str) -> Evidence:
    """What the cells of a file say of a mark, whatever column they stand in, until one is clear."""
    edge = re.escape(table.dialect.sep) if table.dialect.sep != BLANKS else " \t"
    number = rf"[+-]?[\d.,]{{0,99}}{re.escape(mark)}[\d.,]{{0,99}}(?:[eE][+-]?\d+)?"
    cells = re.compile(rf"[{edge}\n\"]({number})(?=[{edge}\r\n\"]|$)")
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for match in cells.finditer(table.text, table.dialect.skip):
        said = read_mark(match[1])
        if said is not None:
            found.setdefault(said, ("", match[1]))
            if said == (mark, "decimal"):
                break
    return Evidence(found)


def _ambiguity(path: Path, column: str, cell: str) -> ReadingError:
    where = f" in {column!r}" if column else ""
    fraction, whole = cell.replace(",", "."), re.sub("[.,]", "", cell)
    return ReadingError(
        f"Expected numbers that can be read in one way in {path}, got {cell!r}{where}, which may be {fraction} or "
        f"{whole}, and no other number that tells; pass decimal=',' or decimal='.'.",
        ask_decimal(cell, column),
    )


def _contradiction(path: Path, said: Evidence, contrary: Evidence, mark: str) -> ReadingError:
    examples, cells = [], []
    for evidence, sign in ((said, mark), (contrary, OTHER[mark])):
        place = next((key for key in ((sign, "decimal"), (OTHER[sign], "thousands")) if evidence.says(*key)), None)
        column, cell = evidence.examples[place] if place else ("", "")
        examples.append(f"{cell!r}" + (f" in {column!r}" if column else ""))
        cells.append(quoted(cell) + (f" in {quoted(column)}" if column else ""))
    return ReadingError(
        f"Expected one decimal mark in {path}, got {join_first(examples)}; pass decimal=',' or decimal='.': columns "
        "that do not fit are then texts.",
        ask_decimal_mark(f": {' and '.join(cells)}"),
    )


def _convert_texts(frame: pd.DataFrame, names: list[str], decimal: str) -> tuple[pd.DataFrame, str | None, list[str]]:
    """Convert columns of numbers with marks between thousands or dashes for gaps; return the mark, and dashes where."""
    thousands, dashes, columns = None, [], {}
    for place in _places(frame, "object", "str"):
        column = frame.iloc[:, place]
        texts = number_texts(column)
        if texts is None:
            continue
        numbers = as_decimal_column(column, decimal)
        if numbers is None and decimal == ",":
            columns[place] = column.astype("category")  # 1.5 is no number in this file
        has_dash = any(isinstance(text, str) and text.strip() in DASHES for text in column.unique())
        if numbers is not None and (has_dash or not _are_plain(texts, decimal)):
            columns[place] = numbers
            thousands = thousands or thousands_mark(texts, decimal)
            dashes += [names[place]] if has_dash else []
    if not columns:
        return frame, None, []
    pieces = [columns.get(place, frame.iloc[:, place]) for place in range(frame.shape[1])]
    return pd.concat(pieces, axis=1, keys=range(len(pieces))), thousands, dashes


def _are_plain(texts: list[str], decimal: str) -> bool:
    """Whether texts are numbers to Python too, such as very long ones: these stay as they are."""
    return all(isinstance(as_number(text), float) and (decimal == "." or "." not in text) for text in texts)
