"""Compile every kernel once, so that nobody waits for it later: ``python -m holdfast.kernels``."""

import numpy as np

from holdfast.kernels import information, intersections, ridge, stand_ins, svm


def main() -> None:
    """Call each kernel on a tiny example."""
    indices, indptr = np.array([0, 1, 1, 2], np.int32), np.array([0, 2, 4])
    for array in (indices, indptr):
        array.flags.writeable = False  # as Preferences keeps them: another array type is another compilation
    layout = intersections.plan(indices, indptr, 3)
    for start, shared in intersections.intersection_blocks(layout):
        intersections.group_pairs(start, shared, np.zeros(2, np.int64), 1, 3)
    one = np.zeros(1, np.int64)
    neighbours = np.array([0, 1, 1, 1]), np.array([2], np.int32), np.ones(1)
    stand_ins.stand_in_counts(indices, indptr, one, one + 1, neighbours, 3, matching=True, greedy=True)
    stand_ins.random_sets(np.full((2, 1), 0.5), 3)
    information.symmetrical_uncertainty(information.equal_width_codes(np.eye(2), 2), one, one)
    ridge.ridge_elimination(np.eye(2), np.array([1, -1]))
    svm.svm_elimination(np.eye(2), np.array([1, -1]))


if __name__ == "__main__":
    main()
