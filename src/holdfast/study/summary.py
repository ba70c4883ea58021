"""The summary of a study: one row per candidate, or per candidate and measure."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from holdfast.checks import Matrix
from holdfast.inference.evaluation import bind_parameters
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.study.footing import Footing
from holdfast.study.result import StudyResult, corrected_error


def summary_table(
    result: StudyResult,
    measure: str | Measure | Sequence[str | Measure] | None,
    level: float,
    fraction: float | None,
    X: Matrix | None,
    parameters: dict[str, Any],
) -> pd.DataFrame:
    """See :meth:`StudyResult.summary`."""
    result.stored.sizes(fraction)  # or a sentence that names those there are
    options = {"fraction": fraction, "X": X}
    if measure is None or isinstance(measure, (str, Measure)):
        footing = result.footing(measure=measure)
        rows = [_row(result, name, footing, level, {**options, **parameters}) for name in result.candidates]
        return pd.DataFrame(rows).set_index("candidate")
    measures = bind_parameters([find_measure(one) for one in measure], parameters)
    if not measures:
        raise ValueError("Expected at least one measure, got none.")
    footings = [result.footing(measure=one) for one in measures]
    rows = [
        {**_row(result, name, footing, level, options), "measure": one.label}
        for name in result.candidates
        for one, footing in zip(measures, footings, strict=True)
    ]
    return pd.DataFrame(rows).set_index(["candidate", "measure"])


def _row(result: StudyResult, name: str, footing: Footing, level: float, options: dict[str, Any]) -> dict[str, Any]:
    stored = result.stored
    row, outcomes = stored.row(name), stored.outcomes_of(name)
    told: dict[str, Any] = {
        "candidate": name, "family": row["family"], "measure": None, "top": None, "stability": math.nan,
        "low": math.nan, "high": math.nan, "reason": None, "runs": 0, "size": math.nan,
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedStabilityWarning)
            estimate = result.stability(name, footing.measure, top=footing.top, **options)
    except ValueError as error:
        told["reason"] = str(error)
    else:
        low, high = result.interval(name, estimate, level)
        told |= {
            "measure": estimate.measure, "top": None if outcomes["kind"].iloc[0] == "subset" else footing.top,
            "stability": estimate.value, "low": low, "high": high,
            "reason": estimate.note, "runs": estimate.n_runs,
            "size": math.nan if estimate.mean_size is None else estimate.mean_size,
        }  # fmt: skip
    return {
        **told,
        **_scores(result, name, options["fraction"]),
        "seconds": outcomes["seconds"].mean() if len(outcomes) else math.nan,
        "failures": int((stored.failures["candidate"] == row["candidate"]).sum()),
    }


def _scores(result: StudyResult, candidate: str, fraction: float | None) -> dict[str, float]:
    """Each score's mean over runs, and its standard error."""
    columns = {}
    for metric in result.metrics:
        scores, splits = result.stored.scores_of(candidate, metric, fraction)
        columns[metric] = float(scores.mean()) if len(scores) else math.nan
        columns[f"{metric}_se"] = corrected_error(np.asarray(scores, dtype=np.float64), splits)
    return columns
