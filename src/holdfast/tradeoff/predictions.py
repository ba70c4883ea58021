"""Agreement of predictions: whether fits that select different features also predict differently."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.cards import Card, draw_intervals, make_bar
from holdfast.result_base import ResultMixin
from holdfast.study.tables import StudyTables

STEADY = 0.75  # a stability from which sets count as alike ("excellent")
SAME = 0.6  # an agreement above chance from which predictions count as alike ("substantial", Landis and Koch 1977)


@dataclass(frozen=True, kw_only=True)
class PredictionAgreement(ResultMixin):
    """Agreement of predictions: how far models of different resamples agree on rows that both held out.

    Attributes
    ----------
    candidate : str
        Its name.
    value : float
        Agreement above chance, 1 if all models predict the same and 0 if they agree as models would that predict at
        random: Fleiss' kappa for classes, the intraclass correlation for numbers. ``nan`` if it is undefined.
    observed, expected : float
        For classes, the share of equal predictions, and that by chance; ``nan`` for numbers.
    stability : float
        The stability of the selection.
    n_rows : int
        Rows that at least two resamples held out.
    verdict : str
        What the two mean together.

    See Also
    --------
    holdfast.StudyResult.prediction_agreement : Makes it.

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
    >>> agreement = result.prediction_agreement("anova(size=2)")
    >>> round(agreement.value, 3), agreement.verdict
    (0.948, 'the selections agree')
    """

    candidate: str
    value: float
    observed: float
    expected: float
    stability: float
    n_rows: int
    verdict: str

    def _card(self) -> Card:
        values = {"predictions": self.value, "selections": self.stability}
        bars = [make_bar(name, value, math.nan, math.nan) for name, value in values.items()]
        return Card(
            title=f"Agreement of predictions of {self.candidate}", verdict=self.verdict, picture=draw_intervals(bars),
            frame=self.to_frame().drop(columns=["candidate", "verdict"]),
        )  # fmt: skip

    def __repr__(self) -> str:
        return (
            f"{self.candidate}: predictions of two resamples agree {self.value:.3f} above chance ({self.n_rows} rows), "
            f"selections {self.stability:.3f}: {self.verdict}"
        )


def prediction_agreement(result: StudyTables, candidate: str) -> PredictionAgreement:
    """Measure whether fits that select different features also predict differently.

    Compared are the predictions of any two resamples for rows that both held out. If they agree and the selections do
    not, features stand in for each other: any of the selections would do. If neither agrees, it is noise.

    Parameters
    ----------
    result : StudyResult
        What a study found; its predictions must have been stored.
    candidate : str
        Name of a candidate.

    Returns
    -------
    PredictionAgreement
        Agreement of predictions above chance, with the stability of the selection.
    """
    predictions = result.predictions(candidate)
    stability = result.stability(candidate).value
    shared = predictions.groupby("row")["row"].transform("size") > 1
    predictions = predictions[shared.to_numpy(dtype=bool)]
    if predictions.empty:
        value = observed = expected = math.nan
        verdict = "no row was held out by two resamples; repeat folds, or use bootstraps or subsamples"
    else:
        agree = _agree_on_numbers if result.classes is None else _agree_on_classes
        value, observed, expected = agree(predictions)
        verdict = _judge(value, stability)
    return PredictionAgreement(
        candidate=candidate, value=value, observed=observed, expected=expected, stability=stability,
        n_rows=int(predictions["row"].nunique()), verdict=verdict,
    )  # fmt: skip


def _agree_on_classes(predictions: pd.DataFrame) -> tuple[float, float, float]:
    """Equal predictions of one row, over all pairs of resamples that held it out, above chance."""
    table = pd.crosstab(predictions["row"], predictions["predicted"]).to_numpy(dtype=np.float64)
    times = table.sum(axis=1)
    observed = float((table * (table - 1)).sum() / (times * (times - 1)).sum())
    share: NDArray[np.float64] = table.sum(axis=0) / table.sum()
    expected = float((share**2).sum())
    return (observed - expected) / (1 - expected) if expected < 1 else math.nan, observed, expected


def _agree_on_numbers(predictions: pd.DataFrame) -> tuple[float, float, float]:
    """Share of the variance of predictions that lies between rows: the one-way intraclass correlation."""
    by_row = predictions["predicted"].astype(float).groupby(predictions["row"])
    times, means = by_row.size().to_numpy(), by_row.mean().to_numpy()
    within = float((by_row.var(ddof=1).to_numpy() * (times - 1)).sum() / (times - 1).sum())
    grand = float((times * means).sum() / times.sum())
    n0 = (times.sum() - (times**2).sum() / times.sum()) / max(times.size - 1, 1)
    between = float((times * (means - grand) ** 2).sum() / max(times.size - 1, 1))
    above = (between - within) / n0
    return above / (above + within) if above + within > 0 else math.nan, math.nan, math.nan


def _judge(value: float, stability: float) -> str:
    if math.isnan(value) or math.isnan(stability):
        return "undefined: all predictions, or all selections, are the same class or empty"
    if stability >= STEADY:
        return "the selections agree" + ("" if value >= SAME else ", the predictions less so: the model is unsteady")
    if value >= SAME:
        return "the selections differ, the predictions hardly do: features stand in for each other"
    return "selections and predictions both differ: noise"
