"""What is predicted: the target of every row, and what studies, reports and faces need to know of its kind.

A *task* says what a target holds. What differs between tasks and is a fact (a default, a word, the name of an effect)
is in its :class:`TaskFacts`; what is computed from the rows is in :class:`Target`.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

TaskName: TypeAlias = Literal["classification", "regression", "survival"]
CLASSES_OR_NUMBERS, TIMES_AND_EVENTS = "classes or numbers", "times and events"
SURVIVAL = np.dtype([("event", np.bool_), ("time", np.float64)])
STRATIFIED = np.dtype([*SURVIVAL.descr, ("stratum", np.int64)])
"""What a target of survival times is inside: one row is one record; the event, the time until it or until the row
was last seen, and where there are strata with hazards of their own, the stratum."""
THIRDS = ("lowest third", "middle third", "highest third")
"""Groups of rows by the target, where that is a number."""


class Effect(NamedTuple):
    """What the effect of a feature on held-out rows is.

    ``neutral`` is its value without an effect, ``second`` the name of another measure next to it; a ratio is averaged
    as its logarithm.
    """

    name: str
    neutral: float
    second: str
    is_ratio: bool = False


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
        What selectors, models and scores may need (:attr:`holdfast.declared.About.needs`) of the target that this task
        has and others lack.
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
            needs=frozenset({"classes", "two classes", CLASSES_OR_NUMBERS}),
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
            needs=frozenset({"numbers to predict", CLASSES_OR_NUMBERS}),
            score="r2",
            selectors=("correlation",),
            searched=("correlation:k=5|10|20", "lasso:k=5|10|20"),
            offered=("f_test", "mrmr", "rrelieff", "hybrid_rfe", "lasso"),
            offered_scores=("r2",),
            effect=Effect("rank correlation", 0.0, "correlation"),
            groups=THIRDS,
        ),
        TaskFacts(
            name="survival",
            noun="survival times",
            needs=frozenset({TIMES_AND_EVENTS}),
            score="concordance",
            selectors=("cox_score",),
            searched=("cox_score:k=5|10|20", "cox_lasso:k=5|10|20"),
            offered=("cox_score", "cox_concordance", "hybrid_rfe", "cox_lasso"),
            offered_scores=("concordance",),
            effect=Effect("hazard ratio per SD", 1.0, "concordance", is_ratio=True),
        ),
    )
}
"""The tasks by name."""
EFFECTS = {facts.effect.name: facts.effect for facts in TASKS.values()}
"""What effects are, by their names."""


@dataclass(frozen=True, eq=False)
class Target:
    """What is to be predicted of every row.

    Attributes
    ----------
    values : ndarray
        Class numbers from 0 (int64), numbers (float64), or records of event and time (:data:`SURVIVAL`).
    classes : ndarray or None
        The classes that the numbers stand for, sorted; None for another task.
    """

    values: NDArray[Any]
    classes: NDArray[Any] | None

    @classmethod
    def of(cls, y: NDArray[Any], classes: bool) -> "Target":
        """Number the classes, or take the numbers or the survival times.

        Parameters
        ----------
        y : ndarray
            Labels, numbers, or what :func:`survival` returns.
        classes : bool
            Whether they are labels of classes; records of survival times never are.

        Returns
        -------
        Target
            The target of these rows.
        """
        if y.dtype.names:
            return cls(y, None)
        if not classes:
            return cls(np.asarray(y, dtype=np.float64), None)
        known, codes = np.unique(y, return_inverse=True)
        return cls(codes.astype(np.int64), known)

    @property
    def task(self) -> TaskName:
        """The name of the task."""
        if self.classes is not None:
            return "classification"
        return "survival" if self.values.dtype.names else "regression"

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
        """What stratified resamples keep the shares of, numbered from 0: classes, or events; None for numbers."""
        if self.task == "survival":
            return self.values["event"].astype(np.int64)
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


# Survival times

COMPETING = (
    "a status of several kinds of events (competing risks) is not supported: make one kind the event and all others "
    "censored, or count any of them as the event"
)


def survival(time: Any, event: Any, strata: Any = None) -> NDArray[Any]:
    """Return a target of survival times: for each row how long it was observed, and whether that ended with the event.

    Parameters
    ----------
    time : array
        Time from the start of observation until the event, or until the row was last seen; 0 or more.
    event : array
        Whether the event was observed at that time: true or false, 1 or 0, or as in R 2 or 1. Other rows are censored.
    strata : array, optional
        Groups of rows with hazards of their own, such as centers: rows are compared within a stratum only.

    Returns
    -------
    ndarray
        A structured array with the fields ``event``, ``time`` and maybe ``stratum``, as studies, selectors and models
        take it for ``y``.

    Raises
    ------
    ValueError
        If there are no events, times that are negative or missing, or events of several kinds.

    See Also
    --------
    holdfast.Study.run : Takes it as y.
    holdfast.selectors.CoxScore : Selects features for such a target.

    Examples
    --------
    >>> import holdfast as hf
    >>> hf.survival([306, 1010], [1, 0])
    array([( True,  306.), (False, 1010.)],
          dtype=[('event', '?'), ('time', '<f8')])
    """
    times, events = _read_times(time), _read_events(event)
    if len(times) != len(events):
        raise ValueError(f"Expected one event for each of {len(times)} times, got {len(events)}.")
    if not events.any():
        raise ValueError(
            "Expected events in the target, got censored rows only, from which nothing can be learned; is the event "
            "coded the other way round?"
        )
    if strata is None:
        records = np.empty(len(times), SURVIVAL)
    else:
        labels = np.asarray(strata)
        if labels.shape != times.shape or _is_missing(labels).any():
            raise ValueError(f"Expected one stratum for each of {len(times)} rows, got {labels.size}, or missing ones.")
        records = np.empty(len(times), STRATIFIED)
        records["stratum"] = np.unique(labels, return_inverse=True)[1]
    records["event"], records["time"] = events, times
    return records


def read_survival(y: Any, requested: bool = False) -> NDArray[Any] | None:
    """Return a target of survival times in any of its forms as :func:`survival` does; None if it is another target.

    These are structured arrays of a boolean and a number, two columns of which one holds the events, and texts as R's
    ``Surv`` writes them ("306", "1010+").

    Parameters
    ----------
    y : array, frame or sequence
        A target.
    requested : bool
        Whether it is known to hold survival times, so that anything else is an error.

    Returns
    -------
    ndarray or None
        Records of event and time.
    """
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names:
        if y.dtype == STRATIFIED:
            return survival(y["time"], y["event"], y["stratum"])
        if len(names) != 2:
            raise ValueError(
                f"Expected an event and a time in a structured target, got {len(names)} fields ({', '.join(names)}); "
                "times of entry (left truncation) and columns that change with time are not supported."
            )
        flags = [y.dtype[name].kind == "b" for name in names]
        if sum(flags) != 1:
            kinds = ", ".join(f"{name} ({y.dtype[name]})" for name in names)
            raise ValueError(f"Expected one field of booleans, the event, and one of numbers, the time, got {kinds}.")
        return survival(y[names[flags.index(False)]], y[names[flags.index(True)]])
    shape = np.shape(y) if hasattr(y, "shape") else np.asarray(y, dtype=object).shape
    if len(shape) == 2 and (shape[1] == 2 or (requested and shape[1] > 2)):
        if shape[1] != 2:
            raise ValueError(
                f"Expected two columns in y, a time and an event, got {shape[1]}; times of entry (left truncation) and "
                "columns that change with time are not supported."
            )
        table = np.asarray(y, dtype=object)
        columns = [table[:, 0], table[:, 1]]
        flags = [_holds_events(column) for column in columns]
        if sum(flags) != 1:
            found = "two columns of 0 and 1" if all(flags) else f"none of two values ({COMPETING})"
            raise ValueError(
                f"Expected two columns in y, a time and an event of 0 and 1, got {found}; holdfast.survival(time, "
                "event) says which is which."
            )
        return survival(columns[flags.index(False)], columns[flags.index(True)])
    texts = np.asarray(y) if len(shape) == 1 else np.empty(0)
    if texts.dtype.kind in "OUT" and texts.size and all(isinstance(text, str) for text in texts):
        clean = [str(text).strip() for text in texts]
        if requested or any(text.endswith("+") for text in clean):
            try:
                return survival([float(text.rstrip("+")) for text in clean], [text[-1:] != "+" for text in clean])
            except ValueError as error:
                if requested:
                    raise ValueError(f"Expected times as R's Surv writes them, such as 306 or 1010+: {error}") from None
    if requested:
        raise ValueError(
            "Expected survival times in y, got one column of numbers; give holdfast.survival(time, event)."
        )
    return None


def as_survival(y: Any) -> NDArray[Any]:
    """Return a target that is known to hold survival times as :func:`survival` does, or raise.

    Parameters
    ----------
    y : array, frame or sequence
        The target, in any of the forms of :func:`read_survival`.

    Returns
    -------
    ndarray
        Records of event and time.
    """
    records = read_survival(y, requested=True)
    assert records is not None
    return records


def count_events(y: NDArray[Any]) -> dict[str, Any]:
    """Return what a record of the data says of survival times: the number of events and the median time; else nothing.

    Parameters
    ----------
    y : ndarray
        A target.

    Returns
    -------
    dict
        Fields of a :class:`~holdfast.io.record.DataRecord`.
    """
    if not y.dtype.names:
        return {}
    return {"events": int(y["event"].sum()), "follow_up": float(np.median(y["time"]))}


def _read_times(time: Any) -> NDArray[np.float64]:
    try:
        times = np.asarray(time, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"Expected numbers as times, got {str(np.asarray(time).ravel()[0])!r} first.") from None
    if times.ndim != 1:
        raise ValueError(f"Expected one time for each row, got shape {times.shape}.")
    wrong = np.flatnonzero(~(np.isfinite(times) & (times >= 0)))
    if wrong.size:
        value = times[wrong[0]]
        what = "finite times" if not np.isfinite(value) else "times of 0 or more, from the start of observation"
        raise ValueError(
            f"Expected {what}, got {value:g} in row {wrong[0]} ({wrong.size} such); leave out rows without follow-up."
        )
    return times


def _read_events(event: Any) -> NDArray[np.bool_]:
    events = np.asarray(event)
    if events.ndim != 1:
        raise ValueError(f"Expected one event for each row, got shape {events.shape}.")
    missing = np.flatnonzero(_is_missing(events))
    if missing.size:
        raise ValueError(
            f"Expected an event for each row, got none in row {missing[0]} ({missing.size} missing); leave these out."
        )
    if not _holds_events(events):
        values = sorted(set(map(str, events)))
        raise ValueError(
            f"Expected events as true and false, 1 and 0, or 2 and 1, got {len(values)} values "
            f"({', '.join(values[:4])}{', …' if len(values) > 4 else ''}); {COMPETING}."
        )
    numbers = events.astype(np.float64)
    return numbers == (2 if numbers.max(initial=0) == 2 else 1)


def _is_missing(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Which entries are missing: nan is not equal to itself, and None is None."""
    return np.array([value is None or value != value for value in values.tolist()], dtype=bool)


def _holds_events(column: NDArray[Any]) -> bool:
    """Whether a column is true or false, 1 or 0, or 2 and 1."""
    try:
        values = set(np.unique(column.astype(np.float64)).tolist())
    except (TypeError, ValueError):
        return False
    return bool(values) and (values <= {0.0, 1.0} or values == {1.0, 2.0})
