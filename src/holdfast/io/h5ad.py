"""AnnData: expression with what is known of each sample; files (.h5ad) by h5py alone, and objects in memory."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io import files
from holdfast.io.files import Loaded, missing_package
from holdfast.io.guessing import join_label, label_features
from holdfast.io.questions import quote_names, refuse
from holdfast.text import format_count


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    """Open a file; say of errors of h5py that it is no AnnData."""
    try:
        import h5py
    except ImportError:
        raise missing_package("h5py", f"the AnnData file {path}", "anndata") from None
    path.stat()
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, KeyError, TypeError, IndexError, AttributeError, UnicodeError, RuntimeError) as error:
        why = str(error).strip("\"'").partition("\n")[0].rstrip(".") or type(error).__name__
        raise refuse("no-anndata", path=path, why=why) from None


def read_h5ad(path: Path, layer: str | None = None) -> Loaded:
    """Read ``X``, or a layer, with the names in ``var`` and the columns of ``obs``, no features unless asked for."""
    with _open(path) as file:
        item, layers = _find_matrix(file, path, layer)
        shape, read = _open_matrix(item, path)
        obs, names, notes = _read_names(file, path, shape)
        unread = [name for name in layers if name != layer]
        notes += [f"Read {layer or 'X'}; the layers {quote_names(unread)} were not read."] if unread else []
        frame = pd.concat([obs, pd.DataFrame(read(), index=obs.index, columns=names)], axis=1)
    return Loaded(frame=frame, file_format="AnnData", notes=tuple(notes), aside=tuple(obs.columns))


@contextmanager
def open_dense(path: Path, layer: str | None) -> Iterator[tuple[Any, pd.DataFrame, "pd.Index[Any]"]]:
    """Open a dense matrix of any size, with ``obs`` and the names of the features."""
    with _open(path) as file:
        item, _ = _find_matrix(file, path, layer)
        if not hasattr(item, "shape") or len(item.shape) != 2 or item.dtype.kind not in "biuf":
            raise ValueError(
                f"Expected dense numbers as {layer or 'X'} of {path}, got something else, such as sparse rows, which "
                "cannot be read in blocks of columns; hf.read_table makes them dense in memory."
            )
        obs, names, _ = _read_names(file, path, item.shape)
        yield item, obs, names


def _find_matrix(file: Any, path: Path, layer: str | None) -> tuple[Any, list[str]]:
    """Return ``X`` or a layer, and the names of all layers."""
    for part in ("X", "obs", "var"):
        if not _has(file, part):
            raise ValueError(f"Expected {part!r} in the AnnData file {path}, got {quote_names(file)}; write it again.")
    layers = sorted(_get(file, "layers")) if _has(file, "layers") else []
    if layer is not None and layer not in layers:
        raise refuse("no-layer", layer=layer, path=path, layers=quote_names(layers) or "none")
    return _get(file, "X" if layer is None else f"layers/{layer}"), layers


def _read_names(file: Any, path: Path, shape: tuple[int, ...]) -> tuple[pd.DataFrame, "pd.Index[Any]", list[str]]:
    """Return ``obs``, the names of the features, and notes on both."""
    obs_group, var_group = _get(file, "obs"), _get(file, "var")
    expected = tuple(_length(_get_index(group, path)) for group in (obs_group, var_group))
    if shape != expected:
        raise refuse("other-shape", expected=expected, path=path, shape=shape)
    obs, odd = _read_frame(obs_group, path)
    notes = [f"Left out columns of obs of an unknown kind: {quote_names(odd)}."] if odd else []
    return obs, _label_names(_read_frame(var_group, path)[0], notes), notes


def _label_names(var: pd.DataFrame, notes: list[str]) -> "pd.Index[Any]":
    """Return the names of the features, joined with their symbols if a column has some."""
    labels = label_features(var.set_axis(var.index.astype(str)), map(str, var.columns))
    if labels:
        notes.append(f"Added labels to the names of {format_count(len(labels), 'feature')}.")
    return pd.Index([join_label(labels[name], name) if name in labels else name for name in map(str, var.index)])


def is_anndata(thing: Any) -> bool:
    """Whether something has the parts of an AnnData or MuData object; neither package is imported."""
    return all(hasattr(thing, part) for part in ("obs", "var", "var_names", "n_vars"))


def load_anndata(data: Any, part: str | None = None) -> Loaded:
    """Read an AnnData object, in memory or backed by a file: ``X`` or a layer; of MuData one modality or all."""
    modalities = getattr(data, "mod", None)
    if modalities is not None and part in modalities:
        data, modalities, part = modalities[part], None, None
    pieces, notes = [data] if modalities is None else list(modalities.values()), list[str]()
    tables = []
    for piece in pieces:
        _check_cells(piece.shape, Path("the AnnData object"))
        if part is not None and part not in piece.layers:
            raise refuse("no-layer", layer=part, path="the AnnData object", layers=quote_names(piece.layers) or "none")
        if list(piece.obs_names) != list(data.obs_names):
            raise ValueError(
                "Expected all modalities of the MuData object to have the same cells in the same order, got others; "
                'name one of them by layer= (of hf.read_table, sheet=), such as "rna".'
            )
        values = piece.X if part is None else piece.layers[part]
        values = values.to_memory() if hasattr(values, "to_memory") else values[...]  # which backed ones need
        dense = np.asarray(values.toarray() if hasattr(values, "toarray") else values, dtype=np.float64)
        tables.append(pd.DataFrame(dense, index=data.obs.index, columns=_label_names(piece.var, notes)))
    frame = pd.concat([data.obs, *tables], axis=1)
    return Loaded(frame=frame, file_format="AnnData", notes=tuple(notes), aside=tuple(map(str, data.obs.columns)))


def _has(group: Any, name: str) -> bool:
    """Whether a group has a member; no link is followed."""
    return bool(group.id.links.exists(name.encode()))


def _get(group: Any, name: str) -> Any:
    """Return a member of a group that lies in this file itself, not behind a link, which may lead to any other file."""
    import h5py

    for part in name.split("/"):
        if group.id.links.get_info(part.encode()).type != h5py.h5l.TYPE_HARD:
            raise KeyError(f"{part} is a link")
        group = group[part]
        if hasattr(group, "shape") and (group.external or group.is_virtual):
            raise KeyError(f"{part} lies in another file")
    return group


def _entries(item: Any) -> Any:
    """Return all entries of an array, if what it declares fits into memory; what is not stored takes no space."""
    if item.size is None or item.size * item.dtype.itemsize > 8 * files.MAX_CELLS:
        raise KeyError(f"{item.name} declares {item.size} entries")
    return item[...]


def _length(item: Any) -> int:
    if len(item.shape) != 1:
        raise KeyError(f"{item.name} has {len(item.shape)} dimensions")
    return int(item.shape[0])


def _open_matrix(item: Any, path: Path) -> tuple[tuple[int, ...], Callable[[], NDArray[np.float64]]]:
    """Return the declared shape of a matrix, which is checked, and a function that reads it."""
    from scipy import sparse

    if hasattr(item, "shape"):
        _check_cells(item.shape, path)
        return item.shape, lambda: np.asarray(_entries(item), dtype=np.float64)
    kind = _text(item.attrs.get("encoding-type", item.attrs.get("h5sparse_format", "")))
    shape = tuple(int(side) for side in item.attrs.get("shape", item.attrs.get("h5sparse_shape", ())))
    make = {"csr": sparse.csr_matrix, "csc": sparse.csc_matrix}.get(kind[:3])
    if make is None or len(shape) != 2:
        raise ValueError(f"Expected a dense, CSR or CSC matrix as X of {path}, got {kind or 'something else'!r}.")
    _check_cells(shape, path)
    return shape, lambda: _read_sparse(item, make, shape, path)


def _read_sparse(item: Any, make: Any, shape: tuple[int, ...], path: Path) -> NDArray[np.float64]:
    parts = tuple(_entries(_get(item, part)) for part in ("data", "indices", "indptr"))
    try:
        matrix = make(parts, shape=shape)
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"Expected a whole sparse matrix as X of {path}, got a damaged one: {error}.") from None
    return np.asarray(matrix.toarray(), dtype=np.float64)


def _check_cells(shape: tuple[int, ...], path: Path) -> None:
    if len(shape) != 2 or shape[0] * shape[1] > files.MAX_CELLS:
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
        column = _read_column(_get(group, name))
        if column is None or len(column) != len(index):
            odd.append(name)
        else:
            columns[name] = column.set_axis(index)
    return pd.DataFrame(columns, index=index), odd


def _index_name(group: Any) -> str:
    if hasattr(group, "shape"):
        raise KeyError("obs and var in the layout of anndata before 0.7; write it again")
    return _text(group.attrs.get("_index", "_index"))


def _get_index(group: Any, path: Path) -> Any:
    name = _index_name(group)
    if not _has(group, name):
        raise ValueError(f"Expected the names {name!r} in {group.name} of {path}, got none; write the file again.")
    index = _get(group, name)
    return index if hasattr(index, "shape") else _get(index, "values")  # texts that may be missing, with a mask


def _read_index(group: Any, path: Path) -> "pd.Index[Any]":
    return pd.Index([_text(entry) for entry in _entries(_get_index(group, path))])


def _read_column(item: Any) -> "pd.Series[Any] | None":
    kind = _text(item.attrs.get("encoding-type", ""))
    if kind == "categorical":
        levels = _read_column(_get(item, "categories"))
        codes = np.asarray(_entries(_get(item, "codes")), dtype=np.int64)
        if levels is None or (codes >= len(levels)).any():
            return None
        ordered = bool(item.attrs.get("ordered", False))
        return pd.Series(pd.Categorical.from_codes(codes, pd.Index(levels), ordered=ordered))
    if kind.startswith("nullable"):
        mask = np.asarray(_entries(_get(item, "mask")), dtype=bool)
        entries = [_text(entry) if isinstance(entry, bytes) else entry for entry in _entries(_get(item, "values"))]
        return pd.Series(entries, dtype=object).mask(mask).infer_objects()
    if not hasattr(item, "shape") or len(item.shape) != 1:
        return None
    entries = _entries(item)
    if entries.dtype.kind in "OS":
        return pd.Series([_text(entry) for entry in entries])
    return pd.Series(entries) if entries.dtype.kind in "biuf" else None


def _text(entry: Any) -> str:
    return entry.decode("utf-8", "replace") if isinstance(entry, bytes) else str(entry)
