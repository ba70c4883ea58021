"""Reading a data set from a file or frame: features, target and groups."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from holdfast.checks import as_names
from holdfast.io.columns import ask_role, check_column_exists, without_columns
from holdfast.io.features import make_features
from holdfast.io.files import Loaded, Reading, as_path, display_name, file_ending
from holdfast.io.loading import ENDINGS, load_frame
from holdfast.io.options import (
    GAPS,
    Categorical,
    Missing,
    TableOptions,
    Task,
    check_options,
    join_first,
    pluralize,
    quote_names,
)
from holdfast.io.orientation import NO_NAME, turn
from holdfast.io.questions import ACCEPT_HINT, ACCEPTED, ReadingError, ask_suspects, quoted
from holdfast.io.record import DataRecord
from holdfast.io.suspects import Suspect, describe_suspects, find_suspects, note_repeats
from holdfast.io.target import as_labels, make_target
from holdfast.io.target_file import join_target


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """Features, target and groups of a data set, and what was changed to get them; as :func:`read_table` returns them.

    ``X, y = table`` works too.

    Attributes
    ----------
    X : DataFrame
        The features: finite floats, each column with a name of its own.
    y : ndarray
        Class labels (texts or whole numbers), or floats for regression.
    groups : ndarray or None
        Group of each row, such as the patient a sample was taken from.
    record : DataRecord
        Where the data come from, their sizes, the classes, and every change that was made.

    See Also
    --------
    holdfast.read_table : Reads a table.

    Examples
    --------
    >>> import pandas as pd
    >>> import holdfast as hf
    >>> table = hf.read_table(pd.DataFrame({"age": [31, 45, 50, 62], "ill": ["no", "yes", "yes", "no"]}), "ill")
    >>> table.X.shape, table.task
    ((4, 1), 'classification')
    """

    X: pd.DataFrame
    y: NDArray[Any]
    groups: NDArray[Any] | None = None
    record: DataRecord

    @property
    def target(self) -> str | None:
        """Name of the target."""
        return self.record.target

    @property
    def task(self) -> Task:
        """Whether classes or numbers are to be predicted."""
        return self.record.task

    @property
    def notes(self) -> tuple[str, ...]:
        """Every change that was made and everything that looks odd, one sentence each."""
        return self.record.notes

    @property
    def warnings(self) -> tuple[str, ...]:
        """What changes how results are to be read, such as a feature that may be the target in other words."""
        return self.record.warnings

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        size = " of ".join(map(pluralize, self.X.shape, ("sample", "feature")))
        values = "numbers"
        if self.task == "classification":
            shown = join_first([f"{label}: {count}" for label, count in self.record.classes])
            values = f"{len(self.record.classes)} classes ({shown})"
        counts = ((self.record.n_groups, "group"), (len(self.notes), "note"), (len(self.warnings), "warning"))
        more = [f", {pluralize(count, noun)}" for count, noun in counts if count]
        return f"Table: {size}, {self.target!r} of {values}{''.join(more)}"


def make_table(
    X: pd.DataFrame,
    y: NDArray[Any],
    task: Task,
    groups: NDArray[Any] | None = None,
    groups_name: str | None = None,
    **facts: Any,
) -> Table:
    """Return a table with the record of its data: sizes, classes and groups are counted, ``facts`` are the rest."""
    labels, counts = np.unique(y, return_counts=True) if task == "classification" else ((), ())
    record = DataRecord(
        **{"rows_read": X.shape[0], "columns_read": X.shape[1] + 1, **facts},
        rows=X.shape[0],
        features=X.shape[1],
        task=task,
        classes=tuple((str(label), int(count)) for label, count in zip(labels, counts, strict=True)),
        groups=groups_name,
        n_groups=None if groups is None else len(np.unique(groups)),
    )
    return Table(X=X, y=y, groups=groups, record=record)


def read_table(
    path: str | Path | pd.DataFrame,
    target: str,
    *,
    task: Task | None = None,
    groups: str | None = None,
    index: str | None = None,
    ignore: str | Iterable[str] = (),
    accept: str | Iterable[str] = (),
    missing: Missing = "error",
    categorical: Categorical = "error",
    drop_constant: bool = False,
    transpose: bool = False,
    target_file: str | Path | None = None,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
) -> Table:
    """Read a data set, one row per sample, from a file or a frame; change nothing without a note.

    Parameters
    ----------
    path : path or DataFrame
        Text (``.csv``, ``.tsv``, ``.tab``, ``.txt``, ``.dat``), whose encoding, separator and decimal mark are
        detected; Excel (``.xlsx``, ``.xls``, ``.ods``), ``.parquet``, ``.feather``, ``.arff``, AnnData (``.h5ad``),
        or R's ``.rds`` and ``.RData``. Text and ARFF may be packed (``.csv.gz``). The first line names the columns; a
        first column without a name holds row names.
    target : str
        Column of the class labels, or of the numbers to predict.
    task : {"classification", "regression"}, optional
        Whether classes or numbers are to be predicted. By default, texts and few different whole numbers are classes,
        fractions are numbers to predict, and many different whole numbers are an error.
    groups : str, optional
        Column that says which samples belong together, such as those of one patient. It is not a feature.
    index : str, optional
        Column of row names. It is not a feature.
    ignore : str or list of str
        Columns to leave out.
    accept : str or list of str
        Columns to keep as features though they look like row numbers, identifiers or the target; columns of ``obs`` in
        AnnData, or of ``target_file``, to be features.
    missing : {"error", "impute-median", "drop"}
        What to do with missing values (empty, ``NA``, ``NaN``, ``null``, ``None``, ``?``): refuse them; fill them with
        the column's median, or most frequent category; or drop their rows. A missing target is never filled. Medians
        are of all rows: where that may leak into a test set, impute in a pipeline instead.
    categorical : {"error", "one-hot", "codes", "drop"}
        What to do with columns that are not numbers: refuse them; make a 0/1 column of each category (one column for
        two categories, as the other would be its mirror); number the categories; or leave the columns out.
    drop_constant : bool
        Leave out columns with a single value; otherwise they are kept, with a note.
    transpose : bool
        Features stand in rows and samples in columns, as expression data come. The first column names the features; the
        target is one of these rows, or stands in ``target_file``.
    target_file : path, optional
        A second table with names of samples and the target, and maybe the groups; rows are matched by name, in any
        order. The names of samples in the first table are its header if ``transpose``, else its row names.
    sep : str, optional
        What separates columns of text, such as ``";"``, ``"tab"`` or ``"space"``; detected by default.
    decimal : {".", ","}, optional
        Decimal mark of text; detected by default.
    encoding : str, optional
        Encoding of text, such as ``"utf-8"`` or ``"latin-1"``; detected by default.
    sheet : str, optional
        Sheet of an Excel file, or object of an ``.RData`` file; by default, the first one with a table.

    Returns
    -------
    Table
        Features, target, groups, and notes about what was changed.

    Raises
    ------
    ValueError
        If the data need a decision that no option makes, such as text, missing values, or columns that look like
        identifiers.

    See Also
    --------
    holdfast.io.Table : What is returned.
    read_preferences : Selections in files.

    Examples
    --------
    >>> import pandas as pd
    >>> import holdfast as hf
    >>> ages, sexes = [31, 45, None, 62], ["f", "m", "f", "m"]
    >>> frame = pd.DataFrame({"age": ages, "sex": sexes, "ill": ["no", "yes", "no", "yes"]})
    >>> table = hf.read_table(frame, "ill", missing="impute-median", categorical="one-hot")
    >>> table
    Table: 4 samples of 2 features, 'ill' of 2 classes (no: 2, yes: 2), 2 notes
    >>> for note in table.notes:
    ...     print(note)
    Filled 1 missing value with the median of the column: 'age' (1).
    Made 0/1 columns of the categories of 'sex' ('sex=m').
    >>> X, y = table
    """
    if not isinstance(path, pd.DataFrame):
        path = as_path(path, "the path of a file, or a pandas DataFrame with names of columns")
    where = "the frame" if isinstance(path, pd.DataFrame) else str(path)
    options = make_options(
        where, target, groups=groups, index=index, ignore=ignore, accept=accept, task=task, missing=missing,
        categorical=categorical, drop_constant=drop_constant, transpose=transpose,
    )  # fmt: skip
    loaded = load_table(path, Reading(sep=sep, decimal=decimal, encoding=encoding, sheet=sheet))
    table = complete_table(loaded, options, target_file)
    source = None if isinstance(path, pd.DataFrame) else display_name(path)
    return replace(table, record=replace(table.record, source=source, file_format=loaded.file_format or None))


def make_options(
    where: str, target: str, *, groups: Any, index: Any, ignore: Any, accept: Any, **others: Any
) -> TableOptions:
    """Return checked options of :func:`read_table`; ``where`` is what messages call the data."""
    lists = {key: (names,) if isinstance(names, str) else as_names(names, f"{key}=") for key, names in
             (("ignore", ignore), ("accept", accept))}  # fmt: skip
    groups, index = (None if name is None else str(name) for name in (groups, index))
    roles = {"target": str(target), "groups": groups, "index": index, **lists}
    options = TableOptions(where=where, **{**roles, **others})
    check_options(options)
    return options


def complete_table(loaded: Loaded, options: TableOptions, target_file: str | Path | None = None) -> Table:
    """Return features, target and groups of a table as it stands in a file, or ask what it leaves open."""
    loaded = _orient(loaded, options)
    if target_file is not None:
        options = replace(options, columns=tuple(map(str, loaded.frame.columns)))
        loaded = join_target(loaded, options, as_path(target_file, "the path of a second file for target_file="))
    frame, notes = _check_columns(loaded.frame, options)
    options = replace(options, columns=tuple(frame.columns))
    return _make(frame, (*loaded.notes, *notes), loaded.aside, options)


def load_table(path: Path | pd.DataFrame, reading: Reading) -> Loaded:
    """Return a table as it stands in a file of a known ending, or in a frame."""
    if isinstance(path, pd.DataFrame):
        return Loaded(frame=path, file_format="")
    if file_ending(path) not in ENDINGS:
        shown = display_name(path)
        raise ValueError(f"Expected a file ending in {', '.join(ENDINGS)}, got {shown!r}; save it as one of these.")
    return load_frame(path, row="sample", gaps=GAPS, reading=reading)


def _orient(loaded: Loaded, options: TableOptions) -> Loaded:
    """Return a table with samples in rows; columns to ignore that are none of its features are left out before."""
    if not options.transpose:
        return loaded
    if options.index is not None and options.index in loaded.frame.columns:
        loaded = replace(loaded, frame=loaded.frame.set_index(options.index))
    frame = loaded.frame
    others = [name for name in frame.columns if str(name) in options.ignore]
    turned = turn(without_columns(frame, others), loaded.decimal, options.where)
    note = "Transposed the table, as features stood in its rows."
    return replace(loaded, frame=turned, notes=(*loaded.notes, note), aside=tuple(map(str, others)))


def _make(frame: pd.DataFrame, notes: tuple[str, ...], aside: tuple[str, ...], options: TableOptions) -> Table:
    """Return the table of a frame whose columns are known; suspicious ones are refused, noted or warned of."""
    roles = frame[[name for name in (options.target, options.groups) if name is not None]]
    left = [name for name in aside if name in frame.columns and name not in (*roles.columns, *options.accept)]
    unnamed = [name for name in left if name not in options.ignore]
    notes += (f"Left out what describes the samples: {quote_names(unnamed)}{ACCEPT_HINT}.",) if unnamed else ()
    features = without_columns(frame, (*roles.columns, *left, *options.ignore))
    X, roles, changes = make_features(features, roles, options)
    y, task, more = make_target(roles[options.target], options)
    labels = _groups(roles, options)
    accepted, warnings = _judge_suspects(find_suspects(X, y, labels, options.target, options.groups), options)
    notes = (*notes, *changes, *more, *note_repeats(X), *accepted)
    return make_table(
        X, y, task, labels, options.groups, target=options.target, notes=notes, warnings=tuple(warnings),
        rows_read=frame.shape[0], columns_read=frame.shape[1],
    )  # fmt: skip


def _judge_suspects(suspects: list[Suspect], options: TableOptions) -> tuple[list[str], list[str]]:
    """Raise if a column looks like no feature by more than its values; return notes on accepted ones, and warnings."""
    open_ = [suspect for suspect in suspects if suspect.name not in options.accept]
    certain = [suspect for suspect in open_ if suspect.beyond_values]
    if certain:
        names = [suspect.name for suspect in certain]
        shown = names[0] if len(names) == 1 else names
        raise ReadingError(
            f"Expected only features beside the target in {options.where}, but "
            f"{'; '.join(describe_suspects(certain))}; leave out what is no feature with ignore={shown!r}, or keep it "
            f"as a feature with accept={shown!r}.",
            ask_suspects([(suspect.name, suspect.plain_reason) for suspect in certain]),
        )
    accepted = [suspect for suspect in suspects if suspect.name in options.accept]
    notes = [f"Kept as a feature{ACCEPTED}: {phrase}." for phrase in describe_suspects(accepted)]
    return notes, [f"{phrase}." for phrase in describe_suspects(open_)]


def _check_columns(frame: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    """Return the frame with its row names as index; raise unless all columns that the options name are there."""
    frame, notes = _row_names(frame, options)
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    twice = [f"{name!r} ({times} times)" for name, times in Counter(frame.columns).items() if times > 1]
    if twice:
        raise ValueError(f"Expected different column names in {options.where}, got {join_first(twice)}; rename them.")
    ignored = () if options.transpose else options.ignore  # checked when the table was turned
    roles = [("target", options.target), ("groups", options.groups), ("index", options.index)]
    listed = [("ignore", name) for name in ignored] + [("accept", name) for name in options.accept]
    for argument, name in [*roles, *listed]:
        if name is not None and not (options.transpose and argument == "index"):
            check_column_exists(name, argument, frame, options)
    if frame.empty:
        raise ValueError(f"Expected one row per sample in {options.where}, got no rows; add some.")
    if options.index is not None and not options.transpose:
        frame = frame.set_index(options.index)
    return frame, notes


def _row_names(frame: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    used = {options.target, options.groups, options.index, *options.ignore} - {None}
    if {str(name) for name in frame.index.names if name is not None} & used:
        return frame.reset_index(), []
    if frame.index.name is not None or not types.is_integer_dtype(frame.index):
        return frame, [] if options.transpose else ["Took the index for row names, not for a feature."]
    if len(frame.columns) and frame.columns[0] in NO_NAME and frame.columns[0] not in used:
        rows = pd.Index(frame.iloc[:, 0], name=None)
        return frame.iloc[:, 1:].set_axis(rows), [
            "Took the first column, which has no name, for row names, not for a feature."
        ]
    return frame, []


def _groups(roles: pd.DataFrame, options: TableOptions) -> NDArray[Any] | None:
    if options.groups is None:
        return None
    labels = as_labels(roles[options.groups])
    if len(np.unique(labels)) < 2:
        sentence = f"{quoted(options.groups)} holds a single group, {quoted(labels[0].item())}."
        raise ReadingError(
            f"Expected at least two groups in {options.groups!r} of {options.where}, got only {labels[0].item()!r}; "
            "leave groups= out, or name another column.",
            ask_role("groups", sentence, options.columns),
        )
    return labels
