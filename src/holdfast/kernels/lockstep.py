"""Ridge-logistic elimination of all resamples and all settings in lock-step: the form for an accelerator.

What :func:`holdfast.kernels.ridge.ridge_elimination` does path by path is done here for all paths together: they pass
the same sizes, so that all arrays are rectangular. A path is a resample under a setting (C, forced features,
shrinkage). Only rows that a resample drew take part, padded with rows of no cost to the most that any resample drew.
Three layers:

- this module checks what it is given (:mod:`~holdfast.kernels.inputs`, shared with the compiled form), cuts the
  resamples into blocks that fit the memory, and puts results together;
- :mod:`~holdfast.kernels.lockstep_paths` takes a block down the sizes: Gram matrices, cuts, records;
- :mod:`~holdfast.kernels.batched` solves the fits of one size, on :mod:`~holdfast.kernels.libraries` (NumPy or torch).

Results do not depend on the blocks, nor, but for rounding, on the library and the device: sets are those of the
compiled form (``tests/test_lockstep.py``).

Runs on NumPy or torch, and needs nothing else: where the package is not installed, this folder can be imported alone.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .batched import PrimalFits  # relative: there may be no package around this folder
from .inputs import Scale, check_costs, check_n_forced, check_shrinkages, check_sizes, check_tie_order
from .libraries import NumpyLibrary, library
from .lockstep_paths import PathBatch, Settings
from .paths import Paths, check_solved, on_scale_of_data
from .resampled import Data, drawn_columns, moments, prepare_data


class Finals(NamedTuple):
    """Fits on selected features, with the decision values of all rows, drawn or not."""

    coef: NDArray[np.float64]  # (settings ×) constants × M × k, of X as it was handed in
    intercept: NDArray[np.float64]  # (settings ×) constants × M
    decision: NDArray[np.float64]  # (settings ×) constants × M × n


def lockstep_elimination(
    X: ArrayLike,
    y: ArrayLike,
    counts: ArrayLike,
    sizes: ArrayLike,
    *,
    C: ArrayLike = 1.0,
    forced: ArrayLike | None = None,
    shrinkage: ArrayLike = 1.0,
    intercept: bool = True,
    scale: Scale = "split",
    xp: Literal["numpy", "torch"] = "numpy",
    device: str = "cpu",
    dtype: str = "float64",
    record: bool = True,
    tie_order: ArrayLike | None = None,
    memory: float = 2e9,
    max_iter: int = 1000,
) -> list[Paths]:
    """Fit, drop the features of least weight, fit again: down the ``sizes``, for every resample and setting.

    Parameters
    ----------
    X, y, counts, sizes, intercept, scale, max_iter
        As :func:`~holdfast.kernels.ridge.ridge_elimination` takes them.
    C, shrinkage
        One for all settings, or one for each.
    forced
        Mask over the features, for all paths; or over resamples × features; or over settings × (1 or resamples) ×
        features.
    xp, device, dtype
        Library, where it computes (``"cpu"``, ``"cuda"``), and in which numbers.
    record
        Whether ``kept_until`` and ``weight`` are wanted; they are empty if not.
    tie_order
        The turn of each feature among equally good ones, for all or each of the resamples; the lowest is first if not
        given.
    memory
        Bytes that may be used at a time, about. More resamples than these hold are taken in turn.

    Returns
    -------
    list of Paths
        One for each setting.

    Raises
    ------
    ArithmeticError
        If a fit was given up.
    """
    lib = library(xp, device, dtype, memory)
    data = prepare_data(X, y, counts, scale)
    M, d = len(data.counts), data.X.shape[1]
    settings, passed = _check_settings(C, shrinkage, forced, M, d), check_sizes(sizes, d)
    turns = None if tie_order is None else np.broadcast_to(check_tie_order(tie_order, d, M), (M, d))
    found = run_lockstep(
        lib,
        data,
        settings,
        passed,
        intercept,
        d if record else 0,
        None if turns is None else turns.__getitem__,
        max_iter,
    )
    check_solved("ridge-logistic", found.unsolved, max_iter)
    coef, b = on_scale_of_data(found.coef, found.intercept, data.shift[found.selected], data.unit[found.selected])
    return [Paths(*arrays) for arrays in zip(found.kept_until, found.weight, found.selected, coef, b, strict=True)]


class Recorded(NamedTuple):
    """What is known of G × M paths at their end; of the columns that were left when the record began."""

    columns: NDArray[np.int64]  # G × M × reach, ascending
    kept_until: NDArray[np.int32]  # G × M × reach
    weight: NDArray[np.float64]
    selected: NDArray[np.int64]  # G × M × k
    coef: NDArray[np.float64]  # of the scaled columns
    intercept: NDArray[np.float64]  # G × M
    unsolved: NDArray[np.int64]  # G × M: number of features of the fit that was given up, or 0


def run_lockstep(
    lib: NumpyLibrary, data: Data, settings: Settings, sizes: NDArray[np.int64], intercept: bool, reach: int,
    turns: Callable[[slice], NDArray[np.int32]] | None, max_iter: int = 1000,
) -> Recorded:  # fmt: skip
    """Take all paths down the sizes, in blocks of resamples that the memory holds; ``turns`` gives those of a block.

    ``reach`` is one of the sizes, from which on paths are recorded, or 0 for nothing.
    """
    M, d = len(data.counts), data.X.shape[1]
    check_n_forced(settings.forced >= 0, int(sizes[-1]))
    n_drawn, G = int((data.counts > 0).sum(axis=1).max()), len(settings.C)
    bytes_each = 8 * d * n_drawn + G * (24 * n_drawn * max(n_drawn, min(d, len(data.y))) + 80 * d)
    block, blocks = _block_size(lib.memory, bytes_each, G), []
    for start in range(0, M, block):
        here = slice(start, start + block)
        columns, own = drawn_columns(lib, data, here), None if turns is None else partial(turns, here)
        batch = PathBatch(lib, columns, settings.take(here), sizes, intercept, reach, own, wide=d > len(data.y))
        blocks.append(batch.eliminate(max_iter))
        batch = columns = None  # type: ignore[assignment]  # before the next block asks for memory
    return Recorded(*(np.concatenate(arrays, axis=1) for arrays in zip(*blocks, strict=True)))


def lockstep_finals(
    X: ArrayLike,
    y: ArrayLike,
    counts: ArrayLike,
    selected: ArrayLike,
    C_finals: ArrayLike,
    *,
    intercept: bool = True,
    scale: Scale = "split",
    xp: Literal["numpy", "torch"] = "numpy",
    device: str = "cpu",
    dtype: str = "float64",
    memory: float = 2e9,
    max_iter: int = 1000,
) -> Finals:
    """Fit on the k selected features of every resample, (settings ×) M × k columns, with each C of ``C_finals``.

    The other parameters are those of :func:`lockstep_elimination`; no feature is forced.
    """
    lib = library(xp, device, dtype, memory)
    data, chosen = prepare_data(X, y, counts, scale), np.asarray(selected, dtype=np.int64)
    C = check_costs(C_finals)
    sets = chosen[None] if chosen.ndim == 2 else chosen
    (S, M, k), n, F = sets.shape, len(data.y), len(C)
    if len(data.counts) != M:
        raise ValueError(f"Expected selected columns of {len(data.counts)} resamples, got {M}.")
    block = _block_size(memory, S * F * (24 * k * n + 24 * k**2 + 80 * n), S * F)
    blocks = [_fit_finals(lib, data, sets[:, m : m + block], C, slice(m, m + block), intercept, max_iter)
              for m in range(0, M, block)]  # fmt: skip
    coef, b, decision, unsolved = (np.concatenate(arrays, axis=2) for arrays in zip(*blocks, strict=True))
    check_solved("ridge-logistic", np.where(unsolved, k, 0).reshape(S * F, M), max_iter)
    coef, b = on_scale_of_data(coef, b, data.shift[sets][:, None], data.unit[sets][:, None])
    return Finals(*((coef, b, decision) if chosen.ndim == 3 else (coef[0], b[0], decision[0])))


# Settings and blocks


def _check_settings(C: ArrayLike, shrinkage: ArrayLike, forced: ArrayLike | None, M: int, d: int) -> Settings:
    """Return C, shrinkage and forced features of each setting."""
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


def _block_size(memory: float, bytes_each: float, problems_each: int) -> int:
    """Resamples at a time: what the memory holds, and no more problems than every library on a device takes at once."""
    return max(1, min(int(memory // bytes_each), 65535 // problems_each))


# Final models


def _fit_finals(
    lib: NumpyLibrary, data: Data, sets: NDArray[np.int64], C: NDArray[np.float64], here: slice, intercept: bool,
    max_iter: int,
) -> tuple[NDArray[Any], ...]:  # fmt: skip
    """Settings × constants × resamples: coefficients, intercepts, decision values, and whether a fit was given up."""
    (S, M, k), F, n = sets.shape, len(C), len(data.y)
    counts, columns = lib.array(data.counts[here]), lib.array(sets)
    V = lib.array(np.ascontiguousarray(data.X.T))[columns]  # settings × resamples × columns × rows
    mean, factor = lib.full((S, M, k), 0.0), lib.full((S, M, k), 1.0)
    if data.split:
        for s in range(S):
            mean[s], factor[s] = moments(lib, V[s].swapaxes(1, 2), counts)
        V = (V - mean[..., None]) * factor[..., None]
    shape, repeat = (S, F, M), lib.xp.broadcast_to
    Z = repeat(V[:, None], (*shape, k, n)).reshape(-1, k, n)
    y = repeat(lib.array(data.y), (len(Z), n))
    cost = repeat(lib.array(C)[:, None, None] * counts, (*shape, n)).reshape(-1, n)
    fits = PrimalFits(lib, y, cost, Z, lib.full((len(Z), k), 0.0), lib.full((len(Z), 1), 0.0), intercept)
    given_up = fits.solve(max_iter, np.zeros(len(Z), bool))
    coef = fits.v.reshape(*shape, k) * factor[:, None]
    b = fits.b.reshape(shape) - (coef * mean[:, None]).sum(3)
    return lib.host(coef), lib.host(b), lib.host(fits.f.reshape(*shape, n)), given_up.reshape(shape)


class Models(NamedTuple):
    """Fits on given columns, in terms of the data as they were before they were scaled."""

    coef: NDArray[np.float64]  # Q × k
    intercept: NDArray[np.float64]  # Q
    unsolved: NDArray[np.bool_]  # Q: whether the fit was given up


def lockstep_models(
    lib: NumpyLibrary, data: Data, resamples: ArrayLike, columns: ArrayLike, C: ArrayLike, intercept: bool = True,
    max_iter: int = 1000,
) -> Models:  # fmt: skip
    """Fit Q models on k columns each: each on its resample, its columns (Q × k) and with its C."""
    which, chosen = np.asarray(resamples, dtype=np.int64), np.asarray(columns, dtype=np.int64)
    (Q, k), n = chosen.shape, len(data.y)
    costs = np.broadcast_to(check_costs(C), Q)
    block = _block_size(lib.memory, 40 * k * n + 24 * k**2 + 120 * n, 1)
    XT, found = lib.array(np.ascontiguousarray(data.X.T)), []
    for start in range(0, Q, block):
        here = slice(start, start + block)
        counts = lib.array(data.counts[which[here]])
        Z = XT[lib.array(chosen[here])]  # models × columns × rows
        mean, factor = lib.full((len(Z), k), 0.0), lib.full((len(Z), k), 1.0)
        if data.split:
            mean, factor = moments(lib, Z.swapaxes(1, 2), counts)
            Z = (Z - mean[:, :, None]) * factor[:, :, None]
        y, cost = lib.xp.broadcast_to(lib.array(data.y), (len(Z), n)), lib.array(costs[here].copy())[:, None] * counts
        fits = PrimalFits(lib, y, cost, Z, lib.full((len(Z), k), 0.0), lib.full((len(Z), 1), 0.0), intercept)
        unsolved = fits.solve(max_iter, np.zeros(len(Z), bool))
        coef = fits.v * factor
        found.append((lib.host(coef), lib.host(fits.b[:, 0] - (coef * mean).sum(1)), unsolved))
    coef, b, unsolved = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
    return Models(*on_scale_of_data(coef, b, data.shift[chosen], data.unit[chosen]), unsolved)
