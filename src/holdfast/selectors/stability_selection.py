"""Stability selection: features that many subsamples select, with a bound on how many of them are false."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtri

from holdfast.checks import check_whole
from holdfast.declared import About
from holdfast.resampling import ComplementaryPairs, Perturbation, Split, Subsample
from holdfast.resampling.shuffles import TargetShuffles, q_values, tell_from_chance
from holdfast.resampling.split import rng_of
from holdfast.selection import Selection
from holdfast.selectors.base import (
    AS_BASE,
    Adjusts,
    Batch,
    Data,
    Floats,
    Ints,
    Preference,
    Ranked,
    Selector,
    Serves,
    Setting,
)
from holdfast.selectors.elastic_net import ElasticNetPath
from holdfast.selectors.wrapping import (
    Copies,
    Halves,
    Inner,
    Resampling,
    ResamplingWrapper,
    badness,
    check_copies,
    inner_splits,
    named_resampling,
)

Bound = Literal["mb", "unimodal", "r-concave"]
BOUNDS: tuple[str, ...] = get_args(Bound)
SHUFFLED_PAIRS = 10
"""Pairs of halves for each shuffled target."""
SLACK = 1e-9  # thresholds and numbers of resamples are decimal numbers to the user
FLATTEST, STEEPEST = 1e-12, 1e12  # slopes of r-concave distributions: flat, or all at 0, but for rounding


def expected_false(threshold: float, q: float, n_features: int, *, bound: Bound, n_pairs: int) -> float:
    r"""Bound on the expected number of falsely selected features; ``nan`` if none holds for so low a threshold.

    Parameters
    ----------
    threshold : float
        Least share of resamples that select a feature. Above 1/2 for ``"mb"`` and ``"unimodal"``.
    q : float
        Number of features selected in each resample, or its mean.
    n_features : int
        Number of features.
    bound : {"mb", "unimodal", "r-concave"}
        ``"mb"`` is :math:`q^2 / ((2\tau - 1) d)` (Meinshausen and Bühlmann, 2010; Shah and Samworth, 2013, show it for
        pairs without assumptions on noise features). The others assume a shape of the distribution of the share of
        pairs in which both halves select a feature (Shah and Samworth), and are never larger than ``"mb"``.
    n_pairs : int
        Number of complementary pairs; has no part in ``"mb"``.

    Examples
    --------
    >>> from holdfast.selectors.stability_selection import expected_false
    >>> [round(expected_false(0.75, 2, 9, bound=b, n_pairs=50), 3) for b in ("mb", "unimodal", "r-concave")]
    [0.889, 0.454, 0.163]
    """
    plain = q**2 / ((2 * threshold - 1) * n_features) if threshold > 0.5 else math.inf
    theta = min(1.0, q / n_features)
    shaped = math.inf
    if bound == "unimodal":
        shaped = n_features * theta**2 * unimodal_factor(on_grid(threshold, n_pairs), theta, n_pairs)
    elif bound == "r-concave":
        shaped = n_features * r_concave_share(on_grid(threshold, n_pairs), theta, n_pairs)
    bounded = min(plain, shaped)
    return math.nan if math.isinf(bounded) else min(bounded, float(n_features))


def on_grid(threshold: float, n_pairs: int) -> float:
    """The least share of halves that is no less than the threshold: selections are the same for both."""
    return math.ceil(2 * n_pairs * threshold - SLACK) / (2 * n_pairs)


def unimodal_factor(threshold: float, theta: float, n_pairs: int) -> float:
    r"""The factor :math:`C(\tau, B)` of Shah and Samworth's Theorem 2; infinite where it does not hold.

    It holds for :math:`\theta \le 1/\sqrt3` and thresholds above
    :math:`\min(\frac12 + \theta^2, \frac12 + \frac1{2B} + \frac34\theta^2)`, from :math:`\frac12 + \frac1B` on.
    """
    lowest = min(0.5 + theta**2, 0.5 + 0.5 / n_pairs + 0.75 * theta**2)
    if theta > 1 / math.sqrt(3) or threshold <= lowest or threshold < 0.5 + 1 / n_pairs - SLACK:
        return math.inf
    if threshold <= 0.75 + SLACK:
        return 1 / (2 * (2 * threshold - 1 - 0.5 / n_pairs))
    return 4 * (1 - threshold + 0.5 / n_pairs) / (1 + 1 / n_pairs)


def r_concave_share(threshold: float, theta: float, n_pairs: int) -> float:
    """The largest probability to pass the threshold, for r-concave shares of pairs (r = -1/2) and halves (r = -1/4)."""
    halves = round(2 * n_pairs * threshold)
    of_pairs = largest_tail(theta**2 * n_pairs, halves - n_pairs, n_pairs, 2.0)
    return min(of_pairs, largest_tail(theta * 2 * n_pairs, halves, 2 * n_pairs, 4.0))


@lru_cache(maxsize=4096)
def largest_tail(mean: float, least: int, n: int, power: float) -> float:
    r"""The largest P(X ≥ least) over r-concave distributions on 0, …, n of this mean or less, r = -1 / ``power``.

    A distribution is r-concave if its :math:`f^r` is convex. The tail is largest for
    :math:`f(i) \propto (1 + c i)^{1/r}` on 0, …, k with a smaller value at k + 1, which the mean fixes (Shah and
    Samworth, 2013, appendix); k and the slope c are searched. For ``least`` up to twice the mean, where a distribution
    need not fall, 1 is returned, which always holds.
    """
    if least <= max(0.0, 2 * mean):
        return 1.0
    if mean == 0:
        return 0.0
    best = 0.0
    slope = 0.0  # flat distributions on 0, ..., k have this mean or less, as k ≤ 2 mean
    for k in range(math.floor(2 * mean), n + 1):
        steeper = _slope(mean, k + 1, power) if k < n else slope
        if k + 1 >= least:
            best = max(best, _tail(slope, mean, k, least, power))
            if steeper > slope:
                best = max(best, _best_between(max(slope, FLATTEST), steeper, mean, k, least, power))
        slope = steeper
    return best


def _distribution(slope: float, k: int, power: float) -> NDArray[np.float64]:
    return np.asarray((1 + slope * np.arange(k + 1)) ** -power, dtype=np.float64)


def _mean(slope: float, k: int, power: float) -> float:
    f = _distribution(slope, k, power)
    return float(np.arange(k + 1) @ f / f.sum())


def _slope(mean: float, k: int, power: float) -> float:
    """The slope that gives a distribution on 0, …, k this mean, within what differs from flat and from a point."""
    if _mean(FLATTEST, k, power) <= mean:
        return FLATTEST
    if _mean(STEEPEST, k, power) >= mean:
        return STEEPEST
    return math.exp(brentq(lambda log: _mean(math.exp(log), k, power) - mean, math.log(FLATTEST), math.log(STEEPEST)))


def _tail(slope: float, mean: float, k: int, least: int, power: float) -> float:
    """P(X ≥ least) of the distribution on 0, …, k with so much at k + 1 that it has this mean."""
    f = _distribution(slope, k, power)
    total = (k + 1 - np.arange(k + 1)) @ f / (k + 1 - mean)
    return float(1 - f[:least].sum() / total)


def _best_between(low: float, high: float, mean: float, k: int, least: int, power: float) -> float:
    optimum = minimize_scalar(
        lambda log: -_tail(math.exp(log), mean, k, least, power),
        bounds=(math.log(low), math.log(high)),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return max(-float(optimum.fun), 0.0)


def threshold_for(q: float, pfer: float, n_features: int, *, bound: Bound, n_pairs: int) -> float:
    """The least threshold for which no more than ``pfer`` features are expected to be selected falsely.

    Raises
    ------
    ValueError
        If not even a threshold of 1 suffices.
    """
    if bound == "mb":
        threshold = (1 + q**2 / (pfer * n_features)) / 2
        if threshold <= 1:
            return threshold
    else:
        grid = range(1, 2 * n_pairs + 1)
        index = _first(len(grid), lambda at: _at_most(grid[at] / (2 * n_pairs), q, pfer, n_features, bound, n_pairs))
        if index < len(grid):
            return grid[index] / (2 * n_pairs)
    least = expected_false(1.0, q, n_features, bound=bound, n_pairs=n_pairs)
    raise ValueError(
        f"Expected a pfer that some threshold can keep, got {pfer:g}: with q={q:g} of {n_features} features even a "
        f"threshold of 1 gives {least:.3g}; select fewer features in each resample, or allow a larger pfer."
    )


def largest_q(threshold: float, pfer: float, n_features: int, *, bound: Bound, n_pairs: int) -> int:
    """The largest number of features in each resample for which no more than ``pfer`` false ones are expected.

    Raises
    ------
    ValueError
        If not even one feature is allowed, or no bound holds for the threshold.
    """
    q = _first(n_features, lambda at: not _at_most(threshold, at + 1, pfer, n_features, bound, n_pairs))
    if q:
        return q
    least = expected_false(threshold, 1, n_features, bound=bound, n_pairs=n_pairs)
    reason = "no bound holds for so low a threshold" if math.isnan(least) else f"even q=1 gives {least:.3g}"
    raise ValueError(
        f"Expected a pfer that some q can keep, got {pfer:g}: at a threshold of {threshold:g} and {n_features} "
        f"features, {reason}; raise the threshold, or allow a larger pfer."
    )


def _at_most(threshold: float, q: float, pfer: float, n_features: int, bound: Bound, n_pairs: int) -> bool:
    return expected_false(threshold, q, n_features, bound=bound, n_pairs=n_pairs) <= pfer * (1 + 1e-12)


def _first(n: int, holds: Callable[[int], bool]) -> int:
    """The first of 0, …, n - 1 for which something holds that holds for all after it; n if there is none."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def integrate_path(probabilities: Floats, n_pairs: int, power: int) -> tuple[Floats, Floats]:
    r"""Expected number of false features, and q, by integrated path stability selection.

    A feature's score is the mean over strengths of :math:`(2\hat\pi - 1)^m` where its probability is above 1/2, up to
    the strength at which the integrated bound of the expected number of false ones reaches 0.05.

    Parameters
    ----------
    probabilities : ndarray
        Share of halves that select each feature, at strengths equally spaced in their logarithm, the largest first.
    n_pairs : int
        Number of complementary pairs.
    power : int
        m: 1, or 2.
    """
    d, q = probabilities.shape[1], probabilities.sum(axis=1)
    bound = q**2 / d if power == 1 else (q**2 / d + (n_pairs - 1) * q**4 / d**3) / n_pairs
    integral = np.cumsum(bound) / q.size
    last = max(int((integral <= MAX_INTEGRAL).sum()), 1)
    used = probabilities[:last]
    score = np.where(used > 0.5, (2 * used - 1) ** power, 0).sum(axis=0) / q.size
    expected = np.full(d, float(d))
    np.divide(integral[last - 1], score, out=expected, where=score > 0)
    expected = np.minimum(expected, d)
    return expected, q_values(expected, np.searchsorted(np.sort(expected), expected, side="right"), -expected)


MAX_INTEGRAL = 0.05
"""Where integrated path stability selection stops."""


def path_strengths(X: Any, y: Any, *, n_strengths: int = 25, random_state: int = 0) -> list[float]:
    """Choose penalty strengths of a lasso for a stability path, whichever the true target is of its shuffled copies.

    From where noise hardly ever enters on half of the rows (0.02 features expected) down to where a half of the rows of
    a shuffled target selects half of the number of features to the power 3/4, or four tenths of the rows.

    Parameters
    ----------
    X, y : array
        Features and target: two classes, or numbers.
    n_strengths : int
        Number of strengths, equally spaced in their logarithm.
    random_state : int
        Seed of the shuffled target and of its halves.

    Returns
    -------
    list of float
        The largest first, for ``penalty_strengths=`` of :class:`StabilitySelection`.

    Examples
    --------
    >>> from holdfast.selectors import path_strengths
    >>> from sklearn.datasets import load_breast_cancer
    >>> [round(strength, 3) for strength in path_strengths(*load_breast_cancer(return_X_y=True), n_strengths=3)]
    [0.098, 0.04, 0.017]
    """
    target, (n, d) = np.asarray(y), np.shape(X)
    codes = np.unique(target, return_inverse=True)[1] if target.dtype.kind not in "f" else target
    top = float(codes.std()) * -float(ndtri(0.01 / d)) / math.sqrt(n // 2)
    grid, wanted = np.geomspace(top, 0.12 * top, 50), min(d**0.75 / 2, 0.4 * n)
    shuffled = target[rng_of(random_state, SHUFFLE).permutation(n)]
    path = StabilitySelection(
        ElasticNetPath(), threshold=0.75, penalty_strengths=grid.tolist(), random_state=random_state,
        resampling=ComplementaryPairs(2, stratify=target.dtype.kind != "f"),
    ).fit(X, shuffled).path_probabilities_  # fmt: skip
    enough = np.flatnonzero(path.sum(axis=1) >= wanted)
    return np.geomspace(top, grid[enough[0]] if enough.size else grid[-1], n_strengths).tolist()


T = TypeVar("T")
TIES, SHUFFLE = 1, 2  # what a random stream is for
DEFAULT_NUMBERS = {"pairs": 50, "subsamples": 100, "bootstrap": 100}


class StabilitySelection(ResamplingWrapper):
    r"""Stability selection: the features that a large share of subsamples select, with a bound on false ones.

    On each half of the rows the base selects its best ``q`` features, or a set for each of ``penalty_strengths``. A
    feature is selected if its selection probability, the share of halves that select it, is at least ``threshold``,
    at one of ``penalty_strengths`` at least. Then the expected number of falsely selected features is bounded
    (:mod:`holdfast.selectors.stability_selection`). Give two of ``threshold``, ``q`` and ``pfer``, the bound, and the
    third follows.

    Over several strengths a feature's probability is the largest of those at each, not the share of halves that select
    it at any of them: selected by half of the halves at one strength and by the others at another, it has 0.5, not one.
    Only the bound goes by the union: its ``q`` is the mean number of features that a half selects at any strength. With
    ``q`` and ``penalty_strengths`` both given, each half's sets are restricted to the first ``q`` features that enter
    along ``penalty_strengths``, so that ``q`` bounds the union.

    Where the ``q``-th feature ties with others, it is drawn at random, so that no column is favored; features
    tied for the last rank of all (those without a weight in a sparse model, say) are then not selected at all. A base
    without an order must select no more than ``q`` features itself. Copies of a row (unless ``copies="apart"``), and
    rows of one group, fall into the same half.

    Parameters
    ----------
    base : selector
        A selector, such as :class:`ElasticNetPath`, or any scikit-learn estimator with a ranking, scores, coefficients
        or importances; its number of features does not count.
    threshold : float, optional
        Least selection probability of a selected feature, above 0; most bounds need more than 1/2.
    q : int, optional
        How many features each half selects. With ``penalty_strengths``, only the first ``q`` to enter along them count.
    pfer : float, optional
        Expected number of falsely selected features to allow at most (per-family error rate).
    penalty_strengths : sequence of float, or mapping from one parameter of the base to such a sequence, optional
        Values of the base's parameter ``penalty_strength``, or of the named one (``{"C": [0.1, 1]}``), in the order
        in which they select more and more. The mean size of the union over all values replaces ``q``,
        unless ``q`` is given.
    resampling : {"pairs", "subsamples", "bootstrap"} or perturbation
        Disjoint halves of the rows two by two, halves drawn anew, or bootstraps, for which no bound is known; or a
        perturbation that has its number. With few rows of a class, give
        ``hf.ComplementaryPairs(50, stratify=True)``.
    n_resamples : int, optional
        How many pairs (50 if not given), or subsamples (100).
    bound : {"unimodal", "mb", "r-concave"}, optional
        Meinshausen and Bühlmann's bound, or a smaller one for complementary pairs (Shah and Samworth, 2013), if the
        share of pairs in which both halves select a noise feature has one mode, or an r-concave distribution. By
        default ``"unimodal"`` for complementary pairs, else ``"mb"``. With thresholds below 0.75, expect up to 1.3
        times the bound ``"r-concave"`` in noise of 5,000 features, and up to 1.8 times in that of 20,000.
    n_shuffles : int
        How often the target is shuffled to tell features from chance, with 10 pairs of halves each: 40 are usually
        enough, and cost eight times the fits of 50 pairs. 0 leaves it out.
    ipss : {1, 2}, optional
        Expected false features and q-values by integrated path stability selection of this power (Melikechi and
        Miller, 2025) instead, without more fits: a quick look. 1 always holds, and finds little; 2 holds if pairs of
        halves select noise features as if they were independent, which is not checked.
    copies : {"together", "apart"}
        Whether copies of a row are drawn together, or one by one, as R's ``stabs`` does with a bootstrap sample: then
        two halves may share rows, and no bound is known.
    random_state : int, optional
        Seed of the resamples and of the base. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    selection_probabilities_ : ndarray
        Share of resamples that select each feature, the largest over ``penalty_strengths``; also as ``scores_``.
    path_probabilities_ : ndarray of shape (n_penalty_strengths, n_features)
        Share of resamples that select each feature at each of ``penalty_strengths``; one row without them.
    threshold_, q_, pfer_ : float
        The three, given or found; for ``penalty_strengths`` without ``q``, ``q_`` is the mean size of the union over
        them.
    error_bound_ : float
        Bound on the expected number of falsely selected features at ``threshold_`` and ``q_``; no larger than ``pfer``.
        ``nan`` if none is known.
    error_bound_reason_ : str
        Why no bound is known; empty if one is.
    expected_false_ : ndarray
        Expected number of false features at least as good as each: those that have nothing to do with the target,
        neither themselves nor through features correlated with them. With ``n_shuffles`` by the area under the path of
        each feature (the mean of ``path_probabilities_``), compared with shuffled targets; with ``ipss`` by its bound.
        Not there with neither.
    q_values_ : ndarray
        The least share of false ones in a list of all features at least as good as some, which holds the feature.

    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    EnsembleSelector : One order of features from those on resamples.
    holdfast.selectors.stability_selection : The bounds, as functions.

    Notes
    -----
    The bound of Meinshausen and Bühlmann is :math:`q^2 / ((2\tau - 1) d)` for a threshold :math:`\tau` and :math:`d`
    features.

    The promise of ``n_shuffles`` is exact where no feature has to do with the target, if ``penalty_strengths`` do not
    depend on the target (:func:`path_strengths` chooses such), and simulated elsewhere.

    References
    ----------
    Meinshausen and Bühlmann (2010); Shah and Samworth (2013); Melikechi and Miller (2025).

    Examples
    --------
    >>> from holdfast.selectors import AnovaF, StabilitySelection
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> stable = StabilitySelection(AnovaF(), threshold=0.9, pfer=1, bound="unimodal", random_state=0).fit(X, y)
    >>> stable.q_, round(stable.error_bound_, 2)
    (8, 0.92)
    >>> list(stable.get_feature_names_out())[:3]
    ['mean radius', 'mean perimeter', 'mean concave points']
    """

    about: ClassVar[About] = About(
        name="stability_selection",
        label="Stability Selection",
        summary="Often among the first q to enter a base selector's order, on halves.",
        methods="Stability Selection",
        reference="meinshausen2010",
    )
    serves: ClassVar[Serves | None] = AS_BASE

    shared_parameters: ClassVar[tuple[str, ...]] = ("threshold", "q", "pfer", "bound")
    adjusts: ClassVar[Adjusts] = "base"
    uninformative: ClassVar[str | None] = "no information for the base"

    def __init__(
        self,
        base: Any,
        *,
        threshold: float | None = None,
        q: int | None = None,
        pfer: float | None = None,
        penalty_strengths: Sequence[float] | Mapping[str, Sequence[Any]] | None = None,
        resampling: Resampling | Perturbation = "pairs",
        n_resamples: int | None = None,
        bound: Bound | None = None,
        n_shuffles: int = 0,
        ipss: Literal[1, 2] | None = None,
        copies: Copies = "together",
        random_state: Any = None,
    ) -> None:
        self.base, self.threshold, self.q, self.pfer = base, threshold, q, pfer
        self.penalty_strengths, self.bound, self.copies = penalty_strengths, bound, copies
        self.resampling, self.n_resamples, self.random_state = resampling, n_resamples, random_state
        self.n_shuffles, self.ipss = n_shuffles, ipss

    def share(self, data: Data) -> Inner:
        check_copies(self.copies, data.groups)
        if isinstance(self.base, StabilitySelection):
            raise ValueError(
                "Expected a base other than Stability Selection, which would fit thousands of models and has no order "
                "of features to take the first q of; give the base of that one, such as ElasticNetPath()."
            )
        if data.covariates is not None and self.n_shuffles:
            raise ValueError(
                f"Expected n_shuffles=0 where the selection is adjusted, got {self.n_shuffles}: a shuffled target has "
                "nothing to do with covariates and sites either; give adjust=False to keep n_shuffles."
            )
        return super().share(data)

    # Settings of the base

    def _path(self) -> list[Setting]:
        """The settings of a path; none if the order of features is the path."""
        if self.penalty_strengths is None:
            return []
        given = self.penalty_strengths
        if not isinstance(given, Mapping):
            given = {"penalty_strength": given}
        if len(given) != 1:
            raise ValueError(f"Expected penalty_strengths of one parameter of the base, got {len(given)}.")
        ((name, values),) = given.items()
        known = self._checked_base().get_params(deep=True)
        if name not in known:
            raise ValueError(
                f"Expected penalty_strengths of a parameter of {type(self.base).__name__}, got {name!r}; it has "
                f'{", ".join(sorted(known))}; name the one that is meant: penalty_strengths={{"C": [0.1, 1]}}.'
            )
        if len(values) == 0:
            raise ValueError("Expected at least one value in penalty_strengths, got none.")
        return [{name: value} for value in values]

    def _base_settings(self) -> list[Setting]:
        return self._path() or [{}]

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        resampling = named_resampling(self.resampling, self.n_resamples, DEFAULT_NUMBERS)
        ranked = []
        for counts, seed in batch.resamples:
            splits = inner_splits(resampling, shared, counts, batch.target.values, seed, self.copies)
            theory = Theory.of(resampling, splits, shared, counts)
            if self.copies == "apart" and shared.n_units(np.flatnonzero(counts)) < counts.sum():
                theory = replace(theory, reason="no error bound is known for halves that share copies of rows")
            sizes = [attempt(selector._size, batch.n_features, theory) for selector in batch.selectors]
            wanted = list(dict.fromkeys(size for size in sizes if not isinstance(size, Exception)))
            counted = self._count_selections(shared, batch, splits, wanted) if wanted else {}
            errors = attempt(self._judge, shared, replace(batch, counts=counts[None], seeds=[seed]), counted, theory)
            ranked.append(
                [
                    size
                    if isinstance(size, Exception)
                    else errors
                    if isinstance(errors, Exception)
                    else attempt(selector._select_stable, counted[size], size, theory, errors[size])
                    for selector, size in zip(batch.selectors, sizes, strict=True)
                ]
            )
        return ranked

    # Expected false features

    def _judge(
        self, shared: Inner, batch: Batch, counted: Mapping[int | None, "SelectionCounts"], theory: "Theory"
    ) -> Mapping[int | None, tuple[Floats, Floats] | None]:
        """Expected number of false features and q of each feature, for each size, by one resample."""
        check_whole("n_shuffles", self.n_shuffles, 0)
        if self.ipss not in (None, 1, 2) or (self.ipss and (self.n_shuffles or not theory.n_pairs)):
            raise ValueError(
                f"Expected ipss 1 or 2 with complementary pairs and without n_shuffles, got {self.ipss!r}."
            )
        if self.ipss:
            return {size: integrate_path(found.counts / found.n, theory.n_pairs, self.ipss)
                    for size, found in counted.items()}  # fmt: skip
        if not self.n_shuffles:
            return dict.fromkeys(counted)
        if not theory.n_pairs:
            raise ValueError(
                f"Expected complementary pairs for n_shuffles, got {theory.name}; give resampling='pairs'."
            )
        areas = {size: [(found.counts / found.n).mean(axis=0)] for size, found in counted.items()}
        for again in self._count_shuffled(shared, batch, list(counted)):
            for size, found in again.items():
                areas[size].append((found.counts / found.n).mean(axis=0))
        least = 1e-6 if self._path() else 1 / SHUFFLED_PAIRS
        judged = {size: tell_from_chance(np.array(rows), least) for size, rows in areas.items()}
        return {
            size: (np.minimum(errors.expected_false, batch.n_features), errors.q) for size, errors in judged.items()
        }

    def _count_shuffled(
        self, shared: Inner, batch: Batch, sizes: Sequence[int | None]
    ) -> Iterator[dict[int | None, "SelectionCounts"]]:
        """Count how often each feature is selected after the target was shuffled, for each shuffle."""
        ((counts, seed),) = batch.resamples
        rows, y = np.flatnonzero(counts), batch.target.values
        units = shared.unit_of[rows]
        shuffles = TargetShuffles.plan(y[rows], None if np.unique(units).size == rows.size else units)
        if shuffles.reason:
            raise ValueError(
                f"Expected a target that can be shuffled for n_shuffles, got one of few orders: {shuffles.reason}."
            )
        given = named_resampling(self.resampling, self.n_resamples, DEFAULT_NUMBERS)
        assert isinstance(given, ComplementaryPairs)
        resampling = replace(given, n_pairs=SHUFFLED_PAIRS)
        for number in range(self.n_shuffles):
            rng = rng_of(int(seed or 0), number, SHUFFLE)
            values = y.copy()
            values[rows] = y[rows][shuffles.draw(rng)]
            again = replace(batch, target=replace(batch.target, values=values))
            splits = inner_splits(resampling, shared, counts, values, int(rng.integers(2**31)), self.copies)
            prepared = self.share(again)._replace(unit_of=shared.unit_of)
            yield self._count_selections(prepared, again, splits, sizes)

    def _count_selections(
        self, shared: Inner, batch: Batch, splits: Sequence[Split], sizes: Sequence[int | None]
    ) -> dict[int | None, "SelectionCounts"]:
        """Count how often each feature is selected, at each penalty strength, for each size."""
        path, d, base = self._path(), batch.n_features, self.base
        has_size = "n_features" in base.get_params(deep=False)
        ends_at_q = isinstance(base, Selector) and "largest" in base.whole_order  # it need go no further
        apart = isinstance(base, Selector) and "n_features" not in base.shared_parameters  # a fit for each size
        counted = {size: SelectionCounts.none(max(1, len(path)), d) for size in sizes}
        for fit_sizes in [[size] for size in sizes] if apart and not path else [sizes]:
            settings = path or ([{"n_features": size} for size in fit_sizes] if has_size else [{}])
            preferred = self._preferred(shared, batch, splits, settings, cut=bool(path) or ends_at_q)
            for split, selections in zip(splits, preferred, strict=True):
                for size, sets in zip(fit_sizes, self._sets(selections, fit_sizes, d, split.seed), strict=True):
                    counted[size].add(sets)
        return counted

    def _sets(
        self, selections: Sequence[Selection], sizes: Sequence[int | None], n_features: int, seed: int
    ) -> list[list[Ints]]:
        """For each size, the features that a resample selects at each penalty strength."""
        if self.penalty_strengths is None:
            by_size = list(selections) * (len(sizes) // len(selections))
            for size, selection in zip(sizes, by_size, strict=True):
                check_size(selection, size, self.base)
            worse = [badness(selection, n_features) for selection in by_size]
            return [[take_first(order, size, seed)] for order, size in zip(worse, sizes, strict=True)]
        path = [selected_columns(selection) for selection in selections]
        entry = find_entries(path, n_features)
        first = [take_first(entry, size, seed, never=np.inf) for size in sizes]
        return [[np.intersect1d(columns, entered) for columns in path] for entered in first]

    # Threshold, q and PFER

    def _size(self, d: int, theory: "Theory") -> int | None:
        """How many features each half selects; None for a union over a path."""
        self._check_given(theory)
        if self.q is not None:
            return min(int(self.q), d)
        if self.penalty_strengths is not None:
            return None
        assert self.threshold is not None
        assert self.pfer is not None
        return largest_q(float(self.threshold), float(self.pfer), d, bound=self._bound(theory), n_pairs=theory.n_pairs)

    def _check_given(self, theory: "Theory") -> None:
        sized = self.q is not None or self.penalty_strengths is not None
        given = (self.threshold is not None) + (self.pfer is not None) + sized
        if given != 2:
            raise ValueError(
                f"Expected two of threshold, q (or penalty_strengths) and pfer, from which the third follows, got "
                f"{given}."
            )
        if self.bound is not None and self.bound not in BOUNDS:
            raise ValueError(f"Expected bound to be {', '.join(map(repr, BOUNDS))}, got {self.bound!r}.")
        if self.bound not in (None, "mb") and not theory.n_pairs:
            raise ValueError(
                f"Expected complementary pairs for the {self.bound} bound, got {theory.name}; give resampling='pairs', "
                "or bound='mb'."
            )
        if self.pfer is not None and theory.reason:
            raise ValueError(f"Expected threshold and q, and no pfer, as {theory.reason}.")
        _check_between("threshold", self.threshold, 1)
        _check_between("pfer", self.pfer, math.inf)
        if self.q is not None:
            check_whole("q", self.q, 1)

    def _bound(self, theory: "Theory") -> Bound:
        return self.bound or ("unimodal" if theory.n_pairs else "mb")

    def _select_stable(
        self, counted: "SelectionCounts", size: int | None, theory: "Theory", errors: tuple[Floats, Floats] | None
    ) -> Preference:
        """Select the features that were selected often enough, with the bound on false ones."""
        q, d = counted.mean_size if size is None else size, counted.counts.shape[1]
        threshold = self.threshold
        if threshold is None:
            assert self.pfer is not None
            threshold = threshold_for(q, float(self.pfer), d, bound=self._bound(theory), n_pairs=theory.n_pairs)
        false, reason = math.nan, theory.reason
        if not reason:
            false = expected_false(float(threshold), q, d, bound=self._bound(theory), n_pairs=theory.n_pairs)
            if math.isnan(false):
                reason = f"the {self._bound(theory)} bound holds only for thresholds above 1/2, not for {threshold:g}"
        share, most = counted.counts / counted.n, counted.counts.max(axis=0)
        extras = {
            "selection_probabilities_": share.max(axis=0),
            "path_probabilities_": share,
            "scores_": share.max(axis=0),
            "threshold_": float(threshold),
            "q_": q,
            "pfer_": false if self.pfer is None else float(self.pfer),
            "error_bound_": false,
            "error_bound_reason_": reason,
            **({} if errors is None else {"expected_false_": errors[0], "q_values_": errors[1]}),
        }
        return Preference("subset", np.flatnonzero(most >= threshold * counted.n - SLACK), extras=extras)


@dataclass(eq=False)
class SelectionCounts:
    """How often each feature was selected in n resamples.

    Attributes
    ----------
    counts : ndarray of int
        How many resamples selected each feature at each penalty strength (strengths × features).
    united : int
        Sizes of the resamples' unions over penalty strengths, summed.
    n : int
        Number of resamples.
    """

    counts: Ints
    united: int = 0
    n: int = 0

    @classmethod
    def none(cls, n_penalty_strengths: int, n_features: int) -> "SelectionCounts":
        """Before the first resample."""
        return cls(np.zeros((n_penalty_strengths, n_features), dtype=np.int64))

    def add(self, sets: Sequence[Ints]) -> None:
        """Count one more resample: the columns that it selects at each penalty strength."""
        for counts, columns in zip(self.counts, sets, strict=True):
            counts[columns] += 1
        self.united += np.unique(np.concatenate(sets)).size
        self.n += 1

    @property
    def mean_size(self) -> float:
        """Mean number of features that a resample selected at any penalty strength."""
        return self.united / self.n


@dataclass(frozen=True)
class Theory:
    """What is known of the errors under a way of resampling.

    Attributes
    ----------
    name : str
        What resamples are called.
    n_pairs : int
        Number of complementary pairs; 0 if there are none.
    reason : str
        Why no bound is known; empty if one is.
    """

    name: str
    n_pairs: int = 0
    reason: str = ""

    @classmethod
    def of(cls, resampling: Perturbation, splits: Sequence[Split], shared: Inner, counts: Ints) -> "Theory":
        """Look up what is known, by how rows were drawn."""
        if isinstance(resampling, Halves):
            return cls("subsamples")
        if isinstance(resampling, ComplementaryPairs):
            return cls("complementary pairs", resampling.n_pairs)
        if not isinstance(resampling, Subsample):
            name = type(resampling).__name__.lower()
            return cls(name, reason=f"no error bound is known for resampling by {name}")
        largest, n = max(shared.n_units(split.rows) for split in splits), shared.n_units(np.flatnonzero(counts))
        units = "rows" if shared.groups is None else "groups"
        more = f"no error bound is known for subsamples of more than half of the {units} ({largest} of {n})"
        return cls("subsamples", reason=more if 2 * largest > n else "")


def attempt(function: Callable[..., T], *arguments: Any) -> T | Exception:
    """Return what a call returns, or the error that stopped it."""
    try:
        return function(*arguments)
    except Exception as error:
        return error


def find_entries(path: Sequence[Ints], n_features: int) -> Floats:
    """The step of a path of sets at which each feature is first selected; infinite for those that never are."""
    entry = np.full(n_features, np.inf)
    for step in reversed(range(len(path))):
        entry[path[step]] = step
    return entry


def selected_columns(selection: Selection) -> Ints:
    """The selected columns: those with a weight, if there are weights."""
    if selection.kind == "ranking":
        raise ValueError(
            "Expected a base that selects a set of features for each of penalty_strengths, got a ranking; give q."
        )
    return np.asarray(selection.values if selection.kind == "subset" else np.flatnonzero(selection.values), np.int64)


def check_size(selection: Selection, size: int | None, base: Any) -> None:
    """Raise if a base without an order selected more than it should."""
    if selection.kind == "subset" and size is not None and selection.values.size > size:
        raise ValueError(
            f"Expected a base with an order of features, or one that selects no more than q={size}, got "
            f"{selection.values.size} features from {type(base).__name__} without an order."
        )


def take_first(worse: Floats, size: int | None, random_state: int, never: float | None = None) -> Ints:
    """The best features, given a number that is larger for worse ones and infinite for those that never count.

    Ties are broken at random. Where the cut falls among features of the value ``never`` (the worst of all, if not
    given), none of them is taken.
    """
    if size is None or size >= worse.size:
        return np.flatnonzero(worse < np.inf)
    order = np.lexsort((rng_of(random_state, TIES).random(worse.size), worse))
    taken, worst = order[:size], worse[order[-1]] if never is None else never
    return taken[worse[taken] < worst] if worse[order[size]] == worst else taken


def _check_between(what: str, value: float | None, most: float) -> None:
    if value is not None and not 0 < value <= most:
        ends = "above 0" if math.isinf(most) else f"above 0 and at most {most:g}"
        raise ValueError(f"Expected {what} {ends}, got {value!r}.")
