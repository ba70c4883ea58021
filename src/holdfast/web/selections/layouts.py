"""Texts of numbers without names of features: a table, orders or lists, as the numbers tell, or as it is asked."""

import re
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.io.delimited import USUAL_SEPARATORS
from holdfast.io.files import as_number, file_ending, read_text
from holdfast.io.loading import ENDINGS
from holdfast.io.questions import Question, ReadingError
from holdfast.io.selections import from_number_frame, holds_matrix, read_lists
from holdfast.preferences import Kind, Preferences

AskedLayout: TypeAlias = Literal["table", "unnamed", "orders", "lists"]
CHOICES: dict[AskedLayout, str] = {
    "table": "A table whose first line names the features, by numbers",
    "unnamed": "A table without names: a column for each feature, a line for each run",
    "orders": "Each line lists all features by their numbers, the best first",
    "lists": "Each line lists the features that a run selected",
}
OTHER_THAN_NUMBERS = re.compile(r"[^\d\s.,;eE+-]")
UNNAMED = "The features have no names in this file; they are counted from 1, in the order of the columns."


def find_layout(path: Path) -> AskedLayout | None:
    """Return how a text of numbers holds selections, None for all else; raise a question where that is open."""
    if file_ending(path) in (*ENDINGS, ".json") and file_ending(path) not in USUAL_SEPARATORS:
        return None
    rows = _number_rows(path)
    if rows is None:
        return None
    orders = _are_orders(rows)
    if holds_matrix(path):
        if (np.diff(rows[0]) > 0).all():  # such as 0, 1, 2, by which programs name columns
            return None
        raise _ask(("unnamed", "table", *(("orders", "lists") if orders else ())))
    if orders:
        raise _ask(("unnamed", "orders", "lists"))
    distinct = all(len(set(row)) == len(row) for row in rows.tolist())
    return None if distinct and (rows % 1 == 0).all() and (rows >= 0).all() else "unnamed"


def _ask(layouts: tuple[AskedLayout, ...]) -> ReadingError:
    sentence = "Every line holds the same number of numbers, and no names of features. What are they?"
    question = Question("layout", sentence, tuple((layout, CHOICES[layout]) for layout in layouts))
    return ReadingError("Expected names of features, got numbers only; say how they are to be read.", question)


def _number_rows(path: Path) -> NDArray[np.float64] | None:
    """Return the numbers of a text whose lines all hold equally many of them; None if it is another one."""
    if OTHER_THAN_NUMBERS.search(read_text(path).lstrip().partition("\n")[0]):
        return None  # a header, as of most files: the rest need not be split into cells
    lines = read_lists(path)
    width = len(lines[0]) if lines else 0
    if len(lines) < 2 or width < 2 or any(len(line) != width for line in lines):
        return None
    numbers = [as_number(cell) for line in lines for cell in line]
    if not all(isinstance(number, float) for number in numbers):
        return None
    rows = np.array(numbers).reshape(len(lines), width)
    return rows if np.isfinite(rows).all() else None


def _are_orders(rows: NDArray[np.float64]) -> bool:
    """Whether each line holds every number from 0 or 1 on once."""
    return any((np.sort(rows, axis=1) == np.arange(first, first + rows.shape[1])).all() for first in (0, 1))


def read_unnamed(path: Path, kind: Kind | None, *, transpose: bool) -> Preferences:
    """Read a table of numbers without names of features."""
    rows = _expect_numbers(path)
    matrix = rows.T if transpose else rows
    names = [str(place + 1) for place in range(matrix.shape[1])]
    return from_number_frame(path, pd.DataFrame(matrix, columns=names), None, kind)


def read_orders(path: Path) -> Preferences:
    """Read orders: each line lists the numbers of all features, the best first."""
    rows = _expect_numbers(path)
    if not _are_orders(rows):
        raise ValueError("Expected every number once in each line, for orders of all features, got others.")
    names = [f"{number:g}" for number in np.sort(rows[0])]
    return Preferences.from_rankings(np.argsort(rows, axis=1) + 1, features=names)


def _expect_numbers(path: Path) -> NDArray[np.float64]:
    rows = _number_rows(path)
    if rows is None:
        raise ValueError(f"Expected equally many numbers in every line of {path}, got something else.")
    return rows
