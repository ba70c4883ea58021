"""Recovery of known relevant features: false positives and false negatives."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from holdfast.cards import Card, draw_dots
from holdfast.results import ResultMixin
from holdfast.study.result import StudyResult
from holdfast.tradeoff.stand_ins import count_frequencies

if TYPE_CHECKING:
    from holdfast.plots.theme import AnyChart


@dataclass(frozen=True, kw_only=True, eq=False)
class Recovery(ResultMixin):
    """False positives and false negatives of a candidate, per resample and for its consensus.

    Attributes
    ----------
    candidate : str
        Its name.
    relevant : list
        The relevant features.
    runs : DataFrame
        One row per resample: how many features it ``selected``, ``true_positives``, ``false_positives``,
        ``false_negatives``.
    false_positives, false_negatives : list
        Those of the consensus: features in it that are not relevant, and relevant ones that are not in it.
    threshold : float
        Share of the resamples from which a feature is in the consensus.

    See Also
    --------
    holdfast.StudyResult.recovery : Makes it.
    holdfast.datasets : Data with known relevant features.

    Examples
    --------
    >>> import holdfast as hf
    >>> X, y, truth = hf.datasets.make_redundant(0.5, n_samples=10, n_features=20, n_relevant=5, random_state=0)
    >>> study = hf.Study(selectors=[hf.selectors.AnovaF(5)], perturbation=hf.Bootstrap(20))
    >>> recovery = study.run(X, y).recovery(truth, "anova")
    >>> recovery.false_positives, recovery.false_negatives
    ([18], [4])
    """

    candidate: str
    relevant: list[Any]
    runs: pd.DataFrame
    false_positives: list[Any]
    false_negatives: list[Any]
    threshold: float

    def to_frame(self) -> pd.DataFrame:
        """Return one row per resample (see :attr:`runs`).

        Returns
        -------
        DataFrame
            Indexed by the label of the split.
        """
        return self.runs

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
            verdict=f"A resample finds {mean:.0%} of them; the consensus at {self.threshold:g} has "
            f"{len(self.false_positives)} false features and misses {len(self.false_negatives)}",
            picture=draw_dots(shares.tolist(), mean=mean), note="Dots: share of the relevant features, per resample.",
        )  # fmt: skip

    def __repr__(self) -> str:
        mean = self.runs.mean()
        return (
            f"{self.candidate}, {len(self.relevant)} relevant features: a resample selects {mean['selected']:.1f}, "
            f"of which {mean['false_positives']:.1f} are false, and misses {mean['false_negatives']:.1f}; the "
            f"consensus at {self.threshold:g} has {len(self.false_positives)} false ones and misses "
            f"{len(self.false_negatives)}."
        )


def recovery(
    result: StudyResult, truth: Any, candidate: str, *, threshold: float = 0.5, top: int | None = None
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
    threshold : float
        Share of the resamples from which a feature is in the consensus.
    top : int, optional
        How many of the best features count, for candidates that give rankings or weights.

    Returns
    -------
    Recovery
        Counts per resample, and the errors of the consensus.

    Raises
    ------
    ValueError
        If a relevant feature is none of the study's.
    """
    runs = count_frequencies(result, candidate, top, None).runs
    columns = _find_columns(getattr(truth, "relevant", truth), runs.features)
    relevant = np.zeros(runs.n_features, dtype=bool)
    relevant[columns] = True
    hits = (runs.to_sparse() @ relevant.astype(np.float64)).astype(np.int64)
    consensus = runs.frequency >= threshold - 1e-12
    frame = pd.DataFrame(
        {
            "selected": runs.sizes,
            "true_positives": hits,
            "false_positives": runs.sizes - hits,
            "false_negatives": int(relevant.sum()) - hits,
        },
        index=pd.Index(runs.labels or range(runs.n_runs), name="run"),
    )

    def named(mask: Any) -> list[Any]:
        return [runs.features[column] for column in np.flatnonzero(mask).tolist()]

    return Recovery(
        candidate=candidate, relevant=named(relevant), runs=frame, threshold=threshold,
        false_positives=named(consensus & ~relevant), false_negatives=named(relevant & ~consensus),
    )  # fmt: skip


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
