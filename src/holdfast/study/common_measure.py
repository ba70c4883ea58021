"""The common measure of candidates: one measure on one kind of preference, so that a column means one thing.

Where some candidates give subsets and others rankings or weights, the latter are cut to as many features as the former
select, and all are measured as subsets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from holdfast.inference.designs import DesignedRuns
from holdfast.measures import Measure, find_measure
from holdfast.preferences import Kind, Preferences

USUAL: dict[Kind, str] = {"subset": "nogueira", "ranking": "spearman", "weighting": "weight_correlation"}
TOP = 10  # where no candidate gives subsets, so many of the best features count as selected


@dataclass(frozen=True)
class CommonMeasure:
    """One measure on one kind of preference, by which candidates are compared.

    Attributes
    ----------
    measure : str or Measure
        The measure.
    top : int or None
        How many of the best features count as selected, for candidates that give rankings or weights; None if they are
        measured as they are.
    """

    measure: str | Measure
    top: int | None = None

    def top_of(self, kind: Kind | None) -> int | None:
        """How many of the best features count for a candidate that gives this kind of preference."""
        return None if kind == "subset" else self.top

    def cut(self, designed: DesignedRuns) -> DesignedRuns:
        """Return the runs as they are measured: cut to the best features, if that is needed."""
        if self.top is None or designed.runs.kind == "subset":
            return designed
        return replace(designed, runs=take_best(designed.runs, self.top))


def choose_common_measure(
    kinds: Mapping[str, Kind], size: Callable[[str], float], n_features: int, measure: str | Measure | None
) -> CommonMeasure:
    """Choose the common measure of candidates of these kinds; ``size`` returns the mean size of one with subsets."""
    different = set(kinds.values())
    if measure is not None:
        wanted = find_measure(measure).kind
    else:
        only = different.pop() if len(different) == 1 else None
        wanted = only or ("ranking" if different == {"ranking", "weighting"} else "subset")
    chosen = measure or USUAL[wanted]
    if wanted != "subset" or all(kind == "subset" for kind in kinds.values()):
        return CommonMeasure(chosen)
    return CommonMeasure(
        chosen, common_size([size(name) for name, kind in kinds.items() if kind == "subset"], n_features)
    )


def common_size(sizes: Sequence[float], n_features: int) -> int:
    """As many features as candidates that give subsets select, by the median; a usual number if there are none."""
    usual = float(np.median(sizes)) if len(sizes) else min(TOP, n_features // 2)
    return int(np.clip(round(usual), 1, max(1, n_features - 1)))


def take_best(runs: Preferences, k: int) -> Preferences:
    """The best ``k`` features of each run as subsets, fewer where a run orders fewer.

    A weight of 0 is what a feature gets that a run does not use, and the last rank, if several share it, that of
    features it does not order: neither counts as selected. Where the cut falls among equals, any of them are
    taken, by a fixed seed: the lowest columns would make runs look alike.
    """
    values = runs.matrix()
    if runs.kind == "ranking":
        last = values.max(axis=1, keepdims=True)
        informative = (values < last) | ((values == last).sum(axis=1, keepdims=True) == 1)
    else:
        informative = values > 0
    cut = runs.top(min(k, runs.n_features), ties="random", random_state=0)
    indices, pointers = cut.lists()
    rows = [columns[informative[run, columns]] for run, columns in enumerate(np.split(indices, pointers[1:-1]))]
    pointers = np.concatenate([[0], np.cumsum([row.size for row in rows])]).astype(np.int64)
    return replace(cut, indices=np.concatenate(rows).astype(np.int32), indptr=pointers)
