"""Files that hold a table, read into pandas: CSV, TSV, Parquet, Feather and ARFF, or one sentence what is wrong."""

import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pandas as pd

ENDINGS = (".csv", ".tsv", ".parquet", ".feather", ".arff")
_BEFORE_3_1 = tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1)
EXACT: dict[str, Any] = {"float_precision": "round_trip"} if _BEFORE_3_1 else {}
"""Makes pandas read numbers to their last digit, which it does by itself since 3.1."""


def read_frame(path: str | Path, *, row: str = "run", gaps: Iterable[str] = ()) -> pd.DataFrame:
    """Read a table with a header by its ending (any but those of ENDINGS is read as CSV), or raise one sentence.

    ``row`` is what a row is called in messages; ``gaps`` are texts of CSV and TSV that mean a missing value, beside
    those of pandas (empty, NA, NaN, null, None).
    """
    path = path_of(path)
    if ending_of(path) == ".parquet":
        return _pandas_frame(parquet_table(path), path)
    if ending_of(path) == ".feather":
        return _feather(path)
    if ending_of(path) == ".arff":
        return _arff(path)
    return _delimited(path, row, list(gaps))


def path_of(given: Any, expected: str = "the path of a file") -> Path:
    """Return a path, with ``~`` for the user's folder expanded; raise if it is none."""
    if not isinstance(given, (str, Path)) or not str(given) or "\0" in str(given):
        shown = (
            repr(given)
            if isinstance(given, (str, bytes, int, float, type(None)))
            else f"an object of type {type(given).__name__}"
        )
        raise ValueError(f"Expected {expected}, got {shown}.")
    return Path(os.path.expanduser(given))


def ending_of(path: Path) -> str:
    """Return the ending that tells the format, in small letters; that is the one before .gz."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def text_of(path: Path) -> str:
    """Return the text of a file, unpacked if it ends in .gz."""
    packed = path.suffix.lower() == ".gz"
    with (
        _decoded(path),
        gzip.open(path, "rt", encoding="utf-8-sig") if packed else path.open(encoding="utf-8-sig") as file,
    ):
        return file.read()


def is_text(column: "pd.Series[Any]") -> bool:
    """Whether all entries are texts and none of them is a number with quotes around it."""
    return bool(column.map(lambda entry: isinstance(entry, str) and isinstance(as_number(entry), str)).all())


def as_number(entry: Any) -> Any:
    """Return the entry as a float if it is a number, else as it is; 1_000 is a name, an array of one no number."""
    if (isinstance(entry, str) and "_" in entry) or getattr(entry, "ndim", 0) > 0:
        return entry
    with suppress(TypeError, ValueError, OverflowError):
        return float(entry)
    return entry


def not_installed(package: str, purpose: str) -> ValueError:
    """Return the error that says what to install."""
    return ValueError(f"Expected {package} for {purpose}, got none; install it with: pip install 'holdfast[app]'")


# CSV and TSV


def _delimited(path: Path, row: str, gaps: list[str]) -> pd.DataFrame:
    try:
        header = [str(name) for name in parsed(path, nrows=1, dtype=str, keep_default_na=False).iloc[0]]
        frame = parsed(path, skiprows=1, na_values=gaps)
    except pd.errors.EmptyDataError:
        raise ValueError(
            f"Expected a header line and one line per {row} in {path}, got less; add what is missing."
        ) from None
    except pd.errors.ParserError as error:
        _check_ragged(path)
        raise ValueError(f"Expected a table in {path}, got something else: {str(error).strip().rstrip('.')}.") from None
    if len(header) != frame.shape[1] or frame.isna().to_numpy().any():
        _check_ragged(path)
    if len(header) == frame.shape[1] - 1 and _names_rows(frame.iloc[:, 0]):
        header = ["", *header]  # R's write.table() names the rows but not their column
    _check_header(path, header, frame.shape[1], row)
    frame.columns = pd.Index(header)
    return frame


def parsed(path: Path, **options: Any) -> pd.DataFrame:
    """Return the cells of a CSV or TSV file, the header's too."""
    with _decoded(path):
        return pd.read_csv(path, sep=_separator(path), header=None, low_memory=False, **EXACT, **options)


def _separator(path: Path) -> str:
    return "\t" if ending_of(path) == ".tsv" else ","


@contextmanager
def _decoded(path: Path) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError:
        raise ValueError(f"Expected text in UTF-8 in {path}, got another encoding; save it as UTF-8.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ValueError(f"Expected a packed file, as {path} ends in .gz, got another or half of one.") from None


def _check_ragged(path: Path) -> None:
    """Raise if not all lines below the header have one length; where some do not, that of the header is right."""
    with suppress(csv.Error):
        reader = csv.reader(io.StringIO(text_of(path), newline=""), delimiter=_separator(path))
        (_, width), *below = [(reader.line_num, len(row)) for row in reader if row]
        if len({length for _, length in below}) > 1:
            line, length = next((line, length) for line, length in below if length != width)
            raise ValueError(f"Expected {width} columns in every line of {path}, got {length} in line {line}; mend it.")


def _check_header(path: Path, header: list[str], n_columns: int, row: str) -> None:
    other = next((name for mark, name in ((";", "semicolons"), ("\t", "tabs")) if mark in header[0]), None)
    if len(header) == 1 and other is not None:
        ours = "tabs" if _separator(path) == "\t" else "commas"
        raise ValueError(f"Expected columns separated by {ours} in {path}, got {other}; save it with {ours}.")
    if len(header) != n_columns:
        raise ValueError(
            f"Expected as many columns as the header of {path} names, {len(header)}, got {n_columns}; "
            "is a name missing, or a separator inside a name?"
        )
    numbers = all(name.replace(".", "", 1).isdecimal() for name in header)
    if numbers and (len(set(header)) < len(header) or header == ["1", "0"]):
        raise ValueError(
            f"Expected feature names in the first line of {path}, got the numbers of a {row}; add a header."
        )


def _names_rows(column: "pd.Series[Any]") -> bool:
    return is_text(column) or column.tolist() == list(range(1, len(column) + 1))


# Parquet and Feather


def pyarrow_parquet(path: Path) -> Any:
    """Return pyarrow's Parquet module, or say how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise not_installed("pyarrow", f"the Parquet file {path}") from None
    return pyarrow.parquet


def parquet_table(path: Path) -> Any:
    """Return the table of a Parquet file as pyarrow's."""
    path.stat()  # pyarrow's error for a missing file says no more than its name
    parquet = pyarrow_parquet(path)
    try:
        with parquet.ParquetFile(path) as file:  # unlike read_table, takes names that come twice
            return file.read()
    except ValueError:
        raise ValueError(f"Expected a Parquet file, as {path} ends in .parquet, got something else.") from None


def _feather(path: Path) -> pd.DataFrame:
    path.stat()
    try:
        import pyarrow.feather
    except ImportError:
        raise not_installed("pyarrow", f"the Feather file {path}") from None
    try:
        table = pyarrow.feather.read_table(path)
    except (ValueError, OSError):
        raise ValueError(f"Expected a Feather file, as {path} ends in .feather, got something else.") from None
    return _pandas_frame(table, path)


def _pandas_frame(table: Any, path: Path) -> pd.DataFrame:
    """A table of pyarrow's as a frame; what its metadata say of pandas is left aside where it makes no sense."""
    for version in (table, table.replace_schema_metadata(None)):
        with suppress(Exception):  # metadata may say anything, and errors are of any kind
            return cast(pd.DataFrame, version.to_pandas())
    raise ValueError(f"Expected columns that pandas can hold in {path}, got {table.schema.types}; convert them first.")


# ARFF


def _arff(path: Path) -> pd.DataFrame:
    """Read ARFF; what is declared nominal comes as categories in the declared order."""
    text = text_of(path)
    try:
        import arff
    except ImportError:
        raise not_installed("liac-arff", f"the ARFF file {path}") from None
    try:
        content = arff.loads(text)
    except arff.ArffException as error:
        raise ValueError(f"Expected ARFF in {path}, got something else: {str(error).strip().rstrip('.')}.") from None
    names, kinds = zip(*content["attributes"], strict=True)
    columns = zip(*content["data"], strict=True) if content["data"] else [()] * len(names)
    series = [_arff_column(list(column), kind) for column, kind in zip(columns, kinds, strict=True)]
    return pd.concat(series, axis=1, keys=names)


def _arff_column(entries: list[Any], kind: str | list[str]) -> "pd.Series[Any]":
    if isinstance(kind, list):
        return pd.Series(pd.Categorical(entries, categories=list(dict.fromkeys(kind))))
    return pd.Series(entries, dtype="str" if kind == "STRING" else "float64")
