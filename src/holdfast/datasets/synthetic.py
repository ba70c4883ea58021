"""Simulated data whose relevant features are known."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Truth:
    """The truth about simulated data: relevant features and blocks of correlated ones.

    Attributes
    ----------
    relevant : ndarray of int
        Columns that the target depends on, in ascending order.
    block : ndarray of int
        Block of correlated features that each column belongs to; -1 for a column that is correlated with no other.

    See Also
    --------
    Simulated : The data that it belongs to.

    Examples
    --------
    >>> from holdfast.datasets import make_redundant
    >>> make_redundant(0.5, n_samples=20, n_features=8, n_relevant=3, random_state=0).truth.relevant
    array([0, 1, 2])
    """

    relevant: NDArray[np.intp]
    block: NDArray[np.intp]

    def __repr__(self) -> str:
        n_blocks = len(np.unique(self.block[self.block >= 0]))
        blocks = f"{n_blocks} block{'s' * (n_blocks != 1)}"
        return f"Truth: {len(self.relevant)} of {len(self.block)} features are relevant, {blocks}"


class Simulated(NamedTuple):
    """Simulated features and target, and the truth about them; ``X, y, truth = …`` unpacks it.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The features.
    y : ndarray
        The target.
    truth : Truth
        Relevant features and blocks.

    See Also
    --------
    make_redundant : Relevant features that are correlated.
    make_block_correlated : Blocks of correlated features.

    Examples
    --------
    >>> from holdfast.datasets import make_block_correlated
    >>> data = make_block_correlated(n_samples=50, n_features=10, n_relevant=2, random_state=0)
    >>> data.X.shape
    (50, 10)
    """

    X: Floats
    y: NDArray[Any]
    truth: Truth


def make_redundant(
    rho: float,
    *,
    n_samples: int = 2000,
    n_features: int = 100,
    n_relevant: int = 50,
    random_state: int | np.random.Generator | None = None,
) -> Simulated:
    r"""Simulate the two-class data with redundancy :math:`\rho` of Nogueira and Brown (2016).

    Both classes are normal. The first ``n_relevant`` features have mean 1 in the positive class and -1 in the negative,
    variance 1, and correlation ``rho`` with each other within a class; all others are standard normal noise. Half of
    the samples are positive, as in the authors' script, and the order of samples is random.

    Parameters
    ----------
    rho : float
        Correlation of relevant features within a class, from 0 to 1; the papers take 0, 0.3, 0.5 and 0.8. Over both
        classes together the correlation is (1 + rho) / 2.
    n_samples, n_features, n_relevant : int
        Numbers of samples, of features, and of those that are relevant; by default those of the papers.
    random_state : int or Generator, optional
        Seed.

    Returns
    -------
    Simulated
        ``X``; ``y``, 1 or -1; and the ``truth``, whose block 0 is the relevant features.

    Raises
    ------
    ValueError
        If a number is out of range.

    References
    ----------
    Nogueira and Brown (2016), section 5.1; Nogueira, Sechidis and Brown (2018), section 6.1.1; after Kamkar et al.
    (2015).

    Examples
    --------
    >>> from holdfast.datasets import make_redundant
    >>> X, y, truth = make_redundant(0.8, random_state=0)
    >>> X.shape, truth
    ((2000, 100), Truth: 50 of 100 features are relevant, 1 block)
    """
    _check_rho(rho)
    if not 1 <= n_relevant <= n_features or n_samples < 2:
        raise ValueError(
            f"Expected at least 2 samples and from 1 to n_features relevant features, got {n_samples} samples, "
            f"{n_relevant} of {n_features} features relevant."
        )
    rng = np.random.default_rng(random_state)
    y = rng.permutation(np.where(np.arange(n_samples) < n_samples // 2, 1, -1))
    block = np.where(np.arange(n_features) < n_relevant, 0, -1)
    X = _draw_features(n_samples, block, rho, rng)
    X[:, :n_relevant] += y[:, None]
    return Simulated(X, y, Truth(relevant=np.arange(n_relevant), block=block))


def make_block_correlated(
    n_samples: int = 200,
    n_features: int = 100,
    *,
    block_size: int = 5,
    rho: float = 0.8,
    n_relevant: int = 5,
    task: Literal["classification", "regression"] = "classification",
    effect: float = 1.0,
    noise: float = 1.0,
    shuffle: bool = True,
    random_state: int | np.random.Generator | None = None,
) -> Simulated:
    r"""Simulate data with blocks of correlated features, in which each relevant feature has stand-ins.

    All features are standard normal. The target depends on one feature in each of ``n_relevant`` blocks, through the
    score :math:`s = \beta \sum_f \pm x_f` with alternating signs: :math:`y = s + \sigma \varepsilon` in regression; a
    class of 1 with probability :math:`1 / (1 + e^{-s})`, else 0, in classification.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of samples and of features.
    block_size : int
        Number of features in a block; the last block may be smaller.
    rho : float
        Correlation of the features of one block, from 0 to 1.
    n_relevant : int
        Number of relevant features, each in a block of its own.
    task : {"classification", "regression"}
        What to predict.
    effect : float
        :math:`\beta`, the weight of each relevant feature.
    noise : float
        :math:`\sigma`, the standard deviation of the noise in regression.
    shuffle : bool
        Put the columns in random order, so that a rule that prefers low columns wins nothing. Otherwise blocks stand
        side by side, the relevant ones first, and each relevant feature is the first of its block.
    random_state : int or Generator, optional
        Seed.

    Returns
    -------
    Simulated
        ``X``, ``y`` and the ``truth``.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> from holdfast.datasets import make_block_correlated
    >>> X, y, truth = make_block_correlated(n_features=20, n_relevant=2, shuffle=False, random_state=0)
    >>> truth.relevant, truth.block
    (array([0, 5]), array([0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3]))
    """
    _check_rho(rho)
    _check_blocks(n_samples, n_features, block_size, n_relevant, task)
    rng = np.random.default_rng(random_state)
    block = np.arange(n_features) // block_size
    X = _draw_features(n_samples, block, rho, rng)
    relevant = block_size * np.arange(n_relevant)
    score = effect * X[:, relevant] @ np.where(np.arange(n_relevant) % 2, -1.0, 1.0)
    if task == "regression":
        y = score + noise * rng.standard_normal(n_samples)
    else:
        y = (rng.logistic(size=n_samples) < score).astype(np.int64)
    order = rng.permutation(n_features) if shuffle else np.arange(n_features)
    return Simulated(X[:, order], y, Truth(relevant=np.flatnonzero(np.isin(order, relevant)), block=block[order]))


def _draw_features(n_samples: int, block: NDArray[np.intp], rho: float, rng: np.random.Generator) -> Floats:
    """Draw standard normal features; those of one block share a factor, those of block -1 are alone."""
    X = rng.standard_normal((n_samples, len(block)))
    shared = rng.standard_normal((n_samples, block.max() + 1))
    within = block >= 0
    X[:, within] = np.sqrt(1 - rho) * X[:, within] + np.sqrt(rho) * shared[:, block[within]]
    return X


def _check_rho(rho: float) -> None:
    if not 0 <= rho <= 1:
        raise ValueError(f"Expected a correlation rho from 0 to 1, got {rho}.")


def _check_blocks(n_samples: int, n_features: int, block_size: int, n_relevant: int, task: str) -> None:
    if n_samples < 2 or n_features < 1 or block_size < 1:
        raise ValueError(
            f"Expected at least 2 samples, 1 feature and blocks of 1, got {n_samples} samples, {n_features} features "
            f"and blocks of {block_size}."
        )
    n_blocks = -(-n_features // block_size)
    if not 1 <= n_relevant <= n_blocks:
        raise ValueError(
            f"Expected from 1 to {n_blocks} relevant features, one in each block of {block_size} of the "
            f"{n_features} features, got {n_relevant}; make blocks smaller or take more features."
        )
    if task not in ("classification", "regression"):
        raise ValueError(f"Expected task to be 'classification' or 'regression', got {task!r}.")
