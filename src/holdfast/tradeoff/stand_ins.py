"""Stand-ins: features that take turns in the selections and, where data are given, are correlated."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.inference.features import SWAP_CANDIDATES, find_swaps, frequency_interval
from holdfast.preferences import Preferences
from holdfast.study.common_measure import take_best
from holdfast.study.result import StudyResult

ALIKE = 0.5  # correlation from which features count as alike
FALSE_PAIRS = 0.05  # accepted share of false pairs among those that are reported


@dataclass(frozen=True, eq=False)
class Frequencies:
    """How often each feature was selected, with its stand-ins.

    Attributes
    ----------
    runs : Preferences
        Subsets.
    stand_ins : dict
        For each feature (by column) those that took turns with it, the strongest first.
    """

    runs: Preferences
    stand_ins: dict[int, list[int]]

    def intervals(self, columns: Sequence[int], level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Intervals of the frequencies of some features."""
        return frequency_interval(self.runs.counts[list(columns)], self.runs.n_runs, level)

    def together(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """In which share of the runs each of these features or one of its stand-ins was selected."""
        shares = self.runs.frequency[list(columns)]
        selected = self.runs.to_sparse().tocsc() if self.stand_ins else None
        for place, column in enumerate(columns):
            if selected is not None and column in self.stand_ins:
                chosen = selected[:, [column, *self.stand_ins[column]]]
                shares[place] = (np.asarray(chosen.sum(axis=1)) > 0).mean()
        return shares

    def names(self, column: int) -> tuple[Any, ...]:
        """Names of a feature's stand-ins."""
        return tuple(self.runs.features[other] for other in self.stand_ins.get(column, []))


def count_frequencies(result: StudyResult, candidate: str, top: int | None, X: Any) -> Frequencies:
    """Read how often a candidate selected each feature, and which features take turns."""
    if X is not None:
        return _count_frequencies(result, candidate, top, X)
    return result.memory.recall(
        ("frequencies", candidate, top), lambda: _count_frequencies(result, candidate, top, None)
    )


def _count_frequencies(result: StudyResult, candidate: str, top: int | None, X: Any) -> Frequencies:
    return find_frequencies(read_subsets(result, candidate, top), X)


def read_subsets(result: StudyResult, candidate: str, top: int | None) -> Preferences:
    """Return the subsets that a candidate selected, or the best ``top`` features of its rankings or weights."""
    runs = result.preferences(candidate)
    if runs.kind != "subset":
        if top is None:
            raise ValueError(
                f"Expected subsets, got {runs.kind}s of {candidate}; say with top= how many of the best features count."
            )
        return take_best(runs, top)
    if top is not None:
        raise ValueError(f"Expected rankings or weights to cut with top={top}, got subsets of {candidate}.")
    return runs


def find_frequencies(runs: Preferences, X: Any = None) -> Frequencies:
    """Return how often runs selected each feature, and which features take turns."""
    return Frequencies(runs, _find_stand_ins(runs, X))


def _find_stand_ins(runs: Preferences, X: Any) -> dict[int, list[int]]:
    """Pairs that take turns, with at most 5 % of false ones among them (Benjamini and Hochberg)."""
    swaps = find_swaps(runs, most=SWAP_CANDIDATES**2)
    if swaps.empty:
        return {}
    pairs = swaps[["first", "second"]].to_numpy()
    p_values, tests = swaps["p_value"].to_numpy(), _count_pairs(runs)
    if X is not None:
        alike, tests = _find_correlated(match_columns(X, runs.features), pairs)
        pairs, p_values = pairs[alike], p_values[alike]
    order = np.argsort(p_values, kind="stable")
    passed = np.flatnonzero(p_values[order] <= FALSE_PAIRS * np.arange(1, order.size + 1) / max(tests, 1))
    stand_ins: dict[int, list[int]] = {}
    for first, second in pairs[order[: passed[-1] + 1 if passed.size else 0]].tolist():
        stand_ins.setdefault(first, []).append(second)
        stand_ins.setdefault(second, []).append(first)
    return stand_ins


def _count_pairs(runs: Preferences) -> int:
    """How many pairs of features were looked at."""
    varying = min(int(((runs.counts > 0) & (runs.counts < runs.n_runs)).sum()), SWAP_CANDIDATES)
    return varying * (varying - 1) // 2


def match_columns(X: Any, features: Sequence[Any]) -> Any:
    """The columns of X that are the features of the study."""
    if hasattr(X, "columns"):
        names = [str(name) for name in X.columns]
        missing = [str(name) for name in features if str(name) not in names]
        if missing:
            raise ValueError(f"Expected X with all features of the study, got none named {missing[0]!r}.")
        return X[[X.columns[names.index(str(name))] for name in features]].to_numpy()
    if X.shape[1] != len(features):
        raise ValueError(f"Expected X with the {len(features)} features of the study, got {X.shape[1]} columns.")
    return X


def _find_correlated(X: Any, pairs: NDArray[np.int64]) -> tuple[NDArray[np.bool_], int]:
    """Which pairs of features are correlated, and how many such pairs there are among all these features."""
    used = np.unique(pairs)
    table = X[:, used]
    values = np.asarray(table.toarray() if hasattr(table, "toarray") else table, dtype=np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        correlated = np.nan_to_num(np.abs(np.corrcoef(values, rowvar=False))) >= ALIKE
    first, second = np.searchsorted(used, pairs).T
    return correlated[first, second], int(np.triu(correlated, 1).sum())
