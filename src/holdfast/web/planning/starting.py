"""Starting studies: from data and a plan to a command, what it will cost, and whether there is room for it."""

import json
import os
import shutil
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio.to_thread

from holdfast.study.progress import format_duration
from holdfast.web.folder import SPARE
from holdfast.web.guard import MEGABYTE
from holdfast.web.launcher import StudyState
from holdfast.web.planning.offers import make_offers
from holdfast.web.planning.plans import Plan, jobs_argument, option_arguments, plan_arguments, show_command
from holdfast.web.planning.tables import (
    AS_FOUND,
    Facts,
    TableQuery,
    file_options,
    find_table,
    inspect,
    known_facts,
    read_facts,
)
from holdfast.web.worker import TaskError

if TYPE_CHECKING:
    from holdfast.web.site import Site

LONG, LARGE = 3600, 1000 * MEGABYTE
"""Seconds and bytes from which a study is said to be long or large."""
MOST_REMEMBERED = 200


@dataclass(frozen=True, kw_only=True)
class DataChoice:
    """The data of a study: a table that was uploaded and how to read it, or a known data set.

    Attributes
    ----------
    upload : str
        Key of an upload; empty for a known data set.
    known : str
        Name of a known data set; empty for an upload.
    reading : TableQuery
        How the upload is to be read.
    """

    upload: str = ""
    known: str = ""
    reading: TableQuery = AS_FOUND


@dataclass(frozen=True, kw_only=True)
class StudyRequest:
    """A study that is to be started.

    Attributes
    ----------
    data : DataChoice
        Its data.
    plan : Plan
        What it is to do.
    name : str
        What it is to be called; named after its data if empty.
    """

    data: DataChoice
    plan: Plan
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a study will cost, estimated from two fits of each selector.

    Attributes
    ----------
    known : bool
        Whether it could be estimated in time.
    candidates, splits, fits : int
        Number of candidates, of resamples, and of fits.
    seconds : float
        Time on the cores that the plan asks for, about.
    bytes : int
        Disk space, about.
    sentence : str
        The same in words.
    warnings : tuple of str
        What cannot be fitted, takes long, is large, or leaves no room.
    command : str
        The same study on the command line.
    """

    known: bool
    candidates: int = 0
    splits: int = 0
    fits: int = 0
    seconds: float = 0.0
    bytes: int = 0
    sentence: str
    warnings: tuple[str, ...] = ()
    command: str


@dataclass(frozen=True, kw_only=True)
class Command:
    """A study as arguments of ``holdfast``.

    Attributes
    ----------
    facts : Facts
        What it is about.
    options : tuple of str
        Options that say how to read the data, and the plan.
    data : str
        The data: a path or a name.
    shown : str
        The command as its owner would type it, with the names of files as they were before they were uploaded.
    """

    facts: Facts
    options: tuple[str, ...]
    data: str
    shown: str


async def make_command(site: "Site", request: StudyRequest) -> Command:
    """Return the command of a study; what is wrong with it is a sentence."""
    choice = request.data
    if bool(choice.upload) == bool(choice.known):
        raise ValueError("Expected an upload or the name of a known data set, and not both; choose the data again.")
    if choice.known:
        facts, reading, named, data = known_facts(choice.known), {}, {}, choice.known
    else:
        upload = find_table(site, choice.upload)
        facts = read_facts(await inspect(site, upload, choice.reading))
        reading, data = file_options(site, choice.reading), str(site.uploads.path(upload))
        named = {**reading, **_second_name(site, choice.reading)}
    offers = make_offers(facts.task, facts.n_classes)
    plan = [*plan_arguments(request.plan, offers), jobs_argument(request.plan.cores)]
    shown = show_command(["study", *option_arguments(named), *plan, "--", facts.name])
    return Command(facts=facts, options=(*option_arguments(reading), *plan), data=data, shown=shown)


def _second_name(site: "Site", query: TableQuery) -> dict[str, Any]:
    return {"target_file": find_table(site, query.target_file).name} if query.target_file else {}


# Costs


_costs: OrderedDict[tuple[tuple[str, ...], str], int] = OrderedDict()
_lock = threading.Lock()


async def estimate_cost(site: "Site", request: StudyRequest) -> Cost:
    """Return what a study will cost, by a trial of the very command that would run it."""
    command = await make_command(site, request)
    arguments = ["study", "--dry-run", "--json", "--quiet", *command.options, "--", command.data]
    ran = await site.run_task("run_command", {"arguments": arguments, "seconds": site.limits.seconds})
    if ran.get("late"):
        late = f"Two fits of each selector take longer than {format_duration(site.limits.seconds)}: this will be long."
        return Cost(known=False, sentence=late, warnings=(late,), command=command.shown)
    if ran["code"] != 0:
        raise TaskError(_explain(site, ran["error"]))
    found = json.loads(ran["printed"])
    failures = _explain_failures(site, found)
    again, size, cores = found["replicability"], int(found["bytes"]), request.plan.cores
    seconds = (found["seconds"] + again["seconds"]) / cores
    with _lock:
        _costs[command.options, command.data] = size
        while len(_costs) > MOST_REMEMBERED:
            _costs.popitem(last=False)
    halves = f", and {again['fits']:,} on halves of the rows" if again["fits"] else ""
    sentence = (
        f"{found['fits']:,} fits: {found['candidates']:,} candidates on {found['splits']:,} resamples{halves}. About "
        f"{format_duration(max(seconds, 1))} on {cores} {'core' if cores == 1 else 'cores'}, and "
        f"{max(size / MEGABYTE, 0.1):,.1f} MB on disk."
    )
    counts = {key: found[key] for key in ("candidates", "splits", "fits")}
    return Cost(
        known=True, **counts, seconds=seconds, bytes=size, sentence=sentence,
        warnings=(*failures, *_warn(site, seconds, size)),
        command=command.shown,
    )  # fmt: skip


def _explain(site: "Site", line: str) -> str:
    """The last line of a command that failed, without the path of files."""
    return site.folder.shown(line.removeprefix("holdfast: ")) or "The study could not be tried; change the plan."


def _explain_failures(site: "Site", found: dict[str, Any]) -> list[str]:
    """Say which candidates could not be fitted; refuse a study of which none could."""
    failures: dict[str, str] = found["failures"]
    first = next(iter(failures.values()), "")
    if failures and len(failures) == found["candidates"]:
        raise TaskError(f"No selector could be fitted, so that there is nothing to start: {_explain(site, first)}")
    errors = {error: [name for name in failures if failures[name] == error] for error in failures.values()}
    return [f"{', '.join(names[:3])}{', …' if len(names) > 3 else ''} could not be fitted: {_explain(site, error)}"
            for error, names in errors.items()]  # fmt: skip


def _warn(site: "Site", seconds: float, size: int) -> tuple[str, ...]:
    warnings = []
    if seconds > LONG:
        warnings.append(f"This will take about {format_duration(seconds)}. Fewer selectors or resamples take less; a "
                        "study can be stopped and resumed at any time.")  # fmt: skip
    free = shutil.disk_usage(site.folder.path).free - SPARE
    if size > free:
        warnings.append(f"There is not enough room on the disk: {max(free, 0) / MEGABYTE:,.0f} MB are free.")
    elif size > LARGE:
        warnings.append(f"This will take {size / MEGABYTE:,.0f} MB of the {free / MEGABYTE:,.0f} MB free on the disk.")
    return tuple(warnings)


# Starting


async def start(site: "Site", request: StudyRequest) -> StudyState:
    """Put a study into the queue, under a new name."""
    if request.name.strip():
        site.folder.check_new_name(request.name)
    command = await make_command(site, request)
    site.folder.check_room(_costs.get((command.options, command.data), 0))
    return await anyio.to_thread.run_sync(_submit, site, command, request.name, limiter=site.threads)


def _submit(site: "Site", command: Command, name: str) -> StudyState:
    with _lock:
        study = site.folder.check_new_name(name) if name.strip() else site.folder.new_name(command.facts.name)
        store = f"--store={site.folder.store_of(study)}"
        return site.launcher.submit(study, ["study", "--quiet", *command.options, store, "--", command.data])


def usual_cores() -> int:
    """How many cores to use if nothing is said: all but one."""
    return max((os.cpu_count() or 1) - 1, 1)
