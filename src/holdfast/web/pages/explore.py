"""The explorer: move selection probabilities, runs and groups, and watch what stability and its interval do."""

import math
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdfast.datasets import make_selections, population_stability
from holdfast.inference.estimate import StabilityEstimate, stability
from holdfast.preferences import Preferences
from holdfast.report.measured import record_stability
from holdfast.similarity import GivenSimilarity
from holdfast.text import describe_interval, format_count, format_number, format_percent
from holdfast.web.rendering import Page
from holdfast.web.routing import Routes, list_changes, make_address
from holdfast.web.site import Site

routes = Routes()

Joint: TypeAlias = Literal["independent", "turns", "together", "same-size"]
Drawn: TypeAlias = NDArray[np.bool_]
"""Which run, in rows, selects which feature."""

MAX_REPETITIONS, LEAST_REPETITIONS = 200, 25
MAX_ENTRIES = 1_000_000
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
        How features go together: not at all, as substitutes in their group, with their group, or such that
        every run selects equally many. Their probabilities stay the same.
    """

    p: tuple[float, ...]
    n_grouped: int
    group: int
    joint: Joint

    @property
    def groups(self) -> list[range]:
        """The columns of each group; none if features are independent."""
        if self.group < 2 or self.joint not in ("turns", "together"):
            return []
        starts = range(0, self.n_grouped, self.group)
        return [range(start, min(start + self.group, self.n_grouped)) for start in starts]

    @property
    def population(self) -> float:
        """The stability that more and more runs tend to."""
        return population_stability(self.p)

    def draw(self, n_runs: int, rng: np.random.Generator) -> Drawn:
        """Draw runs: which of them selects which feature."""
        if self.joint == "same-size":
            return draw_turns(self.p, n_runs, rng)
        if not self.groups:
            return _as_matrix(make_selections(p=self.p, n_runs=n_runs, random_state=rng))
        grouped = self._draw_groups(n_runs, rng)
        if self.n_grouped == len(self.p):
            return grouped
        others = make_selections(p=self.p[self.n_grouped :], n_runs=n_runs, random_state=rng)
        return np.hstack([grouped, _as_matrix(others)])

    def _draw_groups(self, n_runs: int, rng: np.random.Generator) -> Drawn:
        if self.joint == "together":
            p = self.p[: self.n_grouped]
            runs = make_selections(p=p, n_runs=n_runs, correlation=TOGETHER, block=self.group, random_state=rng)
            return _as_matrix(runs)
        drawn = np.empty((n_runs, self.n_grouped), dtype=bool)
        alike: dict[tuple[float, ...], list[range]] = {}
        for columns in self.groups:
            alike.setdefault(tuple(self.p[column] for column in columns), []).append(columns)
        for p, groups in alike.items():  # groups with the same probabilities are drawn at once
            by_group = draw_turns(p, n_runs * len(groups), rng).reshape(len(groups), n_runs, len(p))
            for columns, part in zip(groups, by_group, strict=True):
                drawn[:, columns.start : columns.stop] = part
        return drawn

    def similarity(self) -> GivenSimilarity:
        """Features of one group as alike as can be, all others not at all."""
        alike = np.eye(len(self.p))
        for columns in self.groups:
            alike[columns.start : columns.stop, columns.start : columns.stop] = 1.0
        return GivenSimilarity(alike)


def draw_turns(p: Sequence[float], n_runs: int, rng: np.random.Generator) -> Drawn:
    """Draw features with given probabilities, in each run as many as their sum says, up or down to a whole number."""
    total = math.fsum(p)
    whole = [*p, max(0.0, math.ceil(total - 1e-9) - total)]  # a last one that is none makes the sum a whole number
    return _as_matrix(make_selections(p=whole, n_runs=n_runs, fixed_size=True, random_state=rng))[:, :-1]


def _as_matrix(runs: Preferences) -> Drawn:
    return runs.to_sparse().toarray().astype(bool)


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
    drawn_once = scenario.draw(n_runs, rng)
    runs = Preferences.from_matrix(drawn_once)
    repeated = scenario.draw(n_runs * count_repetitions(drawn_once.size), rng)
    with warnings.catch_warnings(action="ignore"):  # an undefined stability says so itself
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


def count_repetitions(n_entries: int) -> int:
    """How often runs of so many entries are drawn again."""
    return max(LEAST_REPETITIONS, min(MAX_REPETITIONS, MAX_ENTRIES // n_entries))


# The page


LEVEL = 0.95
MAX_SLIDERS = 12
MAX_ROWS = 50
LOWEST, BIN = -0.2, 0.02
"""Where the histogram of the repetitions begins, and how wide its bars are; rarer values are put into the first."""
LIMITS = {
    "features": (2, 200), "relevant": (0, 200), "likely": (0.0, 1.0), "rare": (0.0, 1.0), "runs": (2, 500),
    "group": (1, 20), "seed": (0, 2**32 - 1),
}  # fmt: skip
"""The least and the largest value of what can be moved."""
JOINTS = {
    "independent": "are selected independently",
    "turns": "take turns (stand-ins)",
    "together": "come and go together",
    "same-size": "as many of all in every run",
}
"""How features go together, in a few words."""


@dataclass(frozen=True, kw_only=True)
class ExploreQuery:
    """What is simulated.

    Attributes
    ----------
    features : int
        Number of features, from 2 to 200.
    relevant : int
        How many of them are selected with the probability ``likely``; at most all.
    likely, rare : float
        Probability that a relevant feature is selected, and that of all others.
    p : tuple of float
        Probabilities of the first features, at most 12, instead of these.
    runs : int
        Number of runs, from 2 to 500.
    group : int
        Number of relevant features in a group, from 1 to 20.
    joint : {"independent", "turns", "together", "same-size"}
        How features go together: not at all, as stand-ins in their group, with their group, or such that every run
        selects equally many. Their probabilities stay the same.
    seed : int
        Another seed draws again.
    """

    features: int = 30
    relevant: int = 10
    likely: float = 0.8
    rare: float = 0.05
    p: tuple[float, ...] = ()
    runs: int = 30
    group: int = 5
    joint: Joint = "independent"
    seed: int = 0

    @property
    def address(self) -> str:
        """Where it is shown."""
        return make_address("/explore", list_changes(self))


PRESETS = tuple(
    {"name": name, "summary": summary, "address": query.address}
    for name, summary, query in (
        (
            "Ten strong features among 100", "What a good selection looks like.",
            ExploreQuery(features=100, relevant=10, likely=0.9, rare=0.01, runs=50),
        ),
        (
            "Perfectly stable", "Every run selects the same features.",
            ExploreQuery(likely=1.0, rare=0.0),
        ),
        ("Chance", "Every feature is as likely as any other.", ExploreQuery(likely=0.3, rare=0.3)),
        (
            "Two groups of stand-ins", "Every run needs one feature of each group, and does not mind which.",
            ExploreQuery(features=20, relevant=10, likely=0.2, rare=0.02, group=5, joint="turns"),
        ),
        ("Five runs only", "The same probabilities, but hardly any runs.", ExploreQuery(runs=5)),
    )
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Repetitions:
    """The same simulation, repeated with other draws.

    Attributes
    ----------
    count : int
        Number of repetitions.
    intervals : int
        How many of them have an interval.
    contained : int
        How many of the intervals contain the population value.
    mean : float
        Mean of the estimates.
    begin, width : float
        Where the bars of the histogram begin, and how wide they are.
    bars, missed : tuple of int
        Number of estimates in each bar, and how many of their intervals do not contain the population value.
    """

    count: int
    intervals: int
    contained: int
    mean: float
    begin: float
    width: float
    bars: tuple[int, ...]
    missed: tuple[int, ...]


@routes.page("/explore", "explore.html.j2")
def show_explorer(site: Site, query: ExploreQuery) -> Page:
    """Simulate selections with given probabilities, and measure how stable they are."""
    check_query(query)
    p = (query.likely,) * query.relevant + (query.rare,) * (query.features - query.relevant)
    p = (*query.p, *p[len(query.p) :])
    scenario = Scenario(p=p, n_grouped=query.relevant, group=query.group, joint=query.joint)
    simulation = simulate(scenario, query.runs, query.seed)
    sizes, repetitions = simulation.runs.sizes, count_contained(simulation)
    return Page(
        settings=query,
        probabilities=p,
        frequencies=tuple(simulation.runs.frequency.tolist()),
        mean_size=float(sizes.mean()),
        least_size=int(sizes.min()),
        largest_size=int(sizes.max()),
        population=simulation.population,
        estimate=record_stability(simulation.estimate, LEVEL),
        with_stand_ins=simulation.with_stand_ins and record_stability(simulation.with_stand_ins, LEVEL),
        map=tuple(tuple(simulation.runs.selected(run)) for run in range(min(query.runs, MAX_ROWS))),
        repetitions=repetitions,
        sentences=tuple(describe(simulation, repetitions, query)),
        presets=PRESETS,
        n_sliders=min(MAX_SLIDERS, query.features),
        limits=LIMITS | {"relevant": (0, query.features)},
        joints=JOINTS,
        again=replace(query, seed=(query.seed + 1) % 2**32).address,
    )


def check_query(query: ExploreQuery) -> None:
    """Refuse numbers that are out of range."""
    for name, (least, largest) in (LIMITS | {"relevant": (0, query.features)}).items():
        value = getattr(query, name)
        if not least <= value <= largest:
            raise ValueError(f"Expected {name} from {least:g} to {largest:g}, got {value:g}.")
    most = min(MAX_SLIDERS, query.features)
    if len(query.p) > most:
        raise ValueError(f"Expected p of the first {most} features at most, got {len(query.p)}.")
    if not all(0 <= value <= 1 for value in query.p):
        raise ValueError("Expected probabilities from 0 to 1 for p, got others.")


def count_contained(simulation: Simulation) -> Repetitions:
    """Count the intervals that contain the population value, and where the estimates lie."""
    values = np.array([estimate.value for estimate in simulation.repetitions])
    ends = np.array([tuple(estimate.ci(LEVEL)) for estimate in simulation.repetitions])
    rounding = 1e-9  # of runs that all agree, the interval ends at 1
    contained = (ends[:, 0] <= simulation.population + rounding) & (simulation.population <= ends[:, 1] + rounding)
    has_interval, known = np.isfinite(ends).all(axis=1), np.isfinite(values)
    n_bars = round((1 - LOWEST) / BIN)
    index = np.clip(np.floor((values[known] - LOWEST) / BIN + 1e-9), 0, n_bars - 1).astype(int)
    bars = Counter(index.tolist())
    missed = Counter(index[(has_interval & ~contained)[known]].tolist())
    return Repetitions(
        count=len(values),
        intervals=int(has_interval.sum()),
        contained=int((contained & has_interval).sum()),
        mean=float(values[known].mean()) if known.any() else math.nan,
        begin=LOWEST,
        width=BIN,
        bars=tuple(bars[bar] for bar in range(n_bars)),
        missed=tuple(missed[bar] for bar in range(n_bars)),
    )


# In words


def describe(simulation: Simulation, repetitions: Repetitions, query: ExploreQuery) -> list[str]:
    """What is seen, in sentences."""
    estimate, runs = simulation.estimate, format_count(query.runs, "run")
    if math.isnan(simulation.population):
        return ["The stability is undefined: every run selects all features, or every run selects none."]
    if math.isnan(estimate.value):
        return [f"The stability of these {runs} is undefined: {estimate.note}."]
    true, (low, high) = format_number(simulation.population), estimate.ci(LEVEL)
    sentences = [f"The stability of these {runs} is {format_number(estimate.value)}{_interval(estimate)}."]
    if math.isnan(low):
        sentences.append(f"With endless runs it would tend to {true}. There is no interval: {estimate.note}.")
    else:
        inside = "inside" if low - 1e-9 <= simulation.population <= high + 1e-9 else "outside"
        sentences.append(f"With endless runs it would tend to {true}, its true value, which is {inside} the interval.")
    sentences += _describe_repetitions(repetitions, true)
    if simulation.with_stand_ins is not None:
        sentences.append(_describe_stand_ins(simulation.with_stand_ins))
    if query.joint in ("together", "same-size") or (query.joint == "turns" and simulation.with_stand_ins is None):
        sentences.append(
            "How features go together does not change the true value, which depends on the probabilities alone; it "
            "changes how much the estimate varies."
        )
    return sentences


def _describe_repetitions(repetitions: Repetitions, true: str) -> list[str]:
    if not repetitions.intervals:
        return []
    share = format_percent(repetitions.contained / repetitions.intervals, 0)
    return [
        f"Of {repetitions.intervals} repetitions with these probabilities, {share} of the intervals contained the "
        f"true {true}; {format_percent(LEVEL)} are meant to."
    ]


def _describe_stand_ins(estimate: StabilityEstimate) -> str:
    if math.isnan(estimate.value):
        return f"With stand-ins counted as the same feature, the stability is undefined: {estimate.note}."
    return (
        f"If features that stand in for each other count as the same, the stability is "
        f"{format_number(estimate.value)}{_interval(estimate)} by the measure of Sechidis et al. (2020): what looks "
        f"unstable feature by feature may be stable group by group."
    )


def _interval(estimate: StabilityEstimate) -> str:
    low, high = estimate.ci(LEVEL)
    return "" if math.isnan(low) else f" ({describe_interval(low, high, LEVEL)})"
