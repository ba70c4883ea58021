"""What all selectors share: the scikit-learn contract, and many resamples as counts on the rows of one data set.

A fit is a resample. A selector writes two methods: what all resamples share (:meth:`Selector.share`), and what each
resample of a :class:`Batch` prefers by each setting (:meth:`Selector.rank`). A single fit is a batch of one resample
that takes every row once, so that fits one by one and in batches cannot differ. A :class:`Filter` only weighs features.
"""

import math
import operator
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, Self, get_args

import numpy as np
import pandas as pd
from joblib import hash as content_hash
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import ClassifierTags, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from holdfast.checks import as_column, check_whole, type_name
from holdfast.kernels.tolerances import check_magnitude
from holdfast.preferences import Kind
from holdfast.resampling import Split
from holdfast.resampling.split import count_rows
from holdfast.selection import (
    Best,
    FewerFeaturesWarning,
    Selection,
    best_columns,
    best_of_resamples,
    falls,
    fewer_note,
    tie_ranks,
)
from holdfast.targets import CLASSES_OR_NUMBERS, TIMES_AND_EVENTS, Target, as_survival, read_survival
from holdfast.text import shorten

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Setting = dict[str, Any]
Ties = Literal["auto", "random", "lowest"]
TIES = get_args(Ties)
Model = Literal["auto", "logistic", "linear", "cox"]
Adjusts = Literal["formula", "base"] | None
Key = tuple[tuple[str, str], ...]
PLAIN = (str, int, float, bool, type(None))
INPUT_ATTRIBUTES = ("n_features_in_", "feature_names_in_")
"""Fitted attributes that scikit-learn sets when it reads the input."""
MAX_KNOWN = 8
"""Of how many lists of settings the groups are cached."""
ROUNDING = 1e-11
"""Weights from 0 to about 1 that are no larger are 0 but for rounding."""


# The input of a selector


@dataclass(frozen=True, eq=False)
class Data:
    """Rows and what is wanted of them: what does not depend on a resample.

    Attributes
    ----------
    X : ndarray
        Features of all rows.
    target : Target
        What is to be predicted.
    groups : ndarray of int or None
        The group of each row, if there are groups; selectors that draw rows again keep those of one group together.
    settings : sequence of dict
        Values of parameters, which differ in ``shared_parameters`` only.
    selectors : sequence of Selector
        The selector with each setting.
    covariates : ndarray or None
        Columns that features are adjusted for, by selectors that ``adjusts``.
    sites : ndarray of int or None
        The site of each row, for filters that are to weigh features within sites.
    """

    X: Floats
    target: Target
    groups: Ints | None
    settings: Sequence[Setting]
    selectors: Sequence[Any]
    covariates: Floats | None = field(default=None, kw_only=True)
    sites: Ints | None = field(default=None, kw_only=True)

    @property
    def adjustment(self) -> Floats:
        """The covariates; a table without columns if there are none."""
        return np.empty((len(self.X), 0)) if self.covariates is None else self.covariates

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.X.shape[1]


@dataclass(frozen=True, eq=False)
class Batch(Data):
    """Resamples that are fitted together.

    Attributes
    ----------
    counts : ndarray of int
        How often each resample takes each row (resamples × rows).
    seeds : sequence of int or None
        The seed of each resample; None if there is none.
    cut : bool
        Whether only the best features are asked for, as many as each setting selects.
    """

    counts: Ints
    seeds: Sequence[int | None]
    cut: bool

    def __len__(self) -> int:
        """Number of resamples."""
        return len(self.seeds)

    def __iter__(self) -> "Iterator[Batch]":
        """Each resample by itself."""
        for resample in range(len(self)):
            yield replace(self, counts=self.counts[resample : resample + 1], seeds=[self.seeds[resample]])

    @property
    def resamples(self) -> Iterator[tuple[Ints, int | None]]:
        """The counts and the seed of each resample."""
        return zip(self.counts, self.seeds, strict=True)


def checked_target(y: NDArray[Any], classes: bool) -> Target:
    """The target of a selector that takes it for classes, or for numbers; raise if it holds none."""
    if y.dtype.names:
        raise ValueError(
            f"Expected {'classes' if classes else 'numbers'} in y, got survival times; selectors for these are "
            "CoxScore, CoxConcordance, CoxLasso, HybridRFE and Variance."
        )
    if classes:
        check_classification_targets(y)
        return Target.of(y, classes)
    try:
        return Target.of(y, classes)
    except ValueError:
        text = shorten(str(y[0]), 40)
        raise ValueError(
            f"Expected numbers to predict in y, got {text!r} in row 0; take a selector for classes."
        ) from None


def guessed_target(y: NDArray[Any]) -> Target:
    """The target of a selector for classes and numbers: numbers if they are not whole, else classes."""
    return checked_target(y, not type_of_target(y).startswith("continuous"))


def check_events(target: Target, counts: Ints) -> dict[int, ValueError]:
    """Which of these resamples (resamples × rows) of survival times hold no event."""
    error = ValueError("Expected events among the rows that features are selected on, got censored rows only.")
    return dict.fromkeys(np.flatnonzero(~(counts * target.values["event"]).any(axis=1)).tolist(), error)


def plain_target(y: Any) -> Any:
    """A target whose entries are objects as texts or numbers, or raise; others are for scikit-learn to check."""
    if getattr(getattr(y, "dtype", None), "names", None):
        return read_survival(y)
    if not (isinstance(y, (list, tuple)) or str(getattr(y, "dtype", "")) == "object") or not len(y):
        return y
    widths = {len(entry) if isinstance(entry, (list, tuple, np.ndarray)) else 0 for entry in y}
    if len(widths) == 1 and 0 not in widths:
        return y  # several columns
    column = as_column(y, "y")
    if column.dtype.kind in "OS":
        raise ValueError(f"Expected texts or numbers in y, got {type_name(column[0])} in row 0; make texts of them.")
    return column


def whole_counts(sample_weight: Any, n_samples: int) -> Ints:
    """How often each row counts: once, or as the weights say, which must be whole numbers."""
    if sample_weight is None:
        return np.ones(n_samples, dtype=np.int64)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise ValueError(f"Expected one sample weight for each of {n_samples} rows, got shape {weights.shape}.")
    wrong = np.flatnonzero((weights < 0) | (weights != np.round(weights)))
    if wrong.size:
        raise ValueError(
            f"Expected whole numbers as sample_weight, how often each row counts, got {weights[wrong[0]]:g} in row "
            f"{wrong[0]}; repeat rows, or scale the weights."
        )
    if not weights.any():
        raise ValueError("Expected sample weights that are not all zero, got nothing but zero.")
    return weights.astype(np.int64)


def row_groups(groups: Any, n_samples: int) -> Ints | None:
    """The group of each row, numbered in the order of their labels."""
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_samples,):
        raise ValueError(f"Expected one group for each of {n_samples} rows, got shape {labels.shape}.")
    codes, _ = pd.factorize(labels, sort=True)
    if (codes < 0).any():
        raise ValueError(
            f"Expected a group for each row, got none in row {int(np.argmin(codes))}; give each row without a group "
            "a separate one."
        )
    return codes.astype(np.int64)


class BinaryProblem(NamedTuple):
    """A two-class problem: labels −1 and 1, the class that is 1, and which resamples it is for."""

    labels: Floats
    code: int
    resamples: NDArray[np.bool_]


def one_against_rest(target: Target, counts: Ints) -> list[BinaryProblem]:
    """One problem for each class against the rest; of two classes, the higher one's suffices."""
    codes = np.arange(target.n_classes)
    held = np.array([np.bincount(target.values, weights=row, minlength=codes.size) > 0 for row in counts])
    two = held.sum(axis=1) == 2
    higher = held & (np.cumsum(held, axis=1) == 2)
    concerned = np.where(two[:, None], higher, held)
    return [
        BinaryProblem(np.where(target.values == code, 1.0, -1.0), int(code), concerned[:, code])
        for code in codes
        if concerned[:, code].any()
    ]


def varying(X: Floats, counts: Ints) -> Mask:
    """Which columns are not constant in each resample."""
    masks = np.ones((len(counts), X.shape[1]), dtype=bool)
    for mask, row in zip(masks, counts, strict=True):
        drawn = np.flatnonzero(row)
        constant = np.flatnonzero(X[drawn[0]] == X[drawn[min(1, drawn.size - 1)]])
        for rows in (drawn[2:5], drawn[5:]):  # most columns differ in the first few, and are not looked at again
            if constant.size:
                constant = constant[(X[np.ix_(rows, constant)] == X[drawn[0], constant]).all(axis=0)]
        mask[constant] = False
    return masks


class Serves(NamedTuple):
    """What a selector does for each kind of target, in a few words; empty where it refuses it.

    Attributes
    ----------
    two_classes, more_classes, numbers, survival : str
        What it ranks or selects by.
    numbers_by : str
        The parameter without which numbers are refused, if there is one.
    """

    two_classes: str = ""
    more_classes: str = ""
    numbers: str = ""
    survival: str = ""
    numbers_by: str = ""

    @property
    def needs(self) -> tuple[str, ...]:
        """What it needs of a target (:attr:`holdfast.declared.About.needs`): nothing if it serves every one."""
        return NEEDS[bool(self.two_classes), bool(self.numbers) and not self.numbers_by, bool(self.survival)]


NEEDS: dict[tuple[bool, bool, bool], tuple[str, ...]] = {
    (True, True, True): (), (True, True, False): (CLASSES_OR_NUMBERS,), (True, False, False): ("classes",),
    (False, True, False): ("numbers to predict",), (False, False, True): (TIMES_AND_EVENTS,),
}  # fmt: skip
"""What a selector of classes, of numbers and of survival times, or of some of them, needs."""
AS_BASE = Serves(*["as its base"] * 4)
"""What a selector around another one does."""


# What a fit prefers


class FitResult:
    """What one fit prefers, before it is cut to a size; subclasses hold it, or make it when it is asked for.

    Attributes
    ----------
    kind : {"subset", "ranking", "weighting"}
        What ``values`` are: selected columns, ranks (1 is best) or weights (larger is better).
    values : ndarray
        See above.
    model : object, optional
        A model that predicts from rows of all features.
    extras : dict, optional
        Fitted attributes besides those of every selector, by name.
    informative : ndarray of bool, optional
        Which features got anything else than a constant column would; no others are selected. All, if not given.
    note : str
        What a user should know of this fit.
    """

    kind: Kind
    values: Any
    model: Any = None
    extras: Any = None
    informative: Any = None
    note: str = ""

    def selection(self) -> Selection:
        """Return the preference as a study takes it, without the fitted attributes, not cut to a size."""
        return Selection(self.kind, self.values, self.model, self.note, self.informative)

    def top(self, k: int, *, random_state: int | None, rule: str) -> Selection:
        """Cut an order to its best ``k``, as :meth:`holdfast.selection.Selection.top` does."""
        best = self.selection().top(k, random_state=random_state, rule=rule)
        return best if self.model is None else replace(best, model=self.model)

    def subset(self) -> Selection:
        """Return a subset as what was selected."""
        return Selection.subset(self.values, self.model, self.note)


@dataclass(frozen=True, eq=False)
class Preference(FitResult):
    """A subset, a ranking or weights of features that were computed; see :class:`FitResult` for the attributes.

    ``order`` has the columns of a subset, the best first, if they were chosen one after the other.
    """

    kind: Kind
    values: NDArray[Any]
    model: Any = None
    extras: dict[str, Any] | None = None
    informative: Mask | None = None
    note: str = ""
    order: NDArray[Any] | None = None

    def subset(self) -> Selection:
        return super().subset() if self.order is None else Selection.first(self.order, self.model, self.note)


@dataclass(frozen=True, eq=False)
class LazyWeights(FitResult):
    """Weights of features, of which those tie that differ by rounding only; the best are found without sorting all.

    Attributes
    ----------
    weights : ndarray
        As computed; what is not finite is undefined or beyond measure.
    rounding : float
        Weights that differ by no more tie, however small they are.
    largest : int
        The largest size that will be asked for, if known: all sizes are cuts of one order.
    best : dict
        The best columns that are known, by the seed that decides ties, and how many.
    """

    weights: Floats
    informative: Mask
    rounding: float = 0.0
    largest: int = 0
    kind: Kind = field(default="weighting", init=False)
    best: dict[tuple[int | None, int], Best] = field(default_factory=dict)

    @cached_property
    def values(self) -> Floats:
        """The weights, equal where they tie."""
        return tied(self.weights, self.rounding)

    def top(self, k: int, *, random_state: int | None, rule: str) -> Selection:
        wanted = min(k, self.weights.size)
        largest = min(max(wanted, self.largest), self.weights.size)
        if (random_state, largest) not in self.best:
            self.best[random_state, largest] = best_columns(
                self.weights, largest, self.informative, random_state, rounding=self.rounding
            )
        best = self.best[random_state, largest].first(wanted)
        return best.select(wanted, random_state, rule, whole=self.selection)


def tied(weights: Floats, rounding: float = 0.0) -> Floats:
    """Make weights equal that differ by rounding only; those that are undefined are the least.

    Neighbors are as far apart as :func:`~holdfast.selection.falls` says.
    """
    defined = np.isfinite(weights)
    clean = np.where(defined, weights, np.where(weights == np.inf, np.inf, -np.inf))
    order = np.argsort(-clean, kind="stable")
    ranked = clean[order]
    steps = np.r_[True, falls(ranked, rounding=rounding)]
    leaders = np.maximum.accumulate(np.where(steps, np.arange(ranked.size), 0))
    equal = np.empty_like(clean)
    equal[order] = ranked[leaders]
    lowest = min(0.0, weights[defined].min(initial=0.0))
    return np.where(equal == -np.inf, lowest, np.where(equal == np.inf, np.finfo(float).max, equal))


@dataclass(frozen=True, eq=False)
class LazyRanking(FitResult):
    """Features in the order of their choice, all others after them.

    Attributes
    ----------
    order : ndarray of int
        The chosen columns, the best first; all that carry information, or as many as the largest size asked for.
    """

    order: Ints
    informative: Mask
    extras: dict[str, Any]
    kind: Kind = field(default="ranking", init=False)

    @cached_property
    def values(self) -> Floats:
        """The rank of every feature; those that were not chosen share the last."""
        ranks = np.full(self.informative.size, self.informative.size, dtype=np.float64)
        ranks[self.order] = np.arange(1, self.order.size + 1)
        return ranks

    def top(self, k: int, *, random_state: int | None, rule: str) -> Selection:
        best = Best(self.order[:k].astype(np.int32), np.zeros(min(k, self.order.size), np.bool_))
        return best.select(min(k, self.informative.size), random_state, rule, whole=self.selection)


Ranked = Sequence[Sequence[FitResult | Exception]]
"""Resamples × settings: what each prefers, or the error that stopped it."""


# Settings that one fit serves


class SettingGroup(NamedTuple):
    """Settings that differ in ``shared_parameters`` only, so that one fit gives the preferences of all of them."""

    key: Key  # the parameters that they have in common
    positions: list[int]  # among all settings
    settings: list[Setting]
    selectors: list[Any]  # the selector with each setting


class SharedBySetting(dict[Key, Any]):
    """What all resamples share, for each group of settings; the groups, which are made once; and the groups of rows."""

    def __init__(
        self, row_groups: Ints | None = None, covariates: Floats | None = None, sites: Ints | None = None
    ) -> None:
        super().__init__()
        self.row_groups, self.covariates, self.sites = row_groups, covariates, sites
        self.known: list[tuple[list[Setting], list[SettingGroup]]] = []

    def group(self, selector: Any, settings: Sequence[Setting]) -> list[SettingGroup]:
        """Put settings together that differ in ``shared_parameters`` only, those of a shared part included.

        The values of the other parameters distinguish them; not their texts, as that of an array may be cut.
        The same objects are not looked at again.
        """
        for known, groups in self.known:
            if len(known) == len(settings) and all(map(operator.is_, known, settings)):
                return groups
        shared = tuple(name.removesuffix("__") + "__" for name in selector.shared_parameters)
        by_key: dict[Key, SettingGroup] = {}
        for position, setting in enumerate(settings):
            others = sorted(
                name for name in setting if name not in selector.shared_parameters and not name.startswith(shared)
            )
            values = ((name, setting[name]) for name in others)
            key = tuple(
                (name, repr(value) if isinstance(value, PLAIN) else content_hash(value)) for name, value in values
            )
            group = by_key.setdefault(key, SettingGroup(key, [], [], []))
            group.positions.append(position)
            group.settings.append(setting)
            group.selectors.append(clone(selector).set_params(**setting))
        groups = list(by_key.values())
        self.known = [*self.known[-MAX_KNOWN:], (list(settings), groups)]
        return groups


# The base class


class Selector(SelectorMixin, BaseEstimator):
    """Base class of feature selectors that fit many resamples, and many of their settings, together.

    A subclass writes ``rank`` and, where there is something to share, ``share``; ``fit``, scikit-learn's contract, and
    what a study calls (``prepare``, ``refit_many``) follow. Parameters of which one fit gives the results for all
    values are named in ``shared_parameters``; a study takes all such candidates from one fit. ``n_features`` is one
    where the subclass orders the features.

    A feature *without information* is never selected: one that gets in this resample what a constant column would. Each
    subclass says in ``uninformative`` what that is, and marks the others in ``Preference.informative``; ``n_features``
    is the most that are selected. Equally good features at the cut are taken in an order drawn from the seed of the
    resample, or of ``random_state``; in a plain fit without one, by column. A subclass with a parameter ``ties`` lets
    the user choose.

    See Also
    --------
    holdfast.testing.check_selector : Check a selector that you wrote.

    Examples
    --------
    >>> import numpy as np
    >>> from holdfast.selectors.base import Preference, Selector
    >>> class LargestMean(Selector):
    ...     needs_classes = False
    ...
    ...     def __init__(self, n_features=10):
    ...         self.n_features = n_features
    ...
    ...     def rank(self, batch, shared):
    ...         means = batch.counts @ batch.X / batch.counts.sum(axis=1, keepdims=True)
    ...         return [[Preference("weighting", mean)] * len(batch.settings) for mean in means]
    >>> X = np.array([[1.0, 5, 3], [2, 4, 0], [0, 6, 3]])
    >>> LargestMean(2).fit(X, [0, 1, 0]).get_support()
    array([False,  True,  True])
    """

    shared_parameters: ClassVar[tuple[str, ...]] = ("n_features",)
    """Parameters of which one fit serves all values; a name with ``__`` at its end, the parameters of a part."""
    needs_classes: ClassVar[bool] = True
    most_classes: ClassVar[int | None] = None
    uninformative: ClassVar[str | None] = None
    """What marks a feature without information; None for selectors that know no such thing."""
    draws: ClassVar[bool] = False
    """Whether there is chance in a fit even if no features tie."""
    whole_order: ClassVar[tuple[str, ...]] = ()
    """The sizes, "smallest" or "largest", to ask for besides so that the order reaches over all features."""
    model_parameters: ClassVar[tuple[str, ...]] = ()
    """Parameters that concern the model on the selected features alone, not the order of features."""
    block_fits: int = 1
    """How many fits, settings times resamples, a study should hand over at a time, at least."""
    seconds_per_number: ClassVar[float] = math.nan
    """About how long a fit takes for each number in the table, if it goes through them once."""
    any_precision: ClassVar[bool] = False
    """Whether a study may hand over numbers of any type, as they stand in memory, not float64."""
    ties: Ties = "auto"
    random_state: Any = None
    _fits_cut: ClassVar[bool] = False
    adjusts: ClassVar[Adjusts] = None
    """How features are adjusted for covariates: by the selector, which takes ``batch.covariates``, or by its base."""
    adjusts_two_classes: ClassVar[bool] = False
    """Whether it cannot be adjusted next to more than two classes."""
    serves: ClassVar[Serves | None] = None
    """What it does for each kind of target; None if nobody said."""
    for_numbers: ClassVar[dict[str, Any]] = {}
    """Parameters with which numbers are predicted also where they are whole, and would be taken for classes."""
    takes_weights: ClassVar[bool] = False
    """Whether weights of rows may be any numbers above 0; else they are whole, as how often a row counts."""
    """Whether a plain fit asks for the best features only, not for the order of all."""

    # What a subclass writes

    def share(self, data: Data) -> Any:
        """Compute what all resamples share, without labels of rows that they may hold out.

        Parameters
        ----------
        data : Data
            All rows, and the settings.

        Returns
        -------
        object
            What :meth:`rank` gets as ``shared``; None if there is nothing.
        """
        return None

    @abstractmethod
    def rank(self, batch: Batch, shared: Any) -> Ranked:
        """Return what each resample prefers, by each setting.

        Parameters
        ----------
        batch : Batch
            The resamples, by how often they take each row, and the settings.
        shared : object
            What :meth:`share` returned.

        Returns
        -------
        sequence of sequences
            For each resample and each setting a preference, or the error that stopped it.
        """

    def _target(self, y: Any) -> Target:
        """What is to be predicted, as this selector sees it."""
        return checked_target(y, self.needs_classes)

    def _plain_target(self, y: Any) -> Any:
        """The target as an array, of texts, numbers or survival times."""
        return plain_target(y)

    # One fit

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.
        y : array of shape (n_samples,)
            The target.
        sample_weight : array of whole numbers, optional
            How often each row counts; the same as repeating it.

        Returns
        -------
        Selector
            Itself, fitted.
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Self:
        """Fit a batch of one resample; set the fitted attributes, under scikit-learn's names."""
        X, y = validate_data(self, X, self._plain_target(y), dtype=np.float64, ensure_min_samples=2)
        check_magnitude(X)
        counts = whole_counts(sample_weight, X.shape[0])
        data = Data(X, self._target(y), row_groups(groups, X.shape[0]), [{}], [self])
        for error in self._check(data.target, counts[None]).values():
            raise error
        shared, seed = self.share(data), self._fit_seed()
        ((preference,),) = self.rank(Batch(**vars(data), counts=counts[None], seeds=[seed], cut=self._fits_cut), shared)
        if isinstance(preference, Exception):
            raise preference
        for name in [name for name in vars(self) if name.endswith("_") and name not in INPUT_ATTRIBUTES]:
            delattr(self, name)  # of an earlier fit
        if preference.kind == "ranking":
            self.ranking_ = preference.values
        elif preference.kind == "weighting":
            self.scores_ = preference.values
        for name, value in (preference.extras or {}).items():
            setattr(self, name, value)
        if preference.informative is not None:
            self.informative_ = preference.informative
        selection = self._cut(preference, data.n_features, seed)
        self._warn_of_fewer(preference, data.n_features)
        self.support_ = np.zeros(data.n_features, dtype=bool)
        self.support_[selection.values] = True
        return self

    def _check(self, target: Target, counts: Ints) -> dict[int, ValueError]:
        """Which of these resamples (resamples × rows) cannot be fitted, and why."""
        self._tie_seed(None)
        errors: dict[int, ValueError] = {}
        if target.classes is None:
            return errors
        n_classes = np.count_nonzero(counts @ np.eye(target.n_classes)[target.values], axis=1)
        most = target.n_classes if self.most_classes is None else self.most_classes
        for resample in np.flatnonzero((n_classes < 2) | (n_classes > most)).tolist():
            message = (
                f"Only binary classification is supported by {type(self).__name__}: expected {most} classes, got "
                f"{n_classes[resample]}."
            )
            if n_classes[resample] < 2:
                message = f"Expected two classes or more to tell apart, got {n_classes[resample]} class."
            errors[resample] = ValueError(message)
        return errors

    def _fit_seed(self) -> int | None:
        """The seed of a plain fit; None if there is none and nothing is to be drawn."""
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        if self.random_state is None and not self.draws and self.ties != "random":
            return None
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _tie_seed(self, seed: int | None) -> int | None:
        """The seed that draws tie-break ranks; None if ties are broken by column."""
        return None if check_choice("ties", self.ties, TIES) == "lowest" else seed

    def _tie_ranks(self, seeds: Sequence[int | None], n_features: int) -> NDArray[np.int32]:
        """Tie-break ranks of the columns for each resample; one row if all resamples have the same."""
        by_resample = [self._tie_seed(seed) for seed in seeds]
        orders = {seed: tie_ranks(n_features, seed) for seed in dict.fromkeys(by_resample)}
        return np.array([orders[seed] for seed in (by_resample if len(orders) > 1 else by_resample[:1])])

    def _cut(self, preference: FitResult | Selection, n_features: int, seed: int | None) -> Selection:
        """The best features of an order; a subset as it is."""
        if isinstance(preference, FitResult) and preference.kind == "subset":
            return preference.subset()
        size, rule = self._wanted_size(n_features), self.uninformative or ""
        return preference.top(size, random_state=self._tie_seed(seed), rule=rule)

    def _warn_of_fewer(self, preference: FitResult, n_features: int) -> None:
        """Warn if fewer features are selected than wanted, in numbers where they are known."""
        message = note = preference.note if preference.kind == "subset" else ""
        if preference.kind != "subset" and preference.informative is not None:
            wanted, carrying = self._wanted_size(n_features), int(preference.informative.sum())
            if carrying < wanted:
                note = fewer_note(self.uninformative or "")
                message = (
                    f"Only {carrying:,} of {n_features:,} features carry information; {carrying:,} instead of "
                    f"{wanted:,} were selected by {type(self).__name__} (without: {self.uninformative})."
                )
        if message:
            warnings.warn(FewerFeaturesWarning(message, note), stacklevel=4)

    def _wanted_size(self, n_features: int) -> int:
        return min(check_whole("n_features", self.n_features, 0), n_features)

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.most_classes == 2:
            tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    # Many fits

    def prepare(
        self,
        X: Floats,
        y: NDArray[Any],
        settings: Sequence[Setting],
        groups: NDArray[Any] | None = None,
        covariates: Floats | None = None,
        sites: Ints | None = None,
    ) -> SharedBySetting:
        """Compute what all resamples share, once before :meth:`refit_many`.

        Parameters
        ----------
        X : ndarray
            Features of all rows.
        y : ndarray
            Target of all rows.
        settings : sequence of dict
            Values of parameters, one mapping per candidate.
        groups : ndarray, optional
            Selectors that draw rows again keep those of one group together.
        covariates : ndarray, optional
            Columns to adjust for, in selectors that ``adjusts``.
        sites : ndarray of int, optional
            The site of each row, for filters that are to weigh features within sites.

        Returns
        -------
        dict
            What is shared, for each group of settings that take their results from one fit.
        """
        check_magnitude(X)
        return self._prepare(SharedBySetting(row_groups(groups, len(X)), covariates, sites), X, y, settings)

    def _prepare(self, shared: SharedBySetting, X: Floats, y: NDArray[Any], settings: Sequence[Setting]) -> Any:
        """Fill in what the resamples of these rows share."""
        for group in shared.group(self, settings):
            first = group.selectors[0]
            data = Data(
                X, first._target(y), shared.row_groups, group.settings, group.selectors, covariates=shared.covariates,
                sites=shared.sites,
            )  # fmt: skip
            shared[group.key] = first.share(data)
        return shared

    def refit_many(
        self, shared: Any, X: Floats, y: NDArray[Any], splits: Sequence[Split], settings: Sequence[Setting]
    ) -> Iterator[list[Selection | Exception]]:
        """Fit many resamples together; return, for each split, what each setting selects, or the error that stopped it.

        Parameters
        ----------
        shared : dict
            What :meth:`prepare` returned.
        X : ndarray
            Features of all rows.
        y : ndarray
            Target of all rows.
        splits : sequence of Split
            The resamples.
        settings : sequence of dict
            All or some of those that were prepared.

        Returns
        -------
        iterator of list
            One list per split, with a Selection or an exception for each setting.
        """
        counts, seeds = count_rows(splits, len(X)), [split.seed for split in splits]
        return self._select(shared, X, y, counts, seeds, settings, cut=True)

    def prefer_many(
        self, shared: Any, X: Floats, y: NDArray[Any], splits: Sequence[Split], settings: Sequence[Setting]
    ) -> Iterator[list[Selection | Exception]]:
        """Do as :meth:`refit_many`, with rankings and weights of all features, not cut to a size.

        Parameters
        ----------
        shared : dict
            What :meth:`prepare` returned.
        X : ndarray
            Features of all rows.
        y : ndarray
            Target of all rows.
        splits : sequence of Split
            The resamples.
        settings : sequence of dict
            All or some of those that were prepared.

        Returns
        -------
        iterator of list
            One list per split, with a Selection or an exception for each setting.
        """
        counts, seeds = count_rows(splits, len(X)), [split.seed for split in splits]
        return self._select(shared, X, y, counts, seeds, settings, cut=False)

    def _select(
        self, shared: Any, X: Floats, y: NDArray[Any], counts: Ints, seeds: Sequence[int | None],
        settings: Sequence[Setting], *, cut: bool,
    ) -> Iterator[list[Selection | Exception]]:  # fmt: skip
        """Yield what each setting selects of each resample; if a batch fails, its resamples are fitted one by one."""
        results: list[list[Any]] = [[None] * len(settings) for _ in seeds]
        for group in shared.group(self, settings):
            first, group_shared = group.selectors[0], shared[group.key]
            data = Data(
                X, first._target(y), shared.row_groups, group.settings, group.selectors, covariates=shared.covariates,
                sites=shared.sites,
            )  # fmt: skip
            group_seeds = seeds if first.random_state is None else [clone(first)._fit_seed()] * len(seeds)
            ranked: list[Sequence[FitResult | Exception]] = [()] * len(seeds)
            for resample, error in first._check(data.target, counts).items():
                ranked[resample] = [error] * len(group.settings)
            valid = [resample for resample, failed in enumerate(ranked) if not failed]
            valid_seeds = [group_seeds[resample] for resample in valid]
            batch = Batch(**vars(data), counts=counts[valid], seeds=valid_seeds, cut=cut)
            try:
                ranked_valid = first.rank(batch, group_shared) if valid else []
            except Exception as error:
                rows = [error] if len(valid) == 1 else [first._try_rank(single, group_shared) for single in batch]
                ranked_valid = [[row] * len(group.settings) if isinstance(row, Exception) else row for row in rows]
            for resample, preferences in zip(valid, ranked_valid, strict=True):
                ranked[resample] = preferences
            for selections, seed, preferences in zip(results, group_seeds, ranked, strict=True):
                for position, selector, preference in zip(group.positions, group.selectors, preferences, strict=True):
                    if isinstance(preference, Exception):
                        selections[position] = preference
                    elif cut:
                        selections[position] = selector._cut(preference, X.shape[1], seed)
                    else:
                        selections[position] = preference.selection()
        yield from results

    def _try_rank(self, single: Batch, shared: Any) -> Sequence[FitResult | Exception] | Exception:
        """What each setting prefers on a batch of one resample, or the error that stopped all of them."""
        try:
            return self.rank(single, shared)[0]
        except Exception as error:
            return error


class TakesGroups(Selector):
    """A selector that draws rows again, itself or in its base, and keeps those of one group together."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Select features.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Finite numbers.
        y : array of shape (n_samples,)
            The target.
        sample_weight : array of whole numbers, optional
            How often each row counts; the same as repeating it. Copies of a row stay together.
        groups : array of shape (n_samples,), optional
            Rows of one group, such as samples of one patient, are drawn together or share a fold.

        Returns
        -------
        Selector
            Itself, fitted.
        """
        return self._fit(X, y, sample_weight, groups)


class ForAnyTarget(Selector):
    """A selector around a model of classes, numbers or survival times; its parameter ``model`` may say of which."""

    for_numbers: ClassVar[dict[str, Any]] = {"model": "linear"}
    model: Model

    def _target(self, y: Any) -> Target:
        kind = check_choice("model", self.model, get_args(Model))
        if kind == "cox" or (kind == "auto" and y.dtype.names):
            return self._survival_target(y)
        return guessed_target(y) if kind == "auto" else checked_target(y, kind == "logistic")

    def _survival_target(self, y: Any) -> Target:
        return Target(as_survival(y), None)

    def _plain_target(self, y: Any) -> Any:
        return as_survival(y) if self.model == "cox" else super()._plain_target(y)

    def _check(self, target: Target, counts: Ints) -> dict[int, ValueError]:
        errors = super()._check(target, counts)
        return errors | check_events(target, counts) if target.task == "survival" else errors


class Filter(Selector):
    """A selector that weighs features and keeps the best; write :meth:`weigh`.

    Weights tie that differ by no more than 1e-9 of the smaller one, or by no more than ``null_weight``, so that equal
    columns never depend on rounding.
    """

    null_weight: float = 0.0
    """The weight of a constant column, up to rounding; up to it a feature carries no information."""

    def __init__(self, n_features: int = 10, *, ties: Ties = "auto", random_state: Any = None) -> None:
        self.n_features, self.ties, self.random_state = n_features, ties, random_state

    @abstractmethod
    def weigh(self, batch: Batch, shared: Any) -> Floats:
        """Return how much each feature weighs in each resample.

        Parameters
        ----------
        batch : Batch
            The resamples, by how often they take each row.
        shared : object
            What :meth:`share` returned.

        Returns
        -------
        ndarray of shape (n_resamples, n_features)
            Larger is better; what is not finite is undefined or beyond measure.
        """

    def weigh_within(self, batch: Batch, shared: Any) -> Floats:
        """Return how much each feature weighs within sites: the mean of its weights at each site, by rows drawn.

        Sites whose rows cannot be weighed, as they have one class or one row, are left out. A weight that is undefined
        counts as none.

        Parameters
        ----------
        batch : Batch
            The resamples, by how often they take each row, and the site of each row.
        shared : object
            What :meth:`share` returned.

        Returns
        -------
        ndarray of shape (n_resamples, n_features)
            Larger is better; nan in resamples without a site that can be weighed.
        """
        assert batch.sites is not None
        weights, rows = np.zeros((len(batch), batch.n_features)), np.zeros((len(batch), 1))
        for site in np.unique(batch.sites):
            counts = np.where(batch.sites == site, batch.counts, 0)
            known = np.array([
                row.sum() > 1 and (batch.target.classes is None or batch.target.present(row).size > 1) for row in counts
            ])  # fmt: skip
            if known.any():
                seeds = [seed for seed, is_known in zip(batch.seeds, known, strict=True) if is_known]
                part = replace(batch, counts=counts[known], seeds=seeds, sites=None)
                n_drawn = counts[known].sum(axis=1, keepdims=True)
                weights[known] += n_drawn * np.nan_to_num(self.weigh(part, shared), nan=0.0, posinf=np.inf)
                rows[known] += n_drawn
        return np.divide(weights, rows, out=np.full_like(weights, np.nan), where=rows > 0)

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        weigh = self.weigh if batch.sites is None else self.weigh_within
        ranked = self._rank_by(weigh(batch, shared), batch)
        return [[preference] * len(batch.selectors) for preference in ranked]

    def _rank_by(self, weights: Floats, batch: Batch) -> list[LazyWeights]:
        """What each resample prefers by its weights (resamples × features)."""
        sizes = [selector.n_features for selector in batch.selectors]
        largest = max((int(size) for size in sizes if isinstance(size, (int, np.integer))), default=0)
        masks, known = self._informative(weights), list[dict[tuple[int | None, int], Best]]()
        if batch.cut:
            size, seeds = min(largest, weights.shape[1]), [self._tie_seed(seed) for seed in batch.seeds]
            best = best_of_resamples(weights, size, masks, seeds, rounding=self.null_weight)
            known = [{(seed, size): of} for seed, of in zip(seeds, best, strict=True)]
        return [
            LazyWeights(row, mask, self.null_weight, largest, best=of)
            for row, mask, of in zip(weights, masks, known or ({} for _ in masks), strict=True)
        ]

    def _informative(self, weights: Floats) -> Mask:
        """Which features weigh more than a constant column; those that are undefined do not."""
        return weights > self.null_weight


def check_choice(name: str, value: Any, choices: Sequence[str]) -> Any:
    """Return a value that is one of some texts, or raise."""
    if value not in choices:
        listed = f"{', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
        raise ValueError(f"Expected {name}={listed}, got {value!r}.")
    return value


def learns_on_all(name: str, rows: str) -> bool:
    """Whether something is learned on all rows, "full", not on those of a "split"."""
    return check_choice(name, rows, ("split", "full")) == "full"
