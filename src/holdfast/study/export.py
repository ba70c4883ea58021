"""A study's tables as Parquet files, for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from holdfast.io.files import pyarrow_parquet

if TYPE_CHECKING:
    from holdfast.study.stabilities import StudyStabilities


def write_tables(result: "StudyStabilities", folder: Path) -> list[Path]:
    """Write every table of a study into a folder, and return the files."""
    pyarrow_parquet(folder)
    folder.mkdir(parents=True, exist_ok=True)
    as_text = {"truth": str, "predicted": str} if result.classes else {}
    predictions = [result.predictions(name).assign(candidate=name).astype(as_text) for name in result.finished]
    tables = {
        "summary": result.summary().reset_index(),
        "selections": _concatenate([list_selections(result, name) for name in result.finished]),
        "scores": result.scores,
        "predictions": _concatenate(predictions),
        "failures": result.failures,
        "splits": result.splits.reset_index(),
    }
    for name, table in tables.items():
        table.to_parquet(folder / f"{name}.parquet", index=False)
    return [folder / f"{name}.parquet" for name in tables]


def _concatenate(tables: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def list_selections(result: "StudyStabilities", candidate: str) -> pd.DataFrame:
    """One row per run and feature: 1 for a selected one, or the rank or weight of each."""
    runs = result.preferences(candidate)
    names = np.array(list(map(str, runs.features)), dtype=object)
    labels = np.array(list(map(str, runs.labels or ())), dtype=object)
    if runs.kind == "subset":
        indices, indptr = runs.lists()
        run, feature = np.repeat(np.arange(runs.n_runs), np.diff(indptr)), indices.astype(np.int64)
        value = np.ones(feature.size)
    else:
        run, feature = (places.ravel() for places in np.indices(runs.matrix().shape))
        value = runs.matrix().ravel()
    return pd.DataFrame({"candidate": candidate, "run": labels[run], "feature": names[feature], "value": value})
