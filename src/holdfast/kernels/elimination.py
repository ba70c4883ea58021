"""The path of one resample, whatever the model: its Gram matrix from step to step, the cut, the record.

The kernels of :mod:`~holdfast.kernels.ridge` and :mod:`~holdfast.kernels.svm` compile these steps in. For each resample
they call, in this order:

    begin → first_gram → (fit → weigh → record → cut → next_gram) for each size → finish

What the arrays of :class:`Room` hold, for n rows, p columns at the start, and s columns that are active now:

- ``places[:s]`` are the active columns, ascending, as places 0 … p − 1 in ``Z.column``; ``w[:s]`` their weights of Z.
  The weights of X's standardized columns are w · β⁻¹ for forced ones (β is the shrinkage), w for others: Z holds the
  forced columns divided by β, so that the penalty is ½‖w‖² for all.
- ``K`` is the lower triangle of ZZᵀ over the resample's rows (rows that it did not draw are not in it) and the active
  columns; it is only there with more features than rows. After a cut the dropped columns are subtracted, or, where they
  are most or where subtraction would leave less than ``LOST`` of a diagonal entry, K is built anew.
- ``dropped`` holds the columns that the last cut took away.

The cut (:func:`cut`): forced columns stay, constant ones (``Z.factor`` 0) fall first, the others stay by falling |w|.
Weights within a share ``TIE`` of the one at the edge tie and stay by their turn in ``tie_order``. The lock-step form
has the same rule on rectangular arrays (:func:`holdfast.kernels.lockstep.mask_kept`): change both.

What may be changed: anything, as long as ``tests/test_ridge.py`` and ``tests/test_svm.py`` (optimum, exactness),
``tests/test_ties.py`` (turns) and ``tests/test_lockstep.py`` (both forms take the same paths) pass. Sums must not call
BLAS, and loops stay loops: array expressions take numba ten times as long to compile.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from holdfast.kernels.jit import frozen, summing_step
from holdfast.kernels.linear import add_gram, fill, padded, panel, square, standardize, vector, weights_of
from holdfast.kernels.tolerances import LOST, TIE, check_squares, column_units

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Scale = Literal["split", "full"]


def check_rows(X: ArrayLike, y: ArrayLike, counts: ArrayLike | None) -> tuple[Floats, Floats, Floats]:
    """Return X (n × d), labels −1 and 1 (n) and counts (M × n, all rows once if not given) as numbers."""
    X = np.asarray(X, dtype=np.float64)
    y, counts = check_labels(X.shape, y, counts)
    check_finite(X)
    return X, y, counts


def check_finite(X: Floats) -> None:
    """Raise if a number is not finite."""
    if not np.isfinite(X).all():
        raise ValueError(f"Expected finite numbers in X, got {np.count_nonzero(~np.isfinite(X))} that are not.")


def check_labels(shape: tuple[int, ...], y: ArrayLike, counts: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return labels −1 and 1 (n) and counts (M × n, all rows once if not given) that go with an X of this shape."""
    y = np.asarray(y, dtype=np.float64)
    counts = np.ones((1, len(y))) if counts is None else np.atleast_2d(np.asarray(counts, dtype=np.float64))
    if len(shape) != 2 or y.shape != shape[:1] or counts.shape[1:] != y.shape:
        raise ValueError(f"Expected X of n × d, n labels and M × n counts, got {shape}, {y.shape} and {counts.shape}.")
    if not np.isin(y, (-1, 1)).all():
        raise ValueError(f"Expected labels −1 and 1, got {y[~np.isin(y, (-1, 1))][0]:g}.")
    if not (np.isfinite(counts) & (counts >= 0)).all():
        raise ValueError("Expected counts that are finite and not negative.")
    _check_classes(y, counts)
    return y, counts


def _check_classes(y: Floats, counts: Floats) -> None:
    for label in (-1, 1):
        missing = np.flatnonzero(counts[:, y == label].sum(axis=1) == 0)
        if missing.size:
            raise ValueError(
                f"Expected rows of both classes in every resample, got none with label {label} in resample "
                f"{missing[0]} ({missing.size} such resamples). Draw resamples by class."
            )


def check_columns(columns: ArrayLike | None, n_columns: int, n_resamples: int) -> Ints:
    """Return the columns that paths start from, 1 or M × p; all if not given."""
    if columns is None:
        return np.arange(n_columns)[None]
    start = np.atleast_2d(np.asarray(columns, dtype=np.int64))
    if len(start) not in (1, n_resamples) or start.shape[1] == 0:
        raise ValueError(f"Expected columns for all or each of {n_resamples} resamples, got shape {start.shape}.")
    if start.min() < 0 or start.max() >= n_columns or (np.diff(start, axis=1) <= 0).any():
        raise ValueError(f"Expected columns that ascend within 0 … {n_columns - 1}.")
    return start


def check_sizes(sizes: ArrayLike | None, n_features: int) -> Ints:
    """Return the sizes that a path passes; only that of all features if not given."""
    passed = np.array([n_features] if sizes is None else sizes, dtype=np.int64)
    if passed.ndim != 1 or passed[0] != n_features or passed[-1] < 1 or (np.diff(passed) >= 0).any():
        raise ValueError(f"Expected sizes that fall from {n_features} features, got {passed}; see elimination_sizes().")
    return passed


def check_forced(forced: ArrayLike | None, n_columns: int, n_resamples: int, n_kept: int) -> Mask:
    """Return the mask of features that may not fall, 1 or M × p; none if not given."""
    mask = np.zeros((1, n_columns), bool) if forced is None else np.atleast_2d(np.asarray(forced, dtype=bool))
    if len(mask) not in (1, n_resamples) or mask.shape[1] != n_columns:
        raise ValueError(
            f"Expected forced features as a mask over {n_columns} columns for all or each of {n_resamples} "
            f"resamples, got shape {mask.shape}."
        )
    check_n_forced(mask, n_kept)
    return mask


def check_n_forced(forced: Mask, n_kept: int) -> None:
    """Raise if more features are forced, along the last axis, than are kept."""
    most = int(forced.sum(axis=-1).max())
    if most > n_kept:
        raise ValueError(f"Expected at most {n_kept} forced features, as many as are kept, got {most}.")


def check_tie_order(tie_order: ArrayLike | None, n_columns: int, n_resamples: int) -> NDArray[np.int32]:
    """Return the turn of each column among equally good ones, 1 or M × p; by column if not given."""
    turns = np.atleast_2d(np.asarray(np.arange(n_columns) if tie_order is None else tie_order, dtype=np.int32))
    if len(turns) not in (1, n_resamples) or turns.shape[1] != n_columns:
        raise ValueError(
            f"Expected the turns of {n_columns} columns for all or each of {n_resamples} resamples, got shape "
            f"{turns.shape}."
        )
    return turns


def check_costs(C: ArrayLike) -> Floats:
    """Return the weights of the loss, one for each setting; positive numbers whose squares can be computed."""
    costs = np.atleast_1d(np.asarray(C, dtype=np.float64))
    for cost in costs[~((costs >= 1e-100) & (costs <= 1e100))]:
        raise ValueError(f"Expected a positive C, from 1e-100 to 1e100, got {cost}.")
    return costs


def check_shrinkages(shrinkage: ArrayLike) -> Floats:
    """Return the factors of the forced features' weights in the penalty, one for each setting."""
    factors = np.atleast_1d(np.asarray(shrinkage, dtype=np.float64))
    for factor in factors[~((factors > 0) & (factors <= 1))]:
        raise ValueError(f"Expected a shrinkage in (0, 1], got {factor}.")
    return factors


class Scaled(NamedTuple):
    """Data as models take them, made once for all resamples and settings: see :func:`scale_data`."""

    XT: Floats  # d × n, contiguous
    shift: Floats  # d: XT was (x − shift) / unit before
    unit: Floats
    split: bool  # whether each resample standardizes its columns

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.XT.shape[1], self.XT.shape[0]

    @property
    def wide(self) -> bool:
        """Whether the Gram matrix of the rows is the smaller one."""
        return self.XT.shape[0] > self.XT.shape[1]


def scale_data(X: ArrayLike, scale: Scale) -> Scaled:
    """Check rows × features and scale the columns."""
    values = np.asarray(X, dtype=np.float64)
    check_finite(values)
    XT, shift, unit = scale_columns(np.ascontiguousarray(values.T), scale)
    for array in (XT, shift, unit):
        array.flags.writeable = False  # another type would be another compilation
    return Scaled(XT, shift, unit, scale == "split")


def scale_columns(XT: Floats, scale: Scale) -> tuple[Floats, Floats, Floats]:
    """Return columns (d × n), with the shift and unit of each that lead back: x = column · unit + shift.

    With ``"split"``, where each resample standardizes its columns, all are brought near 1 first, so that the resamples'
    moments have all their digits. ``"full"`` takes the data as they are. Sums go along the memory of ``XT``: its order
    decides their last digits.
    """
    if scale not in get_args(Scale):
        raise ValueError(f"Expected scale='split' or 'full', got {scale!r}.")
    if scale == "full":
        check_squares(XT)
        return XT, np.zeros(len(XT)), np.ones(len(XT))
    power = column_units(XT.T)
    XT = XT / power[:, None]
    shift = XT.mean(axis=1)
    XT -= shift[:, None]
    deviation = np.sqrt(np.mean(XT**2, axis=1))
    unit = np.where(deviation > 0, deviation, 1.0)
    XT /= unit[:, None]
    return XT, shift * power, unit * power


class Paths(NamedTuple):
    """Eliminations of M resamples, each from p features down to k.

    The set of size s that a path passed is ``kept_until <= s``. A weight belongs to columns as the model saw them:
    standardized if it scaled them. ``coef`` and ``intercept`` belong to X as it was handed in.
    """

    kept_until: NDArray[np.int32]  # M × p: size of the smallest set that has the feature
    weight: Floats  # M × p: its weight in that set's fit
    selected: Ints  # M × k: columns of the last set, ascending
    coef: Floats  # M × k
    intercept: Floats  # M


def elimination_sizes(n_features: int, n_kept: int, drop: float = 0.2) -> Ints:
    """Sizes that an elimination passes: each step drops ⌊drop · remaining⌋, at least one, and never passes ``n_kept``.

    From 1 on, ``drop`` is a whole number of features: 1 drops one at a time.

    >>> elimination_sizes(20, 5, 0.2)
    array([20, 16, 13, 11,  9,  8,  7,  6,  5])
    >>> elimination_sizes(5, 3, 1)
    array([5, 4, 3])
    """
    if not 1 <= n_kept <= n_features:
        raise ValueError(f"Expected to keep 1 to {n_features} features, got {n_kept}.")
    _check_drop(drop)
    sizes = [n_features]
    while sizes[-1] > n_kept:
        share = drop * sizes[-1] if drop < 1 else drop
        sizes.append(max(n_kept, sizes[-1] - max(1, math.floor(share + 1e-9))))  # 0.29 · 100 is 28.999…
    return np.array(sizes, dtype=np.int64)


def _check_drop(drop: Any) -> None:
    number = isinstance(drop, (int, float, np.integer, np.floating)) and not isinstance(drop, bool)
    if not (number and (0 < drop < 1 or (drop >= 1 and float(drop).is_integer()))):
        raise ValueError(
            f"Expected drop to be a share of the features below 1, or a whole number of features, got {drop!r}; drop=1 "
            "drops one at a time."
        )


def orders(paths: Paths, tie_order: ArrayLike | None = None) -> NDArray[np.int32]:
    """Features of each path from the last to the first to fall; of one step by falling |weight|, then by their turn.

    ``tie_order`` holds the turn of each column, for all or each of the resamples; by column if not given.
    """
    n_resamples, n_columns = paths.weight.shape
    turns = np.broadcast_to(check_tie_order(tie_order, n_columns, n_resamples), (n_resamples, n_columns))
    return first_of_orders(paths.kept_until, paths.weight, n_columns, turns.__getitem__, range(n_resamples))


def first_of_orders(
    kept_until: NDArray[Any],
    weight: NDArray[Any],
    size: int,
    turns: Callable[[int], NDArray[np.int32]],
    resample: Sequence[int],
    names: NDArray[Any] | None = None,
) -> NDArray[np.int32]:
    """Return the ``size`` features of each path that fall last, in the order of :func:`orders`.

    Parameters
    ----------
    kept_until, weight
        Paths × features, as in :class:`Paths`.
    size
        One that all paths passed.
    turns
        Gives the turn of each feature in a resample; asked for where features tie.
    resample
        The resample of each path.
    names
        Features of each path, if ``kept_until`` and ``weight`` are of some only.
    """
    n_paths, n_columns = weight.shape
    columns: NDArray[Any] = np.broadcast_to(np.arange(n_columns) if names is None else names, weight.shape)
    step: NDArray[Any] = kept_until
    if size < n_columns:
        left = np.nonzero(kept_until <= size)[1].reshape(n_paths, size)
        step, weight = (np.take_along_axis(values, left, axis=1) for values in (kept_until, weight))
        columns = left if names is None else np.take_along_axis(names, left, axis=1)
    weight = np.abs(weight)
    order = np.lexsort((-weight, step), axis=1)
    columns, step, weight = (np.take_along_axis(values, order, axis=1) for values in (columns, step, weight))
    apart = (step[:, 1:] != step[:, :-1]) | (weight[:, :-1] - weight[:, 1:] > TIE * weight[:, :-1])
    for path in np.flatnonzero(~apart.all(axis=1)).tolist():
        group = np.concatenate([[0], np.cumsum(apart[path])])
        own = turns(resample[path])[columns[path]]
        columns[path] = columns[path][np.lexsort((own, group))]
    return columns.astype(np.int32)


def on_scale_of_data(coef: Floats, intercept: Floats, shift: Floats, unit: Floats) -> tuple[Floats, Floats]:
    """Turn weights of columns (x − shift) / unit, along the last axis, and their intercepts into those of x."""
    with np.errstate(over="ignore", invalid="ignore"):  # weights of tiny numbers, which not every caller needs
        coef = coef / unit
        moved = np.cumsum(coef * shift, axis=-1)[..., -1]  # one term after the other, whatever stands beside a row
        return coef, intercept - moved


def check_solved(model: str, unsolved: Ints, max_iter: int) -> None:
    """Raise if a fit was given up: ``unsolved`` has its number of features, else 0, by (setting and) resample."""
    if unsolved.any():
        *setting, resample = np.argwhere(unsolved)[0]
        which = f"resample {resample} at {unsolved[*setting, resample]} features" + "".join(
            f" of setting {number}" for number in setting
        )
        raise ArithmeticError(
            f"The {model} fit did not reach its optimum within {max_iter} iterations in {which} "
            f"({np.count_nonzero(unsolved)} such paths). Scale the columns, or take a C nearer to 1."
        )


def unsolved_error(model: str, size: int, max_iter: int = 1000) -> ArithmeticError:
    """The error of a single path whose fit on so many features was given up."""
    try:
        check_solved(model, np.array([size]), max_iter)
    except ArithmeticError as error:
        return error
    raise ValueError("Expected a number of features, got 0.")


class Layout(NamedTuple):
    """Arrays as the kernels take them: contiguous, of one type each, read-only, so that each is compiled once."""

    XT: Floats  # d × n
    y: Floats
    counts: Floats  # M × n
    columns: Ints  # 1 or M × p: where each path starts
    forced: NDArray[np.bool_]  # 1 or M × p: which of them may not fall
    sizes: Ints
    tie_order: NDArray[np.int32]  # 1 or M × p: the turn of each column among equally good ones
    shift: Floats  # d: X was (x − shift) / unit before
    unit: Floats

    @property
    def wide(self) -> bool:
        """Whether the Gram matrix of the rows is the smaller one."""
        return self.XT.shape[0] > self.XT.shape[1]


def lay_out(
    X: ArrayLike,
    y: ArrayLike,
    counts: ArrayLike | None,
    sizes: ArrayLike | None,
    columns: ArrayLike | None,
    forced: ArrayLike | None,
    scale: Scale,
    tie_order: ArrayLike | None = None,
) -> Layout:
    """Check what an elimination is given and lay it out."""
    X, y, counts = check_rows(X, y, counts)
    n_resamples = len(counts)
    start = check_columns(columns, X.shape[1], n_resamples)
    p = start.shape[1]
    passed = check_sizes(sizes, p)
    held = check_forced(forced, p, n_resamples, int(passed[-1]))
    turns = check_tie_order(tie_order, p, n_resamples)
    XT, shift, unit = scale_columns(np.ascontiguousarray(X.T), scale)
    arrays: tuple[NDArray[Any], ...] = (XT, y, counts, start, held, passed, turns, shift, unit)
    return Layout(*(frozen(array, array.dtype) for array in arrays))


class Outcome(NamedTuple):
    """What a kernel writes."""

    kept_until: NDArray[np.int32]  # M × p
    weight: Floats  # M × p
    coef: Floats  # M × k, of the columns of XT
    intercept: Floats  # M
    unsolved: Ints  # M: number of features of the fit that was given up, or 0


def empty_outcome(layout: Layout) -> Outcome:
    """Make room for what a kernel writes."""
    M, p, k = len(layout.counts), layout.columns.shape[1], layout.sizes[-1]
    return Outcome(np.empty((M, p), np.int32), np.empty((M, p)), np.empty((M, k)), np.empty(M), np.zeros(M, np.int64))


def collect_paths(model: str, layout: Layout, outcome: Outcome, max_iter: int) -> Paths:
    """Put what a kernel wrote into terms of X as it was handed in; raise if it gave a fit up."""
    kept_until, weight, coef, intercept, unsolved = outcome
    check_solved(model, unsolved, max_iter)
    last = kept_until == layout.sizes[-1]
    selected = np.broadcast_to(layout.columns, last.shape)[last].reshape(coef.shape)
    return Paths(
        kept_until,
        weight,
        selected,
        *on_scale_of_data(coef, intercept, layout.shift[selected], layout.unit[selected]),
    )


class Room(NamedTuple):
    """Arrays that every path of a call uses again; see the top of this module."""

    K: NDArray[np.float64]  # Gram matrix of the path's rows
    shared: NDArray[np.float64]  # of all rows and columns, or empty
    L: NDArray[np.float64]  # room for a factor
    R: NDArray[np.float64]  # room for a chunk of rows of Z
    places: NDArray[np.int64]  # of the active columns, ascending
    dropped: NDArray[np.int64]
    w: NDArray[np.float64]  # weights of the active columns
    scratch: NDArray[np.float64]
    spread: NDArray[np.float64]  # over all rows of X
    diagonal: NDArray[np.float64]  # of K when it was built


@summing_step
def room_for(Z, n, wide, shared):  # type: ignore[no-untyped-def]
    """Make room for paths from these columns on up to n rows; with the shared Gram matrix if there is to be one."""
    p = Z.column.size
    side = n if wide else p
    room = Room(
        square(n if wide else 0), square(n if shared else 0), square(side), panel(side),
        np.arange(p), np.empty(p, np.int64), vector(p), vector(p), vector(n), vector(n),
    )  # fmt: skip
    if shared:
        _build(room.shared, Z, room.places, np.arange(n), room.R)
    return room


@summing_step
def begin(room, Z, counts, forced, shrinkage, split):  # type: ignore[no-untyped-def]
    """Set Z for a resample, all columns active; divide the forced by their shrinkage β, for the penalty ½β²w²."""
    fill(Z.mean, 0.0)
    fill(Z.factor, 1.0)
    if split:
        standardize(Z, counts)
    for place in range(forced.size):
        room.places[place] = place
        if forced[place]:
            Z.factor[place] /= shrinkage
    fill(room.w, 0.0)
    fill(room.spread, 0.0)


@summing_step
def first_gram(room, Z, rows, forced, shrinkage):  # type: ignore[no-untyped-def]
    """Set K for all columns."""
    if room.shared.size == 0:
        _build(room.K, Z, room.places, rows, room.R)
    else:
        for i in range(rows.size):
            for j in range(i + 1):
                room.K[i, j] = room.shared[rows[i], rows[j]]
        if shrinkage != 1:
            _reweigh(room, Z, rows, np.flatnonzero(forced), shrinkage)
    _note_diagonal(room, rows.size)


@summing_step
def begin_resample(room, Z, counts, rows, split, in_dual, start, scale):  # type: ignore[no-untyped-def]
    """Set what all paths of a resample start from: Z's mean and factor (also as ``scale``), and its Gram matrix.

    Nothing is divided by a shrinkage yet.
    """
    fill(Z.mean, 0.0)
    fill(Z.factor, 1.0)
    if split:
        standardize(Z, counts)
    for place in range(Z.column.size):
        room.places[place] = place
        scale[place] = Z.factor[place]
    if in_dual and room.shared.size == 0:
        _build(start, Z, room.places, rows, room.R)
    elif in_dual:
        for i in range(rows.size):
            for j in range(i + 1):
                start[i, j] = room.shared[rows[i], rows[j]]


@summing_step
def begin_path(room, Z, forced, shrinkage, scale):  # type: ignore[no-untyped-def]
    """All columns are active; divide the forced by their shrinkage β, for the penalty ½β²w²."""
    for place in range(forced.size):
        room.places[place] = place
        Z.factor[place] = scale[place] / shrinkage if forced[place] else scale[place]
    fill(room.w, 0.0)
    fill(room.spread, 0.0)


@summing_step
def start_gram(room, Z, rows, forced, shrinkage, start):  # type: ignore[no-untyped-def]
    """Set K for all columns, from that of its resample."""
    for i in range(padded(rows.size)):
        for j in range(i + 1):
            room.K[i, j] = start[i, j]
    if shrinkage != 1:
        _reweigh(room, Z, rows, np.flatnonzero(forced), shrinkage)
    _note_diagonal(room, rows.size)


@summing_step
def next_gram(room, Z, rows, n_active, n_dropped):  # type: ignore[no-untyped-def]
    """Take what was dropped out of K, or build it anew where that is cheaper or the difference would lose digits."""
    if n_dropped < n_active:
        add_gram(room.K, Z, room.dropped[:n_dropped], rows, -1.0, room.R)
        if _has_its_digits(room, rows.size):
            return
    _build(room.K, Z, room.places[:n_active], rows, room.R)
    _note_diagonal(room, rows.size)


@summing_step
def _note_diagonal(room, n):  # type: ignore[no-untyped-def]
    for i in range(n):
        room.diagonal[i] = room.K[i, i]


@summing_step
def _has_its_digits(room, n):  # type: ignore[no-untyped-def]
    least = 1.0
    for i in range(n):
        least = min(least, room.K[i, i] / room.diagonal[i] if room.diagonal[i] > 0 else 1.0)
    return least > LOST


@summing_step
def _reweigh(room, Z, rows, places, shrinkage):  # type: ignore[no-untyped-def]
    """Give the forced columns in K, which the shared matrix has undivided, their factor."""
    for sign in (-1.0, 1.0):
        for q in range(places.size):
            Z.factor[places[q]] *= shrinkage if sign < 0 else 1 / shrinkage
        add_gram(room.K, Z, places, rows, sign, room.R)


@summing_step
def _build(K, Z, places, rows, R):  # type: ignore[no-untyped-def]
    for i in range(padded(rows.size)):
        fill(K[i], 0.0)
    add_gram(K, Z, places, rows, 1.0, R)


@summing_step
def weigh(room, Z, n_active, rows, a):  # type: ignore[no-untyped-def]
    """Set the weights of the active columns from dual variables of these rows."""
    for i in range(rows.size):
        room.spread[rows[i]] = a[i]
    weights_of(Z, room.places[:n_active], room.spread, room.w)


@summing_step
def record(room, n_active, forced, shrinkage, kept_until, weight):  # type: ignore[no-untyped-def]
    """Note the weights of the active columns, of X and not of Z, and that they got as far as here."""
    for q in range(n_active):
        place = room.places[q]
        weight[place] = room.w[q] / (shrinkage if forced[place] else 1.0)
        kept_until[place] = n_active


@summing_step
def finish(room, Z, n_active, b, coef):  # type: ignore[no-untyped-def]
    """Set the coefficients of X that the weights of Z amount to; returns the intercept."""
    for q in range(n_active):
        place = room.places[q]
        coef[q] = room.w[q] * Z.factor[place]
        b -= coef[q] * Z.mean[place]
    return b


@summing_step
def cut(room, Z, n_active, n_kept, forced, tie_order):  # type: ignore[no-untyped-def]
    """Keep the forced and the largest weights, ties by their turn in ``tie_order``; list what falls in ``dropped``."""
    places, w, sizes = room.places, room.w, room.scratch
    n_free = 0
    for q in range(n_active):
        if not forced[places[q]]:
            sizes[n_free] = _size(Z, places[q], w[q])
            n_free += 1
    room_for_free = n_kept - (n_active - n_free)
    edge = _kth_largest(sizes[:n_free], room_for_free) if room_for_free > 0 else np.inf
    above, below = edge + TIE * abs(edge), edge - TIE * abs(edge) if room_for_free > 0 else np.inf
    for q in range(n_free):
        room_for_free -= sizes[q] > above
    last_turn = _last_turn(room, Z, n_active, forced, below, above, tie_order, room_for_free)
    kept, fallen = 0, 0
    for q in range(n_active):
        place = places[q]
        size = np.inf if forced[place] else _size(Z, place, w[q])
        tied = below <= size <= above and tie_order[place] <= last_turn
        if tied or size > above or forced[place]:
            places[kept], w[kept] = place, w[q]
            kept += 1
        else:
            room.dropped[fallen] = place
            fallen += 1


@summing_step
def _last_turn(room, Z, n_active, forced, below, above, tie_order, n_wanted):  # type: ignore[no-untyped-def]
    """The turn of the last of so many tied features that is kept; those of a later turn fall."""
    places, turns, n_tied = room.places, room.scratch, 0
    for q in range(n_active):
        if not forced[places[q]] and below <= _size(Z, places[q], room.w[q]) <= above:
            turns[n_tied] = -tie_order[places[q]]
            n_tied += 1
    if n_wanted <= 0:
        return -1.0
    return -_kth_largest(turns[:n_tied], n_wanted) if n_wanted < n_tied else np.inf


@summing_step
def _size(Z, place, w):  # type: ignore[no-untyped-def]
    """What a column is judged by; constant ones are worse than any other."""
    return abs(w) if Z.factor[place] > 0 else -1.0


@summing_step
def _kth_largest(values, k):  # type: ignore[no-untyped-def]
    """Quickselect, in place; every turn leaves out the pivot at least."""
    low, high, target, pivot = 0, values.size, values.size - k, np.nan
    for _ in range(values.size):
        pivot = values[(low + high) // 2]
        equal = _partition(values, low, high, pivot, False)
        if target < equal:
            high = equal
            continue
        above = _partition(values, equal, high, pivot, True)
        if target < above:
            break
        low = above
    return pivot


@summing_step
def _partition(values, low, high, pivot, inclusive):  # type: ignore[no-untyped-def]
    """Move what is below (or equal to) the pivot to the front, without a branch to mispredict; returns its end."""
    end = low
    for i in range(low, high):
        value = values[i]
        values[i] = values[end]
        values[end] = value
        end += value < pivot or (inclusive and value == pivot)
    return end
