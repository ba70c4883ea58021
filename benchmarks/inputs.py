"""Selections, similarities and data of named sizes, the same in every run."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from holdfast import Preferences

SEED = 20180601


class Size(NamedTuple):
    """How many runs select how many of how many features."""

    runs: int
    features: int
    selected: int

    def __str__(self) -> str:
        return " × ".join(f"{number:,}" for number in self)


class Lists(NamedTuple):
    """What each run selected, as index lists: the input that every call starts from."""

    indices: NDArray[np.int32]
    indptr: NDArray[np.int64]
    n_features: int

    @classmethod
    def of(cls, rows: NDArray[np.integer], n_features: int) -> "Lists":
        """Take the selections of runs from the rows of a matrix of indices."""
        indices = np.sort(rows, axis=1).astype(np.int32).ravel()
        return cls(indices, np.arange(len(rows) + 1) * rows.shape[1], n_features)

    def preferences(self) -> Preferences:
        """Wrap the lists again, so that no cache helps the next call."""
        return Preferences(kind="subset", n_features=self.n_features, indices=self.indices, indptr=self.indptr)

    def sparse(self) -> sp.csr_array:
        """Return the runs × features matrix of 0 and 1, sparse."""
        shape = self.indptr.size - 1, self.n_features
        return sp.csr_array((np.ones(self.indices.size), self.indices, self.indptr), shape=shape)

    def dense(self, dtype: type) -> NDArray[np.generic]:
        """Return the runs × features matrix of 0 and 1, dense."""
        return self.sparse().astype(dtype).toarray()

    def sets(self) -> list[set[int]]:
        """Return one Python set per run."""
        return [set(row.tolist()) for row in np.split(self.indices, self.indptr[1:-1])]


def random_sets(size: Size) -> Lists:
    """Draw every set at random."""
    rng = np.random.default_rng(SEED)
    rows = [rng.choice(size.features, size.selected, replace=False, shuffle=False) for _ in range(size.runs)]
    return Lists.of(np.array(rows), size.features)


def stable_sets(size: Size) -> Lists:
    """Keep nine in ten of the same features and draw the rest at random."""
    rng = np.random.default_rng(SEED)
    n_kept = round(0.9 * size.selected)
    core = rng.permuted(np.tile(np.arange(size.selected), (size.runs, 1)), axis=1)[:, :n_kept]
    rest = random_sets(Size(size.runs, size.features - size.selected, size.selected - n_kept))
    rows = np.hstack([core, rest.indices.reshape(size.runs, -1) + size.selected])
    return Lists.of(rng.permutation(size.features)[rows], size.features)


def sets_of_many_sizes(size: Size) -> Lists:
    """Draw sets of half to one and a half times the size at random."""
    rng = np.random.default_rng(SEED)
    sizes = rng.integers(size.selected // 2, size.selected * 3 // 2 + 1, size.runs)
    rows = [np.sort(rng.choice(size.features, k, replace=False, shuffle=False)) for k in sizes]
    return Lists(np.concatenate(rows).astype(np.int32), np.concatenate([[0], np.cumsum(sizes)]), size.features)


def swapping_sets(size: Size) -> Lists:
    """Select one feature from each neighborhood: four in five times one of the same three, else any of it."""
    rng = np.random.default_rng(SEED)
    width = size.features // size.selected
    shape = size.runs, size.selected
    place = np.where(rng.random(shape) < 0.8, rng.integers(0, 3, shape), rng.integers(0, width, shape))
    return Lists.of(np.arange(size.selected) * width + place, size.features)


def sparse_similarity(n_features: int) -> sp.csr_array:
    """Return blocks of three to six neighboring features: 0.9 to 1 within a block, nothing across."""
    rng = np.random.default_rng(SEED)
    block = _blocks(n_features, rng)
    upper = sp.csr_array((n_features, n_features))
    for offset in range(1, 6):
        first = np.flatnonzero(block[:-offset] == block[offset:])
        entries = rng.uniform(0.9, 1, first.size), (first, first + offset)
        upper += sp.csr_array(entries, shape=upper.shape)
    return sp.csr_array(upper + upper.T + sp.eye_array(n_features))


def dense_similarity(n_features: int) -> NDArray[np.float64]:
    """Return absolute correlations of data in which three to six neighboring features measure the same thing."""
    rng = np.random.default_rng(SEED)
    signal = rng.normal(size=(100, n_features))
    data = signal[:, _blocks(n_features, rng)] + 0.25 * rng.normal(size=signal.shape)
    similarity = np.abs(np.corrcoef(data, rowvar=False))
    np.fill_diagonal(similarity, 1)
    return similarity


def classes(n: int, d: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return correlated features of two classes in turn, which one feature in ten separates a little."""
    rng = np.random.default_rng(SEED)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 20)) @ rng.normal(size=(20, d)) + 2 * rng.normal(size=(n, d))
    X[:, ::10] += y[:, None]
    return X, y


def _blocks(n_features: int, rng: np.random.Generator) -> NDArray[np.int64]:
    return np.repeat(np.arange(n_features), rng.integers(3, 7, n_features))[:n_features]
