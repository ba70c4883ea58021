"""Experiments one after the other: finished parts are stored, and pages are written at once."""

import importlib
import time
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

from holdfast.datasets.real import available
from holdfast.kernels.libraries import check_device
from reproductions.experiments import Experiment, find_experiments, load_experiments
from reproductions.kept import KeptOutcome, find_kept, keep
from reproductions.pages import write_pages
from reproductions.workbench import Workbench

Failures = dict[str, str]


def default_device() -> str:
    """The GPU where torch can use one, else the processor."""
    try:
        torch = importlib.import_module("torch")
    except ImportError:
        return "cpu"
    return "cuda" if torch.cuda.is_available() else "cpu"


def reproduce(
    names: Iterable[str],
    out: str | Path,
    *,
    stores: str | Path | None = None,
    quick: bool = False,
    again: bool = False,
    n_jobs: int = 1,
    device: str | None = None,
    say: Callable[[str], None] = print,
) -> tuple[list[KeptOutcome], Failures]:
    """Do experiments of the papers again, and write a page per paper.

    What is finished is kept: the same call goes on where it was stopped. An experiment that fails does not stop the
    others.

    Parameters
    ----------
    names : iterable of str
        Names of experiments or of papers, or ``"all"``; :data:`EXPERIMENTS` lists them.
    out : path
        Folder for the pages and their pictures; it is made if missing.
    stores : path, optional
        Folder for studies and finished outcomes; ``out/stores`` by default.
    quick : bool
        Whether to do a small part of each only, within seconds.
    again : bool
        Whether to do finished experiments again; their studies are reused.
    n_jobs : int
        How many processes studies may use.
    device : {"cpu", "cuda"}, optional
        What eliminations of features run on; a GPU by default, where there is one.
    say : callable
        What to do with lines about progress.

    Returns
    -------
    list of KeptOutcome, dict of str
        What the experiments found, and of those that failed or were skipped the reason, by name.

    Raises
    ------
    ValueError
        If there is no experiment or paper of such a name, or the pages would go into a file.

    Examples
    --------
    >>> from reproductions import reproduce
    >>> found, failed = reproduce(["nogueira2016"], "reproductions", quick=True)  # doctest: +SKIP
    """
    device = device or default_device()
    if device != "cpu":
        check_device(device)
    chosen = find_experiments(list(names))
    pages = Path(out)
    folder = (pages / "stores" if stores is None else Path(stores)) / ("quick" if quick else "full")
    if pages.exists() and not pages.is_dir():
        raise ValueError(f"Expected a folder for the pages, got the file {pages}; give another with --out.")
    pages.mkdir(parents=True, exist_ok=True)
    found, failed = [], Failures()
    for place, experiment in enumerate(chosen, start=1):
        say(f"{place} of {len(chosen)}: {experiment.name} ({experiment.shows})")
        own = folder / experiment.name
        bench = Workbench(folder=own, quick=quick, n_jobs=n_jobs, device=device, say=lambda line: say(f"  {line}"))
        outcome = None if again else find_kept(own, quick=quick)
        if outcome is None:
            outcome = _attempt(experiment, bench, failed)
        if outcome is None:
            say(f"  {failed[experiment.name]}")
            continue
        found.append(outcome)
        write_pages(_all_kept(folder, quick=quick), folder, pages)
    return found, failed


def _attempt(experiment: Experiment, bench: Workbench, failed: Failures) -> KeptOutcome | None:
    """Do an experiment and keep what it found; None if it could not be done, with the reason in ``failed``."""
    here = set(available())
    left_out = tuple(name for name in experiment.data if name not in here)
    if experiment.data and len(left_out) == len(experiment.data):
        failed[experiment.name] = (
            f"skipped: it needs {', '.join(left_out)}, not on this machine; HOLDFAST_DATA names the folder of data sets"
        )
        return None
    began = time.monotonic()
    try:
        outcome = experiment.run(bench)
    except Exception as error:
        bench.say(traceback.format_exc())
        failed[experiment.name] = f"failed: {type(error).__name__}: {error}"
        return None
    seconds = time.monotonic() - began
    return keep(outcome, experiment, bench.folder, quick=bench.quick, seconds=seconds, left_out=left_out)


def _all_kept(folder: Path, *, quick: bool) -> list[KeptOutcome]:
    outcomes = [find_kept(folder / name, quick=quick) for name in load_experiments()]
    return [outcome for outcome in outcomes if outcome is not None]
