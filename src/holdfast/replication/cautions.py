"""What the data say against what is said of new studies: few rows, near-copies, dependent rows, fits that failed."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ndtri

from holdfast.resampling.halvings import find_copies
from holdfast.similarity import Correlation
from holdfast.study import StudyResult
from holdfast.study.data import StudyData

ALIKE = 0.7
"""Correlation from which features of a list count as near-copies."""
MOST_COMPARED = 2**23
"""Pairs of features that are compared at a time."""
FEWEST_OF_CLASS = 10
"""Rows of each class in a half, or groups of rows, below which halves say little."""


def warn_of_failures(result: StudyResult, candidate: str, n_complete: int) -> list[str]:
    """Say how many halvings were left out because fits failed."""
    failures = result.failures[result.failures["candidate"] == candidate]
    n_halvings = result.n_splits // 2
    if n_complete == n_halvings or failures.empty:
        return []
    usual = failures["error"].value_counts().index[0]
    return [f"{n_halvings - n_complete} of {n_halvings} halvings were left out, as fits failed; most often: {usual}"]


def warn_of_cut(result: StudyResult, cut: int | None) -> list[str]:
    """Say how many features count where nobody did."""
    if cut is None:
        return []
    candidate = result.candidates[0]
    return [f"{candidate} gives a {result.kinds[candidate]} of all features: the best {cut} count as selected (top)."]


def warn_of_classes(result: StudyResult) -> list[str]:
    """Say of which class a half has few rows."""
    counts = dict(result.data.classes)
    few = {label: count // 2 for label, count in counts.items() if count // 2 < FEWEST_OF_CLASS}
    if not few:
        return []
    label, count = min(few.items(), key=lambda item: item[1])
    rows = f"{count} row{'' if count == 1 else 's'}"
    return [f"A half has only {rows} of class {label}: with fewer than {FEWEST_OF_CLASS}, halves say little."]


def warn_of_dependent_rows(data: StudyData) -> list[str]:
    """Say how many rows are copies of others; with groups, of which class there are few."""
    n = len(data.y)
    if data.groups is None:
        copies = find_copies(data.X)
        n_copies = 0 if copies is None else n - len(np.unique(copies))
        some = "1 row is a copy of another" if n_copies == 1 else f"{n_copies:,} rows are copies of others"
        text = f"{some}: equal rows stay in the same half, and this study has {n - n_copies:,} different ones."
        return [text] if n_copies else []
    if data.classes is None or len(np.unique(data.groups)) // 2 < FEWEST_OF_CLASS:  # few groups are told anyway
        return []
    counts = {label: len(np.unique(data.groups[data.y == label])) // 2 for label in data.classes}
    label, count = min(counts.items(), key=lambda item: item[1])
    if count >= FEWEST_OF_CLASS or (data.y == label).sum() // 2 < FEWEST_OF_CLASS:  # few rows are told anyway
        return []
    groups = f"{count} group{'' if count == 1 else 's'}"
    return [f"A half has only {groups} of class {label}: with fewer than {FEWEST_OF_CLASS}, halves say little."]


def warn_of_groups(result: StudyResult) -> list[str]:
    """Rows of one group are not independent: halves are as small as their number of groups."""
    count = None if result.data.n_groups is None else result.data.n_groups // 2
    if count is None or count >= FEWEST_OF_CLASS:
        return []
    return [f"A half has the rows of only {count} groups: with fewer than {FEWEST_OF_CLASS}, halves say little."]


def warn_of_size(n_selected: int, n_features: int) -> list[str]:
    """Say that the list is more than half of all features."""
    if 2 * n_selected <= n_features or n_selected == n_features:
        return []
    return ["More than half of all features are selected: the interval may be too narrow."]


def warn_of_jackknife(jackknife: float) -> list[str]:
    """Say that the thorough look gave nothing, as too many of its fits failed."""
    if jackknife == jackknife:
        return []
    return ["Without some group of rows no pair of halves could be compared: the interval is the usual one, not wider."]


def warn_of_copies(X: Any, selected: NDArray[np.integer[Any]]) -> list[str]:
    """Whether the list swaps blocks of near-copies about as large as itself."""
    if X is None or selected.size < 2 or sp.issparse(X):
        return []
    try:
        similarity = Correlation(X)
    except (TypeError, ValueError):  # columns that are no numbers, or miss some
        return []
    everything = np.arange(similarity.n_features)
    parts = np.array_split(selected.astype(np.int64), math.ceil(selected.size * everything.size / MOST_COMPARED))
    alike = _least_correlation(len(X), everything.size)
    largest = max(int((similarity.block(part, everything) >= alike).sum(axis=1).max()) for part in parts if part.size)
    if 2 * largest < selected.size or largest < 3:
        return []
    return [
        f"A selected feature has {largest - 1} near-copies (correlation of {alike:.2g} or more), and the list "
        f"{selected.size} features: studies may swap copies, and the intervals may be too narrow; yu is a measure that "
        "counts copies as the same."
    ]


def _least_correlation(n_rows: int, n_features: int) -> float:
    """Correlation from which features count as near-copies: with few rows, more than chance gives among so many."""
    by_chance = math.tanh(float(ndtri(1 - 0.025 / n_features)) / math.sqrt(max(n_rows - 3, 1)))
    return max(ALIKE, by_chance)
