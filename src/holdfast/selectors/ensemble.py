"""Ensemble feature selection: rankings of a selector on many resamples, put together to one order."""

from typing import Any, ClassVar, Literal

import numpy as np
from scipy.stats import rankdata

from holdfast.declared import About
from holdfast.resampling import Perturbation
from holdfast.selection import Selection
from holdfast.selectors.base import Preference, Setting
from holdfast.selectors.rows import Floats, Ints, Mask, Target
from holdfast.selectors.weighing import tied
from holdfast.selectors.wrapping import (
    Resampling,
    ResamplingWrapper,
    inner_splits,
    mean_ranks,
    named_resampling,
    selects_for_classes,
    worse_first,
)

Aggregate = Literal["mean_rank", "frequency", "exponential"]
USUAL = dict.fromkeys(("bootstrap", "subsamples", "pairs"), 50)


class EnsembleSelector(ResamplingWrapper):
    r"""Ensemble feature selection: fit a selector to many resamples and keep the features that are best overall.

    Every feature gets a score over the resamples: minus its mean rank (``"mean_rank"``, complete linear aggregation),
    the share of resamples in which it is among the best ``depth`` (``"frequency"``), or the mean of
    :math:`e^{-r/k}` over its ranks r with k = ``depth`` (``"exponential"``). Tied features share their mean rank,
    and the places left in a list; a base without an order ranks all that it selects before all others. Of features
    with equal scores, those that are kept are drawn. Copies of a row, and rows of one group, are drawn together.

    Parameters
    ----------
    base : selector
        A selector, or any scikit-learn estimator with a ranking, scores, coefficients or importances. Its own
        ``n_features`` tells how far features are ordered, where that matters: MRMR orders no more than that, and an
        elimination goes no further and orders what is left by weight.
    n_features : int
        Number of features to select. All sizes come from one fit.
    n_resamples : int
        How many resamples, or pairs of them.
    resampling : {"bootstrap", "subsamples", "pairs"} or perturbation
        How rows are drawn: with replacement, within each class if the base selects for classes, so that no class goes
        missing; halves; disjoint halves two by two; or a perturbation with its own number, such as
        ``hf.Subsample(100, 0.8)`` or ``hf.Bootstrap(50)``, which draws from all rows alike.
    aggregate : {"mean_rank", "frequency", "exponential"}
        How ranks become a score.
    depth : int
        Length of the lists that ``"frequency"`` counts, and scale of ``"exponential"``.
    random_state : int, optional
        Seed of the resamples and of the base. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray
        Score of every feature; larger is better.
    ranking_ : ndarray
        Rank of every feature by its score, 1 is best; equal scores share their mean rank.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    StabilitySelection : How often features are selected on halves, with a bound on false ones.

    References
    ----------
    Saeys, Abeel and Van de Peer (2008); Abeel et al. (2010); Haury, Gestraud and Vert (2011).

    Examples
    --------
    >>> from holdfast.selectors import AnovaF, EnsembleSelector
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(EnsembleSelector(AnovaF(), 3, random_state=0).fit(X, y).get_feature_names_out())
    ['mean concave points', 'worst perimeter', 'worst concave points']
    """

    about: ClassVar[About] = About(
        name="ensemble",
        label="Ensemble",
        summary="Best mean rank of a base selector over resamples.",
        methods="an ensemble of selections on resamples",
    )

    shared_parameters: ClassVar[tuple[str, ...]] = ("n_features",)
    uninformative: ClassVar[str | None] = "no information for the base in any resample"

    def __init__(
        self,
        base: Any,
        n_features: int = 10,
        *,
        n_resamples: int = 50,
        resampling: Resampling | Perturbation = "bootstrap",
        aggregate: Aggregate = "mean_rank",
        depth: int = 10,
        random_state: Any = None,
    ) -> None:
        self.base, self.n_features, self.n_resamples, self.resampling = base, n_features, n_resamples, resampling
        self.aggregate, self.depth, self.random_state = aggregate, depth, random_state

    def _base_settings(self) -> list[Setting]:
        if self.aggregate not in SCORES:
            raise ValueError(f"Expected aggregate to be {', '.join(map(repr, SCORES))}, got {self.aggregate!r}.")
        if isinstance(self.depth, bool) or not isinstance(self.depth, (int, np.integer)) or self.depth < 1:
            raise ValueError(f"Expected depth to be a whole number of at least 1, got {self.depth!r}.")
        return [{}]

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        by_class = self.resampling == "bootstrap" and selects_for_classes(self.base, target.values)
        resampling = named_resampling(self.resampling, self.n_resamples, USUAL, stratify=by_class)
        splits = inner_splits(resampling, shared, counts, target.values, seed)
        d, score = X.shape[1], SCORES[self.aggregate]
        total, informative = np.zeros(d), np.zeros(d, dtype=bool)
        for (selection,) in self._preferred(shared, X, target, splits, [{}]):
            total += score(selection, d, int(self.depth))
            informative |= carries_information(selection, d)
        scores = tied(total / len(splits))
        ranks = np.asarray(rankdata(-scores), dtype=np.float64)
        return Preference("ranking", ranks, extras={"scores_": scores}, informative=informative)


def carries_information(selection: Selection, n_features: int) -> Mask:
    """Which features an order tells anything of, or a base without an order selects."""
    if selection.kind == "subset":
        return np.isin(np.arange(n_features), selection.values)
    return np.ones(n_features, dtype=bool) if selection.informative is None else selection.informative


def less_mean_rank(selection: Selection, n_features: int, depth: int) -> Floats:
    """Minus the rank of every feature."""
    return -mean_ranks(selection, n_features)


def share_listed(selection: Selection, n_features: int, depth: int) -> Floats:
    """Which features are in the list of the best; tied ones share the places left."""
    worse = worse_first(selection, n_features)
    if selection.kind == "subset":
        return 1 - worse
    first, last = (np.asarray(rankdata(worse, method=method), dtype=np.float64) for method in ("min", "max"))
    return np.clip((depth - first + 1) / (last - first + 1), 0, 1)


def exponential(selection: Selection, n_features: int, depth: int) -> Floats:
    """A score that falls with the rank of a feature, by a factor e every ``depth`` ranks."""
    return np.exp(-mean_ranks(selection, n_features) / depth)


SCORES = {"mean_rank": less_mean_rank, "frequency": share_listed, "exponential": exponential}
