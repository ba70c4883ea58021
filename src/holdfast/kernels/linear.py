"""The algebra of a linear model's fits, and the cells that recognized models are fitted on.

Every model is f = Zw + b with the penalty ½‖w‖², where the columns of Z are those of X, centered, scaled and divided by
their shrinkage. With more features than rows it is solved in the dual variables a, w = Zᵀa, on the Gram matrix K = ZZᵀ;
else in w. Z is never made: its pieces are, where they are needed.

Symmetric matrices hold their lower triangle only, padded to a multiple of four for the 4 × 4 tiles in which products
are summed. Nothing here calls BLAS, whose last bits depend on the number of threads.

A *cell* is one set of columns on one split (:class:`Cells` holds those of a call): :func:`take_cell` gathers its rows,
to train on and held out, and scales them with the operations of scikit-learn's scalers.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.jit import exact_step, frozen, kernel, summing_step
from holdfast.kernels.tolerances import CONSTANT, EPSILON, NEARLY_CONSTANT

CHUNK = 256
"""Terms of a product that are summed in one pass: both operands of a tile then stay in the fastest cache."""


APART = 64
"""Numbers before and after a vector: more than a compiled loop looks at together."""

NEGLIGIBLE = 1e-12
"""Square of a row, relative to the largest, below which it is a combination of the rows before it."""

UNSCALED, STANDARD, MIN_MAX = 0, 1, 2
"""Ways to scale columns."""

Floats = NDArray[np.float64]


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
        a_i, total = a[i], 0.0
        for k in range(i):
            total += K[i, k] * a[k]
            out[k] += K[i, k] * a_i
        out[i] += total + K[i, i] * a_i


@summing_step
def padded(n):  # type: ignore[no-untyped-def]
    """n rounded up to whole tiles."""
    return (n + 3) // 4 * 4


@summing_step
def vector(n):  # type: ignore[no-untyped-def]
    """Return uninitialized space for n numbers, at a distance from all others.

    A compiled loop over vectors first asks whether they lie close together, and goes another way then, whose sums have
    other last digits: without the distance these would depend on where memory was found.
    """
    return np.empty(n + 2 * APART)[APART : APART + n]


@summing_step
def matrix(n_rows, width):  # type: ignore[no-untyped-def]
    """Return uninitialized space for rows of numbers, at a distance from all others."""
    return vector(n_rows * width).reshape((n_rows, width))


@summing_step
def square(n):  # type: ignore[no-untyped-def]
    """Return an uninitialized n × n matrix, with rows of a length that avoids conflicts in the cache."""
    return matrix(padded(n), (n + 15) // 16 * 16 + 8)


@summing_step
def panel(n):  # type: ignore[no-untyped-def]
    """Return uninitialized space for one chunk of n rows."""
    return matrix(padded(n), CHUNK + 8)


# Pieces of Z


@summing_step
def standardize(Z, counts):  # type: ignore[no-untyped-def]
    """Set mean and factor to the weighted mean and 1 / standard deviation; factor 0 where a column is constant."""
    n, total = counts.size, sum_of(counts)
    for j in range(Z.column.size):
        x, mean = Z.XT[Z.column[j]], 0.0
        for i in range(n):
            mean += counts[i] * x[i]
        mean /= total
        squares = 0.0
        for i in range(n):
            squares += counts[i] * (x[i] - mean) ** 2
        Z.mean[j], Z.factor[j] = mean, np.sqrt(total / squares)
        if squares <= CONSTANT * total:  # constant to rounding, or exactly, or of a spread whose squares are lost
            Z.factor[j] = 0.0 if _is_constant(x, counts) else _small_factor(x, counts, mean, total)


@summing_step
def scale_next_to(Z, counts, others, rest):  # type: ignore[no-untyped-def]
    """Turn factors into 1 / standard deviation of what other columns leave; 0 where that is nothing.

    The others, along the rows, have a weighted norm of 1 and no product with each other. ``rest`` is overwritten.
    """
    total = sum_of(counts)
    for j in range(Z.column.size):
        x, left = Z.XT[Z.column[j]], 0.0
        for i in range(counts.size):
            rest[i] = (x[i] - Z.mean[j]) * Z.factor[j]
        for k in range(len(others)):
            share = 0.0
            for i in range(counts.size):
                share += counts[i] * rest[i] * others[k, i]
            add(rest, -share / total, others[k])
        for i in range(counts.size):
            left += counts[i] * rest[i] * rest[i]
        Z.factor[j] = Z.factor[j] / np.sqrt(left / total) if left > NEGLIGIBLE * total else 0.0


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
def add_gram(K, Z, active, rows, sign, R):  # type: ignore[no-untyped-def]
    """K ± ZZᵀ over these columns and rows."""
    n_rows, size = rows.size, padded(rows.size)
    for i in range(n_rows, size):
        fill(R[i], 0.0)
    for start in range(0, active.size, CHUNK):
        n = min(CHUNK, active.size - start)
        for q in range(n):
            j = active[start + q]
            x, mean, factor = Z.XT[Z.column[j]], Z.mean[j], Z.factor[j]
            for i in range(n_rows):
                R[i, q] = (x[rows[i]] - mean) * factor
        add_products(K, R, size, n, sign)


@summing_step
def weights_of(Z, active, a, w):  # type: ignore[no-untyped-def]
    """w = Zᵀa, with a over all rows of X."""
    n, total = a.size, sum_of(a)
    for q in range(active.size):
        j = active[q]
        x, product = Z.XT[Z.column[j]], 0.0
        for i in range(n):
            product += x[i] * a[i]
        w[q] = (product - Z.mean[j] * total) * Z.factor[j]


@summing_step
def margins_of(Z, active, w, b, f):  # type: ignore[no-untyped-def]
    """f = Zw + b, over all rows of X."""
    fill(f, b)
    for q in range(active.size):
        j = active[q]
        x, slope = Z.XT[Z.column[j]], w[q] * Z.factor[j]
        shift = slope * Z.mean[j]
        for i in range(f.size):
            f[i] += slope * x[i] - shift


@summing_step
def factorize_primal(L, Z, active, S, R):  # type: ignore[no-untyped-def]
    """Factor of I + ZᵀS²Z."""
    p, size = active.size, padded(active.size)
    for i in range(size):
        fill(L[i], 0.0)
        L[i, i] = 1.0
    for i in range(p, size):
        fill(R[i], 0.0)
    for start in range(0, S.size, CHUNK):
        n = min(CHUNK, S.size - start)
        for q in range(p):
            j = active[q]
            x, out = Z.XT[Z.column[j]], R[q]
            for i in range(n):
                out[i] = (x[start + i] - Z.mean[j]) * Z.factor[j] * S[start + i]
        add_products(L, R, size, n, 1.0)
    return factorize(L, p)


@summing_step
def factorize_dual(L, K, S, n):  # type: ignore[no-untyped-def]
    """Factor of I + SKS."""
    for i in range(n):
        S_i = S[i]
        for j in range(i):
            L[i, j] = S_i * K[i, j] * S[j]
        L[i, i] = 1 + S_i * K[i, i] * S_i
    return factorize(L, n)


# Cells


class Cells(NamedTuple):
    """Cells as the kernels take them: contiguous, of one type each, read-only."""

    X: NDArray[np.float64]
    counts: NDArray[np.int64]  # splits × rows
    tests: NDArray[np.int64]  # held-out rows, split after split
    test_starts: NDArray[np.int64]  # where those of each split begin, and the end of the last
    splits: NDArray[np.int64]  # of each cell
    columns: NDArray[np.int64]  # cell after cell
    column_starts: NDArray[np.int64]
    starts: NDArray[np.int64]  # where the held-out rows of each cell begin among those of all cells


class CellWorkspace(NamedTuple):
    """Arrays that every cell of a call uses again."""

    train: NDArray[np.float64]  # most columns × rows of X
    test: NDArray[np.float64]  # most columns × most held-out rows
    shift: NDArray[np.float64]
    unit: NDArray[np.float64]


class Cell(NamedTuple):
    """One cell, scaled. Its arrays of columns are longer than its rows are many: C order keeps loops fast."""

    rows: NDArray[np.int64]  # of X, to train on, each once
    counts: NDArray[np.int64]  # how often each of them counts
    train: NDArray[np.float64]  # columns × rows
    test: NDArray[np.float64]  # columns × held-out rows
    n_tests: int
    start: int  # of its held-out rows among those of all cells


@exact_step
def allocate(cells):  # type: ignore[no-untyped-def]
    """Allocate arrays for the largest cell."""
    p, n_tests = 0, 0
    for cell in range(cells.splits.size):
        p = max(p, cells.column_starts[cell + 1] - cells.column_starts[cell])
        n_tests = max(n_tests, cells.starts[cell + 1] - cells.starts[cell])
    return CellWorkspace(np.empty((p, cells.X.shape[0])), np.empty((p, n_tests)), np.empty(p), np.empty(p))


@exact_step
def take_cell(cells, number, kind, work):  # type: ignore[no-untyped-def]
    """Gather and scale a cell; also returns whether it has rows and they were scaled as scikit-learn would."""
    split = cells.splits[number]
    rows = _drawn_rows(cells.counts[split])
    tests = cells.tests[cells.test_starts[split] : cells.test_starts[split + 1]]
    columns = cells.columns[cells.column_starts[number] : cells.column_starts[number + 1]]
    p = columns.size
    cell = Cell(rows, take(cells.counts[split], rows), work.train[:p], work.test[:p], tests.size, cells.starts[number])
    gather(cells.X, rows, columns, cell.train)
    gather(cells.X, tests, columns, cell.test)
    valid = rows.size > 0 and learn_scale(cell.train, cell.counts, kind, work.shift[:p], work.unit[:p])
    apply_scale(cell.train, rows.size, kind, work.shift[:p], work.unit[:p])
    apply_scale(cell.test, tests.size, kind, work.shift[:p], work.unit[:p])
    return cell, valid


@exact_step
def _drawn_rows(counts):  # type: ignore[no-untyped-def]
    rows, n = np.empty(counts.size, np.int64), 0
    for i in range(counts.size):
        if counts[i] > 0:
            rows[n] = i
            n += 1
    return rows[:n]


@exact_step
def take(values, rows):  # type: ignore[no-untyped-def]
    """Return the values of these rows: a loop, where indexing by an array takes numba ten times as long to compile."""
    taken = np.empty(rows.size, values.dtype)
    for i in range(rows.size):
        taken[i] = values[rows[i]]
    return taken


@exact_step
def has_all_classes(labels, seen):  # type: ignore[no-untyped-def]
    """Whether every class has a row to train on; ``seen`` has space for a number per class."""
    n_seen = 0
    for label in range(seen.size):
        seen[label] = 0
    for label in labels:
        n_seen += seen[label] == 0
        seen[label] = 1
    return n_seen == seen.size


@exact_step
def gather(X, rows, columns, Z):  # type: ignore[no-untyped-def]
    """Z = X at these rows and columns, columns first."""
    for i in range(rows.size):
        for j in range(columns.size):
            Z[j, i] = X[rows[i], columns[j]]


@exact_step
def learn_scale(Z, counts, kind, shift, unit):  # type: ignore[no-untyped-def]
    """Set shift and unit of each column; false if rounding could make scikit-learn's noticeably different."""
    learned = True
    for j in range(shift.size):
        shift[j], unit[j] = 0.0, 1.0
        if kind == STANDARD:
            learned = _standardize(Z[j], counts, j, shift, unit) and learned
        elif kind == MIN_MAX:
            low, high = _range(Z[j], counts.size)
            unit[j] = 1.0 if high - low < 10 * EPSILON else 1 / (high - low)
            shift[j] = 0.0 - low * unit[j]
        learned = learned and np.isfinite(shift[j]) and np.isfinite(unit[j])
    return learned


@exact_step
def apply_scale(Z, n, kind, shift, unit):  # type: ignore[no-untyped-def]
    """Scale the first n rows of each column in place, with the operations of scikit-learn's scalers."""
    for j in range(shift.size):
        column, column_shift, column_unit = Z[j], shift[j], unit[j]
        if kind == STANDARD:
            for i in range(n):
                column[i] = (column[i] - column_shift) / column_unit
        elif kind == MIN_MAX:
            for i in range(n):
                column[i] = column[i] * column_unit + column_shift


@exact_step
def record_weights(cells, number, kind, unit, w, weights):  # type: ignore[no-untyped-def]
    """Set the weights of a cell, among those of all cells, as they are for its columns before scaling."""
    start = cells.column_starts[number]
    for j in range(w.size):
        weights[start + j] = w[j] / unit[j] if kind == STANDARD else w[j] * unit[j]


@exact_step
def _range(x, n):  # type: ignore[no-untyped-def]
    low = high = x[0]
    for i in range(1, n):
        low, high = min(low, x[i]), max(high, x[i])
    return low, high


@exact_step
def _standardize(x, counts, j, shift, unit):  # type: ignore[no-untyped-def]
    """Set mean and standard deviation; a column is constant by scikit-learn's bound on the rounding of its variance."""
    n, total = 0, 0.0
    for i in range(counts.size):
        n += counts[i]
        total += counts[i] * x[i]
    mean, squares, rest = total / n, 0.0, 0.0
    for i in range(counts.size):
        apart = x[i] - mean
        squares += counts[i] * (apart * apart)
        rest += counts[i] * apart
    variance = (squares - rest * rest / n) / n
    low, high = _range(x, counts.size)
    if low == high:
        shift[j], unit[j] = low, 1.0
        return True
    shift[j], unit[j] = mean, np.sqrt(variance)
    return variance > NEARLY_CONSTANT * (n * mean * EPSILON) ** 2 and variance > 1e-280 and variance < 1e280


@summing_step
def reduce_columns(cell):  # type: ignore[no-untyped-def]
    """Return a cell of at most as many columns as rows; the cell itself if it has no more."""
    n, p = cell.rows.size, cell.train.shape[0]
    if p <= n:
        return cell
    T, U, rest = np.zeros((n, n)), np.zeros((n, cell.n_tests)), np.zeros(n)
    for j in range(p):
        for i in range(n):
            rest[i] += cell.train[j, i] ** 2
    rank, first = 0, 0.0
    while rank < n:
        pivot = 0
        for i in range(1, n):
            pivot = i if rest[i] > rest[pivot] else pivot
        first = rest[pivot] if rank == 0 else first
        if rest[pivot] <= NEGLIGIBLE * first:
            break
        _eliminate(cell.train, cell.train, T, T, rank, pivot, n)
        _eliminate(cell.train, cell.test, T, U, rank, pivot, cell.n_tests)
        for i in range(n):
            rest[i] = max(rest[i] - T[rank, i] ** 2, 0.0)
        rest[pivot] = 0.0
        rank += 1
    rank = max(rank, 1)
    return Cell(cell.rows, cell.counts, T[:rank], U[:rank], cell.n_tests, cell.start)


@summing_step
def _eliminate(train, others, T, out, rank, pivot, n):  # type: ignore[no-untyped-def]
    """Set the coordinates of these rows along what the pivot adds to those before it."""
    new = out[rank]
    for i in range(n):
        new[i] = 0.0
    square = 0.0
    for j in range(train.shape[0]):
        factor, row = train[j, pivot], others[j]
        square += factor * factor
        for i in range(n):
            new[i] += factor * row[i]
    for s in range(rank):
        factor, row = T[s, pivot], out[s]
        square -= factor * factor
        for i in range(n):
            new[i] -= factor * row[i]
    root = np.sqrt(square)
    for i in range(n):
        new[i] /= root


# Predictions and spreads of given models


def linear_values(
    X: ArrayLike,
    rows: ArrayLike,
    row_starts: ArrayLike,
    columns: ArrayLike,
    column_starts: ArrayLike,
    coef: ArrayLike,
    intercept: ArrayLike,
) -> Floats:
    """Return intercept + Σ coef · x of each model on each of its rows, model after model.

    Parameters
    ----------
    X
        Rows × features.
    rows, row_starts
        The rows of all models, one model after the other; where those of each begin, and the end of the last.
    columns, column_starts
        The same of their columns.
    coef
        A weight for each of ``columns``.
    intercept
        One for each model.
    """
    starts = frozen(row_starts, np.int64)
    values = np.empty(int(starts[-1]))
    _values(
        frozen(X, np.float64), frozen(rows, np.int64), starts, frozen(columns, np.int64),
        frozen(column_starts, np.int64), frozen(coef, np.float64), frozen(intercept, np.float64), values,
    )  # fmt: skip
    return values


@kernel
def _values(X, rows, row_starts, columns, column_starts, coef, intercept, values):  # type: ignore[no-untyped-def]
    sizes = np.diff(row_starts)
    known = np.empty((min(X.shape[1], columns.size), sizes.max() if sizes.size else 0))  # columns at the rows in turn
    slot, owner, first, n_known = np.empty(X.shape[1], np.int64), np.full(X.shape[1], -1), -1, 0
    for model in range(intercept.size):
        n, at, out = sizes[model], rows[row_starts[model] :], values[row_starts[model] : row_starts[model + 1]]
        if first < 0 or n != sizes[first] or not np.array_equal(at[:n], rows[row_starts[first] :][:n]):
            first, n_known = model, 0
        out[:] = intercept[model]
        for term in range(column_starts[model], column_starts[model + 1]):
            column, weight = columns[term], coef[term]
            if owner[column] != first:
                owner[column], slot[column] = first, n_known
                for i in range(n):
                    known[n_known, i] = X[at[i], column]
                n_known += 1
            x = known[slot[column]]
            for i in range(n):
                out[i] += weight * x[i]


def training_spreads(
    columns: ArrayLike, counts: ArrayLike, splits: NDArray[np.int64], column_indices: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the standard deviation of each of these columns on training rows; missing values are left out.

    Parameters
    ----------
    columns
        Columns × rows.
    counts
        How often each split trains on each row, splits × rows.
    splits, column_indices
        The split and the column of each value to return; the same of both is computed once.
    """
    values, weights = frozen(columns, np.float64), frozen(counts, np.float64)
    known = np.full((len(weights), len(values)), -1.0)
    _spreads(values, weights, frozen(splits, np.int64), frozen(column_indices, np.int64), known)
    return known[splits, column_indices]


@kernel
def _spreads(columns, counts, splits, column_indices, known):  # type: ignore[no-untyped-def]
    for term in range(splits.size):
        split, column = splits[term], column_indices[term]
        if known[split, column] != -1.0:
            continue
        count, x, n, total, squares = counts[split], columns[column], 0.0, 0.0, 0.0
        for i in range(x.size):
            if count[i] > 0 and np.isfinite(x[i]):
                n += count[i]
                total += count[i] * x[i]
        mean = total / n if n > 0 else np.nan
        for i in range(x.size):
            if count[i] > 0 and np.isfinite(x[i]):
                squares += count[i] * (x[i] - mean) ** 2
        known[split, column] = np.sqrt(squares / n) if n > 0 else np.nan
