"""Compile every kernel once, so that nobody waits for it later: ``python -m holdfast.kernels``."""

from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels import (
    cox,
    effects,
    elastic_net,
    filters,
    information,
    intersections,
    linear,
    neighbors,
    regression,
    ridge,
    ridge_targets,
    svm,
)
from holdfast.kernels.elimination import scale_data
from holdfast.kernels.jit import frozen
from holdfast.kernels.linear import UNSCALED, Cells

TIMES = np.array([(True, time) for time in range(4)], dtype=[("event", np.bool_), ("time", np.float64)])


def main() -> None:
    """Call each kernel on a tiny example."""
    indices, indptr = np.array([0, 1, 1, 2], np.int32), np.array([0, 2, 4])
    for array in (indices, indptr):
        array.flags.writeable = False  # as Preferences keeps them: another array type is another compilation
    layout = intersections.plan(indices, indptr, 3)
    for start, shared in intersections.intersection_blocks(layout):
        intersections.group_pairs(start, shared, np.zeros(2, np.int64), 1, 3)
    first = np.zeros(1, np.int64)
    neighbors = np.array([0, 1, 1, 1]), np.array([2], np.int32), np.ones(1)
    intersections.stand_in_counts(indices, indptr, first, first + 1, neighbors, 3, matching=True, greedy=True)
    intersections.random_sets(np.full((2, 1), 0.5), 3)
    intersections.move_shares(np.eye(2), np.ones(2), np.ones(2))
    _compile_selectors(np.eye(4), np.array([0, 0, 1, 1]))
    _compile_models(np.eye(4), np.array([0, 1, 0, 1]))
    effects.held_out_effects(np.eye(4), TIMES, 0, [np.arange(4)], first, first)
    for n_classes in (2, 0):
        effects.held_out_effects(np.eye(4), np.array([0, 0, 1, 1]), n_classes, [np.arange(4)], first, first)


def _compile_selectors(X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    counts, signs = np.ones((1, 4)), 2.0 * y - 1
    codes = information.equal_width_codes(X, 10, np.arange(4))
    information.selection_path(information.make_sample(codes, counts[0]), y, 2)
    information.information(information.make_sample(information.mdl_codes(information.sort_columns(X), y)), y)
    for ranges in (neighbors.split_ranges(X, counts[0]), neighbors.shared_ranges(frozen(X, np.float64))):
        neighbors.weigh_features(ranges, y, counts[0])
    filters.class_moments(filters.centered(X, y))
    masks, ranks = frozen(np.ones((4, 4)), np.bool_), frozen(np.empty((0, 0)), np.int32)
    best = np.empty((4, 1), np.int32), np.zeros((4, 1), np.bool_), np.zeros(4, np.int64)
    filters.best_of_rows(frozen(X, np.float64), masks, ranks, 1, 0.0, 0.0, *best)
    filters.partial_f(filters.adjusted(X, np.eye(4, 1), np.empty((4, 0))))
    ridge.ridge_models(scale_data(X, "split"), signs, counts, [0], [[0]], 1.0)
    for family in get_args(ridge_targets.Family):
        objective = ridge_targets.Objective(family, 1 if family in ("numbers", "cox") else 2)
        target: NDArray[Any] = TIMES if family == "cox" else y
        ridge_targets.output_models(objective, scale_data(X, "split"), target, counts, [0], [[0]], 1.0)
    linear.linear_values(X, [0], [0, 1], [0], [0, 1], [1.0], [0.0])
    svm.svm_elimination(X, signs)
    elastic_net.elastic_net_paths(X, signs, counts, family="logistic", n_lambdas=2, predict=True)
    rows = cox.sort_rows(TIMES)
    cox.score_tests(frozen(X, np.float64), rows, counts)
    cox.column_concordances(frozen(X, np.float64), rows, counts)
    cox.concordance(TIMES["time"], TIMES["event"], X[0], [0, 4])
    elastic_net.elastic_net_paths(X, TIMES, counts, family="cox", n_lambdas=2)


def _compile_models(X: NDArray[np.float64], y: NDArray[np.int64]) -> None:
    """Call each kernel of recognized models on one cell: two rows to train on, two held out, one column."""
    integers = [[1, 1, 0, 0]], [2, 3], [0, 2], [0], [0], [0, 1], [0, 2]
    cells = Cells(frozen(X, np.float64), *(frozen(values, np.int64) for values in integers))
    classes, numbers, fallback = frozen(y, np.int64), frozen(y, np.float64), np.zeros(1, np.bool_)
    options = 1, UNSCALED, False, np.ones(1, np.bool_)
    neighbors.neighbor_votes(cells, classes, *options, True, np.zeros(2, np.int64), np.zeros((2, 2)), fallback)
    neighbors.neighbor_means(cells, numbers, *options, np.zeros(2), fallback)
    for wide in (None, True):
        results = np.zeros(2), np.zeros(1), np.zeros(1, np.bool_)
        regression.logistic_margins(cells, classes, 1.0, True, UNSCALED, *results, wide)
        regression.ridge_values(cells, numbers, 1.0, 0.0, True, UNSCALED, *results, wide)
    svm.svm_margins(cells, classes, 1.0, UNSCALED, np.zeros(2), np.zeros(1), np.zeros(1, np.bool_))
    svm.squared_hinge_margins(cells, classes, 1.0, 1.0, UNSCALED, np.zeros((2, 1)), np.zeros(1), np.zeros(1, np.bool_))
    regression.ridge_risks(cells, TIMES, 1.0, UNSCALED)
    linear.training_spreads(np.eye(4), np.ones((1, 4)), np.zeros(1, np.int64), np.zeros(1, np.int64))
    regression.softmax_margins(cells, classes, 1.0, True, UNSCALED, np.zeros((2, 2)), np.zeros(1, np.bool_))


if __name__ == "__main__":
    main()
