"""Columns that may be no features, and rows that are no samples of their own: each is a doubt, never an accusation.

No test can distinguish a perfect marker from a copy of the target, so what only values suggest is a question. What a
name, a position or the order of the rows says as well is more than that. :func:`find_doubts` looks at columns,
:func:`describe_equal_rows` at rows, :func:`note_repeats` at columns with little or nothing of their own.
"""

import math
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io.questions import ACCEPTED, quote_names
from holdfast.kernels.libraries import column_blocks
from holdfast.text import format_count, format_number, join_first

FEW_ROWS = 10  # in so few rows, an order or a perfect separation is nothing special
ENOUGH_ROWS = 20  # from so many rows on, a single row that differs makes a column nearly constant
CHANCE = 0.01  # expected number of columns (or pairs of rows) that do so by chance, above which this is no news
MAX_VALUES = 10
"""Different values up to which a column may be the classes in other words with exceptions."""
MAX_EXCEPTIONS = 0.05
"""Share of rows that may differ from a one-to-one map of values and classes; one row always may."""
NAMES = {
    kind: frozenset(words)
    for kind, words in tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8")).items()
}
"""Names of columns, and words in them, by what such a column is."""
COMPOUND = re.compile(
    r"(patienten?|proben?|probanden?|fall|tier|sample|subject|charg(?:en)?|platten?|lauf|los|monster|partij)s?"
    r"(nummer|nr|id|kennung|code|bezeichnung)"
)
"""Identifiers and batches that German and Dutch write in one word."""
CODES = (-9.0, -99.0, -999.0, -9999.0, -99999.0, 99.0, 999.0, 9999.0, 99999.0)
"""Numbers with which a missing value is often written; in a single row only those of at least three digits count."""

Certainty = Literal["certain", "doubt", "question", "marker"]
ORDER: tuple[Certainty, ...] = ("certain", "doubt", "question", "marker")


@dataclass(frozen=True)
class Doubt:
    """Why a column may be no feature, or not as it stands.

    Attributes
    ----------
    feature : str
        Name of the column.
    reason : str
        What it looks like, as a sentence goes on after the name.
    certainty : {"certain", "doubt", "question", "marker"}
        ``certain`` if more than its values says so: its name, its position or the order of the rows; ``doubt`` if
        its name means a batch, a site or a date; ``question`` if only its values look like a copy of the target or
        damaged; ``marker`` if it separates the classes as a measured marker may.
    advice : str
        What else may be done with it, for a person who knows no options.
    option : {"ignore", "na_values"}
        Which option of reading settles it, if it is no feature as it stands.
    """

    feature: str
    reason: str
    certainty: Certainty = "question"
    advice: str = ""
    option: Literal["ignore", "na_values"] = "ignore"

    @property
    def withholds_trust(self) -> bool:
        """Whether the feature is listed apart, not among those to trust, until somebody says that it is one."""
        return self.certainty != "marker"

    @property
    def plain_reason(self) -> str:
        """The reason without options, and the advice."""
        return self.reason.partition(" (groups=")[0] + self.advice


def find_doubts(
    X: pd.DataFrame,
    y: NDArray[Any],
    groups: NDArray[Any] | None = None,
    target: str | None = None,
    groups_name: str | None = None,
) -> list[Doubt]:
    """Find columns that may be no features, in the order of the columns.

    Parameters
    ----------
    X : DataFrame
        The features; columns that are not numbers are passed over. The name of a column made of a category is
        ``column=category``.
    y : ndarray
        Class labels, floats for regression, or what :func:`holdfast.survival` returns.
    groups : ndarray, optional
        Group of each row.
    target, groups_name : str, optional
        Names of the target and of the groups, to which names of columns are compared.

    Returns
    -------
    list of Doubt
        At most one for each column: the most certain.
    """
    numbers = X.select_dtypes("number")
    names = [str(name) for name in numbers.columns.tolist()]
    n = len(numbers)
    if n < 3 or not names:
        return []
    doubts: dict[str, Doubt] = {}
    y = np.asarray(y)
    parts_of_target, times = [(y, target)], y if y.dtype.names else None
    if y.dtype.names:  # a copy of the times, or of the events, gives the target away
        parts_of_target = [(y["time"], target), *([] if y["event"].all() else [(y["event"], "event")])]
    pairs = ((block, known) for block in blocks_of_columns(numbers) for known in parts_of_target)
    for (part, values), (y, target) in pairs:
        columns = Columns(
            values=values, names=names[part], n_columns=len(names), y=y, target=target, groups=groups,
            groups_name=groups_name, starts_table=part.start == 0 and names[0] == str(X.columns[0]),
            times=times if y.dtype.kind == "f" else None,
        )  # fmt: skip
        with np.errstate(over="ignore", invalid="ignore"):
            for doubt in (doubt for check, min_rows in CHECKS if n >= min_rows for doubt in check(columns)):
                known = doubts.get(doubt.feature)
                if known is None or ORDER.index(doubt.certainty) < ORDER.index(known.certainty):
                    also = f", and {known.reason.partition(':')[0]}" if known and doubt.certainty == "doubt" else ""
                    doubts[doubt.feature] = replace(doubt, reason=doubt.reason + also)
    return [doubts[name] for name in names if name in doubts]


AT_ONCE = 2**21
"""Numbers of a table up to which it is searched at once; a larger one goes by blocks of its columns."""


def blocks_of_columns(numbers: pd.DataFrame) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield the columns of a frame of numbers as float64, as many at a time as fit, with where they stand."""
    for part in column_blocks(*numbers.shape, AT_ONCE):
        yield part, numbers.iloc[:, part].to_numpy(dtype=np.float64, na_value=np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """The columns that are numbers, with what they are compared to; a check returns doubts about some of them.

    Attributes
    ----------
    values : ndarray
        Rows × columns.
    names : list of str
        Names of the columns.
    n_columns : int
        How many columns of numbers the table has, these and others.
    y : ndarray
        The target.
    target, groups_name : str or None
        Names of the target and of the groups.
    groups : ndarray or None
        Group of each row.
    starts_table : bool
        Whether the first of them is the first of the table.
    times : ndarray or None
        All of a target of survival times.
    """

    values: NDArray[np.float64]
    names: list[str]
    n_columns: int
    y: NDArray[Any]
    target: str | None
    groups: NDArray[Any] | None
    groups_name: str | None
    starts_table: bool
    times: NDArray[Any] | None = None

    @cached_property
    def classes(self) -> NDArray[np.int64] | None:
        """The class of each row, counted from 0; None for regression."""
        return None if self.y.dtype.kind == "f" else np.unique(self.y, return_inverse=True)[1]

    @property
    def classes_phrase(self) -> str:
        """The classes, as reasons call them."""
        return "the classes" if self.target is None else f"the classes of {self.target!r}"

    def whole_numbers(self, pattern: "re.Pattern[str]") -> Iterator[tuple[str, NDArray[np.float64]]]:
        """Yield names and values of whole numbers; a pattern and three rows rule most columns out."""
        for index in np.flatnonzero((self.values[:3] % 1 == 0).all(axis=0)):
            column = self.values[:, index]
            if pattern.search(self.names[index].lower()) and (column % 1 == 0).all():
                yield self.names[index], column


def describe_doubts(doubts: Iterable[Doubt]) -> list[str]:
    """Return one phrase for each reason, with the names of its columns: ``'a', 'b': each …``."""
    by_reason: dict[str, list[str]] = {}
    for doubt in doubts:
        by_reason.setdefault(doubt.reason, []).append(doubt.feature)
    return [
        f"{names[0]!r} {reason}" if len(names) == 1 else f"{quote_names(names)}: each {reason}"
        for reason, names in by_reason.items()
    ]


def settle_doubts(doubts: Iterable[Doubt], features: Iterable[str] | bool) -> tuple[list[Doubt], list[str]]:
    """Separate the doubts that stay open from notes on those that are settled.

    Parameters
    ----------
    doubts : iterable of Doubt
        What was found.
    features : iterable of str or True
        Columns that are features all the same, by their names or those of the columns they were made of; True for all.

    Returns
    -------
    list of Doubt, list of str
        What is open, and a sentence for each reason that was overruled.
    """
    doubts = list(doubts)
    named = {doubt.feature for doubt in doubts} if features is True else set(features or ())
    settled = [doubt for doubt in doubts if not named.isdisjoint((doubt.feature, doubt.feature.partition("=")[0]))]
    notes = [f"Kept as a feature{ACCEPTED}: {phrase.rstrip('?')}." for phrase in describe_doubts(settled)]
    return [doubt for doubt in doubts if doubt not in settled], notes


def warn_of_doubts(doubts: Iterable[Doubt]) -> list[str]:
    """Return a sentence for each reason."""
    return [phrase if phrase.endswith("?") else f"{phrase}." for phrase in describe_doubts(doubts)]


# Names


def split_words(name: str) -> list[str]:
    """Return the words of a name in lower case: patientID, patient_id and Patient Id have the same."""
    if not name.isascii():  # é is e
        name = "".join(letter for letter in unicodedata.normalize("NFKD", name) if not unicodedata.combining(letter))
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+|(?<=[A-Za-z])(?=\d)", " ", name)
    return spaced.lower().split()


def is_identifier(name: str) -> bool:
    """Whether a name is that of an identifier, such as patient_id."""
    words = [word for word in split_words(name) if not word.isdigit()]
    if not words:
        return False
    if "".join(words) in NAMES["identifiers"] or words[-1] in NAMES["ends_of_identifiers"]:
        return True
    if COMPOUND.fullmatch("".join(words)) and not is_batch(name):
        return True
    numbers, subjects = NAMES["numbers"], NAMES["subjects"]
    numbered = words[-1] in numbers and not subjects.isdisjoint(words[:-1])
    number_of = words[0] in numbers and not subjects.isdisjoint(words[1:])  # numéro de patient
    return numbered or number_of or (words[0] == "id" and len(words) <= 3)


def is_batch(name: str) -> bool:
    """Whether a name says where, when or with what a sample was processed, and nothing else."""
    words = [word for word in split_words(name) if not word.isdigit()]
    batches, compound = NAMES["batches"], COMPOUND.fullmatch("".join(words))
    if compound is not None:
        return bool(batches & {compound[1], compound[1].removesuffix("n"), compound[1].removesuffix("en")})
    others = NAMES["with_batches"] | NAMES["numbers"] | NAMES["identifiers"]
    return not batches.isdisjoint(words) and set(words) <= batches | others


def _is_quantity(name: str) -> bool:
    return not NAMES["quantities"].isdisjoint(split_words(name))


def _share_words(name: str, other: str | None) -> bool:
    """Whether all words of one name stand in the other: status_code and status."""
    ours, theirs = ({word for word in split_words(text or "") if not word.isdigit()} for text in (name, other))
    return bool(ours and theirs) and (ours <= theirs or theirs <= ours)


# Identifiers and counters


def _check_identifiers(columns: Columns) -> Iterator[Doubt]:
    """Doubt whole numbers that are named like identifiers, if they differ from row to row as these do."""
    n = len(columns.values)
    for name, column in columns.whole_numbers(_NUMBERED):
        words = {word for word in split_words(name) if not word.isdigit()}
        named = is_identifier(name)
        if not named and not (words and words <= NAMES["weak_identifiers"]):
            continue
        different = len(np.unique(column))
        if named and different >= 0.9 * n:
            yield Doubt(name, "is named like an identifier and differs in nearly every row", "certain")
        elif different == n and n > FEW_ROWS and (_is_sorted(column) or np.ptp(column) == n - 1):
            yield Doubt(name, "is named like an identifier and numbers the rows", "certain")
        elif named and words & NAMES["subjects"] and columns.groups is None and different > max(2, n / 20):
            reason = f"names {different} subjects, some with several rows (groups={name!r} keeps these together)"
            advice = "; name it as the column of groups to keep the rows of a subject together"
            yield Doubt(name, reason, "certain", advice)


def _is_sorted(column: NDArray[np.float64]) -> bool:
    steps = np.diff(column)
    return bool((steps > 0).all() or (steps < 0).all())


def _check_counters(columns: Columns) -> Iterator[Doubt]:
    """Doubt whole numbers that change by the same step in every row, and a first column that numbers the rows."""
    values, names, n = columns.values, columns.names, len(columns.values)
    steps = np.diff(values[:3], axis=0)
    likely = np.flatnonzero((steps[0] == steps[1]) & (steps[0] != 0) & (values[0] % 1 == 0) & (steps[0] % 1 == 0))
    counting = [column for column in likely if (np.diff(values[:, column]) == steps[0, column]).all()]
    for column in counting:
        reason = "changes by the same step from row to row, as a counter of rows does"
        yield Doubt(names[column], reason, "question" if _is_quantity(names[column]) else "certain")
    first = values[:, 0]
    numbers_rows = (first % 1 == 0).all() and len(np.unique(first)) == n
    ordered = _is_sorted(first) and not _is_quantity(names[0])
    if columns.starts_table and 0 not in counting and numbers_rows and (ordered or np.ptp(first) == n - 1):
        yield Doubt(names[0], "is the first column and numbers the rows with whole numbers", "certain")


# The target and groups in other words


def _check_target(columns: Columns) -> Iterator[Doubt]:
    """Doubt columns that have a range of values for each class, or that rise or fall with a quantity."""
    values, names, target = columns.values, columns.names, columns.target
    called = "the target" if target is None else f"the target {target!r}"
    if columns.classes is None:
        recoded = copied = matches = _follows(values, columns.y)
        exact = f"is named like {called} and orders the rows as it does"
        perfect = f"rises or falls with {called} from row to row without exception"
    else:
        matches, constant, copied = _separates(values, columns.classes)
        if _chance_of_separation(np.bincount(columns.classes)) * columns.n_columns > CHANCE:
            matches = matches & constant & (len(values) > 2 * FEW_ROWS)
        recoded = matches & constant
        exact = f"is named like {called} and has one value for each of its classes"
        perfect = f"separates {columns.classes_phrase} perfectly, one value range for each"
    for column in np.flatnonzero(matches):
        name = names[column]
        alike = (
            _share_words(name, target) or not NAMES["target_words"].isdisjoint(split_words(name)) or name.lower() == "y"
        )
        if recoded[column] and alike:
            yield Doubt(name, exact, "certain")
        else:
            reason = f"{perfect}: a perfect marker, or the target in other words"
            yield Doubt(name, reason, "question" if copied[column] else "marker")


def _separates(values: NDArray[np.float64], codes: NDArray[np.int64]) -> tuple[NDArray[np.bool_], ...]:
    """Return which columns have a range of values for each class, a single value, and ranges as far apart as a copy.

    In real data, gaps between the classes are at most about half as wide as the classes.
    """
    low, high = _extremes(values, codes)
    order = np.argsort(low, axis=0)
    low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
    gap, width = (low[1:] - high[:-1]).min(axis=0), (high - low).max(axis=0)
    return gap > 0, width == 0, (gap > 0) & (gap >= width)


def _extremes(values: NDArray[np.float64], codes: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the greatest value of every column in each class."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    ordered = values[order]
    return np.minimum.reduceat(ordered, starts), np.maximum.reduceat(ordered, starts)


def _chance_of_separation(counts: NDArray[np.int64]) -> float:
    """Return the probability that random numbers, all different, separate classes of these sizes."""
    log = math.lgamma(len(counts) + 1) + sum(math.lgamma(count + 1) for count in counts) - math.lgamma(counts.sum() + 1)
    return math.exp(log)


def _follows(values: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which columns are strictly rising or strictly falling functions of the target."""
    order = np.argsort(y, kind="stable")
    rises = np.diff(y[order]) > 0
    steps = np.diff(values[order], axis=0)
    same = (steps[~rises] == 0).all(axis=0)
    return same & rises.any() & ((steps[rises] > 0).all(axis=0) | (steps[rises] < 0).all(axis=0))


def _check_groups(columns: Columns) -> Iterator[Doubt]:
    """Doubt whole numbers that are one-to-one with the groups; measurements of a subject may be so too, by chance."""
    if columns.groups is None:
        return
    codes = np.unique(np.asarray(columns.groups), return_inverse=True)[1]
    if not 4 < codes.max() + 1 < len(codes):
        return
    low, high = _extremes(columns.values, codes)
    is_whole = (low == high).all(axis=0) & (low % 1 == 0).all(axis=0)
    matches = is_whole & (np.diff(np.sort(low, axis=0), axis=0) > 0).all(axis=0)
    called = "the groups" if columns.groups_name is None else f"the groups {columns.groups_name!r}"
    reason = f"has one whole number for each of {called}, as another name of them would"
    for column in np.flatnonzero(matches):
        name = columns.names[column]
        named = is_identifier(name) or _share_words(name, columns.groups_name)
        yield Doubt(name, reason, "certain" if named else "question")


# Batches, near-copies of the target, codes


def _check_batches(columns: Columns) -> Iterator[Doubt]:
    """Doubt whole numbers, and columns made of categories, whose names mean a batch, a site or a date."""
    for name, _ in columns.whole_numbers(_BATCH):
        if is_batch(name.partition("=")[0]):
            reason = "is named like a batch, a site or a date, which describes how samples came about "
            reason += "(as the column of sites it is adjusted for)"
            yield Doubt(name, reason, "doubt")


# A first look, as most names have none of these words
_BATCH = re.compile("|".join(sorted(NAMES["batches"])))
_NUMBERING = ("identifiers", "weak_identifiers", "numbers", "subjects")
_NUMBERED = re.compile("|".join(word for kind in _NUMBERING for word in sorted(NAMES[kind])) + r"|\W")


def _check_near_copies(columns: Columns) -> Iterator[Doubt]:
    """Doubt columns of few values that map one-to-one onto the classes in all but a few rows."""
    codes, n = columns.classes, len(columns.values)
    if codes is None:
        return
    sizes = np.bincount(codes)
    rare = int(np.argmin(sizes))  # most rows agree by chance where one class is common, but not those of a rare one
    for column in _one_value_per_class(columns.values, codes):
        levels = np.unique(columns.values[:, column], return_inverse=True)[1]
        if levels.max() >= MAX_VALUES:
            continue
        table = np.zeros((levels.max() + 1, sizes.size), dtype=np.int64)
        np.add.at(table, (levels, codes), 1)
        value, agreeing = table.argmax(axis=0), table.max(axis=0)
        exceptions = n - agreeing.sum()
        if len(set(value)) < sizes.size or not 0 < exceptions <= max(1, MAX_EXCEPTIONS * n):
            continue
        by_chance = _chance_of_overlap(n, int(sizes[rare]), int(table[value[rare]].sum()), int(agreeing[rare]))
        if by_chance * columns.n_columns <= CHANCE:
            but = f"all but {format_count(exceptions, 'row')} of {n:,}"
            yield Doubt(
                columns.names[column],
                f"has a value of its own for each of {columns.classes_phrase} in {but}: a marker, or a copy of the "
                "target?",
            )


def _chance_of_overlap(n: int, first: int, second: int, overlap: int) -> float:
    """Return the probability that random sets of these sizes, of n rows, share at least so many rows."""
    ways = sum(math.comb(first, k) * math.comb(n - first, second - k) for k in range(overlap, min(first, second) + 1))
    return ways / math.comb(n, second)


def _one_value_per_class(values: NDArray[np.float64], codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the columns that may have one value for each class: by some rows of each, which rule most others out."""
    likely, common = np.ones(values.shape[1], dtype=np.bool_), []
    for label in range(codes.max() + 1):
        rows = np.flatnonzero(codes == label)
        some = values[rows[np.linspace(0, len(rows) - 1, min(len(rows), 15)).astype(np.int64)]]
        middle = np.partition(some, len(some) // 2, axis=0)[len(some) // 2]
        likely &= (some == middle).sum(axis=0) > len(some) // 2
        common.append(middle)
    different = (np.diff(np.sort(common, axis=0), axis=0) != 0).all(axis=0)
    return np.flatnonzero(likely & different)


def _check_end_points(columns: Columns) -> Iterator[Doubt]:
    """Doubt, where survival times are predicted, other times and events; raise if rows are not observed from time 0."""
    if columns.times is None:
        return
    time, event, n = columns.times["time"], columns.times["event"], len(columns.values)
    known, entries, with_known = NAMES["end_points"], NAMES["entries"], NAMES["with_end_points"]
    same = (columns.values == time[:, None]).sum(axis=0)
    copied = (same > max(FEW_ROWS, n / 10)) & (np.unique(time).size > n / 2)
    binary = ((columns.values == 0) | (columns.values == 1)).all(axis=0)
    named = [_END_POINT.search(name.lower()) is not None for name in columns.names]
    for index in np.flatnonzero(copied | binary | named):
        name, column = columns.names[index], columns.values[:, index]
        words = {word for word in split_words(name.partition("=")[0]) if not word.isdigit()}
        begins = bool(words & entries) and words <= entries | with_known
        if begins and column.any() and ((column >= 0) & (column < time)).all():
            raise ValueError(
                f"Expected rows that are observed from time 0, got a column {name!r} of times at which their "
                "observation begins; late entry (left truncation) and several rows of a subject whose columns change "
                "with time are not supported: leave the column out, or rename it if it is something else."
            )
        if (words & known or words <= NAMES["sure_end_points"]) and words and words <= known | with_known:
            yield Doubt(name, "is named like a time or an event that ends an observation, as the target is", "doubt")
        elif copied[index]:
            yield Doubt(name, f"equals the time in {same[index]} of {n:,} rows: another time to an event?")
        elif binary[index]:
            ones, events = int(column.sum()), int(event.sum())
            inside = FEW_ROWS < ones < events and bool(event[column == 1].all())
            if inside and _chance_of_overlap(n, ones, events, ones) * columns.n_columns <= CHANCE:
                yield Doubt(
                    name, f"is 1 in {ones} of the {events} rows with the event and in no other: an event itself?"
                )


_END_POINT = re.compile("|".join(NAMES["end_points"] | NAMES["entries"] | NAMES["sure_end_points"]))


def _check_codes(columns: Columns) -> Iterator[Doubt]:
    """Doubt numbers such as -999 at an end of a column, far from its other values compared with their range."""
    values = columns.values
    for ends, of_others in ((values.min(axis=0), np.min), (values.max(axis=0), np.max)):
        for column in np.flatnonzero(np.isin(ends, CODES)):
            is_code = values[:, column] == ends[column]
            others = values[~is_code, column]
            enough = is_code.sum() > 1 or abs(ends[column]) > 100
            if enough and len(others) > FEW_ROWS and abs(of_others(others) - ends[column]) > 2 * np.ptp(others) > 0:
                code, count = format_number(ends[column], 0), format_count(int(is_code.sum()), "row")
                reason = f"is {code} in {count}, far from all its other values: a code for a missing one?"
                yield Doubt(columns.names[column], reason, option="na_values")


CHECKS: tuple[tuple[Callable[[Columns], Iterator[Doubt]], int], ...] = (
    (_check_target, FEW_ROWS + 1),
    (_check_groups, FEW_ROWS + 1),
    (_check_identifiers, 3),
    (_check_counters, FEW_ROWS + 1),
    (_check_near_copies, FEW_ROWS + 1),
    (_check_batches, FEW_ROWS + 1),
    (_check_codes, FEW_ROWS + 1),
    (_check_end_points, 3),
)
"""Every check with the least rows that it needs; of equally certain doubts about a column, that of the first counts."""


# Rows


def describe_equal_rows(X: pd.DataFrame, y: NDArray[Any]) -> tuple[int, list[str]]:
    """Count rows that repeat another, exactly or up to rounding, where chance is no reason for it, and describe them.

    Parameters
    ----------
    X : DataFrame
        Features; rows are not compared if one of them is no number.
    y : ndarray
        The target.

    Returns
    -------
    int, list of str
        How many rows repeat another; sentences on them, and on those with another target.
    """
    if X.select_dtypes("number").shape[1] < X.shape[1]:
        return 0, []
    first, second = find_equal_rows(X)
    if not first.size:
        return 0, []
    exact = np.ones(first.size, dtype=np.bool_)
    for _, values in blocks_of_columns(X):
        exact &= (values[first] == values[second]).all(axis=1)
    other = y[first] != y[second]
    how = "" if exact.all() else " up to rounding" if not exact.any() else ", some of them up to rounding"
    count = len(np.unique(second))
    sentences = [
        f"{format_count(count, 'row')} repeat{'s' if count == 1 else ''} another{how} (first: rows {first[0]} and "
        f"{second[0]}), so that models may be scored on rows that they were trained on."
    ]
    if other.any():
        pair = int(np.argmax(other))
        different = format_count(int(other.sum()), "pair")
        sentences.append(
            f"{different} of equal rows differ{'s' if other.sum() == 1 else ''} in the target (first: rows "
            f"{first[pair]} and {second[pair]}): one of the two labels is wrong, or the features cannot tell."
        )
    return count, sentences


ROUNDING = 0.005
"""Difference in standard deviations up to which values are equal up to rounding."""
MAX_ROUNDED = 2_000
"""Rows up to which rows are compared up to rounding; of more rows only those that are equal."""


def find_equal_rows(X: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return pairs of rows that are equal up to rounding: the first of them, and each row that repeats it.

    Only rows whose random sums of standardized values are close are compared. There are no pairs where some would be
    expected by chance, as in a table of few categories.
    """
    n = len(X)
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.concatenate([np.empty(0), *(values.std(axis=0) for _, values in blocks_of_columns(X))])
    varying, original = spread > 0, np.arange(n)
    comparable = n > FEW_ROWS and varying.any() and bool(np.isfinite(spread).all())  # else there are gaps
    some = np.flatnonzero(varying)[: 200 if comparable else 0]
    scaled = X.iloc[:, some].to_numpy(dtype=np.float64) / spread[some]
    if comparable and _few_are_equal_by_chance(scaled):
        signs, sums = np.random.default_rng(0).choice([-1.0, 1.0], size=varying.sum()), np.zeros(n)
        unit = np.zeros(len(spread))
        unit[varying] = signs / spread[varying]
        for part, values in blocks_of_columns(X):
            sums += (values * unit[part]).sum(axis=1)
        order = np.argsort(sums, kind="stable")
        reach = 3 * ROUNDING * math.sqrt(signs.size) if n <= MAX_ROUNDED else 1e-9
        few = scaled[:, :8]  # they rule most pairs out
        for step in range(1, n):
            near = np.flatnonzero(sums[order[step:]] - sums[order[:-step]] <= reach)
            if not near.size:
                break
            pairs = np.sort(np.column_stack([order[near], order[near + step]]), axis=1)
            pairs = pairs[np.abs(few[pairs[:, 0]] - few[pairs[:, 1]]).max(axis=1) <= ROUNDING]
            for part, values in blocks_of_columns(X) if pairs.size else ():
                differences = np.abs(values[pairs[:, 0]] - values[pairs[:, 1]])
                pairs = pairs[(differences <= ROUNDING * spread[part]).all(axis=1)]
            np.minimum.at(original, pairs[:, 1], pairs[:, 0])
    repeats = np.flatnonzero(original < np.arange(n))
    return original[repeats], repeats


def _few_are_equal_by_chance(scaled: NDArray[np.float64]) -> bool:
    """Whether few pairs of rows would be equal if columns had nothing to do with each other; some columns may tell."""
    n, rng = len(scaled), np.random.default_rng(0)
    first, second = rng.integers(n, size=(2, 1_000))
    expected = n * (n - 1) / 2
    for begin in range(0, scaled.shape[1], 8):
        values = scaled[:, begin : begin + 8]
        equal = (np.abs(values[first] - values[second]) <= ROUNDING)[first != second]
        expected *= float(np.maximum(equal.mean(axis=0), 1e-3).prod())
        if expected <= CHANCE:
            return True
    return False


# Columns with little information, or with that of another


def note_repeats(X: pd.DataFrame) -> list[str]:
    """Return notes on columns that are nearly constant and on columns that repeat another."""
    values, names, n = X.to_numpy(dtype=np.float64), X.columns, len(X)
    notes, copies = [], []
    if n >= ENOUGH_ROWS:
        median = np.partition(values, n // 2, axis=0)[n // 2]  # a value that nearly all rows have is the median
        differing = (values != median).sum(axis=0)
        few = max(1, n // 100)
        nearly = np.flatnonzero((differing > 0) & (differing <= few))
        rows = "a single row differs" if few == 1 else f"at most 1 % of the rows ({few}) differ"
        if len(nearly):
            count = format_count(len(nearly), "column")
            notes.append(f"Kept {count} in which {rows} from all others: {quote_names(names[nearly])}.")
    if n > FEW_ROWS:
        columns = np.ascontiguousarray(values.T) + 0.0  # minus zero is zero
        first: dict[bytes, int] = {}
        for column in np.flatnonzero((values != values[:1]).any(axis=0)):
            origin = first.setdefault(columns[column].tobytes(), int(column))
            if origin != column:
                copies.append(f"{names[int(column)]!r} (as {names[origin]!r})")
    if copies:
        verb = "repeats" if len(copies) == 1 else "repeat"
        notes.append(f"Kept {format_count(len(copies), 'column')} that {verb} another: {join_first(copies)}.")
    return notes
