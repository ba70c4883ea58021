"""Batches of ridge-logistic fits solved together by Newton's method, on NumPy or torch, CUDA included.

A batch is a rectangle of P problems × n rows. Problem p has labels y, costs c = C · count (0 for rows that pad the
rectangle), and minimizes over v and the intercept b, in its form,

- :class:`DualFits`: Σ cᵢ log(1 + exp(−yᵢ fᵢ)) + ½ aᵀKa with f = Ka + b, v = a (P × n), K (P × n × n);
- :class:`PrimalFits`: the same loss + ½‖w‖² with f = Zᵀw + b, v = w (P × p), Z (P × p × n).

g and ``curvature`` = S² (P × n) are the first and second derivative of the loss by the margins f. While problems are
being solved, :meth:`Fits.move_to` alone changes v, b, f, g and curvature, all together; before, ``follow`` may set v, b
and f, and ``_start`` makes g and curvature of them. A Newton step solves

- dual: (K + S⁻²) da + db = −S⁻²(a + g) and Σ (a + da) = 0, by (K + S⁻²)⁻¹ = S (I + SKS)⁻¹ S;
- primal: (I + ZS²Zᵀ) dw + ZS² 1 db = −(w + Zg) and 1ᵀS²(Zᵀdw + db) = −Σ g.

An inverse costs as much as dozens of steps that use it, so it is used again while the residual falls to
``INVERSE_REUSE``, even across the steps of an elimination (``has_inverse`` says which problems have one; S is the root
of the curvature *where the inverse was made*, not of the present one). An old inverse may point uphill: such a step is
not taken, and the problem gets an inverse of its own. Problems that are solved drop out. The host looks at the batch
once per iteration, at two numbers per problem: every other transfer would stop the device.

All columns (b, residuals, slopes) are P × 1, so that they broadcast over rows. ``at`` is either :data:`ALL` or an index
array of the library; with ``ALL`` arrays are replaced, never written in place, as they may be views of other arrays.

:mod:`~holdfast.kernels.ridge` is the compiled form, problem by problem: the same equations, the same numbers in
:mod:`~holdfast.kernels.tolerances`. To add a model, derive from :class:`Fits` and write its five abstract methods.
``tests/test_lockstep.py`` compares with the compiled form and with scikit-learn, ``tests/test_magnitude.py`` holds
data of extreme size; with torch installed both run on it too.
"""

import math
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .libraries import Array, NumpyLibrary, parts, times, total
from .tolerances import INVERSE_REUSE, PRECISIONS, SHORTEST_STEP, STEEP

Mask = NDArray[np.bool_]
MOST_HALVINGS = -round(math.log2(SHORTEST_STEP))
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
        miss = self.lib.miss(y * f)
        return -y * cost * miss, cost * miss * (1 - miss)

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
    def solve(self, max_iter: int, given_up: Mask) -> Mask:
        """Take Newton steps until all problems are solved, at most ``max_iter``; returns which are given up."""
        P = len(self.has_inverse)
        residual = self._start()
        before, fresh, solved = np.full(P, np.inf), np.zeros(P, bool), given_up.copy()
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
        return given_up | ~solved | ~self.lib.host(self.sharp())[:, 0]

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
        # an inverse of another problem may point uphill: no step then, and the residual asks for its own
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

        The objective is convex: its slope tells enough, and keeps its digits where differences of values have none.
        """
        noise = self.precision.slope_noise
        return total(g * df) + straight + t * curved > -STEEP * slope + noise * total(abs(g * df))

    def _shorten(
        self, at: Array, v: Array, b: Array, f: Array, dv: Array, db: Array, df: Array,
        slope: Array, straight: Array, curved: Array,
    ) -> None:  # fmt: skip
        """Halve these problems' steps until they do not end steeply."""
        t = 0 * slope + 1
        for _ in range(MOST_HALVINGS):
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
