"""The sides of a comparison: their estimates, whether their runs are pairs, and the variance of their difference."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from holdfast.checks import Matrix
from holdfast.inference.differences import Kernel, degrees_of_freedom, variance_of_mean
from holdfast.inference.estimate import StabilityEstimate, stability
from holdfast.inference.evaluation import Undefined, as_preferences, bind_similarity, convert_kind
from holdfast.inference.variance import asymptotic_variance
from holdfast.measures import Measure
from holdfast.measures.record import FEW_RUNS
from holdfast.preferences import Preferences


def sort_by_label(runs: Preferences) -> Preferences:
    """Return the runs in the order of their labels."""
    return runs if runs.labels is None else runs.take(np.argsort(np.array(runs.labels)))


def are_paired(first: Preferences | None, second: Preferences | None, paired: bool | None) -> bool:
    """Whether runs, which are sorted by their labels, are compared as pairs."""
    if first is None or second is None:
        return paired is not False
    labels = None if first.labels is None or second.labels is None else (set(first.labels), set(second.labels))
    if paired is None:
        if labels is None:
            raise ValueError(
                "The runs have no labels, so it is not known whether run i of both selections used the same resample; "
                "pass paired=True or paired=False (--paired, --independent), or label the runs."
            )
        common = labels[0] & labels[1]
        if common and labels[0] != labels[1]:
            raise ValueError(
                f"Expected run labels that are all equal or all different, got {len(common)} in common of "
                f"{first.n_runs} and {second.n_runs}; keep the common runs with .take(), or pass paired=False."
            )
        paired = bool(common)
    if paired and first.n_runs != second.n_runs:
        raise ValueError(f"Expected equally many runs to compare as pairs, got {first.n_runs} and {second.n_runs}.")
    if paired and labels and labels[0] != labels[1]:
        raise ValueError(
            f"Expected the same run labels to compare as pairs, got {min(labels[0] - labels[1])!r} on one side only; "
            "label the runs by their resample, or leave labels out."
        )
    return paired


class Side(NamedTuple):
    """One side of a comparison: a selection with its estimate, and what pairs of its runs add to the variance."""

    estimate: StabilityEstimate
    kernel: Kernel = None
    runs: Preferences | None = None


def evaluate_sides(
    selections: Iterable[Preferences | Matrix], measure: Measure, X: Matrix | None, undefined: Undefined, method: Any
) -> list[Side]:
    """Evaluate every selection once; a similarity computed from data is shared by all of them."""
    sides = []
    for selection in selections:
        runs = sort_by_label(as_preferences(selection, [measure]))
        (measure,) = bind_similarity([measure], runs, X)
        few = 4 <= runs.n_runs <= FEW_RUNS
        kernel = measure.form.kernel(convert_kind(runs, measure.kind, measure.name), measure) if few else None
        sides.append(Side(stability(runs, measure, method=method, undefined=undefined), kernel, runs))
    return sides


def welch_variance(first: Side, second: Side) -> tuple[float, float]:
    """Welch's test: variance of the difference of two independent means, and its degrees of freedom."""
    values = [side.estimate.pseudo_values for side in (first, second)]
    parts = [variance_of_mean(side.estimate.pseudo_values, side.kernel) for side in (first, second)]
    fewest = float(min(pseudo_values.size for pseudo_values in values) - 1)
    spread = sum(part**2 / degrees_of_freedom(side) for part, side in zip(parts, values, strict=True))
    return sum(parts), min(fewest, float(sum(parts) ** 2 / spread)) if spread else fewest


def published_variance(side: Side) -> float:
    """Return the published asymptotic variance of a side's stability."""
    assert side.runs is not None
    return asymptotic_variance(side.runs)
