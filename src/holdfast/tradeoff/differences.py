"""Significance tests of the difference between two candidates' scores, as the design of the study allows."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtr, stdtr

from holdfast.study.orders import UnansweredError
from holdfast.study.result import StudyResult
from holdfast.study.summary import corrected_error
from holdfast.tradeoff.points import Point, Points

Test: TypeAlias = Literal["mcnemar", "resampled-t"]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """How much better one candidate predicts than another, and how probable that is without any difference.

    Attributes
    ----------
    difference : float
        Score of the better one minus that of the other; for McNemar's test the share of rows.
    p_value : float
        Two-sided; ``nan`` if there is nothing to compare.
    test : {"mcnemar", "resampled-t"}
        How it was found.
    """

    difference: float
    p_value: float
    test: Test

    @property
    def worse(self) -> bool:
        """Whether the other one did worse at all."""
        return self.difference > 0


def mcnemar(right: NDArray[np.bool_], other: NDArray[np.bool_]) -> Difference:
    """McNemar's exact test on one held-out prediction per row: how often one is right where the other is wrong.

    Parameters
    ----------
    right, other : array of bool
        Whether the prediction of each row was right, by the first model and by the other.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.tradeoff.differences import mcnemar
    >>> round(mcnemar(np.array([True] * 9 + [False]), np.array([False] * 8 + [True, False])).p_value, 4)
    0.0078
    """
    gained, lost = int((right & ~other).sum()), int((other & ~right).sum())
    p = min(1.0, 2 * float(bdtr(min(gained, lost), gained + lost, 0.5))) if gained + lost else 1.0
    return Difference(difference=(gained - lost) / right.size, p_value=p, test="mcnemar")


def resampled_t(differences: NDArray[np.float64], splits: pd.DataFrame) -> Difference:
    """Corrected resampled t-test (Nadeau and Bengio, 2003) on differences of scores, run by run.

    Runs on one data set share rows; the plain t-test takes them for independent and finds differences where there are
    none. The variance is multiplied by 1/J + tested/trained rows instead of 1/J.
    """
    if differences.size < 2:
        return Difference(difference=float(np.mean(differences)), p_value=np.nan, test="resampled-t")
    mean, error = float(differences.mean()), corrected_error(differences, splits)
    if error == 0:
        return Difference(difference=mean, p_value=1.0 if mean == 0 else 0.0, test="resampled-t")
    p = 2 * float(stdtr(differences.size - 1, -abs(mean / error)))
    return Difference(difference=mean, p_value=p, test="resampled-t")


def usual_test(points: Points) -> Test:
    """McNemar's test where every row was predicted once and classes are counted; else the corrected t-test.

    Pooling repeated predictions of one row for McNemar's test would reject a true null in two thirds of cases.
    """
    if points.metric != "accuracy" or points.result.classes is None:
        return "resampled-t"
    return "mcnemar" if all(_predicts_rows_once(points.result, point) for point in points.points) else "resampled-t"


def _predicts_rows_once(result: StudyResult, point: Point) -> bool:
    if point.splits["n_test"].sum() > result.data.rows:
        return False  # more predictions than rows: there is no need to read them
    rows = result.predictions(point.candidate)["row"]
    return len(rows) > 0 and rows.is_unique


def differ(points: Points, best: Point, other: Point, test: Test) -> Difference:
    """Test whether one candidate predicts better than another."""
    if test == "mcnemar":
        rights = [_is_right(points.result, point.candidate) for point in (best, other)]
        both = pd.concat(rights, axis=1, join="inner", keys=("best", "other"))
        if both.empty:
            raise ValueError(f"No row was predicted by both {best.candidate} and {other.candidate}.")
        return mcnemar(both["best"].to_numpy(dtype=bool), both["other"].to_numpy(dtype=bool))
    difference = (best.scores - other.scores).dropna()
    return resampled_t(np.asarray(difference, dtype=np.float64), best.splits.loc[difference.index])


def _is_right(result: StudyResult, candidate: str) -> "pd.Series[bool]":
    """Whether the one prediction of each row was right."""
    predictions = result.predictions(candidate)
    if predictions.empty:
        raise UnansweredError(
            f"{candidate} has no stored predictions; run the study with keep_predictions=True.",
            "McNemar's test needs predictions of held-out rows, which were not stored",
        )
    if not predictions["row"].is_unique:
        raise UnansweredError(
            "Expected one held-out prediction per row for McNemar's test, as single folds give it, got several; "
            "pooling them makes the test find differences that are not there. Use test='resampled-t'.",
            "rows were predicted several times, and McNemar's test takes one prediction of each",
        )
    return (predictions["truth"] == predictions["predicted"]).set_axis(predictions["row"])
