r"""Cox's partial likelihood (Breslow's ties): score tests, ridge models, concordance and effects of survival times.

Rows are sorted by stratum, then time, events before censored rows; a resample keeps that order and leaves rows out.
With :math:`v_i = c_i e^{f_i}` for weights c and a linear predictor f, :math:`S_i` the sum of v over the rows at risk at
row i and :math:`A_i` Breslow's cumulative hazard, minus the slope of the loss is :math:`c_i \delta_i - v_i A_i`. It
sums to 0, so there is no intercept.

Risk sets are nested, and adding a row to a weighted sample adds one squared deviation. So the Hessian along x and y is

.. math:: \sum_i A_i v_i \frac{S_i - v_i}{S_i} (x_i - \bar x_{>i}) (y_i - \bar y_{>i})

with the means over the rows after i: a Gram matrix of columns that one pass over the rows makes (:func:`transform`),
positive semidefinite by construction. ``gain`` is :math:`v_i/S_i`, by which share of its distance a row moves the
mean of the rows after it, and ``square`` the weight of the squared distance.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.jit import frozen, kernel, summing_kernel, summing_step
from holdfast.kernels.linear import CHUNK, add_products, factorize, fill, matrix, padded, vector

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FIRST, LAST, NEW_TIME = 1, 2, 4
"""Flags of a row: it begins or ends its stratum; it is the first of its time."""
WIDEST = 600.0
"""Linear predictors further apart are evaluated with running scales: exp would overflow or vanish."""
TIED = 1e-8
"""Predicted risks that are no further apart tie."""
VARIES = 1e-12
"""Share of its variance below which a column does not vary in any risk set."""
BLOCK = 256  # columns at a time, which stay in the cache for all resamples


class Rows(NamedTuple):
    """All rows of a target in the order of time: once for all resamples."""

    order: Ints  # the rows of the data set
    event: Floats  # 1 or 0, in this order
    stratum: Ints
    new_time: NDArray[np.bool_]  # whether a row is the first of its time in its stratum


def sort_rows(y: NDArray[Any]) -> Rows:
    """Sort rows by stratum and time, events first; ``y`` is a structured array of event, time and maybe stratum."""
    stratum = y["stratum"] if "stratum" in (y.dtype.names or ()) else np.zeros(len(y), np.int64)
    order = np.lexsort((~y["event"], y["time"], stratum)).astype(np.int64)
    time, stratum = y["time"][order], frozen(stratum[order], np.int64)
    new = np.ones(order.size, dtype=bool)
    new[1:] = (np.diff(time) != 0) | (np.diff(stratum) != 0)
    return Rows(frozen(order, np.int64), frozen(y["event"][order], np.float64), stratum, frozen(new, np.bool_))


@summing_step
def mark_rows(index, weight, event, stratum, new_time, deaths, flags):  # type: ignore[no-untyped-def]
    """Fill in, for the sorted rows of a resample, the events of each time at its first row, and the flags."""
    first, seen = 0, False
    for i in range(index.size):
        row = index[i]
        begins = i == 0 or stratum[row] != stratum[index[i - 1]]
        for other in range(index[i - 1] + 1 if i > 0 else row, row + 1):  # rows left out may begin a time
            seen = seen or new_time[other]
        flags[i], deaths[i] = 0, 0.0
        if begins or seen:
            first, seen = i, False
            flags[i] |= NEW_TIME
        if begins:
            flags[i] |= FIRST
            if i > 0:
                flags[i - 1] |= LAST
        deaths[first] += weight[i] * event[row]
    if index.size:
        flags[index.size - 1] |= LAST


# The loss


@summing_step
def evaluate(n, f, c, events, deaths, flags, r, square, gain):  # type: ignore[no-untyped-def]
    """Fill in what follows from a linear predictor of n sorted rows, in two passes; return the loss, maybe below 0.

    ``c`` are weights of rows and ``events`` those of rows with an event; r is minus the slope of the loss.
    """
    highest, lowest = -np.inf, np.inf
    for i in range(n):
        highest, lowest = max(highest, f[i]), min(lowest, f[i])
    if not highest - lowest < WIDEST:
        if not np.isfinite(highest - lowest):
            return np.inf
        return _evaluate_wide(n, f, c, events, deaths, flags, r, square, gain)
    for i in range(n):
        r[i] = c[i] * np.exp(f[i] - highest)
    loss, total = 0.0, 0.0
    for i in range(n - 1, -1, -1):
        if flags[i] & LAST:
            total = 0.0
        gain[i] = total
        total += r[i]
        square[i] = 0.0
        if deaths[i] > 0:
            square[i] = deaths[i] / total
            loss += deaths[i] * (np.log(total) + highest)
    hazard = 0.0
    for i in range(n):
        if flags[i] & FIRST:
            hazard = 0.0
        hazard += square[i]
        v, after = r[i], gain[i]
        share = v / (after + v) if v > 0 else 0.0
        r[i] = events[i] - v * hazard
        gain[i] = 1.0 if flags[i] & LAST else share  # the mean begins with the last row
        square[i] = hazard * share * after
        loss -= events[i] * f[i]
    return loss


@summing_step
def _evaluate_wide(n, f, c, events, deaths, flags, r, square, gain):  # type: ignore[no-untyped-def]
    """The same for any f: sums have a scale of their own, the largest f at risk, or the latest log of a sum."""
    loss, total, scale = 0.0, 0.0, -np.inf
    for i in range(n - 1, -1, -1):
        if flags[i] & LAST:
            total, scale = 0.0, -np.inf
        v = 0.0
        if c[i] > 0:
            if f[i] > scale:
                total *= np.exp(scale - f[i])
                scale = f[i]
            v = c[i] * np.exp(f[i] - scale)
        gain[i] = v / (total + v) if v > 0 else 0.0
        total += v
        square[i] = scale + np.log(total)  # of the sum over the rows at risk, for now
        if deaths[i] > 0:
            loss += deaths[i] * square[i]
    hazard, scale = 0.0, 0.0  # the cumulative hazard is hazard * exp(-scale)
    for i in range(n):
        if flags[i] & FIRST:
            hazard, scale = 0.0, square[i]
        if deaths[i] > 0:
            hazard = hazard * np.exp(square[i] - scale) + deaths[i]
            scale = square[i]
        # of a row that counts f[i] is in every sum so far: never large
        expected = c[i] * hazard * np.exp(f[i] - scale) if c[i] > 0 else 0.0
        r[i] = events[i] - expected
        if flags[i] & LAST:
            gain[i], square[i] = 1.0, 0.0
        else:
            square[i] = expected * (1 - gain[i])
        loss -= events[i] * f[i]
    return loss


@summing_step
def transform(n, x, gain, root, z):  # type: ignore[no-untyped-def]
    """Make of a column the one whose products are the Hessian; ``root`` are the square roots of ``square``."""
    mean = 0.0
    for i in range(n - 1, -1, -1):
        away = x[i] - mean
        z[i] = root[i] * away
        mean += gain[i] * away


@summing_step
def transform_back(n, gain, root, z):  # type: ignore[no-untyped-def]
    """The transposed transformation, in place."""
    later = 0.0
    for i in range(n):
        z[i] = root[i] * z[i] - gain[i] * later
        later += z[i]


@summing_step
def curvature(n, u, gain, square):  # type: ignore[no-untyped-def]
    """The Hessian along a direction u of the linear predictor."""
    mean, total = 0.0, 0.0
    for i in range(n - 1, -1, -1):
        away = u[i] - mean
        total += square[i] * away * away
        mean += gain[i] * away
    return total


# Every column by itself


def score_tests(ordered: Floats, rows: Rows, counts: ArrayLike) -> Floats:
    """Cox's score test z of each column in each resample, signed: above 0, larger values go with earlier events.

    ``ordered`` (rows × columns) and ``counts`` (resamples × rows) are in the order of ``rows``. A column that varies in
    no risk set has 0. In a resample with copies z orders columns; it is no normal variable.
    """
    counts = frozen(counts, np.float64)
    slope, variance = np.zeros((2, len(counts), ordered.shape[1]))
    last = np.append(rows.stratum[1:] != rows.stratum[:-1], True)
    _score(ordered, counts, rows.event, rows.new_time, frozen(last, np.bool_), slope, variance)
    least = VARIES * np.maximum(1.0, counts.sum(axis=1))[:, None] * ordered.var(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(variance > least, slope / np.sqrt(variance), 0.0)


@summing_kernel
def _score(X, counts, event, first, last, slope, variance):  # type: ignore[no-untyped-def]
    """Residuals first, the same for all columns, then one pass back in time for each block of columns and resample."""
    n, d = X.shape
    residual, gain, square = np.empty(counts.shape), np.empty(counts.shape), np.empty(counts.shape)
    hazard = np.empty(n)
    for m in range(counts.shape[0]):
        c, total, deaths = counts[m], 0.0, 0.0
        for i in range(n - 1, -1, -1):
            if last[i]:
                total = deaths = 0.0
            before = total
            total += c[i]
            gain[m, i] = c[i] / total if total > 0 else 0.0
            square[m, i] = gain[m, i] * before
            deaths += c[i] * event[i]
            hazard[i] = 0.0
            if first[i]:
                hazard[i] = deaths / total if total > 0 else 0.0
                deaths = 0.0
        running = 0.0
        for i in range(n):
            if i == 0 or last[i - 1]:
                running = 0.0
            running += hazard[i]
            residual[m, i] = c[i] * (event[i] - running)
            square[m, i] *= running
    mean = np.empty(BLOCK)
    for begin in range(0, d, BLOCK):
        end = min(d, begin + BLOCK)
        for m in range(counts.shape[0]):
            u, s = slope[m, begin:end], variance[m, begin:end]
            mean[:] = 0.0
            for i in range(n - 1, -1, -1):
                if last[i]:
                    mean[:] = 0.0
                if counts[m, i] == 0:
                    continue
                x, g, q, e = X[i, begin:end], gain[m, i], square[m, i], residual[m, i]
                for j in range(x.size):
                    away = x[j] - mean[j]
                    u[j] += e * x[j]
                    s[j] += q * away * away
                    mean[j] += g * away


def column_concordances(ordered: Floats, rows: Rows, counts: ArrayLike) -> Floats:
    """Harrell's C of each column as a risk, in each resample, by the same arrays; ``nan`` without comparable pairs."""
    counts = frozen(counts, np.float64)
    good, pairs = np.zeros((len(counts), ordered.shape[1])), np.zeros(len(counts))
    last = np.append(rows.stratum[1:] != rows.stratum[:-1], True)
    _column_concordances(ordered, counts, rows.event, rows.new_time, frozen(last, np.bool_), good, pairs)
    with np.errstate(invalid="ignore"):
        return good / pairs[:, None]


@summing_kernel
def _column_concordances(X, counts, event, first, last, good, pairs):  # type: ignore[no-untyped-def]
    n, d = X.shape
    later = np.empty(n, np.int64)  # the first row that is comparable with an event
    for i in range(n - 1, -1, -1):
        ends = last[i] or first[i + 1] or event[i + 1] == 0
        later[i] = i + 1 if ends else later[i + 1]
    for begin in range(0, d, BLOCK):
        end = min(d, begin + BLOCK)
        for m in range(counts.shape[0]):
            total, sums = 0.0, good[m, begin:end]
            for i in range(n):
                if event[i] == 0 or counts[m, i] == 0 or last[i]:
                    continue
                x = X[i, begin:end]
                for k in range(later[i], n):
                    weight = counts[m, i] * counts[m, k]
                    if weight > 0:
                        total += weight
                        other = X[k, begin:end]
                        for j in range(x.size):
                            sums[j] += weight * (0.5 * (x[j] > other[j]) + 0.5 * (x[j] >= other[j]))
                    if last[k]:
                        break
            pairs[m] = total


# Ridge models, which :mod:`holdfast.kernels.ridge` fits


class Risk(NamedTuple):
    """Sorted rows of a ridge model: what Cox's loss needs of each beside what any loss does."""

    events: NDArray[np.float64]  # the weights of events
    deaths: NDArray[np.float64]
    flags: NDArray[np.int64]
    gain: NDArray[np.float64]
    held: NDArray[np.float64]  # the gain where the curvature was last factored
    trial: NDArray[np.float64]  # space for a linear predictor
    turned: NDArray[np.float64]  # space for a Gram matrix


@summing_step
def begin_risk(survival, r, rows):  # type: ignore[no-untyped-def]
    """Make what belongs to these rows, of which some may not count; None if ``survival`` is None.

    Else it is a tuple of event, stratum and whether a time is new, of all rows in the order of time.
    """
    if survival is None:
        return None
    n = rows.size
    risk = Risk(vector(n), vector(n), np.empty(n, np.int64), vector(n), vector(n), vector(n), matrix(n, n))
    for i in range(n):
        risk.events[i] = r.cost[i] * survival[0][rows[i]]
    mark_rows(rows, r.cost, survival[0], survival[1], survival[2], risk.deaths, risk.flags)
    return risk


@summing_step
def turn_gram(K, root, risk, L):  # type: ignore[no-untyped-def]
    """Set L to I + TKTᵀ, where T transforms a column at the gain of ``risk``, which is held from now on."""
    n, W, mean = root.size, risk.turned, risk.trial
    for i in range(n):
        risk.held[i] = risk.gain[i]
        for j in range(i + 1):
            W[i, j] = W[j, i] = K[i, j]
    for side in range(2):
        fill(mean, 0.0)
        for i in range(n - 1, -1, -1):
            row, share, factor = W[i], risk.held[i], root[i]
            for j in range(n):
                away = row[j] - mean[j]
                row[j] = factor * away
                mean[j] += share * away
        for i in range(n if side == 0 else 0):
            for j in range(i):
                W[i, j], W[j, i] = W[j, i], W[i, j]
    for i in range(n):
        for j in range(i + 1):
            L[i, j] = W[i, j]
        L[i, i] += 1.0


@summing_step
def factorize_turned(L, Z, active, root, gain, R):  # type: ignore[no-untyped-def]
    """Factor of I + ZᵀTᵀTZ, as :func:`holdfast.kernels.linear.factorize_primal`, back in time."""
    p, n, size = active.size, root.size, padded(active.size)
    mean = np.zeros(p)
    for i in range(size):
        fill(L[i], 0.0)
        L[i, i] = 1.0
    for i in range(p, size):
        fill(R[i], 0.0)
    for start in range((n - 1) // CHUNK * CHUNK, -1, -CHUNK):
        stop = min(start + CHUNK, n)
        for q in range(p):
            j = active[q]
            x, out, later = Z.XT[Z.column[j]], R[q], mean[q]
            for i in range(stop - 1, start - 1, -1):
                away = (x[i] - Z.mean[j]) * Z.factor[j] - later
                out[i - start] = root[i] * away
                later += gain[i] * away
            mean[q] = later
        add_products(L, R, size, stop - start, 1.0)
    return factorize(L, p)


# Held-out rows


def concordance(
    time: ArrayLike, event: ArrayLike, risk: ArrayLike, starts: ArrayLike, weights: ArrayLike | None = None
) -> Floats:
    """Harrell's C of each cell (rows ``starts[k] : starts[k + 1]``); Uno's with the weights of events.

    A pair is comparable if the earlier time is an event; at equal times an event precedes a censored row, and two
    events are no pair. Risks within 1e-8 tie, and count one half. ``nan`` without comparable pairs.
    """
    time, event, starts = np.asarray(time, np.float64), np.asarray(event, bool), frozen(starts, np.int64)
    weights = event.astype(np.float64) if weights is None else np.asarray(weights, np.float64) * event
    order = np.lexsort((~event, time, np.repeat(np.arange(starts.size - 1), np.diff(starts))))
    new = np.ones(order.size, dtype=bool)
    new[1:] = np.diff(time[order]) != 0
    values = np.empty(starts.size - 1)
    parts = (frozen(array, np.float64) for array in (event[order], np.asarray(risk)[order], weights[order]))
    _concordance(frozen(new, np.bool_), *parts, starts, values)
    return values


@kernel
def _concordance(new_time, event, risk, weights, starts, values):  # type: ignore[no-untyped-def]
    for cell in range(values.size):
        begin, end = starts[cell], starts[cell + 1]
        good, pairs, later = 0.0, 0.0, begin
        for i in range(begin, end):
            if i == begin or new_time[i]:
                later = i  # the first row that is comparable with the events of this time
                while later < end and event[later] > 0 and (later == i or not new_time[later]):
                    later += 1
            if weights[i] > 0:
                higher, tied = 0, 0
                for k in range(later, end):
                    apart = risk[i] - risk[k]
                    higher += apart > TIED
                    tied += abs(apart) <= TIED
                good += weights[i] * (higher + 0.5 * tied)
                pairs += weights[i] * (end - later)
        values[cell] = good / pairs if pairs > 0 else np.nan


def survival_effects(
    columns: Floats, y: NDArray[Any], tests: Sequence[Ints], splits: Ints, features: Ints, effects: Floats
) -> None:
    """Set the effects of features on held-out rows: the log hazard ratio per standard deviation, and Harrell's C.

    The hazard ratio is that of one Newton step from 0: always finite, where the likelihood of few events has often no
    maximum. Standard deviations are those of all rows, so that splits agree.
    """
    rows = sort_rows(y)
    known, spread = np.isfinite(columns).any(axis=1), np.zeros(len(columns))
    spread[known] = np.nanstd(columns[known], axis=1)
    starts = np.concatenate([[0], np.cumsum([test.size for test in tests])])
    position = np.empty(len(y), np.int64)
    position[rows.order] = np.arange(len(y))
    held_out = np.concatenate([np.sort(position[test]) for test in tests])
    _effects(
        frozen(columns[:, rows.order], np.float64), spread, *rows[1:], frozen(held_out, np.int64),
        frozen(starts, np.int64), frozen(splits, np.int64), frozen(features, np.int64), effects,
    )  # fmt: skip


@summing_kernel
def _effects(columns, spread, event, stratum, new_time, tests, starts, splits, features, effects):  # type: ignore[no-untyped-def]
    most = 0
    for split in range(starts.size - 1):
        most = max(most, starts[split + 1] - starts[split])
    index, flags = np.empty(most, np.int64), np.empty(most, np.int64)
    weight, events, deaths, x, f = np.empty(most), np.empty(most), np.empty(most), np.empty(most), np.zeros(most)
    r, square, gain = np.empty(most), np.empty(most), np.empty(most)
    for cell in range(splits.size):
        n, n_events = 0, 0.0
        column, scale = columns[features[cell]], spread[features[cell]]
        for at in range(starts[splits[cell]], starts[splits[cell] + 1]):
            value = column[tests[at]]
            if np.isfinite(value):
                index[n], x[n] = tests[at], value
                n_events += event[tests[at]]
                n += 1
        effects[cell] = np.nan
        if n < 2 or n_events == 0 or not scale > 0:
            continue
        for i in range(n):
            weight[i] = 1.0
            events[i] = event[index[i]]
        mark_rows(index[:n], weight, event, stratum, new_time, deaths, flags)
        evaluate(n, f, weight, events, deaths, flags, r, square, gain)
        slope, middle = 0.0, 0.0
        for i in range(n):
            middle += x[i] / n
        for i in range(n):
            slope += r[i] * (x[i] - middle)
        bend = curvature(n, x, gain, square)
        if bend > VARIES * n * scale * scale:
            effects[cell, 0] = slope / bend * scale
        good, pairs, later = 0.0, 0.0, 0
        for i in range(n):
            if i == 0 or flags[i] & NEW_TIME:
                later = i
                while later < n and events[later] > 0 and (later == i or not flags[later] & NEW_TIME):
                    later += 1
            if events[i] > 0:
                for k in range(later, n):
                    if flags[k] & FIRST and k > i:
                        break
                    good += 0.5 * (x[i] > x[k]) + 0.5 * (x[i] >= x[k])
                    pairs += 1
        if pairs > 0:
            effects[cell, 1] = good / pairs
