"""Reading a data set from a file or frame: features, target and groups."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from holdfast.checks import as_names
from holdfast.declared import a, did_you_mean, renamed
from holdfast.io import guessing
from holdfast.io.doubts import (
    Doubt,
    describe_doubts,
    describe_equal_rows,
    find_doubts,
    find_equal_rows,
    is_batch,
    note_repeats,
    settle_doubts,
    warn_of_doubts,
)
from holdfast.io.files import Loaded, as_number, as_path, display_name, file_ending
from holdfast.io.h5ad import is_anndata, load_anndata
from holdfast.io.loading import ENDINGS, load_frame
from holdfast.io.options import DEFAULTS, OPTIONS, Categorical, Missing, Reading, ReadOptions, Repeats
from holdfast.io.questions import (
    ACCEPT_HINT,
    GAPS,
    Question,
    ReadingError,
    add_answer,
    ask,
    join_counts,
    listed,
    quote_names,
    quoted,
    refuse,
    shorten,
    suggest_name,
)
from holdfast.io.record import DataRecord
from holdfast.targets import COMPETING, TASKS, TaskName, count_events, read_survival, survival
from holdfast.text import format_count, join_first

ROLES = {
    "target": "is to be predicted", "event": "says whether the event was seen",
    "groups": "says which rows belong together", "index": "names the rows",
    "sites": "says where rows come from", "weights": "says how much rows count",
}  # fmt: skip
"""What a column that is no feature does, by the option that names it."""
TRIED = ("ignore", "missing", "na_values", "repeats", "categorical", "task", "index")
"""Options of which a likely value does not alter what the rest of the table means."""
NAMED = 5
"""Columns that a message names; of more, it says which may be meant."""


@dataclass(frozen=True, kw_only=True)
class TableOptions(ReadOptions):
    """Options of reading one table; ``where`` is what messages call it, ``columns`` are those of its file."""

    where: str
    columns: tuple[str, ...] = ()

    @property
    def target_name(self) -> str:
        """The target as messages call it."""
        return f"the target {self.target!r} of {self.where}"

    @property
    def roles(self) -> dict[str, str]:
        """The columns that are no features but describe rows, by what they are: target, groups, sites, weights."""
        named = {role: getattr(self, role) for role in ("target", "event", "groups", "sites", "weights")}
        return {role: name for role, name in named.items() if name is not None}

    @property
    def others(self) -> list[str]:
        """The columns but the target."""
        return [name for name in self.columns if name != self.target]


def check_column_exists(name: str, argument: str, frame: pd.DataFrame, options: TableOptions) -> None:
    """Raise what may be meant unless there is a column of this name for an argument."""
    if name in frame.columns:
        return
    if argument == "target" and not options.transpose:
        _check_orientation(name, frame, options)
    hint, parts = did_you_mean(name, frame.columns), [part.strip() for part in name.split(",")]
    if argument not in ROLES and len(parts) > 1 and all(part in frame.columns for part in parts):
        hint = f"; these are several: give {argument}={parts}."
    if argument == "target" and options.transpose and not hint.endswith("?"):
        sentence = f"No row of the table is named {quoted(name)}."
        rows = [guess.name for guess in guessing.guess_targets(frame) if guess.kind == "classes"]
        question = ask_role("target", sentence, rows) if rows else None
        raise refuse("no-row", question=question, name=name, options=options, rows=frame.columns, why=sentence)
    if hint == ".":
        numbers = all(isinstance(as_number(column), float) for column in frame.columns)
        hint = (
            "; these are numbers: add a header."
            if numbers
            else f"; give {argument}= one of these names{_likely_target(frame) if argument == 'target' else ''}."
        )
    role = f"{argument} column" if argument in ROLES else f"{argument}= column"
    names = [guess.name for guess in guessing.guess_targets(frame)] if argument == "target" else list(frame.columns)
    question = ask_role(argument, f"The table has no column {quoted(name)}.", names)
    raise refuse(
        "no-column", question=question, role=role, name=name, options=options, columns=frame.columns, hint=hint
    )


def ask_role(argument: str, sentence: str, names: Iterable[str]) -> Question | None:
    """Ask for another column in place of one that cannot have its role; lists of columns are not asked for."""
    if argument not in ROLES:
        return None
    question = ask("column", names, option=argument, why=f"{sentence} Which column {ROLES[argument]}?")
    none = () if argument == "target" else (("", "None of them"),)
    return replace(question, choices=(*none, *question.choices))


def _likely_target(frame: pd.DataFrame) -> str:
    """Return which column of a wide table may be meant: the last one that holds a few texts."""
    texts = [
        name for name in frame.columns[::-1]
        if not types.is_numeric_dtype(frame[name]) and 2 <= frame[name].nunique() <= guessing.FEW_TEXTS
    ]  # fmt: skip
    return f", such as {texts[0]!r}" if texts and frame.shape[1] > NAMED else ""


def _check_orientation(target: str, frame: pd.DataFrame, options: TableOptions) -> None:
    """Raise how to read the table if its rows are features: one is the target, or names and shape say so."""
    labels = guessing.row_labels(frame)
    if labels is not None and target in set(map(str, labels)):
        raise refuse("target-is-row", options=options)
    why = guessing.explain_features_in_rows(frame)
    if why and not did_you_mean(target, frame.columns).endswith("?"):
        count = frame.shape[1] - (labels is not frame.index)
        names = () if labels is None else labels
        raise refuse("features-in-rows", options=options, names=names, count=count, why=why)


def without_columns(frame: pd.DataFrame, names: Iterable[Any]) -> pd.DataFrame:
    """Return a frame without some columns.

    ``frame.drop`` does the same, but makes a block of memory of each column if one of many alike is left out: all that
    is done with a wide frame afterwards then takes ten times as long.
    """
    return frame.loc[:, ~frame.columns.isin(list(names))]


FEW_ROWS = 10  # in more rows than this, texts that all differ are identifiers


def make_features(
    features: pd.DataFrame, roles: pd.DataFrame, options: TableOptions, notes: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return features as finite floats, and target and groups of the remaining rows; note every change."""
    features = _convert_columns(features, notes)
    others = [name for name, dtype in features.dtypes.items() if dtype != np.float64]
    dropped = [name for name in others if name not in options.covariates]
    if options.categorical == "drop" and dropped:
        features = without_columns(features, dropped)
        notes.append(f"Left out columns that are not numbers: {quote_names(dropped)}.")
    else:
        _check_categories(features[others], options)
    numbers = features.select_dtypes("float64")
    infinite = np.isinf(numbers.to_numpy())
    if infinite.any():
        column = int(infinite.any(axis=0).argmax())
        rows = np.flatnonzero(infinite[:, column])
        raise refuse(
            "infinite", options=options, entry=numbers.iloc[rows[0], column], column=numbers.columns[column],
            row=rows[0], count=len(rows),
        )  # fmt: skip
    features, roles = _drop_or_fill_missing(features, roles, options, notes)
    X = _encode_categories(features, options, notes)
    constant = X.columns[(X.to_numpy() == X.to_numpy()[:1]).all(axis=0)]
    if len(constant):
        X = without_columns(X, constant) if options.drop_constant else X
        verb = "Left out" if options.drop_constant else "Kept"
        notes.append(f"{verb} {format_count(len(constant), 'column')} with a single value: {quote_names(constant)}.")
    if not X.shape[1]:
        raise ValueError(
            f"Expected at least one feature besides the target in {options.where}, got none; add a column."
        )
    return X, roles


# Numbers and categories


def _convert_columns(features: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Convert every column to floats or categories, where that is possible."""
    plain = np.array([isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in features.dtypes], dtype=bool)
    numbers = features.loc[:, plain].astype(np.float64)
    others = []
    names: dict[str, list[str]] = {"truth": [], "text": []}
    for name, column in features.loc[:, ~plain].items():
        typed, kind = _float_or_category(column)
        others.append(typed)
        names.setdefault(kind, []).append(repr(name))
    notes += [f"Made 1 and 0 of true and false in {join_first(names['truth'])}."] if names["truth"] else []
    notes += [f"Read numbers written as text in {join_first(names['text'])}."] if names["text"] else []
    return pd.concat([numbers, *others], axis=1)[list(features.columns)]


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


def _check_categories(others: pd.DataFrame, options: TableOptions) -> None:
    """Raise if a column that is not numbers cannot be encoded, or if the options say so."""
    for name, column in others.items():
        if not isinstance(column.dtype, pd.CategoricalDtype):
            raise refuse("no-number-or-category", [name], options=options, dtype=column.dtype, name=name)
        present = column.dropna()
        if len(present) > FEW_ROWS and present.is_unique:
            may_name_rows = options.index is None and not options.transpose
            refusal = "row-names" if may_name_rows else "identifier"
            raise refuse(refusal, [name], options=options, name=name, entry=present.iloc[0])
    others = without_columns(others, options.covariates)
    if options.categorical == "error" and others.shape[1]:
        texts, shown = [], listed(others)
        for name, column in others.items():
            entries = enumerate(column)
            is_text = (row for row, entry in entries if isinstance(entry, str) and as_number(entry) is entry)
            row = next(is_text, 0)
            texts.append(f"{name!r} ({column.iloc[row]!r} at row {row})")
        why = f"The column {shown} holds" if len(texts) == 1 else f"{len(texts)} columns {shown} hold"
        batch = next((name for name in others if options.sites is None and is_batch(str(name))), None)
        batches = f" As {batch!r} is named like a batch or a site: sites={batch!r} takes it as such." if batch else ""
        raise refuse("texts", options=options, count=len(texts), texts=join_first(texts), why=why, batches=batches)


# Missing values


def _drop_or_fill_missing(
    features: pd.DataFrame, roles: pd.DataFrame, options: TableOptions, notes: list[str]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    gaps = pd.concat([roles, features], axis=1).isna()
    counts = gaps.sum()[gaps.any()]
    if counts.empty:
        return features, roles
    if options.missing == "drop":
        complete = ~gaps.any(axis=1).to_numpy()
        if not complete.any():
            most = counts.sort_values(ascending=False, kind="stable")
            names = [name for name in most.index if name not in options.roles.values()]
            raise refuse("all-rows-lack", names, options=options, counts=join_counts(most))
        dropped = f"{np.count_nonzero(~complete)} of {len(complete)} rows"
        notes.append(f"Dropped {dropped} with missing values: {join_counts(counts)}.")
        return features[complete], roles[complete]
    _check_missing(gaps, counts, roles, options)
    numbers = features[counts.index].select_dtypes("float64")
    categories = features[counts.index].select_dtypes("category")
    values = {**numbers.median().to_dict(), **{name: categories[name].mode()[0] for name in categories}}
    for what, columns in (("median", numbers.columns), ("most frequent category", categories.columns)):
        if len(columns):
            filled = format_count(int(counts[columns].sum()), "missing value")
            notes.append(f"Filled {filled} with the {what} of the column: {join_counts(counts[columns])}.")
    return features.fillna(values), roles


def _check_missing(gaps: pd.DataFrame, counts: "pd.Series[int]", roles: pd.DataFrame, options: TableOptions) -> None:
    lacking = gaps.any(axis=1).to_numpy()
    rows = "row that lacks" if lacking.sum() == 1 else f"{lacking.sum()} rows that lack"
    drop = ("drop", f"Leave out the {rows} one")
    for name in roles.columns.intersection(counts.index):
        role = next(role for role, column in options.roles.items() if column == name)
        words = {"groups": "group", "sites": "site", "weights": "weight"}
        role = "time" if role == "target" and options.event else words.get(role, role)
        raise refuse(
            "missing-role", [drop], role=a(role), options=options, count=counts[name], name=name, names=[name],
            row=gaps[name].argmax(),
        )  # fmt: skip
    if options.missing == "error":
        raise refuse(
            "missing", ["impute-median", drop], options=options, count=len(counts), counts=join_counts(counts),
            names=counts.index, row=lacking.argmax(),
        )  # fmt: skip
    empty = counts.index[counts == len(gaps)]
    if len(empty):
        raise refuse("empty-column", empty, name=empty[0], options=options, names=empty)


def _encode_categories(features: pd.DataFrame, options: TableOptions, notes: list[str]) -> pd.DataFrame:
    """Return categories as numbers: a 0/1 column of each but one of two, or their codes."""
    pieces: dict[Any, pd.DataFrame] = {}
    split, numbered = [], []
    for name in features.select_dtypes("category"):
        column = features[name].cat.remove_unused_categories()
        levels = column.cat.categories
        if options.categorical == "one-hot" or name in options.covariates:
            chosen = levels[1:] if len(levels) == 2 else levels
            made = pd.DataFrame({f"{name}={level}": (column == level).astype(np.float64) for level in chosen})
            split.append(f"{name!r} ({quote_names(made.columns)})")
        else:
            made = column.cat.codes.astype(np.float64).to_frame(name)
            numbered.append(f"{name!r} ({join_first([f'{code} = {level!r}' for code, level in enumerate(levels)])})")
        pieces[name] = made
    if not pieces:
        return features
    X = pd.concat([pieces.get(name, features[[name]]) for name in features], axis=1)
    twice = X.columns[X.columns.duplicated()]
    if len(twice):
        raise refuse("same-name", name=twice[0], options=options)
    for what, encoded in (("Made 0/1 columns of", split), ("Numbered", numbered)):
        notes += [f"{what} the categories of {join_first(encoded)}."] if encoded else []
    return X


FEW_CLASSES = 20  # more different whole numbers may be classes or quantities


def make_target(roles: pd.DataFrame, options: TableOptions, notes: list[str]) -> tuple[NDArray[Any], TaskName]:
    """Return the target and its task; note what was decided."""
    column = roles[options.target]
    if options.event is not None:
        return survival(_read_times(column, options), _read_events(roles[options.event], options, notes)), "survival"
    labels = as_labels(column)
    if options.task == "survival" and labels.dtype.kind != "U":
        raise ValueError(
            f"Expected the columns of times and of events, time= and event=, for survival times, got "
            f"{options.target!r} alone, which is none of texts as R's Surv writes them, such as 306 or 1010+."
        )
    times = read_survival(labels, options.task == "survival") if options.task in (None, "survival") else None
    if times is not None:
        notes.append(f"Took {options.target!r} for survival times as R writes them; those with a plus are censored.")
        return times, "survival"
    if set(column.map(type)) <= {bool, np.bool_}:
        notes.append(f"Made 1 and 0 of true and false in {options.target!r}.")
    task = options.task or _likely_task(labels, options, notes)
    if task == "regression":
        return _as_quantities(column, options), task
    _check_classes(labels, options, notes)
    return labels, task


def _read_times(column: "pd.Series[Any]", options: TableOptions) -> list[float]:
    times = [as_number(entry) for entry in column]
    wrong = [entry for entry in times if not isinstance(entry, float)]
    if wrong:
        raise ValueError(
            f"Expected numbers as times in {options.target!r} of {options.where}, such as days since the start of "
            f"observation, got {wrong[0]!r} ({len(wrong)} such entries)."
        )
    return times


def _read_events(column: "pd.Series[Any]", options: TableOptions, notes: list[str]) -> NDArray[Any]:
    """Return which rows have the event: by the value that stands for it, or as 0/1, true/false, or 1/2."""
    labels = as_labels(column)
    texts = np.array([str(label) for label in labels.tolist()])
    if options.event_is is not None:
        events: NDArray[Any] = texts == options.event_is
        if not events.any():
            raise ValueError(
                f"Expected event_is= to be a value of {options.event!r} ({join_first(np.unique(texts))}), got "
                f"{options.event_is!r}."
            )
        others = [value for value in np.unique(texts).tolist() if value != options.event_is]
        if len(others) > 1:
            notes.append(
                f"Rows with {join_first(others)} in {options.event!r} count as censored: hazards are those of "
                f"{options.event_is!r} alone (cause-specific)."
            )
        return events
    if labels.dtype.kind == "U":
        truth = {"true": 1, "false": 0, "yes": 1, "no": 0}
        if not set(map(str.lower, texts)) <= set(truth):
            competing = f"{COMPETING[0].upper()}{COMPETING[1:]}."
            raise refuse("no-event-value", np.unique(texts).tolist(), name=options.event, competing=competing)
        return np.array([truth[text.lower()] for text in texts])
    return labels


def as_labels(column: "pd.Series[Any]") -> NDArray[Any]:
    """Return labels as whole numbers if all are, as texts if one is not a number, else as floats."""
    entries = column.astype(object).tolist()
    numbers: list[Any] = [entry if isinstance(entry, str) else as_number(entry) for entry in entries]
    too_long = any(isinstance(entry, int) and abs(entry) >= 2**63 for entry in entries)  # of more than 18 digits: names
    if too_long or not all(isinstance(number, float) for number in numbers):
        return np.array([str(entry) for entry in entries])
    whole = all(number.is_integer() for number in numbers)
    return np.array([int(entry) if whole else float(entry) for entry in entries])


def _likely_task(labels: NDArray[Any], options: TableOptions, notes: list[str]) -> TaskName:
    if labels.dtype.kind == "f":
        note = f"Took {options.target!r} for numbers to predict (regression), as there are fractions"
        notes.append(f"{note} such as {_fraction(labels):g}.")
        return "regression"
    n_classes = len(np.unique(labels))
    if labels.dtype.kind == "U" or n_classes <= 2:
        return "classification"
    if n_classes > min(FEW_CLASSES, len(labels) / 2):
        raise refuse("many-whole-numbers", options=options, count=n_classes, rows=len(labels))
    notes.append(f"Took the {n_classes} whole numbers of {options.target!r} for classes, not for quantities.")
    return "classification"


def _check_classes(labels: NDArray[Any], options: TableOptions, notes: list[str]) -> None:
    """Raise unless the labels can be classes; note classes of one row."""
    if labels.dtype.kind == "f":
        raise refuse("fractions", options=options, fraction=_fraction(labels))
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        raise refuse("one-class", options.others, options=options, label=classes[0].item(), rows=len(labels))
    if len(classes) > max(2, len(labels) / 2):
        refusal, choices = ("many-texts", options.others) if labels.dtype.kind == "U" else ("many-classes", None)
        raise refuse(refusal, choices, options=options, count=len(classes), rows=len(labels))
    single = classes[counts == 1].tolist()
    if single:
        notes.append(f"Found a single row of class {quote_names(single)}: splits cannot be stratified by it.")


def _as_quantities(column: "pd.Series[Any]", options: TableOptions) -> NDArray[np.float64]:
    entries = [as_number(entry) for entry in column]
    wrong = [entry for entry in entries if not (isinstance(entry, float) and np.isfinite(entry))]
    if wrong:
        raise refuse("no-quantities", options=options, entry=wrong[0], count=len(wrong))
    if len(set(entries)) < 2:
        raise refuse("one-number", options.others, options=options, number=entries[0], rows=len(entries))
    return np.array(entries)


def _fraction(labels: NDArray[Any]) -> float:
    return next(label for label in labels.tolist() if not label.is_integer())


def join_target(loaded: Loaded, options: TableOptions, path: Path) -> Loaded:
    """Return a table with target and groups from a second file; its samples are found by their names, in any order."""
    called = display_name(path)
    frame, samples = _named_samples(loaded.frame, options)
    second = load_frame(path, row="sample", gaps=GAPS)
    if second.frame.index.name is not None:
        second = replace(second, frame=second.frame.reset_index())
    second = replace(second, frame=second.frame[list(second.aside)]) if second.turned else second
    roles = _check_roles(second.frame, frame, options, path)
    key, names = _find_key(second.frame, samples, roles, options, path)
    wanted = set(samples)
    extra = [name for name in names if name not in wanted]
    for where, found in ((options.where, samples), (called, [name for name in names if name in wanted])):
        if repeated := describe_repeats(found):
            raise ValueError(f"Expected every sample once in {where}, got {repeated}; give them different names.")
    rows = {name: row for row, name in reversed(list(enumerate(names)))}
    lacking = [name for name in samples if name not in rows]
    if lacking and options.missing != "drop":
        raise refuse(
            "no-row-of-sample", path=path, total=len(samples), options=options, count=len(lacking), names=lacking
        )
    others = [name for name in second.frame.columns if name not in roles and name != key]
    asked_for = {*options.treat_as_feature, *options.covariates}
    chosen = [*roles, *(name for name in others if name in asked_for)]
    taken = second.frame[chosen].reset_index(drop=True).reindex([rows.get(name) for name in samples])
    joined = pd.concat([frame, taken.set_axis(frame.index)], axis=1)
    notes = [f"{called}: {note}" for note in second.notes]
    notes += [
        f"Took {quote_names(chosen)} from {called}, matched by sample name{'' if key is None else f' ({key!r})'}."
    ]
    if extra:
        count = format_count(len(extra), "row")
        notes.append(f"Left out {count} of {called} whose samples are not in the table: {quote_names(extra)}.")
    left = [name for name in others if name not in asked_for]
    notes += [f"Left out the other columns of {called}: {quote_names(left)}."] if left else []
    return replace(loaded, frame=joined, notes=(*loaded.notes, *notes))


def describe_repeats(names: Iterable[str]) -> str:
    """Return the first names that come more than once, with how often; an empty text if there are none."""
    return join_first(f"{name!r} ({times} times)" for name, times in Counter(names).items() if times > 1)


def _named_samples(frame: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with the names of its samples as index, and these names."""
    if options.index is not None and options.index in frame.columns:
        return frame, _as_texts(frame[options.index])
    labels = guessing.row_labels(frame)
    if labels is None:
        raise refuse("no-sample-names", [name for name in frame.columns if frame[name].is_unique], options=options)
    if labels is not frame.index:
        frame = frame.iloc[:, 1:].set_axis(labels)
    return frame, _as_texts(pd.Series(labels))


def _as_texts(column: "pd.Series[Any]") -> list[str]:
    """Return names as texts; a whole number is written without a point, whatever other numbers are there."""
    if types.is_float_dtype(column) and (column.dropna() % 1 == 0).all():
        column = column.astype("Int64")
    return [str(name).strip() for name in column]


def _check_roles(second: pd.DataFrame, frame: pd.DataFrame, options: TableOptions, path: Path) -> list[str]:
    """Return which of target and groups stand in the second file; the target must."""
    if options.target not in second.columns:
        hint = suggest_name(str(options.target), second.columns, "target")
        raise refuse("no-target-in-second", second.columns, options=options, path=path, hint=hint)
    roles = [name for name in options.roles.values() if name in second.columns]
    twice = [name for name in roles if name in frame.columns]
    if twice:
        raise ValueError(f"Expected {twice[0]!r} in {options.where} or in {path}, got it in both; rename one of them.")
    return roles


def _find_key(
    second: pd.DataFrame, samples: list[str], roles: list[str], options: TableOptions, path: Path
) -> tuple[str | None, list[str]]:
    """Return the column whose entries are most of the samples' names, and its entries; None for the index."""
    wanted = set(samples)
    candidates: dict[str | None, list[str]] = {
        str(name): _as_texts(column) for name, column in second.items() if name not in roles
    }
    if not types.is_integer_dtype(second.index):
        candidates[None] = _as_texts(pd.Series(second.index))
    hits = {name: len(wanted.intersection(entries)) for name, entries in candidates.items()}
    best = max(hits, key=lambda name: hits[name], default=None)
    if not hits.get(best):
        columns = set(options.columns)
        turned = not options.transpose and any(columns.intersection(entries) for entries in candidates.values())
        refusal, others = "samples-in-columns" if turned else "other-names", next(iter(candidates.values()), [])
        raise refuse(refusal, options=options, samples=samples, path=path, others=others)
    return best, candidates[best]


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """Features, target and groups of a data set, and what was changed to get them; as :func:`read_table` returns them.

    ``X, y = table`` works too.

    Attributes
    ----------
    X : DataFrame
        The features: finite floats, each column with a name of its own.
    y : ndarray
        Class labels (texts or whole numbers), floats for regression, or what :func:`holdfast.survival` returns.
    groups : ndarray or None
        Group of each row, such as the patient a sample was taken from.
    sites : ndarray or None
        Site of each row, such as the center or the batch that it comes from.
    weights : ndarray or None
        Weight of each row.
    feature_groups : mapping or None
        The columns of each group of features.
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
    sites: NDArray[Any] | None = None
    weights: NDArray[np.float64] | None = None
    feature_groups: Mapping[str, Sequence[str]] | None = None
    record: DataRecord

    @property
    def target(self) -> str | None:
        """Name of the target."""
        return self.record.target

    @property
    def task(self) -> TaskName:
        """Whether classes, numbers or survival times are to be predicted."""
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
        size = " of ".join(map(format_count, self.X.shape, ("sample", "feature")))
        values = TASKS[self.task].noun
        if self.task == "survival":
            values = f"survival times ({self.record.events} events)"
        elif self.task == "classification":
            shown = join_first([f"{label}: {count}" for label, count in self.record.classes])
            values = f"{len(self.record.classes)} classes ({shown})"
        counts = ((self.record.n_groups, "group"), (len(self.notes), "note"), (len(self.warnings), "warning"))
        more = [f", {format_count(count, noun)}" for count, noun in counts if count]
        return f"Table: {size}, {self.target!r} of {values}{''.join(more)}"


def make_table(
    X: pd.DataFrame,
    y: NDArray[Any],
    task: TaskName,
    groups: NDArray[Any] | None = None,
    groups_name: str | None = None,
    sites: NDArray[Any] | None = None,
    weights: NDArray[np.float64] | None = None,
    feature_groups: Mapping[str, Sequence[str]] | None = None,
    **facts: Any,
) -> Table:
    """Return a table with the record of its data: sizes, classes and groups are counted, ``facts`` are the rest."""
    labels, counts = np.unique(y, return_counts=True) if task == "classification" else ((), ())
    record = DataRecord(
        **{**count_events(y), "rows_read": X.shape[0], "columns_read": X.shape[1] + 1, **facts},
        rows=X.shape[0],
        features=X.shape[1],
        task=task,
        classes=tuple((str(label), int(count)) for label, count in zip(labels, counts, strict=True)),
        groups=groups_name,
        n_groups=None if groups is None else len(np.unique(groups)),
    )
    return Table(X=X, y=y, groups=groups, sites=sites, weights=weights, feature_groups=feature_groups, record=record)


@renamed(accept="treat_as_feature")
def read_table(
    path: Any,
    target: str | None = None,
    *,
    time: str | None = None,
    event: str | None = None,
    event_is: str | None = None,
    task: TaskName | None = None,
    groups: str | None = None,
    sites: str | None = None,
    weights: str | None = None,
    feature_groups: str | Path | Mapping[str, Sequence[str]] | None = None,
    index: str | None = None,
    ignore: str | Iterable[str] = (),
    treat_as_feature: str | Iterable[str] = (),
    covariates: str | Iterable[str] = (),
    missing: Missing = "error",
    na_values: Any = None,
    repeats: Repeats = "keep",
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
    path : path, DataFrame, AnnData or MuData
        Text (``.csv``, ``.tsv``, ``.tab``, ``.txt``, ``.dat``), whose encoding, separator and decimal mark are
        detected; Excel (``.xlsx``, ``.xls``, ``.ods``), ``.parquet``, ``.feather``, ``.arff``, AnnData (``.h5ad``),
        or R's ``.rds`` and ``.RData``. Text and ARFF may be packed (``.csv.gz``). The first line names the columns; a
        first column without a name holds row names.
    target : str
        Column of the class labels, or of the numbers to predict.
    time, event : str, optional
        Instead of a target, the columns of survival times and of events: 1 or true where the event was seen at that
        time, 0 or false where the row is censored. R's coding of 2 and 1 is known too.
    event_is : str, optional
        The value of ``event`` that is the event, where it is another one, such as ``"dead"``.
    task : {"classification", "regression", "survival"}, optional
        Whether classes, numbers or survival times are to be predicted. By default, texts and few different whole
        numbers are classes, fractions are numbers to predict, and many different whole numbers are an error.
    groups : str, optional
        Column that says which samples belong together, such as those of one patient. It is not a feature.
    sites : str, optional
        Column of sites, such as batches, centers or cohorts, that rows come from.
    weights : str, optional
        Column of weights of the rows, numbers above 0.
    feature_groups : mapping or path, optional
        Columns that count as one feature: those of each group, or a table with two columns, column and group.
    index : str, optional
        Column of row names. It is not a feature.
    ignore : str or list of str
        Columns to leave out.
    treat_as_feature : str or list of str
        Columns that are features though they look like row numbers, identifiers or the target; also columns of ``obs``
        in AnnData, or of ``target_file``, that are to be features.
    covariates : str or list of str
        Columns that will go into every model and are not to be chosen (:class:`~holdfast.Study` takes the same names);
        they may stand in ``obs`` of AnnData or in ``target_file``. Of texts, 0/1 columns are made, ``Charge=B``.
    missing : {"error", "impute-median", "drop"}
        What to do with missing values (empty, ``NA``, ``NaN``, ``null``, ``None``, ``?``): refuse them; fill them with
        the column's median, or most frequent category; or drop their rows. A missing target is never filled. Medians
        are of all rows: where that may leak into a test set, impute in a pipeline instead.
    na_values : str, number or list of them, optional
        Values that stand for a missing one besides the common words, such as ``-999``; in a text they are separated by
        commas.
    repeats : {"keep", "drop"}
        What to do with rows whose features all equal those of another, up to rounding: keep them with a warning; or
        drop all but the first, and all where the targets differ. Copies of a row let models be scored on rows that
        they were trained on.
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
        Sheet of an Excel file, or object of an ``.RData`` file; by default, the first one with a table. Of AnnData the
        layer to read instead of ``X``, of MuData the modality.

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
    given = {name: value for name, value in locals().items() if name in OPTIONS}
    if isinstance(path, pd.DataFrame) or is_anndata(path):
        options = make_options("the frame" if isinstance(path, pd.DataFrame) else "the AnnData object", given)
        return complete_table(load_table(path, options), options)
    path = as_path(path, "the path of a file, or a pandas DataFrame with names of columns")
    options = make_options(str(path), given)
    return complete_table(load_table(path, options), options, display_name(path))


def make_options(where: str, given: Mapping[str, Any]) -> TableOptions:
    """Return options of :func:`read_table`, checked: all are known, and no column has two roles."""
    values = {**DEFAULTS, **given}
    for name, option in OPTIONS.items():
        value, default = values[name], DEFAULTS[name]
        if option.kind == "columns":
            values[name] = (value,) if isinstance(value, str) else as_names(value, f"{name}=")
        elif option.kind == "column":
            values[name] = None if value is None else str(value)
        elif name == "na_values" and value is not None and not isinstance(value, str):
            values[name] = ",".join(map(str, value if isinstance(value, Iterable) else [value]))
        elif option.choices and value not in (*option.choices, default):
            choices = option.choices if default in option.choices else (*option.choices, default)
            raise ValueError(f"Expected {name} to be {quote_names(choices)}, got {value!r}.")
    for role, other in (("time", "event"), ("event", "time")):
        if values[role] is None and values[other] is not None:  # then the target is the other of both
            values[role], values["target"] = values["target"], None
    if (values["event"] is None) != (values["time"] is None) or (values["time"] and values["target"]):
        raise ValueError(
            "Expected time= and event=, the columns of survival times and of events, or target=; give both of the "
            "first, or the last."
        )
    if values["event_is"] is not None and values["event"] is None:
        raise ValueError("Expected event_is= with event=, the column of which it is a value.")
    if values["target"] is None and values["time"] is None:
        raise ValueError("Expected the name of the target, or time= and event= for survival times, got neither.")
    values["target"] = values["time"] or values["target"]
    options = TableOptions(where=where, **values)
    roles = (*options.roles.values(), options.index, *options.ignore, *options.covariates)
    name, times = Counter(name for name in roles if name is not None).most_common(1)[0]
    if times > 1:
        raise refuse("two-roles", name=name)
    return options


def complete_table(loaded: Loaded, options: TableOptions, source: str | None = None) -> Table:
    """Return features, target and groups of a table as a file holds it, or ask what it leaves open.

    The error lists all that is open: after each question, its first answer is tried to see what else there is.
    """
    loaded = _orient(loaded, options)
    if options.target_file is not None:
        path = as_path(options.target_file, "the path of a second file for target_file=")
        loaded = join_target(loaded, replace(options, columns=tuple(map(str, loaded.frame.columns))), path)
    errors: list[ReadingError] = []
    asked: set[str] = set()
    tried = options
    while True:
        try:
            table = _build_table(loaded, tried, source)
        except ReadingError as error:
            question = error.question
            if errors and (question is None or (question.option in asked and not question.several)):
                break  # an answer that was tried leads to this
            errors.append(error)
            if question is None or question.option not in TRIED or not question.choices:
                break
            asked.add(question.option)
            values = [value for value, _ in question.choices]
            answer = question.answer(*(values if question.several else values[:1]))
            tried = replace(tried, **add_answer(vars(tried), answer))
        except ValueError:
            if errors:
                break
            raise
        else:
            if errors:
                break
            return table
    if len(errors) == 1:
        raise errors[0]
    raise ReadingError("\nAlso: ".join(map(str, errors)), errors[0].question) from errors[0]


def _build_table(loaded: Loaded, options: TableOptions, source: str | None) -> Table:
    notes = list(loaded.notes)
    frame = _check_columns(loaded.frame, options, notes)
    options = replace(options, columns=tuple(frame.columns))
    if options.na_values is not None:
        frame = _mask_codes(frame, options.na_values.split(","), notes)
    roles = frame[list(options.roles.values())]
    named = (*roles.columns, *options.treat_as_feature, *options.covariates)
    left = [name for name in loaded.aside if name in frame.columns and name not in named]
    unnamed = [name for name in left if name not in options.ignore]
    ignored = [name for name in options.ignore if name in frame.columns]
    notes += [f"Left out as asked: {quote_names(ignored)}."] if ignored else []
    notes += [f"Left out what describes the samples: {quote_names(unnamed)}{ACCEPT_HINT}."] if unnamed else []
    features = without_columns(frame, (*roles.columns, *left, *options.ignore))
    X, roles = make_features(features, roles, options, notes)
    y, task = make_target(roles, options, notes)
    groups, sites = make_groups(roles, options), None if options.sites is None else as_labels(roles[options.sites])
    weights = None if options.weights is None else make_weights(roles[options.weights])
    if options.repeats == "drop":
        remaining = _find_different_rows(X, y, notes)
        X, y = X.iloc[remaining], y[remaining]
        groups, sites, weights = (None if of is None else of[remaining] for of in (groups, sites, weights))
    notes += note_repeats(X)
    chosen_from = without_columns(X, covariate_columns(X.columns, options.covariates))
    found = find_doubts(chosen_from, y, groups, options.target, options.groups)
    doubts, settled = settle_doubts(found, options.treat_as_feature)
    _refuse_certain(doubts, options)
    notes += settled
    equal_rows, repeats = describe_equal_rows(X, y)
    of_columns: Any = options.feature_groups
    of_columns = read_feature_groups(of_columns) if isinstance(of_columns, (str, Path)) else of_columns
    return make_table(
        X, y, task, groups, options.groups, sites, weights, of_columns,
        target=options.target, notes=tuple(notes), doubts=tuple(doubts),
        warnings=(*warn_of_doubts(doubts), *repeats), equal_rows=equal_rows,
        rows_read=frame.shape[0], columns_read=frame.shape[1], source=source, file_format=loaded.file_format or None,
    )  # fmt: skip


def covariate_columns(names: Iterable[str], covariates: Iterable[str]) -> list[str]:
    """Return the columns of covariates: of texts, 0/1 columns were made; a name that is not there stands for itself."""
    known = list(names)
    made = {name: [column for column in known if column.startswith(f"{name}=")] for name in covariates}
    return [column for name in made for column in (made[name] if name not in known else []) or [name]]


def load_table(path: Any, reading: Reading) -> Loaded:
    """Return a table as it stands in a file of a known ending, in a frame, or in an AnnData object."""
    if isinstance(path, pd.DataFrame):
        return Loaded(frame=path, file_format="")
    if is_anndata(path):
        return load_anndata(path, reading.sheet)
    if file_ending(path) not in ENDINGS:
        shown = display_name(path)
        raise ValueError(f"Expected a file ending in {', '.join(ENDINGS)}, got {shown!r}; save it as one of these.")
    return load_frame(path, row="sample", gaps=GAPS, reading=reading)


def _orient(loaded: Loaded, options: TableOptions) -> Loaded:
    """Return a table with samples in rows; columns to ignore that are none of its features are left out before."""
    if not options.transpose or loaded.turned:
        return loaded
    if options.index is not None and options.index in loaded.frame.columns:
        loaded = replace(loaded, frame=loaded.frame.set_index(options.index))
    frame = loaded.frame
    others = [name for name in frame.columns if str(name) in options.ignore]
    frame = without_columns(frame, others)
    annotations = guessing.find_annotations(frame)
    labels = guessing.label_features(frame, annotations)
    notes = [*loaded.notes, "Transposed the table, as features stood in its rows."]
    notes += [f"Left out as asked: {quote_names(others)}."] if others else []
    notes += [f"Left out what describes the features: {quote_names(annotations)}."] if annotations else []
    turned = guessing.turn(without_columns(frame, annotations), loaded.decimal, options.where)
    used = {*options.roles.values(), *options.ignore, *options.covariates, *options.treat_as_feature}
    shown = {name: guessing.join_label(label, name) for name, label in labels.items() if name not in used}
    if shown:
        example = next(iter(shown.values()))
        notes.append(f"Added labels to the names of {format_count(len(shown), 'feature')}, as in {example!r}.")
    turned = turned.rename(columns=shown)
    return replace(loaded, frame=turned, notes=tuple(notes), aside=tuple(map(str, others)))


def _mask_codes(frame: pd.DataFrame, codes: Iterable[str], notes: list[str]) -> pd.DataFrame:
    """Return the frame with these numbers and texts missing; note how many there were."""
    texts = [code.strip() for code in codes]
    numbers = [number for number in map(as_number, texts) if isinstance(number, float)]
    is_code = frame.isin([*texts, *numbers])
    notes.append(f"Took {' and '.join(texts)} for missing: {format_count(int(is_code.to_numpy().sum()), 'entry')}.")
    return frame.mask(is_code)


def _refuse_certain(doubts: Sequence[Doubt], options: TableOptions) -> None:
    """Raise if a column looks like no feature by more than its values."""
    certain = [doubt for doubt in doubts if doubt.certainty == "certain"]
    if certain:
        names = [doubt.feature for doubt in certain]
        shown = names[0] if len(names) == 1 else names
        choices = [
            (name, f"{quoted(name)} {shorten(doubt.plain_reason, 160)}")
            for name, doubt in zip(names, certain, strict=True)
        ]
        raise refuse("doubts", choices, options=options, reasons="; ".join(describe_doubts(certain)), shown=shown)


def _find_different_rows(X: pd.DataFrame, y: NDArray[Any], notes: list[str]) -> NDArray[np.int64]:
    """Find rows that repeat no other; of equal rows whose targets differ, none. Note how many are dropped."""
    first, second = find_equal_rows(X)
    differing = y[first] != y[second]
    dropped = np.union1d(second, first[differing])
    if not dropped.size:
        return np.arange(len(X))
    conflict = (
        f", {format_count(int(differing.sum()), 'pair')} of them with different targets" if differing.any() else ""
    )
    notes.append(f"Dropped {format_count(dropped.size, 'row')} equal to others{conflict}.")
    return np.setdiff1d(np.arange(len(X)), dropped)


def _check_columns(frame: pd.DataFrame, options: TableOptions, notes: list[str]) -> pd.DataFrame:
    """Return the frame with its row names as index; raise unless all columns that the options name are there."""
    frame = _index_by_names(frame, options, notes)
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    if repeated := describe_repeats(frame.columns):
        raise ValueError(f"Expected different column names in {options.where}, got {repeated}; rename them.")
    named: list[tuple[str, str | None]] = list(options.roles.items())
    if not options.transpose:  # else these were columns before the table was transposed
        named += [("index", options.index), *(("ignore", name) for name in options.ignore)]
    for argument in ("treat_as_feature", "covariates"):
        # a 0/1 column of a category may be named as it will be called
        columns = [name for name in getattr(options, argument) if name.partition("=")[0] not in frame.columns]
        named += [(argument, name) for name in columns]
    for argument, name in named:
        if name is not None:
            check_column_exists(name, argument, frame, options)
    if frame.empty:
        raise ValueError(f"Expected one row per sample in {options.where}, got no rows; add some.")
    if options.index is not None and not options.transpose:
        frame = frame.set_index(options.index)
    return frame


def _index_by_names(frame: pd.DataFrame, options: TableOptions, notes: list[str]) -> pd.DataFrame:
    """Return the frame with the names of its rows as index, if it has some that no option names as a column."""
    used = {*options.roles.values(), options.index, *options.ignore} - {None}
    if {str(name) for name in frame.index.names if name is not None} & used:
        return frame.reset_index()
    if frame.index.name is not None or not types.is_integer_dtype(frame.index):
        if not options.transpose:
            notes.append("Took the index for row names, not for a feature.")
    elif len(frame.columns) and frame.columns[0] in guessing.NO_NAME and frame.columns[0] not in used:
        notes.append("Took the first column, which has no name, for row names, not for a feature.")
        return frame.iloc[:, 1:].set_axis(pd.Index(frame.iloc[:, 0], name=None))
    return frame


def make_weights(column: "pd.Series[Any]") -> NDArray[np.float64]:
    """Return the weights of rows as numbers; whether they are above 0 is checked where they are used."""
    entries = [as_number(entry) for entry in column]
    wrong = next((entry for entry in entries if not isinstance(entry, float)), None)
    if wrong is not None:
        raise ValueError(f"Expected numbers in the column of weights {column.name!r}, got {wrong!r}; name another.")
    return np.array(entries, dtype=np.float64)


def read_feature_groups(path: str | Path) -> dict[str, list[str]]:
    """Read groups of columns from a table with a row for each column: its name, then that of its group.

    A first line that names a group of other lines is no header, but such a line too.
    """
    table = load_frame(path, row="column").frame.astype(object)
    if table.shape[1] < 2:
        raise ValueError(
            f"Expected two columns in {path}, the name of a column of the data and that of its group, got one."
        )
    groups: dict[str, list[str]] = {}
    for column, group in table.iloc[:, :2].dropna().itertuples(index=False, name=None):
        groups.setdefault(str(group), []).append(str(column))
    column, group = map(str, table.columns[:2])
    if group in groups:
        groups[group].insert(0, column)
    return groups


def make_groups(roles: pd.DataFrame, options: TableOptions) -> NDArray[Any] | None:
    """Return the group of each row, of which there must be two; None without groups."""
    if options.groups is None:
        return None
    labels = as_labels(roles[options.groups])
    if len(np.unique(labels)) < 2:
        sentence = f"{quoted(options.groups)} holds a single group, {quoted(labels[0].item())}."
        question = ask_role("groups", sentence, options.columns)
        raise refuse("one-group", question=question, options=options, group=labels[0].item())
    return labels
