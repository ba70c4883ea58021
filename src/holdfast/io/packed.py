"""A table as it was loaded, packed into arrays from which it is unpacked in a moment, exactly as it was.

Numbers are one array for each type, as a table of thousands of columns is read fast from these; texts and whatever else
there is are an Arrow table.
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io.files import Loaded


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
