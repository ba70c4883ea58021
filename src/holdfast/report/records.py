"""The parts of a summary, as plain typed data: verdict, stabilities, candidates, choice, causes, method, references."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

Standing: TypeAlias = Literal[
    "holds", "partly", "fails", "unsure", "stable", "partly stable", "not stable", "too early", "weak signal",
    "no signal", "unknown",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Labels:
    """What candidates, selectors and scores are called in tables, figures and sentences.

    Attributes
    ----------
    candidates, families, scores : object
        The name for readers of each, by its exact name: ``anova(n_features=5)`` is called "ANOVA F with 5 features".
    """

    candidates: Mapping[str, str]
    families: Mapping[str, str]
    scores: Mapping[str, str]

    def candidate(self, name: str | None) -> str:
        """Return what a candidate is called."""
        return self.candidates.get(str(name), str(name))

    def family(self, name: str | None) -> str:
        """Return what a selector is called."""
        return self.families.get(str(name), str(name))

    def score(self, name: str | None) -> str:
        """Return what a score is called."""
        return self.scores.get(str(name), str(name))

    def write(self, sentence: str) -> str:
        """Return a sentence of holdfast in which candidates and scores are called as readers know them."""
        words = {name: label for name, label in {**self.scores, **self.candidates}.items() if name != label}
        if not words:
            return sentence
        names = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        return re.sub(rf"(?<![\w=])(?:{names})(?![\w(=])", lambda found: words[found[0]], sentence)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The answer in two sentences.

    Attributes
    ----------
    standing : str
        ``holds``, ``partly``, ``fails``, ``unsure`` (the interval leaves it open); the same if nothing tested whether
        the features carry information: ``stable``, ``partly stable``, ``not stable``, ``too early``; ``weak signal``
        (not shown to predict better than guessing), ``no signal`` (less than one standard error better) or ``unknown``.
    headline : str
        The same in a few words.
    sentences : tuple of str
        How stable and how certain; what to use.
    cautions : tuple of str
        What the number does not say, and what is unusual about this study.
    """

    standing: Standing
    headline: str
    sentences: tuple[str, str]
    cautions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Replication:
    """Whether a new study would select the same features.

    Attributes
    ----------
    sentence : str
        The answer in words.
    expected, low, high : float
        How many of the selected features a new study of this size would be expected to select, with its interval over
        data sets.
    n_selected : int
        Number of features selected on all rows.
    agreement, agreement_low, agreement_high : float
        Expected agreement with a new study of this size, extrapolated; 0 as by chance, 1 the same features.
    half_agreement, half_low, half_high : float
        Expected agreement of two studies of half the size.
    rows_sentence : str
        With how many rows half of the features would be expected again; empty if nothing was shown.
    n_pairs : int
        Number of halvings behind it.
    cautions : tuple of str
        What the data say against it.
    """

    sentence: str
    expected: float
    low: float
    high: float
    n_selected: int
    agreement: float
    agreement_low: float
    agreement_high: float
    half_agreement: float
    half_low: float
    half_high: float
    rows_sentence: str
    n_pairs: int
    cautions: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Stability:
    """A stability with its interval.

    Attributes
    ----------
    measure : str or None
        The measure, with its parameters; None if there is no stability.
    value, low, high : float
        The stability and the ends of its interval; undefined if there is none.
    strength : str or None
        The value in words, for measures to which the words apply.
    n_runs : int
        Number of resamples behind it.
    reason : str or None
        Why the value or the interval is undefined.
    scope : str
        What the interval describes.
    unseen_share : float
        Share of further resamples that may select entirely different features, as far as these resamples can tell.
    """

    measure: str | None
    value: float
    low: float
    high: float
    strength: str | None
    n_runs: int
    reason: str | None
    scope: str
    unseen_share: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Score:
    """A mean score on held-out rows.

    Attributes
    ----------
    metric : str
        Name of the score.
    value, error : float
        Mean and its standard error, which allows for resamples that share rows.
    low, high : float
        Student's interval with this standard error, inside the range of the score.
    """

    metric: str
    value: float
    error: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """One candidate beside the others: a selector with one setting.

    Attributes
    ----------
    candidate, family : str
        Its name, and the selector that it belongs to.
    stability : Stability
        Its stability.
    scores : tuple of Score
        Its scores; empty without a model.
    size : float
        Mean number of selected features.
    seconds : float
        Mean time of a fit.
    failures : int
        Number of fits that failed.
    letters : str
        Candidates that share a letter do not differ significantly in stability; empty if they were not compared.
    on_front : bool
        Whether it is on the front of score and stability.
    reported : bool
        Whether the report is about it.
    why_not : str or None
        Why the rule did not choose it.
    chosen_in : float
        Share of redrawn resamples of this data set in which the rule chooses it; undefined without a choice.
    alternative : bool
        Whether these data cannot tell it apart from the chosen one.
    """

    candidate: str
    family: str
    stability: Stability
    scores: tuple[Score, ...]
    size: float
    seconds: float
    failures: int
    letters: str
    on_front: bool
    reported: bool
    why_not: str | None
    chosen_in: float = math.nan
    alternative: bool = False


@dataclass(frozen=True, kw_only=True)
class Tradeoff:
    """The choice between accuracy and stability, or why there is none.

    Attributes
    ----------
    missing : str or None
        Why there is no choice.
    candidate : str or None
        The candidate that the rule chose.
    rule, reason : str or None
        The rule, and why it chose this candidate.
    metric : str or None
        The score.
    score, score_error, score_low, score_high : float
        The score of the reported candidate on held-out rows, with its standard error and interval.
    front : tuple of str
        Candidates that no other beats in both, the most accurate first.
    measured_on : str or None
        What the chosen candidate was measured on.
    optimistic : bool
        Whether choosing and measuring used the same resamples.
    certainty : str
        How sure the choice is, in one or two sentences; empty without another candidate.
    alternatives : tuple of str
        Candidates that these data cannot tell apart, the chosen one among them, the most frequently chosen first.
    alternatives_text : str
        The same in words, settings of one selector together; empty if there is only one.
    chosen_in : float
        Share of redrawn resamples of this data set in which the rule chooses this candidate.
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
    certainty: str = ""
    alternatives: tuple[str, ...] = ()
    alternatives_text: str = ""
    chosen_in: float = math.nan


@dataclass(frozen=True, kw_only=True)
class Cause:
    """Something that makes the selection vary.

    Attributes
    ----------
    kind : str
        Which cause it is, for programs.
    title : str
        The cause in a few words.
    evidence : str
        The numbers that show it.
    help : str or None
        What would help, and how much with an interval, as tested on the resamples of the study; None if nothing was
        shown to.
    """

    kind: str
    title: str
    evidence: str
    help: str | None = None


@dataclass(frozen=True, kw_only=True)
class Reference:
    """Something to cite.

    Attributes
    ----------
    key : str
        BibTeX key.
    text : str
        Authors, year, title and place in one line.
    link : str
        Address; empty if there is none.
    bibtex : str
        BibTeX entry.
    used : str or None
        What this study used it for; None if it did not.
    """

    key: str
    text: str
    link: str
    bibtex: str
    used: str | None


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One setting of the study, for the list of settings.

    Attributes
    ----------
    name, value : str
        What it is, and its value in words.
    """

    name: str
    value: str


@dataclass(frozen=True, kw_only=True)
class Failure:
    """An error that fits raised.

    Attributes
    ----------
    error : str
        Its message.
    count : int
        Number of fits that raised it.
    """

    error: str
    count: int


@dataclass(frozen=True, kw_only=True)
class FitWarning:
    """A warning that fits gave, such as a solver that did not converge.

    Attributes
    ----------
    candidate : str
        The candidate whose fits gave it.
    message : str
        The warning.
    count : int
        Number of fits that gave it.
    """

    candidate: str
    message: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Method:
    """How it was done: a paragraph for a paper, and the details.

    Attributes
    ----------
    paragraph : str
        For the methods section of a paper.
    facts : tuple of Fact
        The settings in words; the first two are the data and the resamples.
    details : tuple of Fact
        Settings by their names in Python, for the analyst.
    selectors, plan : object
        All settings of selectors, and all that results depend on.
    versions : object
        Versions of holdfast, Python and the libraries that ran the study.
    fingerprint : object
        Shape and SHA-256 of the data.
    failures : tuple of Failure
        The most frequent errors, at most 10.
    warnings : tuple of FitWarning
        Warnings during fits, at most 20.
    """

    paragraph: str
    facts: tuple[Fact, ...]
    details: tuple[Fact, ...]
    selectors: Mapping[str, Any]
    plan: Mapping[str, Any]
    versions: Mapping[str, str]
    fingerprint: Mapping[str, Any]
    failures: tuple[Failure, ...]
    warnings: tuple[FitWarning, ...]
