"""Nearest neighbors of whole blocks, with the predictions of scikit-learn's classes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from holdfast.kernels.jit import frozen
from holdfast.kernels.neighbors import neighbor_means, neighbor_votes
from holdfast.models.block import Block, Predictions
from holdfast.models.layout import count_columns, lay_out_cells
from holdfast.models.parameters import is_count, is_none, is_number_or_none, one_of

PARAMETERS = {
    "n_neighbors": is_count,
    "weights": one_of("uniform", "distance"),
    "algorithm": one_of("auto", "ball_tree", "kd_tree", "brute"),
    "leaf_size": is_count,
    "p": one_of(2, 2.0),
    "metric": one_of("minkowski", "euclidean"),
    "metric_params": is_none,
    "n_jobs": is_number_or_none,
}
"""Parameters of both classes, and the values that are understood."""

MOST_COLUMNS_OF_A_TREE = 15
"""Columns up to which scikit-learn's ``algorithm="auto"`` searches a tree, with fewer neighbors than half the rows."""


@dataclass(frozen=True)
class Neighbors:
    """KNeighborsClassifier or KNeighborsRegressor with Euclidean distances.

    Attributes
    ----------
    parameters : mapping
        As scikit-learn's class has them.
    scaling : int
        How columns are scaled before, as :mod:`holdfast.kernels.scaling` numbers it.
    answers : frozenset of str
        What the model answers.
    exactness : str
        Predictions, probabilities and tie-breaks equal scikit-learn's.
    """

    parameters: Mapping[str, Any]
    scaling: int
    answers: frozenset[str]
    exactness: Literal["identical"] = "identical"

    def predict(self, block: Block, wanted: Collection[str]) -> tuple[Predictions, NDArray[np.bool_]]:
        """Predict the held-out rows of all cells; also tells which cells scikit-learn must answer."""
        cells, n = lay_out_cells(block), int(block.starts[-1])
        given_up = np.zeros(block.n_cells, np.bool_)
        k, by_distance = int(self.parameters["n_neighbors"]), self.parameters["weights"] == "distance"
        options = k, self.scaling, by_distance, self._searches_trees(block)
        if "predict_proba" not in self.answers:
            numbers = np.zeros(n)
            neighbor_means(cells, frozen(block.y, np.float64), *options, numbers, given_up)
            return Predictions(block.starts, numbers), given_up
        labels, shares = np.zeros(n, np.int64), np.zeros((n, block.n_classes))
        label_only = "predict_proba" not in wanted
        neighbor_votes(cells, frozen(block.y, np.int64), *options, label_only, labels, shares, given_up)
        return Predictions(block.starts, labels, predict_proba=None if label_only else shares), given_up

    def _searches_trees(self, block: Block) -> NDArray[np.bool_]:
        """Whether scikit-learn would search a tree, whose distances are exactly 0 between equal rows."""
        algorithm = self.parameters["algorithm"]
        if algorithm != "auto":
            return np.full(block.n_cells, algorithm != "brute")
        narrow = count_columns(block) <= MOST_COLUMNS_OF_A_TREE
        few = self.parameters["n_neighbors"] < block.counts.sum(axis=1) // 2
        return narrow & few[block.splits]
