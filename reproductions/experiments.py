"""What an experiment is, and all of them by name."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol

from holdfast.declared import About, Registry, did_you_mean
from holdfast.references import REFERENCES, Publication
from reproductions.records import Outcome
from reproductions.workbench import Workbench

PAPERS = ("kalousis2005", "gulgezen2009", "nogueira2016", "nogueira2018", "hamer2020")


class Run(Protocol):
    """The function of an experiment."""

    def __call__(self, bench: Workbench, /) -> Outcome: ...


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """An experiment of a paper, to do again.

    Attributes
    ----------
    paper : str
        Key of the paper.
    short : str
        Its name within the paper: ``"table2"``.
    shows : str
        The part of the paper that it repeats: ``"Table 2 and Figure 2"``.
    title : str
        What it is about, in a line.
    run : callable
        Takes a workbench and returns an outcome.
    data : tuple of str
        Real data sets that it is about; it is done with those that are at hand, and skipped if there is none.
    """

    paper: str
    short: str
    shows: str
    title: str
    run: Run
    data: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Its name among all: ``"kalousis2005-table2"``."""
        return f"{self.paper}-{self.short}"

    @property
    def publication(self) -> Publication:
        """The paper."""
        return REFERENCES[self.paper]

    @property
    def about(self) -> About:
        """The description for users."""
        return About(name=self.name, summary=f"{self.shows}: {self.title}", reference=self.paper, needs=self.data)


EXPERIMENTS: Registry[Experiment] = Registry("experiment", where="python -m reproductions --list")
"""All experiments by name, in the order of the papers; :func:`load_experiments` fills it."""


def experiment(paper: str, short: str, *, shows: str, title: str, data: tuple[str, ...] = ()) -> Callable[[Run], Run]:
    """Register a function as an experiment (see :class:`Experiment`)."""

    def register(run: Run) -> Run:
        EXPERIMENTS.add(Experiment(paper=paper, short=short, shows=shows, title=title, run=run, data=data))
        return run

    return register


def load_experiments() -> Registry[Experiment]:
    """Import the modules of all papers, which register their experiments."""
    for paper in PAPERS:
        import_module(f"reproductions.{paper}")
    return EXPERIMENTS


def find_experiments(names: list[str]) -> list[Experiment]:
    """Return the experiments of these names, of whole papers, or ``all`` of them, each once and in order."""
    known = load_experiments()
    asked = set()
    for name in names:
        of_paper = [item.name for item in known.values() if name in ("all", item.paper)]
        if not of_paper and name not in known:
            hint = did_you_mean(name, [*known, *PAPERS])
            raise ValueError(
                f"Expected the name of an experiment or of a paper, or all, got {name!r}{hint} python -m reproductions "
                "--list lists them."
            )
        asked.update(of_paper or [known[name].name])
    return [item for item in known.values() if item.name in asked]
