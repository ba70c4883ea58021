"""The target in a second file, matched by the names of the samples."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api import types

from holdfast.declared import did_you_mean
from holdfast.io.files import Loaded, display_name
from holdfast.io.loading import load_frame
from holdfast.io.options import GAPS, TableOptions, join_first, pluralize, quote_names
from holdfast.io.orientation import row_labels
from holdfast.io.questions import ReadingError, ask_column, ask_missing_samples, ask_table_orientation, quoted


def join_target(loaded: Loaded, options: TableOptions, path: Path) -> Loaded:
    """Return a table with target and groups from a second file; its samples are found by their names, in any order."""
    called = display_name(path)
    frame, samples = _named_samples(loaded.frame, options)
    second = load_frame(path, row="sample", gaps=GAPS)
    if second.frame.index.name is not None:
        second = replace(second, frame=second.frame.reset_index())
    roles = _check_roles(second.frame, frame, options, path)
    key, names = _find_key(second.frame, samples, roles, options, path)
    _check_repeats(samples, options.where)
    _check_repeats([name for name in names if name in set(samples)], called)
    places = pd.Series(range(len(names)), index=pd.Index(names))
    places = places[~places.index.duplicated()]
    _check_lacking([name for name in samples if name not in places.index], len(samples), options, path)
    found = [int(places.get(name, -1)) for name in samples]
    more = [name for name in second.frame.columns if name not in roles and name != key]
    chosen = [*roles, *(name for name in more if name in options.accept)]
    taken = second.frame[chosen].reindex([place if place >= 0 else None for place in found])
    joined = pd.concat([frame, taken.set_axis(frame.index)], axis=1)
    notes = [f"Took {quote_names(chosen)} from {called}, matched by sample name{'' if key is None else f' ({key!r})'}."]
    extra = [name for name in names if name not in set(samples)]
    if extra:
        notes.append(
            f"Left out {pluralize(len(extra), 'row')} of {called} whose samples are not in the table: "
            f"{quote_names(extra)}."
        )
    left = [name for name in more if name not in options.accept]
    notes += [f"Left out the other columns of {called}: {quote_names(left)}."] if left else []
    own = [f"{called}: {note}" for note in second.notes]
    return replace(loaded, frame=joined, notes=(*loaded.notes, *own, *notes))


def _named_samples(frame: pd.DataFrame, options: TableOptions) -> tuple[pd.DataFrame, list[str]]:
    """Return the table with the names of its samples as index, and these names."""
    if options.index is not None and options.index in frame.columns:
        return frame, _as_texts(frame[options.index])
    labels = row_labels(frame)
    if labels is None:
        sentence = "Samples are found in the second table by their names. Which column holds these?"
        raise ReadingError(
            f"Expected names of samples in {options.where}, to find their target in another file, got none; name their "
            "column with index=.",
            ask_column("index", sentence, [name for name in frame.columns if frame[name].is_unique]),
        )
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
        hint = did_you_mean(options.target, second.columns)
        hint = hint if hint.endswith("?") else "; give target= one of these names."
        columns = quote_names(second.columns)
        sentence = f"The second table has no column {quoted(options.target)}. Which of its columns is to be predicted?"
        raise ReadingError(
            f"Expected the target column {options.target!r} in {path}, got the columns {columns}{hint}",
            ask_column("target", sentence, second.columns),
        )
    roles = [name for name in (options.target, options.groups) if name is not None and name in second.columns]
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
        turned = "" if options.transpose else _turned_hint(options, candidates)
        others = quote_names(next(iter(candidates.values()), []))
        sentence = "The second table names the columns of the first as its samples."
        raise ReadingError(
            f"Expected the names of the samples of {options.where} ({quote_names(samples)}) in a column of {path}, got "
            f"none of them ({others}); {turned or 'give both files the same names.'}",
            ask_table_orientation(sentence) if turned else None,
        )
    return best, candidates[best]


def _turned_hint(options: TableOptions, candidates: dict[str | None, list[str]]) -> str:
    known = set(options.columns)
    if any(known.intersection(entries) for entries in candidates.values()):
        return "they are the names of columns: features stand in rows, pass transpose=True."
    return ""


def _check_repeats(names: list[str], where: str) -> None:
    twice = [f"{name!r} ({times} times)" for name, times in Counter(names).items() if times > 1]
    if twice:
        raise ValueError(f"Expected every sample once in {where}, got {join_first(twice)}; give them different names.")


def _check_lacking(lacking: list[str], total: int, options: TableOptions, path: Path) -> None:
    if lacking and options.missing != "drop":
        raise ReadingError(
            f"Expected a row in {path} for each of the {total} samples of {options.where}, got none for "
            f"{len(lacking)}: {quote_names(lacking)}; add them, leave them out with ignore= if they are no samples, or "
            "drop them with missing='drop'.",
            ask_missing_samples(lacking),
        )
