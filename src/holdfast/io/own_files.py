"""The files that holdfast itself writes for selections: JSON and Parquet that keep index lists."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from holdfast.checks import Matrix, PartialNames, check_number_of_features
from holdfast.io.delimited import OWN_MARK
from holdfast.io.files import parquet_table, pyarrow_parquet
from holdfast.preferences import Kind, Preferences

KINDS: tuple[Kind, ...] = ("subset", "ranking", "weighting")


def from_numbers(kind: Kind, matrix: Matrix, **names: Any) -> Preferences:
    """Make preferences of a kind from a matrix of 0/1, ranks or weights."""
    read = {
        "subset": Preferences.from_matrix,
        "ranking": Preferences.from_rankings,
        "weighting": Preferences.from_weights,
    }
    return read[kind](matrix, **names)


def as_record(preferences: Preferences) -> dict[str, Any]:
    """Return selections as the record that JSON files hold."""
    if preferences.values is not None:
        runs = preferences.values.tolist()
    else:
        indices, indptr = preferences.lists()
        runs = [indices[indptr[run] : indptr[run + 1]].tolist() for run in range(preferences.n_runs)]
    names = preferences.names.seen if isinstance(preferences.names, PartialNames) else preferences.names
    return {
        "format": OWN_MARK + "preferences",
        "kind": preferences.kind,
        "n_features": preferences.n_features,
        "features": names,
        "unnamed": 0 if names is None else preferences.n_features - len(names),
        "labels": preferences.labels,
        "runs": runs,
    }


def from_record(path: Path, record: dict[str, Any]) -> Preferences:
    """Return selections from the record of a file, which may hold anything."""
    missing = {"kind", "n_features", "features", "labels", "runs"} - set(record)
    if missing:
        raise ValueError(f"Expected {min(missing)!r} in the holdfast file {path}, got a file without; write it again.")
    whole = type(record["n_features"]) is int and record["kind"] in KINDS
    if not (whole and _lists_runs(record) and all(map(_names_or_none, _both_names(record)))):
        raise ValueError(f"Expected a whole holdfast file, got a damaged one: {path}; write it again.")
    total = check_number_of_features(record["n_features"])
    names, labels = (None if given is None else tuple(given) for given in _both_names(record))
    if record["kind"] != "subset":
        return from_numbers(record["kind"], record["runs"], features=names, labels=labels)
    indexed = Preferences.from_sets(record["runs"], n_features=total, labels=labels)
    if names is not None and 0 < total - len(names) == record.get("unnamed"):
        return replace(indexed, names=PartialNames(names, total))
    return replace(indexed, names=names)  # by index, as names may be numbers too


def _both_names(record: dict[str, Any]) -> tuple[Any, Any]:
    return record["features"], record["labels"]


def _names_or_none(given: Any) -> bool:
    return given is None or (isinstance(given, list) and all(isinstance(name, str) for name in given))


def _lists_runs(record: dict[str, Any]) -> bool:
    runs, kinds = record["runs"], {int} if record["kind"] == "subset" else {int, float}
    return isinstance(runs, list) and all(isinstance(run, list) and set(map(type, run)) <= kinds for run in runs)


def write_parquet(preferences: Preferences, path: Path) -> None:
    """Write selections as lists, with all else as metadata."""
    parquet = pyarrow_parquet(path)
    import pyarrow

    record = as_record(preferences)
    runs = pyarrow.table({"run": record.pop("labels") or [None] * preferences.n_runs, "preference": record.pop("runs")})
    parquet.write_table(runs.replace_schema_metadata({b"holdfast": json.dumps(record).encode()}), path)


def read_own_parquet(path: Path) -> Preferences | None:
    """Read a Parquet file that holdfast wrote; None for any other table, whatever its metadata hold."""
    table = parquet_table(path)
    metadata = (table.schema.metadata or {}).get(b"holdfast")
    if metadata is None or not {"run", "preference"} <= set(table.column_names):
        return None
    try:
        record = json.loads(metadata)
    except (ValueError, RecursionError):
        return None
    if not isinstance(record, dict) or "kind" not in record:
        return None
    labels, runs = table["run"].to_pylist(), table["preference"].to_pylist()
    return from_record(path, {**record, "labels": None if None in labels else labels, "runs": runs})
