"""What an experiment is, and all of them by name.

An experiment is a function over the public API. It is given a workbench and returns an outcome; its tables and figures
are listed in ``exhibits.toml``. In ten lines::

    @experiment("hamer2020", "sizes", shows="Figure 9", title="stability by size", data=("alon",),
                question="Are longer lists of features more stable?")
    def sizes(bench):
        X, y = bench.load("alon")
        plan = hf.Study([hf.selectors.Variance(20), hf.selectors.Variance(10)],
                        hf.Bootstrap(bench.choose(1000, 20)), random_state=bench.seed)
        result = bench.study("sizes", plan, X, y)          # stored: continues where it was stopped
        gain = hf.compare(*(result.preferences(name) for name in result.candidates))
        return Outcome(
            claims=[Claim(claim="Longer lists are considerably more stable.", exhibit="Figure 9", printed="0.2 more",
                          evidence=Evidence.from_error(gain.difference, gain.standard_error, "bootstrap samples"),
                          rule=Rule.word("considerably", "stability"))],
            tables=[Table(title="Stability by size", frame=result.summary())],
        )
"""

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
        What it is about, in a line: the heading of its section.
    question : str
        What it asks, in a sentence.
    run : callable
        Takes a workbench and returns an outcome.
    data : tuple of str
        Real data sets that it is about; it is done with those that are available, and skipped if there is none.
    """

    paper: str
    short: str
    shows: str
    title: str
    run: Run
    question: str = ""
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


def experiment(
    paper: str, short: str, *, shows: str, title: str, question: str = "", data: tuple[str, ...] = ()
) -> Callable[[Run], Run]:
    """Register a function as an experiment (see :class:`Experiment`)."""

    def register(run: Run) -> Run:
        EXPERIMENTS.add(
            Experiment(paper=paper, short=short, shows=shows, title=title, run=run, question=question, data=data)
        )
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
    chosen = set()
    for name in names:
        of_paper = [item.name for item in known.values() if name in ("all", item.paper)]
        if not of_paper and name not in known:
            hint = did_you_mean(name, [*known, *PAPERS])
            raise ValueError(
                f"Expected the name of an experiment or of a paper, or all, got {name!r}{hint} python -m reproductions "
                "--list lists them."
            )
        chosen.update(of_paper or [known[name].name])
    return [item for item in known.values() if item.name in chosen]
