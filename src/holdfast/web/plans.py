"""From a plan, as it is sent by the page, to a study that runs: its command, its cost, its start and its growth.

What a plan names is looked up in the registries, and values are numbers, true, false, none or plain words: nothing that
somebody sends can become the path of a class, an option, or part of another value. It travels as the configuration file
that ``holdfast study`` reads, which imports classes of holdfast and scikit-learn only; so does a study that grows, as a
store may come from anywhere.
"""

import json
import math
import os
import re
import secrets
import shlex
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import anyio.to_thread

from holdfast.datasets.real import available
from holdfast.declared import did_you_mean
from holdfast.options import DEFAULTS, FormOptions, check_options
from holdfast.resampling import PERTURBATIONS
from holdfast.study.running import format_duration
from holdfast.study.store import StoreError, read_meta
from holdfast.text import clean_text
from holdfast.web import tables
from holdfast.web.folder import SPARE, write_private
from holdfast.web.forms import FormChoices, FormParameter, FormPart, available_parts
from holdfast.web.guard import MEGABYTE, RefusedError
from holdfast.web.launcher import StudyState
from holdfast.web.site import Site
from holdfast.web.worker import TaskError

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
WHOLE = re.compile(r"[+-]?\d{1,15}", re.ASCII)
WORD = re.compile(r"[A-Za-z0-9_-]{1,60}", re.ASCII)
MAX_SIZES, MAX_VALUES, MAX_SELECTORS = 50, 50, 100
MAX_SECONDS = 30 * 86_400
"""The longest time limit of a fit."""
MAX_SEED = 2**32 - 1


@dataclass(frozen=True, kw_only=True)
class Part:
    """A selector, perturbation or model of a plan.

    Attributes
    ----------
    name : str
        Its name in the registry.
    parameters : mapping from str to str
        Values as they would be typed: a number, a word, ``true``, ``false`` or ``none``; several of a selector's are
        separated by spaces and become candidates of their own. What is left out or empty has its default.
    own_size : bool
        For a selector: whether it decides itself how many features it selects, whatever the sizes of the plan are.
    """

    name: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    own_size: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan(FormOptions):
    """What a study is to do; its other options are those of :mod:`holdfast.options`.

    Attributes
    ----------
    selectors : tuple of Part
        The selectors.
    sizes : str
        Numbers of features to select, such as ``5, 10, 20``; empty if each selector keeps its number.
    perturbation : Part
        How resamples are made.
    model : Part or None
        Model that is trained on the selected features and scored; None if nothing is to be predicted.
    scores : tuple of str
        Scores of its predictions; the default if there are none.
    cores : int
        Number of processes.
    """

    selectors: tuple[Part, ...]
    perturbation: Part
    sizes: str = ""
    model: Part | None = None
    scores: tuple[str, ...] = ()
    cores: int = 1


def plan_options(plan: Plan, offers: FormChoices) -> dict[str, Any]:
    """Return a plan as options of ``holdfast study``, as its configuration file holds them; raise if it is wrong."""
    if not plan.selectors or len(plan.selectors) > MAX_SELECTORS:
        raise ValueError("Expected at least one selector, got none; choose one." if not plan.selectors
                         else f"Expected at most {MAX_SELECTORS} selectors, got {len(plan.selectors)}.")  # fmt: skip
    sizes = read_sizes(plan.sizes)
    selectors = [selector_text(part, offers, sizes) for part in plan.selectors]
    if len(set(selectors)) < len(selectors):
        raise ValueError("Expected every selector once, got one twice with the same values; leave one of them out.")
    perturbation = find_part(plan.perturbation.name, offers.perturbations, "way to make resamples")
    options: dict[str, Any] = {"select": selectors, "perturb": part_text(plan.perturbation, perturbation)}
    if plan.model is not None:
        options["estimator"] = part_text(plan.model, find_part(plan.model.name, offers.models, "model"))
        options["score"] = [find_part(name, offers.scores, "score").name for name in dict.fromkeys(plan.scores)]
    elif plan.scores:
        raise ValueError("A score needs a model: choose a model, or no score.")
    limit = plan.time_limit
    if limit is not None and not 0 < limit <= MAX_SECONDS:
        raise ValueError(f"Expected a time limit above 0 and at most {MAX_SECONDS:,} seconds, got {limit:g}.")
    check_range("the seed", plan.seed, 0, MAX_SEED)
    options |= {known.name: getattr(plan, known.name) for known in fields(FormOptions)}
    return {**options, "jobs": check_cores(plan.cores)}


def check_cores(cores: int) -> int:
    """Return a number of processes, at most as many as there are cores."""
    return check_range("the number of cores", cores, 1, os.cpu_count() or 1)


# Parts


def find_part(name: str, offers: Iterable[FormPart], what: str) -> FormPart:
    """Return what has a name among those that serve the data."""
    known = {offer.name: offer for offer in offers}
    if name not in known:
        shown = clean_text(name)[:60]
        raise ValueError(f"Expected a {what} for these data ({', '.join(known)}), got {shown!r}"
                         f"{did_you_mean(shown, known)}")  # fmt: skip
    return known[name]


def selector_text(part: Part, offers: FormChoices, sizes: list[int]) -> str:
    """Return a selector as ``--select`` takes it, cut to sizes."""
    offer = find_part(part.name, offers.selectors, "selector")
    cut = bool(sizes) and not part.own_size
    replaced = {parameter.name for parameter in offer.parameters if cut and parameter.is_size}
    parameters = {name: text for name, text in part.parameters.items() if name not in replaced}
    text = part_text(Part(name=part.name, parameters=parameters), offer)
    if not cut:
        return text
    return f"{text}{',' if ':' in text else ':'}sizes={'|'.join(map(str, sizes))}"


def part_text(part: Part, offer: FormPart) -> str:
    """Return ``name:parameter=value,…`` for a part of a plan."""
    if not WORD.fullmatch(offer.name):
        raise ValueError(f"The name {clean_text(offer.name)[:60]!r} cannot be written on a command line.")
    texts = {name: text.strip() for name, text in part.parameters.items() if text.strip()}
    for name in texts:
        if offer.parameter(name) is None:
            known = [parameter.name for parameter in offer.parameters]
            raise ValueError(f"Expected parameters of {offer.label} ({', '.join(known) or 'it has none'}), got "
                             f"{clean_text(name)[:60]!r}.")  # fmt: skip
    values = [
        f"{parameter.name}={'|'.join(read_values(parameter, texts.get(parameter.name, ''), offer.label))}"
        for parameter in offer.parameters
        if parameter.changed
        or not parameter.default
        or texts.get(parameter.name, parameter.default) != parameter.default
    ]
    return f"{offer.name}:{','.join(values)}" if values else offer.name


def read_values(parameter: FormParameter, text: str, owner: str) -> list[str]:
    """Return the values of a parameter as they were typed, each a number or a plain word."""
    where = f"{parameter.label} of {owner}"
    values = re.split(r"\s*[;|]\s*|,\s+|\s+", text or parameter.default) if text or parameter.default else []
    if not values or len(values) > (MAX_VALUES if parameter.several else 1):
        got = f"{len(values)} values" if values else "nothing"
        raise ValueError(f"Expected {'a value' if not values else 'one value'} for {where}, got {got}.")
    for value in values:
        _check_value(parameter, value, where)
    return values


def _check_value(parameter: FormParameter, value: str, where: str) -> None:
    if parameter.choices:
        right, expected = value in parameter.choices, f"one of {', '.join(parameter.choices)}"
    elif value == "none":
        return
    elif parameter.kind == "whole number":
        right, expected = WHOLE.fullmatch(value) is not None, "a whole number"
    elif parameter.kind == "number":
        right = value == "inf" or (NUMBER.fullmatch(value) is not None and math.isfinite(float(value)))
        expected = "a number, such as 0.5"
    else:
        number = NUMBER.fullmatch(value) is not None and math.isfinite(float(value))
        right = number or (WORD.fullmatch(value) is not None and value.lower() not in ("nan", "-nan"))
        expected = "a number or a word of letters, digits, - and _"
    if not right:
        hint = "; decimals are written with a point" if re.fullmatch(r"\d+,\d+", value) else ""
        raise ValueError(f"Expected {expected} for {where}, got {clean_text(value)[:60]!r}{hint}.")


def read_sizes(text: str) -> list[int]:
    """Return numbers of features from a text such as ``5, 10, 20``, in order."""
    parts = [part for part in re.split(r"[\s,;|]+", text.strip()) if part]
    if len(parts) > MAX_SIZES:
        raise ValueError(f"Expected at most {MAX_SIZES} numbers of features, got {len(parts)}.")
    for part in parts:
        if not (part.isascii() and part.isdecimal() and len(part) < 9 and int(part) >= 1):
            raise ValueError(f"Expected whole numbers of features, such as 5, 10, 20, got {clean_text(part)[:60]!r}.")
    return sorted({int(part) for part in parts})


def check_range(what: str, value: int, low: int, high: int) -> int:
    """Return a whole number that lies between two others."""
    if not low <= value <= high:
        raise ValueError(f"Expected {what} to be from {low:,} to {high:,}, got {value}.")
    return value


# The same as a configuration file, and as a person would type it


def to_toml(options: Mapping[str, Any]) -> str:
    """Return options as TOML: texts, numbers, true or false, lists of texts and tables of texts."""
    lines = [f"{_as_toml(key)} = {_as_toml(value)}" for key, value in options.items() if value is not None]
    return "\n".join(lines) + "\n"


def _as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_as_toml(key)} = {_as_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)


def show_command(options: Mapping[str, Any], data: str) -> str:
    """Return the command of a study as it would be typed: ``--target=VALUE``, one for each of several values."""
    arguments = []
    for key, value in options.items():
        option = f"--{key.replace('_', '-')}"
        if isinstance(value, bool):
            arguments += [option] * value
            continue
        values = value if isinstance(value, (tuple, list)) else () if value in (None, "") else (value,)
        arguments += [f"{option}={text}" for text in values]
    return shlex.join(["holdfast", "study", *map(clean_text, arguments), "--", clean_text(data)])


# From data and a plan to a command


LONG_SECONDS, LARGE_BYTES = 3600, 1000 * MEGABYTE
"""Seconds and bytes from which a study counts as long or large."""
MAX_REMEMBERED = 200


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
    reading: tables.TableQuery = tables.AS_FOUND


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
    sentence : str
        Fits, time on the cores that the plan asks for, and disk space.
    warnings : tuple of str
        What cannot be fitted, takes long, is large, or does not fit on the disk.
    command : str
        The same study on the command line.
    """

    sentence: str
    warnings: tuple[str, ...] = ()
    command: str


@dataclass(frozen=True, kw_only=True)
class Command:
    """A study as ``holdfast study`` takes it.

    Attributes
    ----------
    facts : Facts
        What it is about.
    config : str
        Its configuration file: the data, how to read them, and the plan.
    shown : str
        The command as its owner would type it, with the names of files as they were before they were uploaded.
    """

    facts: tables.Facts
    config: str
    shown: str


async def make_command(site: "Site", request: StudyRequest) -> Command:
    """Return the command of a study; what is wrong with it is a sentence."""
    choice = request.data
    if bool(choice.upload) == bool(choice.known):
        raise ValueError("Expected an upload or the name of a known data set, and not both; choose the data again.")
    if choice.known:
        facts, reading, named, data = tables.known_facts(choice.known), {}, {}, choice.known
    else:
        upload = tables.find_table(site, choice.upload)
        facts = tables.read_facts(await tables.inspect(site, upload, choice.reading))
        reading, data = tables.file_options(site, choice.reading), str(site.uploads.path(upload))
        keys = {name: getattr(choice.reading, name) for name in tables.OTHER_FILES}
        named = {**reading, **{name: tables.find_table(site, key).name for name, key in keys.items() if key}}
    plan = plan_options(request.plan, available_parts(facts.task, facts.n_classes))
    return Command(
        facts=facts,
        config=to_toml({**reading, **plan, "data": data}),
        shown=show_command({**named, **plan}, facts.name),
    )


# Costs


_costs: OrderedDict[str, int] = OrderedDict()
_lock = threading.Lock()


async def estimate_cost(site: "Site", request: StudyRequest) -> Cost:
    """Return what a study will cost, by a trial of the very command that would run it."""
    command = await make_command(site, request)
    file = site.folder.private / f"cost-{secrets.token_hex(8)}.toml"
    try:
        write_private(file, command.config)
        arguments = ["study", "--dry-run", "--json", "--quiet", f"--config={file}"]
        ran = await site.run_task("run_command", {"arguments": arguments, "seconds": site.limits.seconds})
    finally:
        file.unlink(missing_ok=True)
    if ran.get("late"):
        late = f"Two fits of each selector take longer than {format_duration(site.limits.seconds)}: this will be long."
        return Cost(sentence=late, warnings=(late,), command=command.shown)

    def explain(error: str) -> str:
        """Return the last line that the command printed, without paths."""
        return site.folder.shown(error.removeprefix("holdfast: ")) or "The study could not be tried; change the plan."

    if ran["code"] != 0:
        raise TaskError(explain(ran["error"]))
    trial = json.loads(ran["printed"])
    failures: dict[str, str] = trial["failures"]
    if failures and len(failures) == trial["candidates"]:
        first = explain(next(iter(failures.values())))
        raise TaskError(f"No selector could be fitted, so that there is nothing to start: {first}")
    again, size, cores = trial["replicability"], int(trial["bytes"]), request.plan.cores
    seconds = (trial["seconds"] + again["seconds"]) / cores
    with _lock:
        _costs[command.config] = size
        while len(_costs) > MAX_REMEMBERED:
            _costs.popitem(last=False)
    halves = f", and {again['fits']:,} on halves of the rows" if again["fits"] else ""
    return Cost(
        sentence=f"{trial['fits']:,} fits: {trial['candidates']:,} candidates on {trial['splits']:,} resamples{halves}."
        f" About {format_duration(max(seconds, 1))} on {cores} {'core' if cores == 1 else 'cores'}, and "
        f"{max(size / MEGABYTE, 0.1):,.1f} MB on disk, with {trial['memory'] / 1e9:,.1f} GB of memory in each process.",
        warnings=tuple(_list_warnings(site, {name: explain(error) for name, error in failures.items()}, seconds, size)),
        command=command.shown,
    )


def _list_warnings(site: "Site", failures: Mapping[str, str], seconds: float, size: int) -> Iterator[str]:
    for error in dict.fromkeys(failures.values()):
        names = [name for name in failures if failures[name] == error]
        yield f"{', '.join(names[:3])}{', …' if len(names) > 3 else ''} could not be fitted: {error}"
    if seconds > LONG_SECONDS:
        yield (
            f"This will take about {format_duration(seconds)}. Fewer selectors or resamples take less; a study can be "
            "stopped and resumed at any time."
        )
    free = shutil.disk_usage(site.folder.path).free - SPARE
    if size > free:
        yield f"There is not enough room on the disk: {max(free, 0) / MEGABYTE:,.0f} MB are free."
    elif size > LARGE_BYTES:
        yield f"This will take {size / MEGABYTE:,.0f} MB of the {free / MEGABYTE:,.0f} MB free on the disk."


# Starting


async def start(site: "Site", request: StudyRequest) -> StudyState:
    """Put a study into the queue, under a new name."""
    if request.name.strip():
        site.folder.check_new_name(request.name)
    command = await make_command(site, request)
    site.folder.check_room(_costs.get(command.config, 0))

    def submit() -> StudyState:
        with _lock:
            name = request.name.strip()
            study = site.folder.check_new_name(name) if name else site.folder.new_name(command.facts.name)
            return site.launcher.submit_study(study, command.config)

    return await anyio.to_thread.run_sync(submit, limiter=site.threads)


def default_cores() -> int:
    """The default number of cores: all but one."""
    return max((os.cpu_count() or 1) - 1, 1)


# Adding to a study


MAX_ADDED = 100_000
IN_PYTHON = (
    "This study was begun in Python, where it can be continued too: run it there with more resamples or selectors."
)
NO_DATA = "The table of this study is no longer where it was, so nothing can be added to it; was the upload removed?"
FIXED = "The resamples of this study are given, so that there are no more of them."


@dataclass(frozen=True, kw_only=True)
class Growth:
    """What can be added to a study.

    Attributes
    ----------
    command : mapping
        The options that it was begun with.
    offers : FormChoices
        Everything that serves its data.
    perturbation : str
        Name of the way its resamples are made.
    grows : str
        Parameter of that, which is raised for more resamples; empty if there is none.
    number : int
        Its value now.
    """

    command: Mapping[str, Any]
    offers: FormChoices
    perturbation: str
    grows: str
    number: int

    @property
    def selectors(self) -> list[FormPart]:
        """Selectors that the study does not have yet."""
        texts = self.command["select"]
        present = {text.partition(":")[0].replace("-", "_") for text in _texts(texts)}
        return [offer for offer in self.offers.selectors if offer.name.replace("-", "_") not in present]

    @property
    def sizes(self) -> str:
        """Numbers of features that the selectors of the study are cut to, as they would be typed."""
        sizes = [match[1] for text in _texts(self.command["select"]) if (match := re.search(r"\bsizes=([\d|]+)", text))]
        return sizes[0].replace("|", ", ") if sizes else ""


def read_growth(site: Site, study: str) -> Growth:
    """Return what can be added to a study; raise with the reason if nothing can."""
    site.launcher.state(study)
    try:
        meta = read_meta(site.folder.store_of(study))
    except (StoreError, OSError) as error:
        raise RefusedError(409, site.folder.shown(str(error))) from None
    if meta["command"] is None:
        raise RefusedError(409, IN_PYTHON)
    try:
        command = {**DEFAULTS, **check_options(meta["command"], study)}
    except ValueError:
        raise RefusedError(409, "The command of this study cannot be read; run holdfast study again.") from None
    for key in ("data", *tables.OTHER_FILES):
        if command.get(key) and command[key] not in available() and not Path(command[key]).is_file():
            raise RefusedError(409, NO_DATA)
    record = meta["data_record"]
    name, parameters = _read_named(command["perturb"])
    offers = available_parts(record["task"], len(record["classes"]))
    known = PERTURBATIONS.get(name)
    grows = "" if known is None else known.grows or ""
    parts = {part.name: part for part in offers.perturbations}
    default = parts[name].parameter(grows) if name in parts else None
    named = parameters.get(grows, "")
    if command.get("until") is not None and grows == "n_splits":
        number = meta["n_splits"]
    elif named.isdecimal():
        number = int(named)
    else:
        number = int(command.get("resamples") or (0 if default is None else default.default or 0))
    return Growth(command=command, offers=offers, perturbation=name, grows=grows, number=number)


@dataclass(frozen=True, kw_only=True)
class ExtendRequest:
    """What is to be added to a study.

    Attributes
    ----------
    resamples : int
        How many resamples (pairs, or repetitions of folds) to add.
    selectors : tuple of Part
        Selectors to add; they are fitted to all resamples.
    sizes : str
        Numbers of features that these select, such as ``5, 10, 20``; empty if each has its default.
    cores : int
        Number of processes.
    """

    resamples: int = 0
    selectors: tuple[Part, ...] = ()
    sizes: str = ""
    cores: int = 1


def grow(site: Site, study: str, request: ExtendRequest) -> StudyState:
    """Put a study into the queue again, with more resamples or selectors; what it has stays."""
    growth = read_growth(site, study)
    if (state := site.launcher.state(study)).active:
        raise RefusedError(409, f"The study {study} is {state.state} already; wait for it, or stop it first.")
    resamples = check_range("the number of resamples to add", request.resamples, 0, MAX_ADDED)
    if not resamples and not request.selectors:
        raise ValueError("Expected a number of resamples to add, or selectors, got neither.")
    sizes, cores = read_sizes(request.sizes), check_cores(request.cores)
    texts = [selector_text(part, growth.offers, sizes) for part in request.selectors]
    command = {**growth.command, "until": None, "cap": None, "jobs": cores}
    if resamples and not growth.grows:
        raise RefusedError(409, FIXED)
    if resamples:
        _, parameters = _read_named(command["perturb"])
        raised = {**parameters, growth.grows: str(growth.number + resamples)}
        values = ",".join(f"{key}={value}" for key, value in raised.items())
        command |= {"perturb": f"{growth.perturbation}:{values}", "resamples": None}
    before = command["select"]
    if isinstance(before, dict):  # under their names
        named = {text if text.partition(":")[0] in before else text.partition(":")[0]: text for text in texts}
        command["select"] = {**before, **named}
    else:
        if repeated := [text for text in texts if text in before]:
            raise ValueError(f"The study has {repeated[0].partition(':')[0]} with these values already.")
        command["select"] = [*before, *texts]
    return site.launcher.submit_study(study, to_toml(command))


def _texts(select: Any) -> list[str]:
    return list(select.values() if isinstance(select, dict) else select)


def _read_named(text: str) -> tuple[str, dict[str, str]]:
    """Read ``name:parameter=value,…`` without judging the values."""
    name, _, rest = text.partition(":")
    pairs = (part.partition("=") for part in rest.split(",") if part)
    return name.strip(), {key.strip(): value.strip() for key, _, value in pairs}
