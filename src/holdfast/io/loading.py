"""Tables from files of any format, as they stand there."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io import excel, r_files
from holdfast.io.delimited import USUAL_SEPARATORS, read_delimited
from holdfast.io.files import (
    Loaded,
    arff_frame,
    as_path,
    enough_memory,
    feather_frame,
    file_ending,
    pandas_frame,
    parquet_table,
)
from holdfast.io.h5ad import read_h5ad
from holdfast.io.options import Reading

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


def pack_table(loaded: Loaded) -> dict[str, NDArray[Any]]:
    """Return a table as arrays: numbers by their types with the places of their columns, and all else."""
    frame = loaded.frame.set_axis(range(loaded.frame.shape[1]), axis=1)
    types = [str(dtype) if isinstance(dtype, np.dtype) and dtype.kind in "fiub" else "" for dtype in frame.dtypes]
    places = {name: [place for place, own in enumerate(types) if own == name] for name in sorted({*types, ""})}
    others = frame[places.pop("")].rename(columns=str)
    facts = {field: value for field, value in vars(loaded).items() if field != "frame"}
    about = {**facts, "columns": list(loaded.frame.columns), "places": places}
    return {
        "about": _as_bytes(json.dumps(about).encode()),
        "others": _as_bytes(_write_arrow(others)),
        **{name: frame[own].to_numpy() for name, own in places.items()},
    }


def unpack_table(stored: Mapping[str, NDArray[Any]]) -> Loaded:
    """Return the table that arrays hold."""
    about = json.loads(stored["about"].tobytes())
    others = _read_arrow(stored["others"].tobytes()).rename(columns=int)
    places, names = about.pop("places"), about.pop("columns")
    pieces = [
        *(pd.DataFrame(stored[name], index=others.index, columns=own, copy=False) for name, own in places.items()),
        *([others] if others.shape[1] or not places else []),
    ]
    whole = pieces[0] if len(pieces) == 1 else pd.concat(pieces, axis=1)[range(len(names))]
    lists = {field: tuple(value) for field, value in about.items() if isinstance(value, list)}
    return Loaded(frame=whole.set_axis(pd.Index(names), axis=1), **{**about, **lists})


def are_same(one: Loaded, other: Loaded) -> bool:
    """Whether two tables are the same to every digit, type and name."""
    first, second = one.frame, other.frame
    indexes = ((first.index, second.index), (first.columns, second.columns))
    return (
        all(getattr(one, field.name) == getattr(other, field.name) for field in fields(Loaded) if field.name != "frame")
        and all(type(a) is type(b) and a.dtype == b.dtype and a.names == b.names for a, b in indexes)
        and list(first.dtypes) == list(second.dtypes)
        and first.equals(second)
    )


def _as_bytes(content: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(content, dtype=np.uint8)


def _write_arrow(frame: pd.DataFrame) -> bytes:
    import pyarrow as pa

    table, out = pa.Table.from_pandas(frame), pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return bytes(out.getvalue())


def _read_arrow(content: bytes) -> pd.DataFrame:
    import pyarrow as pa

    with pa.ipc.open_file(content) as reader:
        frame: pd.DataFrame = reader.read_pandas()
    return frame
