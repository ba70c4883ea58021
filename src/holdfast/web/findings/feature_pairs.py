"""The features of two candidates: how often each selects them, how many they share, and maps with the same columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast import plots
from holdfast.inference.designs import DesignedRuns
from holdfast.inference.features import Standing, compare_standings, frequency_interval
from holdfast.plots.sources import BLOCKS
from holdfast.plots.text import display_names, format_count
from holdfast.preferences import Preferences
from holdfast.report.features import record_map, show_name
from holdfast.report.records import SelectionMap

OFTEN = 0.5
"""Selection frequency that the interval of a feature that is selected often exceeds."""
MOST_FEATURES, MOST_COLUMNS = 200, 60
"""Features of the table, and columns of the maps."""


@dataclass(frozen=True, kw_only=True)
class FeaturePair:
    """How often two candidates selected one feature.

    Attributes
    ----------
    feature : str
        Its name.
    place : int
        Its column in the data, from 0.
    first, first_low, first_high : float
        Selection frequency by the first candidate, and its interval.
    second, second_low, second_high : float
        The same for the second candidate.
    standing : {"first only", "second only", "both", "neither", "open"}
        Who selects it in more than half of the resamples, where both intervals say so; ``open`` where one does not.
    """

    feature: str
    place: int
    first: float
    first_low: float
    first_high: float
    second: float
    second_low: float
    second_high: float
    standing: Standing


def pair_features(first: Preferences, second: Preferences, *, level: float) -> tuple[tuple[FeaturePair, ...], int]:
    """Return the features that either selected, those whose frequencies differ most first, and how many there are."""
    used = np.flatnonzero(first.counts + second.counts)
    columns = {
        f"{side}{end}": values
        for side, runs in (("first", first), ("second", second))
        for end, values in zip(
            ("", "_low", "_high"),
            (runs.frequency[used], *frequency_interval(runs.counts[used], runs.n_runs, level)),
            strict=True,
        )
    }
    names = [show_name(first.features[place]) for place in used.tolist()]
    table = pd.DataFrame({"feature": names, "place": used, **columns})
    gap, most = (table["first"] - table["second"]).abs(), table[["first", "second"]].max(axis=1)
    order = np.lexsort((-most.to_numpy(), -gap.to_numpy().round(12)))[:MOST_FEATURES]
    rows: list[Any] = table.iloc[order].to_dict("records")
    return tuple(FeaturePair(**row, standing=_stand(row)) for row in rows), used.size


def _stand(row: Mapping[str, float]) -> Standing:
    first, second = ((row[f"{side}_low"], row[f"{side}_high"]) for side in ("first", "second"))
    return compare_standings(first, second, OFTEN)


def describe_overlap(first: Preferences, second: Preferences) -> str:
    """Say how many features two candidates share on the same resample, on average."""
    places = {label: place for place, label in enumerate(second.labels or ())}
    pairs = [(place, places[label]) for place, label in enumerate(first.labels or ()) if label in places]
    if not pairs:
        return "The two have no resample in common."
    one, other = (runs.take([pair[side] for pair in pairs]) for side, runs in enumerate((first, second)))
    shared = float(one.to_sparse().multiply(other.to_sparse()).sum() / len(pairs))
    return (
        f"On the same resample the two share {shared:.1f} features on average, of {one.sizes.mean():.1f} that the "
        f"first and {other.sizes.mean():.1f} that the second selects ({format_count(len(pairs), 'resample')})."
    )


# Maps


def find_columns(runs: Sequence[Preferences]) -> NDArray[np.int64]:
    """The features that the two selected most often together, the most frequent first."""
    total = sum(each.frequency for each in runs)
    order = np.argsort(-np.asarray(total), kind="stable")[:MOST_COLUMNS]
    return order[np.asarray(total)[order] > 0]


def map_columns(designed: DesignedRuns, columns: NDArray[np.int64]) -> SelectionMap | None:
    """Return which resample selected which of these features; None if nothing was selected."""
    runs = designed.runs
    if not columns.size or not runs.sizes.any():
        return None
    names = display_names(runs.features[column] for column in columns.tolist())
    part = Preferences.from_matrix(runs.to_sparse()[:, columns].toarray(), features=names)
    part = replace(part, labels=runs.labels)
    data = plots.selection_map_data(part, show="all", blocks=_block_names(designed))
    always, sometimes = runs.counts == runs.n_runs, (runs.counts > 0) & (runs.counts < runs.n_runs)
    whole = replace(data, order="frequency", n_always=int(always.sum()), n_sometimes=int(sometimes.sum()))
    return record_map(whole)


def _block_names(designed: DesignedRuns) -> list[str] | None:
    if designed.design not in BLOCKS or len(set(designed.blocks)) == 1:
        return None
    return [f"{BLOCKS[designed.design]} {block + 1}" for block in designed.blocks]
