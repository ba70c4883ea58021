"""Large tables of numbers: read a block of columns at a time into a file that is mapped into memory.

:func:`map_table` opens a Parquet or AnnData file as a :class:`Source`, which yields its numbers in pieces, and writes
each piece into one file of their own type. Filters read that file in blocks of columns, so that neither reading nor a
study holds the table in memory.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.declared import did_you_mean
from holdfast.io import files, h5ad
from holdfast.io.questions import quote_names
from holdfast.io.table import Table, TableOptions, make_groups, make_table, make_target

AT_ONCE = 2**26
"""Bytes that are read at a time, about."""
MIN_COLUMNS, MAX_COLUMNS = 1024, 4096
"""Columns of a piece of a Parquet file: fewer would share pages of the new file, and each takes memory by itself."""

Piece = tuple[slice, slice, NDArray[Any]]
"""Rows, columns, and the numbers there."""


class Source(NamedTuple):
    """Numbers in a file: their shape, type and names, what else is known of rows, and a way to read them in pieces."""

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: list[str]
    roles: pd.DataFrame
    pieces: Callable[[], Iterator[Piece]]
    file_format: str


def map_table(
    path: str | os.PathLike[str],
    target: str,
    *,
    groups: str | None = None,
    layer: str | None = None,
    file: str | os.PathLike[str] | None = None,
) -> Table:
    """Read a large table of numbers a block of columns at a time, into a file that is mapped into memory.

    For tables that do not fit into memory, and those that barely do: :func:`holdfast.read_table` reads everything at
    once, in double precision. Here numbers keep their type. Columns are neither searched for identifiers nor encoded;
    missing values are refused.

    Parameters
    ----------
    path : path
        A Parquet file whose columns are numbers but for target and groups, or AnnData (``.h5ad``) with dense numbers.
    target : str
        The column to predict; of AnnData, a column of ``obs``.
    groups : str, optional
        The column whose equal values mark rows that belong together.
    layer : str, optional
        Layer of AnnData to read instead of its ``X``.
    file : path, optional
        Where to keep the numbers, as a new ``.npy`` file; otherwise a temporary file that vanishes with the table.

    Returns
    -------
    Table
        Its ``X`` is a frame whose numbers lie in the file.

    Raises
    ------
    ValueError
        If the file holds something else, or the disk has too little room: before anything is read.

    See Also
    --------
    read_table : Tables of all kinds, in memory.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import holdfast as hf
    >>> path = f"{tempfile.mkdtemp()}/patients.parquet"
    >>> frame = pd.DataFrame({"age": [31.5, 45, 50, 62], "bmi": [21.0, 30, 25, 28], "ill": ["no", "yes", "yes", "no"]})
    >>> frame.to_parquet(path)
    >>> table = hf.io.map_table(path, "ill")
    >>> table.X.shape, table.y.tolist()
    ((4, 2), ['no', 'yes', 'yes', 'no'])
    """
    path = files.as_path(path)
    openers = {".parquet": _open_parquet, ".h5ad": _open_h5ad}
    ending = files.file_ending(path)
    if ending not in openers:
        raise ValueError(
            f"Expected a file ending in .parquet or .h5ad, got {path.name!r}; open arrays (.npy) with "
            "numpy.load(path, mmap_mode='r') and give them to Study.run with a target."
        )
    described = [target] if groups is None else [target, groups]
    with openers[ending](path, described, layer) as source:
        numbers = _make_file(source, None if file is None else Path(file).expanduser())
        for rows, columns, piece in source.pieces():
            if not np.isfinite(piece).all():
                wrong = columns.start + int(np.flatnonzero(~np.isfinite(piece).all(axis=0))[0])
                raise ValueError(
                    f"Expected finite numbers in {path}, got missing or infinite ones in {source.names[wrong]!r}; fill "
                    "them in or drop them, as hf.read_table(missing=…) does for tables that fit into memory."
                )
            numbers[rows, columns] = piece
    options, notes = TableOptions(where=str(path), target=target, groups=groups), list[str]()
    y, task = make_target(source.roles, options, notes)
    X = pd.DataFrame(numbers, columns=pd.Index(source.names), copy=False)
    notes.append("Columns were not searched for identifiers, as the table was mapped into memory.")
    return make_table(
        X, y, task, make_groups(source.roles, options), groups, target=target, notes=tuple(notes), source=path.name,
        file_format=source.file_format, columns_read=len(source.names) + len(described),
    )  # fmt: skip


def _make_file(source: Source, file: Path | None) -> NDArray[Any]:
    """An array on disk for all numbers; refuse before it is made if there is too little room."""
    folder = Path(tempfile.gettempdir()) if file is None else file.resolve().parent
    needed, free = source.shape[0] * source.shape[1] * source.dtype.itemsize, shutil.disk_usage(folder).free
    if needed > free:
        raise ValueError(
            f"Expected {needed / 1e9:,.1f} GB of free disk space in {folder} for {source.shape[0]:,} × "
            f"{source.shape[1]:,} numbers, got {free / 1e9:,.1f} GB; name a file on another disk with file=."
        )
    if file is None:
        with tempfile.TemporaryFile() as unnamed:  # the mapping keeps it
            return np.memmap(unnamed, source.dtype, mode="w+", shape=source.shape)
    if file.exists():
        raise ValueError(f"Expected a new file with file=, got {file}, which is there; remove it, or name another.")
    return np.lib.format.open_memmap(file, mode="w+", dtype=source.dtype, shape=source.shape)


def _check_described(described: list[str], known: list[str], path: Path) -> None:
    for name in described:
        if name not in known:
            raise ValueError(f"Expected a column of {path}, got {name!r}{did_you_mean(name, known)}")


@contextmanager
def _open_parquet(path: Path, described: list[str], layer: str | None) -> Iterator[Source]:
    """A Parquet file, of which as many columns as make a piece are read of each group of rows."""
    if layer is not None:
        raise ValueError(f"Expected an AnnData file for layer=, got {path}; leave layer= out.")
    with files.open_parquet(path) as file:
        schema, n_rows = file.schema_arrow, file.metadata.num_rows
        _check_described(described, schema.names, path)
        labels = [of for of in (schema.pandas_metadata or {}).get("index_columns", ()) if isinstance(of, str)]
        kinds: dict[str, str] = {}
        names = []
        for name, kind in zip(schema.names, schema.types, strict=True):
            if name not in (*described, *labels):
                names.append(name)
                kinds.setdefault(str(kind), name)
        of_arrow = {"float": "f4", "double": "f8", "halffloat": "f2", "bool": "?"}
        types = {
            kind: np.dtype(of_arrow.get(kind, kind)) if kind in of_arrow or "int" in kind[:4] else None
            for kind in kinds
        }
        wrong = [kinds[kind] for kind, dtype in types.items() if dtype is None]
        if wrong or len(set(names)) < len(names) or not names:
            what = f"other columns ({quote_names(wrong)})" if wrong else "names that come twice" if names else "none"
            raise ValueError(
                f"Expected columns of numbers besides {quote_names(described)} in {path}, each with its own name, got "
                f"{what}; use hf.read_table."
            )
        dtype = np.result_type(*types.values())
        roles = file.read(columns=described, use_threads=False).to_pandas()[described]
        _check_whole(roles, path)

        def pieces() -> Iterator[Piece]:
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
            ends = np.cumsum([0, *sizes]).tolist()
            for group, (begin, end) in enumerate(pairwise(ends)):
                width = min(MAX_COLUMNS, max(MIN_COLUMNS, AT_ONCE // max(1, dtype.itemsize * (end - begin))))
                for first in range(0, len(names), width):
                    part = file.read_row_group(group, columns=names[first : first + width], use_threads=False)
                    block = np.empty((end - begin, part.num_columns), dtype, order="F")
                    for position, column in enumerate(part.columns):
                        block[:, position] = column.to_numpy()  # missing values become nan
                    yield slice(begin, end), slice(first, first + part.num_columns), block

        yield Source((n_rows, len(names)), dtype, names, roles, pieces, "Parquet, in blocks of columns")


@contextmanager
def _open_h5ad(path: Path, described: list[str], layer: str | None) -> Iterator[Source]:
    """A dense matrix of an AnnData file, of which chunks are read as they lie on the disk."""
    with h5ad.open_dense(path, layer) as (matrix, obs, names):
        _check_described(described, [str(name) for name in obs.columns], path)
        roles = obs[described].reset_index(drop=True)
        _check_whole(roles, path)
        height, width = matrix.chunks or (1, matrix.shape[1])
        height *= max(1, AT_ONCE // max(1, matrix.dtype.itemsize * height * width))

        def pieces() -> Iterator[Piece]:
            for first in range(0, matrix.shape[1], width):
                for begin in range(0, matrix.shape[0], height):
                    rows, columns = slice(begin, begin + height), slice(first, first + width)
                    yield rows, columns, matrix[rows, columns]

        yield Source(matrix.shape, matrix.dtype, names.tolist(), roles, pieces, "AnnData, in blocks of columns")


def _check_whole(roles: pd.DataFrame, path: Path) -> None:
    for name, column in roles.items():
        if column.isna().any():
            raise ValueError(
                f"Expected a value of {name!r} in every row of {path}, got none in {int(column.isna().sum())}; leave "
                "these rows out of the file."
            )
