"""Final features: those of a fit to all rows, and the consensus of resamples."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from holdfast.cards.features import Card, make_features_card
from holdfast.inference.intervals import check_level
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain
from holdfast.study import Study, StudyResult
from holdfast.study.data import prepare_data
from holdfast.tradeoff.refit import find_study, fit_to_all_rows
from holdfast.tradeoff.stand_ins import Frequencies, count_frequencies

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart


class ErrorBound(NamedTuple):
    """Bound on the expected number of false features in a consensus, or why there is none.

    Attributes
    ----------
    value : float
        The largest expected number; ``nan`` if there is no bound.
    sentence : str
        The same in words.

    See Also
    --------
    FinalFeatures : Carries it as ``bound``.
    holdfast.ComplementaryPairs : Resamples for which it holds.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(3)], perturbation=hf.ComplementaryPairs(20))
    >>> study.run(X, y).final_features("anova", threshold=0.75).bound.sentence
    'at most 0.6 features that halves select no more often than by chance are expected in it'
    """

    value: float
    sentence: str


@dataclass(frozen=True, kw_only=True, eq=False)
class FinalFeatures(ResultMixin):
    """Final features of a candidate: selection frequencies, stand-ins, final fit and consensus.

    Attributes
    ----------
    candidate : str
        Its name.
    frame : DataFrame
        One row per feature, the most frequent first: whether it is ``selected`` by the final fit (None without one) and
        in the ``consensus``; ``count``, ``frequency``, ``low`` and ``high`` over the resamples; its ``stand_ins``,
        features that took turns with it.
    threshold : float
        Share of the resamples from which a feature is in the consensus.
    bound : ErrorBound
        How many features of the consensus may be there by chance.
    selected_on : str or None
        Which rows the final fit saw; None without one.
    n_runs : int
        Number of resamples.
    level : float
        Level of the intervals.

    See Also
    --------
    holdfast.StudyResult.final_features : Makes it.
    holdfast.check_features : A list of your own, checked name by name.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> study = hf.Study(
    ...     selectors={"anova": hf.Candidates(hf.selectors.AnovaF(), sizes=[1, 2, 3])},
    ...     perturbation=hf.Bootstrap(20),
    ...     estimator=KNeighborsClassifier(3),
    ... )
    >>> result = study.run(X, y)
    >>> final = result.final_features("anova(size=2)", X, y)
    >>> final.selected, final.consensus
    (['petal length (cm)', 'petal width (cm)'], ['petal length (cm)', 'petal width (cm)'])
    >>> final.to_frame()[["feature", "count", "frequency"]]
                 feature  count  frequency
    0  petal length (cm)     20        1.0
    1   petal width (cm)     20        1.0
    """

    candidate: str
    frame: pd.DataFrame
    threshold: float
    bound: ErrorBound
    selected_on: str | None
    n_runs: int
    level: float = 0.95

    @property
    def selected(self) -> list[Any]:
        """The features of the final fit, in column order; empty without one."""
        chosen = self.frame[self.frame["selected"] == True]  # noqa: E712  None is neither
        return chosen.sort_values("column")["feature"].tolist()

    @property
    def consensus(self) -> list[Any]:
        """The features that at least a share ``threshold`` of the resamples selected, the most frequent first."""
        return self.frame["feature"][self.frame["consensus"]].tolist()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per feature (see :attr:`frame`).

        Returns
        -------
        DataFrame
            The most frequent feature first.
        """
        return self.frame

    def to_dict(self) -> dict[str, Any]:
        """Return features, consensus and bound as plain values, ready for JSON: undefined numbers are None.

        Returns
        -------
        dict
            One entry per attribute; the bound with its ``value`` and ``sentence``.
        """
        return {**super().to_dict(), "bound": to_plain(self.bound._asdict())}

    def plot(self) -> "AnyChart":
        """Draw how often each of the features was selected (see :func:`holdfast.plots.plot_frequencies`).

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast.plots.frequencies import WIDTH, draw_frequencies
        from holdfast.plots.text import shorten
        from holdfast.plots.theme import finish_chart

        data, counts = self.frame.head(30), self.frame["count"].to_numpy(dtype=np.int64)
        chart = draw_frequencies(data, counts, n_runs=self.n_runs, level=self.level)
        notes = [f"{shorten(self.candidate)}; lines: {100 * self.level:.4g} % intervals of the frequency"]
        return finish_chart(chart, self._title, notes, width=WIDTH + 120)

    @property
    def _title(self) -> str:
        n, agreed = len(self.selected), len(self.consensus)
        fit = f"{n} feature{'' if n == 1 else 's'} selected on {self.selected_on}; " if self.selected_on else ""
        return f"{fit}{agreed} selected in at least {self.threshold:.0%} of {self.n_runs} resamples"

    def _card(self) -> Card:
        return make_features_card(self, self._title)

    def __repr__(self) -> str:
        fit = f"selected on {self.selected_on}" if self.selected_on else "no final fit (give X and y for one)"
        head = f"Features of {self.candidate}: {fit}; frequencies over {self.n_runs} resamples"
        shown = self.frame.drop(columns="column").assign(
            stand_ins=[", ".join(map(str, names)) for names in self.frame["stand_ins"]]
        )
        if self.selected_on is None:
            shown = shown.drop(columns="selected")
        table = shown.to_string(index=False, float_format=lambda number: f"{number:.3f}")
        return f"{head}\n{table}\nConsensus at {self.threshold:g}: {self.bound.sentence}"


def final_features(
    result: StudyResult,
    candidate: str,
    X: Any = None,
    y: Any = None,
    *,
    groups: Any = None,
    study: Study | None = None,
    threshold: float = 0.5,
    level: float = 0.95,
    top: int | None = None,
) -> FinalFeatures:
    r"""Report the features of a candidate: the final fit, frequencies, stand-ins, consensus.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    candidate : str
        Name of a candidate.
    X, y : optional
        Rows for the final fit: all rows of the study, or rows that were kept aside. Without them there is no final fit,
        and stand-ins are recognized by taking turns alone, not by correlation.
    groups : array, optional
        Groups of these rows, for selectors that resample them.
    study : Study, optional
        The plan, for a result that was loaded from a store; a result of :meth:`Study.run` knows it.
    threshold : float
        Share of the resamples from which a feature is in the consensus.
    level : float
        Level of the intervals of the frequencies.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.

    Returns
    -------
    FinalFeatures
        Features with frequencies and stand-ins, and a bound on false ones where there is one.

    Raises
    ------
    ValueError
        If only one of X and y is given, their columns are not those of the study, or the plan is not known.

    See Also
    --------
    check_features : A list of your own, checked name by name.

    Notes
    -----
    The expected number of false features in the consensus has a bound, :math:`q^2 / ((2\pi - 1) d)`, only if all
    resamples are halves of the rows and select :math:`q` of :math:`d` features, with a threshold :math:`\pi` above 0.5.
    For complementary pairs (Shah and Samworth, 2013) false means: selected with a probability of at most :math:`q/d`
    on half of the rows. For half-size subsamples (Meinshausen and Bühlmann, 2010) it means noise, and features of
    noise must be exchangeable.
    """
    check_level(level)
    if not 0 < threshold <= 1:
        raise ValueError(f"Expected a threshold above 0 and up to 1, got {threshold}.")
    if (X is None) != (y is None):
        raise ValueError(f"Expected both X and y for a final fit, got only {'y' if X is None else 'X'}.")
    selected, selected_on, features = None, None, None
    if X is not None:
        plan = find_study(result, study)
        features = prepare_data(X, y, None, plan.keep, plan.task, plan.estimator).X
    frequencies = count_frequencies(result, candidate, top, features)
    if X is not None:
        fitted, selected_on = fit_to_all_rows(result, plan, candidate, X, y, groups)
        selected = set(count_frequencies(fitted, candidate, top, None).runs.lists()[0].tolist())
    frame = _make_table(frequencies, selected, threshold, level)
    bound = error_bound(result, frequencies, threshold)
    return FinalFeatures(
        candidate=candidate, frame=frame, threshold=threshold, bound=bound, selected_on=selected_on,
        n_runs=frequencies.runs.n_runs, level=level,
    )  # fmt: skip


def _make_table(frequencies: Frequencies, selected: set[int] | None, threshold: float, level: float) -> pd.DataFrame:
    """The selected features and those of the consensus."""
    agreed = np.flatnonzero(frequencies.runs.frequency >= threshold - 1e-12)
    columns = np.union1d(agreed, np.array(sorted(selected or ()), dtype=np.int64)).astype(np.int64)
    columns = columns[np.argsort(-frequencies.runs.counts[columns], kind="stable")]
    low, high = frequencies.intervals(columns.tolist(), level)
    return pd.DataFrame(
        {
            "feature": [frequencies.runs.features[column] for column in columns],
            "column": columns,
            "selected": [None if selected is None else int(column) in selected for column in columns],
            "consensus": np.isin(columns, agreed),
            "count": frequencies.runs.counts[columns],
            "frequency": frequencies.runs.frequency[columns],
            "low": low,
            "high": high,
            "stand_ins": [frequencies.names(int(column)) for column in columns],
        }
    )


def error_bound(result: StudyResult, frequencies: Frequencies, threshold: float) -> ErrorBound:
    """The bound on false features in the consensus, where one holds."""
    plan, sizes = result.perturbation, frequencies.runs.sizes
    pairs, halves = result.design == "pairs", plan.get("perturbation") == "Subsample" and plan.get("fraction") == 0.5
    missing = None
    if not (pairs or halves):
        missing = "which needs resamples of half of the rows (complementary pairs, or subsamples of one half)"
    elif (sizes != sizes[0]).any():
        missing = "which needs resamples that all select equally many features"
    elif threshold <= 0.5:
        missing = "which needs a threshold above 0.5"
    if missing:
        return ErrorBound(math.nan, f"no bound on false features, {missing}")
    bound = float(sizes[0]) ** 2 / ((2 * threshold - 1) * frequencies.runs.n_features)
    kind = (
        "features that halves select no more often than by chance"
        if pairs
        else "features of noise, if these are exchangeable"
    )
    return ErrorBound(bound, f"at most {bound:.3g} {kind} are expected in it")


# A user's own list
