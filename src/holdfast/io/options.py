"""What a caller asked for, and the words to say what was done."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd

Task = Literal["classification", "regression"]
Missing = Literal["error", "impute-median", "drop"]
Categorical = Literal["error", "one-hot", "codes", "drop"]


@dataclass(frozen=True)
class TableOptions:
    """What the caller asked for; ``where`` is what messages call the data."""

    where: str
    target: str
    groups: str | None
    index: str | None
    ignore: tuple[str, ...]
    task: Task | None
    missing: Missing
    categorical: Categorical
    drop_constant: bool

    @property
    def the_target(self) -> str:
        """Return the words for the target."""
        return f"the target {self.target!r} of {self.where}"


def check_options(options: TableOptions) -> None:
    """Raise unless all options are known and no column is to be two things."""
    for argument, value, choices in (
        ("missing", options.missing, get_args(Missing)),
        ("categorical", options.categorical, get_args(Categorical)),
        ("task", options.task, (*get_args(Task), None)),
    ):
        if value not in choices:
            raise ValueError(f"Expected {argument} to be {named(choices)}, got {value!r}.")
    asked = [name for name in (options.target, options.groups, options.index, *options.ignore) if name is not None]
    name, times = Counter(asked).most_common(1)[0]
    if times > 1:
        raise ValueError(f"Expected one use of a column, got {name!r} in two of target, groups, index and ignore.")


# Words


def listed(items: Sequence[str], limit: int = 5) -> str:
    """Return the first few and how many there are."""
    more = f", … ({len(items)} in all)" if len(items) > limit else ""
    return ", ".join(items[:limit]) + more


def named(names: Iterable[Any]) -> str:
    """Return names in quotes."""
    return listed([repr(name) for name in names])


def counted(counts: "pd.Series[int]") -> str:
    """Return names with their counts."""
    return listed([f"{name!r} ({count})" for name, count in counts.items()])


def number_of(count: int, what: str) -> str:
    """Return a count and what is counted, in the plural if need be."""
    many = what[:-1] + "ies" if what.endswith("y") else what + "s"
    return f"{count} {what if count == 1 else many}"
