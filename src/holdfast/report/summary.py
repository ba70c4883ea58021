"""What a report says, as plain typed data: one summary, from which every rendering is made."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, TypeAlias

import pandas as pd

from holdfast.results import ResultMixin
from holdfast.tradeoff.final import HOLDS, OFTEN
from holdfast.tradeoff.information import Information

Standing: TypeAlias = Literal[
    "holds", "partly", "fails", "unsure", "stable", "partly stable", "not stable", "too early", "weak signal",
    "no signal", "unknown",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The answer in two sentences.

    Attributes
    ----------
    standing : str
        ``holds``, ``partly``, ``fails``, ``unsure`` (the interval leaves it open); the same where it was not tested
        whether the features carry information: ``stable``, ``partly stable``, ``not stable``, ``too early``;
        ``weak signal`` (not shown to predict better than guessing), ``no signal`` (less than one standard error better)
        or ``unknown``.
    headline : str
        The same in a few words.
    sentences : tuple of str
        How stable and how sure; what to use.
    cautions : tuple of str
        What the number does not say, and what is odd about this study.
    """

    standing: Standing
    headline: str
    sentences: tuple[str, str]
    cautions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Stability:
    """A stability with its interval; ``nan`` where there is none, and why.

    ``unseen`` is the share of further runs that may select something else altogether, as far as these runs can tell.
    """

    measure: str | None
    value: float
    low: float
    high: float
    strength: str | None
    runs: int
    reason: str | None
    scope: str
    unseen: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Feature:
    """How often a feature was selected, which others stood in for it, and what that means."""

    feature: str
    count: int
    frequency: float
    low: float
    high: float
    stand_ins: tuple[str, ...]
    with_stand_ins: float
    verdict: str


@dataclass(frozen=True, kw_only=True)
class Features:
    """The features of the candidate that the report is about.

    Attributes
    ----------
    shown : tuple of Feature
        Those that at least a tenth of the runs selected, the most frequent first, 100 at the most.
    table : tuple of dict
        Every feature that was ever selected: feature, count, frequency, low, high.
    top : int or None
        Cut of rankings or weights; None for subsets.
    alike_checked : bool
        Whether stand-ins were checked to be correlated; without the data they are told by turns alone.
    chance : float
        Selection frequency of a feature drawn at random: mean number of selected features over the number of all.
    """

    n_features: int
    n_runs: int
    threshold: float
    shown: tuple[Feature, ...]
    table: tuple[Mapping[str, Any], ...]
    bound: str
    top: int | None
    alike_checked: bool
    chance: float

    @property
    def often(self) -> tuple[Feature, ...]:
        """The features whose selection frequency is above the threshold, by the lower end of its interval."""
        return tuple(one for one in self.shown if one.verdict.startswith((HOLDS, OFTEN)))

    @property
    def trusted(self) -> tuple[Feature, ...]:
        """Those of them that hold: the candidate was shown to predict better than guessing."""
        return tuple(one for one in self.shown if one.verdict == HOLDS)


@dataclass(frozen=True, kw_only=True)
class Score:
    """A mean score with its standard error."""

    metric: str
    value: float
    error: float


@dataclass(frozen=True, kw_only=True)
class Selector:
    """One candidate beside the others."""

    candidate: str
    family: str
    stability: Stability
    scores: tuple[Score, ...]
    size: float
    seconds: float
    failures: int
    letters: str
    on_front: bool
    chosen: bool
    why_not: str | None


@dataclass(frozen=True, kw_only=True)
class Tradeoff:
    """The choice between accuracy and stability, or why there is none.

    Attributes
    ----------
    missing : str or None
        Why there is no choice.
    optimistic : bool
        Whether choosing and measuring was on the same resamples.
    score, score_error, score_low, score_high : float
        The score of the candidate that the report is about, on held-out rows.
    """

    missing: str | None = None
    candidate: str | None = None
    rule: str | None = None
    reason: str | None = None
    metric: str | None = None
    score: float = math.nan
    score_error: float = math.nan
    score_low: float = math.nan
    score_high: float = math.nan
    front: tuple[str, ...] = ()
    measured_on: str | None = None
    optimistic: bool = False


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Something that makes the selection vary: the numbers that show it, and what would help."""

    kind: str
    title: str
    evidence: str
    help: str


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Something to cite."""

    key: str
    text: str
    link: str
    bibtex: str
    used: str | None


@dataclass(frozen=True, kw_only=True)
class Method:
    """How it was done: in a paragraph for a paper, and in detail."""

    paragraph: str
    facts: tuple[tuple[str, str], ...]
    selectors: Mapping[str, Any]
    plan: Mapping[str, Any]
    versions: Mapping[str, str]
    fingerprint: Mapping[str, Any]
    failures: tuple[tuple[str, int], ...]
    notes: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, kw_only=True)
class Summary(ResultMixin):
    """All that a report says.

    Attributes
    ----------
    title : str
        Heading of the report.
    level : float
        Level of all intervals.
    candidate : str or None
        The candidate that the report is about; None if none has finished a run.
    stability : Stability
        Its stability.
    footing : str or None
        How candidates that give different things were compared; None if all give the same.
    information : Information
        Whether the candidate predicts better than guessing.
    verdict, features, selectors, tradeoff, causes, method, references
        The sections, in the order of the report. ``features`` is None without a candidate.
    """

    title: str
    level: float
    candidate: str | None
    verdict: Verdict
    stability: Stability
    footing: str | None
    information: Information
    features: Features | None
    selectors: tuple[Selector, ...]
    tradeoff: Tradeoff
    causes: tuple[Cause, ...]
    method: Method
    references: tuple[Reference, ...]

    @property
    def guessing(self) -> str:
        """How the candidate stands against guessing, in a sentence or two."""
        found = self.information
        if found.untested:
            return f"Whether the features carry information was not tested: {found.untested}."
        better = (
            "the reported candidate is better than that."
            if found.shown
            else "the reported candidate is no better, as far as the runs can tell."
            if found.guesses
            else "the reported candidate was not shown to be better."
        )
        return (
            f"Guessing without any feature ({found.strategy}) reaches {found.metric} {found.baseline:.3f} on the same "
            f"rows, against {found.score:.3f}; {better}"
        )

    @property
    def no_cause(self) -> str:
        """What to say where no cause was found."""
        if math.isnan(self.stability.value):
            return "Nothing can be said without a stability."
        if self.stability.low >= 0.75:
            return "There is little to explain: the selection is stable."
        return "The numbers of this study point to no particular cause."

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate, the most stable first: stability with its interval, size, failures."""
        rows = [
            {
                "candidate": selector.candidate, "family": selector.family, "stability": selector.stability.value,
                "low": selector.stability.low, "high": selector.stability.high, "size": selector.size,
                "failures": selector.failures, "chosen": selector.chosen,
            }
            for selector in self.selectors
        ]  # fmt: skip
        return pd.DataFrame(rows).set_index("candidate")

    def __repr__(self) -> str:
        about = "" if self.candidate is None else f"{self.candidate}: "
        return "\n".join([f"{about}{self.verdict.headline}", *self.verdict.sentences])

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON: undefined numbers are None."""
        return _plain(self)


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
