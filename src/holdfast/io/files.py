"""Files: paths, bytes and texts; tables in Parquet, Feather and ARFF."""

import gzip
import os
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from holdfast.io.dialect import detect_encoding, is_binary
from holdfast.io.questions import ReadingError, ask_encoding
from holdfast.text import clean_text

_SIGNATURES = {
    b"PK": "an Excel or zip file", b"\x1f\x8b": "a packed file", b"PAR1": "a Parquet file", b"\x89HDF": "an HDF5 file",
    b"\xd0\xcf\x11\xe0": "an old Excel file", b"RDX": "a file of R",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How to read a file, where that is not to be detected: options of :func:`holdfast.read_table`."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Loaded:
    """A table as it stands in a file.

    Attributes
    ----------
    frame : DataFrame
        The table, with row names as its index where the format has such.
    file_format : str
        How the file was read, in words.
    notes : tuple of str
        What was odd about the file.
    aside : tuple of str
        Columns that describe the samples and are no features unless asked for.
    decimal : {".", ","}
        Decimal mark of numbers that are still texts.
    sheets : tuple of str
        Names of all tables in a file that may have several.
    """

    frame: pd.DataFrame
    file_format: str
    notes: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    decimal: str = "."
    sheets: tuple[str, ...] = ()


if TYPE_CHECKING:
    _Path = Path
else:
    _Path = type(Path())  # Path itself cannot be subclassed before Python 3.12


class NamedPath(_Path):
    """The path of a file that messages, notes and records call by another name, such as that of an uploaded file."""

    shown: str | None = None

    def __fspath__(self) -> str:
        return super().__str__()

    def __str__(self) -> str:
        return super().__str__() if self.shown is None else self.shown


def name_path(path: str | Path, shown: str) -> NamedPath:
    """Return a path that messages call by a name; control characters of the name are replaced."""
    named = NamedPath(path)
    named.shown = clean_text(shown) or named.name
    return named


def display_name(path: Path) -> str:
    """Return the name of a file as people know it, without its folder."""
    return Path(str(path)).name


def as_path(path: Any, expected: str = "the path of a file") -> Path:
    """Return a path with ``~`` expanded; raise if it is not a path."""
    if isinstance(path, NamedPath):
        return path
    if not isinstance(path, (str, Path)) or not str(path) or "\0" in str(path):
        plain = isinstance(path, (str, bytes, int, float, type(None)))
        shown = repr(path) if plain else f"an object of type {type(path).__name__}"
        raise ValueError(f"Expected {expected}, got {shown}.")
    return Path(os.path.expanduser(path))


def file_ending(path: Path) -> str:
    """Return the ending that tells the format, in lower case; of a packed file, the one before ``.gz``."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked if it ends in .gz."""
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            return file.read()
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ValueError(f"Expected a packed file, as {path} ends in .gz, got another or half of one.") from None


def read_text(path: Path, encoding: str | None = None) -> str:
    """Return the text of a file, unpacked if it ends in .gz, in the encoding that its bytes show unless given."""
    return decode(read_bytes(path), path, encoding)[0].replace("\r\n", "\n").replace("\r", "\n")


def decode(content: bytes, path: Path, encoding: str | None = None) -> tuple[str, str]:
    """Return a text and its encoding, which is detected unless given; byte order marks are left out."""
    if encoding is None and is_binary(content):
        kind = next((kind for start, kind in _SIGNATURES.items() if content.startswith(start)), "a binary file")
        raise ValueError(f"Expected text in {path}, got {kind}; give the file its right ending, or export it as CSV.")
    chosen = encoding or detect_encoding(content)
    try:
        text = content.decode(chosen)
    except LookupError:
        raise ReadingError(
            f"Expected a known encoding such as 'utf-8' or 'latin-1', got {encoding!r}.", ask_encoding()
        ) from None
    except (UnicodeError, TypeError, ValueError):
        raise ReadingError(
            f"Expected text in {chosen} in {path}, got another encoding; leave encoding= out, or name another one.",
            ask_encoding(),
        ) from None
    return text.removeprefix("\ufeff"), chosen


def is_text(column: "pd.Series[Any]") -> bool:
    """Whether all entries are texts and none of them is a number in quotes."""
    return bool(column.map(lambda entry: isinstance(entry, str) and isinstance(as_number(entry), str)).all())


def as_number(entry: Any) -> Any:
    """Return the entry as a float if it is a number, else as it is; 1_000 is a name, an array of one no number."""
    is_array = bool(getattr(entry, "ndim", 0))
    if is_array or (isinstance(entry, str) and "_" in entry):
        return entry
    with suppress(TypeError, ValueError, OverflowError):
        return float(entry)
    return entry


def missing_package(package: str, purpose: str, extra: str = "app") -> ValueError:
    """Return the error that says what to install."""
    return ValueError(f"{purpose[0].upper()}{purpose[1:]} needs {package}: pip install 'holdfast[{extra}]'")


# Parquet and Feather


def pyarrow_parquet(path: Path) -> Any:
    """Return pyarrow's Parquet module; raise how to install it if it is missing."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise missing_package("pyarrow", f"the Parquet file {path}") from None
    return pyarrow.parquet


def parquet_table(path: Path) -> Any:
    """Return a Parquet file as a pyarrow table."""
    path.stat()  # pyarrow's error for a missing file says no more than its name
    parquet = pyarrow_parquet(path)
    try:
        with parquet.ParquetFile(path) as file:  # unlike read_table, takes names that come twice
            return file.read()
    except ValueError:
        raise ValueError(f"Expected a Parquet file, as {path} ends in .parquet, got something else.") from None


def feather_frame(path: Path) -> pd.DataFrame:
    """Return a Feather file as a frame."""
    path.stat()
    try:
        import pyarrow.feather
    except ImportError:
        raise missing_package("pyarrow", f"the Feather file {path}") from None
    try:
        table = pyarrow.feather.read_table(path)
    except (ValueError, OSError):
        raise ValueError(f"Expected a Feather file, as {path} ends in .feather, got something else.") from None
    return pandas_frame(table, path)


def pandas_frame(table: Any, path: Path) -> pd.DataFrame:
    """Return a pyarrow table as a frame; metadata for pandas are ignored where they make no sense."""
    for version in (table, table.replace_schema_metadata(None)):
        with suppress(Exception):  # metadata may say anything, and errors are of any kind
            return cast(pd.DataFrame, version.to_pandas())
    raise ValueError(f"Expected columns that pandas can hold in {path}, got {table.schema.types}; convert them first.")


# ARFF


def arff_frame(path: Path) -> pd.DataFrame:
    """Read ARFF; nominal attributes become categories in the declared order."""
    text = read_text(path)
    try:
        import arff
    except ImportError:
        raise missing_package("liac-arff", f"the ARFF file {path}") from None
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
