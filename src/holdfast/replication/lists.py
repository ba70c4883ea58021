"""A list of one's own: how often each feature is selected, its effect, and how many a new study would select."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from holdfast.inference.intervals import Interval
from holdfast.io.guessing import split_label
from holdfast.replication import agreements
from holdfast.replication.agreements import FrequencyProfile
from holdfast.replication.result import ERRORS, Replicability, format_expected, name_corner
from holdfast.replication.running import find_known, replicability
from holdfast.study.tables import StudyTables
from holdfast.text import LEGEND, format_count, format_percent, join_first
from holdfast.tradeoff.selected import (
    HOLDS,
    IN_DOUBT,
    OFTEN,
    SelectedFeatures,
    choose_only_candidate,
    default_candidate,
    judge_features,
    selected_features,
)

N_PAIRS = 50
"""How often the rows are split into halves for a list."""
NEW_STUDY_COLUMNS = ("new_study", *ERRORS)
"""Columns of a feature: its probability in a new study, and what shuffled targets would select."""
CERTAINTY = 0.35
"""Least variance of a feature's probability given these data, per variance of selected or not."""
EFFECTS = ("direction", "effect", "effect_low", "effect_high", "used")
NOT_ESTIMATED = "it has not been estimated; X= and y= estimate it"


@dataclass(frozen=True, kw_only=True)
class ExpectedOfList:
    """How many features of a list a new study would be expected to select.

    Attributes
    ----------
    expected : float
        The number; ``nan`` if it is not known.
    interval : Interval
        Of :attr:`expected`, over data sets.
    probabilities : ndarray
        The probability that a new study selects each feature of the list; ``nan`` where it is not known.
    sentence : str
        The number in words, or why there is none.
    """

    expected: float
    interval: Interval
    probabilities: NDArray[np.float64]
    sentence: str

    @classmethod
    def unknown(cls, reason: str, probabilities: Sequence[float] | NDArray[np.float64]) -> "ExpectedOfList":
        """Return the sentence where there is no number."""
        nothing = Interval(math.nan, math.nan)
        return cls(expected=math.nan, interval=nothing, probabilities=np.asarray(probabilities, dtype=np.float64),
                   sentence=f"How many of these features a new study would select is not known: {reason}.")  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the number, its interval and the sentence as plain values."""
        low, high = self.interval
        return {"expected": self.expected, "low": low, "high": high, "sentence": self.sentence}


def expect_list(estimate: Replicability | None, columns: Sequence[int]) -> ExpectedOfList:
    r"""Estimate how many features of any list a new study would be expected to select.

    Probabilities are those of :func:`estimate_replicability` for all features, and the number is their sum. Features
    off the selection have probabilities from the same profile.

    The interval is that of the agreement for the part of the list that is the selection. For the rest it has the
    variance over data sets of how many of the list halves select: half the mean squared difference of disjoint
    halves, less the variance over halves. A list made from other data suffers no winner's curse, and more of it comes
    back; so the upper end reaches to the frequencies as they are, if they and their errors grow with the rows.

    Parameters
    ----------
    estimate : Replicability or None
        What is known of the candidate.
    columns : sequence of int
        The features of the list, each once.

    Returns
    -------
    ExpectedOfList
        Undefined with a reason, if nothing was estimated.
    """
    mine = np.asarray(columns, dtype=np.int64)
    nothing = np.full(mine.size, math.nan)
    if estimate is None:
        return ExpectedOfList.unknown(NOT_ESTIMATED, nothing)
    if estimate.reason is not None:
        return ExpectedOfList.unknown(estimate.reason, nothing)
    if not estimate.halves:  # stored before lists were looked at
        known = dict(zip(estimate.frame["column"], estimate.frame["probability"], strict=True))
        return ExpectedOfList.unknown(NOT_ESTIMATED, [known.get(column, math.nan) for column in mine.tolist()])
    if not mine.size:
        return ExpectedOfList.unknown("no feature of the list is in the study", nothing)
    selected = np.sort(estimate.frame["column"].to_numpy(dtype=np.int64))
    members = np.zeros((len(estimate.halves), estimate.n_features), dtype=bool)
    for half, chosen in enumerate(estimate.halves):
        members[half, list(chosen)] = True
    profile = FrequencyProfile(members.sum(axis=0), len(members))
    is_selected = np.isin(np.arange(estimate.n_features), selected)
    middle = profile.expect(members.sum(axis=0), is_selected, estimate.agreement)
    ones = np.ones(selected.size)
    ends = (agreements.find_step(middle[selected], ones, number) for number in estimate.expected_interval)
    middle, low, high = (expit(logit(middle[mine]) + step) for step in (0.0, *ends))
    raw = profile.probabilities(agreements.FASTEST, selected.size)[profile.entry][mine]
    both = np.isin(mine, selected)
    alike = both.sum() ** 2 / (mine.size * selected.size)  # 1 for the selection itself, 0 if none of it is on the list
    overlaps = members[:, mine].sum(axis=1).astype(np.float64)
    of_halves = float(((overlaps[::2] - overlaps[1::2]) ** 2).mean() / 2 - overlaps.var())
    variance = (1 - alike) * max(of_halves, CERTAINTY * float((middle * (1 - middle)).sum()))
    error = float(ndtri((1 + estimate.level) / 2)) * math.sqrt(variance)
    expected = float(middle.sum())
    below, above = float((middle - low)[both].sum()), float((high - middle)[both].sum())
    grown = math.sqrt(1 - alike) * float(np.maximum(raw - middle, 0).sum())
    interval = Interval(
        max(expected - math.hypot(error, below), 0.0),
        min(expected + grown + math.hypot(agreements.GROWTH * error, math.sqrt(alike) * above), float(mine.size)),
    )
    if alike == 1:
        interval = estimate.expected_interval
    sentence = format_expected(expected, interval, mine.size, estimate.beyond_chance)
    return ExpectedOfList(expected=expected, interval=interval, probabilities=middle, sentence=sentence)


def find_columns(features: Iterable[Any], result: StudyTables) -> list[Any]:
    """Return the column of each feature; None for a name that the study does not know."""
    columns = {str(feature): column for column, feature in enumerate(result.feature_names)}
    return [columns.get(str(feature)) for feature in features]


def study_features(
    result: StudyTables,
    candidate: str | None = None,
    *,
    level: float = 0.95,
    threshold: float = 0.5,
    top: int | None = None,
    X: Any = None,
    metric: str | None = None,
) -> SelectedFeatures:
    """Tabulate the selected features of a candidate: frequency, new study, q, use by models, effect and stand-ins.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidate : str, optional
        Name of a candidate; by default the one that a report is about: the only one, the chosen one, or without scores
        the most stable one.
    level : float
        Level of the intervals.
    threshold : float
        Selection frequency that the interval of a feature that holds must exceed.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.
    X : frame or array, optional
        The features that the study ran on; stand-ins must then be correlated too.
    metric : str, optional
        The score by which the candidate must predict better than guessing; the study's first by default.

    Returns
    -------
    SelectedFeatures
        One row per feature that was ever selected, the most frequent first. What a new study and shuffled targets say
        is known where the study or its store has it (:func:`holdfast.replicability`).

    See Also
    --------
    final_features : The features of a fit to all rows.
    holdfast.check_features : A list of your own, checked name by name.
    """
    selected = selected_features(result, candidate, level=level, threshold=threshold, top=top, X=X, metric=metric)
    known = find_known(result, selected.candidate, level=level, X=X)
    columns = find_columns(selected.frame["feature"], result)
    frame = selected.frame.copy()
    frame[list(NEW_STUDY_COLUMNS)] = tabulate_new_study(known, columns)[list(NEW_STUDY_COLUMNS)].to_numpy()
    return replace(selected, frame=frame)


def tabulate_new_study(known: Replicability | None, columns: Sequence[int | None]) -> pd.DataFrame:
    """Return probabilities in a new study and q-values of any features of a study, one row per feature.

    Its columns are ``new_study``, ``by_habit``, ``expected_false``, ``q`` and ``corner``: ``nan``, and an empty text,
    where a column is None, or nothing is known.
    """
    table = pd.DataFrame(math.nan, index=range(len(columns)), columns=list(NEW_STUDY_COLUMNS))
    chosen = {row: column for row, column in enumerate(columns) if column is not None}
    if known is None or not chosen:
        return table.assign(corner="")
    rows, listed = list(chosen), list(chosen.values())
    table.loc[rows, list(ERRORS)] = known.errors_of(listed).to_numpy()
    table.loc[rows, "new_study"] = expect_list(known, listed).probabilities
    table["in_halves"] = math.nan
    if known.halves:
        counts = np.bincount(np.concatenate(known.halves), minlength=known.n_features)
        table.loc[rows, "in_halves"] = counts[listed] / len(known.halves)
    corners = list(map(name_corner, table["q"], table["new_study"], table.pop("in_halves"), table["by_habit"]))
    return table.assign(corner=corners)


def tabulate_features(result: StudyTables) -> pd.DataFrame:
    """Return the features that each candidate selected, then the names of those that none ever selected.

    Parameters
    ----------
    result : StudyResult
        What a study found.

    Returns
    -------
    DataFrame
        The tables of :meth:`StudyResult.features` with the ``candidate`` and the ``column`` of each feature.
    """
    tables = []
    for candidate in result.finished:
        try:
            features = study_features(result, candidate)
        except ValueError:  # no resample of it counts for the stability
            continue
        tables.append(features.to_frame().assign(candidate=candidate))
    selected = {feature for table in tables for feature in table["feature"]}
    never = [feature for feature in result.feature_names if feature not in selected]
    listed = pd.concat([*tables, pd.DataFrame({"feature": never})], ignore_index=True)
    listed = listed.assign(column=find_columns(listed["feature"], result), feature=listed["feature"].astype(str))
    if not tables:
        return listed
    listed["stand_ins"] = [tuple(map(str, names)) if isinstance(names, tuple) else () for names in listed["stand_ins"]]
    counts = dict.fromkeys(("count", "splits"), "Int64")  # the last rows have none
    return listed[list(dict.fromkeys(["candidate", *listed.columns]))].astype(counts)


def name_features(features: Iterable[Any], result: StudyTables) -> list[Any]:
    """Return the features of a list by the names that they have in a study; unknown ones stay as they are.

    Where a table had labels, features are named ``TP53 (ENSG00000141510)``: either part will do, if it is that of one
    feature.
    """
    known = dict.fromkeys(map(str, result.feature_names))
    by_part: dict[str, list[str]] = {}
    for joined in known:
        for part in set(split_label(joined)):
            by_part.setdefault(part, []).append(joined)
    names = list(features)
    for position, name in enumerate(names):
        meant = [] if str(name) in known else by_part.get(str(name), [])
        if len(meant) > 1:
            raise ValueError(
                f"Expected the name of one feature, got {str(name)!r}, which may be any of {len(meant)}: "
                f"{join_first(map(repr, meant))}; write which one."
            )
        names[position] = meant[0] if meant else name
    return names


def annotate(result: StudyTables, adata: Any, candidate: str | None = None, *, key: str = "holdfast") -> None:
    """Write what a study found of each feature into the ``var`` of an AnnData object.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    adata : AnnData
        The object that the study ran on, or another with its features, in any order.
    candidate : str, optional
        The candidate; by default the one that the report shows.
    key : str
        How names of the new columns begin: ``holdfast_frequency`` (share of resamples that selected the feature),
        ``holdfast_new_study`` (probability that a new study selects it), ``holdfast_q`` (whether it has to do with the
        target) and ``holdfast_used`` (its share of what models use), each where it is known, and
        ``holdfast_verdict``. Features that the study did not have are missing in all of them.

    Raises
    ------
    ValueError
        If no feature of the study has a name of this object.

    See Also
    --------
    StudyResult.features : The same as a frame, with intervals and effects.
    """
    chosen = default_candidate(result) if candidate is None else candidate
    rows = study_features(result, chosen).to_frame()
    names, known = name_features(adata.var_names, result), set(map(str, result.feature_names))
    is_known = np.array([name in known for name in map(str, names)], dtype=bool)
    if not is_known.any():
        raise ValueError(
            f"Expected features of the study in var_names, such as {next(iter(known))!r}, got others, such as "
            f"{str(names[0])!r}."
        )
    found = rows.assign(feature=rows["feature"].astype(str)).set_index("feature").reindex(list(map(str, names)))
    adata.var[f"{key}_frequency"] = found["frequency"].fillna(0).where(is_known).to_numpy(dtype=np.float64)
    for name in LEGEND:
        adata.var[f"{key}_{name}"] = found[name].where(is_known).to_numpy(dtype=np.float64)
    verdicts = found["verdict"].astype(object).where(found["verdict"].notna(), "never selected")
    adata.var[f"{key}_verdict"] = verdicts.where(is_known, None).to_numpy()


class ListCheck(NamedTuple):
    """A list that was checked against a candidate.

    Attributes
    ----------
    frame : DataFrame
        As :func:`holdfast.check_features` returns it.
    new_study : ExpectedOfList
        What a new study would select of it.
    found : SelectedFeatures
        The features that the candidate selected.
    """

    frame: pd.DataFrame
    new_study: ExpectedOfList
    found: SelectedFeatures

    @property
    def conclusion(self) -> str:
        """Whether the list holds as a whole, in a sentence or two."""
        names = list(map(str, self.frame.index))
        return judge_list(names, self.frame["verdict"].tolist(), self.found.frame)

    def judge(self, share: float) -> tuple[str, bool]:
        """Return whether at least this share of the list holds, in a sentence for a log and as a yes or no."""
        size, verdicts = len(self.frame), self.frame["verdict"].tolist()
        holding, undecided = verdicts.count(HOLDS), verdicts.count("undecided")
        more = f", {undecided} {'is' if undecided == 1 else 'are'} undecided" if undecided else ""
        passed = holding >= share * size
        return (
            f"{'Passed' if passed else 'Not passed'}: {holding} of {format_count(size, 'feature')} "
            f"{'holds' if holding == 1 else 'hold'} ({format_percent(holding / size, 0)}; at least "
            f"{format_percent(share, 0)} required){more}."
        ), passed


def check_list(
    features: Iterable[Any],
    result: StudyTables,
    candidate: str | None = None,
    *,
    known: Replicability | None = None,
    X: Any = None,
    level: float = 0.95,
    threshold: float = 0.5,
    top: int | None = None,
    metric: str | None = None,
) -> ListCheck:
    """Check a list against a candidate; ``known`` is what is known of it in new studies, by default what is stored."""
    name, names = choose_only_candidate(result, candidate), name_features(features, result)
    options: dict[str, Any] = {"X": X, "level": level, "threshold": threshold, "top": top, "metric": metric}
    checked = judge_features(names, result, name, **options)
    selected = selected_features(result, name, **options)
    columns = find_columns(names, result)
    listed = list(dict.fromkeys(column for column in columns if column is not None))
    known = known or find_known(result, name, level=level, X=X)
    new_study = expect_list(known, listed)
    effects = selected.to_frame().assign(feature=selected.frame["feature"].astype(str)).set_index("feature")
    effects = effects[list(EFFECTS)].reindex(list(map(str, names)))
    frame = checked.assign(**{column: effects[column].to_numpy() for column in EFFECTS})
    frame[list(NEW_STUDY_COLUMNS)] = tabulate_new_study(known, columns)[list(NEW_STUDY_COLUMNS)].to_numpy()
    stated = [text if isinstance(text, str) else None for text in effects["direction"]]
    frame["direction"] = pd.Series(stated, index=frame.index, dtype=object)
    frame.attrs["new_study"] = new_study.to_dict()
    frame.attrs["real"] = "" if known is None else known.describe_errors(frame["q"].dropna())
    return ListCheck(frame, new_study, selected)


def check_features(
    features: Iterable[Any],
    result: StudyTables,
    candidate: str | None = None,
    *,
    X: Any = None,
    y: Any = None,
    groups: Any = None,
    level: float = 0.95,
    threshold: float = 0.5,
    top: int | None = None,
    metric: str | None = None,
) -> pd.DataFrame:
    """Check a list of features, name by name: selection frequency, effect, and probability in a new study.

    Parameters
    ----------
    features : iterable of str or int
        Names of features, or columns where features have no names. Of a feature that is named with its label, such as
        ``TP53 (ENSG00000141510)``, either part will do.
    result : StudyResult
        What a study found.
    candidate : str, optional
        Name of a candidate; needed if there are several.
    X, y : frame or array, optional
        The data. With X, stand-ins must be correlated too; with both, what a new study would select is estimated by
        repeated split-half if that is not known yet, and stored.
    groups : array, optional
        Groups of rows, if the study had them.
    level : float
        Level of the intervals.
    threshold : float
        Share of the resamples that a feature should be selected in.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.
    metric : str, optional
        The score by which the candidate must predict better than guessing; the study's first by default.

    Returns
    -------
    DataFrame
        One row per name, as the study writes it: ``count``, ``frequency``, ``low``, ``high``, its ``stand_ins``, the
        share of the resamples that selected it or a stand-in (``with_stand_ins``), and a ``verdict``:

        - *holds*: the interval of its frequency is above the threshold, and the candidate predicts held-out rows
          better than guessing,
        - *selected often*: the interval is above the threshold, but that the features carry information was not
          shown, or not tested, as the verdict goes on to say,
        - *takes turns*: only together with its stand-ins,
        - *undecided*: the interval holds the threshold,
        - *does not hold*: the interval is below the threshold, but above chance,
        - *does not hold; may be chance*: the interval includes the frequency of features drawn at random, which is the
          mean number of selected features over the number of all,
        - *does not hold; at most twice chance*: the interval ends at or below twice that frequency,
        - *unknown*: no feature of the study has this name.

        Then ``direction``, ``effect``, ``effect_low``, ``effect_high`` and ``used``, as in
        :class:`~holdfast.tradeoff.SelectedFeatures`, and the probability that a new study of this size selects it
        (``new_study``), and ``by_habit``, ``expected_false`` and ``q``, which show whether it has to do with the target
        (:class:`Replicability`). ``attrs["new_study"]`` says how many of the list are expected: ``expected``, ``low``,
        ``high``, and a ``sentence``, which gives the reason where the number is not known; ``attrs["real"]`` how many
        of them are shown to have to do with the target, in words.

    Raises
    ------
    ValueError
        If a part of a label is that of several features, or several candidates are there and none is named.

    See Also
    --------
    replicability : What a new study would select of the selection itself.
    StudyResult.final_features : The features of a candidate.
    feature_table : How often each feature was selected.

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
    >>> names = ["petal width (cm)", "sepal width (cm)", "petal color"]
    >>> checked = hf.check_features(names, result, "anova(size=2)")
    >>> checked[["count", "frequency", "verdict"]].reset_index()
                feature  count  frequency                              verdict
    0  petal width (cm)     20        1.0                                holds
    1  sepal width (cm)      0        0.0  does not hold; at most twice chance
    2       petal color      0        NaN                              unknown
    """
    options: dict[str, Any] = {"level": level, "threshold": threshold, "top": top, "metric": metric}
    name = choose_only_candidate(result, candidate)
    if y is not None and not knows_lists(find_known(result, name)):
        estimate = replicability(result, X, y, candidate=name, groups=groups, n_pairs=N_PAIRS, top=top)
        return check_list(features, result, name, X=X, known=estimate.at_level(level), **options).frame
    return check_list(features, result, name, X=X, **options).frame


def knows_lists(known: Replicability | None) -> bool:
    """Whether it is known of every feature what a new study would do, or why it cannot be."""
    return known is not None and (bool(known.halves) or known.reason is not None)


def judge_list(names: Sequence[str], verdicts: Sequence[str], selected: pd.DataFrame) -> str:
    """Return whether a list holds as a whole, in a sentence or two; ``selected`` has the features of the candidate."""
    often = [verdict for verdict in verdicts if verdict.startswith((HOLDS, OFTEN)) and verdict != IN_DOUBT]
    best = HOLDS if HOLDS in often or not often else often[0]
    n, reason = often.count(best), best.partition("; ")[2]
    verb = ("holds" if n == 1 else "hold") if best == HOLDS else f"{'is' if n == 1 else 'are'} {OFTEN} ({reason})"
    size = format_count(len(names), "feature")
    head = f"The list as a whole does not hold: of {size}, {n or 'none'} {verb}."
    if n == len(names):
        head = f"The whole list holds ({size})." if best == HOLDS else f"The whole list is {OFTEN} ({size}; {reason})."
    others = [verdict for verdict in dict.fromkeys(verdicts) if verdict != best]
    counts = [_count_verdict(verdicts.count(verdict), verdict) for verdict in others]
    absent = [
        str(name)
        for name, verdict in zip(selected["feature"], selected["verdict"], strict=True)
        if verdict.startswith((HOLDS, OFTEN)) and verdict != IN_DOUBT and str(name) not in names
    ]
    more = f" Selected as often, but not on the list: {join_first(absent, 6)}."
    return head + (f" Of the others, {'; '.join(counts)}." if counts else "") + (more if absent else "")


def _count_verdict(count: int, verdict: str) -> str:
    """Return how many features have a verdict, as part of a sentence: "8 do not hold (may be chance)"."""
    head, _, more = verdict.partition("; ")
    verbs = {"takes turns": "take turns", "does not hold": "do not hold"}
    verb = f"{'is' if count == 1 else 'are'} {head}" if head not in verbs else head if count == 1 else verbs[head]
    return f"{count} {verb}" + (f" ({more})" if more else "")
