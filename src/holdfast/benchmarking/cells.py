"""The cells of a benchmark: one row per data set and candidate, with score, stability, and why one is missing."""

import math
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from holdfast.measures import Measure
from holdfast.study import StudyResult
from holdfast.study.common_measure import CommonMeasure

COLUMNS = {
    "score": float, "score_se": float, "score_low": float, "score_high": float, "stability": float, "low": float,
    "high": float, "size": float, "runs": int, "failures": int, "on_front": bool,
}  # fmt: skip
NUMBERS_OF_FEATURES = ("n_features", "k", "n_features_to_select")
"""Parameters by which selectors of holdfast and scikit-learn are told how many features to select."""


def make_cells(
    results: Mapping[str, StudyResult],
    failures: Mapping[str, str],
    names: list[str],
    metric: str | None,
    measure: Measure | None,
    level: float,
) -> pd.DataFrame:
    """Return one row per data set and candidate; what is missing is ``nan`` with a ``reason``."""
    rows = [
        {"dataset": dataset, "candidate": name, **row}
        for dataset, result in results.items()
        for name, row in _describe_candidates(result, names, metric, measure, level).items()
    ]
    rows += [
        {"dataset": dataset, "candidate": name, **_missing(reason)}
        for dataset, reason in failures.items()
        for name in names
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "candidate", *COLUMNS, "reason"])
    reasons = [reason if isinstance(reason, str) and reason else None for reason in frame["reason"]]
    return frame.astype(COLUMNS).assign(reason=pd.Series(reasons, dtype=object))


def list_candidates(results: Iterable[StudyResult]) -> list[str]:
    """Return the names of all candidates, in the order of the study."""
    return list(dict.fromkeys(name for result in results for name in result.candidates))


def _missing(reason: str) -> dict[str, Any]:
    empty = {name: np.nan if kind is float else kind() for name, kind in COLUMNS.items()}
    return {**empty, "reason": reason}


def _describe_candidates(
    result: StudyResult, names: list[str], metric: str | None, measure: Measure | None, level: float
) -> dict[str, dict[str, Any]]:
    problems = {name: _find_problem(result, name) for name in names}
    sound = [name for name, problem in problems.items() if problem is None]
    common = result.common_measure(sound, measure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores, no_score = _score_candidates(result, sound, metric, measure, level)
        rows = {name: _describe_stability(result, name, common, level) for name in sound}
    for name, row in rows.items():
        if scores is not None:
            row |= {key: scores.loc[name, key] for key in ("score", "score_se", "score_low", "score_high", "on_front")}
        if np.isnan(row["score"]):
            row["reason"] = "; ".join(filter(None, [row["reason"], no_score or "it has no score"]))
    return {name: _missing(problem) if problem is not None else rows[name] for name, problem in problems.items()}


def _describe_stability(result: StudyResult, name: str, common: CommonMeasure, level: float) -> dict[str, Any]:
    failures = int((result.failures["candidate"] == name).sum())
    try:
        estimate = result.stability(name, common.measure, top=common.top_of(result.kinds.get(name)))
    except ValueError as error:
        return _missing(getattr(error, "plain", str(error))) | {"failures": failures}
    low, high = result.interval(name, estimate, level)
    size = math.nan if estimate.mean_size is None else estimate.mean_size
    reason = estimate.note if math.isnan(estimate.value) else None
    return _missing(reason or "") | {
        "stability": estimate.value, "low": low, "high": high, "size": size, "runs": estimate.n_runs,
        "failures": failures,
    }  # fmt: skip


def _score_candidates(
    result: StudyResult, names: list[str], metric: str | None, measure: Measure | None, level: float
) -> tuple[pd.DataFrame | None, str]:
    """Return scores with intervals and who is on the front, or why there are none."""
    if not names:
        return None, ""
    if metric is None:
        return None, "the data sets have no score in common"
    if metric not in result.metrics:
        return None, f"this data set has no score {metric}"
    try:
        return result.pareto(metric, measure, candidates=names, level=level, n_draws=2).frame, ""
    except ValueError as error:
        return None, getattr(error, "plain", str(error))


def _find_problem(result: StudyResult, name: str) -> str | None:
    """Return why a candidate has neither score nor stability on a data set; None if it may have them."""
    if name not in result.candidates:
        return "the study on this data set has no such candidate"
    if name not in result.finished:
        errors = result.failures.loc[result.failures["candidate"] == name, "error"]
        return f"every fit failed: {errors.value_counts().index[0]}" if len(errors) else "no fit has finished"
    wanted, n_features = _wanted_size(result, name), len(result.feature_names)
    if wanted is not None and wanted > n_features:
        return f"it asks for {wanted} features, and there are {n_features}"
    return None


def _wanted_size(result: StudyResult, name: str) -> int | None:
    """Return how many features a candidate is told to select; None if it decides itself."""
    described = result.selectors.get(result.family(name))
    parameters: Any = next(iter(described.values()), None) if isinstance(described, Mapping) else None
    own = parameters if isinstance(parameters, Mapping) else {}
    setting = result.settings(name)
    sizes = [result.size_of(name), *(source.get(key) for source in (setting, own) for key in NUMBERS_OF_FEATURES)]
    return next((size for size in sizes if isinstance(size, int) and not isinstance(size, bool)), None)
