"""Recovery of known relevant features: false positives and false negatives."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from holdfast.cards import Card, draw_dots
from holdfast.preferences import Preferences
from holdfast.results import ResultMixin
from holdfast.serialization import to_plain
from holdfast.study import Study, StudyResult
from holdfast.tradeoff.refit import find_study, fit_to_all_rows
from holdfast.tradeoff.stand_ins import read_subsets

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart


class FeatureErrors(NamedTuple):
    """The errors of a list of features where the relevant ones are known.

    Attributes
    ----------
    false_positives : list
        Features in the list that are not relevant.
    false_negatives : list
        Relevant features that are not in the list.

    See Also
    --------
    Recovery : Has those of the consensus, and of a final fit.

    Examples
    --------
    >>> from holdfast.tradeoff import FeatureErrors
    >>> FeatureErrors(["shoe size"], ["age", "dose"])
    1 false feature, 2 relevant ones missed
    """

    false_positives: list[Any]
    false_negatives: list[Any]

    def __repr__(self) -> str:
        n_false, n_missed = len(self.false_positives), len(self.false_negatives)
        return (
            f"{n_false} false feature{'' if n_false == 1 else 's'}, "
            f"{n_missed} relevant one{'' if n_missed == 1 else 's'} missed"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Recovery(ResultMixin):
    """False positives and false negatives of a candidate: per resample, of its consensus, and of a final fit.

    Attributes
    ----------
    candidate : str
        Its name.
    features : DataFrame
        One row per feature, in the order of columns: ``feature``, whether it is ``relevant``, its selection
        ``frequency``, whether it is in the ``consensus``, and ``selected`` by the final fit (None without one).
    runs : DataFrame
        One row per resample: how many features it ``selected``, ``true_positives``, ``false_positives``,
        ``false_negatives``.
    threshold : float
        Share of the resamples from which a feature is in the consensus.
    selected_on : str or None
        Which rows the final fit saw; None without one.

    See Also
    --------
    holdfast.StudyResult.recovery : Makes it.
    holdfast.plots.plot_recovery : Draws how often relevant and other features were selected.
    holdfast.datasets : Data with known relevant features.

    Examples
    --------
    >>> import holdfast as hf
    >>> X, y, truth = hf.datasets.make_redundant(0.5, n_samples=20, n_features=20, n_relevant=5, random_state=0)
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(5)], perturbation=hf.Bootstrap(20))
    >>> recovery = study.run(X[:10], y[:10]).recovery(truth, "anova", X[10:], y[10:])
    >>> recovery.consensus
    0 false features, 1 relevant one missed
    >>> recovery.final.false_positives, recovery.selected_on
    ([10, 16], '10 rows that are not those of the study')
    """

    candidate: str
    features: pd.DataFrame
    runs: pd.DataFrame
    threshold: float
    selected_on: str | None = None

    @property
    def relevant(self) -> list[Any]:
        """The relevant features."""
        return self.features["feature"][self.features["relevant"]].tolist()

    @property
    def consensus(self) -> FeatureErrors:
        """The errors of the consensus."""
        return self._errors("consensus")

    @property
    def final(self) -> FeatureErrors | None:
        """The errors of the final fit; None without one."""
        return None if self.selected_on is None else self._errors("selected")

    def _errors(self, column: str) -> FeatureErrors:
        names, relevant = self.features["feature"], self.features["relevant"]
        chosen = self.features[column].astype(bool)
        return FeatureErrors(names[chosen & ~relevant].tolist(), names[relevant & ~chosen].tolist())

    def to_frame(self) -> pd.DataFrame:
        """Return one row per resample (see :attr:`runs`).

        Returns
        -------
        DataFrame
            Indexed by the label of the split.
        """
        return self.runs

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON.

        Returns
        -------
        dict
            One entry per attribute, and the errors of ``consensus`` and ``final`` fit.
        """
        errors = {"consensus": self.consensus._asdict(), "final": self.final and self.final._asdict()}
        return {**super().to_dict(), **to_plain(errors)}

    def plot(self) -> "AnyChart":
        """Draw a dot for each resample (see :func:`holdfast.plots.plot_spread`).

        Returns
        -------
        altair.Chart
            A notebook shows it; :func:`holdfast.plots.save` writes it to a file.
        """
        from holdfast.plots import plot_spread

        return plot_spread(self)

    def _card(self) -> Card:
        shares = self.runs["true_positives"] / max(len(self.relevant), 1)
        mean = float(shares.mean())
        return Card(
            title=f"Recovery of {len(self.relevant)} relevant features by {self.candidate}", frame=self.runs, rows=4,
            verdict=f"A resample finds {mean:.0%} of them; {self._verdict}",
            picture=draw_dots(shares.tolist(), mean=mean), note="Dots: share of the relevant features, per resample.",
        )  # fmt: skip

    @property
    def _verdict(self) -> str:
        consensus = f"the consensus at {self.threshold:g} has {_tell(self.consensus)}"
        return consensus if self.final is None else f"{consensus}; a fit to {self.selected_on} has {_tell(self.final)}"

    def __repr__(self) -> str:
        mean = self.runs.mean()
        return (
            f"{self.candidate}, {len(self.relevant)} relevant features: a resample selects {mean['selected']:.1f}, "
            f"of which {mean['false_positives']:.1f} are false, and misses {mean['false_negatives']:.1f}; "
            f"{self._verdict}."
        )


def _tell(errors: FeatureErrors) -> str:
    return f"{len(errors.false_positives)} false ones and misses {len(errors.false_negatives)}"


def recovery(
    result: StudyResult,
    truth: Any,
    candidate: str,
    X: Any = None,
    y: Any = None,
    *,
    groups: Any = None,
    study: Study | None = None,
    threshold: float = 0.5,
    top: int | None = None,
) -> Recovery:
    """Count false positives and negatives of a candidate where the relevant features are known.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    truth : iterable of str or int, or Truth
        The relevant features by name or by column; or what :mod:`holdfast.datasets` knows of simulated data.
    candidate : str
        Name of a candidate.
    X, y : optional
        Rows for a final fit, as for :func:`final_features`: rows that took no part in the study, or all of them.
    groups : array, optional
        Groups of these rows, for selectors that resample them.
    study : Study, optional
        The plan, for a final fit of a result that was loaded from a store.
    threshold : float
        Share of the resamples from which a feature is in the consensus.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.

    Returns
    -------
    Recovery
        Counts per resample, and the errors of the consensus and of the final fit.

    Raises
    ------
    ValueError
        If a relevant feature is none of the study's, or only one of X and y is given.
    """
    if (X is None) != (y is None):
        raise ValueError(f"Expected both X and y for a final fit, got only {'y' if X is None else 'X'}.")
    runs = read_subsets(result, candidate, top)
    relevant = np.zeros(runs.n_features, dtype=bool)
    relevant[_find_columns(getattr(truth, "relevant", truth), runs.features)] = True
    features = pd.DataFrame(
        {
            "feature": list(runs.features), "relevant": relevant, "frequency": runs.frequency,
            "consensus": runs.frequency >= threshold - 1e-12, "selected": None,
        }
    )  # fmt: skip
    selected_on = None
    if X is not None:
        fitted, selected_on = fit_to_all_rows(result, find_study(result, study), candidate, X, y, groups)
        features["selected"] = read_subsets(fitted, candidate, top).counts > 0
    return Recovery(
        candidate=candidate, features=features, runs=_count_errors(runs, relevant), threshold=threshold,
        selected_on=selected_on,
    )  # fmt: skip


def _count_errors(runs: Preferences, relevant: NDArray[np.bool_]) -> pd.DataFrame:
    hits = (runs.to_sparse() @ relevant.astype(np.float64)).astype(np.int64)
    return pd.DataFrame(
        {
            "selected": runs.sizes,
            "true_positives": hits,
            "false_positives": runs.sizes - hits,
            "false_negatives": int(relevant.sum()) - hits,
        },
        index=pd.Index(runs.labels or range(runs.n_runs), name="run"),
    )


def _find_columns(truth: Iterable[Any], features: Any) -> list[int]:
    place = {str(name): column for column, name in enumerate(features)}
    columns = []
    for feature in truth:
        number = isinstance(feature, (int, np.integer)) and not isinstance(feature, bool)
        column = int(feature) if number and int(feature) in range(len(features)) else place.get(str(feature))
        if column is None:
            raise ValueError(f"Expected relevant features by name or by column from 0, got {feature!r}.")
        columns.append(column)
    return columns
