"""A block of resamples × settings on the way down an elimination in lock-step, all arrays rectangular.

A block has M resamples and G settings, P = M · G paths; path m · G + g is resample m under setting g. n is the largest
number of rows that a resample of the block drew, d the number of features, s the present size.

- ``columns.Z`` (M × d × n): standardized columns of each resample, rows that pad it are 0. It is shared by the settings
  of a resample and never copied per path: paths gather from it (``places`` + ``home``, the offset of their resample).
- ``places`` (P × s): the active columns of each path, ascending. ``kind`` (P × s): :data:`FORCED` stays,
  :data:`CONSTANT_COLUMN` falls first, 0 is judged by its weight. ``growth`` (P × 1): 1 / shrinkage, by which forced
  columns are multiplied, so that the penalty is ½‖w‖² for all (``_stretch``).
- ``dropped`` (P × what the last cut dropped), ``turns`` (P × d): turns among equally good columns, None for by column.
- ``recorded`` (P × ``reach``): the active columns of the first size that is at most ``reach``, ascending; of these
  ``kept_until`` and ``weight``, as in :class:`~holdfast.kernels.paths.Paths`. ``slots`` (P × s): where among them the
  active columns stand. Before, nothing is recorded.
- In the dual, K (P × n × n) belongs to the :class:`~holdfast.kernels.batched.DualFits`; ``diagonal`` is its diagonal
  when it was last built, beside which subtraction may have lost digits.
- ``unsolved`` (P, on the host): size at which a path was given up, else 0. Its arrays go on, as nan or not, since the
  batch must stay rectangular; the caller raises at the end.

The steps are those of :mod:`~holdfast.kernels.elimination`, and :func:`mask_kept` is its ``cut``: forced columns stay,
constant ones fall first, weights within ``TIE`` of the one at the edge tie and stay by their turn. Change both.
``tests/test_lockstep.py`` compares the paths of both; ``tests/test_ties.py`` the turns.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .batched import DualFits, Fits, PrimalFits
from .libraries import Array, NumpyLibrary, parts, times
from .resampled import Columns
from .tolerances import INVERSE_AFTER_DROP, LOST, TIE

FORCED, CONSTANT_COLUMN = 1, -1
"""Kinds of columns that are not judged by their weight."""
LAST = 1 << 30
"""More than any feature's turn."""


class Settings(NamedTuple):
    """What G settings differ in; S sets of columns are forced by one setting or more."""

    C: NDArray[np.float64]  # G
    shrinkage: NDArray[np.float64]  # G
    forced: NDArray[np.int64]  # S × (1 or M) × most that are forced, −1 where there are fewer
    which: NDArray[np.int64]  # G: the set of each setting

    def take(self, resamples: slice) -> "Settings":
        """The settings for some of the resamples."""
        forced = self.forced if self.forced.shape[1] == 1 else self.forced[:, resamples]
        return self._replace(forced=forced)

    def mask_forced(self, lib: NumpyLibrary, M: int, d: int) -> Array:
        """Paths × features: which may not fall."""
        S, _, most = self.forced.shape
        columns = np.broadcast_to(np.where(self.forced < 0, d, self.forced), (S, M, most)).reshape(S * M, most)
        mask = lib.full((S * M, d + 1), 0, "bool")
        if most:
            lib.put(mask, lib.array(columns.copy()), True)
        chosen = mask[:, :d].reshape(S, M, d)[lib.array(self.which)]
        return chosen.swapaxes(0, 1).reshape(M * len(self.which), d)


class PathBatch:
    """All paths of a block of resamples on their way down; see the top of this module for its arrays."""

    def __init__(
        self, lib: NumpyLibrary, columns: Columns, settings: Settings, sizes: NDArray[np.int64], intercept: bool,
        reach: int, turns: Callable[[], NDArray[np.int32]] | None, wide: bool,
    ) -> None:  # fmt: skip
        self.lib, self.columns, self.sizes, self.intercept, self.reach = lib, columns, sizes, intercept, reach
        self.wide, self._turns = wide, turns
        self.M, self.d, self.n = columns.Z.shape
        self.G = G = len(settings.C)
        self.P = P = self.M * G
        self.y = self._repeat_for_settings(columns.y)
        self.cost = (columns.counts[:, None, :] * lib.array(settings.C.copy())[:, None]).reshape(P, self.n)
        self.growth = lib.array(np.tile(1 / settings.shrinkage, self.M)[:, None])
        self.home = lib.array(np.repeat(np.arange(self.M) * self.d, G)[:, None])
        held, dead = settings.mask_forced(lib, self.M, self.d), self._repeat_for_settings(columns.factor == 0)
        stays, falls = lib.full((1, 1), FORCED, "int8"), lib.full((1, 1), CONSTANT_COLUMN, "int8")
        self.kind = lib.xp.where(held, stays, lib.xp.where(dead, falls, lib.full((1, 1), 0, "int8")))
        self.places = lib.xp.broadcast_to(lib.array(np.arange(self.d)), (P, self.d))  # of the active, ascending
        self.dropped: Array = None
        self.recorded: Array = None
        self.kept_until, self.weight = lib.full((P, reach), int(sizes[-1]), "int32"), lib.full((P, reach), 0.0)
        self.unsolved = np.zeros(P, np.int64)

    @cached_property
    def turns(self) -> Array | None:
        """Turns of the columns of each path; drawn when columns tie for the first time."""
        return None if self._turns is None else self._repeat_for_settings(self.lib.array(self._turns().copy()))

    def _repeat_for_settings(self, values: Array) -> Array:
        """Repeat rows that belong to resamples for every setting: M × size to P × size."""
        M, size = values.shape
        return self.lib.xp.broadcast_to(values[:, None, :], (M, self.G, size)).reshape(self.P, size)

    def eliminate(self, max_iter: int) -> tuple[NDArray[Any], ...]:
        """Pass all sizes; returns settings × resamples of what Paths has, and of sizes at which fits were given up."""
        dual, w, b = None, self.lib.full((self.P, self.d), 0.0), self.lib.full((self.P, 1), 0.0)
        for step, size in enumerate(self.sizes.tolist()):
            if self.recorded is None and size <= self.reach:
                self.recorded = self.places
                self.slots = self.lib.xp.broadcast_to(self.lib.array(np.arange(size)), (self.P, size))
            if self.wide and 2 * size > self.n:
                dual = self._first_dual() if dual is None else self._next_dual(dual, size)
                self._fit(dual, size, max_iter)
                w, b = self._weigh(dual.v), dual.b
            else:
                dual = None
                Z = self._active_columns(slice(0, self.P))
                primal = PrimalFits(self.lib, self.y, self.cost, Z, w, b, self.intercept)
                self._fit(primal, size, max_iter)
                w, b = primal.v, primal.b
            if step + 1 < len(self.sizes):
                w = self._cut(w, size, int(self.sizes[step + 1]))
        return self._collect(w, b)

    def _fit(self, fits: Fits, size: int, max_iter: int) -> None:
        given_up = fits.solve(max_iter, self.unsolved > 0)
        self.unsolved[given_up & (self.unsolved == 0)] = size

    def _stretch(self) -> Array:
        """What the active columns are stretched by: 1, or 1 / shrinkage."""
        return self.lib.xp.where(self.kind > 0, self.growth, 1.0)

    def _gather_columns(self, places: Array, part: Any) -> Array:
        """Columns of Z at these places of a part of the paths, as paths × places × rows."""
        return self.columns.Z.reshape(-1, self.n)[places[part] + self.home[part]]

    def _active_columns(self, part: Any) -> Array:
        """Active columns of a part of the paths, forced ones divided by their shrinkage."""
        return self._gather_columns(self.places, part) * self._stretch()[part][:, :, None]

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
                lib.add_gram(K[part], self._gather_columns(first, part) * more[part][:, :, None], 1.0)
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
                self.lib.add_gram(dual.K[part], self._gather_columns(self.dropped, part), -1.0)
            lost_rows = (self._diagonal(dual.K) <= LOST * self.diagonal) & (self.diagonal > 0)
            lost = np.flatnonzero(self.lib.host(lost_rows.any(1)))
        for part in parts(lost.size, 32 * size * self.n, self.lib):
            self._rebuild(dual, self.lib.array(lost[part]))
        if n_dropped > INVERSE_AFTER_DROP * (size + n_dropped):
            dual.invert(np.arange(self.P))
        dual.follow()
        return dual

    def _rebuild(self, dual: DualFits, at: Array) -> None:
        K = self.lib.full((len(at), self.n, self.n), 0.0)
        self.lib.add_gram(K, self._active_columns(at), 1.0)
        dual.K[at], self.diagonal[at] = K, self._diagonal(K)

    def _weigh(self, a: Array) -> Array:
        """Weights of the active columns: all columns of a resample at once, or the gathered ones where they are few."""
        lib, size = self.lib, self.places.shape[1]
        if 2 * self.G * size > self.d:
            w = (a.reshape(self.M, self.G, self.n) @ self.columns.Z.swapaxes(1, 2)).reshape(self.P, self.d)
            w = w if size == self.d else lib.take(w, self.places)
        else:
            w = lib.full((self.P, size), 0.0)
            for part in parts(self.P, 16 * size * self.n, lib):
                w[part] = times(self._gather_columns(self.places, part), a[part])
        return w * self._stretch()

    def _cut(self, w: Array, size: int, n_kept: int) -> Array:
        """Keep the forced and the largest weights, ties by their turn; returns the weights of what is kept."""
        keep = mask_kept(self.lib, abs(w), self.kind, n_kept, self.places, self)
        self.dropped = self.places[~keep].reshape(self.P, size - n_kept)
        if self.recorded is not None:
            dropped = self.slots[~keep].reshape(self.P, size - n_kept)
            self.lib.put(self.weight, dropped, w[~keep].reshape(self.P, size - n_kept))
            self.lib.put(self.kept_until, dropped, size)
            self.slots = self.slots[keep].reshape(self.P, n_kept)
        self.places, self.kind = (x[keep].reshape(self.P, n_kept) for x in (self.places, self.kind))
        return w[keep].reshape(self.P, n_kept)

    def _collect(self, w: Array, b: Array) -> tuple[NDArray[Any], ...]:
        lib, growth = self.lib, self._stretch()
        if self.recorded is None:
            self.recorded = self.places[:, :0]
        else:
            lib.put(self.weight, self.slots, w * growth)
        moments = self.columns.mean, self.columns.factor
        mean, factor = (lib.take(self._repeat_for_settings(x), self.places) for x in moments)
        coef = w * growth * factor
        b = b[:, 0] - (coef * mean).sum(1)
        arrays = self.recorded, self.kept_until, self.weight, self.places, coef, b
        on_host = [*(lib.host(array) for array in arrays), self.unsolved]
        return tuple(array.reshape(self.M, self.G, *array.shape[1:]).swapaxes(0, 1) for array in on_host)


def mask_kept(lib: NumpyLibrary, sizes: Array, kind: Array, n_kept: int, places: Array, batch: Any) -> Array:
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
    if not bool((tied.sum(1)[:, None] > left).any()) or batch.turns is None:
        return sure | (tied & (tied.cumsum(1) <= left))
    own = lib.take(batch.turns, places)
    order = lib.xp.argsort(lib.xp.where(tied, own, own + LAST), 1)
    return sure | (tied & (lib.xp.argsort(order, 1) < left))
