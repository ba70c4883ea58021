"""Tables from files of any format, as they stand there."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from holdfast.io import excel, r_files
from holdfast.io.delimited import USUAL_SEPARATORS, read_delimited
from holdfast.io.files import (
    Loaded,
    Reading,
    arff_frame,
    as_path,
    enough_memory,
    feather_frame,
    file_ending,
    pandas_frame,
    parquet_table,
)
from holdfast.io.h5ad import read_h5ad

ENDINGS = (*USUAL_SEPARATORS, *excel.ENDINGS, ".parquet", ".feather", ".arff", ".h5ad", *r_files.ENDINGS)


def read_frame(path: str | Path, *, row: str = "run", gaps: Iterable[str] = ()) -> pd.DataFrame:
    """Read a table with a header; the ending tells the format, and any not in ENDINGS is read as text."""
    return load_frame(path, row=row, gaps=gaps).frame


def load_frame(
    path: str | Path, *, row: str = "run", gaps: Iterable[str] = (), reading: Reading | None = None
) -> Loaded:
    """Read a table with a header, and how it was read.

    Parameters
    ----------
    path : path
        The ending tells the format; any not in ENDINGS is read as text.
    row : str
        What messages call a row.
    gaps : iterable of str
        Texts that mean a missing value, besides those of pandas (empty, NA, NaN, null, None).
    reading : Reading, optional
        How to read the file, where that is not to be detected.
    """
    path, reading = as_path(path), reading or Reading()
    _check_reading(reading, file_ending(path), path)
    with enough_memory(path):
        return _load(path, row, list(gaps), reading)


def _load(path: Path, row: str, gaps: list[str], reading: Reading) -> Loaded:
    ending = file_ending(path)
    if ending == ".parquet":
        return Loaded(frame=pandas_frame(parquet_table(path), path), file_format="Parquet")
    if ending == ".feather":
        return Loaded(frame=feather_frame(path), file_format="Feather")
    if ending == ".arff":
        return Loaded(frame=arff_frame(path), file_format="ARFF")
    if ending in excel.ENDINGS:
        return excel.read_excel(path, row, reading.sheet)
    if ending == ".h5ad":
        return read_h5ad(path)
    if ending in r_files.ENDINGS:
        return r_files.read_r(path, reading.sheet)
    return read_delimited(path, row, gaps, reading)


def _check_reading(reading: Reading, ending: str, path: Path) -> None:
    """Raise if an option is for files of another kind."""
    binary = ending in ENDINGS and ending not in USUAL_SEPARATORS
    for option, value in (("sep", reading.sep), ("decimal", reading.decimal), ("encoding", reading.encoding)):
        if value is not None and binary:
            raise ValueError(f"Expected a text file for {option}=, got {path}; leave {option}= out.")
    if reading.sheet is not None and ending not in (*excel.ENDINGS, *r_files.ENDINGS):
        raise ValueError(f"Expected an Excel or R file for sheet=, got {path}; leave sheet= out.")
