"""Agreement of two aligned sets of runs, run by run."""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.cards import Card, Svg, draw_dots
from holdfast.checks import Matrix
from holdfast.inference.estimate import (
    ForestResult,
    StabilityEstimate,
    Undefined,
    as_preferences,
    bind_similarity,
    check_undefined,
    convert_kind,
    is_list_of_similarities,
    stability,
)
from holdfast.measures import Measure, UndefinedStabilityError, UndefinedStabilityWarning, find_measure
from holdfast.measures.forms import stacked
from holdfast.preferences import Preferences
from holdfast.result_base import DrawnResult
from holdfast.text import format_number


@dataclass(frozen=True, kw_only=True)
class Agreement(DrawnResult):
    """Agreement of two selections, run by run.

    Attributes
    ----------
    measure : str
        Name of the measure, with its parameters.
    value : float
        Mean over the runs; ``nan`` if it is undefined.
    per_run : ndarray
        Agreement of each pair of runs; ``nan`` where undefined.
    reason : str or None
        Why it, or a part of it, is undefined.

    See Also
    --------
    agreement : Makes an agreement.
    holdfast.plots.plot_spread : The dots for each pair of runs that :meth:`plot` draws.

    Examples
    --------
    >>> import holdfast as hf
    >>> halves = [[1, 1, 0, 0], [1, 0, 1, 0]], [[1, 1, 0, 0], [1, 0, 0, 1]]
    >>> hf.inference.agreement(*halves, "jaccard").per_run.round(2)
    array([1.  , 0.33])
    """

    measure: str
    value: float
    per_run: NDArray[np.float64] = field(compare=False)
    reason: str | None = None
    _columns = ("measure", "value", "n_runs", "per_run", "reason")
    _heading = "Agreement, run by run"
    _drawn_by = "plot_spread"

    @property
    def n_runs(self) -> int:
        """Number of pairs of runs."""
        return self.per_run.size

    def to_frame(self) -> pd.DataFrame:
        """Return the agreement of every pair of runs as a frame.

        Returns
        -------
        DataFrame
            Columns ``run`` and ``agreement``.
        """
        return pd.DataFrame({"run": range(self.n_runs), "agreement": self.per_run})

    def _picture(self) -> Svg | None:
        return draw_dots(self.per_run.tolist(), mean=self.value)

    def _card(self) -> Card:
        return replace(super()._card(), rows=4)

    def __repr__(self) -> str:
        return f"{self.measure} = {self.value:.3f} (mean agreement of {self.n_runs} pairs of runs)"


def agreement(
    a: Preferences | Matrix,
    b: Preferences | Matrix,
    measure: str | Measure = "nogueira",
    *,
    X: Matrix | None = None,
    undefined: Undefined = "nan",
    **parameters: Any,
) -> Agreement:
    """Measure the agreement of two selections run by run, such as those of two halves of the data.

    A pairwise measure is the similarity of the two runs, the run of ``a`` first; another measure is taken of the two
    runs as a collection.

    Parameters
    ----------
    a, b : Preferences or matrix
        Equally many runs over the same features; if both have labels, the labels must be equal.
    measure : str or Measure
        Measure of stability.
    X : matrix, optional
        Samples × features, for measures that need a similarity of features.
    undefined : {"nan", "raise", "skip"} or float
        What to do with undefined runs: make the mean ``nan``, raise, leave them out, or take this number.
    **parameters
        Parameters of the measure. ``similarity`` may be a list with one similarity for each run.

    Returns
    -------
    Agreement
        The agreement of every run, and their mean.

    Raises
    ------
    ValueError
        If the two selections are not aligned, or not one similarity is given for each run.
    UndefinedStabilityError
        If an agreement is undefined and ``undefined="raise"``.

    See Also
    --------
    holdfast.stability : The agreement of all runs of one selection with each other.

    Examples
    --------
    >>> import holdfast as hf
    >>> full = hf.Preferences.from_sets([{0, 1}, {0, 2}], n_features=4)
    >>> half = hf.Preferences.from_sets([{0, 1}, {0, 3}], n_features=4)
    >>> hf.inference.agreement(full, half, "jaccard")
    jaccard = 0.667 (mean agreement of 2 pairs of runs)
    """
    chosen = find_measure(measure).bind(**parameters)
    check_undefined(undefined)
    a, b = as_preferences(a, [chosen]), as_preferences(b, [chosen])
    _check_aligned(a, b)
    a, b = (convert_kind(runs, chosen.kind, chosen.name) for runs in (a, b))
    for run in range(a.n_runs if chosen.one_size else 0):
        chosen.check_sizes(stacked(a.take([run]), b.take([run])))
    similarities = chosen.parameters.get("similarity")
    if is_list_of_similarities(similarities):
        if len(similarities) != a.n_runs:
            raise ValueError(f"Expected one similarity for each of {a.n_runs} runs, got {len(similarities)}.")
        bound = bind_similarity([chosen.bind(similarity=similarity) for similarity in similarities], a, None)
        runs = range(a.n_runs)
        per_run = np.concatenate([bound[run].form.between(a.take([run]), b.take([run]), bound[run]) for run in runs])
    else:
        (chosen,) = bind_similarity([chosen], a, X)
        per_run = chosen.form.between(a, b, chosen)
    return _average_runs(chosen, per_run, undefined)


def _check_aligned(a: Preferences, b: Preferences) -> None:
    if a.n_runs != b.n_runs:
        raise ValueError(f"Expected as many runs on both sides, got {a.n_runs} and {b.n_runs}.")
    if a.n_features != b.n_features or (a.names != b.names and list(a.features) != list(b.features)):
        raise ValueError(
            "The two selections must have the same features in the same order; make both with the same features=."
        )
    if a.labels is not None and b.labels is not None and a.labels != b.labels:
        odd = next(run for run in range(a.n_runs) if a.labels[run] != b.labels[run])
        raise ValueError(
            f"Expected runs with equal labels, got {a.labels[odd]!r} and {b.labels[odd]!r} as run {odd}; "
            "put the runs in the same order with .take()."
        )


def _average_runs(measure: Measure, per_run: NDArray[np.float64], undefined: Undefined) -> Agreement:
    missing, reason, value = np.isnan(per_run), None, float(per_run.mean())
    if missing.any():
        reason = f"{measure.name} is undefined for {measure.undefined}, as in {missing.sum()} of {per_run.size} runs"
        if undefined == "raise":
            raise UndefinedStabilityError(f"The agreement is undefined: {reason}; choose undefined='skip' or a number.")
        if undefined == "skip" and not missing.all():
            value = float(per_run[~missing].mean())
        elif isinstance(undefined, (int, float)):
            value = float(np.where(missing, undefined, per_run).mean())
    if math.isnan(value):
        warnings.warn(f"The agreement is undefined: {reason}.", UndefinedStabilityWarning, stacklevel=3)
    return Agreement(measure=measure.label, value=value, per_run=per_run, reason=reason)


@dataclass(frozen=True)
class Kalousis(ForestResult):
    """The three stabilities of Kalousis, Prados and Hilario (2005): of weights, ranks and subsets.

    Attributes
    ----------
    weights : StabilityEstimate or None
        S_W, by Pearson's correlation; None for rankings, which have no weights.
    ranks : StabilityEstimate
        S_R, by Spearman's correlation.
    subsets : StabilityEstimate
        S_S, by Jaccard's index of the ``k`` best features.

    See Also
    --------
    kalousis : Measures the three.
    holdfast.StudyResult.kalousis : The same of a candidate, as the design of its study asks for it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import load_example
    >>> hf.inference.kalousis(load_example(), k=10).subsets.measure
    'jaccard'
    """

    weights: StabilityEstimate | None
    ranks: StabilityEstimate
    subsets: StabilityEstimate
    _heading = "Stability of weights, ranks and subsets"
    _shown = ("measure", "value", "low", "high", "n_runs")

    @property
    def named(self) -> dict[str, StabilityEstimate]:
        """The estimates that there are, by name."""
        known = {"weights": self.weights, "ranks": self.ranks, "subsets": self.subsets}
        return {name: estimate for name, estimate in known.items() if estimate is not None}

    def __iter__(self) -> Iterator[StabilityEstimate]:
        return iter(self.named.values())

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each of the estimates that there are.

        Returns
        -------
        DataFrame
            The columns are those of :meth:`StabilityEstimate.to_dict`.
        """
        return pd.concat([estimate.to_frame() for estimate in self], ignore_index=True)

    @property
    def _estimates(self) -> dict[str, StabilityEstimate]:
        return self.named

    @property
    def _title(self) -> str:
        return ", ".join(f"{name} {format_number(estimate.value)}" for name, estimate in self.named.items())

    def __repr__(self) -> str:
        return "\n".join(map(repr, self))


def kalousis(preferences: Preferences | Matrix, k: int, **parameters: Any) -> Kalousis:
    """Measure the stability of weights (S_W), of their ranking (S_R) and of the ``k`` best features (S_S).

    Parameters
    ----------
    preferences : Preferences of weights or rankings, or matrix
        Weights of each run, larger is better. Rankings have no S_W.
    k : int
        Size of the subsets.
    **parameters
        ``ties="random"`` and ``random_state`` order equal weights at random, in the ranking and in the choice of the
        best (see :meth:`Preferences.to_ranking`).

    Returns
    -------
    Kalousis
        The three estimates.

    See Also
    --------
    holdfast.stability : The stability by any measure.
    holdfast.StudyResult.kalousis : The same of a candidate, as the design of its study asks for it.

    Examples
    --------
    >>> import holdfast as hf
    >>> from holdfast.datasets import load_example
    >>> hf.inference.kalousis(load_example(), k=10).ranks
    spearman = 0.943 [0.718, 0.959] (95% CI, 20 runs)
    """
    weights = preferences if isinstance(preferences, Preferences) else Preferences.from_weights(preferences)
    tie_options = {} if parameters.get("ties", "average") == "average" else parameters
    return Kalousis(
        stability(weights, "weight_correlation") if weights.kind == "weighting" else None,
        stability(weights, "spearman", **parameters),
        stability(weights.top(k, **tie_options), "jaccard"),
    )
