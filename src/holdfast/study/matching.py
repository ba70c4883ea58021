"""Whether a store holds the study that is to be run, and how far it has come; what differs, in words."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from holdfast.study.data import prepare_data
from holdfast.study.plan import describe, fingerprint, list_differences
from holdfast.study.running import StudyRun
from holdfast.study.store import (
    LockedStoreError,
    OtherStudyError,
    StoredPlan,
    StoreError,
    UnwritableStoreError,
    read_plan,
)

if TYPE_CHECKING:
    from holdfast.io import Table
    from holdfast.result import StudyResult
    from holdfast.study.families import Family
    from holdfast.study.study import Study
    from holdfast.study.tables import StudyTables

PARTS = {
    "data": "the data",
    "perturbation": "how resamples are made",
    "random_state": "the seed",
    "estimator": "the model",
    "model_fits": "by whom models are fitted",
    "device": "the device",
    "scoring": "the scores",
    "keep": "the covariates",
    "task": "the task",
    "keep_predictions": "whether predictions are kept",
}
"""The parts of a plan, in words."""
DATA = {
    "features": "values",
    "target": "target",
    "groups": "groups",
    "covariates": "covariates",
    "names": "names of features",
}


class Match(NamedTuple):
    """How a stored study compares with one that is to be run.

    Attributes
    ----------
    differences : list of str
        What differs, in words; empty if the store holds this study, or the beginning of it.
    done : int
        Fits that the store holds.
    total : int
        Fits of the study that is to be run, on as many splits as the store has at least.
    """

    differences: list[str]
    done: int
    total: int


def match_store(study: "Study", X: Any, y: Any, groups: Any, store: Path) -> Match | None:
    """Compare a study that is to be run with the one in a store; None if the store holds none yet.

    The store holds this study if plan and selectors are the same and it has no candidate that this study lacks.
    """
    stored = read_plan(store)
    if stored is None:
        return None
    run = StudyRun(study, prepare_data(X, y, groups, study.covariates, study.task, study.estimator), True)
    plan = json.loads(json.dumps(run.plan()))
    candidates = sum(len(family.names) for family in run.families)
    total = candidates * max(stored.n_splits, run.perturbation.get_n_splits())
    differences = [*describe_differences(stored.plan, plan), *_compare_selectors(stored, run.families)]
    return Match(differences, stored.done, total)


MAX_STORES = 1000
IN_MEMORY = "The study was kept in memory only, as this folder is not writable; --store FILE stores it elsewhere."


def run_in_default_store(
    name: str, study: "Study", data: "Table", run: Callable[[str | None], "StudyResult"], *, fixed_number: bool
) -> tuple["StudyResult", list[str]]:
    """Run a study in ``NAME-study.db``, or the next name that is free or holds this study.

    Also return, in sentences, which files were left alone and why, and what the store held already. Whoever begins to
    write a store first has it: a store of another study, or one that another process writes, is left alone. Where every
    fit failed, nothing is stored.

    Parameters
    ----------
    name : str
        Beginning of the names of the stores.
    study : Study
        The study.
    data : Table
        Its data.
    run : callable
        Runs the study in the store at a path, or in memory for None, where nothing can be written.
    fixed_number : bool
        Whether it is known how many fits there will be.
    """
    others: dict[str, str] = {}
    for number in range(1, MAX_STORES + 1):
        path, match = Path(f"{name}-study{'' if number == 1 else f'-{number}'}.db"), None
        try:
            if os.path.lexists(path):
                match = match_store(study, data.X, data.y, data.groups, path)
        except StoreError:
            others[str(path)] = "is no store of a study that can be used"
            continue
        if match is not None and match.differences:
            others[str(path)] = f"holds another study, which differs in {'; '.join(match.differences)}"
            continue
        try:
            result = run(str(path))
        except UnwritableStoreError:
            return run(None), [IN_MEMORY]
        except (LockedStoreError, OtherStudyError) as error:
            if match is not None and isinstance(error, LockedStoreError):
                raise  # this very study is running
            others[str(path)] = "is being written by another process"
            continue
        if not result.finished:
            path.unlink(missing_ok=True)  # the same command shall try again
        lines = [f"{other} {reason}." for other, reason in others.items()]
        if len(lines) > 2:
            lines = [f"{len(lines) - 1} files from {next(iter(others))} on were left alone.", lines[-1]]
        if match is not None:
            of_all = f" of {match.total:,}" if fixed_number else ""
            lines.append(f"Continued {path}: {match.done:,}{of_all} fits were there.")
        return result, lines
    raise ValueError(f"Expected room for a study among {name}-study.db and {MAX_STORES} more, got none; give --store.")


def check_same_data(result: "StudyTables", table: Any, source: str) -> None:
    """Raise if a table does not hold the data of a study; ``source`` says where the table comes from."""
    data = prepare_data(table.X, table.y, table.groups, result.plan["keep"], result.task, None)
    given, stored = fingerprint(data.X, data.y, data.groups, data.covariates, data.names), result.plan["data"]
    differs = [key for key in given if given[key] != stored.get(key)]
    if differs:
        raise ValueError(
            f"Expected the data of the study in {source}, got others ({', '.join(differs)} differ); give the file that "
            "the study was run on."
        )


def describe_differences(stored: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say in words which parts of two plans differ, the stored one first."""
    keys = [key for key in dict.fromkeys([*stored, *new]) if stored.get(key) != new.get(key)]
    if "estimator" in keys and "model_fits" in keys:
        keys.remove("model_fits")  # it follows from the model
    return [f"{PARTS.get(key, key)} ({_describe_part(key, stored.get(key), new.get(key))})" for key in keys]


def _describe_part(key: str, before: Any, now: Any) -> str:
    if key == "data":
        words = [f"{data['n_samples']:,} × {data['n_features']:,}" for data in (before, now)]
        if words[0] == words[1]:
            return f"other {' and '.join(name for part, name in DATA.items() if before[part] != now[part])}"
    else:
        words = [_shorten(list(value) if key == "scoring" else value) for value in (before, now)]
    if words[0] != words[1]:
        return f"{words[0]}, now {words[1]}"
    changes = [change.partition(" was ") for change in list_differences(_steps(before), _steps(now))]
    return "; ".join(f"{path.rpartition('.')[2]} was {rest}" for path, _, rest in changes)  # without a path of classes


def _shorten(value: Any) -> str:
    """A part of a plan in a word or two: a class without its module, names without their values."""
    if isinstance(value, Mapping):
        if "perturbation" in value:
            return str(value["perturbation"])
        return ", ".join(str(name).rpartition(".")[2] for name in list(_steps(value))[-1:]) or "none"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "none"
    return "none" if value is None else str(value)


def _steps(value: Any) -> dict[str, Any]:
    """An estimator as a plan describes it, or the steps of a pipeline."""
    if not isinstance(value, Mapping):
        return {"": value}
    for parameters in value.values():
        if isinstance(parameters, Mapping) and "steps" in parameters:
            return {path: part for _, step in parameters["steps"] for path, part in _steps(step).items()}
    return dict(value)


def _compare_selectors(stored: StoredPlan, families: Sequence["Family"]) -> list[str]:
    """Say which selectors of the store this study lacks, or has with other settings."""
    asked = {family.name: family for family in families}
    differences = []
    for name, selector in stored.selectors.items():
        if name not in asked:
            differences.append(f"the selectors ({name} is there and not asked for now)")
            continue
        now = json.loads(json.dumps(describe(asked[name].selector), sort_keys=True))
        before = json.loads(selector)
        lacking = [candidate for candidate in stored.candidates.get(name, []) if candidate not in asked[name].names]
        if before != now:
            differences.append(f"the selector {name} ({_describe_part('', before, now)})")
        elif lacking:
            differences.append(f"the selectors ({', '.join(lacking)} is there and not asked for now)")
    return differences
