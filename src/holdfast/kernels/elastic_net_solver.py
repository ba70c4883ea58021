"""One elastic-net path on one resample, to the optimum.

A proximal Newton method on a working set. The quadratic model of the loss is kept while it serves, though its weights
lag behind: signs are found by coordinate descent, then all weights of the support at once; between changes of the
support, conjugate gradients preconditioned by that factor make up for the lag. Each lambda starts from the weights at
the last three, extrapolated, and takes in at once what violates its conditions there, which finds nearly all that will
come. The gradient of every column outside is bounded by how far the residuals have moved, and computed where the
bound does not suffice, so that the conditions hold for all columns and no screening rule has to be trusted.
"""

import hashlib
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from holdfast.kernels import elastic_net_model, elastic_net_state
from holdfast.kernels.elastic_net_model import (
    TIED,
    add_dots,
    add_rows,
    dot,
    extend_model,
    factor,
    minimize_model,
    renew_model,
    solve_factored,
)
from holdfast.kernels.elastic_net_state import (
    BLOCK,
    INTERCEPT,
    LOSS,
    OLD_SHIFT,
    OLD_SQUARE,
    SHIFT,
    STALE,
    SUPPORT,
    SURPLUS,
    WEIGHT,
)
from holdfast.kernels.jit import kernel, summing_kernel, summing_step

SOLVED, FULL, NOT_CONVERGED = range(3)
MAX_STEPS, MAX_HALVINGS = 500, 100
SLOW = 0.2  # a step that leaves more than this of the violation asks for a new model
ROUND = 6755399441055744.0  # 1.5 · 2^52: adding it rounds to an integer, to be found in the lowest bits


# The loss


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


@summing_step
def _log_one_plus(e):  # type: ignore[no-untyped-def]
    """log(1 + e) for e in [0, 1], by the series of artanh."""
    z = e / (2 + e)
    s = z * z
    p = (((s / 31 + 1 / 29) * s + 1 / 27) * s + 1 / 25) * s + 1 / 23
    p = ((((p * s + 1 / 21) * s + 1 / 19) * s + 1 / 17) * s + 1 / 15) * s + 1 / 13
    p = (((((p * s + 1 / 11) * s + 1 / 9) * s + 1 / 7) * s + 1 / 5) * s + 1 / 3) * s + 1
    return 2 * z * p


@summing_step
def _look(data, f, r, W):  # type: ignore[no-untyped-def]
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


# The working set


@summing_step
def _violations(data, point, work, l1, l2):  # type: ignore[no-untyped-def]
    """Renew the working set's gradient; return how far its weights, and its zeros, are from optimal at most."""
    n, r = work.size[0], point.r
    for k in range(n):
        work.g[k] = 0
    for begin in range(0, r.size, BLOCK):
        add_dots(data.X, work.ids, n, begin, r[begin : begin + BLOCK], work.g)
    active, zero = abs(point.numbers[SURPLUS]), 0.0
    for k in range(n):
        w, g = work.w[k], work.g[k]
        if w != 0:
            active = max(active, abs(g - l2 * w - (l1 if w > 0 else -l1)))
        else:
            zero = max(zero, abs(g) - l1)
    return active, zero


@summing_step
def _scan(data, point, work, level):  # type: ignore[no-untyped-def]
    """Bring in the columns whose gradient exceeds level, and all that tie with them; tell whether there were any.

    Standardized columns have weighted norm 1, so no gradient moves further than r does in the inverse weights' norm.
    """
    r, bound, reference = point.r, work.bound, work.reference
    moved = 0.0
    for i in range(r.size):
        moved += (r[i] - reference[i]) ** 2 * data.spread[i]
        reference[i] = r[i]
    moved = np.sqrt(moved) * (1 + 1e-9)
    for j in range(bound.size):
        bound[j] += moved
    n_above, highest = 0, 0.0
    for j in range(bound.size):
        if bound[j] >= level * (1 - 1e-6):
            bound[j] = abs(dot(data.X[j], r))
            n_above += bound[j] > level
            highest = max(highest, bound[j])
    if n_above == 0:
        return False
    lowest = _lowest_to_come(bound, level, highest, 20 + work.size[0])
    for j in range(bound.size):  # by rising column, so that of equal ones the lowest comes first
        if bound[j] >= lowest * (1 - TIED):
            n = work.size[0]
            work.ids[n], work.w[n], work.bound[j] = j, 0, -np.inf
            work.older[0, n] = work.older[1, n] = work.older[2, n] = 0
            work.size[0] = n + 1
    return True


@summing_step
def _lowest_to_come(bound, level, highest, most):  # type: ignore[no-untyped-def]
    """The least of the values above level; above a higher one while there are too many, unless they tie."""
    lowest = highest
    for _ in range(MAX_HALVINGS):
        n_above, lowest = 0, highest
        for j in range(bound.size):
            if bound[j] > level:
                n_above += 1
                lowest = min(lowest, bound[j])
        if n_above <= most or highest - level <= TIED * highest:
            break
        level = (level + highest) / 2
    return lowest


@summing_step
def _drop_zeros(work):  # type: ignore[no-untyped-def]
    """Leave columns without a weight to the scan."""
    n = 0
    for k in range(work.size[0]):
        if work.w[k] == 0:
            work.bound[work.ids[k]] = np.inf
        else:
            work.ids[n], work.w[n] = work.ids[k], work.w[k]
            for past in range(3):
                work.older[past, n] = work.older[past, k]
            n += 1
    work.size[0] = n


# Steps of the weights


@summing_step
def _step_on_support(data, point, work, model, step, l1, l2):  # type: ignore[no-untyped-def]
    """Move all weights with their signs held, by conjugate gradients; tell whether that could be done."""
    w = work.w[: work.size[0]]
    if not factor(model, w, l2):
        return False
    conjugate = _turn(data, point, work, model, step, l1, l2)
    n, support, delta, numbers = model.counts[SUPPORT], model.support, step.delta, step.numbers
    numbers[SHIFT] = numbers[OLD_SHIFT] + conjugate * numbers[SHIFT]
    slope, curvature = point.numbers[SURPLUS] * numbers[SHIFT], 0.0
    for k in range(w.size):
        if w[k] == 0:
            delta[k] = 0
    for i in range(n):
        k = support[i]
        delta[k] = step.x[i] + conjugate * delta[k]
        slope += step.pull[i] * delta[k]
        curvature += l2 * delta[k] * delta[k]
    for i in range(step.image.size):
        curvature += point.W[i] * step.image[i] * step.image[i]
    length = slope / curvature
    for k in range(w.size):
        if w[k] != 0 and w[k] * (w[k] + length * delta[k]) <= 0:
            return False
    return _move(data, point, work, step, length, l1, l2)


@summing_step
def _turn(data, point, work, model, step, l1, l2):  # type: ignore[no-untyped-def]
    """Solve the model on the support into step.x and turn step.image towards it; return the part of the old kept."""
    x, old, pull, numbers, surplus = step.x, step.old, step.pull, step.numbers, point.numbers[SURPLUS]
    n, support = model.counts[SUPPORT], model.support
    for i in range(n):
        k = support[i]
        w = work.w[k]
        pull[i] = work.g[k] - l2 * w - (l1 if w > 0 else -l1)
        x[i] = pull[i] - model.mean[k] * surplus
        step.ids[i] = work.ids[k]
    solve_factored(model, x, l2, step.dual)
    shift = surplus / model.numbers[WEIGHT]
    for i in range(n):
        shift -= model.mean[support[i]] * x[i]
    square, cross = surplus * shift, surplus * numbers[OLD_SHIFT]
    for i in range(n):
        square += pull[i] * x[i]
        cross += pull[i] * old[i]
        old[i] = x[i]
    conjugate = max(0.0, (square - cross) / numbers[OLD_SQUARE]) if numbers[OLD_SQUARE] > 0 else 0.0
    numbers[OLD_SHIFT], numbers[OLD_SQUARE] = shift, square
    for i in range(step.image.size):
        step.image[i] = conjugate * step.image[i] + shift
    add_rows(data.X, step.ids, n, x, step.image)
    return conjugate


@summing_step
def _step_by_model(data, point, work, model, step, l1, l2, tolerance):  # type: ignore[no-untyped-def]
    """Move to the minimum of the model, where weights may come and go; tell whether that could be done."""
    n, surplus = work.size[0], point.numbers[SURPLUS]
    for k in range(n):
        step.pull[k] = work.g[k] - model.mean[k] * surplus
    minimize_model(work, model, step, l1, l2, tolerance)
    shift = surplus / model.numbers[WEIGHT]
    for k in range(n):
        step.delta[k] = step.v[k] - work.w[k]
        shift -= model.mean[k] * step.delta[k]
    step.numbers[SHIFT] = shift
    for i in range(step.image.size):
        step.image[i] = shift
    add_rows(data.X, work.ids, n, step.delta, step.image)
    return _move(data, point, work, step, 1.0, l1, l2)


@summing_step
def _move(data, point, work, step, length, l1, l2):  # type: ignore[no-untyped-def]
    """Take the step, halved until the objective does not rise; tell whether it was taken."""
    w, delta = work.w[: work.size[0]], step.delta
    start = point.numbers[LOSS] + _penalty(w, delta, 0.0, l1, l2)
    loss, surplus, falls = 0.0, 0.0, False
    for _ in range(MAX_HALVINGS):
        for i in range(step.f.size):
            step.f[i] = point.f[i] + length * step.image[i]
        loss, surplus = _look(data, step.f, step.r, step.W)
        falls = loss + _penalty(w, delta, length, l1, l2) <= start * (1 + 1e-13)
        if falls or length < 2e-6:
            break
        length /= 2
    if not falls:
        return False
    for k in range(w.size):
        w[k] += length * delta[k]  # a full step to zero ends in zero exactly
    for i in range(step.f.size):
        point.f[i], point.r[i], point.W[i] = step.f[i], step.r[i], step.W[i]
    point.numbers[INTERCEPT] += length * step.numbers[SHIFT]
    point.numbers[LOSS], point.numbers[SURPLUS] = loss, surplus
    return True


@summing_step
def _penalty(w, delta, length, l1, l2):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(w.size):
        new = w[k] + length * delta[k]
        total += l1 * abs(new) + 0.5 * l2 * new * new
    return total


# Along the path


@summing_step
def _solve_at(data, point, work, model, step, l1, l2, tolerance):  # type: ignore[no-untyped-def]
    """Go to the optimum at one lambda; tell whether it was reached."""
    step.numbers[OLD_SQUARE], last = 0, np.inf
    _scan(data, point, work, l1 + tolerance)
    for _ in range(MAX_STEPS):
        active, zero = _violations(data, point, work, l1, l2)
        worst = max(active, zero)
        if worst <= tolerance:
            if not _scan(data, point, work, l1 + tolerance):
                return True
            step.numbers[OLD_SQUARE], last = 0, np.inf
            continue
        slow = worst > SLOW * last and not data.linear  # a linear loss has always the same model
        if not (slow or model.counts[STALE]):
            extend_model(data, work, model)
        if slow or model.counts[STALE]:
            renew_model(point, work, model)
            extend_model(data, work, model)
            step.numbers[OLD_SQUARE] = 0
        last = worst
        if zero <= active * 1.0001 and _step_on_support(data, point, work, model, step, l1, l2):
            continue
        step.numbers[OLD_SQUARE] = 0
        if not _step_by_model(data, point, work, model, step, l1, l2, 0.05 * worst):
            model.counts[STALE] = 1
    return False


@summing_step
def _extrapolate(data, point, work, t, l1, l2):  # type: ignore[no-untyped-def]
    """Start on the parabola through the weights at the last three lambdas, over their logarithms t, if it is lower."""
    n = work.size[0]
    start = point.numbers[LOSS] + _penalty(work.w[:n], work.w, 0.0, l1, l2)
    a = (t[3] - t[1]) * (t[3] - t[0]) / ((t[2] - t[1]) * (t[2] - t[0]))
    b = (t[3] - t[2]) * (t[3] - t[0]) / ((t[1] - t[2]) * (t[1] - t[0]))
    c = 1 - a - b
    for k in range(n):
        w0, w1, w2 = work.older[0, k], work.older[1, k], work.older[2, k]
        if w0 * w1 > 0:  # a weight that came since has no slope yet
            new = a * w0 + b * w1 + c * w2 if w0 * w2 > 0 else w0 + (t[3] - t[2]) / (t[2] - t[1]) * (w0 - w1)
            work.w[k] = new if new * w0 > 0 else w0
    before = work.older_intercepts
    point.numbers[INTERCEPT] = a * before[0] + b * before[1] + c * before[2]
    _settle(data, point, work)
    if not point.numbers[LOSS] + _penalty(work.w[:n], work.w, 0.0, l1, l2) <= start:
        for k in range(n):
            work.w[k] = work.older[0, k]
        point.numbers[INTERCEPT] = before[0]
        _settle(data, point, work)


@summing_step
def _settle(data, point, work):  # type: ignore[no-untyped-def]
    """Fill in what follows from the weights and the intercept."""
    for i in range(point.f.size):
        point.f[i] = point.numbers[INTERCEPT]
    add_rows(data.X, work.ids, work.size[0], work.w, point.f)
    point.numbers[LOSS], point.numbers[SURPLUS] = _look(data, point.f, point.r, point.W)


@summing_step
def _remember(point, work, model):  # type: ignore[no-untyped-def]
    """Keep the weights for the next start; drop the columns without, where there are many."""
    before = work.older_intercepts
    before[2], before[1], before[0] = before[1], before[0], point.numbers[INTERCEPT]
    n_zero = 0
    for k in range(work.size[0]):
        work.older[2, k], work.older[1, k], work.older[0, k] = work.older[1, k], work.older[0, k], work.w[k]
        n_zero += work.w[k] == 0
    if n_zero > 20:
        _drop_zeros(work)
        model.counts[STALE] = 1


@summing_step
def _write(point, work, record, place):  # type: ignore[no-untyped-def]
    """Record the weights, sorted by column."""
    begin = record.ends[place]
    end = begin
    for k in range(work.size[0]):
        if work.w[k] != 0:
            i = end
            while i > begin and record.ids[i - 1] > work.ids[k]:
                record.ids[i], record.w[i] = record.ids[i - 1], record.w[i - 1]
                i -= 1
            record.ids[i], record.w[i] = work.ids[k], work.w[k]
            end += 1
    record.ends[place + 1] = end
    record.intercepts[place] = point.numbers[INTERCEPT]


def _kernel(sources: int) -> Any:
    """Compile the path.

    A cache notices changes of its own file only. As a variable that the kernel closes over, ``sources`` is part of what
    its cache goes by, so that it notices changes of the other files too.
    """

    @summing_kernel
    def path(data, point, work, model, step, record, grid, at):  # type: ignore[no-untyped-def]
        """Solve along the grid from where ``at`` says: the next lambda, and the next place in the record.

        Rows of the grid are log lambda, l1, l2, tolerance, and whether to record. Returns SOLVED, FULL (enlarge the
        record and call again) or NOT_CONVERGED.
        """
        if at[0] == 0 and sources:
            _settle(data, point, work)
        for k in range(at[0], grid.shape[1]):
            at[0] = k
            if k >= 3:
                _extrapolate(data, point, work, grid[0, k - 3 : k + 1], grid[1, k], grid[2, k])
            if not _solve_at(data, point, work, model, step, grid[1, k], grid[2, k], grid[3, k]):
                return NOT_CONVERGED
            if grid[4, k] > 0:
                if record.ends[at[1]] + work.size[0] > record.ids.size:
                    return FULL
                _write(point, work, record, at[1])
                at[1] += 1
            _remember(point, work, model)
        return SOLVED

    return path


def _digest(*modules: ModuleType) -> int:
    sources = b"".join(Path(str(module.__file__)).read_bytes() for module in modules)
    return int(hashlib.sha256(sources).hexdigest()[:15], 16)


path = _kernel(_digest(elastic_net_model, elastic_net_state))
