"""The algebra of a linear model's fits.

Every model is f = Zw + b with the penalty ½‖w‖², where the columns of Z are those of X, centered, scaled and divided by
their shrinkage. With more features than rows it is solved in the dual variables a, w = Zᵀa, on the Gram matrix K = ZZᵀ;
else in w. Z is never made: its pieces are, where they are needed.

Symmetric matrices hold their lower triangle only, padded to a multiple of four for the 4 × 4 tiles in which products
are summed. Nothing here calls BLAS, whose last bits depend on the number of threads.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import summing_step
from holdfast.kernels.tolerances import CONSTANT

CHUNK = 256
"""Terms of a product that are summed in one pass: both operands of a tile then stay in the fastest cache."""


APART = 64
"""Numbers before and after a vector: more than a compiled loop looks at together."""


class Columns(NamedTuple):
    """The columns that one resample starts from; ``mean`` and ``factor`` turn them into those of Z."""

    XT: NDArray[np.float64]
    column: NDArray[np.int64]  # of X
    mean: NDArray[np.float64]
    factor: NDArray[np.float64]


# Vectors: loops instead of array expressions, which take numba ten times as long to compile


@summing_step
def dot(x, y):  # type: ignore[no-untyped-def]
    """Σ xy."""
    total = 0.0
    for i in range(x.size):
        total += x[i] * y[i]
    return total


@summing_step
def sum_of(x):  # type: ignore[no-untyped-def]
    """Σ x."""
    total = 0.0
    for i in range(x.size):
        total += x[i]
    return total


@summing_step
def fill(x, value):  # type: ignore[no-untyped-def]
    """x = value."""
    for i in range(x.size):
        x[i] = value


@summing_step
def add(x, t, y):  # type: ignore[no-untyped-def]
    """x = x + ty."""
    for i in range(x.size):
        x[i] += t * y[i]


# Lower triangles


@summing_step
def _tile(A, i, j, n):  # type: ignore[no-untyped-def]
    """Products of four rows of A from i with four from j: enough sums at a time to keep the processor busy."""
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
    for k in range(n):
        a0, a1, a2, a3 = A[i, k], A[i + 1, k], A[i + 2, k], A[i + 3, k]
        b0, b1, b2, b3 = A[j, k], A[j + 1, k], A[j + 2, k], A[j + 3, k]
        s00, s01, s02, s03 = s00 + a0 * b0, s01 + a0 * b1, s02 + a0 * b2, s03 + a0 * b3
        s10, s11, s12, s13 = s10 + a1 * b0, s11 + a1 * b1, s12 + a1 * b2, s13 + a1 * b3
        s20, s21, s22, s23 = s20 + a2 * b0, s21 + a2 * b1, s22 + a2 * b2, s23 + a2 * b3
        s30, s31, s32, s33 = s30 + a3 * b0, s31 + a3 * b1, s32 + a3 * b2, s33 + a3 * b3
    return (s00, s01, s02, s03), (s10, s11, s12, s13), (s20, s21, s22, s23), (s30, s31, s32, s33)


@summing_step
def _add_tile_row(K, i, j, sign, sums):  # type: ignore[no-untyped-def]
    K[i, j] += sign * sums[0]
    K[i, j + 1] += sign * sums[1]
    K[i, j + 2] += sign * sums[2]
    K[i, j + 3] += sign * sums[3]


@summing_step
def add_products(K, R, size, n, sign):  # type: ignore[no-untyped-def]
    """K ± RRᵀ over the first n columns of R."""
    for i in range(0, size, 4):
        for j in range(0, i + 1, 4):
            sums = _tile(R, i, j, n)
            _add_tile_row(K, i, j, sign, sums[0])
            _add_tile_row(K, i + 1, j, sign, sums[1])
            _add_tile_row(K, i + 2, j, sign, sums[2])
            _add_tile_row(K, i + 3, j, sign, sums[3])


@summing_step
def _solve_tile_row(L, i, j, sums):  # type: ignore[no-untyped-def]
    x0 = (L[i, j] - sums[0]) * L[j, j]
    x1 = (L[i, j + 1] - sums[1] - x0 * L[j + 1, j]) * L[j + 1, j + 1]
    x2 = (L[i, j + 2] - sums[2] - x0 * L[j + 2, j] - x1 * L[j + 2, j + 1]) * L[j + 2, j + 2]
    x3 = (L[i, j + 3] - sums[3] - x0 * L[j + 3, j] - x1 * L[j + 3, j + 1] - x2 * L[j + 3, j + 2]) * L[j + 3, j + 3]
    L[i, j], L[i, j + 1], L[i, j + 2], L[i, j + 3] = x0, x1, x2, x3


@summing_step
def factorize(L, n):  # type: ignore[no-untyped-def]
    """Cholesky factor in place with an inverted diagonal; false if the matrix is not positive definite."""
    size = padded(n)
    for i in range(n, size):
        fill(L[i], 0.0)
        L[i, i] = 1.0
    for i in range(0, size, 4):
        for j in range(0, i, 4):
            sums = _tile(L, i, j, j)
            _solve_tile_row(L, i, j, sums[0])
            _solve_tile_row(L, i + 1, j, sums[1])
            _solve_tile_row(L, i + 2, j, sums[2])
            _solve_tile_row(L, i + 3, j, sums[3])
        for r in range(i, i + 4):
            for c in range(i, r + 1):
                rest = L[r, c]
                for k in range(c):
                    rest -= L[r, k] * L[c, k]
                if c < r:
                    L[r, c] = rest * L[c, c]
                elif rest > 0:
                    L[r, r] = 1 / np.sqrt(rest)
                else:
                    return False
    return True


@summing_step
def substitute(L, x, n):  # type: ignore[no-untyped-def]
    """Solve LLᵀx = x in place."""
    for i in range(n):
        rest = x[i]
        for k in range(i):
            rest -= L[i, k] * x[k]
        x[i] = rest * L[i, i]
    for i in range(n - 1, -1, -1):
        x[i] *= L[i, i]
        known = x[i]
        for k in range(i):
            x[k] -= L[i, k] * known


@summing_step
def times(K, a, out, n):  # type: ignore[no-untyped-def]
    """out = Ka."""
    for i in range(n):
        out[i] = 0.0
    for i in range(n):
        own, total = a[i], 0.0
        for k in range(i):
            total += K[i, k] * a[k]
            out[k] += K[i, k] * own
        out[i] += total + K[i, i] * own


@summing_step
def padded(n):  # type: ignore[no-untyped-def]
    """n rounded up to whole tiles."""
    return (n + 3) // 4 * 4


@summing_step
def vector(n):  # type: ignore[no-untyped-def]
    """Return room for n numbers, at a distance from all others.

    A compiled loop over vectors first asks whether they lie close together, and goes another way then, whose sums have
    other last digits: without the distance these would depend on where memory was found.
    """
    return np.empty(n + 2 * APART)[APART : APART + n]


@summing_step
def _matrix(n_rows, width):  # type: ignore[no-untyped-def]
    return vector(n_rows * width).reshape((n_rows, width))


@summing_step
def square(n):  # type: ignore[no-untyped-def]
    """Return room for an n × n matrix, with rows of a length that does not send them all to the same cache lines."""
    return _matrix(padded(n), (n + 15) // 16 * 16 + 8)


@summing_step
def panel(n):  # type: ignore[no-untyped-def]
    """Return room for one chunk of n rows."""
    return _matrix(padded(n), CHUNK + 8)


# Pieces of Z


@summing_step
def standardize(Z, counts):  # type: ignore[no-untyped-def]
    """Set mean and factor to the weighted mean and 1 / standard deviation; factor 0 where a column is constant."""
    n, total = counts.size, sum_of(counts)
    for place in range(Z.column.size):
        x, mean = Z.XT[Z.column[place]], 0.0
        for i in range(n):
            mean += counts[i] * x[i]
        mean /= total
        squares = 0.0
        for i in range(n):
            squares += counts[i] * (x[i] - mean) ** 2
        Z.mean[place], Z.factor[place] = mean, np.sqrt(total / squares)
        if squares <= CONSTANT * total:  # constant to rounding, or exactly, or of a spread whose squares are lost
            Z.factor[place] = 0.0 if _is_constant(x, counts) else _small_factor(x, counts, mean, total)


@summing_step
def _small_factor(x, counts, mean, total):  # type: ignore[no-untyped-def]
    """1 / standard deviation of values that lie close together."""
    largest, squares = 0.0, 0.0
    for i in range(x.size):
        if counts[i] > 0:
            largest = max(largest, abs(x[i] - mean))
    if largest == 0:
        return 0.0
    for i in range(x.size):
        if counts[i] > 0:
            squares += counts[i] * ((x[i] - mean) / largest) ** 2
    return np.sqrt(total / squares) / largest


@summing_step
def all_finite(x, n):  # type: ignore[no-untyped-def]
    """Whether the first n numbers are finite."""
    finite = True
    for i in range(n):
        finite = finite and np.isfinite(x[i])
    return finite


@summing_step
def _is_constant(x, counts):  # type: ignore[no-untyped-def]
    first = 0
    while counts[first] == 0:
        first += 1
    constant = True
    for i in range(first, x.size):
        constant = constant and (counts[i] == 0 or x[i] == x[first])
    return constant


@summing_step
def add_gram(K, Z, places, rows, sign, R):  # type: ignore[no-untyped-def]
    """K ± ZZᵀ over these places and rows."""
    n_rows, size = rows.size, padded(rows.size)
    for i in range(n_rows, size):
        fill(R[i], 0.0)
    for start in range(0, places.size, CHUNK):
        n = min(CHUNK, places.size - start)
        for q in range(n):
            place = places[start + q]
            x, mean, factor = Z.XT[Z.column[place]], Z.mean[place], Z.factor[place]
            for i in range(n_rows):
                R[i, q] = (x[rows[i]] - mean) * factor
        add_products(K, R, size, n, sign)


@summing_step
def weights_of(Z, places, a, w):  # type: ignore[no-untyped-def]
    """w = Zᵀa, with a over all rows of X."""
    n, total = a.size, sum_of(a)
    for q in range(places.size):
        place = places[q]
        x, product = Z.XT[Z.column[place]], 0.0
        for i in range(n):
            product += x[i] * a[i]
        w[q] = (product - Z.mean[place] * total) * Z.factor[place]


@summing_step
def margins_of(Z, places, w, b, f):  # type: ignore[no-untyped-def]
    """f = Zw + b, over all rows of X."""
    fill(f, b)
    for q in range(places.size):
        place = places[q]
        x, slope = Z.XT[Z.column[place]], w[q] * Z.factor[place]
        shift = slope * Z.mean[place]
        for i in range(f.size):
            f[i] += slope * x[i] - shift


@summing_step
def factorize_primal(L, Z, places, S, R):  # type: ignore[no-untyped-def]
    """Factor of I + ZᵀS²Z."""
    p, size = places.size, padded(places.size)
    for i in range(size):
        fill(L[i], 0.0)
        L[i, i] = 1.0
    for i in range(p, size):
        fill(R[i], 0.0)
    for start in range(0, S.size, CHUNK):
        n = min(CHUNK, S.size - start)
        for q in range(p):
            place = places[q]
            x, out = Z.XT[Z.column[place]], R[q]
            for i in range(n):
                out[i] = (x[start + i] - Z.mean[place]) * Z.factor[place] * S[start + i]
        add_products(L, R, size, n, 1.0)
    return factorize(L, p)


@summing_step
def factorize_dual(L, K, S, n):  # type: ignore[no-untyped-def]
    """Factor of I + SKS."""
    for i in range(n):
        own = S[i]
        for j in range(i):
            L[i, j] = own * K[i, j] * S[j]
        L[i, i] = 1 + own * K[i, i] * own
    return factorize(L, n)
