"""Looking at a file before it is read: what it holds, what is likely meant, and the first question that is open."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from holdfast.declared import renamed
from holdfast.io import guessing
from holdfast.io.delimited import DEFAULT_SEPARATORS
from holdfast.io.doubts import is_batch
from holdfast.io.files import Loaded, as_path, display_name, enough_memory, file_ending, read_text
from holdfast.io.loading import ENDINGS, load_frame
from holdfast.io.options import OF_FILE, OPTIONS, Reading
from holdfast.io.questions import GAPS, Question, ReadingError, ask, plain_note, shorten
from holdfast.io.record import DataRecord
from holdfast.io.selections import SelectionsFile, as_matrix, decide_selections, least_features, parse_selections
from holdfast.io.table import complete_table, load_table, make_options
from holdfast.preferences import Kind

PREVIEW_ROWS, PREVIEW_COLUMNS = 8, 12
MAX_SHOWN = 40
"""Characters of a name in a preview."""
MAX_LIKELY = 3
"""Columns that may be the target, name rows, or say where rows come from, which a preview shows first."""
Load: TypeAlias = Callable[[Path, Reading], Loaded]


@dataclass(frozen=True, kw_only=True)
class TableInspection:
    r"""What a file with a table holds, and what it leaves open.

    Attributes
    ----------
    name : str
        Name of the file, without its folder.
    file_format : str
        How the file was read, in words; empty if it cannot be read before its question is answered.
    rows, columns : int
        Number of rows and columns below the header, row names not counted; of the turned table if it is turned.
    sheets : tuple of str
        Names of the tables in a file that may have several.
    header : tuple of str
        Names of at most 12 columns; the first is empty if rows have names. Of a wider table, columns with a role come
        first, then the first others.
    roles : tuple of str
        What each of these columns is: ``"target"``, ``"groups"``, ``"sites"``, ``"row names"`` and so on as
        given, ``"likely target"``, ``"looks like row names"`` or ``"looks like sites"`` as guessed; empty for others.
    preview : tuple of tuple of str
        The first rows, at most 8, of these columns as texts; lines of the file if it is no table yet.
    targets : tuple of TargetGuess
        Columns that may be the target, the likeliest first; at most 50.
    identifiers : tuple of str
        Columns that look like names of rows.
    features_in_rows : bool
        Whether rows look like features and columns like samples.
    orientation : str
        Why so, as a sentence; empty if they do not.
    notes : tuple of str
        What was odd about the file and, with a target, every change that would be made.
    question : Question or None
        The first decision that is open; None if the table can be read as it is.
    problem : str
        Why the table cannot be used though no question is open, as a sentence; empty if it can.
    record : DataRecord or None
        What was read, if a target is given and nothing is open.

    See Also
    --------
    holdfast.io.inspect_table : Makes one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import holdfast as hf
    >>> file = Path(tempfile.mkdtemp()) / "patients.csv"
    >>> _ = file.write_text("age,crp,ill\n31,0.5,no\n45,1.5,yes\n50,2.5,yes\n62,0.5,no\n")
    >>> hf.io.inspect_table(file).question.sentence
    'Which column is to be predicted?'
    """

    name: str
    file_format: str = ""
    rows: int = 0
    columns: int = 0
    sheets: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    preview: tuple[tuple[str, ...], ...] = ()
    targets: tuple[guessing.TargetGuess, ...] = ()
    identifiers: tuple[str, ...] = ()
    features_in_rows: bool = False
    orientation: str = ""
    notes: tuple[str, ...] = ()
    question: Question | None = None
    problem: str = ""
    record: DataRecord | None = None

    @property
    def n_hidden(self) -> int:
        """Number of columns that the preview does not show."""
        return self.columns - len(self.header) + (self.header[0] == "") if self.header else 0


@renamed(accept="treat_as_feature")
def inspect_table(
    path: str | Path, target: str | None = None, *, transpose: bool | None = None, **options: Any
) -> TableInspection:
    r"""Look at a file with a table: what it holds, which column may be the target, and what is to be decided.

    Ask, add :meth:`Question.answer` to the options, and look again, until no question is left: then
    :func:`holdfast.read_table` reads the file with the same options.

    Parameters
    ----------
    path : path
        A file in any format that :func:`holdfast.read_table` reads.
    target : str, optional
        Column to predict; without it, the columns that may be meant are offered.
    transpose : bool, optional
        Whether rows are features; a question if it is left out and rows look like features.
    **options
        All other options of :func:`holdfast.read_table`. Those that do not describe how the file is written count once
        there is a target.

    Returns
    -------
    TableInspection
        Sizes, a preview, guesses, notes, and the first open question.

    Raises
    ------
    ValueError
        If the file cannot be read in any way.

    See Also
    --------
    holdfast.read_table : Reads the table.
    inspect_selections : The same for selections.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import holdfast as hf
    >>> file = Path(tempfile.mkdtemp()) / "patients.csv"
    >>> _ = file.write_text("sex,crp,ill\nf,0.5,no\nm,1.5,yes\nm,2.5,yes\nf,0.5,no\n")
    >>> from holdfast.io.questions import add_answer
    >>> answers = {}
    >>> while (question := hf.io.inspect_table(file, **answers).question) is not None:
    ...     value, label = question.choices[0]
    ...     print(question.option, "=", value)
    ...     answers = add_answer(answers, question.answer(value))
    target = ill
    categorical = one-hot
    >>> hf.read_table(file, **answers)
    Table: 4 samples of 2 features, 'ill' of 2 classes (no: 2, yes: 2), 1 note
    """
    return inspect_by(load_table, path, target=target, transpose=transpose, **options)


def inspect_by(load: Load, path: str | Path, **given: Any) -> TableInspection:
    """Look at a table as :func:`inspect_table` does, loaded by a function that may remember what it read before."""
    unknown = set(given) - set(OPTIONS)
    if unknown:
        raise TypeError(f"Expected options of read_table, got {min(unknown)!r}.")
    path, transpose, target_file = as_path(path), given.get("transpose"), given.get("target_file")
    target = given.get("time") or given.get("target")
    reading = Reading(**{name: given[name] for name in OF_FILE if name in given})
    loaded, question = _load(path, reading, load)
    if loaded is None:
        return TableInspection(name=display_name(path), question=question, preview=_first_lines(path))
    with enough_memory(path):
        named = {
            "target": target, **{role: given.get(role) for role in ("event", "groups", "sites", "weights")},
            "row names": given.get("index"),
        }  # fmt: skip
        inspection = _look(loaded, display_name(path), transpose, named)
    single = loaded.frame.shape[1] == 1 and isinstance(loaded.frame.index, pd.RangeIndex)
    if question is None and reading.sep is None and single and file_ending(path) in DEFAULT_SEPARATORS:
        question = ask("separator", why="The file was read as a single column.")
    if question is None and reading.sheet is None and len(loaded.sheets) > 1:
        question = ask("sheet", loaded.sheets)
    if question is None and transpose is None and inspection.features_in_rows:
        question = ask("table-orientation", why=inspection.orientation)
    question = question or inspection.question
    if question is None and target is None:
        question = _ask_target(inspection, bool(transpose), target_file)
    if question is None and not transpose and given.get("event") is None and given.get("time") is None:
        question = _ask_survival(loaded.frame, str(target), given.get("task"))
    if question is not None or target is None:
        return replace(inspection, question=question)
    return _try_reading(inspection, loaded, path, {**given, "transpose": bool(transpose)}, may_turn=transpose is None)


# How the file is read


def _load(path: Path, reading: Reading, load: Load) -> tuple[Loaded | None, Question | None]:
    """Return a table and the question that reading it left open; it is then read with the first answer that works."""
    try:
        return load(path, reading), None
    except ReadingError as error:
        question = error.question
        if question is None:
            raise
    for value, _ in question.choices:
        answered = replace(reading, **{question.option: value})
        try:
            loaded = load(path, answered)
        except ValueError:
            continue
        if question.option != "sep" or loaded.frame.shape[1] > 1:
            return loaded, question
    return None, question


def _first_lines(path: Path) -> tuple[tuple[str, ...], ...]:
    """Return the first lines of a text that is no table yet; nothing of another file."""
    if file_ending(path) in ENDINGS and file_ending(path) not in DEFAULT_SEPARATORS:
        return ()
    try:
        text = read_text(path)
    except ValueError:
        return ()
    return tuple((shorten(line, 200),) for line in text[:100_000].split("\n")[:PREVIEW_ROWS])


# What it holds


def _look(loaded: Loaded, name: str, transpose: bool | None, named: dict[str, str | None]) -> TableInspection:
    """Return what a table holds, turned if that is asked for; with the question that turning leaves open.

    ``named`` are the columns that were given, by their roles.
    """
    index = named["row names"]
    orientation, question, frame = guessing.explain_features_in_rows(loaded.frame), None, loaded.frame
    if transpose and not loaded.turned:
        try:
            indexed = frame.set_index(index) if index in frame.columns else frame
            frame = guessing.turn(indexed.drop(columns=guessing.find_annotations(indexed)), loaded.decimal, name)
        except ReadingError as error:
            question = error.question
    frame, has_names = _with_row_names(frame)
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    targets, identifiers = guessing.guess_targets(frame), guessing.guess_identifiers(frame)
    roles = _find_roles(frame, named, targets, identifiers)
    positions, most = list(range(frame.shape[1])), PREVIEW_COLUMNS - has_names
    if len(positions) > most:  # columns with a role come first
        positions = list(dict.fromkeys([*roles, *range(most)]))[:most]
    corner = frame.iloc[:PREVIEW_ROWS, positions]
    labels = [[guessing.show_entry(label)] if has_names else [] for label in corner.index]
    cells = [[guessing.show_entry(entry) for entry in row] for row in corner.astype(object).to_numpy()]
    return TableInspection(
        name=name,
        file_format=loaded.file_format,
        rows=len(frame),
        columns=frame.shape[1],
        sheets=loaded.sheets,
        header=(*([""] if has_names else []), *(shorten(column, MAX_SHOWN) for column in corner.columns)),
        roles=(*([""] if has_names else []), *(roles.get(position, "") for position in positions)),
        preview=tuple((*label, *row) for label, row in zip(labels, cells, strict=True)),
        targets=tuple(targets),
        identifiers=tuple(identifiers),
        features_in_rows=bool(orientation),
        orientation=orientation,
        notes=tuple(map(plain_note, loaded.notes)),
        question=question,
    )


def _find_roles(
    frame: pd.DataFrame, named: dict[str, str | None], targets: list[guessing.TargetGuess], identifiers: list[str]
) -> dict[int, str]:
    """Return the roles of columns by their positions: those that were given first, then those that are likely."""
    classes = [guess.name for position, guess in enumerate(targets) if position == 0 or guess.kind == "classes"]
    batches = [name for name in frame.columns if is_batch(name) and len(name) <= MAX_SHOWN]
    likely = {
        "likely target": [] if named["target"] else classes, "looks like row names": identifiers,
        "looks like sites": [] if named["sites"] else batches,
    }  # fmt: skip
    guessed = [(role, name) for role, names in likely.items() for name in names[:MAX_LIKELY]]
    positions = dict(zip(reversed(frame.columns), range(frame.shape[1] - 1, -1, -1), strict=True))
    roles: dict[int, str] = {}
    for role, name in (*named.items(), *guessed):
        if name in positions:
            roles.setdefault(positions[name], role)
    return roles


def _with_row_names(frame: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """Return a table with a first column that has no name as its index, and whether its rows have names."""
    if len(frame.columns) and frame.columns[0] in guessing.NO_NAME:
        return frame.iloc[:, 1:].set_axis(frame.iloc[:, 0], axis=0), True
    return frame, not isinstance(frame.index, pd.RangeIndex)


def _ask_target(inspection: TableInspection, turned: bool, target_file: Any) -> Question:
    if target_file is not None:
        second = load_frame(as_path(target_file), row="sample", gaps=GAPS).frame
        names = [guess.name for guess in guessing.guess_targets(second)]
        return ask("column", names, why="Which column of the second table is to be predicted?")
    likely = [guess.name for guess in inspection.targets]
    if turned and not any(guess.kind == "classes" for guess in inspection.targets):
        return ask("target-file", why="Rows of this table are features, and none of them looks like a target.")
    return ask("column", likely, why="Which column is to be predicted?")


def _ask_survival(frame: pd.DataFrame, target: str, task: str | None) -> Question | None:
    """Ask whether a target is one of the two columns of survival times, and for the other of them."""
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    if target not in frame or not frame.columns.is_unique or task not in (None, "survival"):
        return None
    times, events = guessing.guess_survival(frame)
    is_time = types.is_numeric_dtype(frame[target]) and frame[target].nunique() > guessing.MAX_EVENT_VALUES
    others = events if is_time else times
    if task is None:
        if target not in (times if is_time else events) or not others:
            return None
        return ask(
            "survival", ["survival", "regression" if is_time else "classification"], target=target, other=others[0]
        )
    if not is_time and frame[target].nunique() > guessing.MAX_EVENT_VALUES:
        return None  # texts of R
    is_event = frame.nunique() <= guessing.MAX_EVENT_VALUES
    alike = [name for name in frame.columns[is_event == is_time] if name != target]
    return ask("event" if is_time else "time", list(dict.fromkeys([*others, *alike])), target=target)


def _try_reading(
    inspection: TableInspection, loaded: Loaded, path: Path, given: dict[str, Any], *, may_turn: bool
) -> TableInspection:
    """Return an inspection with what reading the table said: a record of it, a question, or a problem."""
    try:
        record = complete_table(loaded, make_options(str(path), given), display_name(path)).record
    except ValueError as error:
        question = error.question if isinstance(error, ReadingError) else None
        if question is not None and question.option == "transpose" and not may_turn:
            question = ask("column", [guess.name for guess in inspection.targets], why=question.sentence)
        return replace(inspection, question=question, problem="" if question else str(error))
    record = replace(record, notes=tuple(map(plain_note, record.notes)))
    return replace(inspection, record=record, notes=record.notes)


@dataclass(frozen=True, kw_only=True)
class SelectionsInspection:
    r"""What a file of selections holds, and what it leaves open.

    Attributes
    ----------
    name : str
        Name of the file, without its folder.
    kind : str
        What it holds or seems to hold: ``"subset"``, ``"ranking"`` or ``"weighting"``; empty if that is unknown.
    kind_reason : str
        Why so, as a sentence.
    n_runs, n_features : int
        Number of runs and of features to choose from; the latter is 0 as long as it is unknown.
    lists_names : bool
        Whether the file only lists the features that were selected, so that their number is to be said.
    least_features : int
        How many features there were at least, if they are listed.
    labels, features : tuple of str
        The first labels of runs and names of features.
    candidates : tuple of str
        Whose selections they are, in a file that a study exported.
    header : tuple of str
        Names of the first columns of a matrix, at most 12.
    preview : tuple of tuple of str
        The first rows of a matrix, or the first lists, as texts.
    notes : tuple of str
        How the file was read, where that is open.
    question : Question or None
        The first decision that is open; None if the file can be read as it is.
    problem : str
        Why the file cannot be used though no question is open, as a sentence; empty if it can.

    See Also
    --------
    holdfast.io.inspect_selections : Makes one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import holdfast as hf
    >>> file = Path(tempfile.mkdtemp()) / "runs.csv"
    >>> _ = file.write_text("run,age,dose,sex\n1,1,1,0\n2,1,0,1\n")
    >>> found = hf.io.inspect_selections(file)
    >>> found.kind, found.n_runs, found.n_features, found.question
    ('subset', 2, 3, None)
    """

    name: str
    kind: str = ""
    kind_reason: str = ""
    n_runs: int = 0
    n_features: int = 0
    lists_names: bool = False
    least_features: int = 0
    labels: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    preview: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    question: Question | None = None
    problem: str = ""


def inspect_selections(
    path: str | Path,
    *,
    kind: Kind | None = None,
    features: Iterable[str] | None = None,
    n_features: int | None = None,
    transpose: bool | None = None,
    candidate: str | None = None,
) -> SelectionsInspection:
    r"""Look at a file of selections: what its numbers are, how many runs there are, and what is to be decided.

    Parameters
    ----------
    path : path
        A file in any format that :func:`holdfast.read_preferences` reads.
    kind, features, n_features, transpose, candidate : optional
        As in :func:`holdfast.read_preferences`.

    Returns
    -------
    SelectionsInspection
        Kind, sizes, a preview, and the first open question.

    Raises
    ------
    ValueError
        If the file cannot be read in any way.

    See Also
    --------
    holdfast.read_preferences : Reads the selections.
    inspect_table : The same for a table of data.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import holdfast as hf
    >>> file = Path(tempfile.mkdtemp()) / "genes.txt"
    >>> _ = file.write_text("TP53 BRCA1\nTP53 EGFR\n")
    >>> question = hf.io.inspect_selections(file).question
    >>> question.option, question.choices[0]
    ('n_features', ('3', '3: only those that the file names, the fewest possible'))
    >>> hf.io.inspect_selections(file, **question.answer("20000")).n_features
    20000
    """
    path = as_path(path)
    with enough_memory(path):
        file = parse_selections(path)
        inspection = _look_at_selections(file, bool(transpose))
    if len(inspection.candidates) > 1 and candidate is None:
        return replace(inspection, question=ask("candidate", inspection.candidates))
    try:
        preferences, note = decide_selections(file, kind, features, n_features, transpose, candidate)
    except ValueError as error:
        question = error.question if isinstance(error, ReadingError) else None
        return replace(inspection, question=question, problem="" if question else str(error))
    return replace(
        inspection,
        kind=preferences.kind,
        kind_reason=inspection.kind_reason if preferences.kind == inspection.kind else "",
        n_runs=preferences.n_runs,
        n_features=preferences.n_features,
        labels=_first(preferences.labels or ()),
        features=_first(preferences.features),
        notes=() if note is None else (plain_note(note),),
    )


def _first(names: Iterable[Any]) -> tuple[str, ...]:
    return tuple(shorten(name, 40) for name in islice(names, PREVIEW_COLUMNS))


# What the file holds


def _look_at_selections(file: SelectionsFile, turned: bool) -> SelectionsInspection:
    """Return what can be said of a file without any decision."""
    inspection = SelectionsInspection(name=display_name(file.path), candidates=tuple(file.candidates))
    if file.runs is not None:
        return replace(
            inspection,
            kind="subset",
            kind_reason="The file lists the features that each run selected.",
            n_runs=len(file.runs),
            lists_names=True,
            least_features=least_features(file.runs),
            labels=_first(file.labels or ()),
            features=_first(dict.fromkeys(str(member) for run in file.runs for member in run)),
            preview=tuple(_first(run) for run in file.runs[:PREVIEW_ROWS]),
        )
    if file.table is None:
        return inspection
    corner = file.table.frame.iloc[:PREVIEW_ROWS, :PREVIEW_COLUMNS]
    kind, reason = _guess_kind(file.body.T if turned else file.body)
    names, rows = list(file.body.columns), file.labels or []
    n_runs, n_features = file.body.shape[::-1] if turned else file.body.shape
    return replace(
        inspection,
        kind=kind,
        kind_reason=reason,
        n_runs=n_runs,
        n_features=n_features,
        labels=_first(names if turned else rows),
        features=_first(rows if turned else names),
        header=_first(corner.columns),
        preview=tuple(tuple(map(guessing.show_entry, row)) for row in corner.astype(object).to_numpy()),
    )


def _guess_kind(frame: pd.DataFrame) -> tuple[str, str]:
    """Return what the numbers of a matrix look like, and why; nothing if they are not all numbers."""
    matrix = as_matrix(frame)
    return (
        guessing.guess_kind(matrix)
        if matrix.size and matrix.dtype.kind == "f" and np.isfinite(matrix).all()
        else ("", "")
    )
