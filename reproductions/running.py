"""Experiments one after the other, for one seed or several: finished ones are stored, and pages are written at once."""

import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path

from holdfast.datasets.real import available
from holdfast.kernels.libraries import check_device
from reproductions.experiments import Experiment, find_experiments, load_experiments
from reproductions.pages import write_pages
from reproductions.stored import StoredOutcome, combine_seeds, read_outcome, store_outcome
from reproductions.workbench import Workbench

Failures = dict[str, str]


def reproduce(
    names: Iterable[str],
    out: str | Path,
    *,
    stores: str | Path | None = None,
    seeds: Sequence[int] = (0,),
    quick: bool = False,
    large: bool = False,
    again: bool = False,
    n_jobs: int = 1,
    device: str = "cpu",
    report: Callable[[str], None] = print,
) -> tuple[list[StoredOutcome], Failures]:
    """Repeat experiments of the papers, and write a page per paper.

    What is finished is stored: the same call continues where it was stopped. An experiment that fails does not stop the
    others.

    Parameters
    ----------
    names : iterable of str
        Names of experiments or of papers, or ``"all"``; :data:`EXPERIMENTS` lists them.
    out : path
        Folder for the pages and their pictures; it is made if missing.
    stores : path, optional
        Folder for studies, finished outcomes and the log; ``out/stores`` by default.
    seeds : sequence of int
        Every experiment is done with each of them; claims on the pages have the range over all.
    quick : bool
        Whether to do a small part of each only, to see that everything runs; writes no pages.
    large : bool
        Whether to do the largest simulations too.
    again : bool
        Whether to do finished experiments again; their studies are reused.
    n_jobs : int
        How many processes studies may use.
    device : {"cpu", "cuda"}
        What eliminations of features run on.
    report : callable
        What to do with lines about progress, which are also appended to ``log.txt`` in the folder of stores.

    Returns
    -------
    list of StoredOutcome, dict of str
        The outcomes, one for each experiment and seed, and of those that failed or were skipped the reason, by name.

    Raises
    ------
    ValueError
        If there is no experiment or paper of such a name, or the pages would go into a file.

    Examples
    --------
    >>> from reproductions import reproduce
    >>> outcomes, failures = reproduce(["nogueira2016"], "reproductions", seeds=[0, 1])  # doctest: +SKIP
    """
    if device != "cpu":
        check_device(device)
    chosen = find_experiments(list(names))
    pages, folder = Path(out), find_folder(out, stores, quick=quick, large=large)
    if pages.exists() and not pages.is_dir():
        raise ValueError(f"Expected a folder for the pages, got the file {pages}; give another with --out.")
    pages.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)

    def log(line: str) -> None:
        with (folder / "log.txt").open("a", encoding="utf-8") as file:
            file.write(f"{datetime.now():%Y-%m-%d %H:%M:%S} {line}\n")
        report(line)

    outcomes, failures = [], Failures()
    for seed in seeds:
        for position, experiment in enumerate(chosen, start=1):
            log(f"seed {seed}, {position} of {len(chosen)}: {experiment.name} ({experiment.shows})")
            bench = Workbench(
                folder=folder / f"seed-{seed}" / experiment.name, seed=seed, quick=quick, large=large, n_jobs=n_jobs,
                device=device, report=lambda line: log(f"  {line}"),
            )  # fmt: skip
            outcome = None if again else read_outcome(bench.folder)
            if outcome is None:
                outcome = _attempt(experiment, bench, failures)
            if outcome is None:
                log(f"  {failures[experiment.name]}")
                continue
            outcomes.append(outcome)
            if not quick:
                write_pages(read_combined(folder, seeds), folder / f"seed-{seeds[0]}", pages)
    return outcomes, failures


def find_folder(out: str | Path, stores: str | Path | None, *, quick: bool = False, large: bool = False) -> Path:
    """Return where studies and outcomes are stored."""
    folder = Path(out) / "stores" if stores is None else Path(stores)
    return folder / ("quick" if quick else "large" if large else "full")


def read_combined(folder: Path, seeds: Sequence[int]) -> list[StoredOutcome]:
    """Return the stored outcome of every experiment, combined over those seeds for which it is finished."""
    by_name = {name: [read_outcome(folder / f"seed-{seed}" / name) for seed in seeds] for name in load_experiments()}
    finished = {name: [item for item in outcomes if item is not None] for name, outcomes in by_name.items()}
    return [combine_seeds(outcomes) for outcomes in finished.values() if outcomes]


def find_seeds(folder: Path) -> list[int]:
    """Return the seeds for which outcomes are stored."""
    return sorted(int(path.name.removeprefix("seed-")) for path in folder.glob("seed-*"))


def _attempt(experiment: Experiment, bench: Workbench, failures: Failures) -> StoredOutcome | None:
    """Do an experiment and store its outcome; None if it could not be done, with the reason in ``failures``."""
    here = set(available())
    left_out = tuple(name for name in experiment.data if name not in here)
    if experiment.data and len(left_out) == len(experiment.data):
        failures[experiment.name] = (
            f"skipped: it needs {', '.join(left_out)}, not on this machine; HOLDFAST_DATA names the folder of data sets"
        )
        return None
    began = time.monotonic()
    try:
        outcome = experiment.run(bench)
    except Exception as error:
        bench.report(traceback.format_exc())
        failures[experiment.name] = f"failed: {type(error).__name__}: {error}"
        return None
    seconds = time.monotonic() - began
    bench.report(f"done in {seconds:.0f} s")
    return store_outcome(outcome, experiment, bench, seconds=seconds, left_out=left_out)
