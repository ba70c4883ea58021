"""Folds inside a resample: different rows, or copies of rows, dealt in turn, class by class."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from holdfast.selectors.rows import BinaryProblem, Floats, Ints, Target

Copies = Literal["together", "apart"]


class InnerSplit(NamedTuple):
    """How often each row counts in training, and how often among those that are held out."""

    train: Ints
    held_out: Ints


def check_copies(copies: str, groups: Ints | None) -> None:
    """Raise unless copies of rows can be dealt in this way."""
    if copies not in get_args(Copies):
        raise ValueError(f"Expected copies='together' or 'apart', got {copies!r}.")
    if copies == "apart" and groups is not None:
        raise ValueError(
            "Expected copies='together' where rows have groups, as a row and its copies are of one group, got 'apart'."
        )


def order_rows(X: Floats, target: Target) -> Ints:
    """The place of each row in an order that does not depend on the order of rows; equal rows share it."""
    return np.unique(np.column_stack([target.values, X]), axis=0, return_inverse=True)[1].ravel()


def deal_folds(
    order: Ints, target: Target, counts: Ints, n_folds: int, copies: Copies, seed: int | None
) -> list[InnerSplit]:
    """Deal rows that count so often to folds.

    Parameters
    ----------
    order : ndarray of int
        The place of each row, as of :func:`order_rows`, or its group.
    target : Target
        Rows are dealt class by class, if there are classes.
    counts : ndarray of int
        How often each row counts.
    n_folds : int
        How many folds; fewer, if there is less to deal.
    copies : {"together", "apart"}
        Whether all that share a place go to one fold, or each copy is dealt by itself.
    seed : int, optional
        Of the deal.

    Returns
    -------
    list of InnerSplit
        One for each fold.
    """
    rows = np.flatnonzero(counts)
    rows = rows[np.argsort(order[rows], kind="stable")]
    dealt = np.repeat(rows, counts[rows])
    begins = np.ones(dealt.size, dtype=bool) if copies == "apart" else np.diff(order[dealt], prepend=-1) > 0
    first = dealt[begins]
    rng = np.random.default_rng(seed)
    classes = target.values[first] if target.classes is not None else np.zeros(first.size)
    deck = np.concatenate([rng.permutation(np.flatnonzero(classes == code)) for code in np.unique(classes)])
    n_folds, fold_of = min(n_folds, first.size), np.empty(first.size, np.int64)
    fold_of[deck] = np.arange(deck.size) % n_folds
    place = fold_of[np.cumsum(begins) - 1] * counts.size + dealt
    held_out = np.bincount(place, minlength=n_folds * counts.size).reshape(n_folds, counts.size)
    return [InnerSplit(counts - held, held) for held in held_out]


def usable_splits(
    splits: Sequence[InnerSplit], problems: Sequence[BinaryProblem], target: Target
) -> Sequence[InnerSplit]:
    """The splits that hold something out and train on both labels of every problem; raise if there is but one."""
    usable = [
        split
        for split in splits
        if split.held_out.any() and all(_has_both_labels(problem, split.train, target) for problem in problems)
    ]
    if len(usable) < 2:
        raise ValueError("Expected different rows of each class in at least two folds, got fewer; lower cv.")
    return usable


def _has_both_labels(problem: BinaryProblem, counts: Ints, target: Target) -> bool:
    """Whether rows to train on have both labels; without the fold of a class's only row they have not."""
    return target.classes is None or np.unique(problem.labels[counts > 0]).size == 2
