"""AnnData files (.h5ad): expression with what is known of each sample, read with h5py alone."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io.files import Loaded, missing_package
from holdfast.io.options import quote_names

MOST_CELLS = 2_000_000_000
"""Cells of a matrix that is made dense, about 16 GB."""


def read_h5ad(path: Path) -> Loaded:
    """Read ``X`` with the names in ``var``, and the columns of ``obs``, which are no features unless asked for."""
    try:
        import h5py
    except ImportError:
        raise missing_package("h5py", f"the AnnData file {path}", "anndata") from None
    path.stat()
    try:
        with h5py.File(path, "r") as file:
            return _read(file, path)
    except (OSError, KeyError, TypeError, IndexError, AttributeError, UnicodeError) as error:
        raise ValueError(
            f"Expected an AnnData file, as {path} ends in .h5ad, got another or half of one ({_first_line(error)})."
        ) from None


def _first_line(error: Exception) -> str:
    return str(error).strip("\"'").partition("\n")[0].rstrip(".") or type(error).__name__


def _read(file: Any, path: Path) -> Loaded:
    for part in ("X", "obs", "var"):
        if part not in file:
            raise ValueError(f"Expected {part!r} in the AnnData file {path}, got {quote_names(file)}; write it again.")
    obs, odd = _read_frame(file["obs"], path)
    names = _read_index(file["var"], path)
    values = _read_matrix(file["X"], path)
    if values.shape != (len(obs), len(names)):
        raise ValueError(
            f"Expected {len(obs)} samples of {len(names)} features in X of {path}, as obs and var say, got "
            f"{values.shape[0]} of {values.shape[1]}; write it again."
        )
    frame = pd.concat([obs, pd.DataFrame(values, index=obs.index, columns=names)], axis=1)
    notes = [f"Left out columns of obs of an unknown kind: {quote_names(odd)}."] if odd else []
    layers = sorted(file["layers"]) if "layers" in file else []
    notes += [f"Read X; the layers {quote_names(layers)} were not read."] if layers else []
    return Loaded(frame=frame, file_format="AnnData", notes=tuple(notes), aside=tuple(obs.columns))


def _read_matrix(item: Any, path: Path) -> NDArray[np.float64]:
    from scipy import sparse

    if hasattr(item, "shape"):
        _check_cells(item.shape, path)
        return np.asarray(item[...], dtype=np.float64)
    kind = _text(item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", "")))
    shape = tuple(int(side) for side in item.attrs.get("shape", item.attrs.get("h5sparse_shape", ())))
    make = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}.get(kind[:3])
    if make is None or len(shape) != 2:
        raise ValueError(f"Expected a dense, CSR or CSC matrix as X of {path}, got {kind or 'something else'!r}.")
    _check_cells(shape, path)
    parts = (item["data"][...], item["indices"][...], item["indptr"][...])
    try:
        matrix = make(parts, shape=shape)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"Expected a whole sparse matrix as X of {path}, got a damaged one: {error}.") from None
    return np.asarray(matrix.toarray(), dtype=np.float64)


def _check_cells(shape: tuple[int, ...], path: Path) -> None:
    if len(shape) != 2 or shape[0] * shape[1] > MOST_CELLS:
        size = " × ".join(map(str, shape))
        raise ValueError(f"Expected a matrix that fits into memory as X of {path}, got {size} cells; select features.")


# What is known of each sample


def _read_frame(group: Any, path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns of ``obs`` that are numbers, texts, truths or categories, and the names of the others."""
    index = _read_index(group, path)
    order = group.attrs.get("column-order", ())
    names = [_text(name) for name in order] if len(order) else [name for name in group if name != _index_name(group)]
    columns, odd = {}, []
    for name in names:
        column = _read_column(group[name])
        if column is None or len(column) != len(index):
            odd.append(name)
        else:
            columns[name] = column.set_axis(index)
    return pd.DataFrame(columns, index=index), odd


def _index_name(group: Any) -> str:
    if hasattr(group, "shape"):
        raise KeyError("obs and var in the layout of anndata before 0.7; write it again")
    return _text(group.attrs.get("_index", "_index"))


def _read_index(group: Any, path: Path) -> "pd.Index[Any]":
    name = _index_name(group)
    if name not in group:
        raise ValueError(f"Expected the names {name!r} in {group.name} of {path}, got none; write the file again.")
    return pd.Index([_text(entry) for entry in group[name][...]])


def _read_column(item: Any) -> "pd.Series[Any] | None":
    kind = _text(item.attrs.get("encoding-type", ""))
    if kind == "categorical":
        levels = _read_column(item["categories"])
        codes = np.asarray(item["codes"][...], dtype=np.int64)
        if levels is None or (codes >= len(levels)).any():
            return None
        ordered = bool(item.attrs.get("ordered", False))
        return pd.Series(pd.Categorical.from_codes(codes, pd.Index(levels), ordered=ordered))
    if kind.startswith("nullable"):
        mask = np.asarray(item["mask"][...], dtype=bool)
        return pd.Series(list(item["values"][...]), dtype=object).mask(mask).infer_objects()
    if not hasattr(item, "shape") or len(item.shape) != 1:
        return None
    entries = item[...]
    if entries.dtype.kind in "OS":
        return pd.Series([_text(entry) for entry in entries])
    return pd.Series(entries) if entries.dtype.kind in "biuf" else None


def _text(entry: Any) -> str:
    return entry.decode("utf-8", "replace") if isinstance(entry, bytes) else str(entry)
