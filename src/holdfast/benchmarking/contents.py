"""The contents of a benchmark: its data sets and candidates, their scores and stabilities, and complete blocks."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import pandas as pd

from holdfast.benchmarking.cells import list_candidates, make_cells
from holdfast.inference.intervals import check_level
from holdfast.inference.rank_tests import Blocks, make_blocks, rank_table
from holdfast.measures import REQUIRED, Measure, find_measure
from holdfast.study import StudyResult

What: TypeAlias = Literal["score", "stability"]


@dataclass(frozen=True, kw_only=True, eq=False)
class BenchmarkContents:
    """The data sets and candidates of a benchmark, with their scores and stabilities.

    Attributes
    ----------
    results : dict of StudyResult
        The results of each data set that could be studied.
    failures : dict of str
        Why each of the other data sets could not.
    metric, measure, level : optional
        How candidates are compared.
    folder : Path or None
        Folder of the stores.
    only : tuple of str or None
        Candidates to look at; None for all that the stores hold.
    """

    results: dict[str, StudyResult]
    failures: dict[str, str] = field(default_factory=dict)
    metric: str | None = None
    measure: Measure | None = None
    level: float = 0.95
    folder: Path | None = None
    only: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_level(self.level)
        known = list(dict.fromkeys(metric for result in self.results.values() for metric in result.metrics))
        if self.metric is not None and known and self.metric not in known:
            raise ValueError(f"Expected one of the study's scores ({', '.join(known)}), got {self.metric!r}.")
        if self.measure is not None:
            _check_measure(self.measure)

    # What there is

    @property
    def datasets(self) -> list[str]:
        """Names of all data sets, those that could not be studied last."""
        return [*self.results, *self.failures]

    @property
    def candidates(self) -> list[str]:
        """Names of all candidates."""
        return list_candidates(self.results.values()) if self.only is None else list(self.only)

    @cached_property
    def score_name(self) -> str | None:
        """The score that candidates are compared by; None if the data sets have none in common."""
        if self.metric is not None:
            return self.metric
        metrics = [result.metrics if result.has_scores else [] for result in self.results.values()]
        return next((name for name in metrics[0] if all(name in other for other in metrics)), None) if metrics else None

    @cached_property
    def measure_name(self) -> str:
        """The measure of stability, with its parameters."""
        if self.measure is not None:
            return self.measure.label
        measures = [
            find_measure(result.common_measure(self._sound(result)).measure).label for result in self.results.values()
        ]
        return " or ".join(dict.fromkeys(measures)) or "stability"

    def _sound(self, result: StudyResult) -> list[str]:
        return [name for name in self.candidates if name in result.candidates]

    @cached_property
    def cells(self) -> pd.DataFrame:
        """One row per data set and candidate: score and stability with intervals, size, and why one is missing."""
        return make_cells(self.results, self.failures, self.candidates, self.score_name, self.measure, self.level)

    @property
    def scores(self) -> pd.DataFrame:
        """Mean score of each candidate on each data set; ``nan`` where there is none (see :attr:`cells`)."""
        return self._table("score")

    @property
    def stabilities(self) -> pd.DataFrame:
        """Stability of each candidate on each data set; ``nan`` where there is none (see :attr:`cells`)."""
        return self._table("stability")

    def _table(self, what: str) -> pd.DataFrame:
        values = self.cells.set_index(["dataset", "candidate"])[what]
        index = pd.MultiIndex.from_product([self.datasets, self.candidates])
        rows = values.reindex(index).to_numpy(dtype=float).reshape(len(self.datasets), len(self.candidates))
        return pd.DataFrame(rows, index=self.datasets, columns=self.candidates)

    # Over data sets

    def blocks(self, what: What = "stability", candidates: Iterable[str] | None = None) -> Blocks:
        """Return the data sets on which every candidate has a value: what tests are made on.

        Parameters
        ----------
        what : {"score", "stability"}
            What to compare.
        candidates : iterable of str, optional
            Names of candidates; all by default.

        Returns
        -------
        Blocks
            The values, and what was left out.

        Raises
        ------
        ValueError
            If ``what`` is something else, or there is no such candidate.
        """
        if what not in ("score", "stability"):
            raise ValueError(f"Expected 'score' or 'stability', got {what!r}.")
        names = self.candidates if candidates is None else [str(name) for name in candidates]
        for name in names:
            if name not in self.candidates:
                raise ValueError(f"Expected candidates of the study ({', '.join(self.candidates)}), got {name!r}.")
        return make_blocks(self._table(what)[names])

    def ranks(self, what: What = "stability", candidates: Iterable[str] | None = None) -> pd.DataFrame:
        """Return the ranks of candidates inside of each data set: 1 is best, equals share the average of their ranks.

        Parameters
        ----------
        what : {"score", "stability"}
            What to rank.
        candidates : iterable of str, optional
            Names of candidates; all by default.

        Returns
        -------
        DataFrame
            One row per data set on which every candidate has a value.
        """
        return rank_table(self.blocks(what, candidates)).rename_axis(None)


def _check_measure(measure: Measure) -> None:
    if not measure.higher_is_better:
        raise ValueError(
            f"Expected a measure of which more is better, got {measure.name}; take nogueira, for instance."
        )
    if measure.similarity is None:
        measure.check_complete()
    elif measure.parameters["similarity"] is REQUIRED:
        raise ValueError(
            f"Expected a measure that needs no data for a benchmark, got {measure.name}, which needs those of each "
            "data set; use result.results[name].stability(…, X=X)."
        )
