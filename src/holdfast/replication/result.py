"""Whether a new study would select the same features: expected agreement, interval over data sets, probabilities."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import brentq

from holdfast.cards import Card, draw_intervals, make_bar
from holdfast.inference.intervals import Interval, check_level
from holdfast.preferences import Preferences
from holdfast.replication.agreements import FEWEST_PAIRS, HalvingAgreements, pearson_table, score_interval
from holdfast.replication.profile import FrequencyProfile
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain

Ints = NDArray[np.int64]
SCOPE = "a new study: another sample from where this one came from"
MOST_ROWS = 2.0
"""How many times the rows of the data an extrapolation may go."""


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
    n_rows, n_features : int
        Size of the data.
    frame : DataFrame
        One row per selected feature, the likeliest first: ``feature``, its ``column``, the ``probability`` that a new
        study of this size selects it, and the ``frequency`` of halves of this data set that did, which is too high for
        features that were selected here because they did well here.
    n_pairs, n_empty : int
        Number of halvings, and of those that were left out as a half selected nothing, or everything.
    reason : str or None
        Why there is no number, or none of a part; None if there is.
    cautions : tuple of str
        What the data say against these numbers.
    level : float
        Level of the intervals.
    scope : str
        What the intervals describe.
    profile : FrequencyProfile or None
        The frequencies of all features, for other sizes of a study; None if there is no number.

    See Also
    --------
    holdfast.replicability : Makes one.
    holdfast.stability : How a selection varies when this data set is resampled, which is another question.
    """

    agreement: float
    interval: Interval
    half_agreement: float
    half_interval: Interval
    n_rows: int
    n_features: int
    frame: pd.DataFrame
    n_pairs: int
    n_empty: int = 0
    reason: str | None = None
    cautions: tuple[str, ...] = ()
    level: float = 0.95
    scope: str = SCOPE
    profile: FrequencyProfile | None = None

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
        """How many of the selected features a new study of this size would be expected to select."""
        return self._number(self.agreement)

    @property
    def expected_interval(self) -> Interval:
        """Of :attr:`expected`."""
        return Interval(*map(self._number, self.interval))

    def _number(self, agreement: float) -> float:
        share = self.n_selected / self.n_features if self.n_features else math.nan
        return self.n_selected * (max(agreement, 0.0) * (1 - share) + share) if agreement == agreement else math.nan

    def agreement_at(self, n_rows: int) -> float:
        """Return the expected agreement of two studies of another size.

        Parameters
        ----------
        n_rows : int
            Rows of each, from half as many as these data have to twice as many.

        Returns
        -------
        float
            Extrapolated; ``nan`` if there is no number for these data.

        Raises
        ------
        ValueError
            If the size is out of these bounds: nothing is known of extrapolations that go farther.
        """
        times = n_rows / self.n_rows
        if not 0.5 <= times <= MOST_ROWS:
            raise ValueError(
                f"Expected a number of rows from {math.ceil(self.n_rows / 2)} to {int(MOST_ROWS * self.n_rows)}, half "
                f"to twice those of the data, got {n_rows}."
            )
        if self.profile is None or not self.agreement > 0:
            return self.agreement
        return self.profile.extrapolate(self.agreement, self.n_selected, times, self.n_selected)

    @cached_property
    def rows_for_half(self) -> int | None:
        """Rows with which half of the selected features would be expected again; None if not within twice the rows."""
        share = self.n_selected / self.n_features
        wanted = (0.5 - share) / (1 - share)
        least, most = math.ceil(self.n_rows / 2), int(MOST_ROWS * self.n_rows)
        if not self.beyond_chance or self.agreement_at(most) < wanted:
            return None
        if self.agreement_at(least) >= wanted:
            return least
        found = brentq(lambda rows: self._smooth(rows) - wanted, least, most)
        return math.ceil(found)

    def _smooth(self, rows: float) -> float:
        assert self.profile is not None
        return self.profile.extrapolate(self.agreement, self.n_selected, rows / self.n_rows, self.n_selected)

    @property
    def sentence(self) -> str:
        """The answer in words."""
        if self.agreement != self.agreement:
            return f"Whether a new study would select the same features is not known: {self.reason}."
        low, high = self.expected_interval
        features = f"{self.n_selected} feature{'' if self.n_selected == 1 else 's'}"
        span = f"({low:.0f} to {high:.0f})"
        if not self.beyond_chance:
            return (
                f"That a new study of this size would select any of your {features} again beyond chance was not shown "
                f"{span}."
            )
        return f"A new study of this size would be expected to select {self.expected:.0f} of your {features} {span}."

    def to_frame(self) -> pd.DataFrame:
        """Return one row per selected feature (see :attr:`frame`).

        Returns
        -------
        DataFrame
            The likeliest to come back first.
        """
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            One entry per attribute, and the expected number of features with its interval; :meth:`from_dict` reads it.
        """
        return super().to_dict() | to_plain(
            {"expected": self.expected, "expected_interval": self.expected_interval, "sentence": self.sentence}
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
        """
        known = {item.name: plain[item.name] for item in fields(cls)}
        numbers = {name: _number(known[name]) for name in ("agreement", "half_agreement")}
        intervals = {name: Interval(*map(_number, known[name])) for name in ("interval", "half_interval")}
        frame = pd.DataFrame(known["frame"], columns=["feature", "column", "probability", "frequency"])
        profile = known["profile"] and FrequencyProfile.from_dict(known["profile"])
        more = {"frame": frame, "profile": profile, "cautions": tuple(known["cautions"])}
        return cls(**{**known, **numbers, **intervals, **more})

    def _card(self) -> Card:
        bars = [
            make_bar("this size, extrapolated", self.agreement, *self.interval, strong=True),
            make_bar("half the size", self.half_agreement, *self.half_interval),
        ]
        note = f"Agreement of independent studies; 0 as by chance, 1 the same features. {self.n_pairs} halvings."
        return Card(title="Would a new study find the same features?", verdict=self.sentence, frame=self.frame,
                    caution=" ".join(self.cautions), picture=draw_intervals(bars), note=note)  # fmt: skip

    def __repr__(self) -> str:
        lines = [
            self.sentence,
            f"agreement {self.agreement:.3f} [{self.interval.low:.3f}, {self.interval.high:.3f}] (extrapolated); "
            f"of studies of half the size {self.half_agreement:.3f} "
            f"[{self.half_interval.low:.3f}, {self.half_interval.high:.3f}] ({self.level:.0%} intervals, "
            f"{self.n_pairs} halvings)",
            *self.cautions,
        ]
        return "\n".join(lines)


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


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
        What was selected on halves 1a, 1b, 2a, 2b, …: the two of a halving share no row.
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
        Undefined with a reason, if in most halvings a half selected nothing or everything.

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
    mine, speaking = np.sort(np.asarray(selected, dtype=np.int64)), _speaking(halves)
    n_pairs, n_empty = speaking.size, int((~speaking).sum())
    reason = _why_undefined(n_pairs, n_empty, mine.size)
    if reason:
        nothing = Interval(math.nan, math.nan)
        found = _Found(math.nan, nothing, math.nan, nothing, np.full(halves.n_features, math.nan), None)
    else:
        found = _find(halves.take(np.flatnonzero(np.repeat(speaking, 2)).tolist()), mine, level, jackknife)
    return Replicability(
        agreement=found.agreement, interval=found.interval, half_agreement=found.half_agreement,
        half_interval=found.half_interval, n_rows=n_rows, n_features=halves.n_features,
        frame=_frame(halves, mine, found.probability), n_pairs=n_pairs, n_empty=n_empty, reason=reason,
        cautions=tuple(cautions), level=level, profile=found.profile,
    )  # fmt: skip


class _Found(NamedTuple):
    """The numbers of a :class:`Replicability`."""

    agreement: float
    interval: Interval
    half_agreement: float
    half_interval: Interval
    probability: NDArray[np.float64]
    profile: FrequencyProfile | None


def _find(runs: Preferences, mine: Ints, level: float, jackknife: float) -> _Found:
    """What halves that all select something say."""
    d, size, size_now = runs.n_features, float(runs.sizes.mean()), min(max(mine.size, 1), runs.n_features - 1)
    members = runs.to_sparse().astype(np.float64)
    agreements = HalvingAgreements.from_table(pearson_table((members @ members.T).toarray(), runs.sizes, d))
    profile = FrequencyProfile(runs.counts, runs.n_runs)
    half_interval = score_interval(agreements.half, agreements.half_rate(size, d, jackknife), level)
    agreement = (agreements.overlapping + profile.extrapolate(agreements.half, size, 2, size_now)) / 2
    interval = score_interval(agreement, agreements.full_rate(), level)
    if half_interval.low <= 0:  # chance is not ruled out at half the size, so neither here
        interval = Interval(min(interval.low, half_interval.low), interval.high)
    share = agreement * (1 - size_now / d) + size_now / d
    probability = profile.shrink(mine, share, size_now)
    return _Found(agreement, interval, agreements.half, half_interval, probability, profile)


def _speaking(halves: Preferences) -> NDArray[np.bool_]:
    """Which halvings say something: both halves select some features, and neither all."""
    some = (halves.sizes > 0) & (halves.sizes < halves.n_features)
    return some[::2] & some[1::2]


def _why_undefined(n_pairs: int, n_empty: int, n_selected: int) -> str | None:
    if n_pairs < FEWEST_PAIRS:
        return f"{n_pairs} halvings are too few, {FEWEST_PAIRS} are needed"
    if 2 * n_empty > n_pairs or n_pairs - n_empty < FEWEST_PAIRS:
        return f"in {n_empty} of {n_pairs} halvings a half selected nothing, or everything"
    return None if n_selected else "nothing was selected on all rows"


def _frame(halves: Preferences, mine: Ints, probability: NDArray[np.float64]) -> pd.DataFrame:
    frame = pd.DataFrame(
        {
            "feature": [halves.features[column] for column in mine.tolist()],
            "column": mine,
            "probability": probability[mine],
            "frequency": halves.frequency[mine],
        }
    )
    return frame.sort_values(["probability", "frequency"], ascending=False, kind="stable", ignore_index=True)
