"""The features of the reported candidate: frequencies, stand-ins, and which resample selected what."""

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast import plots
from holdfast.inference.features import feature_table
from holdfast.preferences import Preferences
from holdfast.replication import Replicability
from holdfast.replication.lists import find_columns, tabulate_new_study
from holdfast.report.records import (
    Box,
    Feature,
    Features,
    FeatureTable,
    MapRow,
    ReportOptions,
    SelectionMap,
    SurvivalCurve,
)
from holdfast.study.stabilities import CommonMeasure, common_size, take_best
from holdfast.study.tables import StudyTables
from holdfast.study.work import group_rows
from holdfast.targets import TASKS, Target
from holdfast.tradeoff import SelectedFeatures, final_features, selected_features
from holdfast.tradeoff.selected import ADJUSTED_COLUMNS, as_numbers, match_columns

NUMBERS = (
    "effect", "effect_low", "effect_high", "agreement", "second_effect", "model_agreement", "coefficient", "used",
    *ADJUSTED_COLUMNS,
)  # fmt: skip
"""Numbers of a feature's record that the table of selected features has; undefined ones are the one nan of math."""
MAX_CURVES = 4
"""Features whose survival curves are drawn: the most frequent."""
MAX_ROWS = 200
"""Dots of a group in a box plot; of more rows, as many at equal distances in the order of their values."""


def describe_effects(
    result: StudyTables, selected: SelectedFeatures, names: Sequence[Any], options: ReportOptions
) -> list[dict[str, Any]]:
    """Return direction, effect and boxes of these features, as fields of their records."""
    table = selected.to_frame().set_index("feature")
    column = {feature: column for column, feature in enumerate(result.feature_names)}
    quantiles, rows = result.quantiles(selected.candidate), _rows_by_group(result, options)
    curves = result.survival_curves(selected.candidate)
    drawn = [name for name in names if column[name] in curves][:MAX_CURVES]
    described = []
    for name in names:
        row: Any = table.loc[name]
        numbers = {name: float(row[name]) if row[name] == row[name] else math.nan for name in NUMBERS if name in row}
        described.append(
            {
                **numbers, "direction": row["direction"] if row["effect"] == row["effect"] else None,
                "effect_splits": int(row["splits"]), "boxes": _make_boxes(result, column[name], quantiles, rows),
                "curves": _make_curves(curves[column[name]]) if name in drawn else (), "model_use": row["model_use"],
            }
        )  # fmt: skip
    return described


def _make_curves(curves: NDArray[np.float64]) -> tuple[SurvivalCurve, ...]:
    frame = plots.survival.frame_curves("", curves).drop(columns="feature")
    return tuple(
        SurvivalCurve(group=str(group), **{str(name): tuple(values) for name, values in rows.to_dict("list").items()})
        for group, rows in frame.set_index("group").groupby("group", sort=False)
    )


def _make_boxes(
    result: StudyTables,
    column: int,
    quantiles: Mapping[int, NDArray[np.float64]],
    rows: tuple[NDArray[np.float64], NDArray[np.int64]] | None,
) -> tuple[Box, ...]:
    if column not in quantiles:
        return ()
    groups = list(map(str, result.classes or TASKS[result.task].groups))
    boxes = []
    for number, (group, values) in enumerate(zip(groups, quantiles[column], strict=True)):
        drawn = tuple(values.tolist()) if np.isfinite(values).all() else ()
        dots = () if rows is None or not drawn else _pick_rows(rows[0][rows[1] == number, column])
        boxes.append(Box(group=group, quantiles=drawn, rows=dots))
    return tuple(boxes)


def _pick_rows(values: NDArray[np.float64]) -> tuple[float, ...]:
    known = np.sort(values[np.isfinite(values)])
    picked = np.unique(np.linspace(0, known.size - 1, min(known.size, MAX_ROWS)).round().astype(np.int64))
    return tuple(float(f"{value:.4g}") for value in known[picked])


def _rows_by_group(result: StudyTables, options: ReportOptions) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """The features of the study and the group of each row, if the target was given with them."""
    if options.X is None or options.y is None or result.task == "survival":
        return None
    X = as_numbers(match_columns(options.X, result.feature_names))
    if result.classes is None:
        return X, group_rows(Target.of(options.y, classes=False))
    number = {str(label): group for group, label in enumerate(result.classes)}
    return X, np.array([number.get(str(label), -1) for label in np.asarray(options.y).tolist()])


MAX_SHOWN = 100
RARE = 0.1  # selection frequency below which a feature is only in the table


def make_features(
    result: StudyTables,
    candidate: str,
    common: CommonMeasure,
    options: ReportOptions,
    listed: Mapping[Any, float] | None,
    replicability: Replicability | None = None,
) -> Features | None:
    """Return the features of a candidate; None if it has no resamples that count for the stability.

    ``listed`` is how probable it is that a feature is on the list of those selected often, where it is above 0; None if
    it is not known. ``replicability`` is what is known of the candidate in new studies.
    """
    try:
        runs = result.preferences(candidate)
    except ValueError:
        return None
    top = None if runs.kind == "subset" else common.top or common_size([], runs.n_features)
    with warnings.catch_warnings(action="ignore"):
        subsets = runs if top is None else take_best(runs, top)
        table = feature_table(subsets, level=options.level)
        names = table["feature"][table["frequency"] >= RARE].tolist()[:MAX_SHOWN]
        final = final_features(result, candidate, threshold=options.threshold, level=options.level, top=top)
        selected = selected_features(
            result, candidate, X=options.X, level=options.level, threshold=options.threshold, top=top,
            metric=options.metric,
        )  # fmt: skip
        again: list[dict[Any, Any]] = tabulate_new_study(replicability, find_columns(names, result)).to_dict("records")
        shown = _describe(names, result, selected, options, listed, again)
    return Features(
        n_features=runs.n_features,
        n_runs=runs.n_runs,
        threshold=options.threshold,
        shown=shown,
        table=make_table(table),
        map=make_map(subsets) if top is not None else make_map(result, candidate),
        bound=final.bound.sentence,
        top=top,
        correlation_checked=options.X is not None,
        chance=float(subsets.density),
        effect=selected.effect,
        adjusted_for=selected.adjusted_for,
        no_effects=selected.missing,
        no_model_use=selected.no_model_use,
        rows_visible=any(box.rows for feature in shown for box in feature.boxes),
        new_study_low=math.nan
        if replicability is None
        else replicability.expected_interval.low / max(replicability.n_selected, 1),
    )


def _describe(
    names: list[Any],
    result: StudyTables,
    selected: SelectedFeatures,
    options: ReportOptions,
    listed: Mapping[Any, float] | None,
    again: Sequence[dict[Any, Any]],
) -> tuple[Feature, ...]:
    rows = selected.frame.set_index("feature").loc[names].to_dict(orient="records")
    return tuple(
        make_feature(
            name, row, **effects, on_list=math.nan if listed is None else float(listed.get(name, 0.0)), **numbers
        )
        for name, row, effects, numbers in zip(
            names, rows, describe_effects(result, selected, names, options), again, strict=True
        )
    )  # fmt: skip


def make_feature(name: Any, row: Mapping[Any, Any], **more: Any) -> Feature:
    """Return the record of a feature from its row of frequencies, stand-ins and verdict."""
    return Feature(
        feature=show_name(name), count=int(row["count"]), frequency=float(row["frequency"]), low=float(row["low"]),
        high=float(row["high"]), stand_ins=tuple(show_name(stand_in) for stand_in in row["stand_ins"]),
        with_stand_ins=float(row["with_stand_ins"]), verdict=str(row["verdict"]), **more,
    )  # fmt: skip


def make_table(table: pd.DataFrame) -> FeatureTable:
    """Return every feature that was ever selected, from the table of :func:`feature_table`."""
    columns = {name: tuple(table[name].astype(float)) for name in ("frequency", "low", "high", "variance_share")}
    counts = tuple(int(count) for count in table["count"])
    return FeatureTable(feature=tuple(show_name(name) for name in table["feature"]), count=counts, **columns)


def make_map(source: StudyTables | Preferences, candidate: str | None = None) -> SelectionMap | None:
    """Return which resample selected which feature; None if nothing was selected."""
    data = plots.selection_map_data(source, candidate, order="frequency")
    return None if data.cells.empty else record_map(data)


def record_map(data: plots.SelectionMap) -> SelectionMap:
    """Return the record of a selection map."""
    return SelectionMap(
        n_always=data.n_always,
        n_sometimes=data.n_sometimes,
        features=tuple(data.columns["feature"]),
        frequencies=tuple(data.columns["frequency"].astype(float)),
        rows=_map_rows(data),
    )


def _map_rows(data: plots.SelectionMap) -> tuple[MapRow, ...]:
    """Return the rows of the map, each with its cells, which are ordered by row."""
    cells, rows = data.cells, data.rows
    ends = np.searchsorted(cells["row"], rows["row"], side="right")
    columns, shares = (np.split(cells[name].to_numpy(), ends[:-1]) for name in ("column", "share"))
    facts = rows[["resample", "first", "last", "block"]].itertuples(index=False, name=None)
    return tuple(
        MapRow(
            resample=str(resample), first=int(first), last=int(last), block=str(block),
            columns=tuple(selected.tolist()), shares=() if (share == 1).all() else tuple(share.round(4).tolist()),
        )
        for (resample, first, last, block), selected, share in zip(facts, columns, shares, strict=True)
    )  # fmt: skip


def show_name(name: Any) -> str:
    """Return the name of a feature for readers; one without a name is shown by its number."""
    return f"feature {name}" if isinstance(name, int) else str(name)
