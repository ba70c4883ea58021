"""Files: paths, bytes and texts; tables in Parquet, Feather and ARFF."""

import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from holdfast.io.dialect import detect_encoding, is_binary
from holdfast.io.questions import refuse, shorten
from holdfast.text import clean_text

MAX_BYTES = 4 * 2**30
"""Of a packed file (.gz, R's files) when unpacked."""
MAX_WORKBOOK_BYTES = 2**31
"""Of a spreadsheet when unpacked."""
MAX_CELLS = 2_000_000_000
"""Of a matrix that is made dense, about 16 GB; also of what files of other formats declare."""
MAX_SHEET_CELLS = 100_000_000
"""Of the rectangle around all cells of a sheet, which is filled when it is read."""
MAX_COLUMNS = 2_000_000
"""In a line of text."""
MAX_NAME_LENGTH = 200
"""Characters of a name that may follow a pattern, such as those of genes or runs."""


PIECE = 2**22
"""Bytes that are unpacked at a time."""
_SIGNATURES = {
    b"PK": "an Excel or zip file", b"\x1f\x8b": "a packed file", b"PAR1": "a Parquet file", b"\x89HDF": "an HDF5 file",
    b"\xd0\xcf\x11\xe0": "an old Excel file", b"RDX": "a file of R",
}  # fmt: skip


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
    turned : bool
        Whether features stood in rows and were turned when the file was read, as its format says that they do.
    """

    frame: pd.DataFrame
    file_format: str
    notes: tuple[str, ...] = ()
    aside: tuple[str, ...] = ()
    decimal: str = "."
    sheets: tuple[str, ...] = ()
    turned: bool = False


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
    expanded = Path(os.path.expanduser(path))
    with suppress(OSError):  # of a file that is not there, or a name that is too long
        if stat.S_ISFIFO(expanded.lstat().st_mode):  # to open it may wait for ever; /dev/stdin is a link to one
            raise ValueError(f"Expected a file, got a named pipe: {path}; write what comes through it into a file.")
    return expanded


def file_ending(path: Path) -> str:
    """Return the ending that tells the format, in lower case; of a packed file, the one before ``.gz``."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name).suffix.lower()


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked if it ends in .gz."""
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as file:
            content = read_at_most(file, MAX_BYTES)
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise ValueError(f"Expected a packed file, as {path} ends in .gz, got another or half of one.") from None
    check_unpacked(len(content), path)
    return content


def read_at_most(file: Any, most: int) -> bytes:
    """Return what is in a file, or a little more than the most that it may hold; a piece at a time.

    Asked for many bytes at once, files reserve as much memory, whatever they hold.
    """
    pieces, size = [], 0
    while size <= most and (piece := file.read(min(PIECE, most + 1 - size))):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def check_unpacked(n_bytes: int, path: Path) -> None:
    """Raise if a packed file unpacks to more than it may."""
    if n_bytes > MAX_BYTES:
        raise refuse("large-packed", most=MAX_BYTES / 1e9, path=path)


def check_declared(n_rows: int, n_columns: int, path: Path) -> None:
    """Raise if a file says that it holds more cells than fit into memory; repeated values take no space in a file."""
    if n_rows * n_columns > MAX_CELLS:
        raise refuse("many-cells", path=path, n_rows=n_rows, n_columns=n_columns)


@contextmanager
def enough_memory(path: Path) -> Iterator[None]:
    """Say in a sentence that a table does not fit into memory."""
    try:
        yield
    except MemoryError:
        raise refuse("no-memory", path=path) from None


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
        raise refuse("unknown-encoding", encoding=encoding) from None
    except (UnicodeError, TypeError, ValueError):
        raise refuse("wrong-encoding", encoding=chosen, path=path) from None
    return text.removeprefix("\ufeff"), chosen


def is_text(column: "pd.Series[Any]") -> bool:
    """Whether all entries are texts and none of them is a number in quotes."""
    return all(isinstance(entry, str) and isinstance(as_number(entry), str) for entry in column)


def as_number(entry: Any) -> Any:
    """Return the entry as a float if it is a number, else as it is; 1_000 is a name, an array of one no number."""
    is_array = bool(getattr(entry, "ndim", 0))
    if is_array or (isinstance(entry, str) and "_" in entry):
        return entry
    with suppress(TypeError, ValueError, OverflowError):
        return float(entry)
    return entry


def as_name(entry: Any) -> str:
    """Return an entry as a name: a whole number is written without a point."""
    return str(int(entry)) if isinstance(entry, float) and entry.is_integer() else str(entry)


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


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file, of which parts can be read."""
    path.stat()  # pyarrow's error for a missing file says no more than its name
    parquet = pyarrow_parquet(path)
    try:
        file = parquet.ParquetFile(path)  # unlike read_table, takes names that come twice
    except (ValueError, OSError):
        raise ValueError(f"Expected a Parquet file, as {path} ends in .parquet, got something else.") from None
    with file:
        yield file


def parquet_table(path: Path) -> Any:
    """Return a Parquet file as a pyarrow table."""
    with open_parquet(path) as file:
        check_declared(file.metadata.num_rows, file.metadata.num_columns, path)
        try:
            return file.read()
        except (ValueError, OSError):
            raise ValueError(f"Expected a whole Parquet file in {path}, got a damaged one; write it again.") from None


def feather_frame(path: Path) -> pd.DataFrame:
    """Return a Feather file as a frame, a batch of rows at a time as long as they fit into memory."""
    path.stat()
    try:
        import pyarrow.feather
    except ImportError:
        raise missing_package("pyarrow", f"the Feather file {path}") from None
    try:
        with pyarrow.OSFile(os.fspath(path)) as file:
            if file.read(6) == b"FEA1":  # the first version of the format, which packs nothing
                return pandas_frame(pyarrow.feather.read_table(path), path)
            batches = list(_batches(pyarrow.ipc.open_file(file), path))
            table = pyarrow.Table.from_batches(batches)
    except (pyarrow.ArrowException, OSError, IndexError):
        raise ValueError(f"Expected a Feather file, as {path} ends in .feather, got something else.") from None
    return pandas_frame(table, path)


def _batches(reader: Any, path: Path) -> Iterator[Any]:
    """Yield the batches of rows of an Arrow file as long as all of them fit into memory."""
    rows = 0
    for position in range(reader.num_record_batches):
        batch = reader.get_batch(position)
        rows += batch.num_rows
        check_declared(rows, batch.num_columns, path)
        yield batch


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
    except (arff.ArffException, ValueError, IndexError, KeyError, TypeError, RecursionError) as error:
        why = shorten(str(error).strip().rstrip(".") or type(error).__name__, 200)
        raise ValueError(f"Expected ARFF in {path}, got something else: {why}.") from None
    names, kinds = zip(*content["attributes"], strict=True)
    columns = zip(*content["data"], strict=True) if content["data"] else [()] * len(names)
    series = [_arff_column(list(column), kind) for column, kind in zip(columns, kinds, strict=True)]
    return pd.concat(series, axis=1, keys=names)


def _arff_column(entries: list[Any], kind: str | list[str]) -> "pd.Series[Any]":
    if isinstance(kind, list):
        return pd.Series(pd.Categorical(entries, categories=list(dict.fromkeys(kind))))
    return pd.Series(entries, dtype="str" if kind == "STRING" else "float64")
