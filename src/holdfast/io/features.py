"""Features of a table as finite floats: texts, categories, missing values and constants, as the options say."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from holdfast.io.columns import without_columns
from holdfast.io.files import as_number
from holdfast.io.options import TableOptions, join_counts, join_first, pluralize, quote_names
from holdfast.io.questions import (
    ReadingError,
    ask_categorical,
    ask_leave_out,
    ask_missing,
    ask_row_names,
    listed,
    quoted,
)

FEW_ROWS = 10  # in more rows than this, texts that all differ are identifiers


def make_features(
    features: pd.DataFrame, roles: pd.DataFrame, options: TableOptions
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Return features as finite floats, target and groups of the remaining rows, and a note for every change."""
    features, converted = _convert_columns(features)
    features, left_out = _drop_or_check_categories(features, options)
    _check_infinite(features, options)
    features, roles, filled = _drop_or_fill_missing(features, roles, options)
    X, encoded = _encode_categories(features, options)
    X, constant = _drop_or_note_constants(X, options)
    if not X.shape[1]:
        raise ValueError(f"Expected at least one feature beside the target in {options.where}, got none; add a column.")
    return X, roles, [*converted, *left_out, *filled, *encoded, *constant]


# Numbers and categories


def _convert_columns(features: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Convert every column to floats or categories, where that is possible."""
    plain = np.array([isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in features.dtypes], dtype=bool)
    numbers = features.loc[:, plain].astype(np.float64)
    notes: list[str] = []
    others = []
    names: dict[str, list[str]] = {"truth": [], "text": []}
    for name, column in features.loc[:, ~plain].items():
        typed, kind = _float_or_category(column)
        others.append(typed)
        names.setdefault(kind, []).append(repr(name))
    notes += [f"Made 1 and 0 of true and false in {join_first(names['truth'])}."] if names["truth"] else []
    notes += [f"Read numbers written as text in {join_first(names['text'])}."] if names["text"] else []
    return pd.concat([numbers, *others], axis=1)[list(features.columns)], notes


def _float_or_category(column: "pd.Series[Any]") -> tuple["pd.Series[Any]", str]:
    """Return a column of floats or categories and what it was; dates and the like come back unchanged."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.rename_categories([str(level) for level in column.cat.categories]), "category"
    present = column.dropna()
    kinds = set(present.map(type))
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column) or types.is_complex_dtype(column):
        return column, "other"
    if kinds <= {bool, np.bool_}:
        return _as_floats(column), "truth" if kinds else "gap"
    if all(isinstance(as_number(entry), float) for entry in present):
        return _as_floats(column), "text" if str in kinds else "number"
    if all(issubclass(kind, (str, int, float, np.number)) for kind in kinds):
        return column.map(str, na_action="ignore").astype("category"), "category"
    return column, "other"


def _as_floats(column: "pd.Series[Any]") -> "pd.Series[Any]":
    entries = [np.nan if pd.isna(entry) else float(entry) for entry in column]
    return pd.Series(entries, index=column.index, name=column.name, dtype=np.float64)


def _drop_or_check_categories(features: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    """Leave out columns that are not numbers, or raise, as ``categorical`` says or where they cannot be encoded."""
    others = [name for name, dtype in features.dtypes.items() if dtype != np.float64]
    if options.categorical == "drop" and others:
        note = f"Left out columns that are not numbers: {quote_names(others)}."
        return without_columns(features, others), [note]
    for name in others:
        _check_categories(features[name], options)
    if options.categorical == "error" and others:
        texts = join_first([_first_text(features[name]) for name in others])
        raise ReadingError(
            f"Expected numbers in {options.where}, got text in {pluralize(len(others), 'column')}: {texts}; pass "
            "categorical='one-hot', 'codes' or 'drop', or leave columns out with ignore=.",
            ask_categorical(others),
        )
    return features, []


def _check_categories(column: "pd.Series[Any]", options: TableOptions) -> None:
    if not isinstance(column.dtype, pd.CategoricalDtype):
        raise ReadingError(
            f"Expected numbers or categories in {options.where}, got {column.dtype} in {column.name!r}; make it a "
            f"number, or leave it out with ignore={column.name!r}.",
            ask_leave_out([column.name], f"The column {quoted(column.name)} holds neither numbers nor categories."),
        )
    present = column.dropna()
    if len(present) > FEW_ROWS and present.is_unique:
        why = f"The column {quoted(column.name)} has another text in each row: it is no feature."
        free = options.index is None and not options.transpose
        raise ReadingError(
            f"Expected numbers or categories in {options.where}, got another text in each row of {column.name!r}, "
            f"such as {present.iloc[0]!r}: an identifier is not a feature; pass index={column.name!r} or "
            f"ignore={column.name!r}.",
            ask_row_names(column.name, present.iloc[0]) if free else ask_leave_out([column.name], why),
        )


def _first_text(column: "pd.Series[Any]") -> str:
    texts = (row for row, entry in enumerate(column) if isinstance(entry, str) and as_number(entry) is entry)
    row = next(texts, 0)
    return f"{column.name!r} ({column.iloc[row]!r} at row {row})"


def _check_infinite(features: pd.DataFrame, options: TableOptions) -> None:
    numbers = features.select_dtypes("float64")
    infinite = np.isinf(numbers.to_numpy())
    for place in np.flatnonzero(infinite.any(axis=0)):
        name, rows = numbers.columns[int(place)], np.flatnonzero(infinite[:, place])
        raise ValueError(
            f"Expected finite numbers in {options.where}, got {features[name].iloc[rows[0]]} in {name!r} at row "
            f"{rows[0]} ({pluralize(len(rows), 'such entry')}); make them numbers, or empty if they are missing."
        )


# Missing values


def _drop_or_fill_missing(
    features: pd.DataFrame, roles: pd.DataFrame, options: TableOptions
) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    gaps = pd.concat([roles, features], axis=1).isna()
    counts = gaps.sum()[gaps.any()]
    if counts.empty:
        return features, roles, []
    if options.missing == "drop":
        keep = ~gaps.any(axis=1).to_numpy()
        _check_rows_left(keep, counts, options)
        dropped = f"{np.count_nonzero(~keep)} of {len(keep)} rows"
        return features[keep], roles[keep], [f"Dropped {dropped} with missing values: {join_counts(counts)}."]
    _check_missing(gaps, counts, roles, options)
    features, notes = _impute(features, counts)
    return features, roles, notes


def _check_rows_left(keep: NDArray[np.bool_], counts: "pd.Series[int]", options: TableOptions) -> None:
    if not keep.any():
        most = counts.sort_values(ascending=False, kind="stable")
        features = [name for name in most.index if name not in (options.target, options.groups)]
        why = "Every row lacks a value somewhere. Which columns should be left out? Those that lack most come first."
        raise ReadingError(
            f"Expected some rows without missing values in {options.where}, got none; leave out the columns that lack "
            f"most with ignore=: {join_counts(most)}.",
            ask_leave_out(features, why) if features else None,
        )


def _check_missing(gaps: pd.DataFrame, counts: "pd.Series[int]", roles: pd.DataFrame, options: TableOptions) -> None:
    lacking = int(gaps.any(axis=1).sum())
    for name in roles.columns.intersection(counts.index):
        role = "target" if name == options.target else "group"
        raise ReadingError(
            f"Expected a {role} in every row of {options.where}, got {counts[name]} missing in {name!r}, first at row "
            f"{gaps[name].argmax()}; fill them in, or drop the rows with missing='drop'.",
            ask_missing([name], lacking, fill=False),
        )
    if options.missing == "error":
        raise ReadingError(
            f"Expected no missing values in {options.where}, got some in {pluralize(len(counts), 'column')}: "
            f"{join_counts(counts)}, first at row {gaps.any(axis=1).to_numpy().argmax()}; pass "
            "missing='impute-median' or 'drop', or leave columns out with ignore=.",
            ask_missing(list(counts.index), lacking),
        )
    empty = counts.index[counts == len(gaps)]
    for name in empty:
        raise ReadingError(
            f"Expected some values in {name!r} of {options.where}, got none; leave it out with ignore={name!r}.",
            ask_leave_out(list(empty), f"There is no value at all in {listed(empty)}."),
        )


def _impute(features: pd.DataFrame, counts: "pd.Series[int]") -> tuple[pd.DataFrame, list[str]]:
    numbers = features[counts.index].select_dtypes("float64")
    categories = features[counts.index].select_dtypes("category")
    values = {**numbers.median().to_dict(), **{name: categories[name].mode()[0] for name in categories}}
    notes = []
    for what, columns in (("median", numbers.columns), ("most frequent category", categories.columns)):
        if len(columns):
            gaps = pluralize(counts[columns].sum(), "missing value")
            notes.append(f"Filled {gaps} with the {what} of the column: {join_counts(counts[columns])}.")
    return features.fillna(values), notes


# Categories as numbers


def _encode_categories(features: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    categories = features.select_dtypes("category").columns
    if categories.empty:
        return features, []
    encode = _one_hot if options.categorical == "one-hot" else _codes
    pieces = {name: encode(features[name].cat.remove_unused_categories()) for name in categories}
    X = pd.concat([pieces[name][0] if name in pieces else features[[name]] for name in features], axis=1)
    twice = X.columns[X.columns.duplicated()]
    if len(twice):
        raise ValueError(
            f"Expected different names of features, got {twice[0]!r} both from {options.where} and for a category; "
            "rename the column."
        )
    shown = join_first([f"{name!r} ({levels})" for name, (_, levels) in pieces.items()])
    what = "Made 0/1 columns of" if options.categorical == "one-hot" else "Numbered"
    return X, [f"{what} the categories of {shown}."]


def _one_hot(column: "pd.Series[Any]") -> tuple[pd.DataFrame, str]:
    levels = column.cat.categories
    if len(levels) == 2:
        levels = levels[1:]
    dummies = pd.DataFrame({f"{column.name}={level}": (column == level).astype(np.float64) for level in levels})
    return dummies, quote_names(dummies.columns)


def _codes(column: "pd.Series[Any]") -> tuple[pd.DataFrame, str]:
    levels = join_first([f"{code} = {level!r}" for code, level in enumerate(column.cat.categories)])
    return column.cat.codes.astype(np.float64).to_frame(column.name), levels


def _drop_or_note_constants(X: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    constant = X.columns[(X.to_numpy() == X.to_numpy()[:1]).all(axis=0)]
    if constant.empty:
        return X, []
    shown = f"{pluralize(len(constant), 'column')} with a single value: {quote_names(constant)}"
    if options.drop_constant:
        return without_columns(X, constant), [f"Left out {shown}."]
    return X, [f"Kept {shown}."]
