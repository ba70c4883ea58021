"""Whether a new study would select the same features: expected agreement, interval over data sets, probabilities."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from holdfast.cards import Card, draw_intervals, make_bar
from holdfast.inference.intervals import Interval, check_level
from holdfast.preferences import Preferences
from holdfast.replication import agreements
from holdfast.replication.agreements import FEWEST_PAIRS, MAX_COUNT, NO_AGREEMENT, FrequencyProfile, SplitHalfAgreements
from holdfast.result_base import ResultMixin
from holdfast.serialization import read_plain, to_plain
from holdfast.text import format_number, format_percent
from holdfast.tradeoff.selected import question_doubted

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart

Ints = NDArray[np.int64]
SCOPE = "a new study: another sample from where this one came from"
UNKNOWN = "Whether a new study would select the same features is not known"
MAX_ROWS = 2.0
"""How many times the rows of the data an extrapolation may go."""


@dataclass(frozen=True, kw_only=True)
class Variation:
    """How much agreements vary over data sets, from which intervals of any level follow.

    Attributes
    ----------
    half_rate, rate : float
        Variance of the agreement at half the size and at the full size, per
        :func:`~holdfast.replication.agreements.soft_variance`.
    slow, fast : float
        The agreement at the full size if it did not grow with the rows, and if it grew fast.
    """

    half_rate: float
    rate: float
    slow: float
    fast: float

    def intervals(self, agreement: float, half_agreement: float, level: float) -> tuple[Interval, Interval]:
        """Return the interval at the full size and that at half the size.

        The first reaches from where agreement does not grow with the rows to where it grows fast, and to chance where
        halves do not rule it out.
        """
        half = agreements.score_interval(half_agreement, self.half_rate, level)
        middle = agreements.score_interval(agreement, self.rate + agreements.ERROR_AT_FULL_SIZE, level)
        slow, fast = (agreements.score_interval(bound, self.rate, level) for bound in (self.slow, self.fast))
        low = min(middle.low, slow.low) if half.low > 0 else min(middle.low, slow.low, half.low)
        return Interval(low, max(middle.high, fast.high)), half


@dataclass(frozen=True, kw_only=True)
class _Row:
    """A row of the frame of features."""

    feature: Any
    column: int
    probability: float
    frequency: float
    by_habit: float = math.nan
    expected_false: float = math.nan
    q: float = math.nan


@dataclass(frozen=True, kw_only=True)
class ShuffledControl:
    """What halves select after the target was shuffled, and which features the true target makes stand out.

    Attributes
    ----------
    n_shuffles, n_pairs : int
        How often the target was shuffled, and the rows split in half with each.
    agreement : float
        Mean agreement of the two halves; ``nan`` if hardly any half selected something.
    size, shuffled_size : float
        Mean number of features that a half selects with the true target, and with a shuffled one.
    p_any : float
        Exact p-value that no feature has to do with the target.
    columns : tuple of int
        The features that some half selects with the true target.
    by_habit, expected_false, q : tuple of float
        As in :attr:`Replicability.frame`, for each of ``columns``.
    reason : str or None
        Why nothing is said of features; None if something is.
    """

    n_shuffles: int
    n_pairs: int
    agreement: float = math.nan
    size: float = math.nan
    shuffled_size: float = math.nan
    p_any: float = math.nan
    columns: tuple[int, ...] = ()
    by_habit: tuple[float, ...] = ()
    expected_false: tuple[float, ...] = ()
    q: tuple[float, ...] = ()
    reason: str | None = None


ERRORS = ("by_habit", "expected_false", "q")
REAL_Q, AGAIN = 0.1, 0.5
"""A feature is said to be real up to this q, and to be found again from this probability on."""
CORNERS = ("real and found again", "real, but others do as well", "found again by habit", "not shown")
"""What q and the probability in a new study say of a feature together."""


def name_corner(q: float, probability: float, frequency: float, by_habit: float) -> str:
    """Return in words whether a feature is real, and found again; empty if that is not known."""
    if math.isnan(q) or math.isnan(probability):
        return ""
    if q <= REAL_Q:
        return CORNERS[0] if probability >= AGAIN else CORNERS[1]
    return CORNERS[2] if probability >= AGAIN and by_habit >= frequency / 2 else CORNERS[3]


@dataclass(frozen=True, kw_only=True, eq=False)
class Replicability(ResultMixin):
    """How far a new study would be expected to select the same features as this one.

    Agreement is Pearson's correlation of two selections: 1 if they are the same, 0 as by chance.

    Attributes
    ----------
    agreement : float
        Expected agreement of this selection with that of a new study of the same size; extrapolated from halves.
    interval : Interval
        Of :attr:`agreement`, over data sets.
    half_agreement : float
        Expected agreement of two studies of half the size: the mean agreement of halves that share no row, unbiased.
    half_interval : Interval
        Of :attr:`half_agreement`, over data sets.
    candidate : str
        What selected the features, as a study calls it; empty if it has no name.
    n_rows, n_features : int
        Size of the data.
    frame : DataFrame
        One row per selected feature, the likeliest first: ``feature``, its ``column``, the ``probability`` that a new
        study of this size selects it, and the ``frequency`` of halves of this data set that did, which is too high for
        features that were selected here because they did well here. From shuffled targets: ``by_habit``, the frequency
        with these; ``expected_false``, the expected number of false features at least as good; and ``q``, the share of
        these among all features at least as good. False is a feature that has nothing to do with the target, neither
        itself nor through features correlated with it. ``nan`` where this was not tried, or :attr:`shuffled` has a
        reason.
    n_pairs, n_empty : int
        Number of splits in half, and of those that were left out as a half selected nothing, or everything.
    reason : str or None
        Why there is no number, or none of a part; None if there is.
    cautions : tuple of str
        What the data say against these numbers.
    doubted : tuple of str
        Those of the selected features that may be none, such as a copy of the target; a caution names them.
    level : float
        Level of the intervals.
    scope : str
        What the intervals describe.
    shuffled : ShuffledControl or None
        What halves select after the target was shuffled; None if it was not tried.
    other_measures : mapping
        Mean agreement of the two halves by other measures that were asked for, without interval.
    variation : Variation or None
        How much the agreements vary, for intervals of other levels; None if there is no number.
    profile : FrequencyProfile or None
        The frequencies of all features, for other sizes of a study; None if there is no number.
    halves : tuple of tuple of int
        Columns of the features that each half selected, in pairs, for lists other than the selection; empty if there
        is no number.

    See Also
    --------
    holdfast.replicability : Makes one.
    holdfast.stability : How a selection varies when this data set is resampled, which is another question.
    """

    _table_field: ClassVar[str] = "frame"

    agreement: float
    interval: Interval
    half_agreement: float
    half_interval: Interval
    n_rows: int
    n_features: int
    frame: pd.DataFrame
    n_pairs: int
    n_empty: int = 0
    candidate: str = ""
    reason: str | None = None
    cautions: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    level: float = 0.95
    scope: str = SCOPE
    shuffled: ShuffledControl | None = None
    other_measures: Mapping[str, float] = field(default_factory=dict)
    variation: Variation | None = None
    profile: FrequencyProfile | None = None
    halves: tuple[tuple[int, ...], ...] = ()

    def at_level(self, level: float) -> "Replicability":
        """Return the same with intervals of another level.

        Parameters
        ----------
        level : float
            Level of the intervals.

        Returns
        -------
        Replicability
            The same estimates.
        """
        check_level(level)
        if self.variation is None:
            return replace(self, level=level)
        interval, half_interval = self.variation.intervals(self.agreement, self.half_agreement, level)
        return replace(self, level=level, interval=interval, half_interval=half_interval)

    @property
    def selected(self) -> list[Any]:
        """The features selected on all rows, the likeliest to come back first."""
        return self.frame["feature"].tolist()

    @property
    def n_selected(self) -> int:
        """Number of features selected on all rows."""
        return len(self.frame)

    @property
    def beyond_chance(self) -> bool:
        """Whether the halves agree more than by chance, by the interval over data sets."""
        return self.half_interval.low > 0

    @property
    def expected(self) -> float:
        """How many of the selected features a new study of this size would be expected to select: all probabilities."""
        return float(self.frame["probability"].sum(min_count=1))

    @property
    def expected_interval(self) -> Interval:
        """Of :attr:`expected`: from the agreement, and as wide as to hold the number."""
        low, high = map(self._number, self.interval)
        return Interval(min(low, self.expected), max(high, self.expected))

    @property
    def shuffled_agreement(self) -> float:
        """Mean agreement of two halves after the target was shuffled: what is agreed on whatever the target is."""
        return math.nan if self.shuffled is None else self.shuffled.agreement

    def with_control(self, control: ShuffledControl) -> "Replicability":
        """Return the same with what shuffled targets say of its features.

        Parameters
        ----------
        control : ShuffledControl
            What halves select with them.

        Returns
        -------
        Replicability
            The same estimates.
        """
        estimate = replace(self, shuffled=control)
        return replace(estimate, frame=self.frame.assign(**estimate.errors_of(self.frame["column"].tolist())))

    def errors_of(self, columns: Sequence[int]) -> pd.DataFrame:
        """Return ``by_habit``, ``expected_false`` and ``q`` of any features, as in :attr:`frame`.

        Parameters
        ----------
        columns : sequence of int
            The features; those that no half selects have a q of 1.

        Returns
        -------
        DataFrame
            One row per feature; ``nan`` where nothing is known.
        """
        table = pd.DataFrame(math.nan, index=range(len(columns)), columns=list(ERRORS))
        if self.shuffled is None or self.shuffled.reason is not None:
            return table
        table[["expected_false", "q"]] = float(self.n_features), 1.0
        known = {column: row for row, column in enumerate(self.shuffled.columns)}
        rows = [row for row, column in enumerate(columns) if column in known]
        source = [known[columns[row]] for row in rows]
        for name in ERRORS:
            table.loc[rows, name] = np.asarray(getattr(self.shuffled, name), np.float64)[source]
        return table

    @property
    def corners(self) -> list[str]:
        """Whether each selected feature is real, and found again, in words (:func:`name_corner`)."""
        rows = self.frame[["q", "probability", "frequency", "by_habit"]].itertuples(index=False)
        return [name_corner(*row) for row in rows]

    @property
    def real_sentence(self) -> str:
        """How many of the selected features are shown to be real, in words; empty if that was not tried."""
        if self.reason:
            return ""
        return self.describe_errors(self.frame["q"])

    def describe_errors(self, q: "pd.Series[float]") -> str:
        """Return how many features of a list are shown to be real, in words; empty if that was not tried.

        Parameters
        ----------
        q : Series
            The q-value of each feature of the list.
        """
        yours = "your feature" if len(q) == 1 else f"your {len(q):,} features"
        if self.shuffled is None or q.empty:
            return ""
        if self.shuffled.reason is not None:
            return f"How many of {yours} are false is not known: {self.shuffled.reason}."
        for level, words in ((REAL_Q, "one in ten"), (2 * REAL_Q, "one in five")):
            n = int((q <= level).sum())
            if n:
                verb = "comes" if n == 1 else "come"
                return (
                    f"{n:,} of {yours} {verb} back so much more often than with a shuffled target that at most {words} "
                    f"of such features is expected to have nothing to do with the target (q ≤ {level:g})."
                )
        none = "Your feature does not come" if len(q) == 1 else f"None of {yours} comes"
        return f"{none} back more often than the best do with a shuffled target: none is shown to be real."

    def _number(self, agreement: float) -> float:
        return agreements.expect_number(agreement, self.n_selected, self.n_features)

    def agreement_at(self, n_rows: int) -> float:
        """Return the expected agreement of two studies of another size.

        Parameters
        ----------
        n_rows : int
            Rows of each, from half as many as these data have to twice as many.

        Returns
        -------
        float
            Extrapolated; for fewer rows than these data have, between :attr:`half_agreement` and :attr:`agreement`.
            ``nan`` if there is no number for these data.

        Raises
        ------
        ValueError
            If the size is out of these bounds: nothing is known of extrapolations that go farther.
        """
        times = n_rows / self.n_rows
        if not 0.5 <= times <= MAX_ROWS:
            raise ValueError(
                f"Expected a number of rows from {math.ceil(self.n_rows / 2)} to {int(MAX_ROWS * self.n_rows)}, half "
                f"to twice those of the data, got {n_rows}."
            )
        return self._agreement_at(times)

    def _agreement_at(self, times: float) -> float:
        if self.profile is None or not self.agreement > 0:
            return self.agreement
        if times < 1 and self.half_agreement > NO_AGREEMENT:
            return self.profile.interpolate(self.half_agreement, self.agreement, times, self.n_selected)
        return self.profile.extrapolate(self.agreement, self.n_selected, times, self.n_selected)

    @cached_property
    def rows_for_half(self) -> int | None:
        """Rows with which half of the selected features would be expected again; None if not within twice the rows."""
        if self.reason:
            return None
        share = self.n_selected / self.n_features
        wanted = (0.5 - share) / (1 - share)
        least, most = math.ceil(self.n_rows / 2), int(MAX_ROWS * self.n_rows)
        if not self.beyond_chance or self.agreement_at(most) < wanted:
            return None
        if self.agreement_at(least) >= wanted:
            return least
        return math.ceil(brentq(lambda rows: self._agreement_at(rows / self.n_rows) - wanted, least, most))

    @property
    def sentence(self) -> str:
        """The answer in words."""
        if self.agreement != self.agreement:
            return f"{UNKNOWN}: {self.reason}."
        return format_expected(self.expected, self.expected_interval, self.n_selected, self.beyond_chance)

    @property
    def rows_sentence(self) -> str:
        """With how many rows half of the features would be expected again, in words; empty if nothing was shown."""
        if self.reason or not self.beyond_chance or self.n_selected < 2:
            return ""
        least, most = math.ceil(self.n_rows / 2), int(MAX_ROWS * self.n_rows)
        if self.rows_for_half is None:
            return (
                f"Half of them would be expected again only with more than {most:,} rows; how many more is not known, "
                "as extrapolations beyond twice the rows were not tested."
            )
        already = f"{least:,} rows already" if self.rows_for_half <= least else f"about {self.rows_for_half:,} rows"
        return f"Half of them would be expected again with {already}."

    @property
    def control_sentence(self) -> str:
        """How many features two halves share with the true and with a shuffled target; empty if that is not known."""
        if self.reason or math.isnan(self.shuffled_agreement):
            return ""
        true, shuffled = (format_number(self._number(a), 1) for a in (self.half_agreement, self.shuffled_agreement))
        return (
            f"As a control: of {self.n_selected:,} features selected on one half of these rows, the other half selects "
            f"about {true}; with a shuffled target, {shuffled}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            One entry per attribute, and the expected number of features with its interval; :meth:`from_dict` reads it.
        """
        return super().to_dict() | to_plain(
            {
                "expected": self.expected,
                "expected_interval": self.expected_interval,
                "rows_for_half": self.rows_for_half,
                "sentence": self.sentence,
                "real_sentence": self.real_sentence,
            }
        )

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Replicability":
        """Return what :meth:`to_dict` wrote.

        Parameters
        ----------
        plain : mapping
            Plain values.

        Returns
        -------
        Replicability
            With the same numbers and words.

        Raises
        ------
        ValueError
            If a value is not of the type it should have, or numbers do not fit each other.
        """
        hints = get_type_hints(cls) | {"interval": tuple[float, float], "half_interval": tuple[float, float]}
        hints |= {"frame": tuple[_Row, ...], "profile": Any}
        plain = {"halves": [], "doubted": [], "shuffled": None, **plain}  # answers of earlier versions have none
        known = {item.name: read_plain(hints[item.name], plain[item.name], item.name) for item in fields(cls)}
        known |= {name: Interval(*known[name]) for name in ("interval", "half_interval")}
        profile = known["profile"] and FrequencyProfile.from_dict(known["profile"])
        frame = pd.DataFrame(known["frame"], columns=[column.name for column in fields(_Row)])
        restored = cls(**{**known, "frame": frame, "profile": profile})
        restored._check()
        if profile is None:
            return restored
        counts = np.rint(frame["frequency"] * profile.n_runs)  # earlier versions had other probabilities
        if restored.halves:
            counts = np.bincount(np.concatenate(restored.halves), minlength=restored.n_features)[frame["column"]]
        probability = profile.expect(counts.astype(np.int64), np.ones(len(frame), bool), restored.agreement)
        return replace(restored, frame=frame.assign(probability=probability))

    def _check(self) -> None:
        """Raise if numbers that were read do not fit each other."""
        check_level(self.level)
        if not (
            0 < self.n_rows < MAX_COUNT
            and 0 <= self.n_empty <= self.n_pairs < MAX_COUNT
            and self.frame["column"].between(0, self.n_features - 1).all()
            and len(self.halves) % 2 == 0
            and all(0 <= column < self.n_features for half in self.halves for column in half)
            and (self.reason is not None or self._is_known())
        ):
            raise ValueError("Expected numbers of a replicability that fit each other, got others.")

    def _is_known(self) -> bool:
        """Whether all is there that an answer with numbers needs."""
        numbers = [self.agreement, self.half_agreement, *self.interval, *self.half_interval]
        return (
            0 < self.n_selected < self.n_features
            and bool(self.frame["probability"].between(0, 1).all())
            and self.profile is not None
            and self.profile.n_features == self.n_features
            and self.variation is not None
            and min(self.variation.half_rate, self.variation.rate) >= 0
            and all(-2 <= number <= 1 for number in numbers)
        )

    def plot(self, *, most: int = 30) -> "AnyChart":
        """Draw the probability that a new study selects each feature, beside the share of halves that did.

        Parameters
        ----------
        most : int
            Number of features to draw.

        Returns
        -------
        altair.Chart
            As :func:`holdfast.plots.plot_replicability` returns it.
        """
        from holdfast.plots import plot_replicability

        return plot_replicability(self, most=most)

    def _card(self) -> Card:
        bars = [
            make_bar("this size", self.agreement, *self.interval, strong=True),
            make_bar("half the size", self.half_agreement, *self.half_interval),
        ]
        note = (
            f"Agreement of independent studies, by repeated split-half ({self.n_pairs} ×), extrapolated to this size; "
            f"0 as by chance, 1 the same features. {format_percent(self.level)} intervals for new data sets."
        )
        if self.reason:
            note = f"Repeated split-half of the rows ({self.n_pairs} ×)."
        in_doubt = self.frame["feature"].astype(str).isin(self.doubted).to_numpy()
        frame = self.frame.iloc[np.argsort(in_doubt, kind="stable")]  # below those to trust
        verdict = f"{question_doubted(self.doubted)} {self.sentence} {self.real_sentence}".strip()
        return Card(title="Would a new study find the same features?", verdict=verdict, frame=frame,
                    caution=" ".join(self.cautions), picture=draw_intervals(bars), note=note)  # fmt: skip

    def __repr__(self) -> str:
        if self.reason:
            return "\n".join([self.sentence, *self.cautions])
        lines = [
            self.sentence,
            f"agreement {self.agreement:.3f} [{self.interval.low:.3f}, {self.interval.high:.3f}] (extrapolated); "
            f"of studies of half the size {self.half_agreement:.3f} "
            f"[{self.half_interval.low:.3f}, {self.half_interval.high:.3f}] ({self.level:.0%} intervals, "
            f"split-half {self.n_pairs} ×)",
            *(f"{name} of studies of half the size {value:.3f}" for name, value in self.other_measures.items()),
            *filter(None, [self.real_sentence]),
            *self.cautions,
        ]
        return "\n".join(lines)


def format_expected(expected: float, interval: Interval, n: int, beyond_chance: bool) -> str:
    """Return in words how many of so many features a new study would be expected to select."""
    one = n == 1
    number, *ends = (format_number(value, 2 if one else 0) for value in (expected, *interval))
    span = " to ".join(dict.fromkeys(ends))  # one number if both are the same
    new_study = "a new study of this size would"
    if not beyond_chance:
        more = "your feature more often" if one else f"more of your {n:,} features"
        shown = f"probability {span}" if one else f"{span} of them"
        return f"It was not shown that {new_study} select {more} than by chance ({shown})."
    if one:
        return f"{new_study.capitalize()} select your feature with a probability of {number} ({span})."
    number = "fewer than 1" if number == "0" else number
    return f"{new_study.capitalize()} be expected to select {number} of your {n:,} features ({span})."


# From what halves of one data set selected to what a new study would


def estimate_replicability(
    halves: Preferences,
    selected: Sequence[int] | NDArray[Any],
    n_rows: int,
    *,
    level: float = 0.95,
    cautions: Sequence[str] = (),
    jackknife: float = 0.0,
) -> Replicability:
    """Estimate how far a new study would select the same features, from halves of one data set.

    Parameters
    ----------
    halves : Preferences of subsets
        What was selected on halves 1a, 1b, 2a, 2b, …: the two of a split share no row.
    selected : sequence of int
        Columns of the features that were selected on all rows.
    n_rows : int
        Number of all rows.
    level : float
        Level of the intervals.
    cautions : sequence of str
        What else is known to speak against the numbers.
    jackknife : float
        Variance over data sets by groups of rows left out in turn, which widens the interval at half the size where it
        is larger.

    Returns
    -------
    Replicability
        Undefined with a reason, if in most splits a half selected nothing or everything, or the fit to all rows did.

    Raises
    ------
    ValueError
        If the number of halves is odd, or they are not subsets.

    See Also
    --------
    Replicability : What it holds.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast import Preferences
    >>> from holdfast.replication import estimate_replicability
    >>> runs = np.zeros((40, 50), dtype=int)
    >>> runs[:, :5] = 1
    >>> print(estimate_replicability(Preferences.from_matrix(runs), range(5), 100).sentence)
    A new study of this size would be expected to select 5 of your 5 features (4 to 5).
    """
    check_level(level)
    if halves.kind != "subset" or halves.n_runs % 2:
        raise ValueError(f"Expected subsets of pairs of halves, got {halves.n_runs} {halves.kind}s.")
    mine, some = np.sort(np.asarray(selected, dtype=np.int64)), (halves.sizes > 0) & (halves.sizes < halves.n_features)
    usable = some[::2] & some[1::2]  # splits with an agreement
    n_pairs, n_empty = usable.size, int((~usable).sum())
    reason = _why_undefined(n_pairs, n_empty, mine.size, halves)
    about: dict[str, Any] = {
        "n_rows": n_rows, "n_features": halves.n_features, "n_pairs": n_pairs, "n_empty": n_empty, "reason": reason,
        "cautions": tuple(cautions), "level": level,
    }  # fmt: skip
    if reason:
        nothing = Interval(math.nan, math.nan)
        unknown = np.full(halves.n_features, math.nan)
        return Replicability(agreement=math.nan, interval=nothing, half_agreement=math.nan, half_interval=nothing,
                             frame=_frame(halves, mine, unknown), **about)  # fmt: skip
    runs = halves.take(np.flatnonzero(np.repeat(usable, 2)).tolist())
    splits, profile = SplitHalfAgreements.from_runs(runs), FrequencyProfile(runs.counts, runs.n_runs)
    size = float(runs.sizes.mean())
    slow, default, fast = (
        profile.extrapolate(splits.half, size, 2, mine.size, growth)
        for growth in (agreements.SLOWEST, agreements.GROWTH, agreements.FASTEST)
    )
    agreement = (splits.overlapping + default) / 2
    half_rate, rate = splits.half_rate(size, runs.n_features, jackknife), splits.full_rate()
    variation = Variation(half_rate=half_rate, rate=rate, slow=slow, fast=fast)
    interval, half_interval = variation.intervals(agreement, splits.half, level)
    probability = profile.expect(runs.counts, np.isin(np.arange(runs.n_features), mine), agreement)
    indices, pointers = runs.lists()
    return Replicability(
        agreement=agreement, interval=interval, half_agreement=splits.half, half_interval=half_interval,
        frame=_frame(halves, mine, probability), variation=variation, profile=profile,
        halves=tuple(tuple(half.tolist()) for half in np.split(indices, pointers[1:-1])), **about,
    )  # fmt: skip


def _why_undefined(n_pairs: int, n_empty: int, n_selected: int, halves: Preferences) -> str | None:
    if n_pairs < FEWEST_PAIRS:
        pairs = "1 split in half is" if n_pairs == 1 else f"{n_pairs} splits in half are"
        return f"{pairs} too few, {FEWEST_PAIRS} are needed"
    if not n_selected:
        return "nothing was selected on all rows"
    if 2 * n_empty > n_pairs or n_pairs - n_empty < FEWEST_PAIRS:
        sizes = {"nothing": (halves.sizes == 0).any(), "everything": (halves.sizes == halves.n_features).any()}
        what = ", or ".join(name for name, occurs in sizes.items() if occurs)
        return f"in {n_empty} of {n_pairs} splits a half selected {what}"
    return "every feature was selected on all rows" if n_selected == halves.n_features else None


def _frame(halves: Preferences, mine: Ints, probability: NDArray[np.float64]) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "feature": [halves.features[column] for column in mine.tolist()],
            "column": mine,
            "probability": probability[mine],
            "frequency": halves.frequency[mine],
            **dict.fromkeys(ERRORS, math.nan),
        }
    )
    return frame.sort_values(["probability", "frequency"], ascending=False, kind="stable", ignore_index=True)
