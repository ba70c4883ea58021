"""One elastic-net path on one resample, to the optimum: a proximal Newton method on a working set.

At each lambda it minimizes L(b + Xβ) + l₁‖β‖₁ + ½ l₂‖β‖², where L is the mean loss over the resample's rows, columns of
X are standardized, l₁ = λ · l1_ratio and l₂ = λ · (1 − l1_ratio). With r = −L′ and W = L″, row by row, the optimum has

- xⱼᵀr − l₂βⱼ = l₁ sign(βⱼ) where βⱼ ≠ 0, |xⱼᵀr| ≤ l₁ where βⱼ = 0, and Σ r = 0 for the intercept.

The parts, each of which can be changed without the others:

- *Working set* (:func:`_violations`, :func:`_scan`). Columns that may have a weight, in the order of their coming; a
  column outside has |xⱼᵀr| ≤ ``bound[j]``, raised by how far r has moved since the bound was computed, and is looked at
  again where the bound does not suffice. So the conditions hold for all columns, and no screening rule has to be
  trusted.
- *Model* (:mod:`~holdfast.kernels.elastic_net_model`). The quadratic model of the loss on the working set is kept while
  it serves, though its weights W lag behind the point's; a step that leaves more than ``SLOW`` of the violation renews
  it.
- *Steps* (:func:`_step_on_support`, :func:`_step_by_model`). With signs held: conjugate gradients, preconditioned by
  the model's factor on the support, make up for the lag. Where weights come and go: to the minimum of the model, signs
  by coordinate descent, then all weights of the support at once. :func:`_move` halves a step until the objective does
  not rise.
- *Path* (:func:`path`). Each lambda starts on the parabola through the weights at the last three (:func:`_extrapolate`)
  and takes in at once what violates its conditions there, which finds nearly all that will come.

What is kept in memory, and at which place of which small array a single number stands, is in
:mod:`~holdfast.kernels.elastic_net_state`. Invariants: ``point`` is consistent (f, r, W, loss, surplus belong to the
weights) after :func:`_settle` and after every step taken; ``work.g`` holds only after :func:`_violations`;
``model.counts[STALE]`` says that the model does not belong to the working set. ``tests/test_elastic_net_path.py``
checks the conditions above on every solution, and compares with scikit-learn and glum.
"""

import numpy as np

from holdfast.kernels.elastic_net_loss import evaluate_loss
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
from holdfast.kernels.jit import summing_kernel, summing_step

SOLVED, FULL, NOT_CONVERGED = range(3)
MAX_STEPS, MAX_HALVINGS = 500, 100
SLOW = 0.2  # a step that leaves more than this of the violation asks for a new model


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
    """Bring in the columns whose gradient exceeds level, and all that tie with them; return whether there were any.

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
    """Move all weights with their signs held, by conjugate gradients; return whether that could be done."""
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
    """Move to the minimum of the model, where weights may come and go; return whether that could be done."""
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
    """Take the step, halved until the objective does not rise; return whether it was taken."""
    w, delta = work.w[: work.size[0]], step.delta
    start = point.numbers[LOSS] + _penalty(w, delta, 0.0, l1, l2)
    loss, surplus, falls = 0.0, 0.0, False
    for _ in range(MAX_HALVINGS):
        for i in range(step.f.size):
            step.f[i] = point.f[i] + length * step.image[i]
        loss, surplus = evaluate_loss(data, step.f, step.r, step.W)
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
    """Go to the optimum at one lambda; return whether it was reached."""
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
    point.numbers[LOSS], point.numbers[SURPLUS] = evaluate_loss(data, point.f, point.r, point.W)


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
    """Record the weights, sorted by column; return how many columns have one for the first time."""
    begin, n_new = record.ends[place], 0
    end = begin
    for k in range(work.size[0]):
        if work.w[k] != 0:
            i = end
            while i > begin and record.ids[i - 1] > work.ids[k]:
                record.ids[i], record.w[i] = record.ids[i - 1], record.w[i - 1]
                i -= 1
            record.ids[i], record.w[i] = work.ids[k], work.w[k]
            end += 1
            n_new += not work.entered[work.ids[k]]
            work.entered[work.ids[k]] = True
    record.ends[place + 1] = end
    record.intercepts[place] = point.numbers[INTERCEPT]
    return n_new


@summing_kernel
def path(data, point, work, model, step, record, grid, at):  # type: ignore[no-untyped-def]
    """Solve along the grid from where ``at`` says: the next lambda, and the next place in the record.

    The third number of ``at`` says how many columns may still enter before the path stops. Rows of the grid are log
    lambda, l1, l2, tolerance, and whether to record. Returns SOLVED, FULL (enlarge the record
    and call again) or NOT_CONVERGED.
    """
    if at[0] == 0:
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
            at[2] -= _write(point, work, record, at[1])
            at[1] += 1
            if at[2] <= 0:
                return SOLVED
        _remember(point, work, model)
    return SOLVED
