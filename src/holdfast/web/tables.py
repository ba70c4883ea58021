"""Tables to study: files that were uploaded, with how they are to be read, and data sets that need no file.

What reads a table is a task, which runs in a worker. Tables as they were read are cached next to their upload, so that
the next question about one need not parse it again. Only what reads back exactly as it was is cached
(:mod:`holdfast.io.loading`); nothing is unpickled.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from holdfast.datasets import real
from holdfast.datasets.real import DATASETS, available
from holdfast.io.files import Loaded, as_path, display_name
from holdfast.io.guessing import show_entry, turn
from holdfast.io.inspection import PREVIEW_COLUMNS, PREVIEW_ROWS, TableInspection, inspect_by
from holdfast.io.loading import are_same, pack_table, unpack_table
from holdfast.io.options import OF_FILE, OPTIONS, Reading, ReadOptions
from holdfast.io.table import load_table, make_table
from holdfast.serialization import from_plain
from holdfast.targets import TaskName
from holdfast.web.folder import SPARE, Upload, cache_file, read_record, replacing, write_record
from holdfast.web.guard import MEGABYTE, RefusedError
from holdfast.web.routing import Pairs, list_changes
from holdfast.web.worker import TaskError

if TYPE_CHECKING:
    from holdfast.web.site import Site

MAX_LENGTH = 2000
"""Characters of a name or another text of a plan."""
MAX_NAMES = 2000
"""Columns that can be left out or accepted by their names."""


@dataclass(frozen=True, kw_only=True)
class TableQuery(ReadOptions):
    """How a table is to be read, by the options of :mod:`holdfast.io.options`; the rest is found out, or asked for.

    Attributes
    ----------
    transpose : bool or None
        Whether features stand in rows; None if that is to be found out.
    target_file, feature_groups : str or None
        Keys of other uploads, that with the target and that with the groups of columns.
    asked : tuple of str
        Columns that look like no features, as a page asked about them: those that are not to be left out are accepted.
    """

    transpose: bool | None = None  # type: ignore[assignment]
    asked: tuple[str, ...] = ()

    @property
    def pairs(self) -> Pairs:
        """Everything that was said, as it stands in an address."""
        return list_changes(self)

    def options(self) -> dict[str, Any]:
        """Return the options of :func:`holdfast.read_table` that were said; the second file by its key."""
        accepted = dict.fromkeys([*self.treat_as_feature, *(name for name in self.asked if name not in self.ignore)])
        said = {name: getattr(self, name) for name in OPTIONS} | {"treat_as_feature": tuple(accepted)}
        said = {name: value for name, value in said.items() if value not in ("", getattr(AS_FOUND, name))}
        for name, value in said.items():
            texts = value if isinstance(value, tuple) else (value,)
            if not OPTIONS[name].in_commands:
                raise ValueError(f"Expected options that the page offers, got {name}; use it in Python.")
            if len(texts) > MAX_NAMES:
                raise ValueError(f"Expected at most {MAX_NAMES:,} columns for {name}, got {len(texts):,}.")
            for text in texts:
                if isinstance(text, str) and (len(text) > MAX_LENGTH or "\0" in text or not _encodes(text)):
                    raise ValueError(
                        f"Expected a text of at most {MAX_LENGTH:,} common characters for {name}, got another one."
                    )
        return said


OTHER_FILES = tuple(name for name, option in OPTIONS.items() if option.kind == "file")
"""Options of reading that name another upload."""
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
    task: TaskName
    n_classes: int


def _encodes(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


# Files that were uploaded


def find_table(site: "Site", key: str) -> Upload:
    """Return an upload that is a table."""
    return site.uploads.get(key, "table")


def file_options(site: "Site", query: TableQuery) -> dict[str, Any]:
    """Return the options to read an upload with; other files by their paths."""
    options = query.options()
    for name in OTHER_FILES:
        if options.get(name):
            options[name] = str(site.uploads.path(find_table(site, options[name])))
    return options


async def inspect(site: "Site", upload: Upload, query: TableQuery) -> TableInspection:
    """Look at an upload; what was seen is cached next to it."""
    options = file_options(site, query)
    reading = {key: options.pop(key) for key in OF_FILE if key in options}
    arguments = {"path": str(site.uploads.path(upload)), "reading": reading, "options": options}
    return from_plain(TableInspection, await _run_once(site, upload, "inspect_upload", arguments))


async def find_columns(site: "Site", upload: Upload, query: TableQuery, text: str) -> list[str]:
    """Return the columns of an upload whose names hold a text, those that begin with it first."""
    reading = {key: value for key, value in query.options().items() if key in OF_FILE}
    arguments = {"path": str(site.uploads.path(upload)), "reading": reading, "transpose": bool(query.transpose)}
    names: list[str] = await _run_once(site, upload, "list_columns", arguments)
    sought = text[:MAX_LENGTH].lower()
    matching = [name for name in names if sought in name.lower()]
    return sorted(matching, key=lambda name: not name.lower().startswith(sought))


async def _run_once(site: "Site", upload: Upload, name: str, arguments: Mapping[str, Any]) -> Any:
    """Return the answer of a task on an upload, from the file in which it is cached if there is one."""
    file = cache_file(site.uploads.path(upload), name, arguments, ".json")
    known = read_record(file)
    if known is None:
        known = {"answer": await site.run_task(name, arguments)}
        site.uploads.get(upload.upload)  # it may have been removed meanwhile
        write_record(file, known)
    return known["answer"]


def read_facts(table: TableInspection) -> Facts:
    """Return what a plan has to know of a table that can be read; else say why it cannot."""
    record = table.record
    if record is None:
        why = table.problem or (table.question.sentence if table.question else "The table cannot be read yet.")
        raise TaskError(why, None if table.question is None else vars(table.question))
    classes = len(record.classes)
    return Facts(
        name=table.name, rows=record.rows, features=record.features, task=record.task, n_classes=classes
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


# Tasks


MAX_COLUMNS = 200_000
"""Names of columns that are searched."""
SHARE_OF_TIME = 0.9
"""Of the time that a task has, how much a command may take that it waits for."""


def inspect_upload(path: str, reading: dict[str, Any], options: dict[str, Any]) -> TableInspection:
    """Look at a table that was uploaded."""
    return inspect_by(load_cached, path, **reading, **options)


def list_columns(path: str, reading: dict[str, Any], transpose: bool) -> list[str]:
    """List the columns of a table that was uploaded."""
    file = as_path(path)
    loaded = load_cached(file, Reading(**reading))
    frame = turn(loaded.frame, loaded.decimal, display_name(file)) if transpose else loaded.frame
    return [str(name) for name in frame.columns[:MAX_COLUMNS]]


def inspect_known(name: str) -> TableInspection:
    """Look at a data set by its name."""
    data = real.load(name)
    table = make_table(data.X, data.y, data.info.task, target="target", source=name, notes=(data.description,))
    corner = data.X.iloc[:PREVIEW_ROWS, : PREVIEW_COLUMNS - 1]
    rows = zip(data.y, corner.to_numpy(), strict=False)
    return TableInspection(
        name=name,
        rows=len(data.X),
        columns=data.X.shape[1] + 1,
        header=("target", *map(str, corner.columns)),
        roles=("target", *("" for _ in corner.columns)),
        preview=tuple((show_entry(target), *map(show_entry, row)) for target, row in rows),
        notes=(data.description,),
        record=table.record,
    )


def run_command(arguments: list[str], seconds: float) -> dict[str, Any]:
    """Run a command of holdfast under the limits of this process; what it printed, and its last line if it failed."""
    try:
        ran = subprocess.run(
            [sys.executable, "-m", "holdfast", *arguments], capture_output=True, text=True, errors="replace",
            stdin=subprocess.DEVNULL, timeout=SHARE_OF_TIME * seconds, env={**os.environ, "PYTHONSAFEPATH": "1"},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"late": True}
    lines = [line.strip() for line in ran.stderr.splitlines() if line.strip()]
    return {"code": ran.returncode, "printed": ran.stdout, "error": lines[-1] if lines else ""}


# Tables as they were read


MIN_CACHED_BYTES = 100_000
"""Bytes of a file from which what was read of it is cached."""
MAX_CACHED_BYTES = 500 * MEGABYTE
"""Bytes of the largest table that is cached."""
MAX_CACHED = 2
"""Ways of reading one file of which the tables are cached; the newest stay."""
UNREADABLE = (OSError, ValueError, TypeError, NotImplementedError)
"""What is raised where a table cannot be packed or unpacked, by Arrow too."""


def load_cached(path: Path, reading: Reading) -> Loaded:
    """Load a table as :func:`holdfast.io.table.load_table` does; one that was loaded before, from its cache."""
    file = cache_file(path, "table", asdict(reading), ".npz")
    cached = _read_cached(file)
    if cached is not None:
        return cached
    loaded = load_table(path, reading)
    size = int(loaded.frame.memory_usage(index=False).sum())
    room = min(MAX_CACHED_BYTES, shutil.disk_usage(file.parent).free - SPARE)
    if path.stat().st_size >= MIN_CACHED_BYTES and size <= room:
        with contextlib.suppress(*UNREADABLE):  # such as lists in cells
            _write_cached(file, loaded)
    return loaded


def _read_cached(file: Path) -> Loaded | None:
    """Return the table that a file holds; None if it holds none."""
    try:
        with file.open("rb") as content, np.load(content, allow_pickle=False) as stored:
            return unpack_table(stored)
    except (*UNREADABLE, KeyError, EOFError, BadZipFile):
        return None


def _write_cached(file: Path, loaded: Loaded) -> None:
    """Cache a table if it can be read back as it is; older ones of the same upload go."""
    with replacing(file) as passing:
        with passing.open("wb") as out:
            np.savez(out, allow_pickle=False, **pack_table(loaded))
        stored = _read_cached(passing)
        if stored is None or not are_same(stored, loaded):
            raise ValueError("Expected a table that reads back as it was written, got another.")
    for old in sorted(file.parent.glob(".table-*.npz"), key=lambda other: -other.stat().st_mtime)[MAX_CACHED:]:
        old.unlink(missing_ok=True)
