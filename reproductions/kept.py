"""Finished outcomes in a folder: one JSON file and the pictures of each, so that nothing is done twice."""

import json
import math
import os
import platform
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from holdfast.plots import save
from holdfast.plots.embed import chart_title
from holdfast.serialization import from_plain, to_json
from reproductions.experiments import Experiment
from reproductions.records import Check, Outcome, Picture, Table

FILE = "outcome.json"
WITH = ("holdfast", "numpy", "scipy", "scikit-learn", "pandas", "numba")


@dataclass(frozen=True, kw_only=True)
class KeptTable:
    """A table as it is shown.

    Attributes
    ----------
    title : str
        What it shows.
    columns : tuple of str
        Names of its columns.
    rows : tuple of tuple of str
        Its cells.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class KeptPicture:
    """A picture in a file.

    Attributes
    ----------
    file : str
        Name of the file.
    caption : str
        What it shows, and which figure of the paper it repeats.
    finding : str
        What can be seen in it, for those who do not see it.
    """

    file: str
    caption: str
    finding: str


@dataclass(frozen=True, kw_only=True)
class KeptOutcome:
    """What an experiment found, as it is kept.

    Attributes
    ----------
    experiment : str
        Name of the experiment.
    quick : bool
        Whether a small part was done only.
    seconds : float
        How long it took, in this last run; studies that were finished before take no time.
    machine : str
        Where.
    left_out : tuple of str
        Data sets that were not on the machine.
    checks, tables, pictures, protocol, beyond
        As in an outcome.
    """

    experiment: str
    quick: bool
    seconds: float
    machine: str
    left_out: tuple[str, ...]
    checks: tuple[Check, ...]
    tables: tuple[KeptTable, ...]
    pictures: tuple[KeptPicture, ...]
    protocol: str
    beyond: tuple[str, ...]


def keep(
    outcome: Outcome, experiment: Experiment, folder: Path, *, quick: bool, seconds: float, left_out: tuple[str, ...]
) -> KeptOutcome:
    """Write an outcome and its pictures into the folder of its experiment, the outcome last."""
    folder.mkdir(parents=True, exist_ok=True)
    kept = KeptOutcome(
        experiment=experiment.name, quick=quick, seconds=round(seconds, 1), machine=describe_machine(),
        left_out=left_out, checks=tuple(outcome.checks), tables=tuple(map(_keep_table, outcome.tables)),
        pictures=tuple(_keep_picture(picture, experiment, folder) for picture in outcome.pictures),
        protocol=outcome.protocol, beyond=tuple(outcome.beyond),
    )  # fmt: skip
    unfinished = folder / f"{FILE}.new"
    unfinished.write_text(to_json(kept), encoding="utf-8")
    unfinished.replace(folder / FILE)
    return kept


def find_kept(folder: Path, *, quick: bool) -> KeptOutcome | None:
    """Return the outcome that a folder holds; None if there is none, or it is of a run of the other length."""
    try:
        kept = from_plain(KeptOutcome, json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    return kept if kept.quick == quick and all((folder / picture.file).is_file() for picture in kept.pictures) else None


def _keep_picture(picture: Picture, experiment: Experiment, folder: Path) -> KeptPicture:
    file = f"{experiment.name}-{picture.name}.svg"
    save(picture.chart, folder / file, theme="light")
    return KeptPicture(file=file, caption=picture.caption, finding=chart_title(picture.chart))


def _keep_table(table: Table) -> KeptTable:
    frame = table.frame.reset_index() if any(table.frame.index.names) else table.frame
    return KeptTable(
        title=table.title, columns=tuple(map(str, frame.columns)),
        rows=tuple(tuple(_cell(value, table.digits) for value in row) for row in frame.itertuples(index=False)),
    )  # fmt: skip


def _cell(value: Any, digits: int) -> str:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def describe_machine() -> str:
    """Return the machine and the versions of what computes, in a line."""
    versions = ", ".join(f"{name} {version(name)}" for name in WITH)
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, {versions}"
