"""Data frames and matrices that R saved (.rds, .RData), through the package rdata, which runs no code of the file."""

import bz2
import gzip
import io
import lzma
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io import files
from holdfast.io.files import Loaded, check_unpacked, missing_package, read_at_most
from holdfast.io.questions import SHEET_HINT, quote_names, refuse, suggest_name

ENDINGS = (".rds", ".rdata", ".rda")
HOW_TO_EXPORT = 'in R, write.csv(x, "x.csv") saves a table that can be read'


def read_r(path: Path, name: str | None) -> Loaded:
    """Read the data frame or matrix of a file; ``name`` says which one, if an .RData file has several."""
    content = _parse(path)
    objects = content if isinstance(content, Mapping) and path.suffix.lower() != ".rds" else {path.stem: content}
    tables = {
        str(key): frame
        for key, frame in ((key, _as_frame(value)) for key, value in objects.items())
        if frame is not None
    }
    if name is not None and path.suffix.lower() != ".rds" and name not in tables:
        hint = suggest_name(name, tables, "sheet")
        raise refuse("no-such-object", list(tables), name=name, path=path, hint=hint)
    if not tables:
        kinds = quote_names(sorted({type(value).__name__ for value in objects.values()}))
        raise ValueError(f"Expected a data frame or a matrix in {path}, got {kinds}; {HOW_TO_EXPORT}.")
    chosen = name if name in tables else next(iter(tables))
    others = [key for key in tables if key != chosen]
    unread = f"; not read: {quote_names(others)}{SHEET_HINT}" if others and name is None else ""
    notes = (f"Read the object {chosen!r}{unread}.",) if path.suffix.lower() != ".rds" else ()
    sheets = tuple(tables) if path.suffix.lower() != ".rds" else ()
    return Loaded(frame=tables[str(chosen)], file_format="R data", notes=notes, sheets=sheets)


def _parse(path: Path) -> Any:
    try:
        import rdata
    except ImportError:
        raise missing_package("rdata", f"the R file {path}", "r") from None
    path.stat()
    read = rdata.read_rds if path.suffix.lower() == ".rds" else rdata.read_rda
    constructors = {**rdata.conversion.DEFAULT_CLASS_MAP, "Surv": _write_survival}
    try:
        content = _unpack(path.read_bytes())
        check_unpacked(len(content), path)
        with warnings.catch_warnings(action="ignore"):  # on classes that it does not know
            bounded = _bounded_sequences(rdata.parser)
            return read(io.BytesIO(content), altrep_constructor_dict=bounded, constructor_dict=constructors)
    except MemoryError:
        raise
    except Exception as error:  # of any kind, as a damaged file can be
        why = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        if isinstance(error, RecursionError):
            why = "lists in lists, too deep"  # what Python says depends on where it was noticed
        raise refuse("no-r-file", path=path, why=why, how_to_export=HOW_TO_EXPORT) from None


def _write_survival(value: Any, attributes: Mapping[str, Any]) -> NDArray[Any]:
    """Return survival times of R's package survival as the texts that it prints: a column of a data frame."""
    kind = str(np.asarray(attributes.get("type", ["right"])).ravel()[0])
    if kind != "right":
        raise ValueError(f"survival times of type {kind!r}, of which only 'right' (censored) is supported")
    rows = np.asarray(value, dtype=np.float64).tolist()
    known = [None if time != time or status != status else f"{time!r}{'' if status else '+'}" for time, status in rows]
    return np.array(known, dtype=object)


def _unpack(content: bytes) -> bytes:
    """Return what R saved without its packing, or more than the most that it may be; files may be packed twice."""
    opened: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
    for _ in range(3):
        unpack = next((unpack for start, unpack in opened.items() if content.startswith(start)), None)
        if unpack is None:
            break
        with unpack(io.BytesIO(content)) as file:
            content = read_at_most(file, files.MAX_BYTES)
    return content


def _bounded_sequences(parser: Any) -> dict[bytes, Any]:
    """Return rdata's constructors of what R saves as a formula, such as 1:n, for lengths that fit into memory."""

    def bound(construct: Any) -> Any:
        def checked(state: Any) -> Any:
            if np.size(state.value) == 3 and not 0 <= float(state.value[0]) <= files.MAX_CELLS:
                raise MemoryError
            return construct(state)

        return checked

    sequences = (b"compact_intseq", b"compact_realseq")
    return {name: bound(make) if name in sequences else make for name, make in parser.DEFAULT_ALTREP_MAP.items()}


def _as_frame(value: Any) -> pd.DataFrame | None:
    """Return a data frame or a matrix as a frame, with its row names; None for anything else."""
    if isinstance(value, pd.DataFrame):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf":
        return pd.DataFrame(value, columns=[f"V{position + 1}" for position in range(value.shape[1])])
    if hasattr(value, "dims") and getattr(value, "ndim", 0) == 2:  # with names of rows or columns, by xarray
        rows, columns = ([str(name) for name in value.coords[dim].values] if dim in value.coords else None
                         for dim in value.dims)  # fmt: skip
        frame = pd.DataFrame(np.asarray(value.values), index=rows)
        return frame.set_axis(columns or [f"V{position + 1}" for position in range(frame.shape[1])], axis=1)
    return None
