"""Stability by the design of the resamples: pairs, folds, nested folds and nested subsamples.

Bootstraps and subsamples are compared all with all. Other resamples come in blocks: halves of one pair, inner folds
of one outer fold, smaller samples of one bootstrap. Their stability is the mean over blocks.
"""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.checks import Matrix
from holdfast.declared import About
from holdfast.inference.agreements import agreement
from holdfast.inference.comparison import Comparisons, Side, compare_all_pairs, evaluate_sides
from holdfast.inference.estimate import (
    SCOPE,
    StabilityEstimate,
    Undefined,
    bind_similarity,
    check_undefined,
    convert_kind,
    describe_runs,
    is_list_of_similarities,
    stability,
)
from holdfast.inference.intervals import SamplingDistribution, Student, UnknownDistribution
from holdfast.measures import Measure, UndefinedStabilityError, UndefinedStabilityWarning, find_measure
from holdfast.measures.forms import Floats
from holdfast.preferences import Preferences
from holdfast.similarity import aligned

UNKNOWN = About(name="unknown", summary="Resamples of which nothing more is known.")


@dataclass(frozen=True)
class RunsByBlock:
    """Runs with the block of resamples that each belongs to, and the design by which blocks are made.

    Attributes
    ----------
    runs : Preferences
        What each run preferred.
    design : str
        ``"runs"``, ``"folds"``, ``"pairs"``, ``"nested_folds"`` or ``"nested_subsamples"``.
    blocks : sequence of int
        Block of each run.
    fractions : sequence of float
        Size of each run's sample as a share of the whole one of its block.
    about : About
        The description of their perturbation: what an interval describes, and why there may be none.
    sizes : tuple of float or None
        Of nested subsamples, the smaller sizes to average over; None for those that the runs have.
    """

    runs: Preferences
    design: str
    blocks: Sequence[int]
    fractions: Sequence[float]
    about: About = UNKNOWN
    sizes: tuple[float, ...] | None = None

    @property
    def has_blocks(self) -> bool:
        """Whether runs are compared within blocks only, not with all others."""
        return self.design not in ("runs", "folds")

    @property
    def smaller_sizes(self) -> tuple[float, ...]:
        """Of nested subsamples, the sizes below that of the whole sample."""
        return tuple(sorted(set(self.fractions) - {1.0})) if self.sizes is None else self.sizes

    def take(self, runs: Sequence[int]) -> "RunsByBlock":
        """Return these runs, in this order."""
        return replace(
            self,
            runs=self.runs.take(runs),
            blocks=[self.blocks[run] for run in runs],
            fractions=[self.fractions[run] for run in runs],
        )


@dataclass(frozen=True, eq=False)
class BlockValues:
    """The stability inside each block of a design.

    Attributes
    ----------
    blocks : ndarray of int
        The blocks that have the runs they need.
    values : ndarray
        Stability inside each of them; ``nan`` where it is undefined.
    empty : ndarray of bool
        Pairs of which a half selected nothing: they say nothing about agreement.
    """

    blocks: NDArray[np.int64]
    values: Floats
    empty: NDArray[np.bool_]

    def counted(self, undefined: Undefined) -> NDArray[np.bool_]:
        """Return which blocks count for the mean."""
        return ~self.empty & ~np.isnan(self.values) if undefined == "skip" else ~self.empty

    def take(self, chosen: NDArray[np.bool_]) -> "BlockValues":
        """Return only these blocks."""
        return BlockValues(self.blocks[chosen], self.values[chosen], self.empty[chosen])


def design_stability(
    runs_by_block: RunsByBlock,
    measure: str | Measure,
    *,
    X: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> StabilityEstimate:
    """Measure the stability of runs according to their design."""
    if not runs_by_block.has_blocks:
        estimate = stability(runs_by_block.runs, find_measure(measure), X=X, undefined=undefined, **parameters)
        return _with_scope(estimate, runs_by_block)
    chosen = bind_measure(runs_by_block, measure, X, parameters)
    return _average_blocks(runs_by_block, chosen, block_values(runs_by_block, chosen, undefined), undefined)


def design_comparisons(
    selections: Mapping[str, RunsByBlock],
    measure: str | Measure,
    *,
    groups: Mapping[str, int] | None = None,
    level: float = 0.95,
    X: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> Comparisons:
    """Compare selections pairwise, run by run or block by block.

    Selections of one group (by default all) come from the same splits and are compared as pairs; those of different
    groups are independent. Differences describe resampling of this data set, whatever the design; blocks that one
    selection leaves out are left out of all of its group.
    """
    first = next(iter(selections.values()))
    group_of = dict.fromkeys(selections, 0) if groups is None else groups
    members = [[name for name in selections if group_of[name] == group] for group in dict.fromkeys(group_of.values())]
    common: dict[str, RunsByBlock] = {}
    for names in members:
        labels = _common_labels({name: selections[name] for name in names})
        for name in names:
            finished = selections[name].runs.labels or ()
            by_label = {label: run for run, label in enumerate(finished)}
            runs = [by_label[label] for label in labels]
            common[name] = selections[name] if tuple(labels) == finished else selections[name].take(runs)
    if not first.has_blocks:
        chosen = find_measure(measure).bind(**parameters)
        evaluated = evaluate_sides([common[name].runs for name in selections], chosen, X, undefined)
        sides = {
            name: side._replace(estimate=_with_scope(side.estimate, common[name]))
            for name, side in zip(selections, evaluated, strict=True)
        }
    else:
        chosen = bind_measure(first, measure, X, parameters)
        estimates: dict[str, StabilityEstimate] = {}
        for names in members:
            estimates |= _common_block_estimates({name: common[name] for name in names}, chosen, undefined)
        if first.design == "pairs":
            estimates = {name: replace(estimate, scope=SCOPE) for name, estimate in estimates.items()}
        sides = {name: Side(estimates[name]) for name in selections}
    return compare_all_pairs(sides, chosen, lambda a, b: group_of[a] == group_of[b], level)


def _common_block_estimates(
    selections: Mapping[str, RunsByBlock], measure: Measure, undefined: Undefined
) -> dict[str, StabilityEstimate]:
    """Estimate each stability on the blocks that count for all selections; undefined ones as they are."""
    values = {name: block_values(runs_by_block, measure, undefined) for name, runs_by_block in selections.items()}
    estimates = {name: _average_blocks(selections[name], measure, values[name], undefined) for name in selections}
    counted = np.all([blocks.counted(undefined) for blocks in values.values()], axis=0)
    defined = [name for name, estimate in estimates.items() if not math.isnan(estimate.value)]
    if counted.sum() < 2 and len(defined) == len(estimates):
        raise ValueError(
            f"Expected at least two blocks that count for all candidates, got {counted.sum()}; run more resamples."
        )
    for name in defined:
        common = _average_blocks(selections[name], measure, values[name].take(counted), undefined)
        estimates[name] = replace(common, reason=estimates[name].reason)
    return estimates


def _common_labels(selections: Mapping[str, RunsByBlock]) -> list[str]:
    """Return the splits that all selections finished; raise if they are too few to compare on."""
    labels = {name: runs_by_block.runs.labels or () for name, runs_by_block in selections.items()}
    common = set.intersection(*map(set, labels.values()))
    if len(common) < 2:
        fewest = min(labels, key=lambda name: len(labels[name]))
        raise ValueError(
            f"Expected at least two splits that all candidates finished, got {len(common)}; {fewest} finished "
            f"{len(labels[fewest])}: choose others with candidates=."
        )
    return [label for label in next(iter(labels.values())) if label in common]


def agreement_by_fraction(
    runs_by_block: RunsByBlock, measure: Measure, undefined: Undefined = "nan"
) -> dict[float, Floats]:
    """Return, for each smaller size, the agreement of each smaller sample's selection with that of its whole sample."""
    by_size = _block_agreements(runs_by_block, measure, undefined)
    return {fraction: np.array(list(values.values())) for fraction, values in by_size.items()}


def _block_agreements(
    runs_by_block: RunsByBlock, measure: Measure, undefined: Undefined
) -> dict[float, dict[int, float]]:
    """Return, for each smaller size, the agreement of each block that has this size and the whole sample."""
    whole = {block: run for run, block in enumerate(runs_by_block.blocks) if runs_by_block.fractions[run] == 1}
    values = {}
    for fraction in runs_by_block.smaller_sizes:
        part = {
            block: run for run, block in enumerate(runs_by_block.blocks) if runs_by_block.fractions[run] == fraction
        }
        blocks = [block for block in part if block in whole]
        runs, references = [part[block] for block in blocks], [whole[block] for block in blocks]
        agreements = _agree(runs_by_block.runs, references, runs, _measure_of_blocks(measure, blocks), undefined)
        values[fraction] = dict(zip(blocks, agreements.tolist(), strict=True))
    return values


def block_values(runs_by_block: RunsByBlock, measure: Measure, undefined: Undefined) -> BlockValues:
    """Return the stability inside each block; blocks that lost runs they need are left out."""
    check_undefined(undefined)
    if runs_by_block.design == "nested_subsamples":
        by_size = _block_agreements(runs_by_block, measure, undefined).values()
        complete = sorted(set.intersection(*map(set, by_size))) if by_size else []
        means = np.array([np.mean([values[block] for values in by_size]) for block in complete], dtype=np.float64)
        return BlockValues(np.array(complete, dtype=np.int64), means, np.zeros(means.size, dtype=bool))
    members: dict[int, list[int]] = {}
    for run, block in enumerate(runs_by_block.blocks):
        members.setdefault(block, []).append(run)
    members = {block: runs for block, runs in members.items() if len(runs) >= 2}
    blocks = np.array(list(members), dtype=np.int64)
    if runs_by_block.design == "pairs":
        halves = np.array(list(members.values()), dtype=np.int64).reshape(-1, 2)
        empty = np.zeros(blocks.size, dtype=bool)
        if runs_by_block.runs.kind == "subset":
            empty = (runs_by_block.runs.sizes[halves] == 0).any(axis=1)
        values = np.full(blocks.size, np.nan)
        of_blocks = _measure_of_blocks(measure, blocks[~empty].tolist())
        first, second = halves[~empty].T.tolist()
        values[~empty] = _agree(runs_by_block.runs, first, second, of_blocks, undefined)
        if isinstance(undefined, (int, float)):  # it stands for empty halves too
            values[empty], empty = undefined, np.zeros_like(empty)
        return BlockValues(blocks, values, empty)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedStabilityWarning)  # one warning, for the mean
        inside = [
            stability(runs_by_block.runs.take(runs), _measure_of_blocks(measure, block), undefined=undefined).value
            for block, runs in members.items()
        ]
    return BlockValues(blocks, np.array(inside, dtype=np.float64), np.zeros(len(inside), dtype=bool))


def _agree(
    runs: Preferences, first: Sequence[int], second: Sequence[int], measure: Measure, undefined: Undefined
) -> Floats:
    if not first:
        return np.empty(0)
    a, b = (replace(runs.take(side), labels=None) for side in (first, second))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedStabilityWarning)
        values = agreement(a, b, measure, undefined=undefined).per_run
    return np.where(np.isnan(values), undefined, values) if isinstance(undefined, (int, float)) else values


def bind_measure(
    runs_by_block: RunsByBlock, measure: str | Measure, X: Matrix | None, parameters: dict[str, Any]
) -> Measure:
    """Bind the parameters of a measure; a list of similarities has one for each block, by its number."""
    runs, chosen = runs_by_block.runs, find_measure(measure).bind(**parameters)
    convert_kind(runs, chosen.kind, chosen.name)
    similarities = chosen.parameters.get("similarity")
    if not is_list_of_similarities(similarities):
        return bind_similarity([chosen], runs, X)[0]
    n_blocks = max(runs_by_block.blocks) + 1
    if len(similarities) < n_blocks:
        raise ValueError(
            f"Expected one similarity, or one for each of the {n_blocks} blocks of resamples, got {len(similarities)}."
        )
    return chosen.bind(similarity=[aligned(similarity, runs.features) for similarity in similarities])


def _measure_of_blocks(measure: Measure, blocks: int | Sequence[int]) -> Measure:
    """Return the measure for runs of a block, or of each of these: with their similarities, if each block has one."""
    similarities = measure.parameters.get("similarity")
    if not is_list_of_similarities(similarities):
        return measure
    if isinstance(blocks, int):
        return measure.bind(similarity=similarities[blocks])
    return measure.bind(similarity=[similarities[block] for block in blocks])


def _average_blocks(
    runs_by_block: RunsByBlock, measure: Measure, blocks: BlockValues, undefined: Undefined
) -> StabilityEstimate:
    """Return the mean over blocks, with Student's interval where the design has one."""
    values, reason = _values_to_average(runs_by_block, measure, blocks, undefined)
    value = float(values.mean()) if values.size else math.nan
    if math.isnan(value):
        if undefined == "raise":
            raise UndefinedStabilityError(f"The stability is undefined: {reason}; choose undefined='skip' or a number.")
        warnings.warn(f"The stability is undefined: {reason}.", UndefinedStabilityWarning, stacklevel=4)
    distribution: SamplingDistribution = Student(values, *measure.range)
    if runs_by_block.about.no_interval:
        distribution = UnknownDistribution(runs_by_block.about.no_interval)
    elif math.isnan(value) or values.size < 2:
        distribution = UnknownDistribution(reason or "one block has no uncertainty, two are needed")
    facts = describe_runs(runs_by_block.runs)
    if runs_by_block.runs.kind == "subset":
        smaller = np.array(runs_by_block.fractions) < 1  # nested subsamples: as score and stability are
        facts["mean_size"] = float(runs_by_block.runs.sizes[smaller if smaller.any() else ~smaller].mean())
        facts["mean_overlap"] = None if runs_by_block.design == "nested_subsamples" else _mean_overlap(runs_by_block)
    return StabilityEstimate(
        measure=measure.label,
        value=value,
        distribution=distribution,
        pseudo_values=np.empty(0) if math.isnan(value) else values,
        reason=reason,
        has_strength=measure.has_strength,
        scope=runs_by_block.about.scope or SCOPE,
        **facts,
    )


def _mean_overlap(runs_by_block: RunsByBlock) -> float | None:
    """How many features two runs of a block share, the mean over blocks; None if no block has two."""
    _, block = np.unique(runs_by_block.blocks, return_inverse=True)
    members = sp.csr_array((np.ones(block.size), (block, np.arange(block.size))))
    counts = members @ runs_by_block.runs.to_sparse().astype(np.float64)
    shared = np.asarray(counts.multiply(counts).sum(axis=1)).ravel() - members @ runs_by_block.runs.sizes
    n_runs = np.bincount(block)
    several = n_runs > 1
    pairs = n_runs[several] * (n_runs[several] - 1)
    return float((shared[several] / pairs).mean()) if several.any() else None


def _values_to_average(
    runs_by_block: RunsByBlock, measure: Measure, blocks: BlockValues, undefined: Undefined
) -> tuple[Floats, str | None]:
    """Return the values to average, and what was left out or is undefined; none if most pairs have an empty half."""
    n, empty = blocks.values.size, int(blocks.empty.sum())
    if not n:
        return np.empty(0), _no_blocks(runs_by_block)
    if 2 * empty > n:
        return np.empty(0), f"in {empty} of {n} pairs a half selected nothing"
    reasons = [f"{empty} of {n} pairs left out: a half selected nothing"] if empty else []
    missing = int(np.isnan(blocks.values[~blocks.empty]).sum())
    if missing:
        left_out = ", which are left out" if undefined == "skip" else ""
        reasons.append(f"{measure.name} is undefined for {measure.undefined}, as in {missing} of {n} blocks{left_out}")
    return blocks.values[blocks.counted(undefined)], "; ".join(reasons) or None


def _no_blocks(runs_by_block: RunsByBlock) -> str:
    """Return why no block has a value."""
    if runs_by_block.design != "nested_subsamples":
        return "no block has the two runs that are needed"
    if not runs_by_block.smaller_sizes:
        return "a whole sample is compared with smaller ones only, not with itself"
    sizes = ", ".join(f"{size:g}" for size in runs_by_block.smaller_sizes)
    return f"no sample finished as a whole and at every smaller size ({sizes}); choose one size with fraction="


def _with_scope(estimate: StabilityEstimate, runs_by_block: RunsByBlock) -> StabilityEstimate:
    """Return the estimate with the scope of its design; overlapping runs are never called validated."""
    return replace(
        estimate,
        scope=runs_by_block.about.scope or estimate.scope,
        validated=estimate.validated and runs_by_block.design == "runs",
    )
