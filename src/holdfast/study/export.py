"""A study's tables as CSV or Parquet files, for other tools."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
import pandas as pd

from holdfast.declared import About
from holdfast.inference.designs import UNKNOWN, DesignedRuns
from holdfast.io.exported import protect_formula, read_exported
from holdfast.io.files import pyarrow_parquet
from holdfast.preferences import Kind
from holdfast.resampling import PERTURBATIONS

if TYPE_CHECKING:
    from holdfast.study.stabilities import StudyStabilities

TableFormat: TypeAlias = Literal["csv", "parquet"]
FORMATS: tuple[str, ...] = get_args(TableFormat)


def write_tables(result: "StudyStabilities", folder: Path, format: TableFormat) -> list[Path]:
    """Write every table of a study into a folder, and return the files."""
    if format not in FORMATS:
        raise ValueError(f"Expected format='csv' or 'parquet', got {format!r}.")
    if format == "parquet":
        pyarrow_parquet(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, table in make_tables(result).items():
        files.append(folder / f"{name}.{format}")
        if format == "csv":
            _protect(table).to_csv(files[-1], index=False)
        else:
            table.to_parquet(files[-1], index=False)
    return files


def make_tables(result: "StudyStabilities") -> dict[str, pd.DataFrame]:
    """Return every table of a study by name."""
    as_text = {"truth": str, "predicted": str} if result.classes else {}
    predictions = [result.predictions(name).assign(candidate=name).astype(as_text) for name in result.finished]
    return {
        "summary": result.summary().reset_index(),
        "selections": _concatenate([list_selections(result, name) for name in result.finished]),
        "features": pd.DataFrame({"feature": list(map(str, result.feature_names))}),
        "scores": result.scores,
        "predictions": _concatenate(predictions),
        "failures": result.failures,
        "splits": result.splits.reset_index(),
    }


def _protect(table: pd.DataFrame) -> pd.DataFrame:
    """Texts that a spreadsheet would run as a formula, marked as texts; names of columns too."""
    table = table.map(lambda cell: " ".join(map(str, cell)) if isinstance(cell, (np.ndarray, list, tuple)) else cell)
    texts = [name for name in table.columns if not pd.api.types.is_numeric_dtype(table[name])]
    protected = {
        name: table[name].map(lambda cell: protect_formula(cell) if isinstance(cell, str) else cell) for name in texts
    }
    return table.assign(**protected).rename(columns=lambda name: protect_formula(str(name)))


def _concatenate(tables: list[pd.DataFrame]) -> pd.DataFrame:
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def list_selections(result: "StudyStabilities", candidate: str) -> pd.DataFrame:
    """One row per run and feature: 1 for a selected one, or the rank or weight of each.

    A run that selected nothing has a row without a feature. The other columns say what stability depends on beside.
    """
    designed = result.designed(candidate)
    runs = designed.runs
    names = np.array([*map(str, runs.features), None], dtype=object)
    labels = np.array(list(map(str, runs.labels or ())), dtype=object)
    if runs.kind == "subset":
        indices, indptr = runs.lists()
        sizes = np.diff(indptr)
        run = np.repeat(np.arange(runs.n_runs), np.maximum(sizes, 1))
        feature = np.full(run.size, -1, dtype=np.int64)
        feature[np.repeat(sizes > 0, np.maximum(sizes, 1))] = indices
        value = (feature >= 0).astype(np.float64)
    else:
        run, feature = (places.ravel() for places in np.indices(runs.matrix().shape))
        value = runs.matrix().ravel()
    return pd.DataFrame(
        {
            "candidate": candidate, "run": labels[run], "feature": names[feature], "value": value, "column": feature,
            "kind": runs.kind, "n_features": runs.n_features, "design": designed.design,
            "perturbation": designed.about.name, "block": np.asarray(designed.blocks, dtype=np.int64)[run],
            "fraction": np.asarray(designed.fractions, dtype=np.float64)[run],
        }
    )  # fmt: skip


def read_designed(path: Path, kind: Kind | None = None, n_features: int | None = None) -> dict[str, DesignedRuns]:
    """Read exported selections by candidate, with the design that their stability depends on."""
    return {
        name: DesignedRuns(
            exported.runs, exported.design, exported.blocks, exported.fractions,
            _find_about(exported.perturbation, exported.design),
        )
        for name, exported in read_exported(path, kind, n_features).items()
    }  # fmt: skip


def _find_about(name: str, design: str) -> About:
    """What a perturbation says of itself; of one that is not known here, what others of its design say."""
    if name in PERTURBATIONS:
        return PERTURBATIONS[name].about
    alike = (known.about for known in PERTURBATIONS.values() if known.design == design != "runs")
    return next(alike, UNKNOWN)
