"""Features that a criterion forces into a selection: for every resample and every criterion, from moments made once."""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.filters import class_moments, golub, variance
from holdfast.kernels.lockstep_filters import best_by_moments
from holdfast.kernels.tolerances import TIE
from holdfast.selection import best_columns
from holdfast.selectors.filters import Golub, GolubVariance, Variance, _Moments
from holdfast.selectors.rows import Floats, Ints, Mask, Resamples, Target
from holdfast.selectors.weighing import Filter

CRITERIA = {"variance": Variance, "golub": Golub}


class Criterion(NamedTuple):
    """What ranks features for forcing: a filter with what it shares over all resamples, or a number for each."""

    filter: Filter | None
    shared: Any
    numbers: Floats | None


def criterion_key(criterion: Any) -> Hashable:
    """By which equal criteria are known."""
    named = isinstance(criterion, (str, Filter))
    return repr(criterion) if named else np.asarray(criterion, dtype=np.float64).tobytes()


def as_filter(criterion: Any) -> Filter | None:
    """The filter that ranks features for forcing; None if numbers were given."""
    if isinstance(criterion, str):
        if criterion not in CRITERIA:
            raise ValueError(
                f"Expected the criterion {' or '.join(map(repr, CRITERIA))}, a filter or numbers, got {criterion!r}."
            )
        return CRITERIA[criterion]()
    return criterion if isinstance(criterion, Filter) else None


def check_numbers(criterion: Any, n_features: int) -> None:
    """Raise if a criterion is neither a name nor a filter nor a number for each feature."""
    if as_filter(criterion) is None and np.shape(criterion) != (n_features,):
        raise ValueError(f"Expected a number for each of {n_features} features, got shape {np.shape(criterion)}.")


def share_criteria(criteria: Sequence[Any], X: Floats, target: Target) -> dict[Hashable, Criterion]:
    """Prepare criteria, by their keys; filters by class moments share centered data."""
    prepared: dict[Hashable, Criterion] = {}
    parts: dict[Any, Any] = {}
    for criterion in criteria:
        filter_ = as_filter(criterion)
        if filter_ is None:
            prepared[criterion_key(criterion)] = Criterion(None, None, np.asarray(criterion, dtype=np.float64))
            continue
        part = type(filter_)._shared if _is_by_moments(filter_) else criterion_key(criterion)
        if part not in parts:
            parts[part] = filter_._shared(X, target)
        prepared[criterion_key(criterion)] = Criterion(filter_, parts[part], None)
    return prepared


def _is_by_moments(filter_: Filter) -> bool:
    return isinstance(filter_, _Moments) and type(filter_)._weights is _Moments._weights


class Forced(NamedTuple):
    """Which features each resample forces, and what went wrong: by set of features and resample."""

    columns: NDArray[np.int64]  # sets × resamples × most that are forced, the best first, −1 where there are fewer
    errors: dict[tuple[int, int], Exception]

    def masks(self, n_features: int) -> Mask:
        """Sets × resamples × features: which are forced."""
        masks = np.zeros((*self.columns.shape[:2], n_features + 1), dtype=bool)
        np.put_along_axis(masks, np.where(self.columns < 0, n_features, self.columns), True, axis=2)
        return masks[:, :, :n_features]


def force_features(
    sets: Sequence[tuple[Hashable, int]],
    criteria: Mapping[Hashable, Criterion],
    X: Floats,
    target: Target,
    resamples: Resamples,
    lib: Any = None,
) -> Forced:
    """Force the best features by each criterion: a set is a criterion's key and how many it forces.

    A criterion orders the features of a resample once, for the largest set; of features that tell it nothing it forces
    none. ``resamples`` have the seeds by which equally good features take their turns. With a library of a device
    (:mod:`holdfast.kernels.libraries`), moments are computed there.
    """
    widest = max((size for _, size in sets), default=0)
    forced = Forced(np.full((len(sets), len(resamples.seeds), widest), -1, dtype=np.int64), {})
    most: dict[Hashable, int] = {}
    for key, size in sets:
        most[key] = max(size, most.get(key, 0))
    known = {} if lib is None else _best_on_device(most, criteria, X.shape[1], resamples, lib)
    for resample, (counts, seed) in enumerate(zip(*resamples, strict=True)):
        moments: dict[int, _Weights] = {}
        orders: dict[Hashable, NDArray[np.int32] | Exception] = {}
        for key, size in most.items():
            try:
                own = known[key][resample] if key in known else None
                orders[key] = own if own is not None else _best(criteria[key], size, X, target, counts, seed, moments)
            except Exception as error:
                orders[key] = error
        for number, (key, size) in enumerate(sets):
            order = orders[key]
            if isinstance(order, Exception):
                forced.errors[number, resample] = order
            else:
                forced.columns[number, resample, : order[:size].size] = order[:size]
    return forced


def _best_on_device(
    most: Mapping[Hashable, int],
    criteria: Mapping[Hashable, Criterion],
    n_features: int,
    resamples: Resamples,
    lib: Any,
) -> dict[Hashable, list[NDArray[Any] | None]]:
    """The best features by criteria that a device can compute; None where ties or undefined weights ask for a look."""
    lambdas = {key: _lambda(criteria[key].filter) for key, size in most.items() if size < n_features}
    found: dict[Hashable, list[NDArray[Any] | None]] = {}
    for part in {id(criteria[key].shared): key for key, own in lambdas.items() if own is not None}.values():
        shared = criteria[part].shared
        keys = [key for key in lambdas if criteria[key].shared is shared and lambdas[key] is not None]
        own = [float(lambdas[key]) for key in keys]  # type: ignore[arg-type]
        best = best_by_moments(lib, shared, resamples.counts, own, max(most[key] for key in keys) + 1)
        for key, (weights, columns) in zip(keys, best, strict=True):
            size, filter_ = most[key], criteria[key].filter
            assert filter_ is not None
            first = weights[:, : size + 1]
            with np.errstate(invalid="ignore"):
                clear = (first[:, :-1] - first[:, 1:] > TIE * first[:, :1]).all(axis=1) & np.isfinite(first).all(axis=1)
            clear &= filter_._informative(first[:, size - 1]) & (first[:, 0] > 1e-290) & (first[:, 0] < 1e300)
            found[key] = [row[:size] if sure else None for row, sure in zip(columns, clear.tolist(), strict=True)]
    return found


def _lambda(filter_: Filter | None) -> float | None:
    """The weight of the variance as it is beside Golub's ratio; None for a filter that is something else."""
    if type(filter_) is GolubVariance:
        return filter_.lambda_v if filter_.lambda_v >= 0 and filter_.units == "data" else None
    known: dict[Any, float] = {Variance: np.inf, Golub: 0.0}
    return known.get(type(filter_))


class _Weights:
    """Weights of features in one resample, from moments that are computed once."""

    def __init__(self, shared: Any, counts: Ints) -> None:
        self.moments = class_moments(shared, counts)

    @cached_property
    def golub(self) -> Floats:
        return golub(self.moments)

    @cached_property
    def variance(self) -> Floats:
        return variance(self.moments)

    def by(self, filter_: _Moments) -> Floats:
        """The weights of a filter, bit by bit as it computes them."""
        factor = _lambda(filter_)
        if factor is not None and (factor == 0 or np.isinf(factor)):
            return self.golub if factor == 0 else self.variance
        if factor is not None and factor * float(np.max(self.variance, initial=0.0)) < np.inf:
            return self.golub + factor * self.variance
        return filter_._formula(self.moments)


def _best(
    criterion: Criterion, size: int, X: Floats, target: Target, counts: Ints, seed: int | None,
    moments: dict[int, _Weights],
) -> NDArray[np.int32]:  # fmt: skip
    """The best features by a criterion in one resample, whose moments are kept for the next criterion."""
    filter_, shared, numbers = criterion
    if filter_ is None:
        assert numbers is not None
        return best_columns(numbers, size, None, seed, tolerance=0.0).order
    own = filter_._tie_seed(seed)
    if isinstance(filter_, _Moments) and _is_by_moments(filter_):
        if id(shared) not in moments:
            moments[id(shared)] = _Weights(shared, counts)
        weights = moments[id(shared)].by(filter_)
        return best_columns(weights, size, filter_._informative(weights), own).order
    best = filter_._take_best(filter_._preference(shared, X, target, counts, own), size, own).order
    assert best is not None
    return best
