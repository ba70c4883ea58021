"""Columns that options name: whether they are there, what may be meant if they are not, and a table without them."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pandas as pd
from pandas.api import types

from holdfast.declared import did_you_mean
from holdfast.io.files import as_number
from holdfast.io.guessing import FEW_TEXTS, guess_targets
from holdfast.io.options import TableOptions, quote_names
from holdfast.io.orientation import explain_features_in_rows, row_labels
from holdfast.io.questions import Question, ReadingError, ask_column, ask_table_orientation, ask_target_file, quoted

NAMED = 5
"""Columns that a message names; of more, it says which may be meant."""


def check_column_exists(name: str, argument: str, frame: pd.DataFrame, options: TableOptions) -> None:
    """Raise what may be meant unless there is a column of this name for an argument."""
    if name in frame.columns:
        return
    if argument == "target" and not options.transpose:
        _check_orientation(name, frame, options)
    hint = did_you_mean(name, frame.columns)
    if argument == "target" and options.transpose and not hint.endswith("?"):
        sentence = f"No row of the table is named {quoted(name)}."
        rows = [guess.name for guess in guess_targets(frame) if guess.kind == "classes"]
        raise ReadingError(
            f"Expected a row named {name!r} in {options.where}, as transpose= turns rows into columns, got the rows "
            f"{quote_names(frame.columns)}; name one of these, or pass target_file=FILE, a table with the names of the "
            f"samples and a column {name!r}.",
            ask_role("target", sentence, rows) if rows else ask_target_file(sentence),
        )
    if not hint.endswith("?"):
        numbers = all(isinstance(as_number(column), float) for column in frame.columns)
        hint = (
            "; these are numbers: add a header."
            if numbers
            else f"; give {argument}= one of these names{_likely_target(frame)}."
        )
    columns = quote_names(frame.columns)
    sentence = f"The table has no column {quoted(name)}."
    names = [guess.name for guess in guess_targets(frame)] if argument == "target" else list(frame.columns)
    raise ReadingError(
        f"Expected the {argument} column {name!r} in {options.where}, got the columns {columns}{hint}",
        ask_role(argument, sentence, names),
    )


def ask_role(argument: str, sentence: str, names: Iterable[str]) -> Question | None:
    """Ask for another column in place of one that cannot have its role; lists of columns are not asked for."""
    roles = {"target": "is to be predicted", "groups": "says which rows belong together", "index": "names the rows"}
    if argument not in roles:
        return None
    question = ask_column(argument, f"{sentence} Which column {roles[argument]}?", names)
    none = () if argument == "target" else (("", "None of them"),)
    return replace(question, choices=(*none, *question.choices))


def _likely_target(frame: pd.DataFrame) -> str:
    """Return which column of a wide table may be meant: the last one that holds a few texts."""
    texts = [
        name for name in frame.columns[::-1]
        if not types.is_numeric_dtype(frame[name]) and 2 <= frame[name].nunique() <= FEW_TEXTS
    ]  # fmt: skip
    return f", such as {texts[0]!r}" if texts and frame.shape[1] > NAMED else ""


def _check_orientation(target: str, frame: pd.DataFrame, options: TableOptions) -> None:
    """Raise how to read the table if its rows are features: one is the target, or names and shape say so."""
    labels = row_labels(frame)
    if labels is not None and target in set(map(str, labels)):
        raise ReadingError(
            f"Expected the target column {target!r} in {options.where}, got a row of this name: features stand in "
            "rows; pass transpose=True.",
            ask_table_orientation(f"{quoted(target)} is the name of a row, not of a column."),
        )
    why = explain_features_in_rows(frame)
    if why and not did_you_mean(target, frame.columns).endswith("?"):
        names, body = quote_names([] if labels is None else labels), frame.shape[1] - (labels is not frame.index)
        raise ReadingError(
            f"Expected the target column {target!r} in {options.where}, got rows named {names} and {body} "
            "columns of numbers, which look like features in rows; pass transpose=True and target_file=FILE, a table "
            f"with the names of the samples and a column {target!r}.",
            ask_table_orientation(why),
        )


def without_columns(frame: pd.DataFrame, names: Iterable[Any]) -> pd.DataFrame:
    """Return a frame without some columns.

    ``frame.drop`` does the same, but makes a block of memory of each column if one of many alike is left out: all that
    is done with a wide frame afterwards then takes ten times as long.
    """
    return frame.loc[:, ~frame.columns.isin(list(names))]
