"""Simulated selections for the explorer: drawn with given probabilities, measured, and repeated."""

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdfast.datasets import make_selections, population_stability
from holdfast.inference.estimate import StabilityEstimate, stability
from holdfast.preferences import Preferences
from holdfast.similarity import GivenSimilarity

Joint: TypeAlias = Literal["independent", "turns", "together", "same-size"]
Cells: TypeAlias = NDArray[np.bool_]

MOST_REPETITIONS, LEAST_REPETITIONS = 200, 25
MOST_CELLS = 1_000_000
"""Runs × features of all repetitions together, beyond which there are fewer, so that an answer comes at once."""
TOGETHER = 0.95
"""Correlation of the scores behind the selections of features that come together."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """How selections are drawn.

    Attributes
    ----------
    p : tuple of float
        Probability that each feature is selected.
    n_grouped : int
        How many of the first features form groups.
    group : int
        Number of features in a group.
    joint : {"independent", "turns", "together", "same-size"}
        How features go together: not at all, as stand-ins of each other in their group, with their group, or such that
        every run selects equally many. Their probabilities stay the same.
    """

    p: tuple[float, ...]
    n_grouped: int
    group: int
    joint: Joint

    @property
    def groups(self) -> list[range]:
        """The columns of each group; none if features are on their own."""
        if self.group < 2 or self.joint not in ("turns", "together"):
            return []
        starts = range(0, self.n_grouped, self.group)
        return [range(start, min(start + self.group, self.n_grouped)) for start in starts]

    @property
    def population(self) -> float:
        """The stability that more and more runs tend to."""
        return population_stability(self.p)

    def draw(self, n_runs: int, rng: np.random.Generator) -> Cells:
        """Draw runs: which of them selects which feature."""
        if self.joint == "same-size":
            return draw_turns(self.p, n_runs, rng)
        if not self.groups:
            return _cells(make_selections(p=self.p, n_runs=n_runs, random_state=rng))
        grouped = self._draw_groups(n_runs, rng)
        if self.n_grouped == len(self.p):
            return grouped
        others = make_selections(p=self.p[self.n_grouped :], n_runs=n_runs, random_state=rng)
        return np.hstack([grouped, _cells(others)])

    def _draw_groups(self, n_runs: int, rng: np.random.Generator) -> Cells:
        if self.joint == "together":
            p = self.p[: self.n_grouped]
            runs = make_selections(p=p, n_runs=n_runs, correlation=TOGETHER, block=self.group, random_state=rng)
            return _cells(runs)
        drawn = np.empty((n_runs, self.n_grouped), dtype=bool)
        alike: dict[tuple[float, ...], list[range]] = {}
        for columns in self.groups:
            alike.setdefault(tuple(self.p[column] for column in columns), []).append(columns)
        for p, groups in alike.items():  # groups with the same probabilities are drawn at once
            cells = draw_turns(p, n_runs * len(groups), rng).reshape(len(groups), n_runs, len(p))
            for columns, part in zip(groups, cells, strict=True):
                drawn[:, columns.start : columns.stop] = part
        return drawn

    def similarity(self) -> GivenSimilarity:
        """Features of one group as alike as can be, all others not at all."""
        alike = np.eye(len(self.p))
        for columns in self.groups:
            alike[columns.start : columns.stop, columns.start : columns.stop] = 1.0
        return GivenSimilarity(alike)


def draw_turns(p: Sequence[float], n_runs: int, rng: np.random.Generator) -> Cells:
    """Draw features with given probabilities, in each run as many as their sum says, up or down to a whole number."""
    total = math.fsum(p)
    whole = [*p, max(0.0, math.ceil(total - 1e-9) - total)]  # a last one that is none makes the sum a whole number
    return _cells(make_selections(p=whole, n_runs=n_runs, fixed_size=True, random_state=rng))[:, :-1]


def _cells(runs: Preferences) -> Cells:
    indices, pointers = runs.lists()
    cells = np.zeros((runs.n_runs, runs.n_features), dtype=bool)
    cells[np.repeat(np.arange(runs.n_runs), np.diff(pointers)), indices] = True
    return cells


@dataclass(frozen=True, eq=False)
class Simulation:
    """What was drawn and measured.

    Attributes
    ----------
    runs : Preferences
        The runs that are looked at.
    estimate : StabilityEstimate
        Their stability.
    with_stand_ins : StabilityEstimate or None
        Their stability if features of a group count as the same; None unless they stand in for each other.
    population : float
        The stability that more and more runs tend to.
    repetitions : list of StabilityEstimate
        The stability of as many other runs, drawn in the same way, again and again.
    """

    runs: Preferences
    estimate: StabilityEstimate
    with_stand_ins: StabilityEstimate | None
    population: float
    repetitions: list[StabilityEstimate]


def simulate(scenario: Scenario, n_runs: int, seed: int) -> Simulation:
    """Draw runs and measure them, and repeat that."""
    rng = np.random.default_rng(seed)
    cells = scenario.draw(n_runs, rng)
    runs = Preferences.from_matrix(cells)
    repeated = scenario.draw(n_runs * count_repetitions(cells.size), rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an undefined stability says so itself
        similarity = scenario.similarity() if scenario.groups and scenario.joint == "turns" else None
        return Simulation(
            runs=runs,
            estimate=stability(runs),
            with_stand_ins=None if similarity is None else stability(runs, "sechidis", similarity=similarity),
            population=scenario.population,
            repetitions=[
                stability(Preferences.from_matrix(repeated[start : start + n_runs]))
                for start in range(0, len(repeated), n_runs)
            ],
        )


def count_repetitions(n_cells: int) -> int:
    """How often runs of so many cells are drawn again."""
    return max(LEAST_REPETITIONS, min(MOST_REPETITIONS, MOST_CELLS // n_cells))
