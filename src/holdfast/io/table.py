"""Reading a data set from a file or frame: features, target and groups."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from holdfast.checks import as_names
from holdfast.declared import did_you_mean
from holdfast.io.features import make_features
from holdfast.io.files import ENDINGS, as_number, as_path, file_ending, read_frame
from holdfast.io.options import (
    Categorical,
    Missing,
    TableOptions,
    Task,
    check_options,
    join_first,
    pluralize,
    quote_names,
)
from holdfast.io.target import as_labels, make_target

GAPS = ("?", " ?")  # as in files of the UCI repository
NO_NAME = ("", "Unnamed: 0")  # the header of row names that pandas or R wrote


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
    target : str
        Name of the target.
    task : {"classification", "regression"}
        Whether classes or numbers are to be predicted.
    groups : ndarray or None
        Group of each row, such as the patient a sample was taken from.
    notes : tuple of str
        Every change that was made and everything that looks odd, one sentence each.

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
    target: str
    task: Task
    groups: NDArray[Any] | None = None
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        size = " of ".join(map(pluralize, self.X.shape, ("sample", "feature")))
        values = "numbers"
        if self.task == "classification":
            labels, counts = np.unique(self.y, return_counts=True)
            shown = join_first([f"{label}: {count}" for label, count in zip(labels, counts, strict=True)])
            values = f"{len(labels)} classes ({shown})"
        more = [f", {pluralize(len(np.unique(self.groups)), 'group')}"] if self.groups is not None else []
        more += [f", {pluralize(len(self.notes), 'note')}"] if self.notes else []
        return f"Table: {size}, {self.target!r} of {values}{''.join(more)}"


def read_table(
    path: str | Path | pd.DataFrame,
    target: str,
    *,
    task: Task | None = None,
    groups: str | None = None,
    index: str | None = None,
    ignore: str | Iterable[str] = (),
    missing: Missing = "error",
    categorical: Categorical = "error",
    drop_constant: bool = False,
) -> Table:
    """Read a data set, one row per sample, from a file or a frame; change nothing without a note.

    Parameters
    ----------
    path : path or DataFrame
        A file ending in ``.csv``, ``.tsv``, ``.parquet``, ``.feather`` or ``.arff``; CSV, TSV and ARFF may be packed
        (``.csv.gz``). The first line of CSV and TSV names the columns. A first column without a name holds row names.
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
    missing : {"error", "impute-median", "drop"}
        What to do with missing values (empty, ``NA``, ``NaN``, ``null``, ``None``, ``?``): refuse them; fill them with
        the column's median, or most frequent category; or drop their rows. A missing target is never filled. Medians
        are of all rows: where that may leak into a test set, impute in a pipeline instead.
    categorical : {"error", "one-hot", "codes", "drop"}
        What to do with columns that are not numbers: refuse them; make a 0/1 column of each category (one column for
        two categories, as the other would be its mirror); number the categories; or leave the columns out.
    drop_constant : bool
        Leave out columns with a single value; otherwise they are kept, with a note.

    Returns
    -------
    Table
        Features, target, groups, and notes about what was changed.

    Raises
    ------
    ValueError
        If the data need a decision that no option makes, such as text or missing values.

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
    ignored = (ignore,) if isinstance(ignore, str) else as_names(ignore, "ignore=")
    groups, index = (None if name is None else str(name) for name in (groups, index))
    options = TableOptions(where, str(target), groups, index, ignored, task, missing, categorical, drop_constant)
    check_options(options)
    frame, notes = _check_columns(_load_frame(path), options)
    roles = frame[[name for name in (options.target, groups) if name is not None]]
    X, roles, changes = make_features(frame.drop(columns=[*roles.columns, *ignored]), roles, options)
    y, inferred_task, more = make_target(roles[options.target], options)
    labels = _groups(roles, options)
    return Table(X=X, y=y, target=options.target, task=inferred_task, groups=labels, notes=(*notes, *changes, *more))


def _load_frame(path: Path | pd.DataFrame) -> pd.DataFrame:
    if isinstance(path, pd.DataFrame):
        return path
    if file_ending(path) not in ENDINGS:
        raise ValueError(f"Expected a file ending in {', '.join(ENDINGS)}, got {path.name!r}; save it as one of these.")
    return read_frame(path, row="sample", gaps=GAPS)


def _check_columns(frame: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    """Return the frame with its row names as index; raise unless all columns that the options name are there."""
    frame, notes = _row_names(frame, options)
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    twice = [f"{name!r} ({times} times)" for name, times in Counter(frame.columns).items() if times > 1]
    if twice:
        raise ValueError(f"Expected different column names in {options.where}, got {join_first(twice)}; rename them.")
    roles = [("target", options.target), ("groups", options.groups), ("index", options.index)]
    for argument, name in [*roles, *(("ignore", name) for name in options.ignore)]:
        if name is not None:
            _check_column_exists(name, argument, frame, options)
    if frame.empty:
        raise ValueError(f"Expected one row per sample in {options.where}, got no rows; add some.")
    if options.index is not None:
        frame = frame.set_index(options.index)
    return frame, notes


def _row_names(frame: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    used = {options.target, options.groups, options.index, *options.ignore} - {None}
    if {str(name) for name in frame.index.names if name is not None} & used:
        return frame.reset_index(), []
    if frame.index.name is not None or not types.is_integer_dtype(frame.index):
        return frame, ["Took the index for row names, not for a feature."]
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
        raise ValueError(
            f"Expected at least two groups in {options.groups!r} of {options.where}, got only {labels[0].item()!r}; "
            "leave groups= out, or name another column."
        )
    return labels


def _check_column_exists(name: str, argument: str, frame: pd.DataFrame, options: TableOptions) -> None:
    if name in frame.columns:
        return
    hint = did_you_mean(name, frame.columns)
    if not hint.endswith("?"):
        numbers = all(isinstance(as_number(column), float) for column in frame.columns)
        hint = "; these are numbers: add a header." if numbers else f"; give {argument}= one of these names."
    columns = quote_names(frame.columns)
    raise ValueError(f"Expected the {argument} column {name!r} in {options.where}, got the columns {columns}{hint}")
