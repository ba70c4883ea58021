"""Options of :func:`holdfast.read_table`, and how its messages list names and counts."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd

GAPS = ("?", " ?", ".", "#NV", "#N/A")
"""Marks of missing values besides those of pandas: UCI's, SAS's, and those of a German and an English Excel."""

Task = Literal["classification", "regression"]
Missing = Literal["error", "impute-median", "drop"]
Categorical = Literal["error", "one-hot", "codes", "drop"]


@dataclass(frozen=True)
class TableOptions:
    """Options of :func:`holdfast.read_table`; ``where`` is what messages call the data."""

    where: str
    target: str
    groups: str | None
    index: str | None
    ignore: tuple[str, ...]
    accept: tuple[str, ...]
    task: Task | None
    missing: Missing
    categorical: Categorical
    drop_constant: bool
    transpose: bool = False
    columns: tuple[str, ...] = ()  # as they stand in the file

    @property
    def target_name(self) -> str:
        """The target as messages call it."""
        return f"the target {self.target!r} of {self.where}"


def check_options(options: TableOptions) -> None:
    """Raise unless all options are known and no column has two roles."""
    for argument, value, choices in (
        ("missing", options.missing, get_args(Missing)),
        ("categorical", options.categorical, get_args(Categorical)),
        ("task", options.task, (*get_args(Task), None)),
    ):
        if value not in choices:
            raise ValueError(f"Expected {argument} to be {quote_names(choices)}, got {value!r}.")
    roles = [name for name in (options.target, options.groups, options.index, *options.ignore) if name is not None]
    name, times = Counter(roles).most_common(1)[0]
    if times > 1:
        raise ValueError(f"Expected one use of a column, got {name!r} in two of target, groups, index and ignore.")


# Lists in messages


def join_first(items: Sequence[str], limit: int = 5) -> str:
    """Return the first items, separated by commas, and how many there are if some are left out."""
    more = f", … ({len(items)} in all)" if len(items) > limit else ""
    return ", ".join(items[:limit]) + more


def quote_names(names: Iterable[Any]) -> str:
    """Return the first names in quotes."""
    return join_first([repr(name) for name in names])


def join_counts(counts: "pd.Series[int]") -> str:
    """Return the first names with their counts."""
    return join_first([f"{name!r} ({count})" for name, count in counts.items()])


def pluralize(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless it is one."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{count} {noun if count == 1 else plural}"
