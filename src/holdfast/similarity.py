"""Similarity of features: absolute correlation, symmetrical uncertainty, or a matrix of your own.

Every similarity has two methods, and computes only what they need: the dense block between some features
(:meth:`~FeatureSimilarity.block`), and the sparse matrix of all pairs at or above a threshold
(:meth:`~FeatureSimilarity.above`), built block by block so that no dense features × features matrix exists.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast.checks import Matrix, Names, as_finite_floats, find_names
from holdfast.kernels import information

__all__ = ["Correlation", "FeatureSimilarity", "GivenSimilarity", "SymmetricalUncertainty"]

Indices = NDArray[np.int64]

BLOCK_ENTRIES = 1 << 22
"""Number of entries of a dense block in memory."""
REMEMBERED = 1000
"""Number of features up to which a similarity that takes long keeps what it computed."""


class FeatureSimilarity(ABC):
    """Base class of similarities of features: numbers in [0, 1], 1 for a feature with itself.

    Attributes
    ----------
    n_features : int
        Number of features.
    names : tuple of str or None
        Their names, if they have any: used to line the similarity up with the selections.

    See Also
    --------
    Correlation : Absolute correlation.
    SymmetricalUncertainty : Symmetrical uncertainty on bins.
    GivenSimilarity : A matrix of your own.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.similarity import FeatureSimilarity
    >>> class SameParity(FeatureSimilarity):
    ...     n_features, names = 4, None
    ...
    ...     def block(self, rows, columns):
    ...         return (np.add.outer(rows, columns) % 2 == 0).astype(float)
    >>> SameParity().above(0.5).toarray()[0]
    array([1., 0., 1., 0.])
    """

    n_features: int
    names: Names

    @abstractmethod
    def block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """Return the dense similarities of the features ``rows`` with the features ``columns``.

        Parameters
        ----------
        rows, columns : ndarray of int
            Positions of the features.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Similarities.
        """

    def matching_block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        """Return the similarities by which ``gulgezen`` matches two sets; by default those of :meth:`block`.

        Parameters
        ----------
        rows, columns : ndarray of int
            Positions of the features.

        Returns
        -------
        ndarray of shape (n_rows, n_columns)
            Similarities.
        """
        return self.block(rows, columns)

    def above(self, threshold: float) -> sp.csr_array:
        """Return the sparse matrix of similarities at or above ``threshold``, the diagonal included.

        Parameters
        ----------
        threshold : float
            Smaller similarities are left out.

        Returns
        -------
        csr_array of shape (n_features, n_features)
            The others.
        """
        everything = np.arange(self.n_features)
        height = max(1, BLOCK_ENTRIES // self.n_features)
        blocks = []
        for start in range(0, self.n_features, height):
            block = self.block(everything[start : start + height], everything)
            blocks.append(sp.csr_array(np.where(block >= threshold, block, 0)))
        return sp.csr_array(sp.vstack(blocks, format="csr"))

    def select(self, columns: Indices) -> "FeatureSimilarity":
        """Return the similarity of only these features, in this order.

        Parameters
        ----------
        columns : ndarray of int
            Positions of the features.

        Returns
        -------
        FeatureSimilarity
            The similarity of these features.
        """
        return _Selected(self, columns)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_features} features)"


class GivenSimilarity(FeatureSimilarity):
    """A similarity given as a features × features matrix: dense, sparse (absent means 0) or a frame.

    Parameters
    ----------
    matrix : array, scipy.sparse matrix or frame of shape (n_features, n_features)
        Symmetric, from 0 to 1, with 1 on the diagonal.

    Raises
    ------
    ValueError
        If it is not square, not symmetric, not within [0, 1], or not 1 on its diagonal.

    See Also
    --------
    Correlation : Absolute correlation, from data.

    Examples
    --------
    >>> import holdfast as hf
    >>> twins = hf.similarity.GivenSimilarity([[1, 0.95, 0], [0.95, 1, 0], [0, 0, 1]])
    >>> hf.stability([[1, 0, 0], [0, 1, 0]], "pogr", similarity=twins).value
    1.0
    """

    def __init__(self, matrix: Matrix):
        self.names, _ = find_names(matrix, None, None)
        if sp.issparse(matrix):
            self.matrix: Any = sp.csr_array(matrix, dtype=np.float64, copy=True)
            self.matrix.sum_duplicates()
        else:
            self.matrix = as_finite_floats(
                matrix, "similarities", self.names, None, row="feature", remedy="Give unlike features 0."
            )
        self.n_features = self.matrix.shape[1]
        _check_similarity(self.matrix)

    def block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        if sp.issparse(self.matrix):
            return self.matrix[rows][:, columns].toarray()
        dense: NDArray[np.float64] = self.matrix[np.ix_(rows, columns)]
        return dense

    def above(self, threshold: float) -> sp.csr_array:
        if not sp.issparse(self.matrix):
            return super().above(threshold)
        above = self.matrix.copy()
        above.data[above.data < threshold] = 0
        above.eliminate_zeros()
        return above


class Correlation(FeatureSimilarity):
    """Similarity by absolute Pearson correlation; a constant feature is similar only to itself.

    Parameters
    ----------
    X : matrix of shape (n_samples, n_features)
        The data.

    See Also
    --------
    SymmetricalUncertainty : For relations that are not linear.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> hf.similarity.Correlation([[1, 2, 3], [2, 4, 1], [3, 6, 2]]).block(np.array([0]), np.array([1, 2]))
    array([[1. , 0.5]])
    """

    def __init__(self, X: Matrix):
        self.names, _ = find_names(X, None, None)
        values = _feature_values(X, self.names)
        spread = np.ptp(values, axis=0)
        constant = spread == 0
        centered = (values - values.mean(axis=0)) / np.where(constant, 1, spread)  # squares of tiny values are 0
        self.units = np.where(constant, 0, centered / np.where(constant, 1, np.linalg.norm(centered, axis=0)))
        self.n_features = values.shape[1]

    def block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        product = np.abs(self.units[:, rows].T @ self.units[:, columns])
        block = np.minimum(np.round(product, 12), 1)  # so that the shape of a block never decides at a threshold
        block[np.equal.outer(rows, columns)] = 1
        return block


class SymmetricalUncertainty(FeatureSimilarity):
    """Similarity by symmetrical uncertainty, 2·I(x; y) / (H(x) + H(y)), on bins of equal width.

    A constant feature has similarity 0 to all others, and in a matching (``gulgezen``) also to itself.

    Parameters
    ----------
    X : matrix of shape (n_samples, n_features)
        The data.
    n_bins : int or None
        Number of bins of equal width; None for columns that hold codes already (whole numbers from 0).

    Attributes
    ----------
    codes : ndarray of shape (n_features, n_samples)
        The bin of every value, a whole number from 0.

    See Also
    --------
    Correlation : Absolute correlation.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> codes = [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]
    >>> hf.similarity.SymmetricalUncertainty(codes, n_bins=None).block(np.array([0]), np.array([1, 2]))
    array([[1., 0.]])
    """

    def __init__(self, X: Matrix, n_bins: int | None = 10):
        self.names, _ = find_names(X, None, None)
        values = _feature_values(X, self.names)
        if n_bins is None:
            self.codes = information.given_codes(values)
        else:
            self.codes = information.equal_width_codes(values, n_bins)
        self.n_features = values.shape[1]
        self._rows: dict[int, NDArray[np.float64]] = {}

    def block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        block = self.matching_block(rows, columns)
        block[np.equal.outer(rows, columns)] = 1
        return block

    def matching_block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        if self.n_features > REMEMBERED:
            return information.symmetrical_uncertainty(self.codes, rows, columns)  # of a constant with itself: 0
        if unknown := [row for row in np.unique(rows).tolist() if row not in self._rows]:
            everything = np.arange(self.n_features)
            computed = information.symmetrical_uncertainty(self.codes, np.array(unknown), everything)
            self._rows.update(zip(unknown, computed, strict=True))
        return np.array([self._rows[row][columns] for row in rows.tolist()]).reshape(rows.size, columns.size)


class _Selected(FeatureSimilarity):
    """Some features of another similarity."""

    def __init__(self, whole: FeatureSimilarity, columns: Indices):
        self.whole, self.columns = whole, columns
        self.n_features = columns.size
        self.names = None if whole.names is None else tuple(whole.names[column] for column in columns)

    def block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        return self.whole.block(self.columns[rows], self.columns[columns])

    def matching_block(self, rows: Indices, columns: Indices) -> NDArray[np.float64]:
        return self.whole.matching_block(self.columns[rows], self.columns[columns])


def aligned(similarity: FeatureSimilarity | Matrix, features: Sequence[str] | range) -> FeatureSimilarity:
    """Return a similarity whose features are ``features`` in this order: by name if both have names, else by column."""
    whole = similarity if isinstance(similarity, FeatureSimilarity) else GivenSimilarity(similarity)
    if whole.names is None or isinstance(features, range):
        if whole.n_features != len(features):
            raise ValueError(
                f"Expected a similarity of the {len(features)} features selected from, got {whole.n_features}; "
                "name the features on both sides to line them up."
            )
        return whole
    if whole.names == tuple(features):
        return whole
    column_of = {name: column for column, name in enumerate(whole.names)}
    missing = [name for name in features if name not in column_of]
    if missing:
        raise ValueError(
            f"Expected a similarity for every feature, got none for {missing[0]!r} ({len(missing)} such features); "
            "add them to the data or the similarity matrix."
        )
    return whole.select(np.array([column_of[name] for name in features]))


def _feature_values(X: Matrix, names: Names) -> NDArray[np.float64]:
    return as_finite_floats(
        X, "feature values", names, None, row="sample", remedy="Fill in or leave out missing values."
    )


def _check_similarity(matrix: Any) -> None:
    values = matrix.data if sp.issparse(matrix) else matrix
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"Expected a square similarity matrix, got {matrix.shape[0]} × {matrix.shape[1]}.")
    if values.size and not (values.min() >= 0 and values.max() <= 1):
        raise ValueError(
            f"Expected similarities from 0 to 1, got {values.min():g} to {values.max():g}; "
            "take absolute values of correlations."
        )
    if abs(matrix - matrix.T).max() > 1e-9:
        raise ValueError("Expected a symmetric similarity matrix, got one that is not; use (S + S.T) / 2.")
    if np.abs(matrix.diagonal() - 1).max() > 1e-9:
        raise ValueError("Expected 1 on the diagonal of the similarity matrix, as each feature equals itself.")
