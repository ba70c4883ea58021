"""What charts are drawn from: preferences, studies, or plain columns of a table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from holdfast.checks import Matrix
from holdfast.inference.designs import RunsByBlock
from holdfast.measures import MEASURES
from holdfast.preferences import Preferences
from holdfast.study.tables import StudyTables
from holdfast.text import display_names, join_first

Source: TypeAlias = Preferences | Matrix | StudyTables
Columns: TypeAlias = pd.DataFrame | Mapping[str, Sequence[Any]]

BLOCKS = {"folds": "repeat", "pairs": "pair", "nested_folds": "outer fold", "nested_subsamples": "sample"}


def find_runs_by_block(source: Source, candidate: str | None) -> RunsByBlock:
    """Return preferences, or those of a candidate of a study, with their blocks in the design."""
    if isinstance(source, StudyTables):
        return source.runs_by_block(only_candidate(source, candidate))
    if candidate is not None:
        raise ValueError(f"Only a study has candidates: got candidate={candidate!r} and a {type(source).__name__}.")
    runs = source if isinstance(source, Preferences) else Preferences.from_matrix(source)
    return RunsByBlock(runs, "runs", range(runs.n_runs), [1.0] * runs.n_runs)


def find_subsets(source: Source, candidate: str | None) -> RunsByBlock:
    """Return the same, for charts that need subsets."""
    runs_by_block = find_runs_by_block(source, candidate)
    if runs_by_block.runs.kind != "subset":
        hint = "result.preferences(…).top(k)" if isinstance(source, StudyTables) else ".top(k)"
        raise ValueError(f"Expected subsets, got {runs_by_block.runs.kind}s; cut them with {hint} first.")
    return runs_by_block


def only_candidate(result: StudyTables, candidate: str | None) -> str:
    """Return the named candidate, or the only one of the study."""
    if candidate is not None:
        return candidate
    if len(result.candidates) != 1:
        known = join_first(result.candidates)
        raise ValueError(f"Expected candidate= to say which of {len(result.candidates)} to draw: {known}.")
    return result.candidates[0]


def typed_table(columns: Columns, needed: Mapping[str, Any], optional: Mapping[str, Any]) -> pd.DataFrame:
    """Return the columns that a chart needs and those it can use, each with its type; missing ones are filled in.

    Entries of a float column that are not numbers raise an error that names the column.
    """
    frame = pd.DataFrame(columns).reset_index(drop=True)
    missing = [name for name in needed if name not in frame.columns]
    if missing:
        raise ValueError(f"Expected the columns {', '.join(needed)}; {' and '.join(missing)} missing.")
    table = pd.DataFrame(index=frame.index)
    for name, kind in {**needed, **{name: type(value) for name, value in optional.items()}}.items():
        column = frame[name] if name in frame.columns else pd.Series([optional[name]] * len(frame), dtype=object)
        table[name] = _typed(name, column, kind)
    return table


def _typed(name: str, column: "pd.Series[Any]", kind: type) -> Any:
    if kind is float:
        try:
            return pd.to_numeric(column).astype(float).to_numpy()
        except (TypeError, ValueError):
            raise ValueError(f"Expected numbers in the column {name}, got {column.iloc[0]!r}.") from None
    if kind is bool:
        return column.map(lambda entry: not pd.isna(entry) and bool(entry)).to_numpy(bool)
    return ["" if pd.isna(entry) else str(entry) for entry in column]


def higher_is_better(measure: str | None) -> bool:
    """Return whether a larger value of a measure, given by its label, is more stable."""
    name = "" if measure is None else measure.split("(")[0]
    return name not in MEASURES or MEASURES[name].higher_is_better


def finite_values(values: Any) -> list[float]:
    """Return the finite numbers of an array."""
    array = np.asarray(values, dtype=float)
    return array[np.isfinite(array)].tolist()


def show_names(names: Iterable[Any]) -> dict[Any, str]:
    """Return how each of these names is shown, in the order in which they first come."""
    known = list(dict.fromkeys(names))
    return dict(zip(known, display_names(known), strict=True))


def largest_row(data: pd.DataFrame, column: str) -> "pd.Series[Any]":
    """Return the first row with the largest entry in a column; undefined ones do not count."""
    return data.iloc[int(np.nanargmax(data[column].to_numpy(dtype=float)))]
