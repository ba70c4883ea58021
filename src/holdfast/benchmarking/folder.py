"""The folder of a benchmark: one store per data set, and a list of them."""

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.io.files import as_path
from holdfast.serialization import from_plain, to_json
from holdfast.study import StoreError

LIST = "benchmark.json"
SCHEMA = "holdfast.benchmark-folder/1"
LONGEST = 60
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d|benchmark)(\..*)?", re.IGNORECASE)
"""Names that Windows keeps for devices, and that of the list."""


@dataclass(frozen=True, kw_only=True)
class Entry:
    """A data set of a benchmark.

    Attributes
    ----------
    name, file : str
        Its name, and the name of its store in the folder.
    failure : str or None
        Why it has no results; None if it has some, or has not been run yet.
    """

    name: str
    file: str
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What the folder of a benchmark lists.

    Attributes
    ----------
    schema : str
        Name and version of this form.
    candidates : tuple of str
        Names of the candidates; a store may hold others, of earlier studies.
    metric, measure : str or None
        How the candidates were compared.
    level : float
        Level of the intervals.
    datasets : tuple of Entry
        The data sets, in their order.
    """

    schema: str = SCHEMA
    candidates: tuple[str, ...]
    metric: str | None
    measure: str | None
    level: float
    datasets: tuple[Entry, ...]


def store_name(name: str) -> str:
    """Return the name of a data set's store, which is safe for every file system and depends on the name alone.

    Letters without accents, digits, ``.``, ``-`` and ``_`` stay; if anything had to be replaced, a few digits of a hash
    keep different names apart.
    """
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    safe = re.sub(r"[^\w.-]+", "_", plain).strip("._-")[:LONGEST]
    if safe == name and not RESERVED.fullmatch(safe):
        return f"{safe}.db"
    return f"{safe or 'data'}-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:8]}.db"


def store_names(names: Iterable[str]) -> dict[str, str]:
    """Return the name of each data set's store; raise if two would be the same file where case does not count."""
    files: dict[str, str] = {}
    for name in names:
        file = store_name(name)
        for other, taken in files.items():
            if taken.lower() == file.lower():
                raise ValueError(
                    f"Expected names of data sets that differ in more than case, got {other!r} and {name!r}."
                )
        files[name] = file
    return files


def make_folder(path: str | Path) -> Path:
    """Return the folder of a benchmark, made if it is not there."""
    folder = as_path(path, "the path of a folder for the stores of a benchmark")
    if folder.exists() and not folder.is_dir():
        raise StoreError(f"Expected a folder for the stores of a benchmark, got the file {path}; name another one.")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def write_list(folder: Path, contents: Contents) -> None:
    """Write which data sets a folder holds, in one step: a reader sees the old list or the new one."""
    new = folder / f".{LIST}-{os.getpid()}"
    try:
        new.write_text(to_json(contents) + "\n", encoding="utf-8")
        new.replace(folder / LIST)
    finally:
        new.unlink(missing_ok=True)


def read_list(path: str | Path) -> tuple[Path, Contents]:
    """Return a folder and what it lists, checked; raise a sentence if it is not the folder of a benchmark."""
    folder = as_path(path, "the path of a benchmark's folder")
    if not (folder / LIST).is_file():
        raise StoreError(f"Expected the folder of a benchmark, got {path}, which has no {LIST}.")
    try:
        record: Any = json.loads((folder / LIST).read_text(encoding="utf-8"))
        contents = from_plain(Contents, record if isinstance(record, Mapping) else {})
    except (ValueError, RecursionError) as error:
        raise StoreError(f"Expected the list of a benchmark's data sets in {folder / LIST}, got {error}") from None
    if contents.schema != SCHEMA:
        raise StoreError(f"Expected {LIST} with the schema {SCHEMA!r}, got {contents.schema!r} in {path}.")
    for entry in contents.datasets:
        if entry.file != store_name(entry.name):
            expected = f"the store {store_name(entry.name)} for {entry.name!r}"
            raise StoreError(f"Expected {expected} in {folder / LIST}, got {entry.file!r}.")
    return folder, contents
