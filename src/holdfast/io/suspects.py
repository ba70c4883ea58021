"""Columns that look like no features: row counters and identifiers, the target or a group in other words, repeats."""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io.questions import quote_names
from holdfast.text import format_count, join_first

FEW_ROWS = 10  # in so few rows, an order or a perfect separation is nothing special
ENOUGH_ROWS = 20  # from so many rows on, a single row that differs makes a column nearly constant
CHANCE = 0.01  # expected number of columns that separate the classes by chance, above which this is no news
IDENTIFIERS = {
    "id", "ids", "rowid", "rowindex", "rowname", "rownames", "rownumber", "unnamed", "barcode",
    "uid", "uuid", "guid", "mrn", "accession", "geoaccession", "sampleid", "samplename", "patientid", "subjectid",
    "idref",
}  # fmt: skip
WEAK_IDENTIFIERS = {
    "index", "idx", "no", "nr", "num", "number", "row", "sample", "case", "record", "obs", "observation", "patient",
    "subject", "participant", "specimen", "donor", "lfd",
}  # fmt: skip
"""Names that are also those of features (NO is nitric oxide): they need values that count."""
SUBJECTS = {
    "patient", "subject", "participant", "person", "donor", "animal", "mouse", "pat", "subj", "individual", "sample",
    "case", "row", "record", "specimen", "observation", "obs",
}  # fmt: skip
QUANTITIES = {
    "age", "time", "year", "years", "day", "days", "month", "months", "week", "weeks", "hour", "hours", "minute",
    "minutes", "date", "dose", "depth", "distance", "temperature", "length", "height", "weight", "size", "position",
    "concentration", "frequency", "wavelength", "duration", "visit",
}  # fmt: skip
"""Names of what rows may well be sorted by."""
TARGET_WORDS = {"target", "label", "labels", "class", "classes", "outcome", "response"}


@dataclass(frozen=True)
class Suspect:
    """A column that looks like no feature.

    Attributes
    ----------
    name : str
        Name of the column.
    reason : str
        What it looks like, as a sentence goes on after the name.
    beyond_values : bool
        Whether its name, its position or the order of the rows says so too; else it may be a perfect marker.
    advice : str
        What else may be done with it, for a person who knows no options.
    """

    name: str
    reason: str
    beyond_values: bool
    advice: str = ""

    @property
    def plain_reason(self) -> str:
        """The reason without options, and the advice."""
        return self.reason.partition(" (groups=")[0] + self.advice


def find_suspects(
    X: pd.DataFrame,
    y: NDArray[Any],
    groups: NDArray[Any] | None = None,
    target: str | None = None,
    groups_name: str | None = None,
) -> list[Suspect]:
    """Find columns that look like no features, in the order of the columns.

    Parameters
    ----------
    X : DataFrame
        The features; columns that are not numbers are passed over.
    y : ndarray
        Class labels, or floats for regression.
    groups : ndarray, optional
        Group of each row.
    target, groups_name : str, optional
        Names of the target and of the groups, to which names of columns are compared.

    Returns
    -------
    list of Suspect
        At most one for each column.
    """
    numbers = X.select_dtypes("number")
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    names = [str(name) for name in numbers.columns.tolist()]
    if len(values) < 3 or not names:
        return []
    found: dict[str, Suspect] = {}
    for suspect in (
        *_target_in_other_words(values, names, np.asarray(y), target),
        *_group_in_other_words(values, names, groups, groups_name),
        *_identifiers(values, names, groups is not None),
        *_counters(values, names, is_first=bool(len(X.columns)) and names[0] == str(X.columns[0])),
    ):
        known = found.get(suspect.name)
        if known is None or (suspect.beyond_values and not known.beyond_values):
            found[suspect.name] = suspect
    return [found[name] for name in names if name in found]


def describe_suspects(suspects: Iterable[Suspect]) -> list[str]:
    """Return one phrase for each reason, with the names of its columns: ``'a', 'b': each …``."""
    by_reason: dict[str, list[str]] = {}
    for suspect in suspects:
        by_reason.setdefault(suspect.reason, []).append(suspect.name)
    return [
        f"{names[0]!r} {reason}" if len(names) == 1 else f"{quote_names(names)}: each {reason}"
        for reason, names in by_reason.items()
    ]


# Names


def split_words(name: str) -> list[str]:
    """Return the words of a name in lower case: patientID, patient_id and Patient Id have the same."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|[\W_]+|(?<=[A-Za-z])(?=\d)", " ", name)
    return spaced.lower().split()


def is_identifier(name: str) -> bool:
    """Whether a name is that of an identifier, such as patient_id."""
    words = [word for word in split_words(name) if not word.isdigit()]
    if not words:
        return False
    if "".join(words) in IDENTIFIERS or words[-1] in {"id", "uid", "uuid", "barcode", "accession", "mrn"}:
        return True
    last = words[-1] in {"nr", "no", "number", "num", "index", "idx", "key"}
    return (last and not SUBJECTS.isdisjoint(words[:-1])) or (words[0] == "id" and len(words) <= 3)


def _is_quantity(name: str) -> bool:
    return not QUANTITIES.isdisjoint(split_words(name))


def _share_words(name: str, other: str | None) -> bool:
    """Whether all words of one name stand in the other: status_code and status."""
    ours, theirs = ({word for word in split_words(text or "") if not word.isdigit()} for text in (name, other))
    return bool(ours and theirs) and (ours <= theirs or theirs <= ours)


# Identifiers and counters


def _identifiers(values: NDArray[np.float64], names: list[str], grouped: bool) -> list[Suspect]:
    n, found = len(values), []
    with np.errstate(invalid="ignore"):
        whole = np.flatnonzero((values[:3] % 1 == 0).all(axis=0))  # names are looked at only where values may count
    for position in whole:
        name, column = names[position], values[:, position]
        words = {word for word in split_words(name) if not word.isdigit()}
        is_weak = bool(words) and words <= WEAK_IDENTIFIERS
        if not (is_identifier(name) or is_weak) or not (column % 1 == 0).all():
            continue
        different = len(np.unique(column))
        if is_identifier(name) and different >= 0.9 * n:
            found.append(Suspect(name, "is named like an identifier and differs in nearly every row", True))
        elif different == n and n > FEW_ROWS and (_is_sorted(column) or np.ptp(column) == n - 1):
            found.append(Suspect(name, "is named like an identifier and numbers the rows", True))
        elif is_identifier(name) and words & SUBJECTS and not grouped and different > max(2, n / 20):
            reason = f"names {different} subjects, some with several rows (groups={name!r} keeps these together)"
            advice = "; name it as the column of groups to keep the rows of a subject together"
            found.append(Suspect(name, reason, True, advice))
    return found


def _is_sorted(column: NDArray[np.float64]) -> bool:
    steps = np.diff(column)
    return bool((steps > 0).all() or (steps < 0).all())


def _counters(values: NDArray[np.float64], names: list[str], is_first: bool) -> list[Suspect]:
    """Find whole numbers that go up or down by the same step in every row, and a first column that numbers the rows."""
    n = len(values)
    if n <= FEW_ROWS:
        return []
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(values[:3], axis=0)
        likely = np.flatnonzero((steps[0] == steps[1]) & (steps[0] != 0) & (values[0] % 1 == 0) & (steps[0] % 1 == 0))
        counting = [position for position in likely if (np.diff(values[:, position]) == steps[0, position]).all()]
    found = []
    for position in counting:
        reason = "changes by the same step from row to row, as a counter of rows does"
        found.append(Suspect(names[position], reason, not _is_quantity(names[position])))
    first = values[:, 0]
    numbers_rows = (first % 1 == 0).all() and len(np.unique(first)) == n
    ordered = _is_sorted(first) and not _is_quantity(names[0])
    if is_first and 0 not in counting and numbers_rows and (ordered or np.ptp(first) == n - 1):
        found.append(Suspect(names[0], "is the first column and numbers the rows with whole numbers", True))
    return found


# The target and groups in other words


def _target_in_other_words(
    values: NDArray[np.float64], names: list[str], y: NDArray[Any], target: str | None
) -> list[Suspect]:
    if len(y) <= FEW_ROWS:
        return []
    if y.dtype.kind == "f":
        positions, exact = _follows(values, y), "is named like the target and orders the rows as it does"
        perfect = "rises or falls with the target from row to row without exception"
        recoded = positions
    else:
        codes = np.unique(y, return_inverse=True)[1]
        positions, constant = _separates(values, codes)
        if _chance_of_separation(np.bincount(codes)) * len(names) > CHANCE:
            positions = positions & constant & (len(y) > 2 * FEW_ROWS)
        recoded = positions & constant
        exact = "is named like the target and has one value for each of its classes"
        perfect = "separates the classes perfectly, one value range for each"
    called = "the target" if target is None else f"the target {target!r}"
    perfect = perfect.replace("the target", called).replace(
        "the classes", f"the classes of {target!r}" if target else "the classes"
    )
    found = []
    for position in np.flatnonzero(positions):
        name = names[position]
        alike = _share_words(name, target) or not TARGET_WORDS.isdisjoint(split_words(name)) or name.lower() == "y"
        if recoded[position] and alike:
            found.append(Suspect(name, exact.replace("the target", called), True))
        else:
            found.append(Suspect(name, f"{perfect}: a perfect marker, or the target in other words", False))
    return found


def _separates(values: NDArray[np.float64], codes: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which columns have a range of values for each class, apart from the others, and which a single value."""
    low, high = _extremes(values, codes)
    order = np.argsort(low, axis=0)
    low, high = np.take_along_axis(low, order, axis=0), np.take_along_axis(high, order, axis=0)
    return np.all(high[:-1] < low[1:], axis=0), np.all(low == high, axis=0)


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
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(values[order], axis=0)
    same = (steps[~rises] == 0).all(axis=0)
    return same & rises.any() & ((steps[rises] > 0).all(axis=0) | (steps[rises] < 0).all(axis=0))


def _group_in_other_words(
    values: NDArray[np.float64], names: list[str], groups: NDArray[Any] | None, groups_name: str | None
) -> list[Suspect]:
    """Find whole numbers that are one-to-one with the groups; measurements of a subject may be so too, by chance."""
    if groups is None or len(groups) <= FEW_ROWS:
        return []
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    n_groups = int(codes.max()) + 1
    if not 4 < n_groups < len(codes):
        return []
    low, high = _extremes(values, codes)
    positions = (
        (low == high).all(axis=0) & (low % 1 == 0).all(axis=0) & (np.diff(np.sort(low, axis=0), axis=0) > 0).all(axis=0)
    )
    called = "the groups" if groups_name is None else f"the groups {groups_name!r}"
    reason = f"has one whole number for each of {called}, as another name of them would"
    return [
        Suspect(names[position], reason, is_identifier(names[position]) or _share_words(names[position], groups_name))
        for position in np.flatnonzero(positions)
    ]


# Columns with little or nothing of their own


def note_repeats(X: pd.DataFrame) -> list[str]:
    """Return notes on columns that are nearly constant and on columns that repeat another."""
    values, names, n = X.to_numpy(dtype=np.float64), X.columns, len(X)
    notes, copies = [], []
    if n >= ENOUGH_ROWS:
        usual = np.partition(values, n // 2, axis=0)[n // 2]  # a value that nearly all rows have is the median
        differing = (values != usual).sum(axis=0)
        few = max(1, n // 100)
        nearly = np.flatnonzero((differing > 0) & (differing <= few))
        rows = "a single row differs" if few == 1 else f"at most 1 % of the rows ({few}) differ"
        if len(nearly):
            kept = format_count(len(nearly), "column")
            notes.append(f"Kept {kept} in which {rows} from all others: {quote_names(names[nearly])}.")
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
