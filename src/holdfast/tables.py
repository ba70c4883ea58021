"""Selections and tables in files: CSV, TSV, Parquet, JSON and plain text."""

import csv
import json
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from holdfast.preferences import Kind, Preferences

KINDS: tuple[Kind, ...] = ("subset", "ranking", "weighting")
LABEL_COLUMNS = {"run", "resample", "label", "Unnamed: 0", ""}
_MARK = (
    "holdfast:"  # the first header cell of a file of ours is holdfast:subset, holdfast:ranking or holdfast:weighting
)


def read_preferences(
    path: str | Path,
    *,
    kind: Kind | None = None,
    features: Iterable[str] | None = None,
    n_features: int | None = None,
) -> Preferences:
    """Read selections from a file, by its ending.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv`` (also ``.gz``) or ``.parquet``: a matrix, one row per run, feature names in the header, 0/1,
        ranks or weights; a first column of text, or one named ``run``, holds the runs' labels. ``.json``: a list of
        lists of features, or an object from run label to such a list. Other endings: text, one run per line, features
        separated by commas, tabs or blanks; an empty line is an empty selection.
    kind : {"subset", "ranking", "weighting"}, optional
        What the numbers of a matrix are. 0/1 is taken for subsets; ranks and weights must be said.
    features : iterable of str, optional
        All features there were to choose from, for lists of features.
    n_features : int, optional
        How many there were, for lists of features.
    """
    path = Path(path)
    if kind not in (None, *KINDS):
        raise ValueError(f"Expected kind {', '.join(KINDS)}, got {kind!r}.")
    suffix = path.suffixes[-2] if path.suffix == ".gz" and len(path.suffixes) > 1 else path.suffix
    if suffix == ".json":
        return _from_json(path, features, n_features)
    if suffix not in (".csv", ".tsv", ".parquet"):
        return _from_lists(path, _text_runs(path), None, features, n_features)
    if suffix == ".parquet":
        own = _from_own_parquet(path)
        if own is not None:
            return own
    frame, labels, own_kind = _split_labels(read_frame(path))
    return _from_numbers(path, frame, labels, kind or own_kind)


def write_preferences(preferences: Preferences, path: str | Path) -> None:
    """Write selections so that :func:`read_preferences` gives them back equal.

    The ending says how: ``.csv``, ``.tsv``, ``.json`` or ``.parquet``. A CSV file is a full matrix; for very many
    features take JSON or Parquet, which keep index lists.
    """
    path = Path(path)
    if path.suffix in (".csv", ".tsv"):
        frame = preferences.to_frame()
        labels = preferences.labels or [""] * preferences.n_runs
        frame.insert(0, _MARK + preferences.kind, list(labels))
        frame.to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
    elif path.suffix == ".json":
        path.write_text(json.dumps(_as_record(preferences), ensure_ascii=False), encoding="utf-8")
    elif path.suffix == ".parquet":
        _write_parquet(preferences, path)
    else:
        raise ValueError(f"Expected a file ending in .csv, .tsv, .json or .parquet, got {path.name!r}.")


def read_names(path: str | Path) -> list[str]:
    """Read feature names, one per line."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    names = [line.strip() for line in lines if line.strip()]
    if not names:
        raise ValueError(f"Expected one feature name per line in {path}, got an empty file.")
    return names


def read_frame(path: str | Path) -> pd.DataFrame:
    """Read a table with a header (CSV, TSV, Parquet), or say in one sentence what is wrong with it."""
    path = Path(path)
    if path.suffix == ".parquet":
        pyarrow_parquet(path)
        return pd.read_parquet(path)
    separator = "\t" if ".tsv" in path.suffixes else ","
    try:
        frame = pd.read_csv(path, sep=separator, header=None, skiprows=1, dtype_backend="numpy_nullable")
        header = pd.read_csv(path, sep=separator, header=None, nrows=1, dtype=str, keep_default_na=False).iloc[0]
    except pd.errors.EmptyDataError:
        raise ValueError(f"Expected a header line and one line per run in {path}, got less; add the header.") from None
    except pd.errors.ParserError as error:
        raise ValueError(
            f"Expected lines of one length in {path}, got others: {error}".strip().rstrip(".") + "."
        ) from None
    if len(header) != frame.shape[1]:
        raise ValueError(
            f"Expected as many columns as the header of {path} names, {len(header)}, got {frame.shape[1]}; "
            "is a name missing, or a separator inside a name?"
        )
    if set(header) <= {"0", "1"} and len(header) > 2:
        raise ValueError(f"Expected feature names in the first line of {path}, got only 0 and 1; add a header line.")
    if frame.isna().to_numpy().any():
        _check_ragged(path, separator, len(header))
    frame.columns = pd.Index(header)
    return frame


def _check_ragged(path: Path, separator: str, width: int) -> None:
    if path.suffix == ".gz":
        return
    with path.open(newline="", encoding="utf-8") as lines:
        for number, row in enumerate(csv.reader(lines, delimiter=separator), start=1):
            if row and len(row) != width:
                raise ValueError(
                    f"Expected {width} columns in every line of {path}, got {len(row)} in line {number}; mend it."
                )


def _split_labels(frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str] | None, Kind | None]:
    """Separate a first column of labels; a file of ours also tells its kind there."""
    first = str(frame.columns[0])
    own_kind = first.removeprefix(_MARK) if first.startswith(_MARK) else None
    text = frame.iloc[:, 0].map(lambda entry: isinstance(entry, str)).all()
    if own_kind is None and first.lower() not in LABEL_COLUMNS and not text:
        return frame, None, None
    column = frame.iloc[:, 0]
    labels = None if column.isna().all() else [str(label) for label in column]
    return frame.iloc[:, 1:], labels, cast(Kind | None, own_kind)


def _from_numbers(path: Path, frame: pd.DataFrame, labels: list[str] | None, kind: Kind | None) -> Preferences:
    names = [str(name) for name in frame.columns]
    matrix = np.array([column.to_numpy(dtype=object, na_value=np.nan) for _, column in frame.items()], dtype=object).T
    matrix = matrix.reshape(len(frame), len(names))
    with suppress(TypeError, ValueError):  # the constructors say which entry is no number
        matrix = matrix.astype(np.float64)
    if kind is None and matrix.dtype == np.float64 and np.isfinite(matrix).all() and not np.isin(matrix, (0, 1)).all():
        other = matrix[~np.isin(matrix, (0, 1))][0]
        raise ValueError(
            f"Expected 0 and 1 in {path}, got {other:g}; if these are ranks or weights say so with kind='ranking' or "
            "kind='weighting' (--kind)."
        )
    make = {
        "subset": Preferences.from_matrix,
        "ranking": Preferences.from_rankings,
        "weighting": Preferences.from_weights,
    }[kind or "subset"]
    return make(matrix, features=names, labels=labels)


def _text_runs(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    if lines and not lines[-1].strip():
        lines.pop()
    return [_split_line(line.strip()) for line in lines]


def _split_line(line: str) -> list[str]:
    for separator in ("\t", ";", ","):
        if separator in line:
            return [part.strip() for part in line.split(separator) if part.strip()]
    return line.split()


def _from_lists(
    path: Path,
    runs: list[list[Any]],
    labels: list[str] | None,
    features: Iterable[str] | None,
    n_features: int | None,
) -> Preferences:
    if features is None and n_features is None:
        raise ValueError(
            f"Expected the number of features there were to choose from, as {path} only lists the selected ones; give "
            "n_features= (--n-features) or features= (--features)."
        )
    if features is None and all(str(member).isdigit() for run in runs for member in run):
        runs = [[int(member) for member in run] for run in runs]
    return Preferences.from_sets(runs, features=features, n_features=n_features, labels=labels)


def _from_json(path: Path, features: Iterable[str] | None, n_features: int | None) -> Preferences:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise ValueError(f"Expected JSON in {path}, got something else in line {error.lineno}: {error.msg}.") from None
    if isinstance(content, dict) and content.get("format") == _MARK + "preferences":
        return _from_record(content)
    labels = list(content) if isinstance(content, dict) else None
    runs = list(content.values()) if isinstance(content, dict) else content
    if not isinstance(runs, list) or not all(isinstance(run, list) for run in runs):
        raise ValueError(
            f"Expected a list of lists of features in {path}, or an object from run label to list, got other JSON."
        )
    return _from_lists(path, runs, labels, features, n_features)


# Our own formats


def _as_record(preferences: Preferences) -> dict[str, Any]:
    if preferences.values is not None:
        runs = preferences.values.tolist()
    else:
        indices, indptr = preferences.lists()
        runs = [indices[indptr[run] : indptr[run + 1]].tolist() for run in range(preferences.n_runs)]
    return {
        "format": _MARK + "preferences",
        "kind": preferences.kind,
        "n_features": preferences.n_features,
        "features": preferences.names,
        "labels": preferences.labels,
        "runs": runs,
    }


def _from_record(record: dict[str, Any]) -> Preferences:
    names, labels = (None if record[key] is None else tuple(record[key]) for key in ("features", "labels"))
    if record["kind"] == "subset":
        indexed = Preferences.from_sets(record["runs"], n_features=record["n_features"], labels=labels)
        return Preferences.from_sets(record["runs"], features=names, labels=labels) if names else indexed
    return Preferences(
        kind=record["kind"],
        n_features=record["n_features"],
        values=np.array(record["runs"], dtype=np.float64),
        names=names,
        labels=labels,
    )


def pyarrow_parquet(path: Path) -> Any:
    """Return pyarrow's Parquet module, or say how to get it."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            f"Expected pyarrow for the Parquet file {path}, got none; install it with: pip install 'holdfast[app]'"
        ) from None
    return pyarrow.parquet


def _write_parquet(preferences: Preferences, path: Path) -> None:
    parquet = pyarrow_parquet(path)
    import pyarrow

    record = _as_record(preferences)
    runs = pyarrow.table({"run": record.pop("labels") or [None] * preferences.n_runs, "preference": record.pop("runs")})
    parquet.write_table(runs.replace_schema_metadata({b"holdfast": json.dumps(record).encode()}), path)


def _from_own_parquet(path: Path) -> Preferences | None:
    table = pyarrow_parquet(path).read_table(path)
    metadata = (table.schema.metadata or {}).get(b"holdfast")
    if metadata is None:
        return None
    labels, runs = table["run"].to_pylist(), table["preference"].to_pylist()
    return _from_record({**json.loads(metadata), "labels": None if None in labels else labels, "runs": runs})
