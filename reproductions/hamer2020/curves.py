"""Groups of candidates as Pareto curves: dominated areas, and their uncertainty by resamples drawn again."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import holdfast as hf
from holdfast import plots
from holdfast.tradeoff import hypervolume
from reproductions.hamer2020.studies import GV

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

DRAWS, QUANTILE = 200, 1.96
NEAR = 0.01
"""How much accuracy counts as none lost."""
Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A number with its 95 % interval over resamples drawn again."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.3f} ({self.low:+.3f} to {self.high:+.3f})"


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """Curves of accuracy and stability on one data set.

    Attributes
    ----------
    frame : DataFrame
        One row per candidate: ``score``, ``stability``, and more of :meth:`holdfast.StudyResult.pareto`.
    groups : dict
        The candidates of each curve.
    scores, stabilities : ndarray
        The same for resamples drawn again: draws × candidates.
    """

    frame: pd.DataFrame
    groups: Mapping[str, Sequence[str]]
    scores: Floats
    stabilities: Floats

    @cached_property
    def places(self) -> dict[str, NDArray[np.int64]]:
        """Where the candidates of each curve stand in the frame."""
        return {group: self.frame.index.get_indexer(pd.Index(list(names))) for group, names in self.groups.items()}

    @cached_property
    def reference(self) -> tuple[float, float]:
        """Lowest accuracy of all curves, and stability 0, from which areas are measured."""
        used = np.concatenate(list(self.places.values()))
        return float(self.frame["score"].iloc[used].min()), 0.0

    def estimate(self, statistic: Callable[[Floats, Floats], float]) -> Estimate:
        """Return a number made of scores and stabilities of all candidates, with its interval."""
        value = statistic(self.frame["score"].to_numpy(), self.frame["stability"].to_numpy())
        drawn = [statistic(x, y) for x, y in zip(self.scores, self.stabilities, strict=True)]
        reach = QUANTILE * float(np.std(drawn, ddof=1)) if len(drawn) > 1 else math.nan
        return Estimate(value, value - reach, value + reach)

    def area(self, group: str, scores: Floats, stabilities: Floats) -> float:
        """Return the area that a curve dominates."""
        own = self.places[group]
        return hypervolume(scores[own], stabilities[own], self.reference)

    def area_gain(self, group: str, *others: str) -> Estimate:
        """Return how much larger the area of a curve is than the largest of others."""
        return self.estimate(lambda x, y: self.area(group, x, y) - max(self.area(other, x, y) for other in others))

    def best_near(self, group: str, scores: Floats, stabilities: Floats, least: float) -> float:
        """Return the largest stability that a curve has at this accuracy or more; 0 if it has none."""
        own = self.places[group]
        return float(stabilities[own][scores[own] >= least].max(initial=0.0))

    def plot(self) -> "AnyChart":
        """Draw the curves with the areas that they dominate."""
        tables = [
            self.frame.loc[list(names)].reset_index().assign(family=group) for group, names in self.groups.items()
        ]
        columns = pd.concat(tables, ignore_index=True).drop(columns="group")
        return plots.plot_pareto(columns, score="accuracy", fronts="each", reference=self.reference)

    def table(self) -> pd.DataFrame:
        """Return area, best accuracy with its stability, and the largest stability near the best RFE, of each curve."""
        rows = []
        for group, names in self.groups.items():
            own = self.frame.loc[list(names)]
            best = int(own["score"].argmax())
            area = self.estimate(lambda x, y, group=group: self.area(group, x, y))  # type: ignore[misc]
            rows.append(
                {
                    "curve": group, "area": area.value, "area, low": area.low, "area, high": area.high,
                    "best accuracy": own["score"].max(), "its stability": own["stability"].iloc[best],
                    "largest stability": own["stability"].max(),
                }
            )  # fmt: skip
        return pd.DataFrame(rows).set_index("curve")


def make_curves(results: Sequence[hf.StudyResult], groups: Mapping[str, Sequence[str]]) -> Curves:
    """Make curves of candidates of studies of the same resamples."""
    fronts = [result.pareto(n_draws=DRAWS) for result in results]
    return Curves(
        frame=pd.concat([front.frame for front in fronts]), groups=groups,
        scores=np.hstack([front.scores for front in fronts]),
        stabilities=np.hstack([front.stabilities for front in fronts]),
    )  # fmt: skip


def of_family(results: Sequence[hf.StudyResult], *families: str) -> list[str]:
    """Return the candidates of these selectors."""
    return [name for result in results for name in result.candidates if result.family(name) in families]


def all_forced(result: hf.StudyResult, weight: float | None = None) -> list[str]:
    """Return the candidates that force all features by the criterion with this λ_v, or with any."""
    names = [name for name in result.candidates if result.family(name) == "forced"]
    return [name for name in names if weight is None or f"lambda_v={weight:g}," in name]


def groups_of_figure_1(result: hf.StudyResult) -> dict[str, list[str]]:
    """Return the curves of Figure 1, each with its criterion alone (N = k) as its end."""
    hybrids = {"VAR": math.inf, **GV}
    curves = {name: [*of_family([result], name), *all_forced(result, weight)] for name, weight in hybrids.items()}
    return {"RFE": of_family([result], "RFE"), **curves, "N = k": all_forced(result)}
