"""From what halves of one data set selected to what a new study would."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.inference.intervals import Interval, check_level
from holdfast.preferences import Preferences
from holdfast.replication.agreements import FASTEST, FEWEST_PAIRS, GROWTH, SLOWEST, FrequencyProfile, HalvingAgreements
from holdfast.replication.result import Replicability, Variation

Ints = NDArray[np.int64]


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
        Undefined with a reason, if in most halvings a half selected nothing or everything, or the fit to all rows did.

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
    mine, usable = np.sort(np.asarray(selected, dtype=np.int64)), _find_usable(halves)
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
    found = _estimate(halves.take(np.flatnonzero(np.repeat(usable, 2)).tolist()), mine, jackknife)
    interval, half_interval = found.variation.intervals(found.agreement, found.half_agreement, level)
    return Replicability(
        agreement=found.agreement, interval=interval, half_agreement=found.half_agreement, half_interval=half_interval,
        frame=_frame(halves, mine, found.probability), variation=found.variation, profile=found.profile, **about,
    )  # fmt: skip


class _Estimates(NamedTuple):
    """The numbers of a :class:`Replicability`."""

    agreement: float
    half_agreement: float
    variation: Variation
    probability: NDArray[np.float64]
    profile: FrequencyProfile


def _estimate(runs: Preferences, mine: Ints, jackknife: float) -> _Estimates:
    """Estimate agreements and probabilities from halves that all select something."""
    d, size, size_now = runs.n_features, float(runs.sizes.mean()), mine.size
    agreements = HalvingAgreements.from_runs(runs)
    profile = FrequencyProfile(runs.counts, runs.n_runs)
    slow, usual, fast = (
        profile.extrapolate(agreements.half, size, 2, size_now, growth) for growth in (SLOWEST, GROWTH, FASTEST)
    )
    agreement = (agreements.overlapping + usual) / 2
    half_rate, rate = agreements.half_rate(size, d, jackknife), agreements.full_rate()
    variation = Variation(half_rate=half_rate, rate=rate, slow=slow, fast=fast)
    share = agreement * (1 - size_now / d) + size_now / d
    probability = profile.shrink(mine, share, size_now)
    return _Estimates(agreement, agreements.half, variation, probability, profile)


def _find_usable(halves: Preferences) -> NDArray[np.bool_]:
    """Return which halvings have an agreement: both halves select some features, and neither all."""
    some = (halves.sizes > 0) & (halves.sizes < halves.n_features)
    return some[::2] & some[1::2]


def _silence(halves: Preferences) -> str:
    """What halves select that say nothing."""
    nothing, everything = (halves.sizes == 0).any(), (halves.sizes == halves.n_features).any()
    return "nothing, or everything" if nothing and everything else "everything" if everything else "nothing"


def _why_undefined(n_pairs: int, n_empty: int, n_selected: int, halves: Preferences) -> str | None:
    if n_pairs < FEWEST_PAIRS:
        pairs = "1 halving is" if n_pairs == 1 else f"{n_pairs} halvings are"
        return f"{pairs} too few, {FEWEST_PAIRS} are needed"
    if not n_selected:
        return "nothing was selected on all rows"
    if 2 * n_empty > n_pairs or n_pairs - n_empty < FEWEST_PAIRS:
        return f"in {n_empty} of {n_pairs} halvings a half selected {_silence(halves)}"
    return "every feature was selected on all rows" if n_selected == halves.n_features else None


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
