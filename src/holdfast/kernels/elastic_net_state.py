"""What the elastic-net solver keeps in memory: plain arrays, grouped by what they describe.

Compiled code cannot change a number in a tuple, so single numbers stand in small arrays, at the places named here.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
