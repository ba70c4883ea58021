"""Selections in the long form that a study exports: one row per candidate, run and selected feature.

A run that selected nothing has one row without a feature. ``column`` is the place of a feature among all columns,
``n_features`` their number: stability depends on both being as they were.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io.delimited import open_text
from holdfast.io.files import file_ending, parquet_table
from holdfast.io.questions import ReadingError, ask_kind, ask_n_features
from holdfast.preferences import Kind, Preferences

REQUIRED = ("candidate", "run", "feature", "value")
TABLES = (".csv", ".tsv", ".parquet")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet would run as a formula."""
QUOTE = "'"


class ExportedRuns(NamedTuple):
    """What one candidate of a study preferred, with the place of each run in the study's design."""

    runs: Preferences
    design: str
    perturbation: str
    blocks: list[int]
    fractions: list[float]


def protect_formula(text: str) -> str:
    """Return a text that a spreadsheet takes for a text; a leading quote that was there is doubled."""
    return f"{QUOTE}{text}" if text.startswith((*FORMULA, QUOTE)) else text


def _unprotect(text: str) -> str:
    return text.removeprefix(QUOTE)


def is_exported(path: Path) -> bool:
    """Whether a table has the columns of exported selections."""
    if file_ending(path) not in TABLES or not path.is_file():
        return False
    if file_ending(path) == ".parquet":
        names = parquet_table(path).column_names
    else:
        try:
            names = _cells(path, nrows=1).iloc[0].tolist()
        except (ValueError, IndexError):  # whoever reads the table says what is wrong with it
            return False
    return set(REQUIRED) <= set(names)


def _cells(path: Path, **options: Any) -> pd.DataFrame:
    """All cells of a text file as they are, the header's too."""
    try:
        return open_text(path).parse(dtype=str, keep_default_na=False, **options)
    except pd.errors.ParserError as error:
        raise ValueError(f"Expected a table in {path}, got something else: {str(error).strip().rstrip('.')}.") from None


def read_exported(path: Path, kind: Kind | None = None, n_features: int | None = None) -> dict[str, ExportedRuns]:
    """Read exported selections, by candidate; ``kind`` and ``n_features`` are for tables that do not say it."""
    try:
        frame = _read_long(path)
    except pd.errors.EmptyDataError:
        frame = pd.DataFrame()
    if frame.empty:
        raise ValueError(f"Expected selections in {path}, got a table without rows.")
    features = _read_feature_names(path)
    return {
        str(name): _read_candidate(path, rows, kind, n_features, features)
        for name, rows in frame.groupby("candidate", sort=False)
    }


def list_candidates(path: Path) -> list[str]:
    """Return the names of the candidates whose selections a file holds, in their order."""
    return [str(name) for name in _read_long(path)["candidate"].unique()]


def _read_long(path: Path) -> pd.DataFrame:
    if file_ending(path) == ".parquet":
        return parquet_table(path).to_pandas()
    cells = _cells(path)
    frame = cells.iloc[1:].set_axis(cells.iloc[0].tolist(), axis=1)
    for name in ("candidate", "run", "feature"):
        frame[name] = frame[name].map(_unprotect)
    return frame


def _read_candidate(
    path: Path, rows: pd.DataFrame, kind: Kind | None, n_features: int | None, features: Sequence[str] | None
) -> ExportedRuns:
    labels, first = np.unique(rows["run"].astype(str).to_numpy(dtype=str), return_index=True)
    labels = labels[np.argsort(first)]
    number = {label: place for place, label in enumerate(labels.tolist())}
    run = rows["run"].astype(str).map(number).to_numpy(dtype=np.int64)
    values = _numbers(path, rows, "value")
    stated = _single(path, rows, "kind") or kind or _guess_kind(path, values)
    total = _single(path, rows, "n_features")
    size = n_features if total is None else int(total)
    selected = (rows["feature"].notna() & (rows["feature"] != "")).to_numpy()
    columns, names, size = _find_columns(path, rows, selected, size, stated)
    all_names = _all_names(names, size, features)
    runs = _make_runs(path, stated, run, columns, values, selected, labels.tolist(), size, all_names)
    firsts = rows.iloc[np.sort(first)]
    return ExportedRuns(
        runs,
        str(_single(path, rows, "design") or "runs"),
        str(_single(path, rows, "perturbation") or ""),
        _numbers(path, firsts, "block", 0).astype(int).tolist(),
        _numbers(path, firsts, "fraction", 1).tolist(),
    )


def _find_columns(
    path: Path, rows: pd.DataFrame, selected: NDArray[np.bool_], size: int | None, kind: str
) -> tuple[NDArray[np.int64], dict[int, str], int]:
    """The column of each row's feature, the names of these columns, and the number of all."""
    features = rows["feature"].where(selected, "").astype(str)
    if "column" in rows.columns:
        columns = _numbers(path, rows, "column").astype(np.int64)
    else:
        columns = pd.factorize(features.where(selected, None))[0].astype(np.int64)
    known = int(columns.max(initial=-1)) + 1
    if size is None and kind != "subset":
        size = known
    if size is None:
        raise ReadingError(
            f"Expected the number of features there were to choose from, as {path} only lists the selected ones; give "
            "n_features= (--n-features).",
            ask_n_features(known),
        )
    if known > size or columns[selected].min(initial=0) < 0:
        raise ValueError(f"Expected columns from 0 to {size - 1} in {path}, got others; export it again.")
    return columns, dict(zip(columns[selected].tolist(), features[selected], strict=True)), size


def _make_runs(
    path: Path, kind: str, run: NDArray[np.int64], columns: NDArray[np.int64], values: NDArray[np.float64],
    selected: NDArray[np.bool_], labels: list[str], size: int, features: tuple[str, ...] | None,
) -> Preferences:  # fmt: skip
    if kind == "subset":
        taken = selected & (values != 0)
        order = np.lexsort((columns[taken], run[taken]))
        pointers = np.concatenate([[0], np.cumsum(np.bincount(run[taken], minlength=len(labels)))]).astype(np.int64)
        indices = columns[taken][order].astype(np.int32)
        if (np.diff(indices) == 0)[np.diff(run[taken][order]) == 0].any():
            raise ValueError(f"Expected each feature once per run in {path}, got one twice; export it again.")
        return Preferences(
            kind="subset", n_features=size, indices=indices, indptr=pointers, names=features, labels=tuple(labels)
        )
    if len(values) != len(labels) * size:
        raise ValueError(
            f"Expected a {kind} of all {size} features in each run of {path}, got {len(values)} values for "
            f"{len(labels)} runs; export it again."
        )
    matrix = np.full((len(labels), size), np.nan)
    matrix[run, columns] = values
    make = Preferences.from_rankings if kind == "ranking" else Preferences.from_weights
    return make(matrix, features=features, labels=labels)


def _all_names(names: dict[int, str], size: int, known: Sequence[str] | None) -> tuple[str, ...] | None:
    """Names of all columns: those that are known if they agree; columns that no run selected may have none."""
    if known is not None and len(known) == size and all(known[column] == name for column, name in names.items()):
        return tuple(known)
    if all(name == str(column) for column, name in names.items()):
        return None
    taken = set(names.values())
    return tuple(names.get(column) or _unnamed(column, taken) for column in range(size))


def _unnamed(column: int, taken: set[str]) -> str:
    name = f"unnamed_{column}"
    return f"{name}_" if name in taken else name


def _read_feature_names(path: Path) -> list[str] | None:
    """The names of all features, from the table ``features`` that was exported beside the selections."""
    beside = path.with_name(f"features{path.suffix}")
    if not beside.is_file():
        return None
    if file_ending(beside) == ".parquet":
        table = parquet_table(beside)
        return [str(name) for name in table["feature"].to_pylist()] if "feature" in table.column_names else None
    frame = _cells(beside)
    header = frame.iloc[0].tolist()
    return frame.iloc[1:, header.index("feature")].map(_unprotect).tolist() if "feature" in header else None


def _guess_kind(path: Path, values: NDArray[np.float64]) -> Kind:
    if np.isin(values, (0, 1)).all():
        return "subset"
    other = values[~np.isin(values, (0, 1))][0]
    raise ReadingError(
        f"Expected 0 and 1 as values in {path}, got {other:g}; if these are ranks or "
        "weights, pass kind='ranking' or kind='weighting' (--kind).",
        ask_kind(f"The file holds other values than 0 and 1, such as {other:g}.", ("ranking", "weighting")),
    )


def _single(path: Path, rows: pd.DataFrame, name: str) -> Any:
    """The one value of a column, or None without such a column."""
    if name not in rows.columns:
        return None
    values = rows[name].unique().tolist()
    if len(values) > 1:
        raise ValueError(f"Expected one {name} for all runs of a candidate in {path}, got {values[0]} and {values[1]}.")
    return values[0]


def _numbers(path: Path, rows: pd.DataFrame, name: str, default: float | None = None) -> NDArray[np.float64]:
    if name not in rows.columns and default is not None:
        return np.full(len(rows), float(default))
    try:
        numbers = rows[name].to_numpy().astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise ValueError(f"Expected numbers in the column {name!r} of {path}, got something else; export it again.")
    return numbers
