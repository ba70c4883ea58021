"""What an experiment works with: how much to do, data sets, and studies that go on where they were stopped."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from holdfast.datasets.real import Dataset, available, load
from holdfast.study import Study, StudyResult

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True, eq=False)
class Workbench:
    """What an experiment works with.

    Attributes
    ----------
    folder : Path
        Where its studies are kept, so that it goes on where it was stopped.
    quick : bool
        Whether to do a small part only, within five seconds.
    n_jobs : int
        How many processes studies may use.
    device : {"cpu", "cuda"}
        What eliminations of features run on.
    say : callable
        What to do with a line about progress.
    """

    folder: Path
    quick: bool = False
    n_jobs: int = 1
    device: str = "cpu"
    say: Callable[[str], None] = field(default=lambda line: None)

    def choose(self, full: Value, quick: Value) -> Value:
        """Return what the full protocol or the quick one uses: ``bench.choose(1000, 20)`` resamples.

        Parameters
        ----------
        full, quick : object
            One of them is returned.

        Returns
        -------
        object
            By :attr:`quick`.
        """
        return quick if self.quick else full

    def at_hand(self, names: Iterable[str]) -> list[str]:
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
        names, here = list(names), set(available())
        missing = [name for name in names if name not in here]
        if missing:
            self.say(f"not on this machine, skipped: {', '.join(missing)}")
        return [name for name in names if name in here]

    def load(self, name: str) -> Dataset:
        """Load a real data set.

        Parameters
        ----------
        name : str
            Its name, one of :meth:`at_hand`.

        Returns
        -------
        Dataset
            Features and target; ``X, y = bench.load(name)``.
        """
        return load(name)

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
        self.say(f"study {name}")
        ending = "-quick" if self.quick else ""
        return plan.run(X, y, store=self.folder / f"{name}{ending}.db", n_jobs=self.n_jobs, **options)
