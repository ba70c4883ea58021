"""Choosing one candidate by a rule, with a sentence that says why."""

import inspect
import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from holdfast.cards import Card, Point, draw_points
from holdfast.checks import Matrix
from holdfast.declared import did_you_mean
from holdfast.inference.features import frequency_interval
from holdfast.inference.intervals import Interval, check_level
from holdfast.measures import MEASURES, Measure
from holdfast.result_base import AnyChart, ResultMixin
from holdfast.study.stabilities import subsets_that_count
from holdfast.study.tables import StudyTables
from holdfast.text import format_share, join_words
from holdfast.tradeoff.points import LEAST_UNITS, Floats, Points, Redraws, draw_half, make_points, redraw
from holdfast.tradeoff.rules import RULES, Choices, Decision, Rule

TOGETHER = 0.95
"""Share of the redraws with a choice that the alternatives make up together."""
MANY_DRAWS, FEW_DRAWS = 1000, 200
"""Redraws for rules that choose in all of them at once, and for others."""
REDRAWS = "redrawn resamples of this data set"
MAX_DRAWN = 20_000_000
"""Numbers (draws × resamples) of which redraws consist by default: those of very many resamples hardly differ."""
COLUMNS = ("family", "probability", "alternative")


def choose_in_redraws(
    points: Points, rule: Rule, parameters: Mapping[str, Any], n_draws: int | None = None
) -> tuple[Redraws, Choices]:
    """Redraw the resamples and apply a rule to each redraw.

    Parameters
    ----------
    points : Points
        The candidates.
    rule : Rule
        How one is chosen.
    parameters : mapping from str to object
        Parameters of the rule.
    n_draws : int, optional
        Number of redraws; by default 200, or 1000 for rules that choose in all of them at once (fewer, but at least
        200, of more than 20,000 resamples).

    Returns
    -------
    (Redraws, ndarray of int)
        The redraws, and the index of the candidate chosen in each; -1 where the rule chooses none.
    """
    default = FEW_DRAWS if rule.many is None else _default_draws(points)
    redraws = redraw(points, default if n_draws is None else n_draws)
    if rule.many is not None:
        return redraws, rule.many(redraws, **parameters)
    choices = np.full(len(redraws), -1)
    for draw in range(len(redraws)):
        with suppress(ValueError):  # no candidate of this draw meets the rule
            choices[draw] = points.names.index(rule(redraws.make_points(draw), **parameters).candidate)
    return redraws, choices


def _default_draws(points: Points) -> int:
    return min(MANY_DRAWS, max(FEW_DRAWS, MAX_DRAWN // points.units.size))


def tabulate_choices(points: Points, chosen: str, choices: Choices) -> pd.DataFrame:
    """Return in which share of the redraws each candidate is chosen, the most frequent first.

    Parameters
    ----------
    points : Points
        The candidates.
    chosen : str
        The candidate that the rule chose on the resamples as they are.
    choices : ndarray of int
        The index of the candidate chosen in each redraw; -1 for none.

    Returns
    -------
    DataFrame
        Indexed by candidate: ``family``, ``probability``, and whether it is an ``alternative``, one of those that
        cannot be distinguished: the fewest that make up 95 % of the redraws with a choice, and the chosen one.
    """
    share = np.bincount(choices[choices >= 0], minlength=len(points.points)) / max(len(choices), 1)
    families = [point.family for point in points.points]
    table = pd.DataFrame(dict(zip(COLUMNS, (families, share, False), strict=True)), index=pd.Index(points.names))
    table = table.rename_axis("candidate").sort_values("probability", ascending=False, kind="stable")
    before = table["probability"].cumsum() - table["probability"]
    made_up = (before / max(table["probability"].sum(), 1e-12)).round(2)  # as printed: 95 % suffice
    needed = (made_up < TOGETHER) & (table["probability"] > 0)
    return table.assign(alternative=needed | (table.index == chosen))


def describe_alternatives(table: pd.DataFrame, most: int = 3) -> str:
    """Name the candidates that cannot be distinguished: settings of one family together, the most frequent first.

    Parameters
    ----------
    table : DataFrame
        As of :func:`tabulate_choices`.
    most : int
        Families to name; the others are counted.

    Examples
    --------
    >>> import pandas as pd
    >>> from holdfast.tradeoff.choice import describe_alternatives
    >>> table = pd.DataFrame(
    ...     {"family": ["lasso", "lasso", "anova"], "probability": [0.5, 0.2, 0.3], "alternative": True},
    ...     index=["lasso(k=5)", "lasso(k=8)", "anova(k=5)"],
    ... )
    >>> describe_alternatives(table)
    'one of 2 settings of lasso, or anova(k=5)'
    """
    listed = table[table["alternative"].astype(bool)]
    total = listed.groupby("family", sort=False)["probability"].sum().sort_values(ascending=False, kind="stable")
    groups = {str(family): [str(name) for name in listed.index[listed["family"] == family]] for family in total.index}
    names = [
        members[0] if len(members) == 1 else f"one of {len(members)} settings of {family}"
        for family, members in groups.items()
    ]
    if len(names) > most:
        names = [*names[: most - 1], f"one of {len(names) - most + 1} other selectors"]
    return join_words(names, ", or " if any(" of " in name for name in names) else " or ")


def describe_certainty(table: pd.DataFrame, chosen: str) -> str:
    """State in which share of the redraws the chosen candidate is chosen, and what it cannot be distinguished from.

    Parameters
    ----------
    table : DataFrame
        As of :func:`tabulate_choices`.
    chosen : str
        The candidate that the rule chose.

    Returns
    -------
    str
        One or two sentences; empty if there is no other candidate, or nothing was redrawn.
    """
    if len(table) < 2:
        return ""
    sure = f"{chosen} is chosen in {format_share(float(table['probability'][chosen]))} of {REDRAWS}."
    none = 1 - float(table["probability"].sum())
    if none > 0.005:
        sure = f"{sure} In {format_share(none)} of them no candidate is as the rule asks."
    listed = table[table["alternative"].astype(bool)]
    if len(listed) < 2:
        return sure
    names = describe_alternatives(table)
    which = "them" if len(set(listed["family"])) > 1 else "these settings"
    start = names[0].upper() if names.startswith("one of") else names[0]
    return f"{start}{names[1:]}: these data cannot distinguish {which}. {sure}"


NOT_OPTIONS = ("self", "result")
"""Parameters of a method that are no options."""
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
        one of the candidates that these data cannot distinguish. Empty if nothing was redrawn.

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
    probabilities: pd.DataFrame = field(
        default_factory=lambda: pd.DataFrame(columns=list(COLUMNS)).rename_axis("candidate"), compare=False
    )

    @property
    def alternatives(self) -> list[str]:
        """The candidates that these data cannot distinguish, the chosen one among them.

        They are the fewest that make up 95 % of the redrawn resamples: another seed chooses one of them in about nine
        of ten studies or more.
        """
        table = self.probabilities
        return [self.candidate] if table.empty else [str(name) for name in table.index[table["alternative"]]]

    @property
    def certainty(self) -> str:
        """How certain the choice is, in one or two sentences; empty without another candidate or redraws."""
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
            Point(row.stability, row.score, str(name), strong=name == self.candidate, ring=name == self.candidate)
            for name, row in frame.iterrows()
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
    result: StudyTables,
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

    The rule is also applied to redrawn resamples of this data set (see :mod:`holdfast.tradeoff.points`): the share in
    which it chooses a candidate is the probability that a study with another seed chooses it.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    rule : str
        Name of a rule; :data:`holdfast.tradeoff.RULES` lists them with what they do.
    metric : str, optional
        The score; the study's first one by default.
    measure : str or Measure, optional
        The measure of stability; by default the one for what the candidates give. Bind its parameters to it:
        ``MEASURES["gulgezen"].bind(…)``.
    candidates : iterable of str, optional
        Candidates to choose from; by default all but those that a search stopped.
    level : float
        Level of the intervals, and of the tests of a rule that has some.
    n_draws : int, optional
        How often the resamples are redrawn; by default 1000 times, or 200 for a user-defined rule that chooses in one
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
    parameters = _add_level(RULES[rule], parameters, level)
    choice = _make_choice(points, RULES[rule].about.name, RULES[rule](points, **parameters))
    if n_draws == 0 or points.units.size < LEAST_UNITS:
        return choice
    _, choices = choose_in_redraws(points, RULES[rule], parameters, n_draws)
    return replace(choice, probabilities=tabulate_choices(points, choice.candidate, choices))


def _add_level(rule: Rule, parameters: Mapping[str, Any], level: float) -> dict[str, Any]:
    """The parameters of a rule; its ``level`` is that of the intervals unless it has its value."""
    return {**({"level": level} if "level" in rule.parameters else {}), **parameters}


def check_rule(rule: str, parameters: Mapping[str, Any], method: Callable[..., Any] = choose) -> None:
    """Raise unless there is such a rule and these are parameters of it.

    Parameters
    ----------
    rule : str
        Name of a rule.
    parameters : mapping from str to object
        Parameters for the rule.
    method : callable
        The function that was called with them: its options are named too, one of which may have been misspelled.
    """
    options = inspect.signature(method).parameters.values()
    of_method = [
        option.name for option in options if option.kind is not option.VAR_KEYWORD and option.name not in NOT_OPTIONS
    ]
    of_rule = RULES.find(rule).parameters
    for name in parameters:
        if name not in of_rule:
            raise ValueError(
                f"Expected options of {method.__name__} ({', '.join(of_method)}) or parameters of the rule {rule} "
                f"({', '.join(of_rule) or 'none'}), got {name!r}{did_you_mean(name, [*of_method, *of_rule])}"
            )
    RULES[rule].check(parameters)


def _make_choice(points: Points, rule: str, decision: Decision) -> Choice:
    frame = points.frame
    row: Any = frame.loc[decision.candidate]
    others = frame.index[frame.index != decision.candidate]
    why_not = []
    for name, score, reason in frame.loc[others, ["score", "reason"]].itertuples():
        missing = f"it has no {'score' if math.isnan(score) else 'stability'}" + (f": {reason}" if reason else "")
        why_not.append(decision.why_not.get(name) or missing)
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


def list_probabilities(
    result: StudyTables,
    candidate: str | None = None,
    *,
    rule: str = "one-se",
    metric: str | None = None,
    measure: str | Measure | None = None,
    candidates: Iterable[str] | None = None,
    threshold: float = 0.5,
    level: float = 0.95,
    n_draws: int | None = None,
    X: Matrix | None = None,
    **parameters: Any,
) -> "pd.Series[float]":
    """Return how probable it is that each feature is on the list of features to trust, if the study were run again.

    The resamples are redrawn; in each redraw the rule chooses a candidate, and the features of this candidate are on
    the list whose selection frequency is above the threshold by the lower end of its interval. It describes resampling
    of this data set, not new data sets.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidate : str, optional
        The candidate whose features are listed in every redraw; by default the one that the rule chooses in each.
    rule, metric : str
        How the candidate is chosen, and by which score, as for :func:`holdfast.tradeoff.choose`.
    measure : str or Measure, optional
        Measure of stability.
    candidates : iterable of str, optional
        Candidates to choose from.
    threshold : float
        Selection frequency that the interval of a feature must exceed.
    level : float
        Level of the intervals.
    n_draws : int, optional
        Number of redraws; by default 1000, or fewer, but at least 200, of more than 20,000 resamples.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    **parameters
        Parameters of the rule.

    Returns
    -------
    Series
        By feature, the most probable first; features that are never on the list are left out.

    See Also
    --------
    holdfast.tradeoff.choose : The probability that a candidate is chosen.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.tradeoff import list_probabilities
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> result = hf.Study(selectors=[hf.selectors.AnovaF(2)], perturbation=hf.Bootstrap(20)).run(X, y)
    >>> list_probabilities(result, "anova").to_dict()
    {'petal length (cm)': 1.0, 'petal width (cm)': 1.0}
    """
    if candidate is not None:
        result.family(candidate)  # or a sentence that lists the candidates
        points = Points(result=result, metric="", measure=MEASURES["nogueira"], level=level, points=[])  # for its units
        times = draw_half(points, _default_draws(points) if n_draws is None else n_draws)
        chosen = {candidate: np.arange(len(times))}
    else:
        points = make_points(result, metric, measure, candidates=candidates, level=level, X=X)
        redraws, choices = choose_in_redraws(points, RULES[rule], _add_level(RULES[rule], parameters, level), n_draws)
        times = redraws.times
        chosen = {points.names[index]: np.flatnonzero(choices == index) for index in np.unique(choices[choices >= 0])}
    total = np.zeros(len(result.feature_names))
    for name, draws in chosen.items():
        total += _times_on_list(points, name, times[draws], threshold, level)
    listed = pd.Series(total / len(times), index=list(result.feature_names))
    return listed[listed > 0].sort_values(ascending=False, kind="stable")


def _times_on_list(points: Points, candidate: str, times: Floats, threshold: float, level: float) -> Floats:
    """In how many draws each feature of a candidate is on the list."""
    runs = subsets_that_count(points.result, candidate)
    weights = times[:, points.units_of(pd.Index(points.result.split_numbers(runs)))]
    total = weights.sum(axis=1)
    weights = weights[total > 0] / total[total > 0, None]
    ever = np.flatnonzero(runs.counts)
    # Most features are below the threshold, so one above it is there in part by luck: one more resample without it.
    shrunk = runs.n_runs / (runs.n_runs + 1)
    counts = shrunk * runs.n_runs * np.asarray(weights @ runs.to_sparse()[:, ever].toarray())
    least = _least_count(runs.n_runs, threshold, level)
    # Half as many draws give every second count: each stands for the counts up to one away.
    on_list = np.clip((counts + 1 - (least - 0.5)) / 2, 0.0, 1.0)
    sums = np.zeros(runs.n_features)
    sums[ever] = on_list.sum(axis=0)
    return sums


@lru_cache(maxsize=64)
def _least_count(n_runs: int, threshold: float, level: float) -> int:
    """The least count that shows a selection frequency above the threshold; more than all runs if none does."""
    least = bisect_right(  # the lower end grows with the count
        range(n_runs + 1),
        threshold,
        key=lambda count: float(frequency_interval(np.array([count]), n_runs, level)[0][0]),
    )
    return least if least <= n_runs else n_runs + 2
