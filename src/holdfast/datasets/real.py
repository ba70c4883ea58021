"""Real data sets by name, from a folder, or downloaded into it once, and checked before use."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.data import read_table
from holdfast.datasets.catalogue import ROWS, About
from holdfast.frames import not_installed, path_of

BY_NAME = {about.name: about for about in ROWS}
FOLDER, ADDRESS = "HOLDFAST_DATA", "HOLDFAST_DATA_URL"  # environment variables
RETRIES = 2


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
    about : About
        Size, classes, source, licence and notes.
    """

    X: pd.DataFrame
    y: NDArray[Any]
    about: About

    @property
    def name(self) -> str:
        """Name of the data set."""
        return self.about.name

    @property
    def description(self) -> str:
        """What the data set is, where it is from, and what to look out for, in a few sentences."""
        return str(self.about)

    def __iter__(self) -> Iterator[Any]:
        return iter((self.X, self.y))

    def __repr__(self) -> str:
        return f"Dataset {self.name}: {self.X.shape[0]} samples of {self.X.shape[1]} features ({self.about.task})"


def names() -> list[str]:
    """Return the names of all data sets that :func:`load` knows.

    Examples
    --------
    >>> from holdfast import datasets
    >>> datasets.names()[:4]
    ['breast_cancer', 'alon', 'borovecki', 'singh']
    """
    return list(BY_NAME)


def listing() -> pd.DataFrame:
    """Return facts about all data sets that :func:`load` knows, one row each.

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
            "name": about.name,
            "n_samples": about.n_samples,
            "n_features": about.n_features,
            "task": about.task,
            "n_classes": len(about.classes or ()),
            "used_by": about.used_by,
            "source": about.source,
            "licence": about.licence,
            "notes": " ".join(about.notes),
        }
        for about in ROWS
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

    Examples
    --------
    >>> from holdfast import datasets
    >>> datasets.load("breast_cancer")
    Dataset breast_cancer: 569 samples of 30 features (classification)
    """
    about = _about(name)
    if about.sha256 is None:
        return _breast_cancer(about)
    table = read_table(_file(about, base_url), "target", task=about.task)
    return Dataset(X=table.X, y=table.y, about=about)


def _about(name: str) -> About:
    if name not in BY_NAME:
        near = get_close_matches(str(name).lower(), BY_NAME)
        advice = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(BY_NAME)}."
        raise ValueError(f"Expected the name of a data set, got {name!r}; {advice}")
    return BY_NAME[name]


def _breast_cancer(about: About) -> Dataset:
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer(as_frame=True)
    return Dataset(X=bunch.data, y=np.array(bunch.target_names)[bunch.target.to_numpy()].astype(str), about=about)


# Files


def _file(about: About, base_url: str | None) -> Path:
    """Return the path of a data set's file, downloaded if need be, with the right checksum."""
    path = _folder() / about.file
    if path.exists():
        _check_sum(path, about)
        return path
    base = base_url or os.environ.get(ADDRESS)
    if not base:
        raise ValueError(
            f"Expected the data set {about.name!r} in {path}, got no such file; holdfast knows no public address of "
            f"it: put the file there by hand, or give an address with base_url= or the environment variable {ADDRESS}."
        )
    _download(f"{base.rstrip('/')}/{about.file}", path, about)
    return path


def _folder() -> Path:
    folder = os.environ.get(FOLDER)
    return path_of(folder) if folder else Path(_pooch().os_cache("holdfast"))


def _check_sum(path: Path, about: About) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != about.sha256:
        raise ValueError(
            f"Expected the SHA-256 checksum {_short(about.sha256)} of {path}, got {_short(found)}: the file is damaged "
            "or another version; remove it and put the right one there, or let it be downloaded again."
        )


def _download(url: str, path: Path, about: About) -> None:
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"Expected an address http://… or https://… in base_url= or {ADDRESS}, got {url!r}.")
    base, registry = url.removesuffix(about.file), {about.file: about.sha256}
    files = _pooch().create(path.parent, base_url=base, registry=registry, retry_if_failed=RETRIES)
    try:
        files.fetch(about.file)
    except OSError as error:
        if error.filename is not None:  # of the disk, not of the connection
            raise
        raise ValueError(
            f"Expected to download {url}, got {_first_line(error)}; mend base_url= or {ADDRESS}, or put the file into "
            f"{path.parent} by hand."
        ) from None
    except ValueError:
        raise ValueError(
            f"Expected the SHA-256 checksum {_short(about.sha256)} of {url}, got another: that file is damaged or "
            f"another version, and nothing was kept; try again, or put the right file into {path.parent} by hand."
        ) from None


def _pooch() -> Any:
    try:
        import pooch
    except ImportError:
        raise not_installed(
            "pooch", f"the cache folder and downloads (or the folder of the files in {FOLDER})"
        ) from None
    return pooch


def _short(checksum: str | None) -> str:
    return f"{str(checksum)[:12]}…"


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(".")
