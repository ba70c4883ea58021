"""Tables to study: files that were uploaded, with how they are to be read, and data sets that need no file."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from holdfast import __version__
from holdfast.datasets.catalog import DATASETS
from holdfast.datasets.real import available
from holdfast.io.files import Reading
from holdfast.io.inspection import TableInspection
from holdfast.io.questions import Categorical, Missing, Task
from holdfast.serialization import from_plain
from holdfast.web.addresses import Pairs, list_changes
from holdfast.web.folder import read_record, write_record
from holdfast.web.guard import RefusedError
from holdfast.web.planning.plans import LONGEST, check_text
from holdfast.web.uploads import Upload
from holdfast.web.worker import TaskError

if TYPE_CHECKING:
    from holdfast.web.site import Site

OF_FILE = tuple(field.name for field in fields(Reading))
"""Options that say how a file is written."""
MOST_NAMES = 2000
"""Columns that can be left out or accepted by their names."""


@dataclass(frozen=True, kw_only=True)
class TableQuery:
    """How a table is to be read; what is left out is found out, or asked for.

    Attributes
    ----------
    target : str
        Column to predict.
    task : {"classification", "regression"} or None
        Whether classes or numbers are predicted.
    groups : str
        Column that says which rows belong together, such as those of one patient.
    index : str
        Column that names the rows.
    ignore, accept : tuple of str
        Columns to leave out, and columns that are features though they look like none.
    asked : tuple of str
        Columns that look like no features, as a page asked about them: those that are not to be left out are accepted.
    missing : {"error", "impute-median", "drop"}
        What to do with missing values.
    categorical : {"error", "one-hot", "codes", "drop"}
        What to do with columns of texts.
    transpose : bool or None
        Whether features stand in rows.
    target_file : str
        Key of a second upload that holds the target.
    sep, decimal, encoding, sheet : str
        How the file is written, and which of its tables is meant.
    """

    target: str = ""
    task: Task | None = None
    groups: str = ""
    index: str = ""
    ignore: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    missing: Missing = "error"
    categorical: Categorical = "error"
    transpose: bool | None = None
    target_file: str = ""
    sep: str = ""
    decimal: str = ""
    encoding: str = ""
    sheet: str = ""

    @property
    def pairs(self) -> Pairs:
        """Everything that was said, as it stands in an address."""
        return list_changes(self)

    def options(self) -> dict[str, Any]:
        """Return the options of :func:`holdfast.read_table` that were said; the second file by its key."""
        said = {key: value for key, value in vars(self).items() if value not in ("", (), None, "error")}
        said.pop("asked", None)
        accepted = [name for name in self.asked if name not in self.ignore]
        if accepted:
            said["accept"] = tuple(dict.fromkeys([*self.accept, *accepted]))
        for key, value in said.items():
            names = value if isinstance(value, tuple) else (value,)
            if len(names) > MOST_NAMES:
                raise ValueError(f"Expected at most {MOST_NAMES:,} columns for {key}, got {len(names):,}.")
            for text in names:
                check_text(text, key)
        return said


AS_FOUND = TableQuery()
"""Nothing was said: everything is found out."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a plan has to know of a table.

    Attributes
    ----------
    name : str
        Name of the file or data set.
    rows, features : int
        Number of samples, and of features to choose from.
    task : {"classification", "regression"}
        Whether classes or numbers are predicted.
    n_classes : int
        Number of classes; 0 if numbers are predicted.
    """

    name: str
    rows: int
    features: int
    task: Task
    n_classes: int


# Files that were uploaded


def find_table(site: "Site", key: str) -> Upload:
    """Return an upload that is a table."""
    return site.uploads.get(key, "table")


def file_options(site: "Site", query: TableQuery) -> dict[str, Any]:
    """Return the options to read an upload with; the second file by its path."""
    options = query.options()
    if query.target_file:
        options["target_file"] = str(site.uploads.path(find_table(site, query.target_file)))
    return options


async def inspect(site: "Site", upload: Upload, query: TableQuery) -> TableInspection:
    """Look at an upload; what was seen is kept beside it."""
    options = file_options(site, query)
    reading = {key: options.pop(key) for key in OF_FILE if key in options}
    arguments = {"path": str(site.uploads.path(upload)), "reading": reading, "options": options}
    found = await _remember(site, upload, "inspect_upload", arguments)
    return from_plain(TableInspection, found)


async def find_columns(site: "Site", upload: Upload, query: TableQuery, text: str) -> list[str]:
    """Return the columns of an upload whose names hold a text, those that begin with it first."""
    reading = {key: value for key, value in query.options().items() if key in OF_FILE}
    arguments = {"path": str(site.uploads.path(upload)), "reading": reading, "transpose": bool(query.transpose)}
    names: list[str] = (await _remember(site, upload, "list_columns", arguments))["answer"]
    sought = text[:LONGEST].lower()
    found = [name for name in names if sought in name.lower()]
    return sorted(found, key=lambda name: not name.lower().startswith(sought))


async def _remember(site: "Site", upload: Upload, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer of a task on an upload, from the file that was kept of it if there is one."""
    text = json.dumps([__version__, name, arguments], sort_keys=True)
    file = site.uploads.path(upload).parent / f".{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"
    known = read_record(file)
    if known is None:
        answer = await site.run_task(name, arguments)
        known = answer if isinstance(answer, dict) else {"answer": answer}
        site.uploads.get(upload.upload)  # it may have been removed meanwhile
        write_record(file, known)
    return known


def read_facts(found: TableInspection) -> Facts:
    """Return what a plan has to know of a table that can be read; else say why it cannot."""
    record = found.record
    if record is None:
        why = found.problem or (found.question.sentence if found.question else "The table cannot be read yet.")
        raise TaskError(why, None if found.question is None else vars(found.question))
    classes = len(record.classes)
    return Facts(
        name=found.name, rows=record.rows, features=record.features, task=record.task, n_classes=classes
    )  # fmt: skip


# Data sets that need no file


def find_known(name: str) -> str:
    """Return the name of a data set that is on this machine."""
    if name not in available():
        raise RefusedError(404, "There is no such data set on this machine.")
    return name


def known_facts(name: str) -> Facts:
    """Return what a plan has to know of a data set."""
    info = DATASETS[find_known(name)]
    n_classes = 0 if info.classes is None else len(info.classes)
    return Facts(name=name, rows=info.n_samples, features=info.n_features, task=info.task, n_classes=n_classes)
