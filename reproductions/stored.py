"""Finished outcomes in a folder, one JSON file and the pictures of each; and outcomes over several seeds."""

import json
import math
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from holdfast.plots import save
from holdfast.plots.embed import chart_title
from holdfast.serialization import from_plain, to_json
from reproductions.experiments import Experiment
from reproductions.records import Claim, Evidence, Outcome, Picture, Table
from reproductions.workbench import Workbench

FILE = "outcome.json"
LIBRARIES = ("holdfast", "numpy", "scipy", "scikit-learn", "pandas", "numba")


@dataclass(frozen=True, kw_only=True)
class StoredPicture:
    """A picture in a file.

    Attributes
    ----------
    file : str
        Name of the file.
    caption, exhibit : str
        As in a picture.
    finding : str
        What can be seen in it, for those who do not see it.
    """

    file: str
    caption: str
    finding: str
    exhibit: str


@dataclass(frozen=True, kw_only=True)
class StoredOutcome:
    """The outcome of an experiment in a file, with tables in Markdown and pictures in files of their own.

    Attributes
    ----------
    experiment : str
        Name of the experiment.
    seeds : tuple of int
        The seed, or all of them if outcomes were combined.
    seconds : float
        How long it took in its last run; studies that were finished before take no time.
    machine : str
        Where.
    left_out : tuple of str
        Data sets that were not on the machine.
    claims, sentences, tables, pictures, protocol, notes, findings
        As in an outcome.
    """

    experiment: str
    seeds: tuple[int, ...]
    seconds: float
    machine: str
    left_out: tuple[str, ...]
    claims: tuple[Claim, ...]
    tables: tuple[str, ...]
    pictures: tuple[StoredPicture, ...]
    protocol: str
    sentences: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()


def store_outcome(
    outcome: Outcome, experiment: Experiment, bench: Workbench, *, seconds: float, left_out: tuple[str, ...]
) -> StoredOutcome:
    """Write an outcome and its pictures into the folder of its experiment, the outcome last."""
    bench.folder.mkdir(parents=True, exist_ok=True)
    stored = StoredOutcome(
        experiment=experiment.name, seeds=(bench.seed,), seconds=round(seconds, 1), machine=describe_machine(),
        left_out=left_out, claims=tuple(outcome.claims), tables=tuple(map(format_table, outcome.tables)),
        pictures=tuple(_store_picture(picture, experiment, bench.folder) for picture in outcome.pictures),
        protocol=outcome.protocol, sentences=outcome.sentences, notes=tuple(outcome.notes),
        findings=tuple(outcome.findings),
    )  # fmt: skip
    unfinished = bench.folder / f"{FILE}.new"
    unfinished.write_text(to_json(stored), encoding="utf-8")
    unfinished.replace(bench.folder / FILE)
    return stored


def read_outcome(folder: Path) -> StoredOutcome | None:
    """Return the outcome in a folder; None if there is none, or a part of it is missing."""
    try:
        stored = from_plain(StoredOutcome, json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    return stored if all((folder / picture.file).is_file() for picture in stored.pictures) else None


def _store_picture(picture: Picture, experiment: Experiment, folder: Path) -> StoredPicture:
    file = f"{experiment.name}-{picture.name}.svg"
    save(picture.chart, folder / file, theme="light")
    return StoredPicture(
        file=file, caption=picture.caption, finding=chart_title(picture.chart), exhibit=picture.exhibit
    )


def format_table(table: Table) -> str:
    """Return a table in Markdown, with its title."""
    frame = table.frame.reset_index() if any(table.frame.index.names) else table.frame
    rows = ([_format_cell(value, table.digits) for value in row] for row in frame.itertuples(index=False))
    return f"**{table.title}**\n\n{format_rows([str(column) for column in frame.columns], rows)}"


def format_rows(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows of text as a Markdown table; empty without rows."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(map(escape_cell, line))} |" for line in lines) if len(lines) > 2 else ""


def escape_cell(text: str) -> str:
    """Return a text as a cell of a table: one line, no bars."""
    return " ".join(text.split()).replace("|", "\\|")


def _format_cell(value: Any, digits: int) -> str:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def describe_machine() -> str:
    """Return the machine and the versions of what computes, in a line."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    return f"{os.cpu_count()} cores ({platform.machine()}), Python {platform.python_version()}, {versions}"


# Several seeds


def combine_seeds(outcomes: Sequence[StoredOutcome]) -> StoredOutcome:
    """Return one outcome for all seeds: tables and pictures of the first, claims with the range over all."""
    first, *others = outcomes
    if not others:
        return first
    by_key: dict[tuple[str, str, str], list[Claim]] = {}
    for claim in (claim for outcome in outcomes for claim in outcome.claims):
        by_key.setdefault((claim.exhibit, claim.where, claim.claim), []).append(claim)
    return replace(
        first, seeds=tuple(seed for outcome in outcomes for seed in outcome.seeds),
        claims=tuple(map(combine_claims, by_key.values())),
    )  # fmt: skip


def combine_claims(claims: Sequence[Claim]) -> Claim:
    """Return a claim whose evidence is the range over seeds: it is open if its verdict differs between them."""
    first, evidence = claims[0], [claim.evidence for claim in claims]
    if all(item == first.evidence for item in evidence):
        return first
    whole = Evidence.over(evidence, f"{first.evidence.varied}; {len(evidence)} seeds")
    shown = first.evidence.shown
    return replace(first, evidence=replace(whole, shown=f"{shown} (first seed)" if shown != whole.shown else shown))


@dataclass(frozen=True, kw_only=True)
class SeedComparison:
    """How many verdicts other seeds change.

    Attributes
    ----------
    n_decided : int
        Verdicts on the pages that are not open.
    changed : tuple of str
        Those that are another at one of the other seeds, in words.
    n_reversed : int
        Those of them that turn round, from *holds* to *does not hold* or back; the others become open.
    """

    n_decided: int
    changed: tuple[str, ...]
    n_reversed: int

    @property
    def share(self) -> float:
        """Share of verdicts that change."""
        return len(self.changed) / self.n_decided if self.n_decided else 0.0


def compare_seeds(on_pages: Sequence[StoredOutcome], others: Sequence[StoredOutcome]) -> SeedComparison:
    """Return which verdicts of the pages are others at seeds that the pages have not used."""
    new: dict[tuple[str, str, str], list[Claim]] = {}
    for outcome in others:
        for claim in outcome.claims:
            new.setdefault((outcome.experiment, claim.exhibit, claim.claim), []).append(claim)
    decided, changed, n_reversed = 0, [], 0
    for outcome in on_pages:
        for claim in outcome.claims:
            verdicts = [other.verdict for other in new.get((outcome.experiment, claim.exhibit, claim.claim), [])]
            if claim.verdict == "open" or not verdicts:
                continue
            decided += 1
            different = [verdict for verdict in verdicts if verdict != claim.verdict]
            if different:
                changed.append(f"{outcome.experiment}: {claim.claim} ({claim.verdict}; then {', '.join(different)})")
                n_reversed += any({verdict, claim.verdict} == {"holds", "does not hold"} for verdict in different)
    return SeedComparison(n_decided=decided, changed=tuple(changed), n_reversed=n_reversed)
