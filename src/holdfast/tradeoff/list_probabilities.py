"""How often each feature would be on the list of features to trust, over redrawn resamples."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.checks import Matrix
from holdfast.inference.features import frequency_interval
from holdfast.measures import MEASURES, Measure
from holdfast.preferences import Preferences
from holdfast.study.common_measure import common_size, take_best
from holdfast.study.result import StudyResult
from holdfast.tradeoff.alternatives import MANY_DRAWS, choose_in_redraws
from holdfast.tradeoff.points import Floats, Points, make_points
from holdfast.tradeoff.redraws import draw_half
from holdfast.tradeoff.rules import RULES


def list_probabilities(
    result: StudyResult,
    candidate: str | None = None,
    *,
    rule: str = "one-se",
    metric: str | None = None,
    measure: str | Measure | None = None,
    candidates: Iterable[str] | None = None,
    threshold: float = 0.5,
    level: float = 0.95,
    n_draws: int | None = None,
    X: Matrix | None = None,
    **parameters: Any,
) -> "pd.Series[float]":
    """Return how probable it is that each feature is on the list of features to trust, if the study were run again.

    The resamples are redrawn; in each redraw the rule chooses a candidate, and the features of this candidate are on
    the list whose selection frequency is above the threshold by the lower end of its interval. It describes resampling
    of this data set, not new data sets.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidate : str, optional
        The candidate whose features are listed in every redraw; by default the one that the rule chooses in each.
    rule, metric : str
        How the candidate is chosen, and by which score, as for :func:`holdfast.tradeoff.choose`.
    measure : str or Measure, optional
        Measure of stability.
    candidates : iterable of str, optional
        Candidates to choose from.
    threshold : float
        Selection frequency that the interval of a feature must exceed.
    level : float
        Level of the intervals.
    n_draws : int, optional
        Number of redraws; 1000 by default.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the rule.

    Returns
    -------
    Series
        By feature, the most probable first; features that are never on the list are left out.

    See Also
    --------
    holdfast.tradeoff.choose : The probability that a candidate is chosen.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.tradeoff import list_probabilities
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20)).run(X, y)
    >>> list_probabilities(result, "anova").to_dict()
    {'petal length (cm)': 1.0, 'petal width (cm)': 1.0}
    """
    if candidate is not None:
        points = _points_of(result, candidate, level)
        times = draw_half(points, MANY_DRAWS if n_draws is None else n_draws)
        chosen = {candidate: np.arange(len(times))}
    else:
        points = make_points(result, metric, measure, candidates=candidates, level=level, X=X)
        if "level" in RULES[rule].parameters:
            parameters = {"level": level, **parameters}
        redraws, places = choose_in_redraws(points, RULES[rule], parameters, n_draws)
        times = redraws.times
        chosen = {points.names[place]: np.flatnonzero(places == place) for place in np.unique(places[places >= 0])}
    total = np.zeros(len(result.feature_names))
    for name, draws in chosen.items():
        total += _times_on_list(points, name, times[draws], threshold, level)
    listed = pd.Series(total / len(times), index=list(result.feature_names))
    return listed[listed > 0].sort_values(ascending=False, kind="stable")


def _points_of(result: StudyResult, candidate: str, level: float) -> Points:
    """The units of a study, whether it has scores or not."""
    result.family(candidate)  # or a sentence that lists the candidates
    return Points(result=result, metric="", measure=MEASURES["nogueira"], level=level, points=[])


def _times_on_list(points: Points, candidate: str, times: Floats, threshold: float, level: float) -> Floats:
    """In how many draws each feature of a candidate is on the list."""
    runs = _as_subsets(points.result, candidate)
    weights = times[:, points.units_of(pd.Index(points.result.split_numbers(runs)))]
    total = weights.sum(axis=1)
    weights = weights[total > 0] / total[total > 0, None]
    ever = np.flatnonzero(runs.counts)
    # Most features are below the threshold, so one above it is there in part by luck: one more resample without it.
    shrunk = runs.n_runs / (runs.n_runs + 1)
    counts = shrunk * runs.n_runs * np.asarray(weights @ runs.to_sparse()[:, ever].toarray())
    least = _least_count(runs.n_runs, threshold, level)
    # Half as many draws give every second count: each stands for the counts up to one away.
    on_list = np.clip((counts + 1 - (least - 0.5)) / 2, 0.0, 1.0)
    sums = np.zeros(runs.n_features)
    sums[ever] = on_list.sum(axis=0)
    return sums


def _as_subsets(result: StudyResult, candidate: str) -> Preferences:
    runs = result.preferences(candidate)
    if runs.kind == "subset":
        return runs
    top = result.common_measure(measure="nogueira").top
    return take_best(runs, top or common_size([], runs.n_features))


@lru_cache(maxsize=64)
def _least_count(n_runs: int, threshold: float, level: float) -> int:
    """The least count that shows a selection frequency above the threshold; more than all runs if none does."""
    counts: NDArray[np.int64] = np.arange(n_runs + 1)
    low, _ = frequency_interval(counts, n_runs, level)
    shown = np.flatnonzero(low > threshold)
    return int(shown[0]) if shown.size else n_runs + 2
