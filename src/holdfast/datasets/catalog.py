"""Facts about real data sets: size, source, license, notes and checksum of each; ``datasets.toml`` holds them."""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from holdfast.declared import About, Registry


@dataclass(frozen=True, kw_only=True)
class DatasetInfo:
    """Facts about a real data set: size, classes, source, license and notes.

    Attributes
    ----------
    name : str
        Its name for :func:`load`.
    n_samples, n_features : int
        Its size.
    classes : dict of str to int, or None
        Number of samples of each class; None for regression.
    used_by : str
        Papers that used it.
    source : str
        Where the values are from.
    license : str
        License as the source states it, mostly of a package and not of the data: look before you pass data on.
    notes : tuple of str
        What to know before using it.
    sha256 : str or None
        Checksum of the file; None for a data set that comes with scikit-learn.

    See Also
    --------
    load : Load a data set by name.
    listing : The facts about all data sets as a table.

    Examples
    --------
    >>> from holdfast import datasets
    >>> datasets.load("breast_cancer").info.classes
    {'benign': 357, 'malignant': 212}
    """

    name: str
    n_samples: int
    n_features: int
    classes: dict[str, int] | None
    used_by: str
    source: str
    license: str
    notes: tuple[str, ...] = ()
    sha256: str | None = None

    @property
    def about(self) -> About:
        """Name and size, as declared of everything with a name."""
        return About(name=self.name, summary=f"{self.n_samples} samples of {self.n_features} features")

    @property
    def task(self) -> Literal["classification", "regression"]:
        """What there is to predict."""
        return "regression" if self.classes is None else "classification"

    @property
    def file(self) -> str:
        """Name of the file."""
        return f"{self.name}.parquet"

    def __str__(self) -> str:
        classes = "numbers to predict"
        if self.classes is not None:
            classes = ", ".join(f"{label}: {count}" for label, count in self.classes.items())
        facts = [
            f"{self.name}: {self.n_samples} samples of {self.n_features} features ({classes}).",
            f"Used by {self.used_by}." if self.used_by else "",
            f"Source: {self.source}. License: {self.license}.",
            *self.notes,
        ]
        return " ".join(filter(None, facts))


def _read_facts() -> Iterator[DatasetInfo]:
    """Yield what ``datasets.toml`` beside this module holds; a table without classes has a number to predict."""
    tables = tomllib.loads(Path(__file__).with_name("datasets.toml").read_text(encoding="utf-8"))
    for name, facts in tables.items():
        notes = tuple(facts.pop("notes", ()))
        yield DatasetInfo(name=name, classes=facts.pop("classes", None), notes=notes, **facts)


DATASETS: Registry[DatasetInfo] = Registry("data set", _read_facts())
"""All real data sets by name."""
