"""Guesses that a person confirms: which column is the target, which ones name rows, what numbers of selections are."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from holdfast.io.files import as_number
from holdfast.io.orientation import NO_NAME
from holdfast.io.questions import MOST_CHOICES, shorten
from holdfast.io.suspects import is_identifier, split_words
from holdfast.preferences import Kind

FEW_TEXTS = 20
"""Most different texts in a column that may be the target."""
FEW_NUMBERS = 10  # so many different whole numbers look like classes
EDGE = 5  # columns at either end of a wide table that are looked at whatever they hold
MANY_COLUMNS = 500  # of a wider table, numbers between its ends are looked at only if their names tell
EXAMPLES = 5
TARGET_NAMES = {
    "target", "label", "labels", "class", "classes", "outcome", "response", "y", "status", "diagnosis", "disease",
    "group", "condition", "type", "subtype", "category", "result", "event", "relapse", "survival", "survived", "death",
    "dead", "died", "recurrence", "metastasis", "phenotype", "case", "grade", "stage", "species", "treatment",
    "prognosis", "malignant", "ill", "sick", "ziel", "klasse", "diagnose", "gruppe", "krank", "befund", "classe",
}  # fmt: skip
"""Words in names of columns that are to be predicted."""
SURE_NAMES = {"target", "label", "labels", "class", "classes", "outcome", "response", "y", "status", "diagnosis"}


@dataclass(frozen=True, kw_only=True)
class TargetGuess:
    """A column that may be the one to predict.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"classes", "numbers"}
        What it would be predicted as.
    n_values : int
        Number of different values.
    examples : tuple of (str, int)
        Values with the number of their rows: the most frequent, or the first of numbers.
    why : str
        What speaks for it, in words.

    See Also
    --------
    holdfast.io.inspect_table : Guesses the target of a table.

    Examples
    --------
    >>> import pandas as pd
    >>> from holdfast.io.guessing import guess_targets
    >>> guess_targets(pd.DataFrame({"age": [31, 45, 50, 62], "ill": ["no", "yes", "yes", "no"]}))[0].examples
    (('no', 2), ('yes', 2))
    """

    name: str
    kind: Literal["classes", "numbers"]
    n_values: int
    examples: tuple[tuple[str, int], ...]
    why: str


def guess_targets(frame: pd.DataFrame) -> list[TargetGuess]:
    """Return columns that may be the target, the likeliest first: judged by name, values and place."""
    found = []
    for place in _places_to_look(frame):
        rated = _rate(frame.iloc[:, place], str(frame.columns[place]), place, frame.shape[1])
        if rated is not None:
            found.append((-rated[0], place, rated[1]))
    return [guess for _, _, guess in sorted(found, key=lambda entry: entry[:2])[:MOST_CHOICES]]


def _places_to_look(frame: pd.DataFrame) -> list[int]:
    n = frame.shape[1]
    if n <= MANY_COLUMNS:
        return list(range(n))
    texts = [place for place, dtype in enumerate(frame.dtypes) if not types.is_numeric_dtype(dtype)][:MANY_COLUMNS]
    named = [place for place, name in enumerate(frame.columns) if str(name).lower() in TARGET_NAMES]
    return sorted({*range(EDGE), *range(n - EDGE, n), *texts, *named})


def _rate(column: "pd.Series[Any]", name: str, place: int, n_columns: int) -> tuple[float, TargetGuess] | None:
    """Return a rating and the guess; None for a column that cannot be the target."""
    try:
        counts = column.value_counts()
        counts = counts[counts > 0]  # categories that no row has
    except TypeError:  # lists and records
        return None
    kind = _target_kind(column, len(counts))
    if len(counts) < 2 or kind is None or name in NO_NAME or is_identifier(name):
        return None
    words = {word for word in split_words(name) if not word.isdigit()}
    text = not types.is_numeric_dtype(column)
    reasons = (
        (3.0, "its name is that of a target", bool(words) and words <= SURE_NAMES),
        (2.0, "its name is like that of a target", not words <= SURE_NAMES and not TARGET_NAMES.isdisjoint(words)),
        (2.0, f"it holds {len(counts)} different texts", text and kind == "classes"),
        (1.0, f"it holds {len(counts)} different whole numbers", not text and kind == "classes"),
        (1.5, "it is the last column", place == n_columns - 1),
        (0.5, "it is the first column", place == 0),
    )
    rating = sum(points for points, _, holds in reasons if holds) + (0.5 if len(counts) == 2 else 0.0)
    why = ", ".join(reason for _, reason, holds in reasons if holds) or "it holds different numbers"
    shown = counts if kind == "classes" else counts.loc[column.dropna().drop_duplicates().iloc[:EXAMPLES]]
    examples = tuple((show_entry(value), int(count)) for value, count in shown.iloc[:EXAMPLES].items())
    guess = TargetGuess(name=name, kind=kind, n_values=len(counts), examples=examples, why=why[0].upper() + why[1:])
    return rating, guess


def _target_kind(column: "pd.Series[Any]", n_values: int) -> Literal["classes", "numbers"] | None:
    present = column.dropna()
    if isinstance(column.dtype, pd.CategoricalDtype):
        return "classes" if n_values <= FEW_TEXTS else None
    if types.is_numeric_dtype(column):
        whole = not types.is_float_dtype(column) or bool((present % 1 == 0).all())
        return "classes" if whole and n_values <= FEW_NUMBERS else "numbers"
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return None
    few = n_values <= max(2, min(FEW_TEXTS, len(present) / 2))
    if few:
        return "classes"
    return "numbers" if all(isinstance(as_number(entry), float) for entry in present.iloc[:1000]) else None


def guess_identifiers(frame: pd.DataFrame) -> list[str]:
    """Return names of columns that look like names of rows: different texts, or numbers in a column named so."""
    found = []
    for place in [place for place in _places_to_look(frame) if frame.columns[place] not in NO_NAME]:
        column, name = frame.iloc[:, place], str(frame.columns[place])
        text = not types.is_numeric_dtype(column) and all(isinstance(entry, str) for entry in column)
        named = is_identifier(name)
        if (text or named) and len(column) > 1 and column.nunique() >= (0.9 if named else 1) * len(column):
            found.append(name)
    return found[:MOST_CHOICES]


def show_entry(entry: Any) -> str:
    """Return an entry of a table as it is shown: numbers in six digits, nothing where it is missing."""
    if isinstance(entry, (float, np.floating)):
        return "" if np.isnan(entry) else f"{entry:.6g}"
    missing = entry is None or entry is pd.NA or entry is pd.NaT
    return "" if missing else shorten(entry, 40)


# Selections


def guess_kind(matrix: NDArray[np.float64]) -> tuple[Kind, str]:
    """Return what the numbers of a matrix of runs look like, and why, as a sentence."""
    if np.isin(matrix, (0, 1)).all():
        return "subset", "All entries are 0 or 1."
    d = matrix.shape[1]
    ordered = np.sort(matrix, axis=1)
    if (ordered == np.arange(1, d + 1)).all():
        return "ranking", f"Each run holds every whole number from 1 to {d} once, as ranks do."
    if (matrix % 0.5 == 0).all() and (matrix >= 1).all() and (matrix.sum(axis=1) == d * (d + 1) / 2).all():
        return "ranking", f"The numbers of each run lie between 1 and {d} and add up as ranks with ties do."
    other = matrix[~np.isin(matrix, (0, 1))][0]
    return "weighting", f"The file holds numbers such as {other:g}, which are no selections of 0 and 1."
