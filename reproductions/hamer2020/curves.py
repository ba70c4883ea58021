"""Groups of candidates as Pareto curves: dominated areas, gains in stability, and their intervals over redraws."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import holdfast as hf
from holdfast.plots.theme import finish_chart, inline_data
from holdfast.tradeoff import hypervolume, pareto_front
from reproductions.hamer2020.studies import GV
from reproductions.records import WORDS, Evidence, Picture

DRAWS = 200
NO_LOSS: float = WORDS["negligible"]["thresholds"]["accuracy"]
"""How much accuracy counts as none lost."""
COLORS = {
    "RFE": "#7b3294", "VAR": "#d7191c", "GV1": "#00a6ca", "GV2": "#1a9641", "N = k": "#555555",
    "independent": "#2c7bb6", "no shrinkage": "#1a9641", "shrinkage": "#d7191c",
}  # fmt: skip
"""The colors of the paper's figures."""
Floats = NDArray[np.float64]
Statistic = Callable[[Floats, Floats], float]


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """Curves of accuracy and stability on one data set.

    Attributes
    ----------
    frame : DataFrame
        One row per candidate: ``score``, ``score_se``, ``stability``.
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
    def columns(self) -> dict[str, NDArray[np.int64]]:
        """The rows of the frame that hold the candidates of each curve."""
        return {group: self.frame.index.get_indexer(pd.Index(list(names))) for group, names in self.groups.items()}

    @cached_property
    def reference(self) -> tuple[float, float]:
        """Lowest accuracy of all curves, and stability 0, from which areas are measured."""
        used = np.concatenate(list(self.columns.values()))
        return float(self.frame["score"].iloc[used].min()), 0.0

    def estimate(self, statistic: Statistic, n_tries: int = 1) -> Evidence:
        """Return a number made of scores and stabilities of all candidates, with its quantiles over redraws."""
        value = statistic(self.frame["score"].to_numpy(), self.frame["stability"].to_numpy())
        drawn = [statistic(x, y) for x, y in zip(self.scores, self.stabilities, strict=True)]
        return Evidence.from_draws(value, drawn, f"{len(drawn)} redraws of the resamples", n_tries=n_tries, digits=3)

    def estimate_by_rfe(self, gain: Callable[[Floats, Floats, int], float]) -> Evidence:
        """Return a gain over the classic RFE, over all its settings within one standard error of its best accuracy.

        The setting of the best accuracy alone would be the largest of many noisy numbers.
        """
        columns = self.columns["RFE"]
        scores = self.frame["score"].to_numpy()[columns]
        best = int(scores.argmax())
        near = np.flatnonzero(scores >= scores[best] - self.frame["score_se"].to_numpy()[columns[best]])
        settings = [best, *near[near != best].tolist()]
        evidence = [self.estimate(lambda x, y, rfe=columns[own]: gain(x, y, rfe)) for own in settings]  # type: ignore[misc]
        count = f"{len(settings)} setting{'s' if len(settings) > 1 else ''}"
        return Evidence.over(
            evidence, f"{evidence[0].varied}, {count} of the RFE within one standard error of its best accuracy"
        )

    def area(self, group: str, scores: Floats, stabilities: Floats) -> float:
        """Return the area that a curve dominates."""
        columns = self.columns[group]
        return hypervolume(scores[columns], stabilities[columns], self.reference)

    def area_gain(self, group: str, *others: str, n_tries: int = 1) -> Evidence:
        """Return how much larger the area of a curve is than the largest of others."""
        return self.estimate(
            lambda x, y: self.area(group, x, y) - max(self.area(other, x, y) for other in others), n_tries
        )

    def best_near(self, group: str, scores: Floats, stabilities: Floats, least: float) -> float:
        """Return the largest stability that a curve has at this accuracy or more; 0 if it has none."""
        columns = self.columns[group]
        return float(stabilities[columns][scores[columns] >= least].max(initial=0.0))

    def near_gain(self, group: str) -> Evidence:
        """Return how much more stable than the classic RFE a curve is at no loss of accuracy."""

        def gain(scores: Floats, stabilities: Floats, rfe: int) -> float:
            least = scores[self.columns["RFE"]].max() - NO_LOSS
            return self.best_near(group, scores, stabilities, least) - float(stabilities[rfe])

        return self.estimate_by_rfe(gain)

    def plot(self, name: str, exhibit: str) -> Picture:
        """Draw each curve as a line over the area that it dominates, in the paper's colors."""
        areas = {group: self.area(group, *self.frame[["score", "stability"]].to_numpy().T) for group in self.groups}
        largest = max(areas, key=lambda group: areas[group])
        steps = pd.concat([self._steps(group) for group in self.groups], ignore_index=True)
        groups = list(self.groups)
        base = alt.Chart(inline_data(steps)).encode(
            x=alt.X("stability:Q", title="stability"),
            y=alt.Y("score:Q", title="accuracy (out of bag)", scale=alt.Scale(zero=False)),
            color=alt.Color("curve:N", scale=alt.Scale(domain=groups, range=[COLORS[group] for group in groups])),
        )
        area = base.mark_area(opacity=0.12, interpolate="step-before").encode(y2=alt.datum(self.reference[0]))
        chart: Any = alt.layer(area, base.mark_line(interpolate="step-before")).properties(width=420, height=280)
        finding = f"{name}: {largest} dominates the largest area, {areas[largest]:.3f}"
        listed = ", ".join(f"{group} {value:.3f}" for group, value in areas.items())
        return Picture(
            name=f"{exhibit.lower().replace(' ', '')}-{name}", exhibit=exhibit,
            caption=f"{exhibit} on {name}: curves and the areas that they dominate.",
            chart=finish_chart(chart, finding, [f"Areas: {listed}."], width=540),
        )  # fmt: skip

    def _steps(self, group: str) -> pd.DataFrame:
        """The front of a curve as a staircase from stability 0 down to the lowest accuracy."""
        own = self.frame.iloc[self.columns[group]]
        front = own[pareto_front(own["score"], own["stability"])].sort_values("stability")
        ends = pd.DataFrame({"score": [front["score"].iloc[0], self.reference[0]],
                             "stability": [0.0, front["stability"].iloc[-1]]})  # fmt: skip
        return pd.concat([ends[:1], front[["score", "stability"]], ends[1:]]).assign(curve=group)

    def table(self) -> pd.DataFrame:
        """Return area, best accuracy with its stability, and the largest stability, of each curve."""
        rows = []
        for group, names in self.groups.items():
            own = self.frame.loc[list(names)]
            area = self.estimate(lambda x, y, group=group: self.area(group, x, y))  # type: ignore[misc]
            rows.append(
                {
                    "curve": group, "area (95 %)": str(area), "best accuracy": own["score"].max(),
                    "its stability": own["stability"].iloc[int(own["score"].argmax())],
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
    names = of_family([result], "forced")
    return [name for name in names if weight is None or f"lambda_v={weight:g}," in name]


def groups_of_figure_1(result: hf.StudyResult) -> dict[str, list[str]]:
    """Return the curves of Figure 1, each with its criterion alone (N = k) as its end."""
    hybrids = {"VAR": math.inf, **GV}
    curves = {name: [*of_family([result], name), *all_forced(result, weight)] for name, weight in hybrids.items()}
    return {"RFE": of_family([result], "RFE"), **curves, "N = k": all_forced(result)}
