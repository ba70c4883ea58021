"""How stable candidates are and how well they predict: estimates with intervals, comparisons, and the summary.

Candidates that are compared have one common measure, on one kind of preference, so that a column means one
thing. Functions of ``self`` are methods of :class:`~holdfast.study.tables.StudyTables`.
"""

import json
import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from holdfast.checks import Matrix, as_names
from holdfast.inference.agreements import Kalousis
from holdfast.inference.comparison import Comparison, Comparisons, Side, compare_sides, evaluate_sides
from holdfast.inference.designs import RunsByBlock, design_comparisons, design_stability
from holdfast.inference.estimate import StabilityEstimate, bind_parameters
from holdfast.inference.intervals import Interval
from holdfast.inference.planning import Pilot, runs_needed
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.models.scores import SCORES, UNBOUNDED, Range
from holdfast.preferences import Kind, Preferences
from holdfast.study.memory import IdentityKey

if TYPE_CHECKING:
    from holdfast.study.tables import StudyTables

DEFAULT_MEASURES: dict[Kind, str] = {"subset": "nogueira", "ranking": "spearman", "weighting": "weight_correlation"}
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

    def estimate(self, result: "StudyTables", candidate: str, **parameters: Any) -> StabilityEstimate:
        """Estimate the stability of a candidate by this measure."""
        top = None if result.kinds.get(candidate) == "subset" else self.top
        return result.stability(candidate, self.measure, top=top, **parameters)

    def cut(self, runs_by_block: RunsByBlock) -> RunsByBlock:
        """Return the runs as they are measured: cut to the best features, if that is needed."""
        if self.top is None or runs_by_block.runs.kind == "subset":
            return runs_by_block
        return replace(runs_by_block, runs=take_best(runs_by_block.runs, self.top))


def stability(
    self: "StudyTables",
    candidate: str,
    measure: str | Measure | None = None,
    *,
    fraction: float | None = None,
    top: int | None = None,
    X: Matrix | None = None,
    **parameters: Any,
) -> StabilityEstimate:
    """Measure the stability of a candidate, as the design of the study asks for it.

    Complementary pairs are summarized by the agreement within pairs, nested folds by the mean of the stabilities
    inside outer folds, nested subsamples by the agreement of each with its whole. A pair of which a half selected
    nothing says nothing about agreement: it is left out and counted, and if most are, the stability is undefined.
    Pairs have no interval: those of one data set do not show how much new data sets would differ.

    Parameters
    ----------
    candidate : str
        Name of a candidate.
    measure : str or Measure, optional
        What to measure; by default ``nogueira`` for subsets, ``spearman`` for rankings, ``weight_correlation`` for
        weights. Measures of rankings and weights need those of all features (``hf.Candidates(…, keep="weights")``).
    fraction : float, optional
        Of nested subsamples, the size to compare with the whole; the mean over all smaller sizes by default.
    top : int, optional
        Measure the best so many features, as subsets: of a ranking, of weights, or of the order that the study
        stored of a selection.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure, as for :func:`holdfast.stability`. Where resamples come in blocks (nested
        subsamples, nested folds, pairs), ``similarity`` may be a list with one similarity for each block.

    Returns
    -------
    StabilityEstimate
        Value with standard error and interval; ``nan`` with a reason if it is undefined.

    Raises
    ------
    ValueError
        If there is no such candidate, none of its fits has finished, or the measure does not suit what it gives.

    See Also
    --------
    summary : All candidates at once.
    compare : Whether candidates differ.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20)).run(X, y)
    >>> result.stability("anova", "jaccard")
    jaccard = 1.000 [0.761, 1.000] (95% CI, 20 runs)
    """
    chosen = None if measure is None else find_measure(measure)

    def find() -> StabilityEstimate:
        if self.kinds.get(candidate) == "subset" and top is not None:
            runs_by_block = self.runs_by_block(candidate, fraction=fraction, top=top)
        else:
            runs_by_block = self.measured(candidate, CommonMeasure(chosen or "", top), fraction)
        estimate = design_stability(
            runs_by_block, chosen or DEFAULT_MEASURES[runs_by_block.runs.kind], X=X, **parameters
        )
        if chosen is None or not chosen.of_models:
            return estimate
        return describe_used(estimate, self.runs_by_block(candidate, fraction=fraction).runs)

    if X is not None or parameters:
        return find()
    return self.memory.get_or_compute(
        ("stability", candidate, IdentityKey(chosen), fraction, top),
        find,
        is_final=lambda estimate: estimate.value == estimate.value,  # an undefined one warns each time
    )


def measured(self: "StudyTables", candidate: str, common: CommonMeasure, fraction: float | None = None) -> RunsByBlock:
    """Return the runs of a candidate as a common measure measures them.

    Parameters
    ----------
    candidate : str
        Name of a candidate.
    common : CommonMeasure
        The measure: one of rankings or weights asks for those that selections were cut from.
    fraction : float, optional
        Of nested subsamples, only those of this size, and the whole samples.

    Returns
    -------
    RunsByBlock
        Rankings and weights cut to ``common.top``, where they are compared with selections; importances in models for
        a measure of those.
    """
    if common.measure and find_measure(common.measure).of_models:
        return self.importances(candidate, fraction=fraction)
    if self.kinds.get(candidate) != "subset" or not common.measure:
        return common.cut(self.runs_by_block(candidate, fraction=fraction))
    return self.runs_by_block(candidate, fraction=fraction, kind=find_measure(common.measure).kind)


def describe_used(estimate: StabilityEstimate, selections: Preferences) -> StabilityEstimate:
    """Return the stability of what models use with the size of the selections, and how many runs have no model."""
    missing, reasons = selections.n_runs - estimate.n_runs, [estimate.reason] if estimate.reason else []
    if missing:
        reasons.append(f"{missing} of {selections.n_runs} runs left out: no model, or one that uses no feature")
    size = float(selections.sizes.mean()) if selections.kind == "subset" else None
    return replace(estimate, reason="; ".join(reasons) or None, mean_size=size, tied_share=None)


class UseOfList(NamedTuple):
    """What of a list comes back in another resample, and what of that which its models use.

    Attributes
    ----------
    listed, used : float
        Mean share of a run's features that another run selects too, and that of its importance on features which the
        other's model uses.
    comparison : Comparison
        The stability of the list, that of what models use, and a paired test of the difference.
    """

    listed: float
    used: float
    comparison: Comparison


def compare_with_use(self: "StudyTables", candidate: str) -> UseOfList:
    """Compare the stability of a list (``nogueira``) with that of what its models use (``used_again``).

    The difference is the stability of features that are selected again and again but hardly used. Both are measured on
    the same resamples, and the test is that of :func:`holdfast.compare` for pairs.

    Parameters
    ----------
    candidate : str
        Name of a candidate.

    Returns
    -------
    UseOfList
        Two shares, and the comparison.

    Raises
    ------
    ValueError
        If it is not known what the models use, or a stability has no standard error.

    See Also
    --------
    importance_stability : The stability of what models use alone.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> study = hf.Study(selectors={"f": hf.selectors.AnovaF(5)}, perturbation=hf.Bootstrap(30), estimator=model)
    >>> found = study.run(X, y).compare_with_use("f")
    >>> round(found.listed, 2), round(found.used, 2)
    (0.91, 0.93)
    """
    importances = self.importances(candidate)
    labels = set(importances.runs.labels or ())
    whole = self.runs_by_block(candidate)
    lists = whole.take([run for run, label in enumerate(whole.runs.labels or ()) if label in labels])
    sides = []
    for runs_by_block, name in ((lists, "nogueira"), (importances, "used_again")):
        measure = find_measure(name)
        if runs_by_block.has_blocks:
            sides.append(Side(design_stability(runs_by_block, measure, undefined="skip")))
        else:
            sides += evaluate_sides([runs_by_block.runs], measure, None, "skip")
    listed, used = sides
    comparison = compare_sides(listed, used, paired=True)
    sizes = lists.runs.sizes, np.count_nonzero(importances.runs.matrix(), axis=1)
    shares = []
    for side, size in zip(sides, sizes, strict=True):
        by_chance = float(size.mean()) / lists.runs.n_features
        shares.append(side.estimate.value * (1 - by_chance) + by_chance)
    return UseOfList(shares[0], shares[1], comparison)


def kalousis(self: "StudyTables", candidate: str, k: int | None = None, **parameters: Any) -> Kalousis:
    """Measure the stability of a candidate's weights (S_W), of their ranking (S_R) and of its selections (S_S).

    Parameters
    ----------
    candidate : str
        Name of a candidate whose weights or order the study stored (``hf.Candidates(…, keep="weights")``).
    k : int, optional
        Size of the selections; by default as they are.
    **parameters
        ``ties="random"`` and ``random_state`` order equal weights at random in the ranking, where their average
        rank would make rankings look more alike than they are.

    Returns
    -------
    Kalousis
        The three estimates, as the design of the study asks for them (Kalousis, Prados and Hilario, 2005, took
        :class:`holdfast.NestedFolds`); S_W is None if no weights were stored.

    See Also
    --------
    stability : Any one measure.
    holdfast.inference.kalousis : The same for weights that were not made by a study.
    """
    whole = self.runs_by_block(candidate, kind="ranking")
    weights = design_stability(whole, "weight_correlation") if whole.runs.kind == "weighting" else None
    ranks = design_stability(whole, "spearman", **parameters)
    return Kalousis(weights, ranks, self.stability(candidate, "jaccard", top=k))


def interval(self: "StudyTables", candidate: str, estimate: StabilityEstimate, level: float = 0.95) -> Interval:
    """Return the interval of a candidate's stability.

    Parameters
    ----------
    candidate : str
        Name of a candidate.
    estimate : StabilityEstimate
        Its stability, as of :meth:`stability`.
    level : float
        Confidence level.

    Returns
    -------
    Interval
        That of the estimate; or the one that the pilot promised, if a pilot settled the number of resamples.
    """
    until = self.stored.meta.get("until")
    if until is None or estimate.measure != until["measure"] or level != until["level"] or estimate.no_interval:
        return estimate.ci(level)
    pilot = find_pilot(self, candidate)
    return estimate.ci(level) if pilot is None else pilot.ci(estimate)


def find_pilot(study: "StudyTables", candidate: str) -> Pilot | None:
    """The number of resamples that a candidate's first ones ask for; None if they have no uncertainty."""
    until = study.stored.meta["until"]
    try:
        runs_by_block = study.runs_by_block(candidate)
    except ValueError:  # none of them was finished
        return None
    first = np.flatnonzero(study.split_numbers(runs_by_block.runs) < until["pilot"]).tolist()
    if runs_by_block.runs.kind != "subset" or not first:
        return None
    with warnings.catch_warnings(action="ignore", category=UndefinedStabilityWarning):
        estimate = design_stability(runs_by_block.take(first), until["measure"])
    if estimate.no_interval:
        return None
    planned = runs_needed(until["half_width"], pilot=estimate, level=until["level"])
    assert isinstance(planned, Pilot)
    return planned


# Common measure


def common_measure(
    self: "StudyTables", candidates: Iterable[str] | None = None, measure: str | Measure | None = None
) -> CommonMeasure:
    """Return the common measure of candidates, and how many of the best features of a ranking or weights count.

    Candidates that all give the same are measured as they are. If some give subsets, rankings and weights are cut
    to as many features as those select (the median of their mean sizes), and all are measured as subsets.

    Parameters
    ----------
    candidates : iterable of str, optional
        Names of candidates; all by default.
    measure : str or Measure, optional
        What to measure; by default the default measure of what the candidates give.

    Returns
    -------
    CommonMeasure
        The measure, and ``top`` where orders have to be cut.
    """
    names = set(self.candidates if candidates is None else candidates)
    kinds = {name: kind for name, kind in self.kinds.items() if name in names}
    return choose_common_measure(
        kinds, lambda name: self.preferences(name).sizes.mean(), len(self.feature_names), measure
    )


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
    chosen = measure or DEFAULT_MEASURES[wanted]
    if wanted != "subset" or all(kind == "subset" for kind in kinds.values()):
        return CommonMeasure(chosen)
    return CommonMeasure(
        chosen, common_size([size(name) for name, kind in kinds.items() if kind == "subset"], n_features)
    )


def measure_together(
    selections: Mapping[str, RunsByBlock], measure: str | Measure | None
) -> tuple[CommonMeasure, dict[str, RunsByBlock]]:
    """Return the common measure of selections, whoever made them, and the runs as it measures them."""
    kinds = {name: runs_by_block.runs.kind for name, runs_by_block in selections.items()}
    smallest = min(runs_by_block.runs.n_features for runs_by_block in selections.values())
    common = choose_common_measure(kinds, lambda name: selections[name].runs.sizes.mean(), smallest, measure)
    return common, {name: common.cut(runs_by_block) for name, runs_by_block in selections.items()}


def common_size(sizes: Sequence[float], n_features: int) -> int:
    """As many features as candidates that give subsets select, by the median; a default number if there are none."""
    size = float(np.median(sizes)) if len(sizes) else min(TOP, n_features // 2)
    return int(np.clip(round(size), 1, max(1, n_features - 1)))


def features_that_count(study: "StudyTables", candidate: str) -> int | None:
    """Return how many of the best features of a candidate's rankings or weights count; None if it gives subsets."""
    if study.kinds.get(candidate) == "subset":
        return None
    return study.common_measure().top or common_size([], len(study.feature_names))


def subsets_that_count(study: "StudyTables", candidate: str) -> Preferences:
    """Return what each resample selected; of rankings and weights the best features, as many as count."""
    top, runs = features_that_count(study, candidate), study.preferences(candidate)
    return runs if top is None else take_best(runs, top)


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


# Comparisons


def compare(
    self: "StudyTables",
    candidates: Iterable[str] | None = None,
    measure: str | Measure | None = None,
    *,
    level: float = 0.95,
    X: Matrix | None = None,
    **parameters: Any,
) -> Comparisons:
    """Compare the stabilities of candidates, each with each, on the splits that all of them finished.

    Whatever the design, also of pairs, differences describe resampling of this data set, not new data sets.

    Parameters
    ----------
    candidates : iterable of str, optional
        Names of candidates; by default all that finished two fits. A warning names those that did not.
    measure : str or Measure, optional
        What to measure; by default the default measure of what the candidates give (see :meth:`common_measure`).
    level : float
        Confidence level.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure, as for :func:`holdfast.stability`.

    Returns
    -------
    Comparisons
        Differences with intervals and p-values, corrected for their number.

    Raises
    ------
    ValueError
        If there are fewer than two candidates to compare.

    See Also
    --------
    holdfast.compare_many : The same for selections that were not made by a study.
    """
    names = self.find_comparable() if candidates is None else as_names(candidates, "candidates=")
    if len(names) < 2:
        raise ValueError(f"Expected at least two candidates to compare, got {len(names)}.")
    common = self.common_measure(names, measure)
    selections = {name: self.measured(name, common) for name in names}
    return design_comparisons(selections, common.measure, level=level, X=X, **parameters)


def find_comparable(self: "StudyTables") -> list[str]:
    """Return the candidates that finished two fits or more, which a stability needs; warn of others.

    Returns
    -------
    list of str
        Names of candidates.
    """
    measured = self.split_table.index[self.split_table["measured"].astype(bool)]
    fits = {name: self.stored.find_outcomes(name)["split"].isin(measured).sum() for name in self.candidates}
    others = [name for name, n in fits.items() if n < 2]
    if others and len(others) < len(fits):
        warnings.warn(
            f"{', '.join(others)} {'has' if len(others) == 1 else 'have'} fewer than two finished fits and "
            f"{'is' if len(others) == 1 else 'are'} left out of the comparison; the table .failures says why.",
            UserWarning,
            stacklevel=3,
        )
    return [name for name in fits if name not in others]


def compare_studies(
    studies: Mapping[str, "StudyTables"],
    candidates: Iterable[str] | None = None,
    measure: str | Measure | None = None,
    *,
    level: float = 0.95,
    X: Matrix | None = None,
    **parameters: Any,
) -> Comparisons:
    """Compare the stabilities of candidates of several studies, each with each, with Holm's correction.

    Candidates on the same data and the same splits, also those of different studies, are compared as pairs, split by
    split; all others as independent.

    Parameters
    ----------
    studies : mapping from name to StudyResult
        One or more studies, of one design.
    candidates : iterable of str, optional
        Names of candidates, or ``"study: candidate"``; by default all that finished two fits.
    measure : str or Measure, optional
        What to measure; by default the default measure of what the candidates give
        (see :meth:`StudyResult.common_measure`).
    level : float
        Confidence level.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure, as for :func:`holdfast.stability`.

    Returns
    -------
    Comparisons
        Differences with intervals and p-values; names are ``"study: candidate"`` if there are several studies.

    Raises
    ------
    ValueError
        If there are fewer than two candidates, a candidate is unknown, or the studies have different designs.

    See Also
    --------
    StudyResult.compare : The candidates of one study.
    holdfast.compare_many : Selections that were not made by a study.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> anova, relief = (
    ...     hf.Study(selectors=[selector], perturbation=hf.Bootstrap(20)).run(X, y)
    ...     for selector in (hf.selectors.AnovaF(1), hf.selectors.ReliefF(1))
    ... )
    >>> compared = hf.study.compare_studies({"first": anova, "second": relief})
    >>> compared.pairs["design"].tolist()
    ['paired']
    """
    designs = {name: study.design for name, study in studies.items()}
    if len(set(designs.values())) > 1:
        listed = ", ".join(f"{name}: {design}" for name, design in designs.items())
        raise ValueError(f"Expected studies of one design, whose stabilities mean the same, got {listed}.")
    compared = _find_candidates(studies, None if candidates is None else as_names(candidates, "candidates="))
    if len(compared) < 2:
        raise ValueError(f"Expected at least two candidates to compare, got {len(compared)}.")

    def mean_size(name: str) -> float:
        study, candidate = compared[name]
        return float(studies[study].preferences(candidate).sizes.mean())

    kinds = {name: studies[study].kinds[candidate] for name, (study, candidate) in compared.items()}
    n_features = min(len(studies[study].feature_names) for study, _ in compared.values())
    common = choose_common_measure(kinds, mean_size, n_features, measure)
    selections = {name: studies[study].measured(candidate, common) for name, (study, candidate) in compared.items()}
    groups = group_by_splits(studies)
    return design_comparisons(
        selections, common.measure, groups={name: groups[study] for name, (study, _) in compared.items()}, level=level,
        X=X, **parameters,
    )  # fmt: skip


def group_by_splits(studies: Mapping[str, "StudyTables"]) -> dict[str, int]:
    """Number the studies so that those on the same data and the same splits have the same number."""
    keys = {
        name: json.dumps([study.plan[part] for part in ("data", "perturbation", "random_state")], sort_keys=True)
        for name, study in studies.items()
    }
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys.values()))}
    return {name: numbers[key] for name, key in keys.items()}


def describe_pairing(studies: Mapping[str, "StudyTables"]) -> str:
    """Return in a sentence or two which candidates of these studies are compared split by split."""
    if len(studies) == 1:
        return "Candidates of one study: compared split by split (paired)."
    groups = set(group_by_splits(studies).values())
    if len(groups) == 1:
        return "The studies have the same data and splits: compared split by split (paired)."
    sentence = "The studies differ in data or splits: compared as independent"
    if len(groups) < len(studies):
        sentence += ", but those with the same data and splits as pairs"
    kinds = {study.records.perturbation.name for study in studies.values()}
    made = f" Resamples were made in different ways ({', '.join(sorted(kinds))}), which may explain a difference."
    return f"{sentence}.{made if len(kinds) > 1 else ''}"


def _find_candidates(studies: Mapping[str, "StudyTables"], asked: Sequence[str] | None) -> dict[str, tuple[str, str]]:
    """Study and candidate by the name in the comparison."""
    known = {
        f"{name}: {candidate}" if len(studies) > 1 else candidate: (name, candidate)
        for name, study in studies.items()
        for candidate in (study.find_comparable() if asked is None else study.candidates)
    }
    if asked is None:
        return known
    for name in asked:
        if not any(name in (full, candidate) for full, (_, candidate) in known.items()):
            raise ValueError(f"Expected one of the candidates {', '.join(list(known)[:20])}, got {name!r}.")
    chosen = {full: pair for full, pair in known.items() if full in asked or pair[1] in asked}
    for full, (name, candidate) in chosen.items():
        if candidate not in studies[name].kinds:
            raise ValueError(f"Expected candidates with finished fits, got {full}, which has none.")
    return chosen


# The summary


def summary(
    self: "StudyTables",
    measure: str | Measure | Sequence[str | Measure] | None = None,
    *,
    level: float = 0.95,
    fraction: float | None = None,
    candidates: Iterable[str] | None = None,
    X: Matrix | None = None,
    **parameters: Any,
) -> pd.DataFrame:
    """Return stability with its interval, scores with standard errors, size, time and failures of all candidates.

    All candidates are measured by one measure, on one kind of preference (see :meth:`common_measure`): ``top`` is
    how many of the best features of a ranking or weights count, where they had to be cut for that.

    The standard error of a score allows for the overlap of training sets (Nadeau and Bengio, 2003): fits on one
    data set are not independent, and the plain one would be too small. Of nested subsamples, stability and scores
    of a row are at the same sizes.

    Parameters
    ----------
    measure : str or Measure, or several of them, optional
        What to measure; by default the one for what the candidates give. Several make a row of each, indexed
        by candidate and measure.
    level : float
        Level of the intervals.
    fraction : float, optional
        Of nested subsamples, the size that stability and scores are of; by default both are means over all smaller
        sizes. 1 gives the scores of whole samples, which have no stability of this kind.
    candidates : iterable of str, optional
        Names of candidates; all by default.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the measure, as for :func:`holdfast.stability`.

    Returns
    -------
    DataFrame
        One row per candidate, or per candidate and measure.

    Raises
    ------
    ValueError
        If a fraction or a candidate is not one of the study's, or the list of candidates or measures is empty.

    See Also
    --------
    compare : Whether candidates differ.
    pareto : The best compromises of accuracy and stability.
    """
    self.stored.find_fractions(fraction)  # or a sentence that names those there are
    options = {"fraction": fraction, "X": X}
    names = self.candidates if candidates is None else as_names(candidates, "candidates=")
    if not names:
        raise ValueError("Expected at least one candidate, got none.")
    if measure is None or isinstance(measure, (str, bytes, Measure)) or not isinstance(measure, Iterable):
        common = self.common_measure(names, measure)
        rows = [_make_row(self, name, common, level, {**options, **parameters}) for name in names]
        return pd.DataFrame(rows).set_index("candidate")
    measures = bind_parameters([find_measure(name) for name in measure], parameters)
    if not measures:
        raise ValueError("Expected at least one measure, got none.")
    common_measures = [self.common_measure(names, chosen) for chosen in measures]
    rows = [
        {**_make_row(self, name, common, level, options), "measure": chosen.label}
        for name in names
        for chosen, common in zip(measures, common_measures, strict=True)
    ]
    return pd.DataFrame(rows).set_index(["candidate", "measure"])


def _make_row(
    study: "StudyTables", name: str, common: CommonMeasure, level: float, options: dict[str, Any]
) -> dict[str, Any]:
    number, outcomes = study.stored.row(name)["candidate"], study.stored.find_outcomes(name)
    row: dict[str, Any] = {
        "candidate": name, "family": study.family(name), "measure": None, "top": None, "stability": math.nan,
        "low": math.nan, "high": math.nan, "reason": None, "runs": 0, "size": math.nan,
    }  # fmt: skip
    try:
        with warnings.catch_warnings(action="ignore", category=UndefinedStabilityWarning):
            estimate = common.estimate(study, name, **options)
    except ValueError as error:
        row["reason"] = str(error)
    else:
        low, high = study.interval(name, estimate, level)
        row |= {
            "measure": estimate.measure, "top": None if outcomes["kind"].iloc[0] == "subset" else common.top,
            "stability": estimate.value, "low": low, "high": high,
            "reason": estimate.note, "runs": estimate.n_runs,
            "size": math.nan if estimate.mean_size is None else estimate.mean_size,
        }  # fmt: skip
    for metric in study.metrics:
        scores, splits = study.split_scores(name, metric, fraction=options["fraction"])
        row[metric] = float(scores.mean()) if len(scores) else math.nan
        row[f"{metric}_se"] = corrected_error(np.asarray(scores, dtype=np.float64), splits)
    row["seconds"] = outcomes["seconds"].mean() if len(outcomes) else math.nan
    row["failures"] = int((study.stored.failures["candidate"] == number).sum())
    return row


# Scores


def corrected_error(values: NDArray[np.float64], splits: pd.DataFrame) -> float:
    """Standard error of a mean score over splits that share training rows (Nadeau and Bengio, 2003).

    The variance times 1/J + tested/trained rows.
    """
    if values.size < 2:
        return math.nan
    ratio = (splits["n_test"] / splits["n_rows"]).mean()
    return float(np.sqrt((1 / values.size + ratio) * values.var(ddof=1)))


def score_range(scorer: object) -> Range:
    """Return the least and the largest value of a score by scikit-learn's name of it; no bounds for any other scorer.

    Examples
    --------
    >>> from holdfast.study.stabilities import score_range
    >>> score_range("roc_auc"), score_range("r2")
    (Range(low=0.0, high=1.0), Range(low=-inf, high=1.0))
    """
    record = SCORES.get(scorer) if isinstance(scorer, str) else None
    return UNBOUNDED if record is None else record.range


def mean_score_interval(
    scores: "pd.Series[float] | NDArray[np.float64]", splits: pd.DataFrame, bounds: Range, level: float
) -> Interval:
    r"""Return the interval of a mean score, inside the range of the score.

    Student's interval with the standard error of Nadeau and Bengio (2003), made on the scale of
    :math:`\log\frac{x - low}{high - x}` where the score has two bounds, of :math:`\log(high - x)` where it has an upper
    one alone, and of the score itself where it has none. If every split reaches a bound of a score that has two, the
    other end is that of Wilson's interval for the number of held-out rows that so many overlapping splits are worth,
    :math:`n_{test} / (1/J + n_{test}/n_{train})`.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from holdfast.models.scores import Range
    >>> from holdfast.study.stabilities import mean_score_interval
    >>> splits = pd.DataFrame({"n_test": [10] * 4, "n_rows": [30] * 4})
    >>> low, high = mean_score_interval(np.array([1.0, 0.9, 1.0, 0.9]), splits, Range(0.0, 1.0), 0.95)
    >>> round(low, 3), round(high, 3)
    (0.498, 0.997)
    >>> round(mean_score_interval(np.ones(4), splits, Range(0.0, 1.0), 0.95).low, 3)
    0.629
    """
    values = np.asarray(scores, dtype=np.float64)
    if not values.size:
        return Interval(math.nan, math.nan)
    mean, error = float(values.mean()), corrected_error(values, splits)
    quantile = float(stdtrit(max(values.size - 1, 1), (1 + level) / 2))
    low, high = bounds
    if math.isnan(error) or math.isinf(high) or not low <= mean <= high:  # a custom scorer may leave the range
        return Interval(mean - quantile * error, mean + quantile * error)
    if math.isinf(low):
        distance = high - mean
        factor = math.exp(quantile * error / distance) if distance else 1.0
        return Interval(high - distance * factor, high - distance / factor)
    if mean in (low, high):
        n_test, ratio = splits["n_test"].mean(), (splits["n_test"] / splits["n_rows"]).mean()
        n_effective = float(n_test / (1 / len(splits) + ratio))
        reach = (high - low) * (quantile**2 / (n_effective + quantile**2))
        return Interval(high - reach, high) if mean == high else Interval(low, low + reach)
    share = (mean - low) / (high - low)
    reach = quantile * error / (high - low) / (share * (1 - share))
    ends = expit(logit(share) + np.array([-reach, reach]))
    return Interval(*(float(end) for end in low + (high - low) * ends))
