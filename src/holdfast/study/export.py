"""A study's tables as Parquet files, for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from holdfast.io.files import pyarrow_parquet

if TYPE_CHECKING:
    from holdfast.study.result import StudyResult


def write_tables(result: "StudyResult", folder: Path) -> list[Path]:
    """Write every table of a study into a folder, and return the files."""
    pyarrow_parquet(folder)
    folder.mkdir(parents=True, exist_ok=True)
    as_text = {"truth": str, "predicted": str} if result.stored.meta["classes"] else {}
    finished = [name for name in result.candidates if len(result.stored.outcomes_of(name))]
    tables = {
        "summary": result.summary().reset_index(),
        "selections": _stacked([selections(result, name) for name in finished]),
        "scores": result.scores,
        "predictions": _stacked([result.predictions(name).assign(candidate=name).astype(as_text) for name in finished]),
        "failures": result.failures,
        "splits": result.stored.splits.reset_index(),
    }
    for name, table in tables.items():
        table.to_parquet(folder / f"{name}.parquet", index=False)
    return [folder / f"{name}.parquet" for name in tables]


def _stacked(tables: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def selections(result: "StudyResult", candidate: str) -> pd.DataFrame:
    """One row per run and feature: 1 for a selected one, or the rank or weight of each."""
    runs = result.preferences(candidate)
    names, labels = (np.array(list(map(str, given)), dtype=object) for given in (runs.features, runs.labels or ()))
    if runs.kind == "subset":
        indices, indptr = runs.lists()
        run, feature = np.repeat(np.arange(runs.n_runs), np.diff(indptr)), indices.astype(np.int64)
        value = np.ones(feature.size)
    else:
        run, feature = (places.ravel() for places in np.indices(runs.matrix().shape))
        value = runs.matrix().ravel()
    return pd.DataFrame({"candidate": candidate, "run": labels[run], "feature": names[feature], "value": value})
