"""Reading and writing selections: CSV, TSV, Parquet, JSON and plain text."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from holdfast.checks import Matrix, PartialNames, check_number_of_features
from holdfast.io import files
from holdfast.io.delimited import DEFAULT_SEPARATORS, FORMAT_MARK, open_text
from holdfast.io.doubts import NAMES
from holdfast.io.guessing import are_feature_names, are_run_labels, guess_kind, row_labels, turn
from holdfast.io.loading import ENDINGS, load_frame
from holdfast.io.questions import TRANSPOSE_HINT, listed, refuse
from holdfast.preferences import Kind, Preferences
from holdfast.text import format_count

FORMAT = f"{FORMAT_MARK}preferences"
"""States in a JSON or Parquet file that holdfast wrote it."""
REQUIRED = ("candidate", "run", "feature", "value")
TABLES = (".csv", ".tsv", ".parquet")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet would run as a formula."""
QUOTE = "'"


class ExportedRuns(NamedTuple):
    """What one candidate of a study preferred, with the position of each run in the study's design."""

    runs: Preferences
    design: str
    perturbation: str
    blocks: list[int]
    fractions: list[float]


def protect_formula(text: str) -> str:
    """Return a text that a spreadsheet takes for a text; a leading quote that was there is doubled."""
    return f"{QUOTE}{text}" if text.startswith((*FORMULA, QUOTE)) else text


def is_exported(path: Path) -> bool:
    """Whether a table has the columns of exported selections."""
    if files.file_ending(path) not in TABLES or not path.is_file():
        return False
    if files.file_ending(path) == ".parquet":
        names = files.parquet_table(path).column_names
    else:
        try:
            if not all(name in files.read_text(path) for name in REQUIRED):  # before its dialect is looked for
                return False
            names = open_text(path).header()
        except (ValueError, IndexError):  # whoever reads the table says what is wrong with it
            return False
    return set(REQUIRED) <= set(names)


def read_exported(path: Path, kind: Kind | None = None, n_features: int | None = None) -> dict[str, ExportedRuns]:
    """Read exported selections, by candidate; ``kind`` and ``n_features`` are for tables that do not say it."""
    return _split_exported(path, _read_columns(path), kind, n_features)


def _split_exported(
    path: Path, frame: pd.DataFrame, kind: Kind | None, n_features: int | None
) -> dict[str, ExportedRuns]:
    if frame.empty:
        raise ValueError(f"Expected selections in {path}, got a table without rows.")
    features = _read_feature_names(path)
    return {
        str(name): _read_candidate(path, rows, kind, n_features, features)
        for name, rows in frame.groupby("candidate", sort=False)
    }


def _read_columns(path: Path) -> pd.DataFrame:
    """Return a table that a study exported: of a text all cells as they are, but for what protects formulas."""
    if files.file_ending(path) == ".parquet":
        return files.parquet_table(path).to_pandas()
    try:
        cells = open_text(path).parse(dtype=str, keep_default_na=False)
    except pd.errors.EmptyDataError:
        return pd.DataFrame()
    except pd.errors.ParserError as error:
        raise ValueError(f"Expected a table in {path}, got something else: {str(error).strip().rstrip('.')}.") from None
    frame = cells.iloc[1:].set_axis(cells.iloc[0].tolist(), axis=1)
    for name in {"candidate", "run", "feature"} & set(frame.columns):
        frame[name] = frame[name].str.removeprefix(QUOTE)
    for name in {"value", "fraction"} & set(frame.columns):  # with decimal commas where a study wrote them so
        frame[name] = frame[name].str.replace(",", ".", regex=False)
    return frame


def _read_candidate(
    path: Path, rows: pd.DataFrame, kind: Kind | None, n_features: int | None, known: Sequence[str] | None
) -> ExportedRuns:
    labels, first = np.unique(rows["run"].astype(str).to_numpy(dtype=str), return_index=True)
    ordered = labels[np.argsort(first)].tolist()
    number = {label: position for position, label in enumerate(ordered)}
    run = rows["run"].astype(str).map(number).to_numpy(dtype=np.int64)
    values = _numbers(path, rows, "value")
    stated = _single(path, rows, "kind") or kind or _guess_kind(path, values)
    total = _single(path, rows, "n_features")
    selected = (rows["feature"].notna() & (rows["feature"] != "")).to_numpy()
    features = rows["feature"].where(selected, "").astype(str)
    if "column" in rows.columns:
        columns = _numbers(path, rows, "column").astype(np.int64)
    else:
        columns = pd.factorize(features.where(selected, None))[0].astype(np.int64)
    n_named = int(columns.max(initial=-1)) + 1
    size = n_features if total is None else int(total)
    if size is None and stated != "subset":
        size = n_named
    if size is None:
        raise refuse("unknown-number-of-features", [n_named] if n_named else [], path=path, or_names="")
    if n_named > size or columns[selected].min(initial=0) < 0:
        raise ValueError(f"Expected columns from 0 to {size - 1} in {path}, got others; export it again.")
    names = _all_names(dict(zip(columns[selected].tolist(), features[selected], strict=True)), size, known)
    if stated == "subset":
        taken = selected & (values != 0)
        order = np.lexsort((columns[taken], run[taken]))
        pointers = np.concatenate([[0], np.cumsum(np.bincount(run[taken], minlength=len(ordered)))]).astype(np.int64)
        indices = columns[taken][order].astype(np.int32)
        if (np.diff(indices) == 0)[np.diff(run[taken][order]) == 0].any():
            raise ValueError(f"Expected each feature once per run in {path}, got one twice; export it again.")
        runs = Preferences(
            kind="subset", n_features=size, indices=indices, indptr=pointers, names=names, labels=tuple(ordered)
        )
    elif len(values) != len(ordered) * size:
        raise refuse("incomplete-runs", kind=stated, total=size, path=path, values=len(values), runs=len(ordered))
    else:
        matrix = np.full((len(ordered), size), np.nan)
        matrix[run, columns] = values
        make = Preferences.from_rankings if stated == "ranking" else Preferences.from_weights
        runs = make(matrix, features=names, labels=ordered)
    firsts = rows.iloc[np.sort(first)]
    return ExportedRuns(
        runs,
        str(_single(path, rows, "design") or "runs"),
        str(_single(path, rows, "perturbation") or ""),
        _numbers(path, firsts, "block", 0).astype(int).tolist(),
        _numbers(path, firsts, "fraction", 1).tolist(),
    )


def _all_names(names: dict[int, str], size: int, known: Sequence[str] | None) -> tuple[str, ...] | None:
    """Names of all columns: those that are known if they agree; columns that no run selected may have none."""
    if known is not None and len(known) == size and all(known[column] == name for column, name in names.items()):
        return tuple(known)
    if all(name == str(column) for column, name in names.items()):
        return None
    taken = set(names.values())
    unnamed = (f"unnamed_{column}" for column in range(size))
    return tuple(names.get(column) or (f"{name}_" if name in taken else name) for column, name in enumerate(unnamed))


def _read_feature_names(path: Path) -> list[str] | None:
    """The names of all features, from the table ``features`` that was exported with the selections."""
    table_of_features = path.with_name(f"features{path.suffix}")
    if not table_of_features.is_file():
        return None
    table = _read_columns(table_of_features)
    if "feature" not in table:
        return None
    if "column" in table:  # features of several candidates
        table = table.assign(column=table["column"].astype(int)).drop_duplicates("column").sort_values("column")
    return table["feature"].astype(str).tolist()


def _guess_kind(path: Path, values: NDArray[np.float64]) -> Kind:
    if np.isin(values, (0, 1)).all():
        return "subset"
    raise refuse("other-values", path=path, other=values[~np.isin(values, (0, 1))][0])


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
        "format": FORMAT,
        "kind": preferences.kind,
        "n_features": preferences.n_features,
        "features": names,
        "unnamed": 0 if names is None else preferences.n_features - len(names),
        "labels": preferences.labels,
        "runs": runs,
    }


def from_record(path: Path, record: Any) -> Preferences:
    """Return selections from the record of a file, which may hold anything."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise _other_json(path)
    missing = {"kind", "n_features", "features", "labels", "runs"} - set(record)
    if missing:
        raise ValueError(f"Expected {min(missing)!r} in the holdfast file {path}, got a file without; write it again.")
    runs, kinds, both = record["runs"], {int} if record["kind"] == "subset" else {int, float}, []
    whole = type(record["n_features"]) is int and record["kind"] in KINDS and isinstance(runs, list)
    whole = whole and all(isinstance(run, list) and set(map(type, run)) <= kinds for run in runs)
    for given in (record["features"], record["labels"]):
        whole = whole and (given is None or (isinstance(given, list) and all(isinstance(name, str) for name in given)))
        both.append(tuple(given) if whole and given is not None else None)
    if not whole:
        raise ValueError(f"Expected a whole holdfast file, got a damaged one: {path}; write it again.")
    total, (names, labels) = check_number_of_features(record["n_features"]), both
    if record["kind"] != "subset":
        return from_numbers(record["kind"], record["runs"], features=names, labels=labels)
    indexed = Preferences.from_sets(record["runs"], n_features=total, labels=labels)
    if names is not None and 0 < total - len(names) == record.get("unnamed"):
        return replace(indexed, names=PartialNames(names, total))
    return replace(indexed, names=names)  # by index, as names may be numbers too


def write_parquet(preferences: Preferences, path: Path) -> None:
    """Write selections as lists, with all else as metadata."""
    parquet = files.pyarrow_parquet(path)
    import pyarrow

    record = as_record(preferences)
    runs = pyarrow.table({"run": record.pop("labels") or [None] * preferences.n_runs, "preference": record.pop("runs")})
    parquet.write_table(runs.replace_schema_metadata({b"holdfast": json.dumps(record).encode()}), path)


def _parquet_record(path: Path) -> dict[str, Any] | None:
    """Return the record in a Parquet file that holdfast wrote; None for any other, whatever its metadata hold."""
    table = files.parquet_table(path)
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
    return {**record, "format": FORMAT, "labels": None if None in labels else labels, "runs": runs}


Runs = TypeVar("Runs")


def read_preferences(
    path: str | Path,
    *,
    kind: Kind | None = None,
    features: Iterable[str] | None = None,
    n_features: int | None = None,
    transpose: bool | None = None,
    candidate: str | None = None,
) -> Preferences:
    r"""Read the selections of several runs from a file.

    Parameters
    ----------
    path : path
        ``.csv``, ``.tsv``, ``.xlsx``, ``.parquet`` or any other ending that :func:`read_table` knows but ``.txt`` and
        ``.dat``: a matrix, one row per run, feature names in the header, 0/1, ranks or weights; a first column of text,
        or one named ``run``, holds the runs' labels. ``.json``: a list of lists of
        features, or an object from run label to such a list. Other endings: text, one run per line, features separated
        by tabs, semicolons, commas or, in a file without these, blanks; an empty line is an empty selection. All but
        Parquet may be packed (``.gz``). Also the table ``selections`` that a study exports, with the columns
        ``candidate``, ``run``, ``feature`` and ``value``.
    kind : {"subset", "ranking", "weighting"}, optional
        What the numbers of a matrix are. 0/1 are read as subsets; ranks and weights must be stated.
    features : iterable of str, optional
        All features there were to choose from, for lists of features.
    n_features : int, optional
        How many there were, for lists of features.
    transpose : bool, optional
        Whether the matrix has one row per feature and one column per run. By default it has one row per run, and a
        matrix whose names say otherwise is refused; ``False`` reads it whatever they say.
    candidate : str, optional
        Of the selections that a study exported, whose to read.

    Returns
    -------
    Preferences
        The runs.

    Raises
    ------
    ValueError
        If the file cannot be read, does not hold what ``kind`` says, has another number of features, or has columns
        named like runs.

    See Also
    --------
    write_preferences : Write such a file.
    Preferences.from_sets : Selections that are lists in Python.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import holdfast as hf
    >>> file = Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = file.write_text("run,age,dose,sex\nfirst,1,1,0\nsecond,1,0,1\n")
    >>> hf.read_preferences(file)
    Preferences: 2 subsets of 3 features, 2 selected each
    """
    options = {"kind": kind, "features": features, "n_features": n_features}
    return read_selections(path, **options, transpose=transpose, candidate=candidate)[0]


def read_selections(path: str | Path, **options: Any) -> tuple[Preferences, str | None]:
    """Read selections as :func:`read_preferences` does, with a note on which way a matrix was read, if that is open."""
    return decide_selections(parse_selections(files.as_path(path)), **options)


@dataclass(frozen=True, kw_only=True)
class SelectionsFile:
    """What a file of selections holds, as it stands there: one of four things.

    Attributes
    ----------
    path : path
        The file.
    exported : DataFrame or None
        The selections that a study exported.
    record : object
        What JSON or Parquet that holdfast wrote holds; also any JSON that is no list of lists.
    runs : list of lists or None
        The features that each run selected.
    table : Loaded or None
        A matrix.
    body : DataFrame
        The matrix without a first column of labels.
    labels : list of str or None
        Labels of the lists, or of the rows of the matrix.
    kind : str or None
        What the numbers of a matrix are, where the file states it.
    """

    path: Path
    exported: pd.DataFrame | None = None
    record: Any = None
    runs: list[list[Any]] | None = None
    table: files.Loaded | None = None
    body: pd.DataFrame = field(default_factory=pd.DataFrame)
    labels: list[str] | None = None
    kind: Kind | None = None

    @property
    def candidates(self) -> list[str]:
        """Names of the candidates whose selections a study exported, in their order."""
        return [] if self.exported is None else [str(name) for name in self.exported["candidate"].unique()]


def parse_selections(path: Path) -> SelectionsFile:
    """Parse a file of selections; nothing is decided yet."""
    if is_exported(path):
        return SelectionsFile(path=path, exported=_read_columns(path))
    if files.file_ending(path) == ".json":
        content = parse_json(path)
        runs = list(content.values()) if isinstance(content, dict) else content
        if not isinstance(runs, list) or not all(isinstance(run, list) for run in runs):
            return SelectionsFile(path=path, record=content)
        return SelectionsFile(path=path, runs=runs, labels=list(content) if isinstance(content, dict) else None)
    if not holds_matrix(path):
        return SelectionsFile(path=path, runs=read_lists(path))
    record = _parquet_record(path) if files.file_ending(path) == ".parquet" else None
    if record is not None:
        return SelectionsFile(path=path, record=record)
    table = load_frame(path)
    body, labels, kind = _split_labels(path, table.frame)
    return SelectionsFile(path=path, table=table, body=body, labels=labels, kind=kind)


def decide_selections(
    file: SelectionsFile,
    kind: Kind | None = None,
    features: Iterable[str] | None = None,
    n_features: int | None = None,
    transpose: bool | None = None,
    candidate: str | None = None,
) -> tuple[Preferences, str | None]:
    """Return the selections of a file, and a note on which way a matrix was read, or ask what it leaves open."""
    path, note = file.path, None
    if kind not in (None, *KINDS):
        raise refuse("unknown-kind", kind=kind)
    names = None if features is None else list(features)
    if file.exported is not None:
        exported = _split_exported(path, file.exported, kind, n_features)
        preferences = pick_candidate(path, exported, candidate).runs
    elif candidate is not None:
        raise refuse("no-export", path=path, candidate=candidate)
    elif transpose and not holds_matrix(path):
        raise refuse("lists-to-turn", path=path)
    elif file.runs is not None:
        preferences = _from_lists(file, names, n_features)
    elif file.table is None:
        preferences = from_record(path, file.record)
    elif transpose:
        frame = turn(_with_row_names(file.table.frame), file.table.decimal, str(path))
        preferences = from_number_frame(path, frame, [str(label) for label in frame.index], kind)
    else:
        note = _check_orientation(file) if file.kind is None and transpose is None else None
        preferences = from_number_frame(path, file.body, file.labels, file.kind or kind)
    if kind not in (None, preferences.kind):
        raise refuse("other-kind", [preferences.kind], kind=kind, path=path, found=preferences.kind)
    universe = n_features if names is None else len(names)
    if universe not in (None, preferences.n_features):
        width = preferences.n_features
        raise refuse("other-number-of-features", [width], expected=universe, path=path, width=width)
    return preferences, note


def pick_candidate(path: Path, exported: Mapping[str, Runs], candidate: str | None) -> Runs:
    """Return what a candidate of an exported study preferred; the only one need not be named."""
    if candidate is None and len(exported) == 1:
        return next(iter(exported.values()))
    known = ", ".join(list(exported)[:20])
    if candidate is None:
        raise refuse("several-candidates", list(exported), path=path, known=known)
    if candidate not in exported:
        raise refuse("no-such-candidate", list(exported), known=known, path=path, candidate=candidate)
    return exported[candidate]


def holds_matrix(path: Path) -> bool:
    """Whether the ending of a file says that it holds a matrix; else it lists the features of each run."""
    return files.file_ending(path) in ENDINGS and files.file_ending(path) not in (".txt", ".dat")


def _with_row_names(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a matrix whose first column names its rows; in one without names, rows are counted from 0."""
    if row_labels(frame) is not None:
        return frame
    return frame.set_axis([str(position) for position in range(len(frame))])


def _check_orientation(file: SelectionsFile) -> str | None:
    """Raise if names say that rows are features; return a note unless they say that rows are runs."""
    frame, labels, first = file.body, file.labels, str(cast(files.Loaded, file.table).frame.columns[0])
    rows_are_runs = labels is not None and (first.lower() in NAMES["runs"] or are_run_labels(labels))
    if rows_are_runs:
        return None
    if are_run_labels(list(frame.columns)):
        raise refuse("runs-in-columns", path=file.path, names=frame.columns, first=listed(frame.columns, 3))
    if labels is not None and (first.lower() in NAMES["features"] or are_feature_names(labels)):
        raise refuse("runs-like-features", path=file.path, names=labels, first=listed(labels, 3))
    runs, features = format_count(len(frame), "run"), format_count(frame.shape[1], "feature")
    return f"Read as {runs} of {features}{TRANSPOSE_HINT}."


def write_preferences(preferences: Preferences, path: str | Path) -> None:
    """Write selections to a file from which :func:`read_preferences` restores them exactly.

    The ending says how: ``.csv``, ``.tsv``, ``.json`` or ``.parquet``. A CSV file is a full matrix; for very many
    features take JSON or Parquet, which keep index lists.

    Parameters
    ----------
    preferences : Preferences
        The runs to write.
    path : path
        File to write.

    Raises
    ------
    ValueError
        If the ending is unknown.

    See Also
    --------
    read_preferences : Read the file again.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import holdfast as hf
    >>> runs = hf.Preferences.from_sets([{0, 1}, {0, 2}], n_features=4)
    >>> file = Path(tempfile.mkdtemp()) / "runs.json"
    >>> hf.write_preferences(runs, file)
    >>> hf.read_preferences(file) == runs
    True
    """
    path = files.as_path(path)
    if path.suffix in (".csv", ".tsv"):
        frame = preferences.to_frame()
        labels = preferences.labels or [""] * preferences.n_runs
        frame.insert(0, FORMAT_MARK + preferences.kind, list(labels), allow_duplicates=True)
        frame.to_csv(path, index=False, sep="," if path.suffix == ".csv" else "\t")
    elif path.suffix == ".json":
        path.write_text(json.dumps(as_record(preferences), ensure_ascii=False), encoding="utf-8")
    elif path.suffix == ".parquet":
        write_parquet(preferences, path)
    else:
        raise ValueError(f"Expected a file ending in .csv, .tsv, .json or .parquet, got {path.name!r}.")


def read_names(path: str | Path) -> list[str]:
    """Read feature names, one per line."""
    lines = files.read_text(files.as_path(path)).splitlines()
    names = [line.strip() for line in lines if line.strip()]
    if not names:
        raise ValueError(f"Expected one feature name per line in {path}, got an empty file.")
    return names


def _split_labels(path: Path, frame: pd.DataFrame) -> tuple[pd.DataFrame, list[str] | None, Kind | None]:
    """Return a matrix without its column of labels, the labels, and the kind that holdfast wrote into its header."""
    if not isinstance(frame.index, pd.RangeIndex):
        return frame, [str(label) for label in frame.index], None
    if frame.columns.empty:
        return frame, None, None
    first, column = str(frame.columns[0]), frame.iloc[:, 0]
    stated_kind = next((kind for kind in KINDS if first == FORMAT_MARK + kind), None)
    if stated_kind is None and first.lower() not in NAMES["run_labels"] and not files.is_text(column):
        return frame, None, None
    if files.file_ending(path) in DEFAULT_SEPARATORS:  # as written: 01 is not 1, and NA is a label too
        column = open_text(path).parse(skiprows=1, usecols=[0], dtype=str, keep_default_na=False)[0]
    labels = ["" if pd.isna(label) else f"{label:g}" if isinstance(label, float) else str(label) for label in column]
    return frame.iloc[:, 1:], labels if any(labels) else None, stated_kind


def as_matrix(frame: pd.DataFrame) -> NDArray[Any]:
    """Return the numbers of a frame as floats; where an entry is none, all as objects."""
    matrix = frame.to_numpy(dtype=object, copy=True)  # pandas 3.0 writes na_value into a view that is read-only
    matrix[pd.isna(matrix)] = np.nan
    try:
        return matrix.astype(np.float64)
    except (TypeError, ValueError, OverflowError):  # the constructors say which entry is no number
        others = [not types.is_numeric_dtype(dtype) for dtype in frame.dtypes]
        matrix[:, others] = np.vectorize(files.as_number, otypes=[object])(matrix[:, others])
        return matrix


def from_number_frame(path: Path, frame: pd.DataFrame, labels: list[str] | None, kind: Kind | None) -> Preferences:
    """Return the runs that a frame of numbers holds, or ask what its numbers are."""
    names = [str(name) for name in frame.columns]
    for name, column in frame.loc[:, [dtype.kind == "O" for dtype in frame.dtypes]].items():
        if column.map(lambda entry: isinstance(entry, (np.ndarray, list, dict))).any():
            raise ValueError(f"Expected a number per run and feature in {path}, got lists or records in {name!r}.")
    matrix = as_matrix(frame)
    is_finite = matrix.dtype == np.float64 and np.isfinite(matrix).all()
    if kind in (None, "subset") and is_finite and not np.isin(matrix, (0, 1)).all():
        likely, why = guess_kind(matrix)
        choices = ("ranking", "weighting") if likely == "ranking" else ("weighting", "ranking")
        raise refuse("other-numbers", choices, path=path, other=matrix[~np.isin(matrix, (0, 1))][0], why=why)
    try:
        return from_numbers(kind or "subset", matrix, features=names, labels=labels)
    except ValueError as error:  # names functions of Python, which a file and a command need not
        for name, other in (("weights", "weighting"), ("rankings", "ranking")):
            error.args = (str(error).replace(f"Preferences.from_{name}()", f"kind={other!r}"),)
        raise


def read_lists(path: Path) -> list[list[str]]:
    """Return the features that each line of a text lists."""
    lines = [line.strip() for line in files.read_text(path).split("\n")]
    if not lines[-1]:
        lines.pop()
    separator = next((mark for mark in "\t;," if any(mark in line for line in lines)), None)  # None splits at blanks
    return [[part.strip() for part in line.split(separator) if part.strip()] for line in lines]


def _from_lists(file: SelectionsFile, features: Iterable[str] | None, n_features: int | None) -> Preferences:
    path, runs = file.path, file.runs or []
    if not {type(member) for run in runs for member in run} <= {str, int}:
        raise _other_json(path)
    if features is None and n_features is None:
        least, or_names = least_features(runs), " or features="
        raise refuse("unknown-number-of-features", [least] if least else [], path=path, or_names=or_names)
    if features is None and all(str(member).isdecimal() for run in runs for member in run):
        try:
            runs = [[int(member) for member in run] for run in runs]
        except ValueError:
            raise _too_long(path) from None
    return Preferences.from_sets(runs, features=features, n_features=n_features, labels=file.labels)


def least_features(runs: list[list[Any]]) -> int:
    """Return how many features there were at least: the different ones listed, or the greatest index and one."""
    members = {str(member) for run in runs for member in run}
    if all(member.isdecimal() and len(member) < 16 for member in members):
        return max((int(member) + 1 for member in members), default=0)
    return len(members)


def _other_json(path: Path) -> ValueError:
    return refuse("other-json", path=path)


def parse_json(path: Path) -> Any:
    """Return what a JSON file holds."""
    text = files.read_text(path)
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"Expected JSON in {path}, got something else in line {error.lineno}: {error.msg}.") from None
    except RecursionError:
        raise ValueError(f"Expected lists of features in {path}, got lists inside lists inside lists.") from None
    except ValueError:
        raise _too_long(path) from None


def _too_long(path: Path) -> ValueError:
    return ValueError(f"Expected names or indices of features in {path}, got a number of thousands of digits.")
