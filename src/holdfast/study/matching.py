"""Whether two studies are the same, and what differs, in words.

One that is to be run and one in a store, with how far that has come; one in a store and the same, fitted again; two
that differ in their seeds alone, to be put together.
"""

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from holdfast.checks import check_whole
from holdfast.study.data import prepare_data, prepare_for, take_data
from holdfast.study.plan import describe, fingerprint, list_differences, plain_selector, versions
from holdfast.study.running import Report, StudyRun, extend, make_reporter
from holdfast.study.store import (
    LockedStoreError,
    OtherStudyError,
    Store,
    StoredPlan,
    StoreError,
    UnwritableStoreError,
    copy_store,
    open_to_write,
    read_plan,
)
from holdfast.text import format_count, join_first

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


def match_store(study: "Study", data: "Table", store: Path) -> Match | None:
    """Compare a study that is to be run with the one in a store; None if the store holds none yet.

    The store holds this study if plan and selectors are the same and it has no candidate that this study lacks.
    """
    stored = read_plan(store)
    if stored is None:
        return None
    if study.adjust is None:
        study = replace(study, adjust=stored.plan.get("adjust", False))
    of_rows: dict[str, Any] = {"sample_weight": data.weights, "sites": data.sites}
    run = StudyRun(study, prepare_for(study, data.X, data.y, data.groups, **of_rows), True)
    candidates = sum(len(family.names) for family in run.families)
    total = candidates * max(stored.n_splits, run.perturbation.get_n_splits())
    return Match(_compare(stored, run), stored.done, total)


def _compare(stored: StoredPlan, run: StudyRun) -> list[str]:
    """Say in words how the study in a store differs from one that is to be run."""
    plan = json.loads(json.dumps(run.plan()))
    plain = partial(plain_selector, task=run.data.task, target=run.data.target.values)
    return [*describe_differences(stored.plan, plan), *_compare_selectors(stored, run.families, plain)]


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
                match = match_store(study, data, path)
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
    given, stored = fingerprint(data.X, data.y, data.groups, data.covariates, data.columns), result.plan["data"]
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


def _compare_selectors(stored: StoredPlan, families: Sequence["Family"], plain: Callable[[str], str]) -> list[str]:
    """Say which selectors of the store this study lacks, or has with other settings."""
    asked = {family.name: family for family in families}
    differences = []
    for name, selector in stored.selectors.items():
        if name not in asked:
            differences.append(f"the selectors ({name} is there and not asked for now)")
            continue
        now = json.loads(plain(json.dumps(describe(asked[name].selector), sort_keys=True)))
        before = json.loads(plain(selector))
        lacking = [candidate for candidate in stored.candidates.get(name, []) if candidate not in asked[name].names]
        if before != now:
            differences.append(f"the selector {name} ({_describe_part('', before, now)})")
        elif lacking:
            differences.append(f"the selectors ({', '.join(lacking)} is there and not asked for now)")
    return differences


# Fitted again

VOLATILE = ("seconds", "score_seconds", "traceback")
"""Columns of a store that differ from fit to fit."""
WHAT = {
    "splits": "the resample", "orders": "the order of features", "baselines": "scores of guessing",
    "failures": "whether the fit fails", "effects": "effects of features", "kind": "what the selector gives",
    "preference": "the selection", "predictions": "predictions", "scores": "scores",
    "coefficients": "coefficients of the model", "note": "warnings",
}  # fmt: skip
"""What differs, in words, by table or, for outcomes, by column."""


@dataclass(frozen=True, kw_only=True)
class RefitCheck:
    """Whether a stored study and the same study fitted again are equal, bit by bit.

    Attributes
    ----------
    store : Path
        The store.
    splits : tuple of int
        Numbers of the splits that were fitted again; none if the plan or the data differ.
    n_fits : int
        Number of fits that were repeated.
    differences : tuple of str
        What differs in plan, data or results, in words; empty if all is the same.
    versions : tuple of str
        Versions of Python, libraries and machine that have changed since, which need not change a result.

    See Also
    --------
    Study.verify : Makes one.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(hf.selectors.AnovaF(2), hf.Bootstrap(20))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "iris.db"
    ...     _ = study.run(X, y, store=path)
    ...     study.verify(path, X, y).sentence
    '5 fits on 5 splits repeated: all results are the same, to the last bit.'
    """

    store: Path
    splits: tuple[int, ...]
    n_fits: int
    differences: tuple[str, ...]
    versions: tuple[str, ...]

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        since = f" Versions that have changed: {', '.join(self.versions)}." if self.versions else ""
        if not self.splits:
            same = (
                "Plan and data are the same." if self.same else f"The study differs in {'; '.join(self.differences)}."
            )
            return same + since
        again = f"{format_count(self.n_fits, 'fit')} on {format_count(len(self.splits), 'split')} repeated"
        found = (
            "all results are the same, to the last bit" if self.same else f"these differ: {'; '.join(self.differences)}"
        )
        return f"{again}: {found}.{since}"


def verify_study(
    self: "Study",
    store: str | Path,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    n_splits: int = 5,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: bool | Report = False,
) -> RefitCheck:
    """Fit some splits of a stored study again, and compare all that is stored of them, bit by bit.

    The store is only read: what is fitted goes into a temporary copy.

    Parameters
    ----------
    store : path
        The store of this study.
    X, y, groups : array, or X a Table
        The data, as for :meth:`run`.
    n_splits : int
        How many splits to fit again, drawn at random; 0 compares plan and data only.
    random_state : int
        Seed by which they are drawn.
    n_jobs : int, optional
        Processes to use, -1 for all cores.
    progress : bool or callable
        Draw progress on stderr, or hand it to a function.

    Returns
    -------
    RefitCheck
        ``same``, and what ``differences`` there are in plan, data and results.

    Raises
    ------
    StoreError
        If the store holds no study.
    ValueError
        If none of its splits is finished, or an option is wrong.

    See Also
    --------
    StudyResult.pool : Puts studies together that differ in their seeds.
    """
    check_whole("n_splits", n_splits, 0)
    stored, given = read_plan(Path(store)), take_data(X, y, groups)
    if stored is None:
        raise StoreError(f"Expected a study in {store}, got a store that was never begun.")
    study = replace(self, selectors={name: part for name, part in self.selectors.items() if name in stored.selectors})
    task = study.task or (None if given.table is None else given.table.task)
    study = replace(study, adjust=stored.plan.get("adjust", False))
    of_rows: dict[str, Any] = {"sample_weight": given.sample_weight, "sites": given.sites}
    data = prepare_for(study, given.X, given.y, given.groups, task, **of_rows)
    known = [name for names in stored.candidates.values() for name in names]
    run = StudyRun(study, data, bool(stored.plan["keep_predictions"]), unsuitable="record")
    run.only = [name for name in run.candidates if name in known]
    differences, splits, n_fits, changed = _compare(stored, run), list[int](), 0, stored.versions
    if n_splits and not differences:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "copy.db"
            copy_store(store, copy)
            with open_to_write(copy) as opened:
                splits, n_fits, found = _refit(run, opened, n_splits, random_state, n_jobs, make_reporter(progress))
                differences += found
    now = {**versions(), **{name: "none" for name in changed if name not in versions()}}
    others = [f"{name} {before}, now {now[name]}" for name, before in changed.items() if now[name] != before]
    return RefitCheck(
        store=Path(store), splits=tuple(splits), n_fits=n_fits, differences=tuple(differences), versions=tuple(others)
    )


def _refit(
    run: StudyRun, opened: Store, n_splits: int, random_state: int, n_jobs: int | None, report: Report
) -> tuple[list[int], int, list[str]]:
    """Fit some finished splits of a store again; return these, the number of fits, and what differs, in words."""
    ids = opened.ids()
    done = opened.done(max(number for number, _ in ids.values()), opened.n_splits)
    finished = np.flatnonzero(done[[ids[name][0] for name in run.only or ()]].all(axis=0))
    if not finished.size:
        raise ValueError(f"Expected a study with finished splits to fit again in {opened.path}, got none.")
    drawn = np.random.default_rng(random_state).permutation(finished)[:n_splits]
    splits, perturbation = np.sort(drawn).tolist(), extend(run.perturbation, opened)
    before = opened.find_splits(splits)
    opened.forget_splits(splits)
    run.write_splits(opened, perturbation)
    run.fit_missing(opened, n_jobs, None, report, "record", splits)
    after, counts = opened.find_splits(splits), dict[str, set[int]]()
    for table, rows in before.items():
        for key in rows.keys() | after[table].keys():
            one, other = rows.get(key, {}), after[table].get(key, {})
            differing = [name for name in {**one, **other} if name not in VOLATILE and one.get(name) != other.get(name)]
            row = {**other, **one}
            candidate, ordering = row.get("candidate"), row.get("ordering")
            names = [name for name, (number, order) in ids.items() if candidate == number or (ordering or -1) == order]
            whose = join_first(names, 2) or row.get("family")
            for what in dict.fromkeys(WHAT.get(table, WHAT.get(name, name)) for name in differing):
                counts.setdefault(f"{what} of {whose}" if whose else what, set()).add(row["split"])
    found = [f"{what} on {len(where)} of {len(splits)} splits" for what, where in sorted(counts.items())]
    return splits, len(splits) * len(run.only or ()), found


# Studies of other seeds put together


def pool(self: "StudyResult", other: "StudyResult") -> "StudyResult":
    """Put this study and one of another seed together, as one study of more resamples.

    Parameters
    ----------
    other : StudyResult
        A study of the same data and selectors, with the same plan but for the seed and the number of resamples.

    Returns
    -------
    StudyResult
        The resamples of both; labels of the second name its seed.

    Raises
    ------
    ValueError
        If the studies differ in anything else, or share a seed, or if their resamples were not drawn.

    See Also
    --------
    Study.run : With the same store and a larger number of resamples, extends a study of one seed.
    Study.verify : Fits some splits of a stored study again.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> first, second = (hf.Study(hf.selectors.AnovaF(2), random_state=seed).run(X, y) for seed in (0, 1))
    >>> first.pool(second).n_splits
    200
    """
    mine, theirs = self.stored, other.stored
    plans = [{name: value for name, value in study.plan.items() if name != "random_state"} for study in (self, other)]
    differences = describe_differences(*plans)
    differences += [] if self.selectors == other.selectors else ["the selectors"]
    if not differences and not (mine.candidates.equals(theirs.candidates) and mine.orderings.equals(theirs.orderings)):
        differences = ["the candidates, or the order in which they came to the study"]
    if differences:
        raise ValueError(f"Expected studies that differ in their seeds alone, got others: {'; '.join(differences)}.")
    seeds = [study.seeds for study in (self, other)]
    if set(seeds[0]) & set(seeds[1]) or self.perturbation["perturbation"] == "GivenSplits":
        same = "given splits" if self.perturbation["perturbation"] == "GivenSplits" else f"seed {seeds[1][0]} twice"
        raise ValueError(f"Expected studies of different seeds, whose resamples differ, got {same}.")
    first, block = int(mine.splits.index.max()) + 1, int(mine.splits["block"].max()) + 1
    moved = theirs.splits.set_axis(theirs.splits.index + first).rename_axis("split")
    labels = moved["label"] if len(seeds[1]) > 1 else "seed " + str(seeds[1][0]) + ", " + moved["label"]
    moved = moved.assign(label=labels, block=moved["block"] + block)

    def join(name: str) -> pd.DataFrame:
        table = getattr(theirs, name)
        return pd.concat([getattr(mine, name), table.assign(split=table["split"] + first)], ignore_index=True)

    by_split = ("orders", "outcomes", "scores", "baselines", "failures", "effects")
    quantiles = pd.concat([mine.quantiles, theirs.quantiles]).drop_duplicates(["family", "feature"])
    only_one = ("until", "command", "code", "replicability")  # what is true of one of them alone
    pooled = replace(
        mine,
        path=None,
        meta={
            **{name: value for name, value in mine.meta.items() if name not in only_one},
            "seeds": [*seeds[0], *seeds[1]],
        },
        frames={
            **mine.frames,
            "splits": pd.concat([mine.splits, moved]),
            "rows": pd.concat([mine.rows, theirs.rows.set_axis(moved.index)]),
            "quantiles": quantiles.reset_index(drop=True),
            "sessions": pd.concat([mine.sessions, theirs.sessions], ignore_index=True),
            **{name: join(name) for name in by_split},
        },
    )
    return type(self)(pooled)
