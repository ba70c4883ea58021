"""Tables as they were read, kept beside their upload, so that the next question about one need not parse it again.

Numbers are kept as arrays, one for each type, as a table of thousands of columns is read from these in a moment; texts
and whatever else there is as an Arrow table. Only what reads back exactly as it was is kept; nothing is unpickled.
"""

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from holdfast import __version__
from holdfast.io.files import Loaded, Reading
from holdfast.io.table import load_table
from holdfast.web.folder import SPARE
from holdfast.web.guard import MEGABYTE

WORTHWHILE = 100_000
"""Bytes of a file from which what was read is kept."""
LARGEST = 500 * MEGABYTE
"""Bytes of the largest table that is kept."""
MOST_KEPT = 2
"""Ways of reading one file of which the tables are kept; the newest stay."""


def load_kept(path: Path, reading: Reading) -> Loaded:
    """Load a table as :func:`holdfast.io.table.load_table` does; one that was loaded before, from what was kept."""
    file = _kept_file(path, reading)
    known = _recall(file)
    if known is not None:
        return known
    loaded = load_table(path, reading)
    if path.stat().st_size >= WORTHWHILE:
        _keep(file, loaded)
    return loaded


def _kept_file(path: Path, reading: Reading) -> Path:
    text = json.dumps([__version__, asdict(reading)], sort_keys=True)
    return path.with_name(f".table-{hashlib.sha256(text.encode()).hexdigest()[:16]}.npz")


def _recall(file: Path) -> Loaded | None:
    """Return the table that a file keeps; None if it keeps none."""
    try:
        with file.open("rb") as content, np.load(content, allow_pickle=False) as stored:
            return unpack_table(stored)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, pa.ArrowException):
        return None


def _keep(file: Path, loaded: Loaded) -> None:
    """Keep a table if it can be read back as it is and there is room for it; older ones of the same upload go."""
    size = int(loaded.frame.memory_usage(index=False).sum())
    if size > LARGEST or size > shutil.disk_usage(file.parent).free - SPARE:
        return
    passing = file.with_name(f".passing-{secrets.token_hex(4)}.npz")
    try:
        with os.fdopen(os.open(passing, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            np.savez(out, allow_pickle=False, **pack_table(loaded))
        kept = _recall(passing)
        if kept is not None and are_same(kept, loaded):
            passing.replace(file)
    except (OSError, ValueError, TypeError, pa.ArrowException):  # such as lists in cells, which no format here holds
        return
    finally:
        passing.unlink(missing_ok=True)
    for old in sorted(file.parent.glob(".table-*.npz"), key=lambda other: -other.stat().st_mtime)[MOST_KEPT:]:
        old.unlink(missing_ok=True)


# Tables as arrays


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
    table, out = pa.Table.from_pandas(frame), pa.BufferOutputStream()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return bytes(out.getvalue())


def _read_arrow(content: bytes) -> pd.DataFrame:
    with pa.ipc.open_file(content) as reader:
        frame: pd.DataFrame = reader.read_pandas()
    return frame
