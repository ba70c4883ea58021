"""Ridge-logistic paths and models of many settings on many resamples, from data that were checked and scaled once.

:func:`holdfast.kernels.ridge.ridge_elimination` takes one setting and all that it needs. Here, what settings share is
computed once: the scale of the data for all calls, the standardized columns and their Gram matrix for each resample. A
path does not depend on the others that are computed with it, not in its last bit.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.inputs import (
    Floats,
    Ints,
    Mask,
    Scale,
    Scaled,
    check_columns,
    check_costs,
    check_labels,
    check_n_forced,
    check_shrinkages,
    check_sizes,
    check_tie_order,
    scale_data,
)
from holdfast.kernels.layout import Outcome
from holdfast.kernels.libraries import DEVICE_BYTES, library
from holdfast.kernels.lockstep import Models, lockstep_models
from holdfast.kernels.paths import on_scale_of_data
from holdfast.kernels.resampled import with_resamples
from holdfast.kernels.ridge import run_paths

MAX_ITER = 1000
"""Newton steps of a fit after which it is given up."""


class Eliminations(NamedTuple):
    """Eliminations of M resamples under G settings; as in :class:`~holdfast.kernels.paths.Paths`."""

    kept_until: NDArray[np.int32]  # M × G × d
    weight: Floats  # M × G × d
    unsolved: Ints  # M × G: number of features of the fit that was given up, or 0


def ridge_eliminations(
    data: Scaled,
    y: ArrayLike,
    counts: ArrayLike,
    sizes: Sequence[Ints],
    *,
    C: ArrayLike,
    shrinkage: ArrayLike = 1.0,
    forced: Mask | None = None,
    which_forced: ArrayLike | None = None,
    intercept: bool = True,
    tie_order: ArrayLike | None = None,
) -> Eliminations:
    """Eliminate down the sizes of each setting, for every resample; no path raises, ``unsolved`` tells of it.

    Parameters
    ----------
    data
        The scaled columns.
    y, counts, intercept, tie_order
        As :func:`~holdfast.kernels.ridge.ridge_elimination` takes them.
    sizes
        For each setting, the sizes to pass.
    C, shrinkage
        For all settings, or for each.
    forced, which_forced
        Sets × resamples × features: which may not fall; and the set of each setting. None are forced if not given.
    """
    (n, d), G = data.shape, len(sizes)
    y, counts = check_labels((n, d), y, counts)
    M = len(counts)
    passed = np.zeros((G, max(map(len, sizes))), np.int64)
    for own, room in zip(sizes, passed, strict=True):
        room[: len(own)] = check_sizes(own, d)
    if forced is None:
        held, places = np.zeros((1, d), bool), np.zeros((M, G), np.int64)
    else:
        which = np.asarray(which_forced, dtype=np.int64)
        for own, number in zip(sizes, which, strict=True):
            check_n_forced(forced[number], int(own[-1]))
        held, places = forced.reshape(-1, d), which * M + np.arange(M)[:, None]
    found = Eliminations(np.empty((M, G, d), np.int32), np.empty((M, G, d)), np.zeros((M, G), np.int64))
    coef, b = np.empty((M * G, max(int(own[-1]) for own in sizes))), np.empty(M * G)
    outcome = Outcome(found.kept_until.reshape(-1, d), found.weight.reshape(-1, d), coef, b, found.unsolved.reshape(-1))
    costs, factors = (np.tile(np.broadcast_to(each, G), M) for each in (check_costs(C), check_shrinkages(shrinkage)))
    run_paths(
        data.XT, y, counts, np.repeat(np.arange(M), G), np.arange(d)[None], held, places.ravel(), passed,
        np.tile(np.arange(G), M), check_tie_order(tie_order, d, M), costs, factors, intercept, data.split,
        data.wide and not data.split, MAX_ITER, outcome,
    )  # fmt: skip
    return found


def ridge_models(
    data: Scaled,
    y: ArrayLike,
    counts: ArrayLike,
    resamples: ArrayLike,
    columns: ArrayLike,
    C: ArrayLike,
    *,
    intercept: bool = True,
) -> Models:
    """Fit Q models on k columns each: each on its resample, its columns (Q × k, ascending) and with its C."""
    y, counts = check_labels(data.shape, y, counts)
    which = np.asarray(resamples, dtype=np.int64)
    Q, costs = which.size, check_costs(C)
    own = check_columns(columns, data.shape[1], Q)
    k = own.shape[1]
    outcome = Outcome(
        np.empty((Q, k), np.int32), np.empty((Q, k)), np.empty((Q, k)), np.empty(Q), np.zeros(Q, np.int64)
    )
    nothing = np.zeros(Q, np.int64)
    run_paths(
        data.XT, y, counts, which, own, np.zeros((1, k), bool), nothing, np.full((1, 1), k), nothing,
        np.zeros((1, k), np.int32), np.broadcast_to(costs, Q), np.ones(Q), intercept, data.split, False,
        MAX_ITER, outcome,
    )  # fmt: skip
    coef, intercepts = on_scale_of_data(outcome.coef, outcome.intercept, data.shift[own], data.unit[own])
    return Models(coef, intercepts, outcome.unsolved > 0)


def fit_ridge_logistic(
    X: ArrayLike | Scaled,
    y: ArrayLike,
    counts: ArrayLike,
    resamples: Sequence[int],
    columns: Sequence[NDArray[Any]],
    C: ArrayLike,
    *,
    intercept: bool = True,
    scale: Scale = "full",
    device: str = "cpu",
) -> list[tuple[Floats, float]]:
    """Fit logistic regression on given columns: each model on its resample, its columns and with its C.

    Parameters
    ----------
    X, y, counts
        Rows × features, or data that :func:`~holdfast.kernels.inputs.scale_data` scaled; labels −1 and 1; resamples ×
        rows, how often each row counts.
    resamples, columns, C
        Of each model; C may be one for all. Columns ascend; there is at least one.
    intercept
        Whether models have one; it is not penalized.
    scale
        ``"split"`` standardizes columns by each resample, ``"full"`` takes them as they are.
    device
        ``"cpu"`` for compiled fits, one by one; ``"cuda"`` or ``"torch"`` for all at once by torch.

    Returns
    -------
    list of tuple
        Coefficients and intercept of each model, in terms of X; ``nan`` if its fit was given up.
    """
    data = X if isinstance(X, Scaled) else scale_data(X, scale)
    costs, found = np.broadcast_to(check_costs(C), len(columns)), dict[int, tuple[Floats, float]]()
    for size in {own.size for own in columns}:
        places = [place for place, own in enumerate(columns) if own.size == size]
        sets, own = np.array([columns[place] for place in places]), [resamples[place] for place in places]
        if device == "cpu":
            models = ridge_models(data, y, counts, own, sets, costs[places], intercept=intercept)
        else:
            lib = library("torch", "cuda" if device == "cuda" else "cpu", "float64", DEVICE_BYTES[device])
            models = lockstep_models(lib, with_resamples(data, y, counts), own, sets, costs[places], intercept)
        models.coef[models.unsolved], models.intercept[models.unsolved] = np.nan, np.nan
        found |= zip(places, zip(models.coef, models.intercept.tolist(), strict=True), strict=True)
    return [found[place] for place in range(len(columns))]
