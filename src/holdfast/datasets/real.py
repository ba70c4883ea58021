"""Real data sets by name: facts about them, files in a folder or downloaded once, verified by checksum."""

import hashlib
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.declared import About, Registry
from holdfast.io import read_table
from holdfast.io.files import as_path, missing_package
from holdfast.targets import TaskName

FOLDER, ADDRESS = "HOLDFAST_DATA", "HOLDFAST_DATA_URL"  # environment variables
RETRIES = 2


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
    def task(self) -> TaskName:
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
    """Yield what ``datasets.toml`` next to this module holds; a table without classes has a number to predict."""
    tables = tomllib.loads(Path(__file__).with_name("datasets.toml").read_text(encoding="utf-8"))
    for name, facts in tables.items():
        notes = tuple(facts.pop("notes", ()))
        yield DatasetInfo(name=name, classes=facts.pop("classes", None), notes=notes, **facts)


DATASETS: Registry[DatasetInfo] = Registry("data set", _read_facts())
"""All real data sets by name."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Dataset:
    """A data set loaded by name: features, target, and facts about them.

    ``X, y = dataset`` works too.

    Attributes
    ----------
    X : DataFrame
        Features, floats without gaps.
    y : ndarray
        Class labels (texts), or floats for regression.
    info : DatasetInfo
        Size, classes, source, license and notes.

    See Also
    --------
    load : Load a data set by name.

    Examples
    --------
    >>> from holdfast import datasets
    >>> X, y = datasets.load("breast_cancer")
    >>> X.shape
    (569, 30)
    """

    X: pd.DataFrame
    y: NDArray[Any]
    info: DatasetInfo

    @property
    def name(self) -> str:
        """Name of the data set."""
        return self.info.name

    @property
    def description(self) -> str:
        """What the data set is, where it is from, and what to look out for, in a few sentences."""
        return str(self.info)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        return f"Dataset {self.name}: {self.X.shape[0]} samples of {self.X.shape[1]} features ({self.info.task})"


def names() -> list[str]:
    """Return the names of all real data sets.

    Returns
    -------
    list of str
        The names.

    Examples
    --------
    >>> from holdfast import datasets
    >>> datasets.names()[:4]
    ['breast_cancer', 'alon', 'borovecki', 'singh']
    """
    return list(DATASETS)


def available() -> list[str]:
    """Return the names of the data sets that are on this machine, so that :func:`load` needs no download.

    Returns
    -------
    list of str
        The names; the checksums of files are not looked at.
    """
    try:
        folder = _folder()
    except ValueError:  # without pooch there is no folder to download to
        return [info.name for info in DATASETS.values() if info.sha256 is None]
    return [info.name for info in DATASETS.values() if info.sha256 is None or (folder / info.file).is_file()]


def listing() -> pd.DataFrame:
    """Return the facts about all real data sets as a table.

    Returns
    -------
    DataFrame
        One row per data set: size, task, source, license and notes.

    Examples
    --------
    >>> from holdfast import datasets
    >>> datasets.listing().loc[["sonar"], ["n_samples", "n_features", "n_classes"]]
           n_samples  n_features  n_classes
    name
    sonar        208          60          2
    """
    rows = [
        {
            "name": info.name,
            "n_samples": info.n_samples,
            "n_features": info.n_features,
            "task": info.task,
            "n_classes": len(info.classes or ()),
            "used_by": info.used_by,
            "source": info.source,
            "license": info.license,
            "notes": " ".join(info.notes),
        }
        for info in DATASETS.values()
    ]
    return pd.DataFrame(rows).set_index("name")


def load(name: str, *, base_url: str | None = None) -> Dataset:
    """Load a real data set by name: ``breast_cancer`` comes with scikit-learn, all others are files.

    A file, ``<name>.parquet``, is looked for in the folder that the environment variable ``HOLDFAST_DATA`` names, else
    in the user's cache folder. If it is not there, it is downloaded into that folder from
    ``<base_url>/<name>.parquet``. holdfast knows no public address of these files: without an address of yours, put
    them there by hand. Either way a file is used only if its checksum is right.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    base_url : str, optional
        Address of a folder with the files, ``http://…`` or ``https://…``; if it is left out, that of the environment
        variable ``HOLDFAST_DATA_URL``.

    Returns
    -------
    Dataset
        Features, target and facts about them.

    Raises
    ------
    ValueError
        If the name is unknown, the file is not found, or its checksum is wrong.

    Examples
    --------
    >>> from holdfast import datasets
    >>> datasets.load("breast_cancer")
    Dataset breast_cancer: 569 samples of 30 features (classification)
    """
    info = DATASETS.find(name)
    if info.sha256 is None:
        from sklearn.datasets import load_breast_cancer

        bunch = load_breast_cancer(as_frame=True)
        y = np.array(bunch.target_names)[bunch.target.to_numpy()].astype(str)
        return Dataset(X=bunch.data, y=y, info=info)
    table = read_table(_file(info, base_url), "target", task=info.task)
    return Dataset(X=table.X, y=table.y, info=info)


# Files


def _file(info: DatasetInfo, base_url: str | None) -> Path:
    """Return the path of a data set's file, downloaded if need be, with the right checksum."""
    path = _folder() / info.file
    if path.exists():
        _check_sum(path, info)
        return path
    base = base_url or os.environ.get(ADDRESS)
    if not base:
        raise ValueError(
            f"Expected the data set {info.name!r} in {path}, got no such file; holdfast knows no public address of "
            f"it: put the file there by hand, or give an address with base_url= or the environment variable {ADDRESS}."
        )
    _download(f"{base.rstrip('/')}/{info.file}", path, info)
    return path


def _folder() -> Path:
    folder = os.environ.get(FOLDER)
    return as_path(folder) if folder else Path(_pooch().os_cache("holdfast"))


def _check_sum(path: Path, info: DatasetInfo) -> None:
    with path.open("rb") as file:
        checksum = hashlib.file_digest(file, "sha256").hexdigest()
    if checksum != info.sha256:
        raise ValueError(
            f"Expected the SHA-256 checksum {_short(info.sha256)} of {path}, got {_short(checksum)}: the file is "
            "damaged or another version; remove it and put the right one there, or let it be downloaded again."
        )


def _download(url: str, path: Path, info: DatasetInfo) -> None:
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"Expected an address http://… or https://… in base_url= or {ADDRESS}, got {url!r}.")
    base, registry = url.removesuffix(info.file), {info.file: info.sha256}
    files = _pooch().create(path.parent, base_url=base, registry=registry, retry_if_failed=RETRIES)
    try:
        files.fetch(info.file)
    except OSError as error:
        if error.filename is not None:  # of the disk, not of the connection
            raise
        reason = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            f"Downloading {url} failed: {reason}; check base_url= or {ADDRESS}, or put the file into "
            f"{path.parent} by hand."
        ) from None
    except ValueError:
        raise ValueError(
            f"Expected the SHA-256 checksum {_short(info.sha256)} of {url}, got another: that file is damaged or "
            f"another version, and nothing was kept; try again, or put the right file into {path.parent} by hand."
        ) from None


def _pooch() -> Any:
    try:
        import pooch
    except ImportError:
        raise missing_package("pooch", f"finding data sets outside of the folder that {FOLDER} names") from None
    return pooch


def _short(checksum: str | None) -> str:
    return f"{str(checksum)[:12]}…"
