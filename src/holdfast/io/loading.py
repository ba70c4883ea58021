"""Tables from files of any format, as they stand there."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io import excel, files, r_files
from holdfast.io.delimited import DEFAULT_SEPARATORS, read_delimited
from holdfast.io.h5ad import read_h5ad
from holdfast.io.options import Reading

ENDINGS = (*DEFAULT_SEPARATORS, *excel.ENDINGS, ".parquet", ".feather", ".arff", ".h5ad", *r_files.ENDINGS)


def load_frame(
    path: str | Path, *, row: str = "run", gaps: Iterable[str] = (), reading: Reading | None = None
) -> files.Loaded:
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
    path, reading = files.as_path(path), reading or Reading()
    ending = files.file_ending(path)
    for option in ("sep", "decimal", "encoding"):
        if getattr(reading, option) is not None and ending in ENDINGS and ending not in DEFAULT_SEPARATORS:
            raise ValueError(f"Expected a text file for {option}=, got {path}; leave {option}= out.")
    if reading.sheet is not None and ending not in (*excel.ENDINGS, *r_files.ENDINGS, ".h5ad"):
        raise ValueError(f"Expected an Excel, R or AnnData file for sheet=, got {path}; leave sheet= out.")
    with files.enough_memory(path):
        if ending == ".parquet":
            return files.Loaded(frame=files.pandas_frame(files.parquet_table(path), path), file_format="Parquet")
        if ending == ".feather":
            return files.Loaded(frame=files.feather_frame(path), file_format="Feather")
        if ending == ".arff":
            return files.Loaded(frame=files.arff_frame(path), file_format="ARFF")
        if ending in excel.ENDINGS:
            return excel.read_excel(path, row, reading.sheet)
        if ending == ".h5ad":
            return read_h5ad(path, reading.sheet)
        if ending in r_files.ENDINGS:
            return r_files.read_r(path, reading.sheet)
        return read_delimited(path, row, list(gaps), reading)


def pack_table(loaded: files.Loaded) -> dict[str, NDArray[Any]]:
    """Return a table as arrays: numbers by their types with the positions of their columns, and all else."""
    import pyarrow as pa

    frame = loaded.frame.set_axis(range(loaded.frame.shape[1]), axis=1)
    types = [str(dtype) if isinstance(dtype, np.dtype) and dtype.kind in "fiub" else "" for dtype in frame.dtypes]
    positions = {
        name: [position for position, dtype in enumerate(types) if dtype == name] for name in sorted({*types, ""})
    }
    others = frame[positions.pop("")].rename(columns=str)
    facts = {field: value for field, value in vars(loaded).items() if field != "frame"}
    about = {**facts, "columns": list(loaded.frame.columns), "positions": positions}
    table, out = pa.Table.from_pandas(others), pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return {
        "about": np.frombuffer(json.dumps(about).encode(), dtype=np.uint8),
        "others": np.frombuffer(bytes(out.getvalue()), dtype=np.uint8),
        **{name: frame[columns].to_numpy() for name, columns in positions.items()},
    }


def unpack_table(stored: Mapping[str, NDArray[Any]]) -> files.Loaded:
    """Return the table that arrays hold."""
    import pyarrow as pa

    about = json.loads(stored["about"].tobytes())
    with pa.ipc.open_file(stored["others"].tobytes()) as reader:
        others: pd.DataFrame = reader.read_pandas().rename(columns=int)
    positions, names = about.pop("positions"), about.pop("columns")
    pieces = [
        *(
            pd.DataFrame(stored[name], index=others.index, columns=columns, copy=False)
            for name, columns in positions.items()
        ),
        *([others] if others.shape[1] or not positions else []),
    ]
    whole = pieces[0] if len(pieces) == 1 else pd.concat(pieces, axis=1)[range(len(names))]
    lists = {field: tuple(value) for field, value in about.items() if isinstance(value, list)}
    return files.Loaded(frame=whole.set_axis(pd.Index(names), axis=1), **{**about, **lists})


def are_same(one: files.Loaded, other: files.Loaded) -> bool:
    """Whether two tables are the same to every digit, type and name."""
    first, second = one.frame, other.frame
    indexes = ((first.index, second.index), (first.columns, second.columns))
    return (
        all(
            getattr(one, field.name) == getattr(other, field.name)
            for field in fields(files.Loaded)
            if field.name != "frame"
        )
        and all(type(a) is type(b) and a.dtype == b.dtype and a.names == b.names for a, b in indexes)
        and list(first.dtypes) == list(second.dtypes)
        and first.equals(second)
    )
