"""What a report says, as plain typed data: one summary, from which every rendering is made."""

import math
from dataclasses import dataclass
from typing import ClassVar

import pandas as pd

from holdfast.cards import Card, draw_intervals, make_bar
from holdfast.io.record import DataRecord
from holdfast.report import records
from holdfast.result_base import AnyChart
from holdfast.text import format_number
from holdfast.tradeoff.selected import Information

SCHEMA = "holdfast.summary/1"
"""Name and version of the JSON form of a summary; the version grows when a reader of the old form would fail."""


@dataclass(frozen=True, kw_only=True)
class Summary(records.VersionedSummary):
    """Summary of a study, as a report shows it: its words, its tables and the data of its pictures.

    Attributes
    ----------
    title : str
        Heading of the report.
    version : str
        Version of holdfast that made the summary.
    level : float
        Level of all intervals.
    candidate : str or None
        The reported candidate; None if no fit has succeeded.
    labels : Labels
        What candidates, selectors and scores are called in tables, figures and sentences.
    verdict : Verdict
        How stable, how certain, what to use, and what the number does not say.
    stability : Stability
        Stability of the reported candidate.
    use : Use or None
        How much of what its models use comes back in another resample; None if that is not known.
    common_measure : str or None
        How candidates that give different kinds of preferences were compared; None if all give the same.
    top : int or None
        How many of the best features of rankings and weights count as selected, where they are compared with subsets.
    replication : Replication or None
        Whether a new study would select the same features as the reported candidate; None if it was not asked.
    information : Information
        Whether the reported candidate predicts better than guessing.
    features : Features or None
        The features of the reported candidate; None without one.
    candidates : tuple of Candidate
        All candidates, the most stable first and those without a stability last.
    tradeoff : Tradeoff
        The choice by accuracy and stability.
    causes : tuple of Cause
        Why the selection varies, and what would help.
    method : Method
        How it was done.
    data : DataRecord
        What the data are and what was done to them before the study.
    references : tuple of Reference
        What to cite, those that this study used first.

    See Also
    --------
    summarize : Makes the summary of a study.
    write_report : Writes it as a page, Markdown or JSON.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.report import Summary, summarize
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20)).run(X, y)
    >>> summary = summarize(result)
    >>> summary.verdict.headline
    'Stable; whether it carries information was not tested.'
    >>> Summary.from_dict(summary.to_dict()).candidate
    'anova'
    """

    schema: ClassVar[str] = SCHEMA
    schema_title: ClassVar[str] = "Summary of a holdfast study"
    template: ClassVar[str] = "report"

    title: str
    version: str
    level: float
    candidate: str | None
    labels: records.Labels
    verdict: records.Verdict
    stability: records.Stability
    use: records.Use | None
    common_measure: str | None
    top: int | None
    replication: records.Replication | None
    information: Information
    features: records.Features | None
    candidates: tuple[records.Candidate, ...]
    tradeoff: records.Tradeoff
    causes: tuple[records.Cause, ...]
    method: records.Method
    data: DataRecord
    references: tuple[records.Reference, ...]

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of all scores."""
        return tuple(dict.fromkeys(score.metric for candidate in self.candidates for score in candidate.scores))

    @property
    def guessing(self) -> str:
        """How the candidate compares with guessing, in a sentence or two."""
        return describe_guessing(self.information, self.labels, "the reported candidate")

    @property
    def no_cause(self) -> str:
        """What to say if no cause was found."""
        return explain_no_cause(self.stability.value, self.stability.low, "The numbers of this study")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate, the most stable first: stability with its interval, size, failures.

        Returns
        -------
        DataFrame
            Indexed by candidate.
        """
        rows = [
            {
                "candidate": row.candidate, "family": row.family, "stability": row.stability.value,
                "low": row.stability.low, "high": row.stability.high, "size": row.size, "failures": row.failures,
                "reported": row.reported,
            }
            for row in self.candidates
        ]  # fmt: skip
        return pd.DataFrame(rows).set_index("candidate")

    def plot(self) -> "AnyChart":
        """Draw accuracy against stability, or the stabilities, as the report does.

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast.plots.forest import draw_forest
        from holdfast.report.pictures import draw_charts, forest_rows

        charts = draw_charts(self)
        chart = charts.get("front") or charts.get("forest")
        return chart or draw_forest(forest_rows(self), level=self.level, top=self.top)

    def _card(self) -> Card:
        bars = [
            make_bar(row.candidate, row.stability.value, row.stability.low, row.stability.high, strong=row.reported)
            for row in self.candidates
        ]
        return Card(
            title=self.title, verdict=self._title, caution=self.data.caution, frame=self.to_frame(),
            picture=draw_intervals(bars, bands=self.stability.strength is not None),
            note=" ".join(filter(None, [*self.verdict.sentences, self.verdict.next_step])),
        )  # fmt: skip

    def __repr__(self) -> str:
        about = "" if self.candidate is None else f"{self.candidate}: "
        lines = [f"{about}{self.verdict.headline}", self.data.caution, *self.verdict.sentences, self.verdict.next_step]
        return "\n".join(filter(None, lines))


def explain_no_cause(stability: float, low: float, what: str) -> str:
    """Say why no cause was found: there is no stability, it is high, or what is known points to none."""
    if math.isnan(stability):
        return "Nothing can be said without a stability."
    return (
        "There is little to explain: the selection is stable."
        if low >= 0.75
        else f"{what} point to no particular cause."
    )


def describe_guessing(test: Information, labels: records.Labels, who: str) -> str:
    """Say how a candidate compares with guessing, in a sentence."""
    if test.untested:
        return f"Whether the features carry information was not tested: {labels.write(test.untested)}."
    better = (
        "is better"
        if test.shown
        else "is no better, as far as the resamples show"
        if test.guesses
        else "was not shown to be better"
    )
    baseline, score = format_number(test.baseline, 3), format_number(test.score, 3)
    return (
        f"Guessing without any feature ({test.strategy}) reaches {labels.score(test.metric)} {baseline} on the same "
        f"rows; {who} reaches {score}, which {better}."
    )
