"""Data, resamples, a slow, obvious elimination that the compiled ones are compared with, and calls of these."""

from typing import NamedTuple

import numpy as np

from holdfast.kernels.elimination import (
    Paths,
    check_columns,
    check_costs,
    check_labels,
    check_n_forced,
    check_shrinkages,
    check_sizes,
    check_tie_ranks,
    on_scale_of_data,
    scale_data,
    unsolved_error,
)
from holdfast.kernels.elimination_path import Outcome
from holdfast.kernels.libraries import library
from holdfast.kernels.lockstep import Settings, lockstep_models, run_lockstep, with_resamples
from holdfast.kernels.ridge import run_paths, unpenalized

TIE = 1e-9


def correlated(n, d, rho, seed=0):
    """Rows of two classes, every two features correlated by rho, a tenth of them informative."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1, -1)
    X = np.sqrt(1 - rho) * rng.normal(size=(n, d)) + np.sqrt(rho) * rng.normal(size=(n, 1))
    informative = rng.permutation(d)[: max(1, d // 10)]
    X[:, informative] += 0.5 * y[:, None] * rng.choice([-1, 1], informative.size)
    return X * rng.uniform(0.5, 2, d) + rng.normal(size=d), y


def bootstraps(y, n_resamples, seed=0):
    """Counts of rows drawn with replacement, both classes at least twice."""
    rng = np.random.default_rng(seed)
    counts = []
    while len(counts) < n_resamples:
        count = np.bincount(rng.integers(0, len(y), len(y)), minlength=len(y))
        if min(count[y > 0].sum(), count[y < 0].sum()) > 1:
            counts.append(count)
    return np.array(counts)


def standardized(X, count):
    """Columns with the mean and standard deviation of the resample taken out, 0 where they are constant in it."""
    mean = np.average(X, axis=0, weights=count)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=count))
    constant = np.ptp(X[count > 0], axis=0) == 0
    return np.where(constant, 0, (X - mean) / np.where(constant, 1, deviation)), constant


def slow_elimination(fit, X, y, count, sizes, forced=()):
    """Fit with ``fit(X, y, count, columns)``, drop, fit again; returns the columns and weights of every size."""
    columns = np.arange(X.shape[1])
    path = []
    for place, size in enumerate(sizes):
        weights = fit(X, y, count, columns)
        path.append((columns, weights))
        if place + 1 < len(sizes):
            columns = remaining(columns, np.abs(weights), sizes[place + 1], forced)
        assert len(path[-1][0]) == size
    return path


def remaining(columns, sizes, n_remaining, forced):
    """The forced and the largest; those that tie with the last to get in are taken from the lowest column on."""
    free = [place for place in range(len(columns)) if columns[place] not in forced]
    room = n_remaining - (len(columns) - len(free))
    if room == 0:
        return np.array([column for column in columns if column in forced])
    edge = sorted(sizes[free], reverse=True)[room - 1]
    sure = [place for place in free if sizes[place] > edge * (1 + TIE)]
    tied = [place for place in free if edge * (1 - TIE) <= sizes[place] <= edge * (1 + TIE)]
    lasting = {*sure, *tied[: room - len(sure)]}
    return np.array([c for place, c in enumerate(columns) if place in lasting or c in forced])


def selected_columns(paths, sizes, resample):
    """The columns of every size that a path passed."""
    return [np.flatnonzero(paths.smallest_size[resample] <= size) for size in sizes]


# One elimination at a time, with the model at its end, which selectors do not need


def ridge_elimination(
    X, y, counts=None, *, sizes=None, C=1.0, columns=None, forced=None, shrinkage=1.0, intercept=True, scale="split",
    tie_ranks=None, max_iter=1000, covariates=None,
):  # fmt: skip
    """Compiled paths of one setting, from all columns or some; raises if a fit did not converge."""
    (cost,), (factor,) = check_costs(C), check_shrinkages(shrinkage)
    (y, counts), data = check_labels(np.shape(X), y, counts), scale_data(X, scale)
    M = len(counts)
    start = check_columns(columns, data.shape[1], M)
    p, paths = start.shape[1], np.arange(M)
    passed, ranks = check_sizes(sizes, p), check_tie_ranks(tie_ranks, p, M)
    held = np.zeros((1, p), bool) if forced is None else np.atleast_2d(np.asarray(forced, dtype=bool))
    if len(held) not in (1, M) or held.shape[1] != p:
        raise ValueError(f"Expected forced features as a mask over {p} columns, for all or each resample.")
    check_n_forced(held, int(passed[-1]))
    k = passed[-1]
    outcome = Outcome(np.empty((M, p), np.int32), np.empty((M, p)), np.empty((M, k)), np.empty(M), np.zeros(M, int))
    run_paths(
        data.XT, y, *unpenalized(y, counts, intercept, covariates), paths, start, held,
        np.minimum(paths, len(held) - 1), passed[None], 0 * paths, ranks, cost + 0.0 * paths, factor + 0.0 * paths,
        data.split, data.wide and not data.split and columns is None, max_iter, outcome,
    )  # fmt: skip
    check_solved(outcome.unsolved, max_iter)
    selected = np.broadcast_to(start, (M, p))[outcome.smallest_size == k].reshape(M, k)
    coef, b = on_scale_of_data(outcome.coef, outcome.intercept, data.shift[selected], data.unit[selected])
    return Paths(outcome.smallest_size, outcome.weight, selected, coef, b)


def check_solved(unsolved, max_iter):
    """Raise if a path ended before its time."""
    if unsolved.any():
        raise unsolved_error("ridge-logistic", unsolved, max_iter)


class Finals(NamedTuple):
    """Fits on selected features, with the decision values of all rows, drawn or not."""

    coef: np.ndarray  # (settings ×) constants × M × k, of X as it was handed in
    intercept: np.ndarray  # (settings ×) constants × M
    decision: np.ndarray  # (settings ×) constants × M × n


def lockstep_elimination(
    X, y, counts, sizes, *, C=1.0, forced=None, shrinkage=1.0, intercept=True, scale="split", xp="numpy", device="cpu",
    dtype="float64", record=True, tie_ranks=None, memory=2e9, max_iter=1000,
):  # fmt: skip
    """Paths of every setting, side by side; ``forced`` may have axes for settings and resamples."""
    lib = library(xp, device, dtype, memory)
    data = with_resamples(X, y, counts, scale)
    M, d = len(data.counts), data.X.shape[1]
    settings, passed = _check_settings(C, shrinkage, forced, M, d), check_sizes(sizes, d)
    ranks = None if tie_ranks is None else np.broadcast_to(check_tie_ranks(tie_ranks, d, M), (M, d)).__getitem__
    ended = run_lockstep(lib, data, settings, passed, intercept, d if record else 0, ranks, max_iter)
    check_solved(ended.unsolved, max_iter)
    coef, b = on_scale_of_data(ended.coef, ended.intercept, data.shift[ended.selected], data.unit[ended.selected])
    return [Paths(*arrays) for arrays in zip(ended.smallest_size, ended.weight, ended.selected, coef, b, strict=True)]


def lockstep_finals(
    X, y, counts, selected, C_finals, *, intercept=True, scale="split", xp="numpy", device="cpu", dtype="float64",
    memory=2e9, max_iter=1000,
):  # fmt: skip
    """Fit on the k selected features of every resample, (settings ×) M × k columns, with each C of ``C_finals``."""
    data, chosen = with_resamples(X, y, counts, scale), np.asarray(selected, dtype=np.int64)
    C, sets = check_costs(C_finals), chosen.reshape(-1, *chosen.shape[-2:])
    (S, M, k), F = sets.shape, len(C)
    if len(data.counts) != M:
        raise ValueError(f"Expected selected columns of {len(data.counts)} resamples, got {M}.")
    columns = np.broadcast_to(sets[:, None], (S, F, M, k)).reshape(-1, k)
    resamples, costs = np.tile(np.arange(M), S * F), np.tile(np.repeat(C, M), S)
    models = lockstep_models(library(xp, device, dtype, memory), data, resamples, columns, costs, intercept, max_iter)
    check_solved(np.where(models.unsolved, k, 0).reshape(S * F, M), max_iter)
    values = np.asarray(X, dtype=np.float64).T
    fits = zip(columns, models.coef, models.intercept, strict=True)
    decision = np.array([w @ values[features] + b for features, w, b in fits])
    shape = (S, F, M) if chosen.ndim == 3 else (F, M)
    return Finals(models.coef.reshape(*shape, k), models.intercept.reshape(shape), decision.reshape(*shape, -1))


def _check_settings(C, shrinkage, forced, M, d):
    """C, shrinkage and forced features of each setting."""
    mask = np.zeros((1, 1, d), bool) if forced is None else np.asarray(forced, dtype=bool)
    mask = mask.reshape((1,) * (3 - mask.ndim) + mask.shape)
    costs, shrinkages = check_costs(C), check_shrinkages(shrinkage)
    G = max(costs.size, shrinkages.size, len(mask))
    shapes = costs.shape, shrinkages.shape, mask.shape
    if any(shape[0] not in (1, G) for shape in shapes) or mask.shape[1] not in (1, M) or mask.shape[2] != d:
        raise ValueError(
            f"Expected C, shrinkage and forced for all or each of the settings, {M} resamples and {d} features, "
            "got shapes {}, {} and {}.".format(*shapes)
        )
    most = int(mask.sum(axis=2).max(initial=0))
    first = np.argsort(~mask, axis=2, kind="stable")[:, :, :most]
    columns = np.where(np.take_along_axis(mask, first, axis=2), first, -1)
    which = np.broadcast_to(np.arange(len(mask)), G).copy()
    return Settings(np.broadcast_to(costs, G), np.broadcast_to(shrinkages, G), columns, which)
