"""Accuracy and stability over several data sets: who is on the front and who is chosen, and mean ranks in both."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from holdfast.cards import Card, Point, draw_points
from holdfast.inference.rank_tests import make_blocks
from holdfast.measures import Measure
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain
from holdfast.study import StudyResult
from holdfast.tradeoff.fronts import pareto_front

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart


@dataclass(frozen=True, kw_only=True, eq=False)
class BenchmarkTradeoff(ResultMixin):
    """Accuracy and stability over several data sets.

    Attributes
    ----------
    candidates : DataFrame
        One row per candidate: mean ranks ``score_rank`` and ``stability_rank`` over data sets on which every candidate
        has both, on how many data sets it is ``on_front`` and ``chosen``, on how many it has both (``datasets``), and
        whether no other candidate is better in both mean ranks (``best``).
    choices : DataFrame
        One row per data set: who was ``chosen``, the ``front``, and the ``reason``, or why nobody was chosen.
    rule : str
        How candidates were chosen.
    metric, measure : str
        The score and the measure of stability.
    n_datasets : int
        Number of data sets behind the mean ranks.

    See Also
    --------
    BenchmarkResult.tradeoff : Makes it.
    holdfast.tradeoff.Pareto : The trade-off on one data set.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris, load_wine
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> data = {"iris": load_iris(return_X_y=True), "wine": load_wine(return_X_y=True)}
    >>> study = hf.Study(
    ...     selectors={"anova": hf.selectors.AnovaF(2), "random": hf.selectors.RandomSelector(2)},
    ...     perturbation=hf.Bootstrap(10),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> hf.benchmark(data, study).tradeoff().candidates[["score_rank", "stability_rank", "chosen"]].reset_index()
      candidate  score_rank  stability_rank  chosen
    0     anova         1.5             1.0       2
    1    random         1.5             2.0       0
    """

    candidates: pd.DataFrame
    choices: pd.DataFrame
    rule: str
    metric: str
    measure: str
    n_datasets: int

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate (see :attr:`candidates`).

        Returns
        -------
        DataFrame
            Indexed by candidate.
        """
        return self.candidates

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            One entry per attribute; frames are lists of rows.
        """
        return to_plain({name: getattr(self, name) for name in self.__dataclass_fields__})

    def plot(self) -> "AnyChart":
        """Draw mean ranks of score and stability against each other.

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.

        See Also
        --------
        holdfast.plots.plot_rank_tradeoff : The same as a function.
        """
        from holdfast.plots import plot_rank_tradeoff

        return plot_rank_tradeoff(self.candidates, score=self.metric, n_datasets=self.n_datasets)

    def _card(self) -> Card:
        points = [
            Point(row.stability_rank, row.score_rank, str(name), strong=bool(row.best))
            for name, row in self.candidates.iterrows()
        ]
        picture = draw_points(points, x_title=f"mean rank of {self.measure}", y_title=f"mean rank of {self.metric}")
        return replace(super()._card(), picture=picture)

    def __repr__(self) -> str:
        head = f"{self.metric} and {self.measure} over {self.n_datasets} data sets; chosen by {self.rule}"
        return f"{head}\n{self.candidates.to_string(float_format=lambda number: f'{number:.2f}')}"


def weigh(
    results: Mapping[str, StudyResult],
    cells: pd.DataFrame,
    *,
    rule: str,
    metric: str | None,
    measure: Measure | None,
    measure_label: str,
    level: float,
    parameters: Mapping[str, Any],
) -> BenchmarkTradeoff:
    """Choose on every data set, and count over all of them."""
    choices = [
        _choose(name, results.get(name), cells, rule, metric, measure, level, parameters) for name in _names(cells)
    ]
    table = pd.DataFrame(choices, columns=["dataset", "chosen", "front", "reason"]).set_index("dataset")
    names = list(dict.fromkeys(cells["candidate"]))
    both = cells["score"].notna() & cells["stability"].notna()
    ranks, n_datasets = _mean_ranks(cells, both)
    candidates = pd.DataFrame({
        "score_rank": [ranks["score"].get(name, np.nan) for name in names],
        "stability_rank": [ranks["stability"].get(name, np.nan) for name in names],
        "on_front": [int(cells.loc[cells["candidate"] == name, "on_front"].sum()) for name in names],
        "chosen": [int((table["chosen"] == name).sum()) for name in names],
        "datasets": [int(both[cells["candidate"] == name].sum()) for name in names],
    }, index=pd.Index(names, name="candidate"))  # fmt: skip
    candidates["best"] = pareto_front(-candidates["score_rank"].to_numpy(), -candidates["stability_rank"].to_numpy())
    return BenchmarkTradeoff(
        candidates=candidates, choices=table, rule=rule, metric=metric or "score", measure=measure_label,
        n_datasets=n_datasets,
    )  # fmt: skip


def _names(cells: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(cells["dataset"]))


def _mean_ranks(cells: pd.DataFrame, both: "pd.Series[bool]") -> tuple[dict[str, dict[str, float]], int]:
    """Return mean ranks of score and stability over data sets on which every candidate has both, and their number."""
    ranks, n_datasets = {}, 0
    for what in ("score", "stability"):
        known = cells.assign(value=cells[what].where(both))
        blocks = make_blocks(known.pivot_table(index="dataset", columns="candidate", values="value", dropna=False))
        ranks[what], n_datasets = dict(zip(blocks.candidates, blocks.mean_ranks, strict=True)), len(blocks.datasets)
    return ranks, n_datasets


def _choose(
    name: str,
    result: StudyResult | None,
    cells: pd.DataFrame,
    rule: str,
    metric: str | None,
    measure: Measure | None,
    level: float,
    parameters: Mapping[str, Any],
) -> tuple[str, str | None, tuple[str, ...], str]:
    own = cells[cells["dataset"] == name]
    front = tuple(own.loc[own["on_front"], "candidate"])
    candidates = own.loc[own["score"].notna() & own["stability"].notna(), "candidate"].tolist()
    if result is None or not candidates or metric is None:
        return name, None, front, str(own["reason"].dropna().iloc[0]) if own["reason"].notna().any() else ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            choice = result.choose(
                rule, metric=metric, measure=measure, candidates=candidates, level=level, **parameters
            )
    except ValueError as error:
        return name, None, front, getattr(error, "plain", str(error))
    return name, choice.candidate, front, choice.reason
