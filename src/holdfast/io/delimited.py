"""Tables in text files: CSV, TSV and their relatives, in whatever dialect they are written.

:func:`read_delimited` parses a file by the dialect that its first lines show. Then the whole file decides on the
decimal mark: pandas leaves a column as texts if it is written in another notation, and these texts are evidence.
"""

import csv
import io
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from holdfast.io import files
from holdfast.io.dialect import (
    BLANKS,
    DASHES,
    OTHER,
    SEP_LINE,
    SEPARATORS,
    Dialect,
    Evidence,
    as_decimal_column,
    detect_dialect,
    number_texts,
    split_records,
    thousands_mark,
)
from holdfast.io.files import Loaded, as_number, decode, file_ending, is_text, read_bytes
from holdfast.io.options import Reading
from holdfast.io.questions import ReadingError, ask, quote_names, quoted, refuse, shorten
from holdfast.text import format_count

DEFAULT_SEPARATORS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t", ".dat": BLANKS}
"""Endings of text tables, with the separator to expect."""
NAMED_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": BLANKS, " ": BLANKS, "pipe": "|"}
FORMAT_MARK = "holdfast:"
"""How the header of a file that holdfast wrote begins: holdfast:subset, :ranking or :weighting."""
TABLE_BEGIN, TABLE_END = "!series_matrix_table_begin", "!series_matrix_table_end"
"""Lines around the table of a GEO series matrix."""
FEW_LINES, MANY_COLUMNS = 30, 1_000
"""Of a text whose numbers are all parsed as one column."""
MAX_ODD = 200
"""Columns of such a text that hold anything else."""
PLAIN_NUMBER = re.compile(r"[+-]?[\d.,]*(?:[eE][+-]?\d+)?|NA|NaN|nan")
"""What a cell of a column of numbers looks like; it may be empty."""
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
        frame = self._read_csv(self.text[self.dialect.skip :], **options)
        return frame.copy()  # one block of memory in place of one per column: many columns get ten times as fast

    def _read_csv(self, text: str, **options: Any) -> pd.DataFrame:
        content, dialect = io.BytesIO(text.encode("utf-8", "surrogatepass")), self.dialect
        options = {"sep": dialect.sep, "decimal": dialect.decimal, "header": None, "low_memory": False, **options}
        return pd.read_csv(content, **EXACT, **options)

    def parse_body(self, gaps: list[str]) -> pd.DataFrame:
        """Return the cells below the header."""
        with suppress(csv.Error, pd.errors.ParserError):
            rows = self._wide_rows()
            if rows:
                return self._parse_wide(rows, gaps)
        return self.parse(skiprows=1, na_values=gaps)

    def _wide_rows(self) -> list[list[str]]:
        """Return the cells below the header of a table with very many columns in few lines; none of another table."""
        start, sep = self.dialect.skip, self.dialect.sep
        few = self.text.count("\n", start) <= FEW_LINES
        if sep == BLANKS or not few or self.text.count(sep, start, self.text.find("\n", start)) < MANY_COLUMNS:
            return []
        _, *rows = [record for _, record in self.records()]
        return rows if len(set(map(len, rows))) == 1 else []

    def _parse_wide(self, rows: list[list[str]], gaps: list[str]) -> pd.DataFrame:
        """Return the same frame as pandas, which takes far longer for many short columns than for a long one.

        Columns of numbers are parsed as one. Those that hold anything else, or whole numbers among fractions, are left
        to pandas; so is the table if they are many.
        """
        width, odd = len(rows[0]), set[int]()
        numbers = pd.Series(dtype=object)
        for checked in (rows[:1], rows):
            odd |= {column for row in checked for column, cell in enumerate(row) if not PLAIN_NUMBER.fullmatch(cell)}
            cells = [("0" if column in odd else cell) for row in rows for column, cell in enumerate(row)]
            numbers = self._read_csv("\n".join(cells), sep="\x1f", na_values=gaps, skip_blank_lines=False)[0]
            if numbers.dtype.kind in "fi":
                break
        matrix = numbers.to_numpy().reshape(len(rows), width)
        if numbers.dtype.kind == "f":
            whole = np.flatnonzero((matrix == np.floor(matrix)).all(axis=0)).tolist()
            odd |= {column for column in whole if all(row[column].strip("+- ").isdecimal() for row in rows)}
        if numbers.dtype.kind not in "fi" or len(odd) > MAX_ODD:  # 1.2.3 is no number
            return self.parse(skiprows=1, na_values=gaps)
        frame = pd.DataFrame(matrix)
        if not odd:
            return frame
        apart, pieces, start = self.parse(skiprows=1, na_values=gaps, usecols=sorted(odd)), [], 0
        for column in sorted(odd):
            pieces += [frame.iloc[:, start:column], apart[[column]]]
            start = column + 1
        return pd.concat([*pieces, frame.iloc[:, start:]], axis=1).copy()

    def header(self) -> list[str]:
        """Return the names of the columns; pandas, which takes seconds for very many, is needed for quotes only."""
        start = self.dialect.skip
        line = self.text[start : self.text.find("\n", start) % (len(self.text) + 1)].removesuffix("\r")
        if self.dialect.sep == BLANKS or not line.strip() or '"' in line or "\r" in line:
            return [str(name) for name in self.parse(nrows=1, dtype=str, keep_default_na=False).iloc[0]]
        return line.split(self.dialect.sep)

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of its last line and the cells of each line that is not empty."""
        first = self.text.count("\n", 0, self.dialect.skip)
        records = split_records(self.text[self.dialect.skip :], self.dialect.sep)
        return ((first + line, record) for line, record in records)


def open_text(path: Path, reading: Reading | None = None) -> TextTable:
    """Open a text file, in the dialect that its first lines show except for what is given."""
    reading = _check_reading(reading or Reading())
    text, encoding = decode(read_bytes(path), path, reading.encoding)
    _check_width(text, path)
    expected = DEFAULT_SEPARATORS.get(file_ending(path), ",")
    if text.lstrip('"').startswith(FORMAT_MARK):
        return TextTable(path, text, Dialect(sep=reading.sep or expected, decimal=reading.decimal or "."))
    dialect = detect_dialect(text, expected, sep=reading.sep, decimal=reading.decimal)
    return TextTable(path, text, replace(dialect, encoding=encoding))


def _check_width(text: str, path: Path) -> None:
    """Raise if a line has more columns than any table; a column costs far more memory than its few characters."""
    start = 0
    while len(text) - start > files.MAX_COLUMNS:
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        most = max(text.count(mark, start, end) for mark in ",;\t| ") if end - start > files.MAX_COLUMNS else 0
        if most >= files.MAX_COLUMNS:
            raise refuse("too-wide", most=files.MAX_COLUMNS, path=path, count=most + 1)
        start = end + 1


def _check_reading(reading: Reading) -> Reading:
    if reading.decimal not in (None, ".", ","):
        raise refuse("wrong-decimal", decimal=reading.decimal)
    sep = None if reading.sep is None else NAMED_SEPARATORS.get(reading.sep, reading.sep)
    if sep is not None and sep not in SEPARATORS and (len(sep) != 1 or sep.isalnum() or sep in '".\r\n'):
        raise refuse("wrong-separator", sep=sep)
    return replace(reading, sep=sep)


def read_delimited(path: Path, row: str, gaps: list[str], reading: Reading) -> Loaded:
    """Read a table with a header from a text file.

    ``row`` is what messages call a row, ``gaps`` are texts that mean a missing value besides those of pandas.
    """
    table = open_text(path, reading)
    if TABLE_BEGIN in table.text:
        try:
            return _read_series_matrix(table)
        except (csv.Error, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
            raise refuse("no-series-matrix", path=path, why=str(error).strip(". ")) from None
    header, frame = _parse(table, row, gaps)
    names = _names(table, header, frame, row)
    if reading.decimal is None and not table.text.lstrip('"').startswith(FORMAT_MARK):
        decimal = _settle_decimal(table, frame, names, gaps)
        if decimal != table.dialect.decimal:
            table = replace(table, dialect=replace(table.dialect, decimal=decimal))
            frame = table.parse_body(gaps)
    frame, thousands, dashes = _convert_texts(frame, names, table.dialect.decimal)
    dialect = replace(table.dialect, thousands=thousands)
    frame.columns = pd.Index(names)
    encoding = dialect.encoding_name
    stated = "," if file_ending(path) in (".txt", ".dat") else DEFAULT_SEPARATORS.get(file_ending(path), ",")
    is_plain = encoding == "UTF-8" and replace(dialect, encoding="utf-8", skip=0) == Dialect(sep=stated)
    notes = [] if is_plain else [f"Read as {dialect} ({encoding})."]
    lines = [line for line in table.text[: dialect.skip].split("\n") if not SEP_LINE.match(f"{line}\n")]
    above = [line.strip(" \t;,\r") for line in lines if line.strip(" \t;,\r")]
    notes += [f"Left out {format_count(len(above), 'line')} above the header: {quote_names(above)}."] if above else []
    notes += [f"Took dashes for missing values in {quote_names(dashes)}."] if dashes else []
    return Loaded(frame=frame, file_format=f"{dialect}, {encoding}", notes=tuple(notes), decimal=dialect.decimal)


def _read_series_matrix(table: TextTable) -> Loaded:
    """Read a series matrix of the Gene Expression Omnibus, with its samples as rows and what describes them aside."""
    head, _, rest = table.text.partition(TABLE_BEGIN)
    described: dict[str, dict[int, str]] = {}
    samples: list[str] = []
    for key, *cells in filter(None, csv.reader(io.StringIO(head, newline=""), delimiter="\t")):
        name = key.removeprefix("!Sample_")
        if name == "geo_accession":
            samples = cells
        for sample, cell in enumerate(cells if key.startswith("!Sample_characteristics") else ()):
            what, colon, value = cell.partition(":")  # cells of one line may describe different things
            if cell.strip():
                described.setdefault(what.strip() if colon else name, {})[sample] = (value if colon else what).strip()
        if key in ("!Sample_title", "!Sample_source_name_ch1"):
            described[name] = dict(enumerate(cells))
    columns = {}
    for name, values in described.items():
        column = pd.Series([values.get(sample) for sample in range(len(samples))], index=samples, dtype=object)
        numbers = as_decimal_column(column, ".")
        columns[name] = column if numbers is None else numbers
    aside = pd.DataFrame(columns, index=samples)
    body = io.StringIO(rest.partition(TABLE_END)[0].strip())
    matrix = pd.read_csv(body, sep="\t", index_col=0, low_memory=False, **EXACT)
    if not (aside.index.is_unique and matrix.columns.isin(samples).all()):
        raise refuse("other-samples", path=table.path, columns=matrix.columns, samples=samples)
    turned = matrix.T.set_axis([str(name) for name in matrix.index], axis=1)
    frame = pd.concat([turned, aside.loc[turned.index]], axis=1) if turned.size else aside
    note = "Turned the table, as features stand in the rows of a GEO series matrix."
    return Loaded(
        frame=frame, file_format="GEO series matrix", notes=(note,), aside=tuple(aside.columns), turned=True
    )  # fmt: skip


# Header and shape


def _parse(table: TextTable, row: str, gaps: list[str]) -> tuple[list[str], pd.DataFrame]:
    path = table.path
    try:
        return table.header(), table.parse_body(gaps)
    except pd.errors.EmptyDataError:
        raise refuse("too-few-lines", row=row, path=path) from None
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
        raise refuse("unlike-header", path=path, named=len(header), count=n_columns)
    numbers = all(name.replace(".", "", 1).replace(",", "", 1).isdecimal() for name in header)
    if numbers and (len(set(header)) < len(header) or header == ["1", "0"]):
        raise refuse("numbers-in-header", path=path, row=row)
    return header


def _check_ragged(table: TextTable) -> None:
    """Raise if not all lines below the header have one length; where some do not, that of the header is right."""
    with suppress(csv.Error, TypeError):
        (_, width), *below = [(line, len(record)) for line, record in table.records()]
        if len({length for _, length in below}) > 1:
            line, length = next((line, length) for line, length in below if length != width)
            separator = SEPARATORS.get(table.dialect.sep, table.dialect.sep)
            raise refuse("ragged", path=table.path, width=width, length=length, line=line, separator=separator)


# Decimal marks, by what all columns say


def _settle_decimal(table: TextTable, frame: pd.DataFrame, names: list[str], gaps: list[str]) -> str:
    """Return the decimal mark of a file; raise if its columns contradict each other or leave it open.

    pandas has read the numbers in the notation of ``table.dialect``, and left columns in another one as texts.
    """
    guess, other = table.dialect.decimal, OTHER[table.dialect.decimal]
    texts = _text_evidence(frame, names)
    if texts.decimal(other):
        flipped = replace(table, dialect=replace(table.dialect, decimal=other))
        contrary = _text_evidence(flipped.parse_body(gaps), names).decimal(guess)
        if contrary is None:
            return other
        examples = (texts.decimal(other) or ("", ""), contrary)
        cells, shown = (
            " and ".join(show(cell) + (f" in {show(column)}" if column else "") for column, cell in examples)
            for show in (repr, quoted)
        )
        raise refuse("two-decimal-marks", path=table.path, cells=cells, shown=f": {shown}")
    floats = [column for column, dtype in enumerate(frame.dtypes) if dtype == "float64"]
    if (",", "maybe") in texts.examples and not texts.decimal("."):
        if table.dialect.sep == ",":  # then all points are decimal
            shows_points = any((frame.iloc[:, column].dropna() % 1 != 0).any() for column in floats)
        else:
            shows_points = _raw_evidence(table, ".").decimal(".") is not None
        if not shows_points:
            raise _ambiguity(table.path, *texts.examples[",", "maybe"])
    if guess == "," or (table.dialect.sep == ";" and floats):
        raw = _raw_evidence(table, guess)
        if (guess, "maybe") in raw.examples and not (raw.decimal(guess) or texts.decimal(guess)):
            raise _ambiguity(table.path, *raw.examples[guess, "maybe"])
    return guess


def _text_columns(frame: pd.DataFrame) -> list[int]:
    return [column for column, dtype in enumerate(frame.dtypes) if dtype in ("object", "str")]


def _text_evidence(frame: pd.DataFrame, names: list[str]) -> Evidence:
    """Collect evidence from columns that pandas left as texts though every cell looks like a number."""
    return Evidence.from_cells(
        (names[column], text) for column in _text_columns(frame) for text in number_texts(frame.iloc[:, column]) or ()
    )


def _raw_evidence(table: TextTable, mark: str) -> Evidence:
    """Collect evidence on a mark from the cells of the text, of any column, until one cell is unambiguous."""
    edge = re.escape(table.dialect.sep) if table.dialect.sep != BLANKS else " \t"
    number = rf"[+-]?[\d.,]{{0,99}}{re.escape(mark)}[\d.,]{{0,99}}(?:[eE][+-]?\d+)?"
    cells = re.compile(rf"[{edge}\n\"]({number})(?=[{edge}\r\n\"]|$)")
    matches = cells.finditer(table.text, table.dialect.skip)
    return Evidence.from_cells((("", match[1]) for match in matches), until=(mark, "decimal"))


def _ambiguity(path: Path, column: str, cell: str) -> ReadingError:
    fraction, whole = cell.replace(",", "."), re.sub("[.,]", "", cell)
    in_column = f" in the column {quoted(column)}" if column else ""
    question = ask(
        "comma" if "," in cell else "point", cell=cell, in_column=in_column, fraction=shorten(fraction),
        whole=shorten(whole),
    )  # fmt: skip
    where = f" in {column!r}" if column else ""
    return refuse(
        "ambiguous-number", question=question, path=path, cell=cell, where=where, fraction=fraction, whole=whole
    )


def _convert_texts(frame: pd.DataFrame, names: list[str], decimal: str) -> tuple[pd.DataFrame, str | None, list[str]]:
    """Convert columns whose numbers have marks between thousands or dashes for missing values.

    Returns the frame, the mark between thousands, and the names of columns with dashes. Texts that Python reads as
    numbers too, such as very long ones, stay as they are.
    """
    thousands, dashes, converted = None, [], {}
    for index in _text_columns(frame):
        column = frame.iloc[:, index]
        texts = number_texts(column)
        if texts is None:
            continue
        numbers = as_decimal_column(column, decimal)
        if numbers is None and decimal == ",":
            converted[index] = column.astype("category")  # 1.5 is no number in this file
        has_dash = any(isinstance(text, str) and text.strip() in DASHES for text in column.unique())
        is_plain = all(isinstance(as_number(text), float) and (decimal == "." or "." not in text) for text in texts)
        if numbers is not None and (has_dash or not is_plain):
            converted[index] = numbers
            thousands = thousands or thousands_mark(texts, decimal)
            dashes += [names[index]] if has_dash else []
    if not converted:
        return frame, None, []
    pieces = [converted.get(index, frame.iloc[:, index]) for index in range(frame.shape[1])]
    return pd.concat(pieces, axis=1, keys=range(len(pieces))), thousands, dashes
