"""Data frames and matrices that R saved (.rds, .RData), through the package rdata, which runs no code of the file."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from holdfast.declared import did_you_mean
from holdfast.io.files import Loaded, missing_package
from holdfast.io.options import quote_names
from holdfast.io.questions import SHEET_HINT, ReadingError, ask_sheet

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
        hint = did_you_mean(name, tables)
        hint = hint if hint.endswith("?") else "; give sheet= one of these names."
        raise ReadingError(
            f"Expected the data frame {name!r} in {path}, got {quote_names(tables)}{hint}",
            ask_sheet(tables) if tables else None,
        )
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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on classes that it does not know
            return read(str(path))
    except MemoryError:
        raise
    except Exception as error:  # of any kind, as a damaged file can be
        why = str(error).partition("\n")[0].rstrip(".") or type(error).__name__
        raise ValueError(
            f"Expected a file that R saved, as {path} ends in {path.suffix}, got another, half of one, or one with "
            f"objects that cannot be read ({why}); {HOW_TO_EXPORT}."
        ) from None


def _as_frame(value: Any) -> pd.DataFrame | None:
    """Return a data frame or a matrix as a frame, with its row names; None for anything else."""
    if isinstance(value, pd.DataFrame):
        return value
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "biuf":
        return pd.DataFrame(value, columns=[f"V{place + 1}" for place in range(value.shape[1])])
    if hasattr(value, "dims") and getattr(value, "ndim", 0) == 2:  # with names of rows or columns, by xarray
        rows, columns = ([str(name) for name in value.coords[dim].values] if dim in value.coords else None
                         for dim in value.dims)  # fmt: skip
        frame = pd.DataFrame(np.asarray(value.values), index=rows)
        return frame.set_axis(columns or [f"V{place + 1}" for place in range(frame.shape[1])], axis=1)
    return None
