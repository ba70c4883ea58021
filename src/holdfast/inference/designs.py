"""How the runs of a designed perturbation become one stability.

Bootstraps and subsamples are runs that stand beside each other. Others come in blocks: halves of one pair, inner folds
of one outer fold, smaller samples of one bootstrap. There the stability of each block is measured, and their mean told.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from holdfast.inference.agreement import agreement
from holdfast.inference.compare import Comparisons, Side, all_pairs, compare_many
from holdfast.inference.estimate import StabilityEstimate, Undefined, of_kind, stability, with_similarity
from holdfast.inference.intervals import Law, NoLaw, Student
from holdfast.intake import Matrix
from holdfast.measures import Measure, UndefinedStabilityWarning, find
from holdfast.measures.record import Floats
from holdfast.preferences import Preferences

SCOPES = {
    "folds": "this data set in folds, which share most of their rows: the interval is a rough guide",
    "pairs": "disjoint halves of this data set: how far two studies of half its size would agree",
    "nested": "this data set in folds inside each training fold, which share most of their rows",
    "shrink": "bootstrap samples of this data set beside smaller parts of themselves",
}
SAME_ROWS = {
    "Noise": "this data set with noise added to it, not new data sets",
    "Reseed": "this data set as it is, by other seeds: chance in the selector alone, not in the data",
}


@dataclass(frozen=True)
class DesignedRuns:
    """Runs with what their perturbation knows of them.

    Attributes
    ----------
    runs : Preferences
        What each run preferred.
    design : str
        ``"runs"``, ``"folds"``, ``"pairs"``, ``"nested"`` or ``"shrink"``.
    blocks : sequence of int
        Block of each run.
    fractions : sequence of float
        Size of each run's sample as a share of the whole one of its block.
    perturbation : str
        Name of the perturbation, if it is known.
    """

    runs: Preferences
    design: str
    blocks: Sequence[int]
    fractions: Sequence[float]
    perturbation: str = ""

    @property
    def stand_alone(self) -> bool:
        """Whether runs are compared with all others, not within blocks."""
        return self.design in ("runs", "folds")


def design_stability(
    designed: DesignedRuns,
    measure: str | Measure,
    *,
    data: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> StabilityEstimate:
    """Measure the stability as the design of the runs asks for it."""
    if designed.stand_alone:
        estimate = stability(designed.runs, measure, data=data, undefined=undefined, **parameters)
        return _told(estimate, designed)
    chosen = _ready(designed.runs, measure, data, parameters)
    return _of_blocks(designed, chosen, block_values(designed, chosen, undefined))


def design_comparisons(
    selections: Mapping[str, DesignedRuns],
    measure: str | Measure,
    *,
    level: float = 0.95,
    data: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> Comparisons:
    """Compare selections that ran on the same splits, each with each, run by run or block by block."""
    first = next(iter(selections.values()))
    common = [
        label
        for label in first.runs.labels or ()
        if all(label in (one.runs.labels or ()) for one in selections.values())
    ]
    kept = {name: _only(one, common) for name, one in selections.items()}
    if first.stand_alone:
        runs = {name: one.runs for name, one in kept.items()}
        found = compare_many(runs, measure, level=level, data=data, undefined=undefined, **parameters)
        return replace(found, estimates={name: _told(one, first) for name, one in found.estimates.items()})
    chosen = _ready(first.runs, measure, data, parameters)
    values = {name: block_values(one, chosen, undefined) for name, one in kept.items()}
    sides = {name: Side(_of_blocks(one, chosen, values[name])) for name, one in kept.items()}
    return all_pairs(sides, chosen, True, level)


def shrink_values(designed: DesignedRuns, measure: Measure, undefined: Undefined = "nan") -> dict[float, Floats]:
    """For each smaller size, how far the selection of each smaller sample agrees with that of its whole one."""
    whole = {block: run for run, block in enumerate(designed.blocks) if designed.fractions[run] == 1}
    values = {}
    for fraction in sorted(set(designed.fractions) - {1.0}):
        runs = [
            run for run, block in enumerate(designed.blocks) if designed.fractions[run] == fraction and block in whole
        ]
        references = [whole[designed.blocks[run]] for run in runs]
        values[fraction] = _agreements(designed.runs, references, runs, measure, undefined)
    return values


def block_values(designed: DesignedRuns, measure: Measure, undefined: Undefined) -> Floats:
    """The stability inside each block; blocks that lost too many runs are left out."""
    if designed.design == "shrink":
        by_size = list(shrink_values(designed, measure, undefined).values())
        complete = by_size and len({values.size for values in by_size}) == 1
        return np.mean(by_size, axis=0) if complete else np.concatenate([*by_size, np.empty(0)])
    members: dict[int, list[int]] = {}
    for run, block in enumerate(designed.blocks):
        members.setdefault(block, []).append(run)
    whole = [runs for runs in members.values() if len(runs) >= 2]
    if designed.design == "pairs":
        return _agreements(designed.runs, [runs[0] for runs in whole], [runs[1] for runs in whole], measure, undefined)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedStabilityWarning)  # told once, of the mean
        return np.array([stability(designed.runs.take(runs), measure, undefined=undefined).value for runs in whole])


def _agreements(
    runs: Preferences, ones: Sequence[int], others: Sequence[int], measure: Measure, undefined: Undefined
) -> Floats:
    if not ones:
        return np.empty(0)
    first, second = (replace(runs.take(places), labels=None) for places in (ones, others))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedStabilityWarning)
        values = agreement(first, second, measure, undefined=undefined).per_run
    return np.where(np.isnan(values), undefined, values) if isinstance(undefined, (int, float)) else values


def _ready(runs: Preferences, measure: str | Measure, data: Matrix | None, parameters: dict[str, Any]) -> Measure:
    chosen = find(measure).bind(**parameters)
    of_kind(runs, chosen.kind, chosen.name)
    return with_similarity([chosen], runs, data)[0]


def _of_blocks(designed: DesignedRuns, measure: Measure, values: Floats) -> StabilityEstimate:
    """The mean over blocks, with Student's interval."""
    missing, reason = int(np.isnan(values).sum()), None
    if missing:
        reason = f"{measure.name} has no value for {measure.undefined}, as in {missing} of {values.size} blocks"
    elif not values.size:
        reason = "no block has the two runs that are needed"
    value = float(values.mean()) if values.size and not missing else math.nan
    if math.isnan(value):
        warnings.warn(f"The stability is undefined: {reason}.", UndefinedStabilityWarning, stacklevel=4)
    law: Law = Student(values, *measure.range)
    if math.isnan(value) or values.size < 2:
        law = NoLaw(reason or "one block has no uncertainty, two are needed")
    runs = designed.runs
    return StabilityEstimate(
        measure=measure.label,
        value=value,
        n_runs=runs.n_runs,
        n_features=runs.n_features,
        law=law,
        pseudo_values=values,
        mean_size=float(runs.sizes.mean()) if runs.kind == "subset" else None,
        reason=reason,
        has_strength=measure.has_strength,
        scope=SCOPES[designed.design],
    )


def _told(estimate: StabilityEstimate, designed: DesignedRuns) -> StabilityEstimate:
    """The estimate with what it speaks about; overlapping runs are never called validated."""
    if designed.design in SCOPES:
        return replace(estimate, scope=SCOPES[designed.design], validated=False)
    return replace(estimate, scope=SAME_ROWS.get(designed.perturbation, estimate.scope))


def _only(designed: DesignedRuns, labels: Sequence[str]) -> DesignedRuns:
    """Keep the runs of these labels, in this order."""
    place = {label: run for run, label in enumerate(designed.runs.labels or ())}
    runs = [place[label] for label in labels]
    return replace(
        designed,
        runs=designed.runs.take(runs),
        blocks=[designed.blocks[run] for run in runs],
        fractions=[designed.fractions[run] for run in runs],
    )
