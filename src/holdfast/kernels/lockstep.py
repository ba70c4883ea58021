"""Ridge-logistic elimination of all resamples and all settings in lock-step: the form for an accelerator.

What :func:`holdfast.kernels.ridge.ridge_elimination` does path by path is done here for all paths together: they pass
the same sizes, so that all arrays are rectangular. A path is a resample under a setting (C, forced features,
shrinkage); path ``m · G + g`` is resample m under setting g of G. Only rows that a resample drew take part, padded with
rows of no cost to the most that any resample drew.

Runs on NumPy or torch, and needs nothing else: where the package is not installed, this folder can be imported alone.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .batched import DualFits, Fits, PrimalFits  # relative: there may be no package around this folder
from .libraries import Array, NumpyLibrary, library, parts, times
from .magnitude import check_cost
from .resampled import Columns, Data, Scale, drawn_columns, given, moments

TIE = 1e-9
"""Weights tie if they differ by less than this, relative to the one at the cut."""
LOST = 1e-3
"""Share that an entry of a Gram matrix's diagonal may fall to by subtraction before rounding asks to build it anew."""
LAST = 1 << 30
"""More than any feature's turn."""
SLIGHT = 0.25
"""Share of the features dropped up to which the inverses of the step before are worth a try."""


class LockstepPaths(NamedTuple):
    """Eliminations of M resamples under one setting, as :class:`holdfast.kernels.paths.Paths` has them."""

    kept_until: NDArray[np.int32]  # M × p: size of the smallest set that has the feature
    weight: NDArray[np.float64]  # M × p: its weight in that set's fit
    selected: NDArray[np.int64]  # M × k: columns of the last set, ascending
    coef: NDArray[np.float64]  # M × k, of X as it was handed in
    intercept: NDArray[np.float64]  # M


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
    whole: bool = True,
    tie_order: ArrayLike | None = None,
    memory: float = 2e9,
    max_iter: int = 1000,
) -> list[LockstepPaths]:
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
    whole
        Whether ``kept_until`` and ``weight`` are wanted; they are empty if not.
    tie_order
        The turn of each feature among equally good ones, for all or each of the resamples; the lowest is first if not
        given.
    memory
        Bytes that may be used at a time, about. More resamples than these hold are taken in turn.

    Returns
    -------
    list of LockstepPaths
        One for each setting.

    Raises
    ------
    ArithmeticError
        If a fit was given up.
    """
    lib = library(xp, device, dtype, memory)
    data = given(X, y, counts, scale)
    d, sizes = data.X.shape[1], np.asarray(sizes, dtype=np.int64)
    settings = _settings(C, shrinkage, forced, len(data.counts), d)
    _check_sizes(sizes, settings, d)
    turns = None if tie_order is None else np.broadcast_to(np.asarray(tie_order, np.int32), (len(data.counts), d))
    n_drawn, G = int((data.counts > 0).sum(axis=1).max()), len(settings.C)
    each = 8 * d * n_drawn + G * (24 * n_drawn * max(n_drawn, min(d, len(data.y))) + 80 * d)
    block = _block_size(memory, each, G)
    parts = []
    for start in range(0, len(data.counts), block):
        here = slice(start, start + block)
        columns = drawn_columns(lib, data, here)
        own = None if turns is None else turns[here]
        path = _Paths(lib, columns, settings.of(here), sizes, intercept, whole, own, wide=d > len(data.y))
        parts.append(path.run(max_iter))
        path = columns = None  # type: ignore[assignment]  # before the next block asks for memory
    joined = [np.concatenate(arrays, axis=1) for arrays in zip(*parts, strict=True)]
    *outcome, unsolved = joined
    _check_solved(unsolved, max_iter)
    selected, coef, b = outcome[2:]
    coef = coef / data.unit[selected]
    outcome[3:] = coef, b - np.sum(coef * data.shift[selected], axis=2)
    return [LockstepPaths(*arrays) for arrays in zip(*outcome, strict=True)]


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
    data, chosen = given(X, y, counts, scale), np.asarray(selected, dtype=np.int64)
    C = _costs(C_finals)
    sets = chosen[None] if chosen.ndim == 2 else chosen
    (S, M, k), n, F = sets.shape, len(data.y), len(C)
    if len(data.counts) != M:
        raise ValueError(f"Expected selected columns of {len(data.counts)} resamples, got {M}.")
    block = _block_size(memory, S * F * (24 * k * n + 24 * k**2 + 80 * n), S * F)
    parts = [_finals(lib, data, sets[:, m : m + block], C, slice(m, m + block), intercept, max_iter)
             for m in range(0, M, block)]  # fmt: skip
    coef, b, decision, unsolved = (np.concatenate(arrays, axis=2) for arrays in zip(*parts, strict=True))
    _check_solved(np.where(unsolved, k, 0).reshape(S * F, M), max_iter)
    unit, shift = data.unit[sets][:, None], data.shift[sets][:, None]
    coef = coef / unit
    b = b - np.sum(coef * shift, axis=3)
    return Finals(*((coef, b, decision) if chosen.ndim == 3 else (coef[0], b[0], decision[0])))


# What is given


class _Settings(NamedTuple):
    C: NDArray[np.float64]  # G
    shrinkage: NDArray[np.float64]  # G
    forced: NDArray[np.bool_]  # (1 or G) × (1 or M) × d

    def of(self, here: slice) -> "_Settings":
        forced = self.forced if self.forced.shape[1] == 1 else self.forced[:, here]
        return self._replace(forced=forced)


def _settings(C: ArrayLike, shrinkage: ArrayLike, forced: ArrayLike | None, M: int, d: int) -> _Settings:
    mask = np.zeros((1, 1, d), bool) if forced is None else np.asarray(forced, dtype=bool)
    mask = mask.reshape((1,) * (3 - mask.ndim) + mask.shape)
    numbers = np.atleast_1d(np.asarray(C, np.float64)), np.atleast_1d(np.asarray(shrinkage, np.float64))
    G = max(numbers[0].size, numbers[1].size, len(mask))
    shapes = numbers[0].shape, numbers[1].shape, mask.shape
    if any(shape[0] not in (1, G) for shape in shapes) or mask.shape[1] not in (1, M) or mask.shape[2] != d:
        raise ValueError(
            f"Expected C, shrinkage and forced for all or each of the settings, {M} resamples and {d} features, "
            "got shapes {}, {} and {}.".format(*shapes)
        )
    if not ((numbers[1] > 0) & (numbers[1] <= 1)).all():
        raise ValueError(f"Expected shrinkages in (0, 1], got {numbers[1]}.")
    return _Settings(np.broadcast_to(_costs(numbers[0]), G), np.broadcast_to(numbers[1], G), mask)


def _costs(C: ArrayLike) -> NDArray[np.float64]:
    costs = np.atleast_1d(np.asarray(C, dtype=np.float64))
    for cost in costs:
        check_cost(float(cost))
    return costs


def _check_sizes(sizes: NDArray[np.int64], settings: _Settings, d: int) -> None:
    if sizes.ndim != 1 or sizes[0] != d or sizes[-1] < 1 or (np.diff(sizes) >= 0).any():
        raise ValueError(f"Expected sizes that fall from {d} features, got {sizes}; see elimination_sizes().")
    most = int(settings.forced.sum(axis=2).max())
    if most > sizes[-1]:
        raise ValueError(f"Expected at most {sizes[-1]} forced features, as many as are kept, got {most}.")


def _check_solved(unsolved: NDArray[np.int64], max_iter: int) -> None:
    """Raise if there are sizes at which a fit was given up; 0 stands for none."""
    if unsolved.any():
        setting, resample = np.argwhere(unsolved)[0]
        raise ArithmeticError(
            f"Expected every ridge-logistic fit to reach its optimum, got none within {max_iter} iterations in "
            f"resample {resample} at {unsolved[setting, resample]} features of setting {setting} "
            f"({np.count_nonzero(unsolved)} such paths). Scale the columns, or take a C nearer to 1."
        )


def _block_size(memory: float, bytes_each: float, problems_each: int) -> int:
    """Resamples at a time: what the memory holds, and no more problems than every library on a device takes at once."""
    return max(1, min(int(memory // bytes_each), 65535 // problems_each))


# Paths


class _Paths:
    """All paths of a block of resamples on their way down."""

    def __init__(
        self, lib: NumpyLibrary, columns: Columns, settings: _Settings, sizes: NDArray[np.int64], intercept: bool,
        whole: bool, turns: NDArray[np.int32] | None, wide: bool,
    ) -> None:  # fmt: skip
        self.lib, self.columns, self.sizes, self.intercept, self.whole = lib, columns, sizes, intercept, whole
        self.wide = wide
        self.M, self.d, self.n = columns.Z.shape
        self.G = G = len(settings.C)
        self.P = P = self.M * G
        self.y = self._each(columns.y)
        self.cost = (columns.counts[:, None, :] * lib.array(settings.C.copy())[:, None]).reshape(P, self.n)
        self.growth = lib.array(np.tile(1 / settings.shrinkage, self.M)[:, None])
        self.home = lib.array(np.repeat(np.arange(self.M) * self.d, G)[:, None])
        forced = np.broadcast_to(settings.forced, (G, self.M, self.d)).swapaxes(0, 1).reshape(P, self.d)
        held, dead = lib.array(forced), self._each(columns.factor == 0)
        one, none = lib.full((1, 1), 1, "int8"), lib.full((1, 1), 0, "int8")
        self.kind = lib.xp.where(held, one, lib.xp.where(dead, -one, none))  # of the active: 1 stays, −1 falls first
        self.places = lib.xp.broadcast_to(lib.array(np.arange(self.d)), (P, self.d))  # of the active, ascending
        self.dropped: Array = None
        self.turns = None if turns is None else self._each(lib.array(turns.copy()))  # of all columns where they tie
        width = self.d if whole else 0
        self.kept_until, self.weight = lib.full((P, width), int(sizes[-1]), "int32"), lib.full((P, width), 0.0)
        self.unsolved = np.zeros(P, np.int64)

    def _each(self, values: Array) -> Array:
        """Repeat what is given by resample for every setting."""
        M, size = values.shape
        return self.lib.xp.broadcast_to(values[:, None, :], (M, self.G, size)).reshape(self.P, size)

    def run(self, max_iter: int) -> tuple[NDArray[Any], ...]:
        """Pass all sizes; returns settings × resamples of what LockstepPaths has, and of sizes given up at."""
        dual, w, b = None, self.lib.full((self.P, self.d), 0.0), self.lib.full((self.P, 1), 0.0)
        for step, size in enumerate(self.sizes.tolist()):
            if self.wide and 2 * size > self.n:
                dual = self._first_dual() if dual is None else self._next_dual(dual, size)
                self._fit(dual, size, max_iter)
                w, b = self._weights(dual.v), dual.b
            else:
                dual = None
                Z = self._stretched(slice(0, self.P))
                primal = PrimalFits(self.lib, self.y, self.cost, Z, w, b, self.intercept)
                self._fit(primal, size, max_iter)
                w, b = primal.v, primal.b
            if step + 1 < len(self.sizes):
                w = self._cut(w, size, int(self.sizes[step + 1]))
        return self._outcome(w, b)

    def _fit(self, fits: Fits, size: int, max_iter: int) -> None:
        given_up = fits.solve(max_iter, self.unsolved > 0)
        self.unsolved[given_up & (self.unsolved == 0)] = size

    def _factor(self) -> Array:
        """What the active columns are stretched by: 1, or 1 / shrinkage."""
        return self.lib.xp.where(self.kind > 0, self.growth, 1.0)

    def _gathered(self, places: Array, part: Any) -> Array:
        """Columns of Z at these places of some paths, as paths × places × rows."""
        return self.columns.Z.reshape(-1, self.n)[places[part] + self.home[part]]

    def _stretched(self, part: Any) -> Array:
        """Active columns, with their factor."""
        return self._gathered(self.places, part) * self._factor()[part][:, :, None]

    def _first_dual(self) -> DualFits:
        """All columns: one Gram matrix per resample, and what the forced ones add to it."""
        lib, Z = self.lib, self.columns.Z
        shared, K = lib.full((self.M, self.n, self.n), 0.0), lib.full((self.M, self.G, self.n, self.n), 0.0)
        lib.add_gram(shared, Z, 1.0)
        K += shared[:, None]
        K = K.reshape(self.P, self.n, self.n)
        most = int((self.kind > 0).sum(1).max())
        if most and bool((self.growth != 1).any()):
            first = lib.xp.argsort(-self.kind, 1)[:, :most]
            more = lib.xp.where(lib.take(self.kind, first) > 0, (self.growth**2 - 1) ** 0.5, 0.0)
            for part in parts(self.P, 24 * most * self.n, lib):
                lib.add_gram(K[part], self._gathered(first, part) * more[part][:, :, None], 1.0)
        self.diagonal = self._diagonal(K)
        n_rows = (self.cost > 0).sum(1)[:, None]
        return DualFits(lib, self.y, self.cost, K, n_rows, self.intercept)

    def _diagonal(self, K: Array) -> Array:
        rows = self.lib.array(np.arange(self.n))
        return K[:, rows, rows]

    def _next_dual(self, dual: DualFits, size: int) -> DualFits:
        """Take what was dropped out of K, or build it anew where that is cheaper or safer; follow the optimum."""
        n_dropped = self.dropped.shape[1]
        lost = np.arange(self.P)
        if n_dropped < size:
            for part in parts(self.P, 16 * n_dropped * self.n, self.lib):
                self.lib.add_gram(dual.K[part], self._gathered(self.dropped, part), -1.0)
            lost_rows = (self._diagonal(dual.K) <= LOST * self.diagonal) & (self.diagonal > 0)
            lost = np.flatnonzero(self.lib.host(lost_rows.any(1)))
        for part in parts(lost.size, 32 * size * self.n, self.lib):
            self._rebuild(dual, self.lib.array(lost[part]))
        if n_dropped > SLIGHT * (size + n_dropped):
            dual.invert(np.arange(self.P))
        dual.follow()
        return dual

    def _rebuild(self, dual: DualFits, at: Array) -> None:
        K = self.lib.full((len(at), self.n, self.n), 0.0)
        self.lib.add_gram(K, self._stretched(at), 1.0)
        dual.K[at], self.diagonal[at] = K, self._diagonal(K)

    def _weights(self, a: Array) -> Array:
        """Weights of the active columns: all columns of a resample at once, or the gathered ones where they are few."""
        lib, size = self.lib, self.places.shape[1]
        if 2 * self.G * size > self.d:
            w = (a.reshape(self.M, self.G, self.n) @ self.columns.Z.swapaxes(1, 2)).reshape(self.P, self.d)
            w = w if size == self.d else lib.take(w, self.places)
        else:
            w = lib.full((self.P, size), 0.0)
            for part in parts(self.P, 16 * size * self.n, lib):
                w[part] = times(self._gathered(self.places, part), a[part])
        return w * self._factor()

    def _cut(self, w: Array, size: int, n_kept: int) -> Array:
        """Keep the forced and the largest weights, ties by their turn; returns the weights of what is kept."""
        keep = _kept(self.lib, abs(w), self.kind, n_kept, self.places, self.turns)
        self.dropped = self.places[~keep].reshape(self.P, size - n_kept)
        if self.whole:
            self.lib.put(self.weight, self.dropped, w[~keep].reshape(self.P, size - n_kept))
            self.lib.put(self.kept_until, self.dropped, size)
        self.places, self.kind = (x[keep].reshape(self.P, n_kept) for x in (self.places, self.kind))
        return w[keep].reshape(self.P, n_kept)

    def _outcome(self, w: Array, b: Array) -> tuple[NDArray[Any], ...]:
        lib, growth = self.lib, self._factor()
        if self.whole:
            lib.put(self.weight, self.places, w * growth)
        mean, factor = (lib.take(self._each(x), self.places) for x in (self.columns.mean, self.columns.factor))
        coef = w * growth * factor
        b = b[:, 0] - (coef * mean).sum(1)
        arrays = self.kept_until, self.weight, self.places, coef, b
        on_host = [*(lib.host(array) for array in arrays), self.unsolved]
        return tuple(array.reshape(self.M, self.G, *array.shape[1:]).swapaxes(0, 1) for array in on_host)


def _kept(lib: NumpyLibrary, sizes: Array, kind: Array, n_kept: int, places: Array, turns: Array | None) -> Array:
    """Mask of the ``n_kept`` to keep in each row, by size, kind and turn; some, if a fit was given up and they are nan.

    Turns are looked at only where more features tie at the cut than there are places left.
    """
    held = kind > 0
    sizes = lib.xp.where(sizes >= 0, sizes, 0.0)
    sizes = lib.xp.where(held, np.inf, lib.xp.where(kind < 0, -1.0, sizes))
    edge = lib.kth_largest(sizes, n_kept)
    margin = TIE * abs(lib.xp.where(lib.xp.isinf(edge), 0.0, edge))
    sure = held | (sizes > edge + margin)
    tied = ~sure & (sizes >= edge - margin)
    left = n_kept - sure.sum(1)[:, None]
    if turns is None or not bool((tied.sum(1)[:, None] > left).any()):
        return sure | (tied & (tied.cumsum(1) <= left))
    own = lib.take(turns, places)
    order = lib.xp.argsort(lib.xp.where(tied, own, own + LAST), 1)
    return sure | (tied & (lib.xp.argsort(order, 1) < left))


# Finals


def _finals(
    lib: NumpyLibrary, data: Data, sets: NDArray[np.int64], C: NDArray[np.float64], here: slice, intercept: bool,
    max_iter: int,
) -> tuple[NDArray[Any], ...]:  # fmt: skip
    """Settings × constants × resamples of coefficients, intercepts, decision values, and whether it was given up."""
    (S, M, k), F, n = sets.shape, len(C), len(data.y)
    counts, columns = lib.array(data.counts[here]), lib.array(sets)
    V = lib.array(np.ascontiguousarray(data.X.T))[columns]  # settings × resamples × columns × rows
    mean, factor = lib.full((S, M, k), 0.0), lib.full((S, M, k), 1.0)
    if data.split:
        for s in range(S):
            mean[s], factor[s] = moments(lib, V[s].swapaxes(1, 2), counts)
        V = (V - mean[..., None]) * factor[..., None]
    shape, each = (S, F, M), lib.xp.broadcast_to
    Z = each(V[:, None], (*shape, k, n)).reshape(-1, k, n)
    y = each(lib.array(data.y), (len(Z), n))
    cost = each(lib.array(C)[:, None, None] * counts, (*shape, n)).reshape(-1, n)
    fits = PrimalFits(lib, y, cost, Z, lib.full((len(Z), k), 0.0), lib.full((len(Z), 1), 0.0), intercept)
    given_up = fits.solve(max_iter, np.zeros(len(Z), bool))
    coef = fits.v.reshape(*shape, k) * factor[:, None]
    b = fits.b.reshape(shape) - (coef * mean[:, None]).sum(3)
    return lib.host(coef), lib.host(b), lib.host(fits.f.reshape(*shape, n)), given_up.reshape(shape)
