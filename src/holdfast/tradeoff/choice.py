"""Choosing one candidate by a rule, with a sentence that says why."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from holdfast.cards import Card, Point, draw_points
from holdfast.checks import Matrix
from holdfast.declared import did_you_mean
from holdfast.inference.intervals import Interval, check_level
from holdfast.measures import Measure
from holdfast.results import ResultMixin
from holdfast.study.result import StudyResult
from holdfast.tradeoff.alternatives import choose_in_redraws, describe_certainty, no_choices, tabulate_choices
from holdfast.tradeoff.points import Points, make_points
from holdfast.tradeoff.redraws import LEAST_UNITS
from holdfast.tradeoff.rules import RULES, Decision

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

OWN = ("self", "result")
SAME = "the same resamples that it was chosen on, which makes its score look better than it is"
NO_CHOICE = "There is only one candidate, {}, so there was no choice to make."
HELD_OUT = "the rows held out from each resample"


@dataclass(frozen=True, kw_only=True)
class Choice(ResultMixin):
    """The candidate that a rule chose by accuracy and stability, and why.

    Attributes
    ----------
    candidate : str
        Its name.
    rule : str
        The rule.
    reason : str
        Why, in one sentence.
    metric, measure : str
        The score and the measure of stability that were weighed.
    score : float
        Mean score of the chosen candidate.
    score_interval : Interval
        Interval of the score.
    stability : float
        Stability of the chosen candidate.
    stability_interval : Interval
        Interval of the stability.
    beaten : DataFrame
        One row per other candidate: ``score``, ``stability`` and ``why_not``.
    measured_on : str
        What the score was measured on: the same resamples that served to choose, or outer folds that did not.
    nested : bool
        Whether the score is that of outer folds.
    facts : dict
        What the rule found on its way: the test it used, p-values, the standard error.
    probabilities : DataFrame
        One row per candidate, the most frequent first: its ``family``, the ``probability`` to be chosen, which is the
        share of redrawn resamples of this data set in which the rule chooses it, and whether it is an ``alternative``,
        one of the candidates that these data cannot tell apart. Empty if nothing was redrawn.

    See Also
    --------
    holdfast.StudyResult.choose : Makes it.
    NestedChoice : With the score on rows that took no part in it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(
    ...     selectors={"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 2, 3])},
    ...     perturbation=hf.Bootstrap(20),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = study.run(X, y)
    >>> choice = result.choose("accuracy")
    >>> choice.candidate, choice.beaten["why_not"].tolist()
    ('anova(size=3)', ['accuracy is lower: 0.917', 'accuracy is lower: 0.947'])
    """

    candidate: str
    rule: str
    reason: str
    metric: str
    measure: str
    score: float
    score_interval: Interval
    stability: float
    stability_interval: Interval
    beaten: pd.DataFrame = field(compare=False)
    measured_on: str = SAME
    nested: bool = False
    facts: dict[str, Any] = field(default_factory=dict, compare=False)
    probabilities: pd.DataFrame = field(default_factory=no_choices, compare=False)

    @property
    def alternatives(self) -> list[str]:
        """The candidates that these data cannot tell apart, the chosen one among them.

        They are the fewest that make up 95 % of the redrawn resamples: another seed chooses one of them in about nine
        of ten studies or more.
        """
        table = self.probabilities
        return [self.candidate] if table.empty else [str(name) for name in table.index[table["alternative"]]]

    @property
    def certainty(self) -> str:
        """How sure the choice is, in one or two sentences; empty without another candidate or redraws."""
        return describe_certainty(self.probabilities, self.candidate)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per candidate, the chosen one first: ``score``, ``stability``, ``why_not``, ``probability``.

        Returns
        -------
        DataFrame
            Indexed by candidate.
        """
        chosen = pd.DataFrame(
            {"score": [self.score], "stability": [self.stability], "why_not": [""]},
            index=pd.Index([self.candidate], name="candidate"),
        )
        table = pd.concat([chosen, self.beaten]).rename_axis("candidate")
        return table.assign(probability=self.probabilities["probability"].astype(float).reindex(table.index))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            One entry per attribute, ``alternatives`` and ``certainty`` included.
        """
        return {**super().to_dict(), "alternatives": self.alternatives, "certainty": self.certainty}

    def plot(self) -> "AnyChart":
        """Draw accuracy against stability, the chosen candidate in a ring (see :func:`holdfast.plots.plot_pareto`).

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast.plots import plot_pareto

        table = self.to_frame().reset_index()
        names, ends = ("score_low", "score_high", "low", "high"), (*self.score_interval, *self.stability_interval)
        others = [math.nan] * (len(table) - 1)
        known = {name: [end, *others] for name, end in zip(names, ends, strict=True)}
        return plot_pareto(table.assign(chosen=table.index == 0, settings=table["why_not"], **known), score=self.metric)

    def _card(self) -> Card:
        frame = self.to_frame()
        points = [
            Point(row.stability, row.score, str(name), strong=place == 0, ring=place == 0)
            for place, (name, row) in enumerate(frame.iterrows())
        ]
        return Card(
            title=f"Choice by the rule {self.rule}", verdict=self.reason, caution=self.certainty, frame=frame,
            picture=draw_points(points, x_title=f"stability ({self.measure})", y_title=self.metric),
            note=f"Measured on {self.measured_on}.",
        )  # fmt: skip

    def __repr__(self) -> str:
        score = f"{self.metric} {self.score:.3f}{_format_interval(self.score_interval)}"
        stability = f"{self.measure} {self.stability:.3f}{_format_interval(self.stability_interval)}"
        lines = [self.reason, f"{score}, {stability}", self.certainty, f"Measured on {self.measured_on}."]
        return "\n".join(line for line in lines if line)


def _format_interval(interval: Interval) -> str:
    return "" if math.isnan(interval.low) else f" [{interval.low:.3f}, {interval.high:.3f}]"


def choose(
    result: StudyResult,
    rule: str = "one-se",
    *,
    metric: str | None = None,
    measure: str | Measure | None = None,
    candidates: Iterable[str] | None = None,
    level: float = 0.95,
    n_draws: int | None = None,
    X: Matrix | None = None,
    **parameters: Any,
) -> Choice:
    """Choose one candidate of a study by accuracy and stability, and say how sure that is.

    The rule is also applied to redrawn resamples of this data set (see :mod:`holdfast.tradeoff.redraws`): the share of
    them in which it chooses a candidate is the probability that a study with another seed chooses it.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    rule : str
        Name of a rule; :data:`holdfast.tradeoff.RULES` lists them with what they do.
    metric : str, optional
        The score; the study's first one by default.
    measure : str or Measure, optional
        The measure of stability; by default the usual one for what the candidates give. Bind its parameters to it:
        ``MEASURES["gulgezen"].bind(…)``.
    candidates : iterable of str, optional
        Candidates to choose from; by default all but those that a search stopped.
    level : float
        Level of the intervals, and of the tests of a rule that has some.
    n_draws : int, optional
        How often the resamples are redrawn; by default 1000 times, or 200 for a rule of one's own that chooses in one
        redraw at a time. 0 for no probabilities; there are none with fewer than eight resamples either.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the rule, such as ``stability=0.8`` of ``"at-least"``; ``RULES[name].parameters`` lists them.

    Returns
    -------
    Choice
        The candidate, the reason, why not the others, and how often each would be chosen.

    Raises
    ------
    ValueError
        If there is no such rule, it has no such parameter, ``n_draws`` is below 0, or no candidate has a score and a
        stability.

    See Also
    --------
    holdfast.nested_choice : What a choice is worth on rows that took no part in it.
    pareto : All best compromises.
    """
    check_level(level)
    check_rule(rule, parameters)
    if n_draws is not None and n_draws < 0:
        raise ValueError(f"Expected a number of redraws of at least 0, got n_draws={n_draws}.")
    points = make_points(result, metric, measure, candidates=candidates, level=level, X=X)
    if "level" in RULES[rule].parameters:
        parameters = {"level": level, **parameters}
    choice = _make_choice(points, RULES[rule].about.name, RULES[rule](points, **parameters))
    if n_draws == 0 or points.units.size < LEAST_UNITS:
        return choice
    _, places = choose_in_redraws(points, RULES[rule], parameters, n_draws)
    return replace(choice, probabilities=tabulate_choices(points, choice.candidate, places))


def check_rule(rule: str, parameters: Mapping[str, Any], method: Callable[..., Any] = choose) -> None:
    """Raise unless there is such a rule and these are parameters of it.

    Parameters
    ----------
    rule : str
        Name of a rule.
    parameters : mapping from str to object
        Parameters that are meant for the rule.
    method : callable
        Who was called with them: its own options are named too, one of which may have been misspelled.
    """
    of_rule, of_method = RULES.find(rule).parameters, _options(method)
    for name in parameters:
        if name not in of_rule:
            raise ValueError(
                f"Expected options of {method.__name__} ({', '.join(of_method)}) or parameters of the rule {rule} "
                f"({', '.join(of_rule) or 'none'}), got {name!r}{did_you_mean(name, [*of_method, *of_rule])}"
            )
    RULES[rule].check(parameters)


def _options(method: Callable[..., Any]) -> list[str]:
    """The options of a method: its parameters, but for the result itself and those that are handed on."""
    parameters = inspect.signature(method).parameters
    return [name for name, option in parameters.items() if option.kind is not option.VAR_KEYWORD and name not in OWN]


def _make_choice(points: Points, rule: str, decision: Decision) -> Choice:
    frame = points.frame
    row: Any = frame.loc[decision.candidate]
    others = frame.index[frame.index != decision.candidate]
    why_not = [decision.why_not.get(name) or _say_what_is_missing(frame.loc[name].to_dict()) for name in others]
    single = len(frame) == 1
    return Choice(
        candidate=decision.candidate, rule=rule, metric=points.metric,
        reason=NO_CHOICE.format(decision.candidate) if single else decision.reason,
        measured_on=HELD_OUT if single else SAME,
        measure=points.measure.label, score=float(row["score"]),
        score_interval=Interval(float(row["score_low"]), float(row["score_high"])),
        stability=float(row["stability"]), stability_interval=Interval(float(row["low"]), float(row["high"])),
        beaten=frame.loc[others, ["score", "stability"]].assign(why_not=why_not), facts=decision.facts,
    )  # fmt: skip


def _say_what_is_missing(row: dict[str, Any]) -> str:
    what = "score" if math.isnan(row["score"]) else "stability"
    return f"it has no {what}" + (f": {row['reason']}" if row["reason"] else "")
