"""Ridge-logistic elimination of all resamples and all settings in lock-step: the form for an accelerator.

What :func:`holdfast.kernels.ridge.ridge_eliminations` does path by path is done here for all paths together: they pass
the same sizes, so that all arrays are rectangular. A path is a resample under a setting (C, forced features,
shrinkage). Only rows that a resample drew take part, padded with rows of no cost to the most that any resample drew.
Three layers, each above the next:

- the functions check what they are given (:mod:`~holdfast.kernels.elimination`, shared with the compiled form), cut the
  resamples into blocks that fit the memory, and put results together;
- :class:`PathBatch` takes a block down the sizes: Gram matrices, cuts, records;
- :class:`Fits` solve the fits of one size, on :mod:`~holdfast.kernels.libraries` (NumPy or torch).

Results do not depend on the blocks, nor, but for rounding, on the library and the device: sets are those of the
compiled form (``test_lockstep.py``).

Runs on NumPy or torch, and needs nothing else: where the package is not installed, this folder can be imported alone.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .elimination import (  # relative: there may be no package around this folder
    Scale,
    Scaled,
    check_costs,
    check_labels,
    check_n_forced,
    on_scale_of_data,
    scale_data,
)
from .libraries import Array, NumpyLibrary, parts, times, total
from .tolerances import (
    CONSTANT,
    INVERSE_AFTER_DROP,
    INVERSE_REUSE,
    LOST,
    PRECISIONS,
    SHORTEST_STEP,
    STEEP,
    TIE,
)


class Data(NamedTuple):
    """Rows, labels and counts, checked."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    counts: NDArray[np.float64]  # M × n
    shift: NDArray[np.float64]  # d: X was (x − shift) / unit before
    unit: NDArray[np.float64]
    split: bool  # whether each resample standardizes its columns


def with_resamples(X: ArrayLike | Scaled, y: ArrayLike, counts: ArrayLike, scale: Scale = "full") -> Data:
    """Check labels and resamples, and add them to data that were scaled before, or are scaled here."""
    labels, times = check_labels(X.shape if isinstance(X, Scaled) else np.shape(X), y, counts)
    scaled = X if isinstance(X, Scaled) else scale_data(X, scale)
    return Data(scaled.XT.T, labels, times, scaled.shift, scaled.unit, scaled.split)


class Columns(NamedTuple):
    """Z of every resample, with the rows that it drew and padding of no cost."""

    Z: Array  # M × d × rows
    y: Array  # M × rows
    counts: Array  # M × rows
    mean: Array  # M × d
    factor: Array  # M × d: 0 where a column is constant


def drawn_columns(lib: NumpyLibrary, data: Data, here: slice) -> Columns:
    """Return the columns of a slice of the resamples: standardized by each, or as they are."""
    counts = data.counts[here]
    (M, _), d = counts.shape, data.X.shape[1]
    n = int((counts > 0).sum(axis=1).max())
    rows = np.argsort(counts == 0, axis=1, kind="stable")[:, :n]
    drawn = np.take_along_axis(counts, rows, axis=1)
    rows = np.where(drawn > 0, rows, rows[:, :1])  # constant columns stay constant
    X, c, row_indices = lib.array(data.X), lib.array(drawn), lib.array(rows)
    Z, mean, factor = lib.full((M, d, n), 0.0), lib.full((M, d), 0.0), lib.full((M, d), 1.0)
    for part in parts(M, 32 * d * n, lib):
        V = X[row_indices[part]]  # resamples × rows × features
        if data.split:
            mean[part], factor[part] = moments(lib, V, c[part])
            V = (V - mean[part][:, None, :]) * factor[part][:, None, :]
        Z[part] = (V * (c[part] > 0)[:, :, None]).swapaxes(1, 2)
    return Columns(Z, lib.array(data.y[rows]), c, mean, factor)


def moments(lib: NumpyLibrary, V: Array, counts: Array) -> tuple[Array, Array]:
    """Weighted mean and 1 / standard deviation; 0 for the latter where a column is constant."""
    share = (counts / counts.sum(1)[:, None])[:, None, :]
    mean = share @ V
    variance = (share @ (V - mean) ** 2)[:, 0]
    first = V[lib.array(np.arange(len(V))), counts.argmax(1)][:, None, :]
    constant = (variance <= CONSTANT) & ((first == V) | (counts == 0)[:, :, None]).all(1)  # to rounding, then exactly
    return mean[:, 0], lib.xp.where(constant, 0.0, lib.xp.where(constant, 1.0, variance) ** -0.5)


Mask = NDArray[np.bool_]
MAX_HALVINGS = -round(math.log2(SHORTEST_STEP))
ALL = slice(None)


class Fits(ABC):
    """P fits of f = margins(v) + b with a penalty on v; labels and costs are problems × rows.

    What the two forms share: the derivatives of the loss, and the steps. A form computes the direction of a step.
    """

    def __init__(self, lib: NumpyLibrary, y: Array, cost: Array, v: Array, intercept: bool) -> None:
        self.lib, self.y, self.cost, self.v, self.intercept = lib, y, cost, v, intercept
        P, n = y.shape
        self.b = lib.full((P, 1), 0.0)
        self.f, self.g, self.curvature, self.S = (lib.full((P, n), 0.0) for _ in range(4))
        self.has_inverse = np.zeros(P, bool)
        self.precision = PRECISIONS[lib.float_name]

    def differentiate(self, at: Any, f: Array) -> tuple[Array, Array]:
        """First and second derivative of the loss by the margins f."""
        y, cost = self.y[at], self.cost[at]
        p_wrong = self.lib.sigmoid_of_minus(y * f)
        return -y * cost * p_wrong, cost * p_wrong * (1 - p_wrong)

    def move_to(self, at: Any, v: Array, b: Array, f: Array) -> None:
        """Set these problems' variables, and the derivatives there."""
        g, curvature = self.differentiate(at, f)
        if at is ALL:  # what is handed in may have been made from views: nothing is written in place
            self.v, self.b, self.f, self.g, self.curvature = v, b, f, g, curvature
        else:
            self.v[at], self.b[at], self.f[at], self.g[at], self.curvature[at] = v, b, f, g, curvature

    @abstractmethod
    def residual(self, at: Any) -> Array:
        """How far the problems are from their optimum, as a column; 1 is far."""

    @abstractmethod
    def direction(self, at: Any) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Steps of v, b and f; the slope of the objective along them, and ``straight + t curved``, its penalty's."""

    @abstractmethod
    def invert(self, which: NDArray[np.int64]) -> None:
        """Set the inverses of these problems, at their curvature."""

    @abstractmethod
    def penalty(self) -> Array:
        """Penalty of v, as a column."""

    @abstractmethod
    def sharp(self) -> Array:
        """Whether rounding leaves the margins alone, as a column; large terms that cancel do not show in a residual."""

    @np.errstate(all="ignore")  # a step may overshoot to where nothing is finite; it is shortened then
    def solve(self, max_iter: int, fallback: Mask) -> Mask:
        """Take Newton steps until all problems are solved, at most ``max_iter``; returns which did not converge."""
        P = len(self.has_inverse)
        residual = self._start()
        before, fresh, solved = np.full(P, np.inf), np.zeros(P, bool), fallback.copy()
        for iteration in range(max_iter + 1):
            stuck = fresh & (residual > 0.5 * before) & (residual <= self.precision.stalled)
            solved |= (residual <= self.precision.solved) | stuck
            live = np.flatnonzero(~solved)
            if live.size == 0 or iteration == max_iter:
                break
            fresh = ~solved & ~(self.has_inverse & (residual <= INVERSE_REUSE * before))
            self.invert(np.flatnonzero(fresh))
            before[live] = residual[live]
            residual[live] = self._step(live, fresh, few=2 * live.size <= P)
        return fallback | ~solved | ~self.lib.host(self.sharp())[:, 0]

    def _start(self) -> NDArray[np.float64]:
        """Begin at nothing where the objective exceeds that of no model at all; returns the residuals."""
        xp = self.lib.xp
        margin = self.y * self.f
        loss = xp.log1p(xp.exp(-abs(margin))) + 0.5 * (abs(margin) - margin) - math.log(2)
        good = total(self.cost * loss) + self.penalty() <= 0
        self.move_to(ALL, *(xp.where(good, x, 0.0) for x in (self.v, self.b, self.f)))
        seen = self.lib.host(xp.stack([self.residual(ALL)[:, 0], 1.0 * good[:, 0]])).astype(np.float64)
        self.has_inverse &= seen[1] > 0
        return seen[0]

    def _step(self, live: NDArray[np.int64], fresh: Mask, few: bool) -> NDArray[np.float64]:
        """Take a step of the unsolved problems; return their residuals. Unless they are ``few``, all are computed."""
        lib, P = self.lib, len(fresh)
        at, taken = (lib.array(live), live) if few else (ALL, np.arange(P))
        moving = np.isin(taken, live, assume_unique=True)
        v, b, f = self.v[at], self.b[at], self.f[at]
        dv, db, df, slope, straight, curved = self.direction(at)
        flags = lib.array(np.stack([moving, moving & ~fresh[taken]], axis=1))
        t = lib.xp.where(flags[:, :1] & ~((slope >= 0) & flags[:, 1:]), 1.0, 0.0 * slope)
        # an inverse of another problem may point uphill: no step then, and the residual asks for a new one
        self.move_to(at, *(lib.xp.where(t > 0, x + t * dx, x) for x, dx in ((v, dv), (b, db), (f, df))))
        steep = (t > 0) & self._steep(self.g[at], df, t, slope, straight, curved)
        seen = lib.host(lib.xp.stack([self.residual(at)[:, 0], 1.0 * steep[:, 0]])).astype(np.float64)
        again = np.flatnonzero(seen[1])
        if again.size:
            rows, problems = lib.array(again), lib.array(taken[again])
            self._shorten(problems, *(x[rows] for x in (v, b, f, dv, db, df, slope, straight, curved)))
            seen[0, again] = lib.host(self.residual(problems))[:, 0]
        return seen[0][moving]

    def _steep(self, g: Array, df: Array, t: Array, slope: Array, straight: Array, curved: Array) -> Array:
        """Whether the objective rises noticeably at the end of a step.

        The objective is convex: its slope is enough, and keeps its digits where differences of values have none.
        """
        noise = self.precision.slope_noise
        return total(g * df) + straight + t * curved > -STEEP * slope + noise * total(abs(g * df))

    def _shorten(
        self, at: Array, v: Array, b: Array, f: Array, dv: Array, db: Array, df: Array,
        slope: Array, straight: Array, curved: Array,
    ) -> None:  # fmt: skip
        """Halve these problems' steps until they do not end steeply."""
        t = 0 * slope + 1
        for _ in range(MAX_HALVINGS):
            steep = self._steep(self.differentiate(at, f + t * df)[0], df, t, slope, straight, curved)
            if not bool(steep.any()):
                break
            t = self.lib.xp.where(steep, 0.5 * t, t)
        self.move_to(at, v + t * dv, b + t * db, f + t * df)


class DualFits(Fits):
    """Fits in the dual variables a of the rows: margins Ka, weights Zᵀa, penalty ½aᵀKa."""

    def __init__(self, lib: NumpyLibrary, y: Array, cost: Array, K: Array, n_rows: Array, intercept: bool) -> None:
        super().__init__(lib, y, cost, lib.full(tuple(y.shape), 0.0), intercept)
        self.K, self.n_rows = K, n_rows
        self.inverses = lib.full(tuple(K.shape), 0.0)  # (1 + SKS)⁻¹
        self.border = lib.full(tuple(y.shape), 0.0)  # (K + S⁻²)⁻¹1

    def residual(self, at: Any) -> Array:
        v, g = self.v[at], self.g[at]
        apart, size = self.lib.amax(abs(v + g)), self.lib.amax(abs(g))
        if self.intercept:
            apart = self.lib.xp.maximum(apart, abs(total(v)) / self.n_rows[at])
        return apart / size

    def penalty(self) -> Array:
        return 0.5 * total(self.v * (self.f - self.b))

    def sharp(self) -> Array:
        diagonal = self.lib.array(np.arange(self.y.shape[1]))
        norm = self.lib.xp.sqrt(abs(self.K[:, diagonal, diagonal]))
        rounding = self.precision.rounding * self.lib.amax(norm) * total(norm * abs(self.v))
        return rounding < self.precision.blurred

    def invert(self, which: NDArray[np.int64]) -> None:
        lib, n = self.lib, self.y.shape[1]
        diagonal, least, smallest = lib.array(np.arange(n)), self.precision.least_curvature, self.precision.smallest
        for part in parts(which.size, 32 * n * n, lib):
            at = part if which.size == len(self.has_inverse) else lib.array(which[part])
            S = lib.xp.sqrt(self.curvature[at] + self.cost[at] * least + smallest)
            B = self.K[at] * S[:, :, None]
            B *= S[:, None, :]
            B[:, diagonal, diagonal] += 1
            inverse = lib.inverse(B)
            self.inverses[at], self.S[at], self.border[at] = inverse, S, S * times(inverse, S)
        self.has_inverse[which] = True

    def direction(self, at: Any) -> tuple[Array, Array, Array, Array, Array, Array]:
        v, g, K = self.v[at], self.g[at], self.K[at]
        da, db = self._bordered(at, -(v + g) / self.S[at])
        df = times(K, da)
        straight, curved = total(df * v), total(df * da)
        return da, db, df + db, straight + total(df * g) + db * total(g), straight, curved

    def _bordered(self, at: Any, right: Array) -> tuple[Array, Array]:
        """Solve (K + S⁻²) da + db = S⁻¹ right and Σ (a + da) = 0."""
        da = self.S[at] * times(self.inverses[at], right)
        if not self.intercept:
            return da, 0 * self.b[at]
        border = self.border[at]
        db = (total(da) + total(self.v[at])) / total(border)
        return da - db * border, db

    def follow(self) -> None:
        """Move the optima of other K to where those of these are to first order.

        The curvature is taken at the old margins: the new optimum's are closer to them than those of a with this K.
        """
        da, db = self._bordered(ALL, (self.f - times(self.K, self.v) - self.b) * self.S)
        self.v, self.b = self.v + da, self.b + db
        self.f = times(self.K, self.v) + self.b


class PrimalFits(Fits):
    """Fits in the weights w of p columns, Z as problems × p × rows: margins Zᵀw, penalty ½wᵀw."""

    def __init__(self, lib: NumpyLibrary, y: Array, cost: Array, Z: Array, w: Array, b: Array, intercept: bool) -> None:
        super().__init__(lib, y, cost, w, intercept)
        self.Z, self.b = Z, b
        P, p, _ = Z.shape
        self.f = times(Z.swapaxes(1, 2), w) + b
        norm = lib.xp.sqrt((Z * Z).sum(2))
        self.reach = lib.xp.where(norm > 0, norm, 1.0)
        self.inverses = lib.full((P, p, p), 0.0)  # (1 + ZSSZᵀ)⁻¹
        self.cross, self.border, self.corner = (lib.full((P, size), 0.0) for size in (p, p, 1))

    def _gradient(self, at: Any) -> Array:
        return self.v[at] + times(self.Z[at], self.g[at])

    def residual(self, at: Any) -> Array:
        g = self.g[at]
        apart = self.lib.amax(abs(self._gradient(at)) / self.reach[at])
        if self.intercept:
            apart = self.lib.xp.maximum(apart, abs(total(g)) / g.shape[1] ** 0.5)
        return apart / self.lib.xp.sqrt(total(g * g))

    def penalty(self) -> Array:
        return 0.5 * total(self.v * self.v)

    def sharp(self) -> Array:
        return self.b == self.b

    def invert(self, which: NDArray[np.int64]) -> None:
        lib, (_, p, n) = self.lib, self.Z.shape
        diagonal = lib.array(np.arange(p))
        for part in parts(which.size, 16 * p * n + 32 * p * p, lib):
            at = part if which.size == len(self.has_inverse) else lib.array(which[part])
            Z, curvature = self.Z[at], self.curvature[at]
            B = (Z * curvature[:, None, :]) @ Z.swapaxes(1, 2)
            B[:, diagonal, diagonal] += 1
            inverse, cross = lib.inverse(B), times(Z, curvature)
            border = times(inverse, cross)
            self.inverses[at], self.cross[at], self.border[at] = inverse, cross, border
            self.corner[at] = total(curvature) - total(cross * border)
        self.has_inverse[which] = True

    def direction(self, at: Any) -> tuple[Array, Array, Array, Array, Array, Array]:
        w, g, Z, gradient = self.v[at], self.g[at], self.Z[at], self._gradient(at)
        dw, db = -times(self.inverses[at], gradient), 0 * self.b[at]
        if self.intercept:
            db = -(total(g) + total(self.cross[at] * dw)) / self.corner[at]
            dw = dw - db * self.border[at]
        df = times(Z.swapaxes(1, 2), dw) + db
        return dw, db, df, total(dw * gradient) + db * total(g), total(dw * w), total(dw * dw)


FORCED, CONSTANT_COLUMN = 1, -1
"""Kinds of columns that are not judged by their weight."""
LAST = 1 << 30
"""More than any tie-break rank."""


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
        reach: int, tie_ranks: Callable[[], NDArray[np.int32]] | None, wide: bool,
    ) -> None:  # fmt: skip
        self.lib, self.columns, self.sizes, self.intercept, self.reach = lib, columns, sizes, intercept, reach
        self.wide, self._draw_tie_ranks = wide, tie_ranks
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
        self.active = lib.xp.broadcast_to(lib.array(np.arange(self.d)), (P, self.d))  # of the active, ascending
        self.dropped: Array = None
        self.recorded: Array = None
        self.smallest_size, self.weight = lib.full((P, reach), int(sizes[-1]), "int32"), lib.full((P, reach), 0.0)
        self.unsolved = np.zeros(P, np.int64)

    @cached_property
    def tie_ranks(self) -> Array | None:
        """Tie-break ranks of the columns of each path; drawn when columns tie for the first time."""
        if self._draw_tie_ranks is None:
            return None
        return self._repeat_for_settings(self.lib.array(self._draw_tie_ranks().copy()))

    def _repeat_for_settings(self, values: Array) -> Array:
        """Repeat rows that belong to resamples for every setting: M × size to P × size."""
        M, size = values.shape
        return self.lib.xp.broadcast_to(values[:, None, :], (M, self.G, size)).reshape(self.P, size)

    def eliminate(self, max_iter: int) -> tuple[NDArray[Any], ...]:
        """Pass all sizes; returns settings × resamples of what Paths has, and of sizes at which fits failed."""
        dual, w, b = None, self.lib.full((self.P, self.d), 0.0), self.lib.full((self.P, 1), 0.0)
        for step, size in enumerate(self.sizes.tolist()):
            if self.recorded is None and size <= self.reach:
                self.recorded = self.active
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
        fallback = fits.solve(max_iter, self.unsolved > 0)
        self.unsolved[fallback & (self.unsolved == 0)] = size

    def _stretch(self) -> Array:
        """What the active columns are stretched by: 1, or 1 / shrinkage."""
        return self.lib.xp.where(self.kind > 0, self.growth, 1.0)

    def _gather_columns(self, active: Array, part: Any) -> Array:
        """These columns of Z for a part of the paths, as paths × columns × rows."""
        return self.columns.Z.reshape(-1, self.n)[active[part] + self.home[part]]

    def _active_columns(self, part: Any) -> Array:
        """Active columns of a part of the paths, forced ones divided by their shrinkage."""
        return self._gather_columns(self.active, part) * self._stretch()[part][:, :, None]

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
            at, K = self.lib.array(lost[part]), self.lib.full((part.stop - part.start, self.n, self.n), 0.0)
            self.lib.add_gram(K, self._active_columns(at), 1.0)
            dual.K[at], self.diagonal[at] = K, self._diagonal(K)
        if n_dropped > INVERSE_AFTER_DROP * (size + n_dropped):
            dual.invert(np.arange(self.P))
        dual.follow()
        return dual

    def _weigh(self, a: Array) -> Array:
        """Weights of the active columns: all columns of a resample at once, or the gathered ones where they are few."""
        lib, size = self.lib, self.active.shape[1]
        if 2 * self.G * size > self.d:
            w = (a.reshape(self.M, self.G, self.n) @ self.columns.Z.swapaxes(1, 2)).reshape(self.P, self.d)
            w = w if size == self.d else lib.take(w, self.active)
        else:
            w = lib.full((self.P, size), 0.0)
            for part in parts(self.P, 16 * size * self.n, lib):
                w[part] = times(self._gather_columns(self.active, part), a[part])
        return w * self._stretch()

    def _cut(self, w: Array, size: int, n_remaining: int) -> Array:
        """Keep the forced and the largest weights, ties by tie-break rank; returns the weights of what remains."""
        keep = mask_remaining(self.lib, abs(w), self.kind, n_remaining, self.active, self)
        self.dropped = self.active[~keep].reshape(self.P, size - n_remaining)
        if self.recorded is not None:
            dropped = self.slots[~keep].reshape(self.P, size - n_remaining)
            self.lib.put(self.weight, dropped, w[~keep].reshape(self.P, size - n_remaining))
            self.lib.put(self.smallest_size, dropped, size)
            self.slots = self.slots[keep].reshape(self.P, n_remaining)
        self.active, self.kind = (x[keep].reshape(self.P, n_remaining) for x in (self.active, self.kind))
        return w[keep].reshape(self.P, n_remaining)

    def _collect(self, w: Array, b: Array) -> tuple[NDArray[Any], ...]:
        lib, growth = self.lib, self._stretch()
        if self.recorded is None:
            self.recorded = self.active[:, :0]
        else:
            lib.put(self.weight, self.slots, w * growth)
        moments = self.columns.mean, self.columns.factor
        mean, factor = (lib.take(self._repeat_for_settings(x), self.active) for x in moments)
        coef = w * growth * factor
        b = b[:, 0] - (coef * mean).sum(1)
        arrays = self.recorded, self.smallest_size, self.weight, self.active, coef, b
        on_host = [*(lib.host(array) for array in arrays), self.unsolved]
        return tuple(array.reshape(self.M, self.G, *array.shape[1:]).swapaxes(0, 1) for array in on_host)


def mask_remaining(lib: NumpyLibrary, sizes: Array, kind: Array, n_remaining: int, active: Array, batch: Any) -> Array:
    """Mask of the ``n_remaining`` to keep in each row, by size, kind and tie-break rank; any, if a fit failed with nan.

    Tie-break ranks are drawn only where more features tie at the cut than can remain.
    """
    held = kind > 0
    sizes = lib.xp.where(sizes >= 0, sizes, 0.0)
    sizes = lib.xp.where(held, np.inf, lib.xp.where(kind < 0, -1.0, sizes))
    edge = lib.kth_largest(sizes, n_remaining)
    margin = TIE * abs(lib.xp.where(lib.xp.isinf(edge), 0.0, edge))
    sure = held | (sizes > edge + margin)
    tied = ~sure & (sizes >= edge - margin)
    left = n_remaining - sure.sum(1)[:, None]
    if not bool((tied.sum(1)[:, None] > left).any()) or batch.tie_ranks is None:
        return sure | (tied & (tied.cumsum(1) <= left))
    ranks = lib.take(batch.tie_ranks, active)
    order = lib.xp.argsort(lib.xp.where(tied, ranks, ranks + LAST), 1)
    return sure | (tied & (lib.xp.argsort(order, 1) < left))


class Recorded(NamedTuple):
    """G × M paths at their end, with the columns that were left when the record began."""

    columns: NDArray[np.int64]  # G × M × reach, ascending
    smallest_size: NDArray[np.int32]  # G × M × reach
    weight: NDArray[np.float64]
    selected: NDArray[np.int64]  # G × M × k
    coef: NDArray[np.float64]  # of the scaled columns
    intercept: NDArray[np.float64]  # G × M
    unsolved: NDArray[np.int64]  # G × M: number of features of the fit that did not converge, or 0


def run_lockstep(
    lib: NumpyLibrary, data: Data, settings: Settings, sizes: NDArray[np.int64], intercept: bool, reach: int,
    tie_ranks: Callable[[slice], NDArray[np.int32]] | None, max_iter: int = 1000,
) -> Recorded:  # fmt: skip
    """Take all paths down the sizes, in blocks of resamples that fit the memory; ``tie_ranks`` returns a block's.

    ``reach`` is one of the sizes, from which on paths are recorded, or 0 for nothing.
    """
    M, d = len(data.counts), data.X.shape[1]
    check_n_forced(settings.forced >= 0, int(sizes[-1]))
    n_drawn, G = int((data.counts > 0).sum(axis=1).max()), len(settings.C)
    bytes_each = 8 * d * n_drawn + G * (24 * n_drawn * max(n_drawn, min(d, len(data.y))) + 80 * d)
    block, blocks = _block_size(lib.memory, bytes_each, G), []
    for start in range(0, M, block):
        here = slice(start, start + block)
        columns, draw_ranks = drawn_columns(lib, data, here), None if tie_ranks is None else partial(tie_ranks, here)
        batch = PathBatch(lib, columns, settings.take(here), sizes, intercept, reach, draw_ranks, wide=d > len(data.y))
        blocks.append(batch.eliminate(max_iter))
        batch = columns = None  # type: ignore[assignment]  # before the next block asks for memory
    return Recorded(*(np.concatenate(arrays, axis=1) for arrays in zip(*blocks, strict=True)))


# Settings and blocks


def _block_size(memory: float, bytes_each: float, problems_each: int) -> int:
    """Resamples at a time: what the memory holds, and no more problems than every library on a device takes at once."""
    return max(1, min(int(memory // bytes_each), 65535 // problems_each))


class Models(NamedTuple):
    """Fits on given columns, in terms of the data as they were before they were scaled."""

    coef: NDArray[np.float64]  # Q × k
    intercept: NDArray[np.float64]  # Q
    unsolved: NDArray[np.bool_]  # Q: whether the fit did not converge


def lockstep_models(
    lib: NumpyLibrary, data: Data, resamples: ArrayLike, columns: ArrayLike, C: ArrayLike, intercept: bool = True,
    max_iter: int = 1000,
) -> Models:  # fmt: skip
    """Fit Q models on k columns each: each on its resample, its columns (Q × k) and with its C."""
    which, chosen = np.asarray(resamples, dtype=np.int64), np.asarray(columns, dtype=np.int64)
    (Q, k), n = chosen.shape, len(data.y)
    costs = np.broadcast_to(check_costs(C), Q)
    block = _block_size(lib.memory, 40 * k * n + 24 * k**2 + 120 * n, 1)
    XT, blocks = lib.array(np.ascontiguousarray(data.X.T)), []
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
        blocks.append((lib.host(coef), lib.host(fits.b[:, 0] - (coef * mean).sum(1)), unsolved))
    coef, b, unsolved = (np.concatenate(arrays) for arrays in zip(*blocks, strict=True))
    return Models(*on_scale_of_data(coef, b, data.shift[chosen], data.unit[chosen]), unsolved)
