"""The parts of a summary, as plain typed data: verdict, stabilities, candidates, choice, causes, method, references."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeAlias

from holdfast.inference.estimate import StabilityEstimate
from holdfast.measures import Measure
from holdfast.replication import Replicability
from holdfast.result_base import ResultMixin
from holdfast.serialization import from_plain, json_schema
from holdfast.study.stabilities import CommonMeasure
from holdfast.study.tables import StudyTables
from holdfast.tradeoff.selected import HOLDS, IN_DOUBT, OFTEN, Information


class VersionedSummary(ResultMixin):
    """A summary whose JSON names its form and version; a subclass gives both, a title for the schema, and a template.

    :func:`holdfast.report.render` makes Markdown and a page of it with the templates of that name.
    """

    schema: ClassVar[str]
    schema_title: ClassVar[str]
    template: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON: undefined numbers are None, and ``schema`` names the form.

        Returns
        -------
        dict
            What :meth:`from_dict` reads and :meth:`json_schema` describes.
        """
        return {"schema": self.schema, **super().to_dict()}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the summary that :meth:`to_dict` wrote, with every value checked.

        Parameters
        ----------
        record : dict
            What :meth:`to_dict` returned, or a JSON reader read.

        Returns
        -------
        Summary
            The same summary.

        Raises
        ------
        ValueError
            If it has another schema, or a value of the wrong type; the message says where.
        """
        fields = dict(record)
        schema = fields.pop("schema", None)
        if schema != cls.schema:
            raise ValueError(f"Expected a summary with the schema {cls.schema!r}, got {schema!r}.")
        return from_plain(cls, fields)

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of :meth:`to_dict`, with a description of every field.

        Returns
        -------
        dict
            A JSON Schema, draft 2020-12.
        """
        return json_schema(cls, title=cls.schema_title, schema=cls.schema)


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
        return re.sub(rf"(?<![\w=])(?:{names})(?![\w(=])", lambda match: words[match[0]], sentence)


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
    next_step : str
        What to do next, with the number of rows that this takes where it is known; empty if there is nothing to say.
    """

    standing: Standing
    headline: str
    sentences: tuple[str, ...]
    cautions: tuple[str, ...]
    next_step: str = ""


@dataclass(frozen=True, kw_only=True)
class Use:
    """How much of a list comes back in another resample, and how much of what its models use.

    Attributes
    ----------
    listed : float
        Mean share of the features selected in a resample that another resample selects too.
    used : float
        Mean share of the importance in a resample's model that is on features which the model of another uses too.
    difference, low, high : float
        Stability of the list less that of what models use, both corrected for chance, with the interval of a paired
        test: the stability of features that are selected but hardly used.
    """

    listed: float
    used: float
    difference: float
    low: float
    high: float


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
    shuffled_agreement : float
        Mean agreement of two halves after the target was shuffled; undefined if that was not tried.
    real_sentence : str
        How many of the selected features are shown to have to do with the target; empty if that was not tried.
    p_any : float
        p-value that none of them has to do with the target.
    control_sentence : str
        The same as a number of features, next to that with the true target; empty if it is not known.
    n_pairs : int
        Number of times that the rows were split in half.
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
    shuffled_agreement: float = math.nan
    real_sentence: str = ""
    p_any: float = math.nan
    control_sentence: str = ""


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
        Share of further resamples that may select entirely different features, as far as these resamples show.
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

    @classmethod
    def of(cls, estimate: StabilityEstimate, ends: Iterable[float], level: float) -> Self:
        """Return an estimate with the ends of its interval."""
        low, high = map(float, ends)
        return cls(
            measure=estimate.measure, value=float(estimate.value), low=low, high=high, strength=estimate.strength,
            n_runs=estimate.n_runs, reason=estimate.note, scope=estimate.scope,
            unseen_share=float(estimate.unseen_share(level)),
        )  # fmt: skip


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
    """One row of the table of candidates: a selector with one setting.

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
        Whether these data cannot distinguish it from the chosen one.
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
        How certain the choice is, in one or two sentences; empty without another candidate.
    alternatives : tuple of str
        Candidates that these data cannot distinguish, the chosen one among them, the most frequently chosen first.
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
        Authors, year, title and journal in one line.
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


@dataclass(frozen=True, kw_only=True)
class Box:
    """The values of a feature in one class, or in one third of a target that is a number.

    Attributes
    ----------
    group : str
        The class, or which third.
    quantiles : tuple of float
        10, 25, 50, 75 and 90 % quantiles, rounded; empty for groups of fewer than eight rows.
    rows : tuple of float
        Values of single rows; empty unless the report was made with the data.
    """

    group: str
    quantiles: tuple[float, ...]
    rows: tuple[float, ...] = ()

    @property
    def least(self) -> float:
        """The lower end of what is drawn."""
        return min((*self.quantiles, *self.rows))

    @property
    def largest(self) -> float:
        """The upper end of what is drawn."""
        return max((*self.quantiles, *self.rows))


@dataclass(frozen=True, kw_only=True)
class SurvivalCurve:
    """The survival of the rows in one third of a feature, or with one of two or three values of it.

    Attributes
    ----------
    group : str
        Which third, or the value.
    time : tuple of float
        Multiples of a round number.
    survival, low, high : tuple of float
        Share of the rows without the event at each time, with its 95 % interval, rounded.
    at_risk : tuple of int
        Number of rows under observation.
    """

    group: str
    time: tuple[float, ...]
    survival: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    at_risk: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Feature:
    """How often a feature was selected, its stand-ins, and what that means.

    Attributes
    ----------
    feature : str
        Name of the feature.
    count : int
        Number of resamples that selected it.
    frequency, low, high : float
        Selection frequency with its interval.
    stand_ins : tuple of str
        Features that were selected instead of it.
    with_stand_ins : float
        Share of the resamples that selected it or one of its stand-ins.
    verdict : str
        What the interval says about the feature.
    direction : str or None
        In which class it is higher, or whether the target rises or falls with it; None without an effect.
    effect, effect_low, effect_high : float
        Mean effect on held-out rows with its interval; an AUC is that of the class in ``direction``.
    effect_splits : int
        Number of resamples behind the effect.
    agreement : float
        Share of them whose effect points the same way.
    second_effect : float
        Another measure of the effect, in the same direction: the standardized difference of two classes, or the
        correlation with a number; undefined for several classes.
    adjusted_effect, adjusted_low, adjusted_high : float
        The effect of what covariates and sites leave, in the same direction, with its interval; undefined if the
        selection is not adjusted.
    boxes : tuple of Box
        Quantiles of its values by class; empty if they were not stored.
    curves : tuple of SurvivalCurve
        Survival by thirds of its values, where survival times are predicted, for the features that are drawn.
    model_use : str or None
        What linear models do with it, given the other features, in words; None if that is not known, or if they were
        not shown to predict better than guessing.
    model_agreement : float
        Share of its models whose coefficient has the sign of the majority.
    coefficient : float
        Its mean coefficient in these models, in units of its standard deviation.
    used : float
        Its mean share of the importance in these models, the sum of all absolute coefficients.
    on_list : float
        Share of redrawn resamples of this data set in which the feature is on the list of features selected often: its
        frequency there, by the candidate chosen there, is above the threshold by the lower end of its interval.
    new_study : float
        Probability that a new study of this size selects it, if it was selected on all rows.
    by_habit : float
        Share of halves that select it with a shuffled target.
    expected_false : float
        Expected number of features at least as good that have nothing to do with the target.
    q : float
        The share of these among all features at least as good.
    corner : str
        Whether it is real, and found again, in words; empty if that is not known.
    """

    feature: str
    count: int
    frequency: float
    low: float
    high: float
    stand_ins: tuple[str, ...]
    with_stand_ins: float
    verdict: str
    direction: str | None = None
    effect: float = math.nan
    effect_low: float = math.nan
    effect_high: float = math.nan
    effect_splits: int = 0
    agreement: float = math.nan
    second_effect: float = math.nan
    adjusted_effect: float = math.nan
    adjusted_low: float = math.nan
    adjusted_high: float = math.nan
    boxes: tuple[Box, ...] = ()
    curves: tuple[SurvivalCurve, ...] = ()
    model_use: str | None = None
    model_agreement: float = math.nan
    coefficient: float = math.nan
    used: float = math.nan
    on_list: float = math.nan
    new_study: float = math.nan
    by_habit: float = math.nan
    expected_false: float = math.nan
    q: float = math.nan
    corner: str = ""


@dataclass(frozen=True, kw_only=True)
class FeatureTable:
    """Every feature that was ever selected, the most frequent first, as columns of equal length.

    Attributes
    ----------
    feature : tuple of str
        Names of the features.
    count : tuple of int
        Number of resamples that selected each.
    frequency, low, high : tuple of float
        Selection frequencies with their intervals.
    variance_share : tuple of float
        Share of each feature in the summed selection variances.
    """

    feature: tuple[str, ...]
    count: tuple[int, ...]
    frequency: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    variance_share: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.feature)


NO_TABLE = FeatureTable(feature=(), count=(), frequency=(), low=(), high=(), variance_share=())


@dataclass(frozen=True, kw_only=True)
class MapRow:
    """One row of the selection map: a resample, or several if there are many.

    Attributes
    ----------
    resample : str
        Label of the resample.
    first, last : int
        Numbers of the resamples in this row, from 1.
    block : str
        Outer fold, pair or repeat that it belongs to; empty if the design has none.
    columns : tuple of int
        Which columns it selected, by their index in ``features``.
    shares : tuple of float
        Which share of the resamples in this row selected each of these columns; empty if all did.
    """

    resample: str
    first: int
    last: int
    block: str
    columns: tuple[int, ...]
    shares: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SelectionMap:
    """Which resample selected which feature: the data of the selection map.

    Attributes
    ----------
    n_always, n_sometimes : int
        Number of features that every resample selected, and that some but not all did.
    features : tuple of str
        The columns: the most frequent features.
    frequencies : tuple of float
        Their selection frequencies.
    rows : tuple of MapRow
        The rows.
    """

    n_always: int
    n_sometimes: int
    features: tuple[str, ...]
    frequencies: tuple[float, ...]
    rows: tuple[MapRow, ...]


TRUST, TRUSTED_LIST = 0.8, 0.5
"""Frequency, and probability in a new study, from which a feature is trusted; share of the list that must come back.

Where more features are equally good than are selected, probabilities of single features are too high for those that
were lucky in these data. The lower end of the interval for the list as a whole shows that.
"""


@dataclass(frozen=True, kw_only=True)
class Features:
    """The features of the reported candidate.

    Attributes
    ----------
    n_features, n_runs : int
        Number of all features and of resamples.
    threshold : float
        Selection frequency that the interval of a feature must exceed for the feature to be trusted.
    shown : tuple of Feature
        Features that at least a tenth of the resamples selected, the most frequent first, at most 100.
    table : FeatureTable
        Every feature that was ever selected.
    map : SelectionMap or None
        Which resample selected which feature; None if nothing was selected.
    bound : str
        How many features of the consensus may be there by chance, in words.
    top : int or None
        How many of the best features of a ranking or weights count as selected; None for subsets.
    correlation_checked : bool
        Whether stand-ins had to be correlated, which needs the data; otherwise they only take turns.
    chance : float
        Selection frequency of a feature drawn at random: mean number of selected features over the number of all.
    effect : str or None
        What the effects of features are (AUC, rank correlation); None if there are none.
    adjusted_for : str or None
        What the selection and adjusted effects are adjusted for; None if they are not.
    no_effects : str or None
        Why there are no effects.
    no_model_use : str or None
        Why it is not said what models do with a feature.
    rows_visible : bool
        Whether single rows of the data are part of the summary.
    new_study_low : float
        Share of the features selected on all rows that a new study of this size would be expected to select, by the
        lower end of its interval; undefined if that is not known.
    """

    n_features: int
    n_runs: int
    threshold: float
    shown: tuple[Feature, ...]
    table: FeatureTable
    map: SelectionMap | None
    bound: str
    top: int | None
    correlation_checked: bool
    chance: float
    effect: str | None = None
    adjusted_for: str | None = None
    no_effects: str | None = None
    no_model_use: str | None = None
    rows_visible: bool = False
    new_study_low: float = math.nan

    @property
    def model_uses(self) -> bool:
        """Whether it is said what models do with a feature."""
        return any(feature.model_use for feature in self.shown)

    @property
    def tells_again(self) -> bool:
        """Whether it is said which features a new study would select."""
        return any(feature.new_study == feature.new_study for feature in self.shown)

    @property
    def tells_used(self) -> bool:
        """Whether it is said how much models use a feature."""
        return any(feature.used == feature.used for feature in self.shown)

    @property
    def tells_real(self) -> bool:
        """Whether it is said which features have to do with the target."""
        return any(feature.q == feature.q for feature in self.shown)

    @property
    def frequent(self) -> tuple[Feature, ...]:
        """The features whose selection frequency is above the threshold, by the lower end of its interval."""
        return tuple(feature for feature in self.shown if feature.verdict.startswith((HOLDS, OFTEN)))

    @property
    def holding(self) -> tuple[Feature, ...]:
        """Those of them that hold: the candidate was shown to predict better than guessing."""
        return tuple(feature for feature in self.shown if feature.verdict == HOLDS)

    @property
    def doubted(self) -> tuple[Feature, ...]:
        """Those of them that may be no features, such as the label of a batch: they are listed apart."""
        return tuple(feature for feature in self.shown if feature.verdict == IN_DOUBT)

    @property
    def trusted(self) -> tuple[Feature, ...]:
        """Those that hold and are likely in resamples and in a new study, if that selects at least half of the list."""
        likely = self.holding if self.new_study_low >= TRUSTED_LIST else ()
        return tuple(row for row in likely if row.frequency >= TRUST and row.new_study >= TRUST)

    @property
    def title(self) -> str:
        """What the table of features is called."""
        if self.trusted:
            return "The features to trust"
        return "The features that hold" if self.holding else "The most frequent features"


@dataclass(frozen=True, kw_only=True)
class ReportOptions:
    """The options of :func:`holdfast.report.summarize`.

    Without ``redrawn``, the resamples are not redrawn, which takes most of the time: nothing says how sure a choice is.
    """

    candidate: str | None = None
    rule: str = "one-se"
    metric: str | None = None
    measure: str | Measure | None = None
    level: float = 0.95
    threshold: float = 0.5
    X: Any = None
    y: Any = None
    replicability: Replicability | None = None
    rule_options: Mapping[str, Any] = field(default_factory=dict)
    redrawn: bool = True


@dataclass(frozen=True, kw_only=True)
class Findings:
    """What verdict, causes and method are written from.

    Attributes
    ----------
    result : StudyResult
        The study.
    labels : Labels
        What candidates, selectors and scores are called.
    options : ReportOptions
        What the report was asked for.
    common : CommonMeasure
        The measure that all candidates share.
    candidate : str or None
        The reported candidate.
    estimate : StabilityEstimate or None
        Its stability as it was estimated; None if there is none.
    replicability : Replicability or None
        What is known of it in new studies.
    stability, use, information, features
        What the summary says about it.
    candidates, tradeoff
        All candidates, and the choice among them.
    """

    result: StudyTables
    labels: Labels
    options: ReportOptions
    common: CommonMeasure
    candidate: str | None
    estimate: StabilityEstimate | None
    replicability: Replicability | None
    stability: Stability
    use: Use | None
    information: Information
    features: Features | None
    candidates: tuple[Candidate, ...]
    tradeoff: Tradeoff

    @property
    def level(self) -> float:
        """Level of all intervals."""
        return self.options.level
