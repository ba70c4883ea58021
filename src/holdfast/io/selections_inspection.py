"""Looking at a file of selections before it is read: what it holds, and the first question that is open."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from holdfast.io.exported import is_exported, list_candidates
from holdfast.io.files import as_number, as_path, display_name, enough_memory, file_ending
from holdfast.io.guessing import guess_kind, show_entry
from holdfast.io.inspection import PREVIEW_COLUMNS, PREVIEW_ROWS
from holdfast.io.loading import load_frame
from holdfast.io.own_files import read_own_parquet
from holdfast.io.questions import Question, ReadingError, ask_candidate, plain_note, shorten
from holdfast.io.selections import (
    holds_matrix,
    least_features,
    parse_json,
    read_lists,
    read_selections,
    split_labels,
)
from holdfast.preferences import Kind, Preferences


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
        found = _look(path, transpose)
    if len(found.candidates) > 1 and candidate is None:
        return replace(found, question=ask_candidate(found.candidates))
    try:
        preferences, note = read_selections(path, kind, features, n_features, transpose=transpose, candidate=candidate)
    except ValueError as error:
        question = error.question if isinstance(error, ReadingError) else None
        return replace(found, question=question, problem="" if question else str(error))
    return _describe(found, preferences, note)


def _describe(found: SelectionsInspection, preferences: Preferences, note: str | None) -> SelectionsInspection:
    reason = found.kind_reason if preferences.kind == found.kind else ""
    names = [str(name) for name in preferences.features[:PREVIEW_COLUMNS]]
    return replace(
        found,
        kind=preferences.kind,
        kind_reason=reason,
        n_runs=preferences.n_runs,
        n_features=preferences.n_features,
        labels=_first(preferences.labels or ()),
        features=tuple(shorten(name, 40) for name in names),
        notes=() if note is None else (plain_note(note),),
    )


def _first(names: Iterable[Any], limit: int = PREVIEW_COLUMNS) -> tuple[str, ...]:
    return tuple(shorten(name, 40) for name, _ in zip(names, range(limit), strict=False))


# What the file holds


def _look(path: Path, transpose: bool | None) -> SelectionsInspection:
    """Return what can be said of a file without any decision."""
    found = SelectionsInspection(name=display_name(path))
    if is_exported(path):
        return replace(found, candidates=tuple(list_candidates(path)))
    if file_ending(path) == ".json":
        return _look_at_json(path, found)
    if not holds_matrix(path):
        return _look_at_lists(read_lists(path), found)
    if file_ending(path) == ".parquet" and read_own_parquet(path) is not None:
        return found
    return _look_at_matrix(path, found, bool(transpose))


def _look_at_json(path: Path, found: SelectionsInspection) -> SelectionsInspection:
    content = parse_json(path)
    runs = list(content.values()) if isinstance(content, dict) else content
    if not isinstance(runs, list) or not all(isinstance(run, list) for run in runs):
        return found  # a file of holdfast, or other JSON
    labels = _first(content) if isinstance(content, dict) else ()
    return replace(_look_at_lists(runs, found), labels=labels)


def _look_at_lists(runs: list[list[Any]], found: SelectionsInspection) -> SelectionsInspection:
    members = dict.fromkeys(str(member) for run in runs for member in run)
    return replace(
        found,
        kind="subset",
        kind_reason="The file lists the features that each run selected.",
        n_runs=len(runs),
        lists_names=True,
        least_features=least_features(runs),
        features=_first(members),
        preview=tuple(_first(run) for run in runs[:PREVIEW_ROWS]),
    )


def _look_at_matrix(path: Path, found: SelectionsInspection, turned: bool) -> SelectionsInspection:
    whole = load_frame(path).frame
    frame, labels, _ = split_labels(path, whole)
    corner = whole.iloc[:PREVIEW_ROWS, :PREVIEW_COLUMNS]
    kind, reason = _guess_kind(frame.T if turned else frame)
    names, rows = list(frame.columns), labels or []
    n_runs, n_features = frame.shape[::-1] if turned else frame.shape
    return replace(
        found,
        kind=kind,
        kind_reason=reason,
        n_runs=n_runs,
        n_features=n_features,
        labels=_first(names if turned else rows),
        features=_first(rows if turned else names),
        header=_first(corner.columns),
        preview=tuple(tuple(map(show_entry, row)) for row in corner.astype(object).to_numpy()),
    )


def _guess_kind(frame: pd.DataFrame) -> tuple[str, str]:
    """Return what the numbers of a matrix look like, and why; nothing if they are not all numbers."""
    numbers = frame.map(as_number) if frame.size else frame
    try:
        matrix = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        return "", ""
    return guess_kind(matrix) if matrix.size and np.isfinite(matrix).all() else ("", "")
