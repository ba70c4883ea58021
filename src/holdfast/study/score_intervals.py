"""Intervals of mean scores that stay inside the range of the score."""

import math

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit, stdtrit

from holdfast.inference.intervals import Interval
from holdfast.models.scores import SCORES, UNBOUNDED, Range
from holdfast.study.summary import corrected_error


def score_range(scorer: object) -> Range:
    """Return the least and the largest value of a score by scikit-learn's name of it; no bounds for any other scorer.

    Examples
    --------
    >>> from holdfast.study.score_intervals import score_range
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
    >>> from holdfast.study.score_intervals import mean_score_interval
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
    if math.isnan(error) or not low <= mean <= high:  # a scorer of one's own by a known name may leave the range
        return Interval(mean - quantile * error, mean + quantile * error)
    if math.isinf(high):
        return Interval(mean - quantile * error, mean + quantile * error)
    if math.isinf(low):
        return _below(mean, error, high, quantile)
    if mean in (low, high):
        return _at_bound(mean, bounds, _effective_rows(splits), quantile)
    share = (mean - low) / (high - low)
    reach = quantile * error / (high - low) / (share * (1 - share))
    ends = expit(logit(share) + np.array([-reach, reach]))
    return Interval(*(float(end) for end in low + (high - low) * ends))


def _below(mean: float, error: float, high: float, quantile: float) -> Interval:
    """The interval of a score with an upper bound alone, by the logarithm of the distance from it."""
    distance = high - mean
    if distance == 0:
        return Interval(mean, mean)
    factor = math.exp(quantile * error / distance)
    return Interval(high - distance * factor, high - distance / factor)


def _at_bound(mean: float, bounds: Range, rows: float, quantile: float) -> Interval:
    """Wilson's interval where every held-out row was predicted rightly, or every one wrongly."""
    low, high = bounds
    open_share = quantile**2 / (rows + quantile**2)
    if mean == high:
        return Interval(high - (high - low) * open_share, high)
    return Interval(low, low + (high - low) * open_share)


def _effective_rows(splits: pd.DataFrame) -> float:
    """As many independent held-out rows as these overlapping splits are worth."""
    n_test, ratio = splits["n_test"].mean(), (splits["n_test"] / splits["n_rows"]).mean()
    return float(n_test / (1 / len(splits) + ratio))
