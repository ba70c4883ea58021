"""The summary of a study: one row per candidate, or per candidate and measure."""

import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.checks import Matrix
from holdfast.inference.evaluation import bind_parameters
from holdfast.measures import Measure, UndefinedStabilityWarning, find_measure
from holdfast.study.common_measure import CommonMeasure

if TYPE_CHECKING:
    from holdfast.study.stabilities import StudyStabilities


def make_summary(
    result: "StudyStabilities",
    measure: str | Measure | Sequence[str | Measure] | None,
    level: float,
    fraction: float | None,
    candidates: Iterable[str] | None,
    X: Matrix | None,
    parameters: dict[str, Any],
) -> pd.DataFrame:
    """See :meth:`StudyResult.summary`."""
    result.stored.fractions(fraction)  # or a sentence that names those there are
    options = {"fraction": fraction, "X": X}
    names = result.candidates if candidates is None else [str(name) for name in candidates]
    if not names:
        raise ValueError("Expected at least one candidate, got none.")
    if measure is None or isinstance(measure, (str, Measure)):
        common = result.common_measure(names, measure)
        rows = [_make_row(result, name, common, level, {**options, **parameters}) for name in names]
        return pd.DataFrame(rows).set_index("candidate")
    measures = bind_parameters([find_measure(name) for name in measure], parameters)
    if not measures:
        raise ValueError("Expected at least one measure, got none.")
    common_measures = [result.common_measure(names, chosen) for chosen in measures]
    rows = [
        {**_make_row(result, name, common, level, options), "measure": chosen.label}
        for name in names
        for chosen, common in zip(measures, common_measures, strict=True)
    ]
    return pd.DataFrame(rows).set_index(["candidate", "measure"])


def _make_row(
    result: "StudyStabilities", name: str, common: CommonMeasure, level: float, options: dict[str, Any]
) -> dict[str, Any]:
    stored = result.stored
    number, outcomes = stored.row(name)["candidate"], stored.find_outcomes(name)
    row: dict[str, Any] = {
        "candidate": name, "family": result.family(name), "measure": None, "top": None, "stability": math.nan,
        "low": math.nan, "high": math.nan, "reason": None, "runs": 0, "size": math.nan,
    }  # fmt: skip
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedStabilityWarning)
            estimate = result.stability(name, common.measure, top=common.top_of(result.kinds.get(name)), **options)
    except ValueError as error:
        row["reason"] = str(error)
    else:
        low, high = result.interval(name, estimate, level)
        row |= {
            "measure": estimate.measure, "top": None if outcomes["kind"].iloc[0] == "subset" else common.top,
            "stability": estimate.value, "low": low, "high": high,
            "reason": estimate.note, "runs": estimate.n_runs,
            "size": math.nan if estimate.mean_size is None else estimate.mean_size,
        }  # fmt: skip
    return {
        **row,
        **_average_scores(result, name, options["fraction"]),
        "seconds": outcomes["seconds"].mean() if len(outcomes) else math.nan,
        "failures": int((stored.failures["candidate"] == number).sum()),
    }


def _average_scores(result: "StudyStabilities", candidate: str, fraction: float | None) -> dict[str, float]:
    """Each score's mean over splits, and its standard error."""
    columns = {}
    for metric in result.metrics:
        scores, splits = result.split_scores(candidate, metric, fraction=fraction)
        columns[metric] = float(scores.mean()) if len(scores) else math.nan
        columns[f"{metric}_se"] = corrected_error(np.asarray(scores, dtype=np.float64), splits)
    return columns


def corrected_error(values: NDArray[np.float64], splits: pd.DataFrame) -> float:
    """Standard error of a mean score over splits that share training rows (Nadeau and Bengio, 2003).

    The variance times 1/J + tested/trained rows.
    """
    if values.size < 2:
        return math.nan
    ratio = (splits["n_test"] / splits["n_rows"]).mean()
    return float(np.sqrt((1 / values.size + ratio) * values.var(ddof=1)))


def describe_resamples(result: "StudyStabilities") -> str:
    """Return how many resamples there were, and what they are; splits that only serve the score do not count."""
    measured = result.split_table[result.split_table["measured"].astype(bool)]
    return result.records.perturbation.methods.format(n=len(measured), blocks=measured["block"].nunique())
