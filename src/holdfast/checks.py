"""Checks of input: matrices, frames and lists of names as arrays, or one sentence that says what is wrong."""

import operator
import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast, overload

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

Matrix: TypeAlias = Any  # a 2-D array, nested list, scipy.sparse matrix, pandas or polars frame
Texts: TypeAlias = tuple[str, ...] | None
Names: TypeAlias = Sequence[str] | None
MAX_FEATURES = 100_000_000
"""Counts of so many features take a gigabyte; a larger number is a mistake, or meant to do harm."""

# Names


@dataclass(frozen=True, eq=False)
class PartialNames(Sequence[str]):
    """Names of features of which only some are known; the others are ``unnamed_…``, written out on demand."""

    seen: tuple[str, ...]
    total: int

    def __len__(self) -> int:
        return self.total

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[column] for column in range(*index.indices(self.total))]
        column = range(self.total)[index]
        return self.seen[column] if column < len(self.seen) else f"unnamed_{column}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PartialNames) and self.seen == other.seen:
            return self.total == other.total
        if not isinstance(other, (tuple, PartialNames)):
            return NotImplemented
        return len(other) == self.total and all(map(operator.eq, self, other))

    __hash__ = None  # type: ignore[assignment]

    def repeated(self) -> str | None:
        """A name that stands for two features: one that was seen has the name of an unnamed one."""
        unnamed = (name for name in self.seen if re.fullmatch("unnamed_(0|[1-9][0-9]{0,8})", name))
        return next((name for name in unnamed if len(self.seen) <= int(name[8:]) < self.total), None)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array after making it read-only."""
    array.flags.writeable = False
    return array


def freeze(*arrays: NDArray[Any] | None) -> None:
    """Make all arrays that there are read-only."""
    for array in arrays:
        if array is not None:
            read_only(array)


def as_positions(chosen: Any, n: int) -> NDArray[np.int64]:
    """Return what a slice, a mask or positions choose among n things, as positions."""
    if not isinstance(chosen, slice):
        chosen = np.atleast_1d(chosen)
        chosen = chosen if chosen.size else chosen.astype(np.int64)
    return np.arange(n)[chosen]


def check_whole(name: str, value: Any, least: int) -> int:
    """Return a whole number that is large enough, or raise."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"Expected {name} to be a whole number of at least {least}, got {value!r}.")
    return int(value)


def check_number_of_features(n_features: Any, argument: str = "n_features") -> int:
    """Return a number of features as an int; raise unless it is a whole number from 1 to 100 million."""
    number = check_whole(argument, n_features, 1)
    if number > MAX_FEATURES:
        raise ValueError(
            f"Expected at most {MAX_FEATURES:,} features, got {argument}={n_features}; how many were there to choose "
            "from?"
        )
    return number


def is_number(value: Any) -> bool:
    """Whether a parameter is a number, so that it can be compared with its bounds."""
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool)


def as_names(values: Any, argument: str) -> tuple[str, ...]:
    """Return names as texts; raise if they are not a list of names."""
    if isinstance(values, bytes) or not isinstance(values, Iterable):
        raise ValueError(f"Expected a list of names as {argument}, got {values!r}.")
    return tuple(map(str, values))


def find_names(matrix: Matrix, features: Iterable[Any] | None, labels: Iterable[Any] | None) -> tuple[Texts, Texts]:
    """Return the names of columns and rows: the arguments if there are any, else those of a frame."""
    columns, index = getattr(matrix, "columns", None), getattr(matrix, "index", None)
    if features is None and columns is not None and not isinstance(columns, pd.RangeIndex):
        features = columns
    if labels is None and isinstance(index, pd.Index) and (index.name or not pd.api.types.is_integer_dtype(index)):
        labels = index  # whole numbers without a name are positions, left over from filtering, not labels
    return (
        None if features is None else as_names(features, "features="),
        None if labels is None else as_names(labels, "labels="),
    )


class UniqueNames(tuple[str, ...]):
    """Names that were found to differ: a tuple, so that they still do, and need not be looked through again."""


def check_unique(names: Names, expected: int, what: str, unit: str, argument: str) -> Names:
    """Return the names; raise unless there is one for each column or row and all names differ."""
    if names is None:
        return None
    if len(names) != expected:
        raise ValueError(
            f"Expected one {what} name for each of {expected} {unit}s, got {len(names)}; check {argument}."
        )
    if isinstance(names, UniqueNames):
        return names
    if isinstance(names, PartialNames):
        name = names.repeated()
    else:
        name = next((name for name, times in Counter(names).most_common(1) if times > 1), None)
    if name is not None:
        first = names.index(name)
        second = names.index(name, first + 1)
        raise ValueError(
            f"Expected different {what} names, got {name!r} for {unit}s {first} and {second}; rename one of them."
        )
    return UniqueNames(names) if isinstance(names, tuple) else names


def _describe_position(run: int, feature: int, names: Names, labels: Names, row: str = "run") -> str:
    run_name = f" ({labels[run]!r})" if labels is not None and run < len(labels) else ""
    feature_name = f" ({names[feature]!r})" if names is not None and feature < len(names) else ""
    return f"{row} {run}{run_name}, feature {feature}{feature_name}"


def first_wrong(array: NDArray[Any], wrong: NDArray[np.bool_], names: Names, labels: Names, row: str = "run") -> str:
    """Return the first wrong entry with its position, and how many wrong entries there are, as words."""
    run, feature = (int(position[0]) for position in np.nonzero(wrong))
    entry = array[run, feature]
    shown = repr(str(entry)) if isinstance(entry, str) else entry
    more = f" ({np.count_nonzero(wrong)} such entries)" if np.count_nonzero(wrong) > 1 else ""
    return f"{shown} at {_describe_position(run, feature, names, labels, row)}{more}"


# Matrices


def as_matrix(matrix: Matrix, what: str, row: str = "run") -> NDArray[Any]:
    """Return a dense 2-D array; missing values (None, pandas.NA) become nan."""
    if isinstance(matrix, (list, tuple)):
        if not matrix:
            return np.empty((0, 0))
        lengths = [len(entries) if hasattr(entries, "__len__") else 1 for entries in matrix]
        odd = next((run for run, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            raise ValueError(
                f"Expected rows of one length, got {lengths[0]} entries in {row} 0 and {lengths[odd]} in {row} {odd}. "
                "For lists of selected features use Preferences.from_sets()."
            )
        if any(isinstance(entries, (set, frozenset, str)) for entries in matrix):
            raise ValueError(
                f"Expected a {what}, got a list of sets or texts; for lists of selected features use "
                "Preferences.from_sets()."
            )
    array = matrix.to_numpy() if hasattr(matrix, "to_numpy") else np.asarray(matrix)
    if array.ndim != 2:
        raise ValueError(
            f"Expected a {what} with one row per {row} and one column per feature, got {array.ndim} dimension(s); "
            f"for a single {row} pass a matrix of one row."
        )
    if array.dtype.kind in "mMc":
        raise ValueError(f"Expected a {what} of numbers, got {array.dtype}; make them numbers, or leave them out.")
    if array.dtype == object:
        array = np.where(pd.isna(array), np.nan, array)
    return cast(NDArray[Any], array)


def _sparse_ones(matrix: Any, names: Names, labels: Names) -> tuple[NDArray[Any], NDArray[Any], int, int]:
    """Rows and columns of the ones of a sparse 0/1 matrix, and its shape."""
    csr = sp.csr_array(matrix, copy=True)  # what follows works in place
    csr.sum_duplicates()
    wrong = np.flatnonzero((csr.data != 0) & (csr.data != 1))
    if wrong.size:
        run = int(np.searchsorted(csr.indptr, wrong[0], side="right")) - 1
        more = f" ({wrong.size} such entries)" if wrong.size > 1 else ""
        raise ValueError(
            f"Expected only 0 and 1, got {csr.data[wrong[0]]} at "
            f"{_describe_position(run, int(csr.indices[wrong[0]]), names, labels)}{more}. "
            "For scores use Preferences.from_weights() on the dense matrix."
        )
    csr.eliminate_zeros()
    csr.sort_indices()
    return np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr)), csr.indices, csr.shape[0], csr.shape[1]


def _is_number(entry: Any) -> bool:
    try:
        float(entry)
    except (TypeError, ValueError, OverflowError):
        return False
    return np.ndim(entry) == 0


def as_finite_floats(
    matrix: Matrix,
    what: str,
    names: Names,
    labels: Names,
    *,
    row: str = "run",
    remedy: str = "Give features without a value the worst one.",
) -> NDArray[np.float64]:
    """Return a matrix of finite floats; raise a sentence that names the first entry that is none."""
    array = as_matrix(sp.csr_array(matrix).toarray() if sp.issparse(matrix) else matrix, f"matrix of {what}", row)
    try:
        finite = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        wrong = ~np.vectorize(_is_number, otypes=[bool])(array)
        bad = first_wrong(array, wrong, names, labels, row)
        raise ValueError(f"Expected {what}, got {bad}; make it a number.") from None
    wrong = ~np.isfinite(finite)
    if wrong.any():
        raise ValueError(f"Expected finite {what}, got {first_wrong(finite, wrong, names, labels, row)}. {remedy}")
    return finite


def as_ranks(ranks: Matrix, names: Names, labels: Names) -> NDArray[np.float64]:
    """Return a matrix of ranks from 1 to the number of features; raise a sentence about the first that is none."""
    array = as_finite_floats(ranks, "ranks", names, labels)
    wrong = (array < 1) | (array > array.shape[1]) | (2 * array % 1 != 0)
    if wrong.any():
        raise ValueError(
            f"Expected ranks from 1 (best) to {array.shape[1]}, got {first_wrong(array, wrong, names, labels)}. "
            "Add 1 to ranks that count from 0; for scores use Preferences.from_weights()."
        )
    return array


# Labels


def as_column(values: Any, name: str, what: str = "label or number") -> NDArray[Any]:
    """Return one label or number per row, none missing, all of one type; texts and numbers as arrays of these.

    Objects of other types, such as dates, stay objects if they are hashable.
    """
    column = values.to_numpy() if hasattr(values, "to_numpy") else _as_array(values)
    column = column.ravel() if column.ndim == 2 and column.shape[1] == 1 else column
    if column.ndim != 1:
        raise ValueError(f"Expected one {what} in {name} for each row, got an array of shape {column.shape}.")
    missing = np.flatnonzero(pd.isna(column))
    if missing.size:
        raise ValueError(
            f"Expected a {what} in {name} for every row, got none in row {missing[0]} ({missing.size} missing); leave "
            "these rows out."
        )
    return _as_common_type(column, name) if column.dtype == object else column


def _as_array(values: Any) -> NDArray[Any]:
    """Return an array; entries of a list stay as they are, as NumPy would turn mixed labels into texts."""
    if not isinstance(values, (list, tuple)) or any(isinstance(entry, np.ndarray) for entry in values):
        return np.asarray(values)
    column = np.empty(len(values), dtype=object)
    for row, entry in enumerate(values):
        column[row] = entry
    return column


def _as_common_type(column: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an array of objects as texts or numbers, if all entries are."""
    entries = column.tolist()
    types = {type_name(entry): row for row, entry in reversed(list(enumerate(entries)))}
    if len(types) > 1:
        shown = " and ".join(
            f"{label} (row {row})" for label, row in sorted(types.items(), key=lambda item: item[1])[:2]
        )
        raise ValueError(f"Expected labels of one kind in {name}, got {shown}; make all of them texts or numbers.")
    row = next((row for row, entry in enumerate(entries) if not isinstance(entry, Hashable)), None)
    if row is not None:
        raise ValueError(f"Expected texts or numbers in {name}, got {type_name(entries[row])} in row {row}.")
    plain = np.array(entries) if {"text", "number"} & set(types) else column
    if plain.dtype == object and "number" in types:
        raise ValueError(f"Expected numbers of at most 18 digits in {name}, got larger ones; make texts of them.")
    return plain


def type_name(entry: Any) -> str:
    """Return what a label is in words: text, number, or the name of its type."""
    if isinstance(entry, str):
        return "text"
    return "number" if isinstance(entry, (bool, int, float, np.number, np.bool_)) else type(entry).__name__


# Sets


def check_members(run: int, members: Collection[Any]) -> list[Any]:
    """Return the features of a run as a list; raise if one is repeated."""
    if isinstance(members, (str, bytes)):
        raise ValueError(f"Expected a list or set of features for run {run}, got the text {members!r}; split it first.")
    if not isinstance(members, Iterable):
        raise ValueError(
            f"Expected a list or set of features for run {run}, got {members!r}; put it in a list of its own."
        )
    listed = list(members)
    types = set(map(type, listed))
    odd = next((kind for kind in types if kind in (bool, np.bool_) or not issubclass(kind, Hashable)), None)
    if odd is not None:
        first = next(member for member in listed if type(member) is odd)
        raise ValueError(
            f"Expected names or indices of features in run {run}, got {first!r}; for 0/1 rows use "
            "Preferences.from_matrix()."
        )
    if str in types and isinstance(members, (set, frozenset)):
        listed.sort(key=str)  # the order of texts in a set changes from session to session
    if len(set(listed)) < len(listed):
        twice, times = Counter(listed).most_common(1)[0]
        raise ValueError(f"Expected each feature once, got {twice!r} {times} times in run {run}; remove the repeats.")
    return listed


def find_universe(
    runs: list[list[Any]], features: Iterable[Any] | None, n_features: int | None
) -> tuple[Names, int, Mapping[str, int] | None]:
    """Return all names (None if features are only numbered), their number, and the column of each name.

    The columns are None if the runs hold indices: only whole numbers, and no feature is named by a number.
    """
    indices = all(isinstance(member, (int, np.integer)) for members in runs for member in members)
    if features is not None:
        names: Sequence[str] = as_names(features, "features=")
        if n_features is not None and n_features != len(names):
            raise ValueError(
                f"Expected as many features as n_features={n_features}, got {len(names)} names; give one of the two."
            )
        indices = indices and not any(name.lstrip("-").isdigit() for name in names)
    elif n_features is None:
        raise ValueError(
            "Expected features= (all names) or n_features= (how many there were to choose from), got neither: "
            "the same sets are more stable among a thousand features than among ten."
        )
    elif indices:
        return None, check_number_of_features(n_features), None
    else:
        check_number_of_features(n_features)
        seen = tuple(dict.fromkeys(str(member) for members in runs for member in members))
        if len(seen) > n_features:
            raise ValueError(
                f"Expected at most n_features={n_features} different names, got {len(seen)}; n_features is the number "
                "of features there were to choose from."
            )
        names = seen if len(seen) == n_features else PartialNames(seen, int(n_features))
        return names, int(n_features), {name: column for column, name in enumerate(seen)}
    return names, len(names), None if indices else {name: column for column, name in enumerate(names)}


def sorted_indices(
    run: int, members: list[Any], index_of: Mapping[str, int] | None, n_features: int
) -> NDArray[np.int32]:
    """Return the ascending column indices of a run's features."""
    columns = [int(member) if index_of is None else index_of.get(str(member), -1) for member in members]
    for member, index in zip(members, columns, strict=True):
        if not 0 <= index < n_features:
            raise ValueError(
                f"Expected features of the universe of {n_features}, got {member!r} in run {run}. "
                + (f"Indices count from 0 to {n_features - 1}." if index_of is None else "Add it to features=.")
            )
    ordered = np.sort(np.array(columns, dtype=np.int32))
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if twice.size:  # 1 and "1" are one name
        names = " and ".join(repr(member) for member, index in zip(members, columns, strict=True) if index == twice[0])
        raise ValueError(f"Expected each feature once, got {names} in run {run}; remove the repeats.")
    return ordered


# Subsets as index lists


def subsets_of_matrix(matrix: Matrix, names: Names, labels: Names) -> tuple[NDArray[np.int32], NDArray[np.int64], int]:
    """Return the index lists of a 0/1 matrix, one row per run, and the number of features."""
    if sp.issparse(matrix):
        rows, columns, n_runs, n_features = _sparse_ones(matrix, names, labels)
    else:
        array = as_matrix(matrix, "0/1 matrix")
        n_runs, n_features = array.shape
        wrong = np.zeros(1, bool) if array.dtype == bool else (array != 0) & (array != 1)  # true for nan and text too
        if wrong.any():
            raise ValueError(
                f"Expected only 0 and 1, got {first_wrong(array, wrong, names, labels)}. "
                "Make gaps and texts 0 or 1; for scores or ranks use Preferences.from_weights() or "
                "Preferences.from_rankings()."
            )
        rows, columns = np.nonzero(array)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_runs))])
    return columns.astype(np.int32), indptr.astype(np.int64), n_features


def subsets_of_sets(
    sets: Iterable[Collection[Any]], features: Iterable[Any] | None, n_features: int | None
) -> tuple[NDArray[np.int32], NDArray[np.int64], Names, int]:
    """Return the index lists of sets of features, one per run, the names of all features, and their number."""
    if not isinstance(sets, Iterable):
        raise ValueError(f"Expected one list or set of features per run, got {sets!r}.")
    runs = [check_members(run, members) for run, members in enumerate(sets)]
    names, total, index_of = find_universe(runs, features, n_features)
    rows = [sorted_indices(run, members, index_of, total) for run, members in enumerate(runs)]
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return np.concatenate([*rows, np.empty(0, np.int32)]).astype(np.int32), indptr.astype(np.int64), names, total
