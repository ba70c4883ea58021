"""Measuring uploaded selections, in a worker: read the file, measure, and return all that the page shows."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.inference.designs import DesignedRuns, design_stability
from holdfast.inference.estimate import StabilityEstimate
from holdfast.io.inspection import inspect_selections
from holdfast.measures import UndefinedStabilityWarning
from holdfast.plots.swaps import swap_data
from holdfast.plots.text import format_count, format_number
from holdfast.preferences import Preferences
from holdfast.report.causes import ENOUGH, count_needed
from holdfast.report.features import show_name
from holdfast.report.measured import (
    as_subsets,
    describe_features,
    find_causes_alone,
    judge_selections,
    record_stability,
    say_no_cause,
)
from holdfast.web.selections.reading import choose_measure, parse_undefined, plain_sentence, read_runs
from holdfast.web.selections.records import Estimated, Measurement, Preview, RunsPlan, Swap
from holdfast.web.tasks import task

MOST_SWAPS = 10


@task
def measure_selections(
    path: str,
    reading: Mapping[str, Any],
    measure: str | None,
    level: float,
    undefined: str,
    half_width: float,
) -> Measurement:
    """Read selections and measure their stability."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UndefinedStabilityWarning)
        read = read_runs(Path(path), **reading)
        designed = read.designed
        chosen = choose_measure(designed.runs.kind, measure)
        estimate = design_stability(designed, chosen, undefined=parse_undefined(undefined))
    subsets, top = as_subsets(designed.runs)
    features = describe_features(subsets, level, top=top)
    return Measurement(
        kind=designed.runs.kind,
        cut_from=None if read.held == designed.runs.kind else read.held,
        layout=read.layout,
        candidates=read.candidates,
        measure=chosen,
        design=designed.design,
        estimate=Estimated(**estimate.to_dict(level)),
        stability=record_stability(estimate, level),
        verdict=judge_selections(estimate, features, level),
        features=features,
        sizes=(int(designed.runs.sizes.min()), int(designed.runs.sizes.max())) if top is None else (),
        causes=find_causes_alone(designed, estimate, features, level),
        no_cause=say_no_cause(estimate, level),
        swaps=_find_swaps(subsets),
        plan=_plan(designed, estimate, level, half_width),
        notes=(*read.notes, *dict.fromkeys(plain_sentence(str(warning.message)) for warning in caught)),
    )


def _find_swaps(subsets: Preferences) -> tuple[Swap, ...]:
    pairs = swap_data(subsets, most=MOST_SWAPS)
    clear = pairs[pairs["clear"].astype(bool)].sort_values("turns", ascending=False, kind="stable")
    return tuple(
        Swap(
            first=show_name(row["first"]), second=show_name(row["second"]), one_of_them=int(row["one_of_them"]),
            both=int(row["both"]), neither=int(row["neither"]),
        )
        for row in clear.to_dict(orient="records")
    )  # fmt: skip


def _plan(designed: DesignedRuns, estimate: StabilityEstimate, level: float, half_width: float) -> RunsPlan:
    """Plan the number of resamples for an interval of ± ``half_width``."""
    needed = count_needed(estimate, level, half_width) if designed.design == "runs" else None
    low, high = estimate.ci(level)
    count = format_count(estimate.n_runs, "resample")
    if designed.design != "runs":
        sentence = "Resamples that belong together in blocks cannot tell how many are needed."
    elif estimate.n_runs < ENOUGH:
        sentence = f"{count} cannot tell how many are needed; it takes at least {ENOUGH}."
    elif needed is None:
        sentence = "Without an interval it cannot be told how many resamples are needed."
    elif needed <= estimate.n_runs:
        sentence = f"The {count} so far are enough for ± {half_width:g}."
    else:
        sentence = (
            f"About {needed:,} resamples in all would narrow the interval from ± {format_number((high - low) / 2)} to "
            f"± {half_width:g}; they do not make the selection more stable."
        )
    return RunsPlan(half_width=half_width, needed=needed, sentence=sentence)


@task
def preview_selections(path: str) -> Preview:
    """Read the beginning of a file that leaves something open."""
    found = inspect_selections(path)
    return Preview(
        kind_reason=found.kind_reason, n_runs=found.n_runs, least_features=found.least_features, header=found.header,
        rows=found.preview,
    )  # fmt: skip
