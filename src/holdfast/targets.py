"""What is predicted: the target of every row, and what studies, reports and faces need to know of its kind.

A *task* says what a target holds. What differs between tasks and is a fact (a default, a word, the name of an effect)
is in its :class:`TaskFacts`; what is computed from the rows is in :class:`Target`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

TaskName: TypeAlias = Literal["classification", "regression"]
THIRDS = ("lowest third", "middle third", "highest third")
"""Groups of rows by the target, where that is a number."""


class Effect(NamedTuple):
    """What the effect of a feature on held-out rows is: its name, its value without an effect, and a second one."""

    name: str
    neutral: float
    second: str


@dataclass(frozen=True, kw_only=True)
class TaskFacts:
    """What is said and chosen by default where such a target is predicted.

    Attributes
    ----------
    name : str
        Its name on the command line, in plans and in records.
    noun : str
        What the target holds, for sentences: ``"classes"``.
    needs : frozenset of str
        The needs (:attr:`holdfast.declared.About.needs`) of selectors, models and scores that serve no other task.
    score : str
        The default score of studies.
    selectors : tuple of str
        The default selectors of a study on the command line.
    searched : tuple of str
        The default selectors of a command that searches for a good candidate.
    offered : tuple of str
        Selectors to begin with in the form of the page: of different kinds, and fast on wide tables too.
    offered_scores : tuple of str
        Scores to begin with there; the first that can be computed.
    effect : Effect
        What the effect of a single feature is.
    groups : tuple of str
        The groups of rows in which features are described; none where these are the classes.
    """

    name: TaskName
    noun: str
    needs: frozenset[str]
    score: str
    selectors: tuple[str, ...]
    searched: tuple[str, ...]
    offered: tuple[str, ...]
    offered_scores: tuple[str, ...]
    effect: Effect
    groups: tuple[str, ...] = ()


TASKS: dict[str, TaskFacts] = {
    facts.name: facts
    for facts in (
        TaskFacts(
            name="classification",
            noun="classes",
            needs=frozenset({"classes", "two classes"}),
            score="accuracy",
            selectors=("anova",),
            searched=("anova:k=5|10|20", "lasso:penalty_strength=0.2|0.1|0.05"),
            offered=("anova", "mrmr", "relieff", "svm_weights", "lasso"),
            offered_scores=("roc_auc", "balanced_accuracy"),
            effect=Effect("AUC", 0.5, "standardized difference"),
        ),
        TaskFacts(
            name="regression",
            noun="numbers",
            needs=frozenset({"numbers to predict"}),
            score="r2",
            selectors=("correlation",),
            searched=("correlation:k=5|10|20", "lasso:k=5|10|20"),
            offered=("f_test", "mrmr", "rrelieff", "hybrid_rfe", "lasso"),
            offered_scores=("r2",),
            effect=Effect("rank correlation", 0.0, "correlation"),
            groups=THIRDS,
        ),
    )
}
"""The tasks by name."""


def only_task(needs: Iterable[str]) -> TaskName | None:
    """Return the only task that something with these needs serves; None if it serves all.

    Parameters
    ----------
    needs : iterable of str
        What it cannot do without, as its description says.

    Returns
    -------
    str or None
        The name of a task.
    """
    wanted = set(needs)
    return next((facts.name for facts in TASKS.values() if facts.needs & wanted), None)


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted of every row.

    Attributes
    ----------
    values : ndarray
        Class numbers from 0 (int64), or numbers (float64).
    classes : ndarray or None
        The classes that the numbers stand for, sorted; None for another task.
    """

    values: NDArray[Any]
    classes: NDArray[Any] | None

    @classmethod
    def of(cls, y: NDArray[Any], classes: bool) -> "Target":
        """Number the classes, or take the numbers.

        Parameters
        ----------
        y : ndarray
            Labels or numbers.
        classes : bool
            Whether they are labels of classes.

        Returns
        -------
        Target
            The target of these rows.
        """
        if not classes:
            return cls(np.asarray(y, dtype=np.float64), None)
        known, codes = np.unique(y, return_inverse=True)
        return cls(codes.astype(np.int64), known)

    @property
    def task(self) -> TaskName:
        """The name of the task."""
        return "regression" if self.classes is None else "classification"

    @property
    def facts(self) -> TaskFacts:
        """What is said and chosen by default for the task."""
        return TASKS[self.task]

    @property
    def n_classes(self) -> int:
        """Number of classes; 0 for another task."""
        return 0 if self.classes is None else self.classes.size

    @property
    def strata(self) -> NDArray[np.int64] | None:
        """What stratified resamples keep the shares of, numbered from 0: the classes; None if there is nothing."""
        return None if self.classes is None else self.values

    def take(self, rows: NDArray[np.int64]) -> "Target":
        """Return the target of some rows, in another order.

        Parameters
        ----------
        rows : ndarray of int
            The rows.

        Returns
        -------
        Target
            Their target.
        """
        return replace(self, values=self.values[rows])

    def present(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the class numbers that a resample holds.

        Parameters
        ----------
        counts : ndarray of int
            How often the resample takes each row.

        Returns
        -------
        ndarray of int
            Numbers of classes, ascending.
        """
        return np.flatnonzero(np.bincount(self.values, weights=counts))
