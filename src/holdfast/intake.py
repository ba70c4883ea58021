"""Turning what users have (matrices, frames, lists of names) into arrays, with one clear sentence where that fails."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import Any, TypeAlias, cast

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

Matrix: TypeAlias = Any  # a 2-D array, nested list, scipy.sparse matrix, pandas or polars frame
Names: TypeAlias = tuple[str, ...] | None

# Names


def names_of(matrix: Matrix, features: Iterable[Any] | None, labels: Iterable[Any] | None) -> tuple[Names, Names]:
    """Find names of columns and rows: those given, else those of a frame."""
    columns, index = getattr(matrix, "columns", None), getattr(matrix, "index", None)
    if features is None and columns is not None and not isinstance(columns, pd.RangeIndex):
        features = columns
    if labels is None and isinstance(index, pd.Index) and (index.name or not pd.api.types.is_integer_dtype(index)):
        labels = index  # whole numbers without a name are places, left over from filtering, not labels
    return (
        None if features is None else tuple(map(str, features)),
        None if labels is None else tuple(map(str, labels)),
    )


def check_unique(names: Names, expected: int, what: str, unit: str, argument: str) -> None:
    """Raise unless there is one name for each and all differ."""
    if names is None:
        return
    if len(names) != expected:
        raise ValueError(f"Expected one {what} name for each of {expected} {unit}s, got {len(names)}; mend {argument}.")
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        first = names.index(name)
        second = names.index(name, first + 1)
        raise ValueError(
            f"Expected different {what} names, got {name!r} for {unit}s {first} and {second}; rename one of them."
        )


def _place(run: int, feature: int, names: Names, labels: Names, row: str = "run") -> str:
    run_name = f" ({labels[run]!r})" if labels is not None and run < len(labels) else ""
    feature_name = f" ({names[feature]!r})" if names is not None and feature < len(names) else ""
    return f"{row} {run}{run_name}, feature {feature}{feature_name}"


def first_bad(array: NDArray[Any], wrong: NDArray[np.bool_], names: Names, labels: Names, row: str = "run") -> str:
    """Tell the first wrong entry, where it stands and how many there are."""
    run, feature = (int(position[0]) for position in np.nonzero(wrong))
    entry = array[run, feature]
    shown = repr(str(entry)) if isinstance(entry, str) else entry
    more = f" ({np.count_nonzero(wrong)} such entries)" if np.count_nonzero(wrong) > 1 else ""
    return f"{shown} at {_place(run, feature, names, labels, row)}{more}"


# Matrices


def two_dimensional(matrix: Matrix, what: str, row: str = "run") -> NDArray[Any]:
    """Return a dense 2-D array, or raise; gaps (None, pandas.NA) become nan."""
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
    if array.dtype == object:
        array = np.where(pd.isna(array), np.nan, array)
    return cast(NDArray[Any], array)


def check_binary(array: NDArray[Any], names: Names, labels: Names) -> None:
    """Raise unless all entries are 0 or 1."""
    wrong = (array != 0) & (array != 1)  # true for nan and text too
    if wrong.any():
        raise ValueError(
            f"Expected only 0 and 1, got {first_bad(array, wrong, names, labels)}. "
            "Make gaps and texts 0 or 1; for scores or ranks use Preferences.from_weights() or "
            "Preferences.from_rankings()."
        )


def sparse_selected(matrix: Any, names: Names, labels: Names) -> tuple[NDArray[Any], NDArray[Any], int, int]:
    """Return rows and columns of the ones, and the shape."""
    csr = sp.csr_array(matrix, copy=True)  # what follows works in place
    csr.sum_duplicates()
    wrong = np.flatnonzero((csr.data != 0) & (csr.data != 1))
    if wrong.size:
        run = int(np.searchsorted(csr.indptr, wrong[0], side="right")) - 1
        more = f" ({wrong.size} such entries)" if wrong.size > 1 else ""
        raise ValueError(
            f"Expected only 0 and 1, got {csr.data[wrong[0]]} at "
            f"{_place(run, int(csr.indices[wrong[0]]), names, labels)}{more}. "
            "For scores use Preferences.from_weights() on the dense matrix."
        )
    csr.eliminate_zeros()
    csr.sort_indices()
    return np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr)), csr.indices, csr.shape[0], csr.shape[1]


def _is_number(entry: Any) -> bool:
    try:
        float(entry)
    except (TypeError, ValueError):
        return False
    return True


def numbers(
    matrix: Matrix,
    what: str,
    names: Names,
    labels: Names,
    *,
    row: str = "run",
    remedy: str = "Give features without a value the worst one.",
) -> NDArray[np.float64]:
    """Return finite floats, or raise."""
    array = two_dimensional(sp.csr_array(matrix).toarray() if sp.issparse(matrix) else matrix, f"matrix of {what}", row)
    try:
        finite = array.astype(np.float64)
    except (TypeError, ValueError):
        wrong = ~np.vectorize(_is_number, otypes=[bool])(array)
        bad = first_bad(array, wrong, names, labels, row)
        raise ValueError(f"Expected {what}, got {bad}; make it a number.") from None
    wrong = ~np.isfinite(finite)
    if wrong.any():
        raise ValueError(f"Expected finite {what}, got {first_bad(finite, wrong, names, labels, row)}. {remedy}")
    return finite


# Sets


def members_of(run: int, members: Collection[Any]) -> list[Any]:
    """Return a run's features as a list, or raise if one comes twice."""
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


def universe_of(
    runs: list[list[Any]], features: Iterable[Any] | None, n_features: int | None
) -> tuple[Names, int, Mapping[str, int] | None]:
    """Return all names (None if features are only numbered), their number, and where each name stands.

    Where each name stands is None if the runs hold indices: only whole numbers, and no feature is named by a number.
    """
    indices = all(isinstance(member, (int, np.integer)) for members in runs for member in members)
    if features is not None:
        names = tuple(map(str, features))
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
        return None, n_features, None
    else:
        names = _names_seen(runs, n_features)
    return names, len(names), None if indices else {name: place for place, name in enumerate(names)}


def _names_seen(runs: list[list[Any]], n_features: int) -> tuple[str, ...]:
    seen = list(dict.fromkeys(str(member) for members in runs for member in members))
    if len(seen) > n_features:
        raise ValueError(
            f"Expected at most n_features={n_features} different names, got {len(seen)}; n_features is the number of "
            "features there were to choose from."
        )
    return (*seen, *(f"unnamed_{place}" for place in range(len(seen), n_features)))


def sorted_indices(
    run: int, members: list[Any], index_of: Mapping[str, int] | None, n_features: int
) -> NDArray[np.int32]:
    """Return the ascending column indices of a run's features."""
    found = [int(member) if index_of is None else index_of.get(str(member), -1) for member in members]
    for member, index in zip(members, found, strict=True):
        if not 0 <= index < n_features:
            raise ValueError(
                f"Expected features of the universe of {n_features}, got {member!r} in run {run}. "
                + (f"Indices count from 0 to {n_features - 1}." if index_of is None else "Add it to features=.")
            )
    ordered = np.sort(np.array(found, dtype=np.int32))
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    if twice.size:  # 1 and "1" are one name
        names = " and ".join(repr(member) for member, index in zip(members, found, strict=True) if index == twice[0])
        raise ValueError(f"Expected each feature once, got {names} in run {run}; remove the repeats.")
    return ordered
