"""Minimum redundancy, maximum relevance."""

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from holdfast.checks import find_names
from holdfast.declared import About
from holdfast.kernels.filters import Correlated, correlate
from holdfast.kernels.information import (
    Codes,
    Sample,
    correlation_path,
    equal_width_codes,
    given_codes,
    information,
    make_sample,
    score_correlations,
    score_path,
    selection_path,
)
from holdfast.resampling import Bootstrap, Perturbation
from holdfast.selection import tie_ranks
from holdfast.selectors.base import (
    Batch,
    Data,
    Floats,
    Ints,
    LazyRanking,
    Ranked,
    Selector,
    Serves,
    Ties,
    check_choice,
    checked_target,
    guessed_target,
    learns_on_all,
    plain_target,
    whole_counts,
)
from holdfast.selectors.filters import class_codes
from holdfast.targets import Target

Scheme = Literal["mid", "miq", "mid_alpha"]
Relevance = Literal["auto", "information", "f", "correlation"]


class MRMR(Selector):
    r"""Minimum redundancy, maximum relevance (mRMR): features that tell much of the target and share little.

    Features are chosen one after the other, with a relevance V and a redundancy W, the mean of what is shared with
    those chosen before: information for classes, absolute correlation for numbers that are not whole. Features of
    relevance 0 are never chosen, unless asked for.

    Parameters
    ----------
    n_features : int, default 10
        Number of features to choose, at most. All sizes come from one fit.
    scheme : {"mid", "miq", "mid_alpha"}, default "mid"
        The next feature has the largest difference V - W, quotient V / W, or αV - (1 - α)W.
    alpha : float, default 0.5
        Weight α of the relevance in ``"mid_alpha"``, from 0 to 1; many values share their work.
    n_bins : int or None, default 10
        Number of bins of equal width for each feature, from 2 to 256; None if X holds codes, whole numbers from 0 to
        255.
    bins : {"split", "full"}, default "split"
        Whether bins lie between the least and largest value of the split's rows, or of all rows.
    relevance : {"auto", "information", "f", "correlation"}, default "auto"
        What V is: the information about the class; the F value of an analysis of variance, or of a regression on the
        feature; or, for numbers to predict, the absolute correlation with them. ``"auto"`` takes the information for
        classes and the correlation for numbers. W is information next to information, else absolute correlation.
    target_bins : int, optional
        Number of bins of about equal size, learned from the split's rows, into which numbers to predict are cut, for
        their information.
    ties : {"auto", "random", "lowest"}, default "auto"
        Which of equally good features to choose at each step: drawn at random, or the lowest column, as published
        results did. ``"auto"`` draws where there is a seed, as in every study.
    relevant_only : bool, default True
        Whether features of relevance 0 are left out. By V - W a constant feature, which shares nothing, comes before
        many that tell of the class; False lets it, as the published definition does.
    random_state : int, optional
        Seed of that choice. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    order_ : ndarray
        Chosen columns in the order of their choice.
    relevance_ : ndarray
        V at each step.
    redundancy_ : ndarray
        W at each step, 0 at the first.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature; those not chosen share the last.
    informative_ : ndarray of bool
        Which features may be chosen: those of a relevance above 0, or all.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    InformationGain : Information about the class, one feature at a time.
    holdfast.similarity.SymmetricalUncertainty : Shared information of features, for measures of stability.

    Notes
    -----
    For information, V = I(x; y) and W = mean of I(x; x′) over the features x′ chosen before, in nats, on discretized
    features. With ``relevance="f"`` the schemes are FCD and FCQ of Ding and Peng; as F has no upper limit, the quotient
    is the one that weighs both.

    References
    ----------
    Peng, Long and Ding (2005); Ding and Peng (2005) for F and correlation; Gulgezen, Cataltepe and Yu (2009) for
    ``"mid_alpha"`` and its stability.

    Examples
    --------
    >>> from holdfast.selectors import MRMR
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> list(MRMR(3).fit(X, y).get_feature_names_out())
    ['worst radius', 'worst texture', 'worst concave points']
    """

    serves: ClassVar[Serves] = Serves(
        "information, or F and correlation",
        "information, or F and correlation",
        "correlation, or F; with `target_bins`: information about bins",
    )
    about: ClassVar[About] = About(
        name="mrmr",
        label="mRMR",
        summary="Tells much of the target, shares little: scheme=mid, miq or mid_alpha.",
        methods="minimum redundancy and maximum relevance (mRMR)",
        reference="peng2005",
        needs=serves.needs,
    )
    for_numbers: ClassVar[dict[str, Any]] = {"relevance": "correlation"}

    shared_parameters: ClassVar[tuple[str, ...]] = ("n_features", "alpha")
    uninformative: ClassVar[str | None] = "a relevance of 0"
    whole_order: ClassVar[tuple[str, ...]] = ("largest",)

    def __init__(
        self,
        n_features: int = 10,
        *,
        scheme: Scheme = "mid",
        alpha: float = 0.5,
        n_bins: int | None = 10,
        bins: Literal["split", "full"] = "split",
        relevance: Relevance = "auto",
        target_bins: int | None = None,
        ties: Ties = "auto",
        relevant_only: bool = True,
        random_state: Any = None,
    ) -> None:
        self.n_features, self.scheme, self.alpha, self.n_bins, self.bins = n_features, scheme, alpha, n_bins, bins
        self.relevance, self.target_bins = relevance, target_bins
        self.ties, self.relevant_only, self.random_state = ties, relevant_only, random_state

    def _target(self, y: Any) -> Target:
        kind = check_choice("relevance", self.relevance, get_args(Relevance))
        if self.target_bins is not None:
            if kind not in ("auto", "information"):
                raise ValueError(
                    f"Expected relevance='information' with target_bins={self.target_bins}, got {kind!r}; leave "
                    "target_bins out, as numbers are taken as they are."
                )
            return checked_target(y, False)
        if kind == "correlation":
            return checked_target(y, False)
        return checked_target(y, True) if kind == "information" else guessed_target(y)

    def _by_information(self, target: Target) -> bool:
        """Whether relevance and redundancy are information, not correlation."""
        return (
            self.relevance == "information"
            or self.target_bins is not None
            or (self.relevance == "auto" and target.classes is not None)
        )

    def share(self, data: Data) -> Codes | None:
        if not self._by_information(data.target):
            return None
        if self.n_bins is None:
            return given_codes(data.X)
        return equal_width_codes(data.X, self.n_bins) if learns_on_all("bins", self.bins) else None

    def _correlate(self, X: Floats, target: Target, counts: Ints) -> Correlated:
        """Standardized columns of the rows that count, and what the target explains of each."""
        numbers = target.values[:, None]
        return correlate(
            X, 1.0 * (numbers == target.present(counts)) if target.classes is not None else numbers, counts
        )

    def _sample(self, shared: Codes | None, X: Floats, target: Target, counts: Ints) -> tuple[Sample, Ints]:
        """Codes and classes of the rows that count."""
        rows = np.flatnonzero(counts)
        if shared is None:
            assert self.n_bins is not None
            codes = equal_width_codes(X, self.n_bins, rows)
        else:
            codes = shared[:, rows]
        return make_sample(codes, counts[rows]), class_codes(target, counts, self.target_bins)[rows]

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        alphas = sorted({float(selector.alpha) for selector in batch.selectors})
        if self.scheme == "mid_alpha" and not 0 <= alphas[0] <= alphas[-1] <= 1:
            raise ValueError(f"Expected alpha from 0 to 1, got {alphas[0] if alphas[0] < 0 else alphas[-1]:g}.")
        longest = max(1, *(selector._wanted_size(batch.n_features) for selector in batch.selectors))
        ranked = []
        for counts, seed in batch.resamples:
            ranks = tie_ranks(batch.n_features, self._tie_seed(seed))
            if self._by_information(batch.target):
                sample, labels = self._sample(shared, batch.X, batch.target, counts)
                relevance = information(sample, labels)
                paths = selection_path(
                    sample, labels, longest, scheme=self.scheme, alphas=alphas, relevance=relevance, tie_ranks=ranks,
                    relevant_only=self.relevant_only,
                )  # fmt: skip
            else:
                correlated = self._correlate(batch.X, batch.target, counts)
                relevance = correlated.relevance(self.relevance)
                paths = correlation_path(
                    correlated, relevance, longest, scheme=self.scheme, alphas=alphas, tie_ranks=ranks,
                    relevant_only=self.relevant_only,
                )  # fmt: skip
            eligible = relevance > 0 if self.relevant_only else np.ones(relevance.size, dtype=bool)
            by_path = [
                LazyRanking(order, eligible, {"order_": order, "relevance_": relevances, "redundancy_": redundancies})
                for order, relevances, redundancies in zip(*paths, strict=True)
            ]
            is_single = len(by_path) == 1  # other schemes have no alpha
            ranked.append(
                [by_path[0 if is_single else alphas.index(float(selector.alpha))] for selector in batch.selectors]
            )
        return ranked

    def score_path(self, X: Any, y: Any, order: Sequence[int], sample_weight: Any = None) -> tuple[Floats, Floats]:
        """Return relevance and mean redundancy at each step along an order of columns.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.
        y : array of shape (n_samples,)
            The target.
        order : sequence of int
            Columns in the order in which they enter.
        sample_weight : array of whole numbers, optional
            How often each row counts.

        Returns
        -------
        (ndarray, ndarray)
            Relevance of each column, and its mean redundancy with those before it: in nats if they are information.
        """
        X, y = validate_data(self, X, plain_target(y), dtype=np.float64, reset=False)
        counts, target = whole_counts(sample_weight, X.shape[0]), self._target(y)
        if not self._by_information(target):
            correlated = self._correlate(X, target, counts)
            return score_correlations(correlated, correlated.relevance(self.relevance), order)
        shared = self.share(Data(X, target, None, [{}], [self]))
        return score_path(*self._sample(shared, X, target, counts), order)


def mrmr_terms(
    selector: MRMR,
    X: Any,
    y: Any,
    perturbation: Perturbation | None = None,
    *,
    order: Sequence[int] | None = None,
    random_state: int = 0,
) -> pd.DataFrame:
    """Compute what mRMR weighs at each step of one order of features, on each of many resamples.

    How much relevance V, redundancy W, V - W and V / W vary over resamples shows how far the choice at a step depends
    on the rows at hand.

    Parameters
    ----------
    selector : MRMR
        Says how features are binned, how many are chosen, and by which criterion.
    X : array or frame of shape (n_samples, n_features)
        Finite numbers.
    y : array of shape (n_samples,)
        The target.
    perturbation : Perturbation, optional
        Resamples of the rows; 50 bootstrap samples by default.
    order : sequence of int, optional
        Columns in the order in which they enter; by default that of the selector on all rows.
    random_state : int
        Seed of the resamples.

    Returns
    -------
    DataFrame
        One row per resample and step: ``resample``, ``step`` (from 1), ``feature``, ``relevance`` (V), ``redundancy``
        (W, 0 at the first step), ``difference`` (V - W) and ``quotient`` (V / W, infinite where W is 0).

    Raises
    ------
    ValueError
        If the perturbation changes values or labels, not only rows.

    See Also
    --------
    MRMR.score_path : Relevance and redundancy on one sample.
    holdfast.plots.plot_mrmr_terms : Draws mean and standard deviation at each step.

    References
    ----------
    Gulgezen, Cataltepe and Yu (2009), Figures 1 and 2.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> terms = hf.selectors.mrmr_terms(hf.selectors.MRMR(3), X, y, hf.Bootstrap(20))
    >>> terms.groupby("step", as_index=False)[["relevance", "redundancy", "difference"]].std().round(3)
       step  relevance  redundancy  difference
    0     1      0.028       0.000       0.028
    1     2      0.033       0.042       0.033
    2     3      0.046       0.051       0.035
    """
    names, _ = find_names(X, None, None)
    fitted = clone(selector).fit(X, y)
    columns = fitted.order_.tolist() if order is None else list(order)
    features = [names[column] if names is not None else column for column in columns]
    tables = []
    for split in (perturbation or Bootstrap(50)).splits(
        y, stratified=fitted._target(np.asarray(y)).strata is not None, random_state=random_state
    ):
        if split.change is not None:
            raise ValueError("Expected a perturbation that resamples rows, got one that changes values or labels.")
        V, W = fitted.score_path(X, y, columns, sample_weight=split.weights(len(y)))
        with np.errstate(divide="ignore", invalid="ignore"):
            quotient = np.where(W > 0, V / W, np.where(V > 0, np.inf, 0.0))
        terms = {"relevance": V, "redundancy": W, "difference": V - W, "quotient": quotient}
        steps = np.arange(1, V.size + 1)
        tables.append(pd.DataFrame({"resample": split.label, "step": steps, "feature": features, **terms}))
    return pd.concat(tables, ignore_index=True)
