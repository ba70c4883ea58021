"""What linear models do with each selected feature beside the others: the share of models that agree, and words."""

import json
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import binom

from holdfast.preferences import Preferences
from holdfast.study.result import StudyResult
from holdfast.tradeoff.effects import class_name, find_shown
from holdfast.tradeoff.information import Information

COLUMNS = ("coefficient", "model_agreement", "model_use")


@dataclass(frozen=True, eq=False)
class ModelUse:
    """What linear models do with features.

    Attributes
    ----------
    frame : DataFrame
        Indexed by the feature's column: the mean ``coefficient``, the share of the models whose coefficient has the
        sign of the majority (``model_agreement``), and that in words (``model_use``).
    missing : str or None
        Why it is not known, or not put into words.
    """

    frame: pd.DataFrame
    missing: str | None = None


def model_use(
    result: StudyResult, candidate: str, runs: Preferences, information: Information, level: float
) -> ModelUse:
    """Count the signs of each feature's coefficient over the models of the resamples that selected it.

    A sign is put into words only if the candidate is shown to predict better than guessing: on noise, too, the models
    of resamples that share rows agree. The majority must then differ from one half by the sign test, with the procedure
    of Benjamini and Hochberg over all features of the study. That describes models of resamples of this data set.
    """
    missing = result.no_model_use(candidate)
    if missing is not None:
        return ModelUse(pd.DataFrame(columns=list(COLUMNS)), missing)
    columns, values = _find_coefficients(result, candidate, runs)
    used, place = np.unique(columns, return_inverse=True)
    n, positive, negative = (
        np.bincount(place, flags, used.size) for flags in (np.isfinite(values), values > 0, values < 0)
    )
    most = np.maximum(positive, negative)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean, agreement = np.bincount(place, np.nan_to_num(values), used.size) / n, most / n
    shown, _ = find_shown(np.minimum(2 * binom.sf(most - 1, n, 0.5), 1.0), 1 - level, len(result.feature_names))
    informative = information.untested is None and information.shown
    words = [
        _describe(result, bool(up), float(share), bool(stated)) if informative and share == share else None
        for up, share, stated in zip(positive >= negative, agreement, shown, strict=True)
    ]
    frame = pd.DataFrame(dict(zip(COLUMNS, [mean, agreement, words], strict=True)), index=used)
    return ModelUse(frame, None if informative else "the models were not shown to predict better than guessing")


def _find_coefficients(
    result: StudyResult, candidate: str, runs: Preferences
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Feature and coefficient of every selection by the resamples that count."""
    counted = set(result.split_numbers(runs).tolist())
    parts = [part for part in result.model_coefficients(candidate) if part.split in counted]
    columns = np.concatenate([np.empty(0, np.int64), *(part.features for part in parts)])
    return columns, np.concatenate([np.empty(0), *(part.values.astype(np.float64) for part in parts)])


def _describe(result: StudyResult, up: bool, share: float, shown: bool) -> str:
    percent = "more than 99 %" if 0.995 <= share < 1 else f"{100 * share:.0f} %"
    if not shown:
        return "one sign in all of its models, too few to tell" if share == 1 else f"points both ways: {percent}"
    return f"{_describe_sign(result, up)} in {percent} of its models"


def _describe_sign(result: StudyResult, up: bool) -> str:
    if result.classes is None:
        return f"{'raises' if up else 'lowers'} the predicted {result.data.target or 'target'}"
    toward = class_name(result.classes[int(up)])
    models_odds = "LogisticRegression" in json.dumps(result.plan["estimator"])
    return f"raises the odds of {toward}" if models_odds else f"moves predictions toward {toward}"
