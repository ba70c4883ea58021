"""The quadratic model of the loss that the elastic-net solver works with: its rows, its factor, its minimum.

On the working set of k columns x, at weights W of the rows, and with columns centered by W (which takes the intercept
out), the model is ½ δᵀHδ − pullᵀδ with H = XWXᵀ. ``rows`` hold H itself (GRAM: k × k) while k is at most the number of
rows of data, else the centered columns times √W (k × n), whose products are H. ``L`` is the Cholesky factor of H + l₂
on the support (the columns with a weight, listed in ``support``), kept as far as the support did not change
(``counts[FACTORED]``); or, with DUAL, of the n × n matrix l₂ + ZᵀZ, where the support is larger than the data has rows.
Columns that depend on others are noticed by their pivot and shifted out of the support (:func:`_slide`).

:mod:`~holdfast.kernels.elastic_net` compiles these steps into its kernel.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from holdfast.kernels.jit import inlined_step, kernel, summing_step

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

INTERCEPT, LOSS, SURPLUS = range(3)  # in Point.numbers; the surplus is the sum of r, 0 at the optimum
WEIGHT, RIDGE = range(2)  # in Model.numbers: sum of W, and the l2 that is in the factor
SUPPORT, FACTORED, MADE, GRAM, STALE, DUAL = range(6)  # in Model.counts: numbers of features, then flags
SHIFT, OLD_SHIFT, OLD_SQUARE = range(3)  # in Step.numbers: changes of the intercept; the last is 0 for a fresh start
BLOCK = 1024  # rows of data whose part of the working set stays in the cache


class Data(NamedTuple):
    """One resample; its rows are padded by rows of weight 0, so that vectors come out even."""

    X: Floats  # features × rows, standardized
    y: Floats  # -1 and 1, or standardized
    c: Floats  # weights of the rows, with sum 1
    spread: Floats  # 1 / c, 0 in the padding
    linear: bool


class Point(NamedTuple):
    """Where the solver stands."""

    f: Floats  # linear predictor
    r: Floats  # minus the loss's slope
    W: Floats  # the loss's curvature
    numbers: Floats


class Working(NamedTuple):
    """The features that may have a weight, in the order of their coming, and bounds on the gradient of all others."""

    ids: Ints
    w: Floats
    g: Floats
    older: Floats  # weights at the last three lambdas
    older_intercepts: Floats
    bound: Floats  # per column; -inf for those inside
    reference: Floats  # the r at which the bounds hold
    entered: NDArray[np.bool_]  # per column: whether it has had a weight where one was recorded
    size: Ints


class Model(NamedTuple):
    """The quadratic model on the working set, with weights W that may lag behind the point's."""

    W: Floats
    mean: Floats
    curvature: Floats
    rows: Floats  # with GRAM the centered Gram matrix, else the centered columns times root W
    L: Floats  # Cholesky factor on the support, or with DUAL on the rows of data, its diagonal inverted
    support: Ints
    scaled: Floats
    counts: Ints
    numbers: Floats


class Step(NamedTuple):
    """Room for a step, and for the point it leads to."""

    v: Floats
    pull: Floats
    x: Floats
    old: Floats
    delta: Floats
    ids: Ints
    moved: Floats
    dual: Floats
    image: Floats
    f: Floats
    r: Floats
    W: Floats
    numbers: Floats


class Record(NamedTuple):
    """The solutions at the lambdas that are kept: sorted features and their weights, one list after the other."""

    ids: NDArray[np.int32]
    w: Floats
    ends: Ints
    intercepts: Floats


def start(data: Data, intercept: float) -> tuple[Point, Working, Model, Step]:
    """Return the state at the model without features; big arrays are touched only as far as they are used."""
    d, n = data.X.shape
    width = min(d, n)
    point = Point(np.full(n, intercept), np.zeros(n), np.zeros(n), np.array([intercept, 0.0, 0.0]))
    bound, size = np.full(d, np.inf), np.zeros(1, np.int64)
    work = Working(
        np.zeros(d, np.int64), np.zeros(d), np.zeros(d), np.zeros((3, d)), np.zeros(3), bound, np.zeros(n),
        np.zeros(d, np.bool_), size,
    )  # fmt: skip
    rows, L, support = np.empty((d, width)), np.empty((width + 1, width + 1)), np.zeros(d, np.int64)
    counts = np.array([0, 0, 0, 0, 1, 0])
    model = Model(np.zeros(n), np.zeros(d), np.zeros(d), rows, L, support, np.zeros(BLOCK), counts, np.zeros(2))
    v, pull, x, old, delta = np.zeros((5, d))
    image, f, r, W = np.zeros((4, n))
    ids, moved, dual = np.zeros(d, np.int64), np.zeros(max(width, n)), np.zeros(width)
    step = Step(v, pull, x, old, delta, ids, moved, dual, image, f, r, W, np.zeros(3))
    return point, work, model, step


ROUND = 6755399441055744.0  # 1.5 · 2^52: adding it rounds to an integer, to be found in the lowest bits


@intrinsic
def _two_to(typing_context: Any, shifted: Any) -> Any:
    """2^k from the number k + ROUND, whose lowest bits are k."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        integer = context.get_value_type(types.int64)
        exponent = builder.add(builder.bitcast(arguments[0], integer), integer(1023))
        return builder.bitcast(builder.shl(exponent, integer(52)), context.get_value_type(types.float64))

    return types.float64(types.float64), generate


@kernel  # in another order of its sums ROUND would cancel
def _exp_minus(a):  # type: ignore[no-untyped-def]
    """exp(-a) for a ≥ 0 to the last digit; unlike the library's, it runs in vectors."""
    a = -min(a, 708.0)
    shifted = a * 1.4426950408889634 + ROUND
    k = shifted - ROUND
    x = (a - k * 0.69314718036912382) - k * 1.9082149292705877e-10  # log 2 in two parts
    p = ((x / 6227020800 + 1 / 479001600) * x + 1 / 39916800) * x + 1 / 3628800
    p = (((p * x + 1 / 362880) * x + 1 / 40320) * x + 1 / 5040) * x + 1 / 720
    p = (((((p * x + 1 / 120) * x + 1 / 24) * x + 1 / 6) * x + 0.5) * x + 1) * x + 1
    return p * _two_to(shifted)


@inlined_step
def _log_one_plus(e):  # type: ignore[no-untyped-def]
    """log(1 + e) for e in [0, 1], by the series of artanh."""
    z = e / (2 + e)
    s = z * z
    p = (((s / 31 + 1 / 29) * s + 1 / 27) * s + 1 / 25) * s + 1 / 23
    p = ((((p * s + 1 / 21) * s + 1 / 19) * s + 1 / 17) * s + 1 / 15) * s + 1 / 13
    p = (((((p * s + 1 / 11) * s + 1 / 9) * s + 1 / 7) * s + 1 / 5) * s + 1 / 3) * s + 1
    return 2 * z * p


@inlined_step
def evaluate_loss(data, f, r, W):  # type: ignore[no-untyped-def]
    """Fill in minus the slope and the curvature of the loss at f; return the loss and the sum of r."""
    y, c = data.y, data.c
    loss, surplus = 0.0, 0.0
    if data.linear:
        for i in range(f.size):
            error = y[i] - f[i]
            r[i], W[i] = c[i] * error, c[i]
            loss += 0.5 * r[i] * error
            surplus += r[i]
        return loss, surplus
    for i in range(f.size):
        margin = y[i] * f[i]
        e = _exp_minus(abs(margin))
        q = 1 / (1 + e)
        r[i] = c[i] * y[i] * (e * q if margin > 0 else q)
        W[i] = c[i] * e * q * q
        loss += c[i] * (_log_one_plus(e) + max(-margin, 0.0))
        surplus += r[i]
    return loss, surplus


MAX_PASSES = 200
DEPENDENT = 1e-11  # a pivot below this, beside its diagonal, means a column that is a combination of others
TIED = 1e-9

# Sums


@inlined_step
def dot(a, b):  # type: ignore[no-untyped-def]
    """The sum of products, as long as a."""
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@inlined_step
def _sum(a):  # type: ignore[no-untyped-def]
    """The sum, in a loop of its own: one that also writes adds in another order where arrays happen to be neighbors."""
    total = 0.0
    for i in range(a.size):
        total += a[i]
    return total


@inlined_step
def add_times(t, x, y):  # type: ignore[no-untyped-def]
    """y += t x."""
    for i in range(x.size):
        y[i] += t * x[i]


@inlined_step
def add_dots(X, ids, n, begin, v, out):  # type: ignore[no-untyped-def]
    """out += X[ids, begin:] v, as far as v goes, four rows at a time."""
    end = begin + v.size
    for k in range(0, n - 3, 4):
        a0, a1 = X[ids[k], begin:end], X[ids[k + 1], begin:end]
        a2, a3 = X[ids[k + 2], begin:end], X[ids[k + 3], begin:end]
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for i in range(v.size):
            s0 += a0[i] * v[i]
            s1 += a1[i] * v[i]
            s2 += a2[i] * v[i]
            s3 += a3[i] * v[i]
        out[k] += s0
        out[k + 1] += s1
        out[k + 2] += s2
        out[k + 3] += s3
    for k in range(n - n % 4, n):
        out[k] += dot(X[ids[k], begin:end], v)


@inlined_step
def add_rows(X, ids, n, w, out):  # type: ignore[no-untyped-def]
    """out += w X[ids], four rows at a time."""
    for k in range(0, n - 3, 4):
        a0, a1, a2, a3 = X[ids[k]], X[ids[k + 1]], X[ids[k + 2]], X[ids[k + 3]]
        w0, w1, w2, w3 = w[k], w[k + 1], w[k + 2], w[k + 3]
        for i in range(out.size):
            out[i] += (w0 * a0[i] + w1 * a1[i]) + (w2 * a2[i] + w3 * a3[i])
    for k in range(n - n % 4, n):
        add_times(w[k], X[ids[k]], out)


# The quadratic model


@summing_step
def renew_model(point, work, model):  # type: ignore[no-untyped-def]
    """Take over the point's weights; rows are still to be made."""
    total = 0.0
    for i in range(point.W.size):
        model.W[i] = point.W[i]
        total += point.W[i]
    model.numbers[WEIGHT] = total
    model.counts[GRAM] = work.size[0] <= model.rows.shape[1]
    model.counts[MADE] = model.counts[FACTORED] = model.counts[STALE] = 0


@summing_step
def extend_model(data, work, model):  # type: ignore[no-untyped-def]
    """Make the rows that the model lacks; say that it is stale if its Gram matrix would be larger than the data."""
    first, last = model.counts[MADE], work.size[0]
    if model.counts[GRAM] and last <= model.rows.shape[1]:
        _make_gram_rows(data.X, work.ids, model, first, last)
    elif model.counts[GRAM]:
        model.counts[STALE] = 1
    else:
        _make_root_rows(data.X, work.ids, model, first, last)
    model.counts[MADE] = last


@inlined_step
def _make_gram_rows(X, ids, model, first, last):  # type: ignore[no-untyped-def]
    W, rows, mean, scaled = model.W, model.rows, model.mean, model.scaled
    for k in range(first, last):
        mean[k] = 0
        for t in range(k + 1):
            rows[k, t] = 0
    for begin in range(0, W.size, BLOCK):
        for k in range(first, last):
            x = X[ids[k], begin : begin + BLOCK]
            for i in range(x.size):
                scaled[i] = x[i] * W[begin + i]
            mean[k] += _sum(scaled[: x.size]) / model.numbers[WEIGHT]
            add_dots(X, ids, k + 1, begin, scaled[: x.size], rows[k])
    for k in range(first, last):
        for t in range(k + 1):
            rows[k, t] -= mean[k] * mean[t] * model.numbers[WEIGHT]
            rows[t, k] = rows[k, t]
        model.curvature[k] = rows[k, k]


@summing_step
def _make_root_rows(X, ids, model, first, last):  # type: ignore[no-untyped-def]
    for k in range(first, last):
        x, row = X[ids[k]], model.rows[k]
        model.mean[k] = dot(x, model.W) / model.numbers[WEIGHT]
        for i in range(x.size):
            row[i] = np.sqrt(model.W[i]) * (x[i] - model.mean[k])
        model.curvature[k] = dot(row, row)


@summing_step
def factor(model, v, l2):  # type: ignore[no-untyped-def]
    """Factor the model on the support of v, from where it changed; return whether no column depends on those before.

    A support larger than the data has rows is solved through l2 + Zᵀ Z, where Z are the model's rows.
    """
    counts, support, n = model.counts, model.support, 0
    valid, before = counts[FACTORED], counts[SUPPORT]
    for k in range(v.size):
        if v[k] != 0:
            if support[n] != k:
                valid, support[n] = min(valid, n), k
            n += 1
    dual = l2 > 0 and n > model.rows.shape[1]
    if model.numbers[RIDGE] != l2 or counts[DUAL] != dual or (dual and n != before):
        valid = 0
    model.numbers[RIDGE], counts[SUPPORT], counts[DUAL], counts[FACTORED] = l2, n, dual, n
    if dual:
        if valid == n or _factor_dual(model, n, l2):
            return True
        valid = counts[DUAL] = 0
    return _factor_primal(model, valid, n, l2)


@summing_step
def _factor_primal(model, valid, n, l2):  # type: ignore[no-untyped-def]
    L, rows, support, size = model.L, model.rows, model.support, model.rows.shape[1]
    for i in range(valid, n):
        own = rows[support[i]]
        for j in range(i + 1):
            L[i, j] = own[support[j]] if model.counts[GRAM] else dot(own, rows[support[j]])
        L[i, i] += l2
        if not _eliminate(L, i) or i == size:  # no more columns than rows are independent
            model.counts[FACTORED] = i
            return False
    return True


@summing_step
def _factor_dual(model, n, l2):  # type: ignore[no-untyped-def]
    L, size = model.L, model.rows.shape[1]
    for i in range(size):
        for j in range(i):
            L[i, j] = 0
        L[i, i] = l2
    for k in range(n):
        z = model.rows[model.support[k]]
        for i in range(size):
            add_times(z[i], z[: i + 1], L[i, : i + 1])
    independent = True
    for i in range(size):
        independent = independent and _eliminate(L, i)
    return independent


@inlined_step
def _eliminate(L, i):  # type: ignore[no-untyped-def]
    """Turn row i of a matrix into that of its factor; return whether its pivot is more than rounding."""
    row, pivot = L[i], L[i, i]
    for j in range(i):
        row[j] = (row[j] - dot(row[:j], L[j, :j])) * L[j, j]
        pivot -= row[j] * row[j]
    if pivot <= DEPENDENT * row[i]:
        return False
    row[i] = 1 / np.sqrt(pivot)
    return True


@summing_step
def solve_factored(model, x, l2, dual):  # type: ignore[no-untyped-def]
    """Replace x by the solution on the support."""
    L, n = model.L, model.counts[SUPPORT]
    if not model.counts[DUAL]:
        _substitute(L, n, x)
        return
    for i in range(dual.size):
        dual[i] = 0
    for k in range(n):
        add_times(x[k], model.rows[model.support[k]], dual)
    _substitute(L, dual.size, dual)
    for k in range(n):
        x[k] = (x[k] - dot(model.rows[model.support[k]], dual)) / l2


@summing_step
def _substitute(L, n, x):  # type: ignore[no-untyped-def]
    for i in range(n):
        x[i] = (x[i] - dot(L[i, :i], x[:i])) * L[i, i]
    _substitute_back(L, n, x)


@inlined_step
def _substitute_back(L, n, x):  # type: ignore[no-untyped-def]
    for i in range(n - 1, -1, -1):
        x[i] *= L[i, i]
        add_times(-x[i], L[i, :i], x[:i])


# Its minimum


@summing_step
def minimize_model(work, model, step, l1, l2, tolerance):  # type: ignore[no-untyped-def]
    """Minimize the model plus penalty over the working set into step.v: signs by coordinates, then all at once."""
    n = work.size[0]
    v, pull = step.v[:n], step.pull[:n]
    moved = step.moved[: n if model.counts[GRAM] else model.W.size]
    for k in range(n):
        v[k] = work.w[k]
    for i in range(moved.size):
        moved[i] = 0  # with GRAM the model's matrix times (v - w), else its root
    for turn in range(MAX_PASSES):
        settled = _pass_coordinates(model, pull, l1, l2, tolerance, v, moved) <= tolerance
        if turn % 2 == 0 and not settled:
            continue
        independent = factor(model, v, l2)
        if settled and independent:
            return
        for _ in range(n):  # each time one weight fewer
            if independent and _go_to_optimum(model, pull, l1, l2, v, moved, step.x, step.dual):
                break
            if not independent:
                _slide(model, l1, l2, v, moved, step.x)
            independent = factor(model, v, l2)


@summing_step
def _pass_coordinates(model, pull, l1, l2, tolerance, v, moved):  # type: ignore[no-untyped-def]
    """Minimize over each weight in turn; return the largest change of a gradient by its own weight."""
    largest = 0.0
    for k in range(v.size):
        row, curvature = model.rows[k, : moved.size], model.curvature[k]
        if curvature <= 0:
            continue
        target = pull[k] - (moved[k] if model.counts[GRAM] else dot(row, moved)) + curvature * v[k]
        new = 0.0
        if abs(target) > (l1 if v[k] != 0 else l1 + tolerance):  # else equal columns would take turns
            new = (target - l1 if target > 0 else target + l1) / (curvature + l2)
        change = new - v[k]
        if change != 0:
            v[k] = new
            add_times(change, row, moved)
            largest = max(largest, abs(change) * curvature)
    return largest


@summing_step
def _go_to_optimum(model, pull, l1, l2, v, moved, x, dual):  # type: ignore[no-untyped-def]
    """Go to the optimum on the support, or as far as the first weight that reaches zero; return whether all the way."""
    for i in range(model.counts[SUPPORT]):
        k = model.support[i]
        already = moved[k] if model.counts[GRAM] else dot(model.rows[k], moved)
        x[i] = pull[k] - already - l2 * v[k] - (l1 if v[k] > 0 else -l1)
    solve_factored(model, x, l2, dual)
    return _go(model, model.counts[SUPPORT], 1.0, x, v, moved)


@summing_step
def _slide(model, l1, l2, v, moved, x):  # type: ignore[no-untyped-def]
    """Shift weight among columns that depend on each other, without moving the fit, until one reaches zero.

    Downhill on the penalty; where that is level, as between equal columns, off the last to come.
    """
    support, last = model.support, model.counts[FACTORED]
    for i in range(last):
        x[i] = -model.L[last, i]
    _substitute_back(model.L, last, x)
    x[last] = 1
    uphill, size = 0.0, 0.0
    for i in range(last + 1):
        w = v[support[i]]
        uphill += x[i] * (l2 * w + (l1 if w > 0 else -l1))
        size += abs(x[i])
    if abs(uphill) <= TIED * l1 * size:
        uphill = v[support[last]]
    for i in range(last + 1):
        x[i] = -x[i] if uphill > 0 else x[i]
    _go(model, last + 1, np.inf, x, v, moved)


@summing_step
def _go(model, n, farthest, x, v, moved):  # type: ignore[no-untyped-def]
    """Add x to the first n weights of the support, as far as the first that reaches zero; return whether none does."""
    length, first = farthest, -1
    for i in range(n):
        w = v[model.support[i]]
        if w * x[i] < 0 and -w / x[i] < length:
            length, first = -w / x[i], i
    for i in range(n):
        k = model.support[i]
        change = -v[k] if i == first else length * x[i]
        v[k] += change
        add_times(change, model.rows[k, : moved.size], moved)
    return first < 0
