"""A list of features checked name by name: how often each was selected, and what that says of it."""

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from holdfast.inference.features import frequency_interval
from holdfast.inference.intervals import check_level
from holdfast.study import StudyResult
from holdfast.tradeoff.information import Information, compare_with_guessing
from holdfast.tradeoff.stand_ins import Frequencies, count_frequencies

if TYPE_CHECKING:
    pass

HOLDS = "holds"
OFTEN = "selected often"
UNTESTED = f"{OFTEN}; whether it carries information was not tested"
NOT_SHOWN = f"{OFTEN}; not shown to carry information"
NOT_ABOVE_CHANCE = "not shown to exceed chance"
AT_MOST_TWICE = "at most twice as often as by chance"


def check_features(
    features: Iterable[Any],
    result: StudyResult,
    candidate: str | None = None,
    *,
    X: Any = None,
    level: float = 0.95,
    threshold: float = 0.5,
    top: int | None = None,
    metric: str | None = None,
) -> pd.DataFrame:
    """Check a list of features against the resamples of a candidate, name by name.

    Parameters
    ----------
    features : iterable of str or int
        Names of features, or columns where features have no names.
    result : StudyResult
        What a study found.
    candidate : str, optional
        Name of a candidate; needed if there are several.
    X : frame or array, optional
        The data; stand-ins must then be correlated too.
    level : float
        Level of the intervals.
    threshold : float
        Share of the resamples that a feature should be selected in.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.
    metric : str, optional
        The score by which the candidate must predict better than guessing; the study's first by default.

    Returns
    -------
    DataFrame
        One row per name: ``count``, ``frequency``, ``low``, ``high``, its ``stand_ins``, the share of the resamples
        that selected it or a stand-in (``with_stand_ins``), and a ``verdict``:

        - *holds*: the interval of its frequency is above the threshold, and the candidate predicts held-out rows
          better than guessing,
        - *selected often*: the interval is above the threshold, but that the features carry information was not
          shown, or not tested, as the verdict goes on to say,
        - *takes turns*: only together with its stand-ins,
        - *undecided*: the interval holds the threshold,
        - *does not hold*: the interval is below the threshold, but above chance,
        - *not shown to exceed chance*: the interval holds the frequency of features drawn at random, which is the mean
          number of selected features over the number of all,
        - *at most twice as often as by chance*: the interval ends at or below twice that frequency,
        - *unknown*: no feature of the study has this name.

    See Also
    --------
    StudyResult.final_features : The features of a candidate.
    feature_table : How often each feature was selected.

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
    >>> names = ["petal width (cm)", "sepal width (cm)", "petal color"]
    >>> checked = hf.check_features(names, result, "anova(size=2)")
    >>> checked[["count", "frequency", "verdict"]].reset_index()
                feature  count  frequency                              verdict
    0  petal width (cm)     20        1.0                                holds
    1  sepal width (cm)      0        0.0  at most twice as often as by chance
    2       petal color      0        NaN                              unknown
    """
    check_level(level)
    name = _choose_only_candidate(result, candidate)
    frequencies = count_frequencies(result, name, top, X)
    often = often_label(compare_with_guessing(result, name, metric))
    column = {str(feature): place for place, feature in enumerate(frequencies.runs.features)}
    names = list(features)
    places = [column.get(str(feature)) for feature in names]
    known = check_columns([place for place in places if place is not None], frequencies, level, threshold, often)
    rows = [
        {"feature": name, **(UNKNOWN if place is None else known[place])}
        for name, place in zip(names, places, strict=True)
    ]
    columns = ["feature", *UNKNOWN]
    return pd.DataFrame(rows, columns=columns).set_index("feature")


def often_label(information: Information) -> str:
    """The verdict on a feature that is selected often: it holds only if the features carry information."""
    if information.untested:
        return UNTESTED
    return HOLDS if information.shown else NOT_SHOWN


def _choose_only_candidate(result: StudyResult, candidate: str | None) -> str:
    if candidate is not None:
        return candidate
    if len(result.candidates) > 1:
        raise ValueError(
            f"Expected candidate= to say which of {len(result.candidates)} to check the list against, got none "
            f"({', '.join(result.candidates[:10])})."
        )
    return result.candidates[0]


UNKNOWN: dict[str, Any] = {
    "count": 0, "frequency": math.nan, "low": math.nan, "high": math.nan, "with_stand_ins": math.nan, "stand_ins": (),
    "verdict": "unknown",
}  # fmt: skip
"""What is said of a name that no feature of the study has."""


def check_columns(
    columns: Sequence[int], frequencies: Frequencies, level: float, threshold: float, often: str
) -> dict[int, dict[str, Any]]:
    """What is said of features of the study, by column."""
    runs = frequencies.runs
    low, high = frequencies.intervals(columns, level)
    together = frequencies.together(columns)
    joint, _ = frequency_interval(np.round(together * runs.n_runs).astype(np.int64), runs.n_runs, level)
    return {
        column: {
            "count": int(runs.counts[column]), "frequency": float(runs.frequency[column]), "low": float(low[place]),
            "high": float(high[place]), "with_stand_ins": float(together[place]),
            "stand_ins": frequencies.names(column),
            "verdict": often if low[place] > threshold
            else _judge_rare(low[place], high[place], joint[place], runs.density, threshold),
        }
        for place, column in enumerate(columns)
    }  # fmt: skip


def _judge_rare(low: float, high: float, joint: float, chance: float, threshold: float) -> str:
    """The verdict on a feature whose frequency is not shown to be above the threshold.

    ``joint`` is the lower end of the frequency of it or its stand-ins, ``chance`` that of a feature drawn at random.
    """
    if low > chance and joint > threshold:
        return "takes turns"
    if low <= chance and high < threshold:
        return AT_MOST_TWICE if high <= 2 * chance else NOT_ABOVE_CHANCE
    return "does not hold" if high < threshold else "undecided"
