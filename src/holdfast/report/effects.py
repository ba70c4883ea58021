"""Direction, effect and box plot of features in a report, from what the store holds; with the data, single rows too."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.report.feature_records import Box
from holdfast.report.findings import ReportOptions
from holdfast.study.tables import StudyTables
from holdfast.study.work import THIRDS, group_rows
from holdfast.tradeoff import SelectedFeatures
from holdfast.tradeoff.selected import match_columns, toward_direction

MOST_ROWS = 200
"""Dots of a group in a box plot; of more rows, as many at equal distances in the order of their values."""


def describe_effects(
    result: StudyTables, found: SelectedFeatures, names: Sequence[Any], options: ReportOptions
) -> list[dict[str, Any]]:
    """Return direction, effect and boxes of these features, as fields of their records."""
    table = found.frame.set_index("feature")
    column = {feature: place for place, feature in enumerate(result.feature_names)}
    quantiles, rows = result.quantiles(found.candidate), _rows_by_group(result, options)
    described = []
    for name in names:
        row: Any = table.loc[name]
        effect, low, high = toward_direction(row, found.effect)
        described.append(
            {
                "direction": row["direction"] if effect == effect else None, "effect": effect, "effect_low": low,
                "effect_high": high, "effect_splits": int(row["splits"]), "agreement": float(row["agreement"]),
                "boxes": _make_boxes(result, column[name], quantiles, rows), "model_use": row["model_use"],
                **{name: _as_known(row[name]) for name in ("model_agreement", "coefficient")},
            }
        )  # fmt: skip
    return described


def _as_known(value: Any) -> float:
    """A number; the one ``nan`` that equals itself in records if there is none."""
    return float(value) if value == value else math.nan


def _make_boxes(
    result: StudyTables,
    column: int,
    quantiles: Mapping[int, NDArray[np.float64]],
    rows: tuple[NDArray[np.float64], NDArray[np.int64]] | None,
) -> tuple[Box, ...]:
    if column not in quantiles:
        return ()
    groups = list(THIRDS) if result.classes is None else list(map(str, result.classes))
    boxes = []
    for number, (group, values) in enumerate(zip(groups, quantiles[column], strict=True)):
        drawn = tuple(values.tolist()) if np.isfinite(values).all() else ()
        dots = () if rows is None or not drawn else _pick_rows(rows[0][rows[1] == number, column])
        boxes.append(Box(group=group, quantiles=drawn, rows=dots))
    return tuple(boxes)


def _pick_rows(values: NDArray[np.float64]) -> tuple[float, ...]:
    known = np.sort(values[np.isfinite(values)])
    places = np.unique(np.linspace(0, known.size - 1, min(known.size, MOST_ROWS)).round().astype(np.int64))
    return tuple(float(f"{value:.4g}") for value in known[places])


def _rows_by_group(result: StudyTables, options: ReportOptions) -> tuple[NDArray[np.float64], NDArray[np.int64]] | None:
    """The features of the study and the group of each row, if the target was given with them."""
    if options.X is None or options.y is None:
        return None
    X = np.asarray(match_columns(options.X, result.feature_names), dtype=np.float64)
    if result.classes is None:
        return X, group_rows(np.asarray(options.y, dtype=np.float64), 0)
    number = {str(label): place for place, label in enumerate(result.classes)}
    return X, np.array([number.get(str(label), -1) for label in np.asarray(options.y).tolist()])
