"""Profiles: stability against the number of features and the size of the sample, knots, and settings ranked."""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.cards import Svg, draw_line, make_bar
from holdfast.checks import Matrix, as_names
from holdfast.inference.designs import RunsByBlock, agreement_by_fraction, bind_measure, design_stability
from holdfast.inference.estimate import bind_similarity
from holdfast.inference.intervals import Student, check_level, jackknife_variance
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.measures.forms import OverlapPairs, overlap_expectation
from holdfast.result_base import DrawnResult
from holdfast.study.orders import UnansweredError
from holdfast.study.stabilities import DEFAULT_MEASURES, corrected_error
from holdfast.study.tables import StudyTables
from holdfast.text import format_number
from holdfast.tradeoff.points import Floats, Points, Redraws, check_metric, make_points, weighted_means
from holdfast.tradeoff.rules import Choices, Decision, Mask, best_in_draws, rule, scored_and_measured


@dataclass(frozen=True, kw_only=True, eq=False)
class SizeProfile(DrawnResult):
    """Stability against the number of features, and the sizes after which features enter at random.

    Attributes
    ----------
    name : str
        The candidate, or the selector whose candidates have these sizes.
    measure : str
        What is measured.
    frame : DataFrame
        One row per ``size``: ``stability`` with ``low`` and ``high``, ``random``, what random subsets of this size
        would have, and ``entering`` with ``entering_se``: how far resamples agree on the features that enter between
        the size before and this one, 0 as by chance and 1 as far as possible; ``score`` and ``score_se`` where
        candidates have these sizes.
    knots : list of int
        Sizes after which features enter almost at random.
    tolerance : float
        Agreement of entering features up to which they enter almost at random.

    See Also
    --------
    holdfast.StudyResult.profile : Makes it.
    holdfast.plots.plot_profile : Draws it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(
    ...     selectors={"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 2, 3])},
    ...     perturbation=hf.Bootstrap(20),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = study.run(X, y)
    >>> profile = result.profile("anova")
    >>> profile.frame[["size", "stability", "score"]].round(2)
       size  stability  score
    0     1       0.55   0.92
    1     2       1.00   0.95
    2     3       1.00   0.96
    """

    _table_field: ClassVar[str] = "frame"
    _heading: ClassVar[str] = "Profile by size"
    _drawn_by: ClassVar[str] = "plot_profile"

    name: str
    measure: str
    frame: pd.DataFrame
    knots: list[int]
    tolerance: float

    def _picture(self) -> Svg | None:
        rows = self.frame[["size", "stability", "low", "high"]].itertuples(index=False)
        points = [make_bar(row[0], *row[1:]) for row in rows]
        return draw_line(points, self.frame["size"].tolist(), x_title="number of features", marks=self.knots)

    def __repr__(self) -> str:
        knots = ", ".join(map(str, self.knots)) or "none"
        table = self.frame.to_string(index=False, float_format=lambda number: f"{number:.3f}")
        return f"{self.measure} of {self.name} by number of features; knots: {knots}\n{table}"


def profile(
    result: StudyTables,
    name: str,
    measure: str | Measure = "nogueira",
    *,
    sizes: Iterable[int] | None = None,
    metric: str | None = None,
    tolerance: float = 0.2,
    level: float = 0.95,
    fill: bool = False,
    X: Matrix | None = None,
    **parameters: Any,
) -> SizeProfile:
    r"""Measure the stability of the best 1, 2, … features (Kalousis, Prados and Hilario, 2005), and find knots.

    A knot is a size after which features enter almost at random: resamples agree on the features that enter between two
    sizes up to it, and hardly do beyond. For sizes :math:`a < b`, two resamples that share :math:`r` of their best
    :math:`a`, and features that enter at random out of all :math:`d`, the best :math:`b` are expected to share

    .. math:: 2 (a - r)\,p + (d - 2a + r)\,p^2, \qquad p = \frac{b - a}{d - a}

    more. ``entering`` is how much more than that they do share, as a share of the most that is possible. Sizes where it
    falls to ``tolerance`` or below, for two sizes or to the end, are knots. Resamples that share rows agree on noise
    too (on bootstraps about 0.1, in ten folds 0.5 or more): for folds choose a higher tolerance. Between sizes that are
    close to each other neighbors in an order swap, which looks like chance: sizes should be some way apart.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    name : str
        A candidate that gives rankings or weights, or a selector whose candidates differ in size alone
        (``sizes=[5, 10, …]``, or a single one).
    measure : str or Measure
        What to measure: a measure of subsets.
    sizes : iterable of int, optional
        Sizes to look at: any that the stored orders hold for. By default those of the selector's candidates; if there
        is only one, about 30 of those that were stored.
    metric : str, optional
        Score to add, for selectors with several sizes.
    tolerance : float
        Agreement of entering features up to which they enter almost at random.
    level : float
        Level of the intervals.
    fill : bool
        Whether selections of more features than carry information are filled up with any others, as in the 2005 paper.
        By default these are never selected, and a selection stays below its size. Rankings and weights that a candidate
        gives itself are always filled up.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure, as for :func:`holdfast.stability`.

    Returns
    -------
    SizeProfile
        Stability at every size, and the knots.

    Raises
    ------
    ValueError
        If there are not several sizes to look at, or the measure is not one of subsets.

    Notes
    -----
    Equal weights are ordered at random, with a fixed seed: taking the lowest columns would make features of no value
    look stable.
    """
    check_level(level)
    if not 0 <= tolerance < 1:
        raise ValueError(f"Expected a tolerance from 0 to below 1, got {tolerance}.")
    by_size, candidates = cut_to_sizes(result, name, sizes, fill=fill)
    used = {size: candidate for size, candidate in candidates.items() if size in by_size}
    scores = _read_scores(result, used, metric) if used else None
    chosen = find_measure(measure).bind(**parameters)
    if chosen.kind != "subset":
        raise ValueError(f"Expected a measure of subsets for a profile, got {chosen.name}, one of {chosen.kind}s.")
    (chosen,) = bind_similarity([chosen], next(iter(by_size.values())).runs, X)
    rows = [_make_row(size, runs_by_block, chosen, level) for size, runs_by_block in by_size.items()]
    overlaps = {size: mean_overlaps(runs_by_block) for size, runs_by_block in by_size.items()}
    mean_sizes = [float(runs_by_block.runs.sizes.mean()) for runs_by_block in by_size.values()]
    agreed, errors = entering(overlaps, next(iter(by_size.values())).runs.n_features, mean_sizes)
    frame = pd.DataFrame(rows).assign(entering=agreed, entering_se=errors)
    if scores is not None:
        frame = frame.merge(scores, on="size", how="left")
    knots = find_knots(list(by_size), agreed, tolerance)
    return SizeProfile(name=name, measure=chosen.label, frame=frame, knots=knots, tolerance=tolerance)


def _read_scores(result: StudyTables, used: Mapping[int, str], metric: str | None) -> pd.DataFrame | None:
    try:
        points = make_points(result, metric, candidates=used.values())
    except ValueError:
        if metric is not None:
            raise
        return None  # a study without scores has a profile all the same
    table = points.frame[["score", "score_se"]].reset_index(drop=True)
    return table.assign(size=list(used))


def _make_row(size: int, runs_by_block: RunsByBlock, measure: Measure, level: float) -> dict[str, Any]:
    with warnings.catch_warnings(action="ignore", category=UndefinedStabilityWarning):  # all features are no selection
        estimate = design_stability(runs_by_block, measure)
    low, high = estimate.ci(level)
    expected = random_stability(measure, size, runs_by_block.runs.n_features)
    return {"size": size, "stability": estimate.value, "low": low, "high": high, "random": expected}


def random_stability(measure: Measure, size: int, n_features: int) -> float:
    """What subsets of this size that are drawn at random have on average; ``nan`` if it is not known exactly."""
    if measure.properties.chance in ("yes", "one size"):
        return math.nan if size == n_features else 0.0
    if not isinstance(measure.form, OverlapPairs):
        return math.nan
    similarity = partial(measure.form.similarity, **measure.parameters)
    with np.errstate(divide="ignore", invalid="ignore"):
        return overlap_expectation(similarity, size, size, n_features).value


# Knots


SIZES = 30
SIZE_NAMES = ("size", "n_features", "k")
"""Parameters that are a number of features, the first of them that all candidates of a selector set."""


def cut_to_sizes(
    result: StudyTables, name: str, sizes: Iterable[int] | None = None, *, fill: bool = False
) -> tuple[dict[int, RunsByBlock], dict[int, str]]:
    """Cut subsets of every size from rankings, weights or orders, or take those of a selector's candidates.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    name : str
        A candidate or a selector, as for :func:`profile`.
    sizes : iterable of int, optional
        Sizes, as for :func:`profile`.
    fill : bool
        Whether to fill up selections with features without information, as for :func:`profile`.

    Returns
    -------
    (dict, dict)
        The subsets of each size, and the selector's candidates by their sizes.
    """
    wanted = None if sizes is None else sorted(set(map(int, sizes)))
    if gives_orders(result, name):
        whole = take_whole_samples(result.runs_by_block(name))
        ranked = whole.runs.to_ranking(ties="random", random_state=0)
        wanted = _default_sizes(whole.runs.n_features) if wanted is None else wanted
        return {size: replace(whole, runs=ranked.top(size, ties="lowest")) for size in wanted}, {}
    candidates = _sized_candidates(result, name)
    if not candidates:
        raise UnansweredError(
            f"Expected a candidate that gives rankings or weights, or a selector whose candidates differ in size alone "
            f"(hf.Candidates(…, sizes=[5, 10, 20])), got {name!r}; selectors are {', '.join(result.families)}.",
            _why_no_sizes(result, name),
        )
    if wanted is None and len(candidates) > 1:
        wanted = list(candidates)
    elif wanted is None:  # about 30 of those that the orders of the only one hold for
        least, most = result.stored_sizes(*candidates.values())
        wanted = [size for size in _default_sizes(most) if size >= least]
    cut = {size: _cut_to_size(result, candidates, size) for size in wanted}
    return {size: fill_up(runs_by_block, size) for size, runs_by_block in cut.items()} if fill else cut, candidates


def fill_up(runs_by_block: RunsByBlock, size: int) -> RunsByBlock:
    """Add features that a run did not select, in a random order for each run with a fixed seed, up to a size."""
    runs = runs_by_block.runs
    if (runs.sizes >= size).all():
        return runs_by_block
    others = np.random.default_rng(0).permuted(np.tile(np.arange(runs.n_features), (runs.n_runs, 1)), axis=1)
    indices, pointers = runs.lists()
    chosen = np.split(indices, pointers[1:-1])
    filled = [
        np.r_[selected, order[~np.isin(order, selected)]][:size] for selected, order in zip(chosen, others, strict=True)
    ]
    columns = np.sort(np.array(filled, dtype=np.int32), axis=1)
    return replace(
        runs_by_block,
        runs=replace(runs, indices=columns.ravel(), indptr=np.arange(runs.n_runs + 1, dtype=np.int64) * size),
    )


def gives_orders(result: StudyTables, name: str) -> bool:
    """Whether this is a candidate that gives rankings or weights of all features."""
    return result.kinds.get(name, "subset") != "subset"


def find_sizes(result: StudyTables, name: str) -> range | list[int]:
    """Return the sizes that a profile can be asked for: those that stored orders hold for, else those of candidates.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    name : str
        A candidate or a selector, as for :func:`profile`.

    Returns
    -------
    range or list of int
        The sizes, ascending.

    Raises
    ------
    UnansweredError
        If there are not several of them; its ``plain`` says why.
    """
    if gives_orders(result, name):
        return range(1, len(result.feature_names) + 1)
    candidates = _sized_candidates(result, name)
    if not candidates:
        raise UnansweredError(f"{name} has no sizes to look at.", _why_no_sizes(result, name))
    *_, largest = candidates.values()
    try:
        least, most = result.stored_sizes(largest)
    except UnansweredError:
        if len(candidates) < 2:
            raise
        return list(candidates)
    return range(least, most + 1)


def _why_no_sizes(result: StudyTables, family: str) -> str:
    names = [name for name in result.candidates if result.family(name) == family]
    if not any(name in result.kinds for name in names):
        return "no fit has succeeded"
    if len(names) > 1:
        return "its candidates differ in more than the number of features"
    return "it selects as many features as it finds, and has no number of features to change"


def _cut_to_size(result: StudyTables, candidates: Mapping[int, str], size: int) -> RunsByBlock:
    """The subsets of a size: those of a candidate that has it, or cut from the orders of another."""
    if size in candidates:
        return take_whole_samples(result.runs_by_block(candidates[size]))
    *_, largest = candidates.values()
    return take_whole_samples(result.runs_by_block(largest, top=size))


def take_whole_samples(runs_by_block: RunsByBlock) -> RunsByBlock:
    """Return the runs of a candidate; of nested subsamples the whole ones, which are measured as plain runs."""
    if runs_by_block.design != "nested_subsamples":
        return runs_by_block
    whole = [run for run, fraction in enumerate(runs_by_block.fractions) if fraction == 1]
    blocks = [runs_by_block.blocks[run] for run in whole]
    return RunsByBlock(runs_by_block.runs.take(whole), "runs", blocks, [1.0] * len(whole))


def _default_sizes(d: int) -> list[int]:
    """About 30 sizes from 1 to all, closer to each other where they are small."""
    return sorted({round(size) for size in np.geomspace(1, d, min(SIZES, d))})


def _sized_candidates(result: StudyTables, family: str) -> dict[int, str]:
    """The candidates of a selector by their size, if sizes are all that they differ in."""
    names = [name for name in result.candidates if result.family(name) == family]
    groups = group_by_order(result, names)
    if not groups and len(names) == 1 and names[0] in result.kinds:
        size = result.size_of(names[0])
        return {} if size is None else {size: names[0]}
    sized = all(set(SIZE_NAMES) & set(result.settings(name)) for name in names)
    return groups[0] if len(groups) == 1 and sized else {}


def group_by_order(result: StudyTables, names: Iterable[str]) -> list[dict[int, str]]:
    """Return the candidates that differ in nothing but their size, each group by size, ascending.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    names : iterable of str
        Candidates; those that set no number of features, or have no finished fit, are in no group.

    Returns
    -------
    list of dict
        Candidate by size, one for each selector and setting of its other parameters.
    """
    groups: dict[tuple[str, ...], dict[int, str]] = {}
    for name in names:
        settings = result.settings(name)
        key = next((key for key in SIZE_NAMES if key in settings), None)
        if key is not None and name in result.kinds:
            others = sorted(f"{other}={value}" for other, value in settings.items() if other != key)
            groups.setdefault((result.family(name), key, *others), {})[int(settings[key])] = name
    return [dict(sorted(group.items())) for group in groups.values()]


def mean_overlaps(runs_by_block: RunsByBlock) -> Floats:
    """How many features two runs share: the mean over all pairs, then the same without each run (or block)."""
    if not runs_by_block.has_blocks:
        return _with_deleted(_run_sums(runs_by_block, range(runs_by_block.runs.n_runs)))
    _, values = block_overlaps(runs_by_block)
    n = values.size
    deleted = (values.sum() - values) / (n - 1) if n > 1 else np.full(n, np.nan)
    return np.append(values.mean() if n else np.nan, deleted)


def block_overlaps(runs_by_block: RunsByBlock) -> tuple[NDArray[np.int64], Floats]:
    """How many features two runs of a block share on average: blocks of several runs, ascending, and their means."""
    members: dict[int, list[int]] = {}
    for run, block in enumerate(runs_by_block.blocks):
        members.setdefault(int(block), []).append(run)
    several = {block: runs for block, runs in sorted(members.items()) if len(runs) > 1}
    means = [_mean(_run_sums(runs_by_block, runs)) for runs in several.values()]
    return np.array(list(several), dtype=np.int64), np.array(means, dtype=np.float64)


def _run_sums(runs_by_block: RunsByBlock, runs: Sequence[int]) -> Floats:
    """For each of these runs, how many features it shares with all others of them, in sum."""
    part = runs_by_block.runs.take(list(runs))
    matrix = part.to_sparse()
    return np.asarray(matrix @ part.counts.astype(np.float64)) - part.sizes


def _mean(sums: Floats) -> float:
    return float(sums.sum() / (sums.size * (sums.size - 1))) if sums.size > 1 else np.nan


def _with_deleted(sums: Floats) -> Floats:
    n = sums.size
    if n < 3:
        return np.append(_mean(sums), np.full(n, np.nan))
    return np.append(_mean(sums), (sums.sum() - 2 * sums) / ((n - 1) * (n - 2)))


def entering(
    overlaps: Mapping[int, Floats], n_features: int, mean_sizes: Sequence[float] | None = None
) -> tuple[list[float], list[float]]:
    """For each size, how far runs agree on the features that enter since the size before, and its standard error.

    0 is the agreement of features that enter at random, 1 the most that is possible; ``nan`` where nothing enters, or
    nothing is left to choose from. ``mean_sizes`` are how many features were selected, where these are fewer.
    """
    steps = entering_steps(list(overlaps.values()), n_features, mean_sizes or list(overlaps))
    errors = [math.sqrt(jackknife_variance(step[1:])) if step.size > 1 else math.nan for step in steps]
    return [float(step[0]) for step in steps], errors


def entering_steps(overlaps: Sequence[Floats], n_features: int, mean_sizes: Sequence[float]) -> list[Floats]:
    """For each size, how far runs agree on what enters, for each element of the overlaps (such as each redraw)."""
    before = [(0.0, np.zeros_like(overlaps[0])), *zip(mean_sizes, overlaps, strict=True)]
    return [_entering(*earlier, *later, n_features) for earlier, later in pairwise(before)]


def _entering(a: float, shared: Floats, b: float, then: Floats, d: int) -> Floats:
    p = (b - a) / (d - a)
    by_chance = 2 * (a - shared) * p + (d - 2 * a + shared) * p**2
    most = np.minimum(2 * (b - a), b - shared)
    room = most - by_chance
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(room > 1e-9, (then - shared - by_chance) / np.where(room > 1e-9, room, 1), np.nan)


def find_knots(sizes: Sequence[int], agreed: Sequence[float], tolerance: float) -> list[int]:
    """Sizes up to which runs agree on what enters, and after which they hardly do, for two sizes or to the end."""
    known = [(size, value) for size, value in zip(sizes, agreed, strict=True) if not np.isnan(value)]
    orderly = [value > tolerance for _, value in known]
    return [
        known[index][0]
        for index, agreed_here in enumerate(orderly[:-1])
        if agreed_here and not any(orderly[index + 1 : index + 3])
    ]


TOLERANCE = 0.2
DRAWS_AT_ONCE = 100
"""Redraws whose counts of features are in memory together."""


@dataclass(frozen=True, eq=False)
class SizedGroup:
    """Candidates that differ in size alone, and how far resamples agree on what enters at each size.

    Attributes
    ----------
    family : str
        Their selector.
    candidates : dict of int to str
        Candidate by size, ascending.
    entering : ndarray, draws × sizes
        Agreement on the features that enter since the size before; 0 as by chance, 1 as far as possible.
    """

    family: str
    candidates: dict[int, str]
    entering: Floats

    def knots(self, draw: int, tolerance: float) -> list[int]:
        """Sizes after which features enter almost at random, in one draw."""
        return find_knots(list(self.candidates), self.entering[draw].tolist(), tolerance)

    def why_none(self, tolerance: float) -> str:
        """Return why there is no knot, as a phrase."""
        sizes = list(self.candidates)
        if len(sizes) < 2:
            return f"{self.family} was tried with {sizes[0]} features alone, and a knot is found among several sizes"
        known = self.entering[0][~np.isnan(self.entering[0])]
        if known.size and known[-1] > tolerance:
            return f"resamples agree on the features of {self.family} up to {sizes[-1]}, the most that were tried"
        return f"features of {self.family} enter almost at random from {sizes[0]} on, the fewest that were tried"


def find_groups(points: Points, times: Floats) -> list[SizedGroup]:
    """Group the candidates that differ in size alone, where each unit was drawn so many times (draws × units)."""
    result = points.result
    subsets = [name for name in points.names if result.kinds.get(name) == "subset"]
    groups = []
    for candidates in group_by_order(result, subsets):
        runs_by_block = [take_whole_samples(result.runs_by_block(name)) for name in candidates.values()]
        overlaps = [_drawn_overlaps(points, one_size, times) for one_size in runs_by_block]
        mean_sizes = [float(one_size.runs.sizes.mean()) for one_size in runs_by_block]
        steps = entering_steps(overlaps, len(result.feature_names), mean_sizes)
        family = result.family(next(iter(candidates.values())))
        groups.append(SizedGroup(family, candidates, np.column_stack(steps)))
    return groups


def _drawn_overlaps(points: Points, runs_by_block: RunsByBlock, times: Floats) -> Floats:
    """How many features two runs share on average, in each draw; copies of one run never meet."""
    splits = pd.Index(points.result.split_numbers(runs_by_block.runs))
    if runs_by_block.has_blocks:
        blocks, means = block_overlaps(runs_by_block)
        return weighted_means(times[:, np.searchsorted(points.units, blocks)], means)
    drawn = times[:, points.units_of(splits)]
    matrix, sizes = runs_by_block.runs.to_sparse().astype(np.float64), runs_by_block.runs.sizes
    squares = [
        ((matrix.T @ drawn[start : start + DRAWS_AT_ONCE].T) ** 2).sum(axis=0)
        for start in range(0, len(drawn), DRAWS_AT_ONCE)
    ]
    pairs = drawn.sum(axis=1) ** 2 - (drawn**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((np.concatenate(squares) - drawn**2 @ sizes) / pairs)


def knot_in_draws(redraws: Redraws, tolerance: float = TOLERANCE) -> Choices:
    """Best score among the candidates at a knot, in every draw."""
    at_knot = mark_knots(redraws.points.names, find_groups(redraws.points, redraws.times), tolerance)
    return best_in_draws(redraws, redraws.known & at_knot, redraws.score, redraws.stability)


def mark_knots(names: Sequence[str], groups: Sequence[SizedGroup], tolerance: float) -> Mask:
    """Which candidates are at a knot of their profile (draws × candidates)."""
    n_draws = len(groups[0].entering) if groups else 1
    marked, by_name = np.zeros((n_draws, len(names)), dtype=bool), {name: index for index, name in enumerate(names)}
    for group in groups:
        for draw in range(n_draws):
            marked[draw, [by_name[group.candidates[size]] for size in group.knots(draw, tolerance)]] = True
    return marked


@rule(
    "knot",
    summary="Best score among the sizes at a knot of their profile: further features enter almost at random.",
    methods="by the best {metric} among the numbers of features at a knot of the stability profile, after which "
    "features enter almost at random (Kalousis, 2005)",
    reference="kalousis2005",
    many=knot_in_draws,
)
def knot(points: Points, tolerance: float = TOLERANCE) -> Decision:
    """Choose the best score among the sizes at a knot of their profile, after which features enter almost at random.

    Parameters
    ----------
    points : Points
        The candidates.
    tolerance : float
        Agreement of entering features up to which they enter almost at random, from 0 to below 1; folds need more.
    """
    if not 0 <= tolerance < 1:
        raise ValueError(f"Expected a tolerance from 0 to below 1, got {tolerance}.")
    frame = scored_and_measured(points)
    times = np.ones(points.units.size) if points.times is None else points.times
    groups = find_groups(points, times[None])
    knots = {group.candidates[size]: size for group in groups for size in group.knots(0, tolerance)}
    at_knot = frame[frame.index.isin(list(knots))]
    if at_knot.empty:
        raise _no_knot(groups, tolerance)
    once, marked = points.once, mark_knots(points.names, groups, tolerance)
    (index,) = best_in_draws(once, once.known & marked, once.score, once.stability)
    chosen = points.names[index]
    return Decision(
        chosen, _reason(points, at_knot, chosen, groups), _why_not(points, at_knot, groups, tolerance), {"knots": knots}
    )


def _reason(points: Points, at_knot: pd.DataFrame, chosen: str, groups: Sequence[SizedGroup]) -> str:
    group = next(group for group in groups if chosen in group.candidates.values())
    sizes, agreed = list(group.candidates), group.entering[0]
    at = list(group.candidates.values()).index(chosen)
    after = next(later for later in range(at + 1, len(sizes)) if not np.isnan(agreed[later]))
    others = f", the best of the {len(at_knot)} candidates at a knot" if len(at_knot) > 1 else ""
    return (
        f"{chosen} is at a knot of the profile of {group.family}: up to {sizes[at]} features resamples agree on "
        f"what enters ({format_number(agreed[at])} of what is possible), further ones enter almost at random "
        f"({format_number(agreed[after])} up to {sizes[after]}). Its {points.metric} is "
        f"{format_number(at_knot['score'][chosen], 3)}{others}."
    )


def _why_not(points: Points, at_knot: pd.DataFrame, groups: Sequence[SizedGroup], tolerance: float) -> dict[str, str]:
    why = dict.fromkeys(points.names, "it has no number of features that could be at a knot")
    for group in groups:
        knots = group.knots(0, tolerance)
        known = f"not at a knot of {group.family}: {', '.join(map(str, knots))}" if knots else group.why_none(tolerance)
        why |= dict.fromkeys(group.candidates.values(), known)
    scores = at_knot["score"].items()
    return why | {
        str(name): f"at a knot, but {points.metric} is not higher ({format_number(score, 3)})" for name, score in scores
    }


def _no_knot(groups: Sequence[SizedGroup], tolerance: float) -> UnansweredError:
    why = "; ".join(dict.fromkeys(group.why_none(tolerance) for group in groups))
    why = why or "no selector was tried with several numbers of features"
    return UnansweredError(
        "Expected a candidate at a knot of its profile, a size after which features enter almost at random (agreement "
        f"up to {tolerance:g}), got none: {why}. Give selectors more sizes (hf.Candidates(…, sizes=[5, 10, 20, 50])), "
        "or choose another tolerance.",
        f"no candidate is at a knot of its profile: {why}",
    )


# Against the size of the sample


def fraction_profile(
    result: StudyTables,
    candidates: Iterable[str] | None = None,
    measure: str | Measure | None = None,
    *,
    metric: str | None = None,
    level: float = 0.95,
    X: Matrix | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Agreement and score against the size of the sample, for a study with :class:`holdfast.NestedSubsamples`.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidates : iterable of str, optional
        Names of candidates; all by default.
    measure : str or Measure, optional
        What to measure, as for :meth:`StudyResult.stability`.
    metric : str, optional
        The score; the study's first one by default.
    level : float
        Level of the intervals.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure.

    Returns
    -------
    DataFrame
        One row per candidate and ``fraction``: the ``agreement`` of selections on smaller samples with that of their
        whole one (``nan`` for the whole itself), ``low``, ``high``, the ``score``, its corrected error ``score_se``,
        and the number of ``samples``.

    Raises
    ------
    ValueError
        If the study has another design.
    """
    check_level(level)
    if result.design != "nested_subsamples":
        raise ValueError(f"Expected a study with hf.NestedSubsamples, got one of {result.design}.")
    names = result.candidates if candidates is None else as_names(candidates, "candidates=")
    metric = check_metric(result, metric)
    tables = [_profile_candidate(result, name, measure, metric, level, X, parameters) for name in names]
    return pd.concat(tables, ignore_index=True)


def _profile_candidate(
    result: StudyTables, name: str, measure: Any, metric: str, level: float, X: Any, parameters: dict[str, Any]
) -> pd.DataFrame:
    runs_by_block = result.runs_by_block(name)
    chosen = bind_measure(runs_by_block, measure or DEFAULT_MEASURES[runs_by_block.runs.kind], X, parameters)
    agreements = agreement_by_fraction(runs_by_block, chosen)
    rows = []
    for fraction in sorted(set(runs_by_block.fractions)):
        values = agreements.get(fraction, np.empty(0))
        by_split, splits = result.split_scores(name, metric, fraction=fraction)
        scores = np.asarray(by_split, dtype=np.float64)
        low, high = Student(values, *chosen.range).ci(level) if values.size > 1 else (math.nan, math.nan)
        rows.append(
            {
                "candidate": name, "fraction": fraction, "agreement": values.mean() if values.size else math.nan,
                "low": low, "high": high, "score": scores.mean() if scores.size else math.nan,
                "score_se": corrected_error(scores, splits), "samples": max(values.size, scores.size),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


# Settings ranked over conditions, such as numbers of features


def mean_ranks(table: pd.DataFrame, *, higher_is_better: bool = True) -> pd.DataFrame:
    """Rank settings in every row, and return mean and standard deviation of the ranks: 1 is best.

    Settings that tie share the *best* of their ranks (1, 1, 3), as the rank tables of Gulgezen, Cataltepe and Yu (2009)
    do; a row of five that all tie adds 1 to each of them, not 3. Rank means over resamples, not each resample.

    Parameters
    ----------
    table : DataFrame
        One row per condition (number of features, data set), one column per setting. A row with an undefined value is
        left out.
    higher_is_better : bool
        Whether larger values rank first.

    Returns
    -------
    DataFrame
        One row per setting: its mean ``rank``, the standard deviation ``sd`` of its ranks over the rows (``nan`` for a
        single one), and the number of rows, ``conditions``.

    Raises
    ------
    ValueError
        If every row has an undefined value.

    Examples
    --------
    >>> import holdfast as hf
    >>> import pandas as pd
    >>> hf.tradeoff.mean_ranks(pd.DataFrame({"a": [0.5, 0.9], "b": [0.5, 0.8], "c": [0.1, 0.7]})).round(2)
       rank    sd  conditions
    a   1.0  0.00           2
    b   1.5  0.71           2
    c   3.0  0.00           2
    """
    known = table.dropna().astype(float).round(12)
    if known.empty:
        raise ValueError("Expected at least one row without undefined values to rank, got none.")
    ranks = known.rank(axis=1, method="min", ascending=not higher_is_better)
    return pd.DataFrame({"rank": ranks.mean(), "sd": ranks.std(), "conditions": len(ranks)})


def ranked_settings(
    result: StudyTables,
    over: str = "size",
    *,
    of: str = "stability",
    measure: str | Measure | None = None,
    fraction: float | None = None,
    candidates: Iterable[str] | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Rank the settings of a study over the values of one parameter, and average the ranks.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    over : str
        Parameter whose values are the conditions, such as ``size``, the number of features.
    of : str
        What is ranked: ``"stability"`` or the name of a score.
    measure : str or Measure, optional
        What to measure, as for :meth:`StudyResult.stability`.
    fraction : float, optional
        Of nested subsamples, the size to rank at; by default the mean over all smaller sizes, of stability and scores
        alike.
    candidates : iterable of str, optional
        Names of the candidates to rank; all by default.
    **parameters
        ``X`` for measures that need a similarity of features, and parameters of the measure.

    Returns
    -------
    DataFrame
        One row per setting, the best first: its mean ``rank`` (see :func:`holdfast.tradeoff.mean_ranks`), the
        standard deviation ``sd`` of its ranks, and the number of ``conditions`` it was ranked in.

    Raises
    ------
    ValueError
        If no candidate sets this parameter, or ``of`` is neither ``"stability"`` nor a score.
    """
    if of != "stability" and of not in result.metrics:
        raise ValueError(f"Expected 'stability' or a score ({', '.join(result.metrics)}), got {of!r}.")
    asked = result.candidates if candidates is None else as_names(candidates, "candidates=")
    if of == "stability":
        chosen = None if measure is None else find_measure(measure)
        values = result.summary(chosen, fraction=fraction, candidates=asked, **parameters)["stability"]
    else:  # scores ask for no stability, which takes longer
        scores = {name: result.split_scores(name, of, fraction=fraction)[0].mean() for name in asked}
        values = pd.Series(scores, dtype=float)
    having = [name for name in asked if over in result.settings(name)]
    if not having:
        raise ValueError(f"Expected candidates that set {over!r}, got none.")
    rows = []
    for name in having:
        others = ", ".join(f"{key}={value}" for key, value in result.settings(name).items() if key != over)
        setting = f"{result.family(name)}({others})" if others else result.family(name)
        rows.append((setting, result.settings(name)[over], values[name]))
    table = pd.DataFrame(rows, columns=["setting", over, "value"]).pivot_table(
        index=over, columns="setting", values="value", dropna=False, sort=False
    )
    return mean_ranks(table).rename_axis("setting").sort_values("rank", kind="stable")
