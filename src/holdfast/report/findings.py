"""What is known about the reported candidate before it is put into words."""

from dataclasses import dataclass
from typing import Any

from holdfast.inference.estimate import StabilityEstimate
from holdfast.measures import Measure
from holdfast.replication import Replicability
from holdfast.report.feature_records import Features
from holdfast.report.records import Candidate, Labels, Stability, Tradeoff
from holdfast.study.stabilities import CommonMeasure
from holdfast.study.tables import StudyTables
from holdfast.tradeoff.selected import Information


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """The options of :func:`holdfast.report.summarize`."""

    candidate: str | None
    rule: str
    metric: str | None
    measure: str | Measure | None
    level: float
    threshold: float
    X: Any
    y: Any = None
    replicability: Replicability | None = None


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What verdict, causes and method are written from.

    Attributes
    ----------
    result : StudyResult
        The study.
    labels : Labels
        What candidates, selectors and scores are called.
    level : float
        Level of all intervals.
    common : CommonMeasure
        The measure that all candidates share.
    candidate : str or None
        The reported candidate.
    estimate : StabilityEstimate or None
        Its stability as it was estimated; None if there is none.
    replicability : Replicability or None
        What is known of it in new studies.
    stability, information, features
        What the summary says about it.
    candidates, tradeoff
        All candidates, and the choice among them.
    X : matrix or None
        The features of the study, if the report was made with the data.
    """

    result: StudyTables
    labels: Labels
    level: float
    common: CommonMeasure
    candidate: str | None
    estimate: StabilityEstimate | None
    replicability: Replicability | None
    stability: Stability
    information: Information
    features: Features | None
    candidates: tuple[Candidate, ...]
    tradeoff: Tradeoff
    X: Any = None
