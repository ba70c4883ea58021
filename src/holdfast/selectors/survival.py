"""Filters for survival times: features weighed by Cox's score test, or by their concordance with the times."""

from typing import Any, ClassVar, NamedTuple

import numpy as np

from holdfast.declared import About
from holdfast.kernels.cox import Rows, column_concordances, score_tests, sort_rows
from holdfast.kernels.jit import frozen
from holdfast.selectors.base import ROUNDING, Batch, Data, Filter, Floats, Ints, Serves, check_events
from holdfast.targets import Target, as_survival


class _Ordered(NamedTuple):
    """The rows of a data set in the order of time, with their columns about their means."""

    rows: Rows
    X: Floats


class _SurvivalFilter(Filter):
    """A filter for survival times; it weighs the columns of rows in the order of time."""

    needs_classes: ClassVar[bool] = False
    block_fits: int = 16  # they share a pass over the columns

    def _plain_target(self, y: Any) -> Any:
        return as_survival(y)

    def _target(self, y: Any) -> Target:
        return Target(as_survival(y), None)

    def _check(self, target: Target, counts: Ints) -> dict[int, ValueError]:
        return super()._check(target, counts) | check_events(target, counts)

    def share(self, data: Data) -> _Ordered:
        rows = sort_rows(data.target.values)
        return _Ordered(rows, frozen((data.X - data.X.mean(axis=0))[rows.order], np.float64))


class CoxScore(_SurvivalFilter):
    r"""Select the features of the largest score statistic of Cox's model, each feature by itself.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to select at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Absolute score statistic :math:`|z|` of each feature.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    CoxConcordance : By ranks, robust to skewed features.
    ElasticNetPath : The lasso of Cox's model.
    holdfast.survival : The target.

    Notes
    -----
    :math:`z = U/\sqrt V` with the slope U and the curvature V of the log partial likelihood at 0: the log-rank test for
    a 0/1 feature. It orders features as Wald's test does. Tied times are treated as by Breslow. In a bootstrap sample,
    which holds copies of rows, z orders features and is no normal variable.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> from holdfast.selectors import CoxScore
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 5))
    >>> time, end = rng.exponential(np.exp(-X[:, 3])), rng.exponential(2, size=80)
    >>> CoxScore(1).fit(X, hf.survival(np.minimum(time, end), time <= end)).get_support()
    array([False, False, False,  True, False])
    """

    serves: ClassVar[Serves] = Serves(survival="score test of Cox's model")
    about: ClassVar[About] = About(
        name="cox_score",
        label="Cox score",
        summary="Largest score statistic of Cox's model, one feature at a time.",
        methods="ranked by the score test of Cox's proportional hazards model",
        reference="cox1972",
        needs=serves.needs,
    )

    uninformative: ClassVar[str | None] = "a score statistic of 0"
    null_weight: float = ROUNDING

    def weigh(self, batch: Batch, shared: Any) -> Floats:
        return np.abs(score_tests(shared.X, shared.rows, batch.counts[:, shared.rows.order]))


class CoxConcordance(_SurvivalFilter):
    r"""Select the features of the largest concordance with survival times, in either direction.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to select, at most: features without information are never selected.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to select at the cut: drawn at random, or the lowest columns. ``"auto"`` draws
        where there is a seed, as in every study, and takes the lowest columns in a plain fit without one.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Distance of Harrell's C from 0.5, for each feature as a risk.
    informative_ : ndarray of bool
        Which features carry information.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    CoxScore : By the score test of Cox's model.

    Notes
    -----
    C is the share of comparable pairs of rows in which the row with the larger value has the event first; equal values
    count one half. It depends on ranks only.

    Examples
    --------
    >>> import numpy as np
    >>> import holdfast as hf
    >>> from holdfast.selectors import CoxConcordance
    >>> y = hf.survival([2, 5, 7, 9], [1, 1, 0, 1])
    >>> CoxConcordance(1).fit(np.array([[1.0, 9], [3, 7], [2, 6], [1, 1]]), y).scores_
    array([0. , 0.5])
    """

    serves: ClassVar[Serves] = Serves(survival="concordance")
    about: ClassVar[About] = About(
        name="cox_concordance",
        label="Concordance",
        summary="Largest concordance with survival times, one feature at a time.",
        methods="ranked by the distance of Harrell's concordance index from one half",
        reference="harrell1982",
        needs=serves.needs,
    )

    uninformative: ClassVar[str | None] = "a concordance of one half"
    null_weight: float = ROUNDING

    def weigh(self, batch: Batch, shared: Any) -> Floats:
        return np.abs(column_concordances(shared.X, shared.rows, batch.counts[:, shared.rows.order]) - 0.5)
