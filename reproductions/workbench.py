"""What an experiment is given: how much to do, the seed, data sets, and studies that continue where they stopped."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from holdfast.datasets import real
from holdfast.study import Study, StudyResult

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True, eq=False)
class Workbench:
    """What an experiment is given.

    Attributes
    ----------
    folder : Path
        Where its studies are stored, so that it continues where it was stopped.
    seed : int
        What all random numbers follow from: ``random_state=bench.seed``, ``bench.rng(4)``.
    quick : bool
        Whether to do a small part only, within five seconds.
    large : bool
        Whether to do the largest simulations.
    n_jobs : int
        How many processes studies may use.
    device : {"cpu", "cuda"}
        What eliminations of features run on.
    report : callable
        What to do with a line about progress.
    """

    folder: Path
    seed: int = 0
    quick: bool = False
    large: bool = False
    n_jobs: int = 1
    device: str = "cpu"
    report: Callable[[str], None] = field(default=lambda line: None)

    def choose(self, full: Value, quick: Value, large: Value | None = None) -> Value:
        """Return what this run uses: ``bench.choose(1000, 20)`` resamples.

        Parameters
        ----------
        full, quick : object
            For the full protocol, and for the small part of :attr:`quick`.
        large : object, optional
            For the largest simulations; the same as ``full`` by default.

        Returns
        -------
        object
            One of them.
        """
        if self.quick:
            return quick
        return full if large is None or not self.large else large

    def rng(self, *stream: int) -> np.random.Generator:
        """Return random numbers that follow from the seed and from what they are for.

        Parameters
        ----------
        *stream : int
            Another number for each use within an experiment.

        Returns
        -------
        numpy.random.Generator
            The same for the same seed and stream.
        """
        return np.random.default_rng([*stream, self.seed])

    def available(self, names: Iterable[str]) -> list[str]:
        """Return those of these data sets that are on this machine, and say which are not.

        Parameters
        ----------
        names : iterable of str
            Names of real data sets.

        Returns
        -------
        list of str
            Those that can be loaded.
        """
        names, here = list(names), set(real.available())
        missing = [name for name in names if name not in here]
        if missing:
            self.report(f"not on this machine, skipped: {', '.join(missing)}")
        return [name for name in names if name in here]

    def load(self, name: str) -> real.Dataset:
        """Load a real data set.

        Parameters
        ----------
        name : str
            Its name, one of :meth:`available`.

        Returns
        -------
        Dataset
            Features and target; ``X, y = bench.load(name)``.
        """
        return real.load(name)

    def sharing(self, name: str) -> "Workbench":
        """Return the same workbench with another folder, for studies that several experiments read.

        Parameters
        ----------
        name : str
            Of the folder, which is next to those of experiments.

        Returns
        -------
        Workbench
            A copy.
        """
        return replace(self, folder=self.folder.with_name(name))

    def study(self, name: str, plan: Study, X: Any, y: Any = None, **options: Any) -> StudyResult:
        """Run a study, or what is missing of it.

        Parameters
        ----------
        name : str
            Of its file in :attr:`folder`.
        plan : Study
            What to do.
        X, y : array or frame
            Features and target.
        **options
            Of :meth:`Study.run`.

        Returns
        -------
        StudyResult
            What it found.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        self.report(f"study {name}")
        ending = "-quick" if self.quick else ""
        return plan.run(X, y, store=self.folder / f"{name}{ending}.db", n_jobs=self.n_jobs, **options)

    def frame(self, name: str, compute: Callable[[], pd.DataFrame]) -> pd.DataFrame:
        """Return a table of numbers that is computed once, and read from then on: to judge again costs nothing.

        Parameters
        ----------
        name : str
            Of its file in :attr:`folder`.
        compute : callable
            Returns the table, whose columns have names; its index is not kept.

        Returns
        -------
        DataFrame
            As it is read from the file.
        """
        file = self.folder / f"{name}{'-quick' if self.quick else ''}.json"
        if not file.is_file():
            self.report(f"simulation {name}")
            self.folder.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_suffix(".new")
            unfinished.write_text(json.dumps(compute().to_dict("list")), encoding="utf-8")
            unfinished.replace(file)
        return pd.DataFrame(json.loads(file.read_text(encoding="utf-8")))
