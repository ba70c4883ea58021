"""Adding resamples and selectors to a study, through the command that its store keeps.

A store may come from anywhere, so what it names is written into a configuration file, from which ``holdfast study``
imports classes of holdfast and scikit-learn only; what the page adds is checked like a new plan.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.datasets.real import available
from holdfast.resampling import PERTURBATIONS
from holdfast.study.store import StoreError, read_meta
from holdfast.web.folder import write_private
from holdfast.web.guard import RefusedError
from holdfast.web.launcher import StudyState
from holdfast.web.planning.offers import Offer, Offers, make_offers
from holdfast.web.planning.plans import Part, check_range, jobs_argument, read_sizes, selector_text
from holdfast.web.site import Site

MOST_ADDED = 100_000
IN_PYTHON = (
    "This study was begun in Python, where it can be continued too: run it there with more resamples or selectors."
)
NO_DATA = "The table of this study is no longer where it was, so nothing can be added to it; was the upload removed?"
FIXED = "The resamples of this study are given, so that there are no more of them."
TYPES = {"select": (list, dict), "perturb": (str,), "resamples": (int,), "data": (str,)}


@dataclass(frozen=True, kw_only=True)
class Growth:
    """What can be added to a study.

    Attributes
    ----------
    command : mapping
        The options that it was begun with.
    offers : Offers
        Everything that serves its data.
    perturbation : str
        Name of the way its resamples are made.
    grows : str
        Parameter of that, which is raised for more resamples; empty if there is none.
    number : int
        Its value now.
    """

    command: Mapping[str, Any]
    offers: Offers
    perturbation: str
    grows: str
    number: int

    @property
    def selectors(self) -> list[Offer]:
        """Selectors that the study does not have yet."""
        texts = self.command["select"]
        present = {text.partition(":")[0].replace("-", "_") for text in _texts(texts)}
        return [offer for offer in self.offers.selectors if offer.name.replace("-", "_") not in present]

    @property
    def sizes(self) -> str:
        """Numbers of features that the selectors of the study are cut to, as they would be typed."""
        found = [match[1] for text in _texts(self.command["select"]) if (match := re.search(r"\bsizes=([\d|]+)", text))]
        return found[0].replace("|", ", ") if found else ""


def read_growth(site: Site, study: str) -> Growth:
    """Return what can be added to a study; else say why nothing can."""
    site.launcher.state(study)
    try:
        meta = read_meta(site.folder.store_of(study))
    except (StoreError, OSError) as error:
        raise RefusedError(409, site.folder.shown(str(error))) from None
    command = meta["command"]
    if command is None:
        raise RefusedError(409, IN_PYTHON)
    if any(not isinstance(command[key], kinds) for key, kinds in TYPES.items() if command.get(key) is not None):
        raise RefusedError(409, "The command of this study cannot be read; run holdfast study again.")
    for key in ("data", "target_file"):
        if command.get(key) and command[key] not in available() and not Path(command[key]).is_file():
            raise RefusedError(409, NO_DATA)
    record = meta["data_record"]
    name, parameters = _read_named(command.get("perturb") or "bootstrap")
    made = PERTURBATIONS.get(name)
    grows = "" if made is None else made.grows or ""
    offers = make_offers(record["task"], len(record["classes"]))
    return Growth(
        command={"select": [], **command}, offers=offers, perturbation=name, grows=grows,
        number=_number(meta["n_splits"], command, parameters, grows, offers, name),
    )  # fmt: skip


def _number(n_splits: int, command: Mapping[str, Any], parameters: Mapping[str, str], grows: str, offers: Offers,
            name: str) -> int:  # fmt: skip
    """Number of resamples, pairs or repetitions that a study asks for now."""
    if command.get("until") is not None and grows == "n_splits":
        return n_splits
    said = parameters.get(grows)
    if said is not None and said.isdecimal():
        return int(said)
    if command.get("resamples") is not None:
        return int(command["resamples"])
    defaults = {parameter.name: parameter.default for offer in offers.perturbations if offer.name == name
                for parameter in offer.parameters}  # fmt: skip
    return int(defaults.get(grows, "0") or 0)


def grow(site: Site, study: str, *, resamples: int, selectors: tuple[Part, ...], sizes: str, cores: int) -> StudyState:
    """Put a study into the queue again, with more resamples or selectors; what it has stays."""
    growth = read_growth(site, study)
    if (state := site.launcher.state(study)).active:
        raise RefusedError(409, f"The study {study} is {state.state} already; wait for it, or stop it first.")
    check_range("the number of resamples to add", resamples, 0, MOST_ADDED)
    if not resamples and not selectors:
        raise ValueError("Expected a number of resamples to add, or selectors, got neither.")
    cut = read_sizes(sizes)
    texts = [selector_text(part, growth.offers, cut) for part in selectors]
    command = dict(growth.command)
    if resamples:
        command |= _with_more(growth, resamples)
    command["select"] = _with_selectors(command["select"], texts)
    jobs = jobs_argument(cores)
    file = site.folder.queue / f"{study}.toml"
    write_private(file, to_toml({key: value for key, value in command.items() if key not in ("until", "cap")}))
    store = f"--store={site.folder.store_of(study)}"
    return site.launcher.submit(study, ["study", "--quiet", f"--config={file}", jobs, store])


def _with_more(growth: Growth, resamples: int) -> dict[str, Any]:
    """The options that ask for more resamples."""
    if not growth.grows:
        raise RefusedError(409, FIXED)
    _, parameters = _read_named(growth.command.get("perturb") or "bootstrap")
    raised = {**parameters, growth.grows: str(growth.number + resamples)}
    values = ",".join(f"{key}={value}" for key, value in raised.items())
    return {"perturb": f"{growth.perturbation}:{values}", "resamples": None}


def _with_selectors(before: Any, texts: list[str]) -> Any:
    """The selectors of a study with more of them; under their names if those of the study have names."""
    if not isinstance(before, dict):
        repeated = [text for text in texts if text in before]
        if repeated:
            raise ValueError(f"The study has {repeated[0].partition(':')[0]} with these values already.")
        return [*before, *texts]
    named = {text if text.partition(":")[0] in before else text.partition(":")[0]: text for text in texts}
    return {**before, **named}


def _texts(select: Any) -> list[str]:
    return [text for text in (select.values() if isinstance(select, dict) else select) if isinstance(text, str)]


def _read_named(text: str) -> tuple[str, dict[str, str]]:
    """Read ``name:parameter=value,…`` without judging the values."""
    name, _, rest = text.partition(":")
    pairs = (part.partition("=") for part in rest.split(",") if part)
    return name.strip(), {key.strip(): value.strip() for key, _, value in pairs}


# Configuration files


def to_toml(options: Mapping[str, Any]) -> str:
    """Return options as TOML: texts, numbers, true or false, lists of texts and tables of texts."""
    lines = [f"{_as_toml(key)} = {_as_toml(value)}" for key, value in options.items() if value is not None]
    return "\n".join(lines) + "\n"


def _as_toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_as_toml(key)} = {_as_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_as_toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    return json.dumps(value)
