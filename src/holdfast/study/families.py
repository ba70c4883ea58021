"""Families: one selector with all the settings that one piece of work can fit, on blocks of splits; and their names.

There are four kinds of numbers: ``candidate``, among the names of the family; ``setting``, among those that are
fitted; ``ordering``, among the family's orderings; and the index of a split. A setting has one candidate for each size
that is cut from its fit, one after the other; a batched selector takes sizes as settings, so that both are the same.
"""

import inspect
import itertools
import json
import logging
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, fields
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.feature_selection import f_classif, f_regression
from sklearn.pipeline import Pipeline

from holdfast.io.estimators import read_selection, set_seeds
from holdfast.resampling import Split
from holdfast.selection import RefitsMany, Selection, count_for_features
from holdfast.selectors.base import Selector
from holdfast.selectors.catalog import SELECTORS
from holdfast.selectors.filters import PartialF
from holdfast.study.memory import gc_paused
from holdfast.study.plan import describe
from holdfast.text import shorten

if TYPE_CHECKING:
    from holdfast.study.data import StudyData

log = logging.getLogger(__name__)
Keep: TypeAlias = Literal["order", "weights", "selected"]
BLOCK_SECONDS = 0.25
LARGEST_BLOCK = 250
ALL = 2**31 - 1
"""More features than there are: a selector that is asked for so many orders all of them."""


# Candidates


@dataclass(frozen=True)
class Candidates:
    """A grid of settings and sizes of one selector, each a candidate of its own.

    Parameters
    ----------
    selector : estimator
        Any scikit-learn estimator or Pipeline with a support, ranking, coefficients or importances.
    grid : mapping from parameter to list of values, or list of such mappings
        Settings to try, as for ``sklearn.model_selection.GridSearchCV``.
    sizes : int or sequence of int
        Numbers of features: the order of features that a fit gives (ranking, scores, coefficients, importances) is cut
        to the best of them. All sizes are taken from one fit. Features of weight 0 are not taken, and of equally good
        ones those that the split's seed draws.
    keep : {"order", "weights", "selected"}, optional
        What a study stores of every fit besides the selection. By default the order of the features that the largest
        size takes, which costs nothing and serves the stability of smaller sizes too; ``"order"`` asks for all of it
        (eliminations go on to the last feature), ``"weights"`` also for the weight of every feature, which measures of
        rankings and weights need; ``"selected"`` stores the selected features alone.

    See Also
    --------
    Study : Takes candidates among its selectors.
    optimize : Searches a grid, and stops poor candidates early.

    Examples
    --------
    >>> import holdfast as hf
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> hf.Candidates(RandomForestClassifier(), {"max_depth": [3, None]}, sizes=[5, 10]).names("forest")
    ['forest(max_depth=3, size=5)', 'forest(max_depth=3, size=10)', 'forest(max_depth=None, size=5)', \
'forest(max_depth=None, size=10)']
    """

    selector: Any
    grid: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]] = field(default_factory=dict)
    sizes: int | Sequence[int] | None = None
    keep: Keep | None = None

    def __post_init__(self) -> None:
        is_class, fits = isinstance(self.selector, type), hasattr(self.selector, "fit")
        if is_class or not fits or not hasattr(self.selector, "get_params"):
            hint = "; make one of it by calling the class" if is_class else ""
            hint = "; derive its class from sklearn.base.BaseEstimator" if fits and not is_class else hint
            raise ValueError(f"Expected a scikit-learn estimator as selector, got {self.selector!r}{hint}.")
        known = self.selector.get_params(deep=True)
        for name in {name for setting in self.settings for name in setting}:
            if name not in known:
                raise ValueError(
                    f"Expected a parameter of {type(self.selector).__name__} in the grid, got {name!r}; it has "
                    f"{', '.join(sorted(known)) or 'none'}."
                )
        if self.keep is not None and self.keep not in get_args(Keep):
            raise ValueError(f"Expected keep='order', 'weights' or 'selected', or nothing, got {self.keep!r}.")
        sizes: list[Any] = self.cuts or [self.sizes]
        for size in sizes:
            if size is not None and (isinstance(size, bool) or not isinstance(size, (int, np.integer)) or size < 1):
                raise ValueError(f"Expected sizes to be a whole number of at least 1, or several, got {size!r}.")
            if size is not None and size > ALL:
                raise ValueError(f"Expected sizes of at most {ALL:,} features, got {shorten(str(size), 30)}.")

    @property
    def settings(self) -> list[dict[str, Any]]:
        """Every setting of the grid, in its order; one empty setting without a grid."""
        settings = []
        for grid in [self.grid] if isinstance(self.grid, Mapping) else self.grid:
            for name, values in grid.items():
                if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)):
                    raise ValueError(f"Expected a list of values for {name!r} in the grid, got {values!r}.")
                if not len(values):
                    raise ValueError(f"Expected at least one value for {name!r} in the grid, got none.")
            settings += [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
        return settings

    @property
    def cuts(self) -> list[int | None]:
        """Every size; None stands for the selection as it is."""
        if self.sizes is None:
            return [None]
        sizes: Any = np.atleast_1d(self.sizes) if isinstance(self.sizes, np.ndarray) else self.sizes
        return list(sizes) if isinstance(sizes, (Sequence, np.ndarray)) and not isinstance(sizes, bytes) else [sizes]

    def names(self, family: str) -> list[str]:
        """Return the name of each candidate.

        Parameters
        ----------
        family : str
            Name of the selector.

        Returns
        -------
        list of str
            The family with the setting in parentheses; the family alone if there is only one candidate.
        """
        several = len(self.settings) > 1 or len(self.cuts) > 1
        return [candidate_name(family, setting) if several else family for setting in self.candidate_settings()]

    def candidate_settings(self) -> list[dict[str, Any]]:
        """Return the setting of each candidate, its size included.

        Returns
        -------
        list of dict
            Values by parameter, in the order of :meth:`names`.
        """
        return [
            {**setting, **({} if size is None else {"size": size})} for setting in self.settings for size in self.cuts
        ]


def candidate_name(family: str, setting: Mapping[str, Any]) -> str:
    """The name of a candidate: its family, and its setting in parentheses."""
    parts = []
    for name, value in setting.items():
        text = f"{value:.6g}" if isinstance(value, float) else value if isinstance(value, str) else repr(value)
        parts.append(f"{name}={' '.join(text.split())}")
    return f"{family}({', '.join(parts)})"


def name_selectors(selectors: Any) -> dict[str, Any]:
    """Return selectors by name: a mapping as it is, a list or a single selector named after their classes.

    A selector has the name that the command line knows it by, or its class's name in snake_case; ``_2``, ``_3``, …
    distinguish selectors of one name. Of a pipeline, the last step that selects gives the name.

    Parameters
    ----------
    selectors : mapping, iterable, estimator or Candidates
        What a study is to compare.

    Returns
    -------
    dict
        From name to estimator or Candidates.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest
    >>> from holdfast.selectors import AnovaF
    >>> from holdfast.study.families import name_selectors
    >>> list(name_selectors([AnovaF(), SelectKBest(k=5), SelectKBest(k=10)]))
    ['anova', 'select_k_best', 'select_k_best_2']
    """
    if isinstance(selectors, Mapping):
        return {str(name): selector for name, selector in selectors.items()}
    if isinstance(selectors, (Candidates, str)) or hasattr(selectors, "fit") or not isinstance(selectors, Iterable):
        selectors = [selectors]
    named: dict[str, Any] = {}
    for selector in selectors:
        name = first = _name_selector(selector.selector if isinstance(selector, Candidates) else selector)
        number = 1
        while name in named:
            number += 1
            name = f"{first}_{number}"
        named[name] = selector
    return named


def _name_selector(selector: Any) -> str:
    if hasattr(selector, "steps"):
        steps = [step for _, step in selector.steps if step is not None and step != "passthrough"]
        selecting = [step for step in steps if hasattr(step, "get_support")] or steps
        return _name_selector(selecting[-1])
    for name, record in SELECTORS.items():
        if type(selector) in record.classes:
            return name
    # SelectKBest → select_k_best, RFECV → rfecv
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(selector).__name__).lower()


# Fits


class Ordering(NamedTuple):
    """Candidates of one fit that differ in size only: they are cuts of one order.

    Attributes
    ----------
    setting : dict
        What they have in common.
    sizes : dict from int to int
        The size of each, by candidate.
    fitted : list of int
        The settings that one fit of them takes.
    """

    setting: dict[str, Any]
    sizes: dict[int, int]
    fitted: list[int]


class Order(NamedTuple):
    """The features of one fit, best first, as they are stored once for all candidates that are cuts of it.

    Attributes
    ----------
    columns : ndarray of int
        The best features; ties are decided.
    smallest : int
        The least size for which the first columns are what a fit of that size selects.
    complete : bool
        Whether no further feature carries information, so that larger sizes are the same.
    whole : Selection or None
        The ranking or the weights of all features, if they are stored.
    """

    columns: NDArray[np.int32]
    smallest: int
    complete: bool
    whole: Selection | None

    def begins_with(self, selection: Selection, size: int) -> bool:
        """Whether a selection is what this order cut to a size gives."""
        cut, order = self.columns[:size], selection.order
        if order is not None and order.size == cut.size and (order == cut).all():
            return True
        return selection.values.size == cut.size and bool((selection.values == np.sort(cut)).all())


class Fit(NamedTuple):
    """The fit of one setting on one split: a selection or an error, and its seconds."""

    result: Selection | Exception
    seconds: float


class FittedSplit(NamedTuple):
    """What the candidates of a family selected on one split, and the orders that they are cuts of."""

    fits: dict[int, Fit]  # by candidate
    orders: dict[int, Order]  # by ordering


@dataclass(frozen=True)
class BatchTraits:
    """What a study makes use of in a selector that fits many resamples together, if it has attributes of these names.

    Attributes
    ----------
    shared_parameters : tuple of str
        Parameters of which one fit serves all values.
    model_parameters : tuple of str
        Those that concern the model on the selected features alone, not the order of features.
    whole_order : tuple of str
        The sizes, "smallest" or "largest", to ask for besides so that the order reaches over all features.
    block_fits : int
        How many fits, settings times resamples, to hand over at a time, at least.
    seconds_per_number : float
        About how long a fit takes for each number in the table, if it goes through them once; else ``nan``.
    any_precision : bool
        Whether it takes numbers of any type, as they stand in memory.
    """

    shared_parameters: tuple[str, ...] = ()
    model_parameters: tuple[str, ...] = ()
    whole_order: tuple[str, ...] = ()
    block_fits: int = 1
    seconds_per_number: float = math.nan
    any_precision: bool = False


@dataclass(frozen=True)
class Family:
    """A named selector with its candidates, fitted on blocks of splits."""

    name: str
    candidates: Candidates
    refusal: str = ""  # why its fits are not made, but recorded as failures

    @property
    def selector(self) -> Any:
        """The selector."""
        return self.candidates.selector

    @property
    def is_ours(self) -> bool:
        """Whether the selector is one of holdfast's."""
        return type(self.selector).__module__.startswith("holdfast.")

    @cached_property
    def traits(self) -> BatchTraits:
        """What the selector offers; defaults for what it does not name."""
        names = [trait.name for trait in fields(BatchTraits) if hasattr(self.selector, trait.name)]
        return BatchTraits(**{name: getattr(self.selector, name) for name in names})

    @cached_property
    def batched(self) -> bool:
        """Whether the selector fits many resamples in one piece of work, and takes the sizes as a parameter."""
        sized = self.candidates.sizes is None or "n_features" in self.selector.get_params(deep=False)
        return sized and isinstance(self.selector, RefitsMany)

    @cached_property
    def settings(self) -> list[dict[str, Any]]:
        """Every setting that needs a fit; a batched selector gets sizes as settings."""
        settings, sizes = self.candidates.settings, self.candidates.cuts
        if not (self.batched and self.candidates.sizes is not None):
            return settings
        return [{**parameters, "n_features": size} for parameters in settings for size in sizes]

    @cached_property
    def cuts(self) -> list[int | None]:
        """Every size that is cut from one fit."""
        return [None] if self.batched and self.candidates.sizes is not None else self.candidates.cuts

    @cached_property
    def names(self) -> list[str]:
        """The name of each candidate: all sizes of the first setting, then of the next."""
        return self.candidates.names(self.name)

    # Orders

    @cached_property
    def orderings(self) -> list[Ordering]:
        """Candidates that are cuts of one order: of one fit, or of settings that differ in size or model alone."""
        if self.candidates.keep == "selected":
            return []
        if not self.batched:
            sizes = {cut: size for cut, size in enumerate(self.cuts) if size is not None}
            return [
                Ordering(parameters, {setting * len(self.cuts) + cut: size for cut, size in sizes.items()}, [setting])
                for setting, parameters in enumerate(self.settings)
                if sizes
            ]
        if "n_features" not in self.traits.shared_parameters:
            return []
        orderings: dict[str, Ordering] = {}
        for setting, parameters in enumerate(self.settings):
            size = self._asked_size(parameters)
            if size is not None:
                not_ordering = ("n_features", *self.traits.model_parameters)
                common = {name: value for name, value in parameters.items() if name not in not_ordering}
                key = json.dumps(describe(common), sort_keys=True)
                ordering = orderings.setdefault(key, Ordering(common, {}, []))
                ordering.sizes[setting] = size
                ordering.fitted.append(setting)
        hidden, first = len(self._hidden_sizes), len(self.settings)
        for ordering in orderings.values():
            ordering.fitted.extend(range(first, first + hidden))
            first += hidden
        return list(orderings.values())

    @property
    def _hidden_sizes(self) -> list[int]:
        """The sizes that a fit must pass for the whole order besides those of candidates."""
        if self.candidates.keep not in ("order", "weights"):
            return []
        return [1] if "smallest" in self.traits.whole_order else [ALL]

    @cached_property
    def ordering_of(self) -> dict[int, int]:
        """The ordering that a candidate is a cut of."""
        return {candidate: number for number, ordering in enumerate(self.orderings) for candidate in ordering.sizes}

    @cached_property
    def fitted_settings(self) -> list[dict[str, Any]]:
        """Every setting that is fitted: those of candidates, then the hidden sizes of every ordering."""
        if not self.batched:
            return self.settings
        hidden = [
            {**self.settings[ordering.fitted[0]], "n_features": size}
            for ordering in self.orderings
            for size in self._hidden_sizes
        ]
        return [*self.settings, *hidden]

    def _asked_size(self, parameters: Mapping[str, Any]) -> int | None:
        """How many features a setting asks for; None if something else decides, or if it is no number."""
        size = parameters.get("n_features", self.selector.n_features)
        return int(size) if isinstance(size, (int, np.integer)) and not isinstance(size, bool) else None

    def part_by_fit(self, settings: Sequence[int]) -> list[tuple[int, ...]]:
        """Put settings together that one fit serves."""
        fits: dict[int, list[int]] = {}
        for setting in settings:
            ordering = self.ordering_of.get(setting * len(self.cuts)) if self.batched else None
            fits.setdefault(-1 - setting if ordering is None else ordering, []).append(setting)
        return [tuple(together) for together in fits.values()]

    # Fitting

    def block_size(self, n_settings: int, seconds: float) -> int:
        """How many splits to fit together: as many as take a moment, one while the seconds of a split are unknown."""
        size = 1 if math.isnan(seconds) else min(max(int(BLOCK_SECONDS / max(seconds, 1e-9)), 1), LARGEST_BLOCK)
        return max(size, -(-self.traits.block_fits // n_settings)) if self.batched else size

    def prepare(self, data: "StudyData") -> Any:
        """What all splits share; None if there is nothing. Selectors that take groups of rows get them."""
        if not self.batched or self.refusal:
            return None
        known = {
            "groups": data.samples.groups,
            "covariates": data.adjustment if data.adjusts and data.adjustment.shape[1] else None,
            "sites": data.site_codes if data.within else None,
        }
        arguments = {
            name: value for name, value in known.items() if value is not None and _takes(self.selector.prepare, name)
        }
        return self.selector.prepare(self._numbers(data), data.y, self.fitted_settings, **arguments)

    def _numbers(self, data: "StudyData") -> NDArray[Any]:
        own = data.own_numbers if self.traits.any_precision else None
        return data.numbers if own is None or own.dtype.kind == "b" else own

    def run(
        self, shared: Any, data: "StudyData", splits: Sequence[Split], settings: Sequence[int]
    ) -> Iterator[list[FittedSplit]]:
        """Yield, for each split, what the candidates of these settings selected: of all at once, or one by one."""
        batch: list[Sequence[Selection | Exception]] = []
        if self.batched and not self.refusal and not any(split.change or split.reseed for split in splits):
            # with all settings that share an order with one of them: a fit is always the same piece of work
            begun, wanted = perf_counter(), set(settings)
            weights = data.sample_weight
            weighted = splits if weights is None else [split.weighted(weights) for split in splits]
            companions = [ordering.fitted for ordering in self.orderings if not wanted.isdisjoint(ordering.fitted)]
            fitted = sorted(wanted.union(*companions))
            parameters = [self.fitted_settings[setting] for setting in fitted]
            with gc_paused() if self.is_ours else nullcontext():
                try:
                    if data.feature_groups is None:
                        X = self._numbers(data)
                        batch = list(self.selector.refit_many(shared, X, data.y, weighted, parameters))
                    else:
                        batch += self._refit_groups(shared, data, weighted, parameters)
                except Exception as error:  # the fit that is to blame shows when each is made by itself
                    if data.adjusts:
                        batch = [[error] * len(fitted) for _ in splits]
                    log.warning("The batched fit of %s failed; its fits are made one by one.", self.name, exc_info=True)
                seconds = (perf_counter() - begun) / (len(splits) * len(parameters))
                fits = [
                    {setting: Fit(result, seconds) for setting, result in zip(fitted, results, strict=True)}
                    for results in batch
                ]
                collected = [self._collect(of, split, settings) for split, of in zip(splits, fits, strict=False)]
            yield collected
        for split in splits[len(batch) :]:
            yield [self._collect(self._fit_split(data, split, settings), split, settings)]

    def _refit_groups(
        self, shared: Any, data: "StudyData", splits: Sequence[Split], settings: Sequence[Mapping[str, Any]]
    ) -> list[list[Selection | Exception]]:
        """Fit many resamples, and cut what they prefer of columns to as many features as each setting asks for.

        A selector that goes through columns one by one goes on until they belong to that many features.
        """
        groups, n_features, more = data.feature_groups, len(data.names), 1
        assert groups is not None
        fit = getattr(self.selector, "prefer_many", self.selector.refit_many)
        while True:
            asked = [
                self._asked_size(setting) if hasattr(self.selector, "n_features") else None for setting in settings
            ]
            larger = [
                {**setting, **({} if size is None or more == 1 else {"n_features": size * more})}
                for setting, size in zip(settings, asked, strict=True)
            ]
            batch, too_few = list[list[Selection | Exception]](), False
            for split, selections in zip(splits, fit(shared, self._numbers(data), data.y, splits, larger), strict=True):
                batch.append([])
                for setting, size, selection in zip(settings, asked, selections, strict=True):
                    chosen: Selection | Exception = selection
                    if isinstance(selection, Selection) and selection.order is not None and size is not None:
                        of_order = groups.feature_of[selection.order]
                        reached = np.cumsum(~pd.Series(of_order).duplicated().to_numpy())
                        first = Selection.first(selection.order[reached <= size], selection.model, selection.note)
                        chosen = count_for_features(first, groups, data.columns)
                        exhausted = selection.order.size < size * more
                        too_few |= reached.max(initial=0) < min(size, n_features) and not exhausted
                    elif isinstance(selection, Selection):
                        chosen = count_for_features(selection, groups, data.columns)
                        if chosen.kind != "subset" and isinstance(self.selector, Selector):
                            chosen = clone(self.selector).set_params(**setting)._cut(chosen, n_features, split.seed)
                    batch[-1].append(chosen)
            if not too_few or "n_features" not in self.traits.shared_parameters:
                return batch
            more *= 2

    def _fit_split(self, data: "StudyData", split: Split, settings: Sequence[int]) -> dict[int, Fit]:
        """Clone the selector, set its parameters and fit it to the rows of the split, setting by setting."""
        try:
            if self.refusal:
                raise ValueError(self.refusal)
            X, y = split.data(data.X, data.y)
            of_rows = {"groups": data.samples.groups, "sample_weight": data.sample_weight}
            of_rows = {name: values[split.train] for name, values in of_rows.items() if values is not None}
        except Exception as error:
            return dict.fromkeys(settings, Fit(error, 0.0))
        return {setting: self._fit((X, y), of_rows, data, split, setting) for setting in settings}

    def _fit(
        self, train: tuple[Any, Any], of_rows: Mapping[str, Any], data: "StudyData", split: Split, setting: int
    ) -> Fit:
        begun, parameters = perf_counter(), self.fitted_settings[setting]
        try:
            estimator = clone(self.selector)
            if parameters:
                estimator.set_params(**{name: clone(value, safe=False) for name, value in parameters.items()})
            if data.adjusts:
                _adjust_scores(estimator, data.adjustment[split.train])
            set_seeds(estimator, split.seed, always=split.reseed)
            with config_context(skip_parameter_validation=setting in self._validated):
                estimator.fit(*train, **fit_arguments(estimator, of_rows))
            self._validated.add(setting)
            counts_groups = data.feature_groups is not None and self.batched and isinstance(estimator, Selector)
            selection = read_selection(
                estimator, data.columns, ordered=counts_groups or self.cuts != [None], groups=data.feature_groups
            )
            if counts_groups and selection.kind != "subset":
                selection = estimator._cut(selection, len(data.names), split.seed)
            result: Selection | Exception = selection
        except Exception as error:
            result = error
        except SystemExit as leaving:
            result = RuntimeError(f"The selector called sys.exit({'' if leaving.code is None else leaving.code}).")
        return Fit(result, perf_counter() - begun)

    @cached_property
    def _validated(self) -> set[int]:
        """Settings that were fitted in this process: scikit-learn need not validate their parameters again."""
        return set()

    # Candidates of fits

    def _collect(self, fits: Mapping[int, Fit], split: Split, settings: Sequence[int]) -> FittedSplit:
        """The selection of each candidate, and the orders that they are cuts of; fits are by setting.

        Which of equally good features are selected depends on the seed of the split.
        """
        selected: dict[int, Fit] = {}
        for setting in settings:
            fit = fits[setting]
            for candidate, size in enumerate(self.cuts, start=setting * len(self.cuts)):
                selected[candidate] = fit
                if size is not None and isinstance(fit.result, Selection):
                    try:
                        selected[candidate] = fit._replace(result=fit.result.top(size, random_state=split.seed))
                    except ValueError as error:
                        selected[candidate] = fit._replace(result=error)
        wanted = {self.ordering_of[candidate] for candidate in selected if candidate in self.ordering_of}
        orders = {ordering: self._make_order(ordering, fits, split.seed) for ordering in sorted(wanted)}
        return FittedSplit(selected, {ordering: order for ordering, order in orders.items() if order is not None})

    def _make_order(self, number: int, fits: Mapping[int, Fit], seed: int) -> Order | None:
        """The order that the candidates of an ordering are cut from; None if the fit failed or gives no order."""
        ordering, stores_all = self.orderings[number], self.candidates.keep in ("order", "weights")
        results = {setting: fits[setting].result for setting in ordering.fitted if setting in fits}
        selections = {setting: result for setting, result in results.items() if isinstance(result, Selection)}
        if self.batched:  # the longest selection, and how many features it was asked for
            sizes = {setting: chosen.order.size for setting, chosen in selections.items() if chosen.order is not None}
            asked_of = {setting: self._asked_size(self.fitted_settings[setting]) or 0 for setting in sizes}
            setting = max(sizes, key=lambda setting: (sizes[setting], asked_of[setting]), default=-1)
            longest, asked = selections.get(setting), asked_of.get(setting, 0)
        else:
            asked = ALL if stores_all else max(ordering.sizes.values())
            ranked = [selection for selection in selections.values() if selection.kind != "subset"]
            longest = ranked[0].top(asked, random_state=seed) if ranked else None
        if longest is None or longest.order is None:
            return None
        columns, whole = longest.order, longest.whole() if stores_all and longest.whole else None
        if whole is not None and whole.kind == "ranking" and self.batched and ALL not in self._hidden_sizes:
            order = np.argsort(whole.values, kind="stable")  # of a ranking without ties, as far as there is information
            columns = (order if whole.informative is None else order[whole.informative[order]]).astype(np.int32)
            asked = ALL
        stored = whole if self.candidates.keep == "weights" else None
        return Order(columns, longest.smallest, columns.size < asked, stored)


def _takes(method: Any, name: str) -> bool:
    """Whether a method has a parameter of this name."""
    return name in inspect.signature(method).parameters


def fit_arguments(estimator: Any, of_rows: Mapping[str, Any]) -> dict[str, Any]:
    """Groups and weights of rows as arguments of a fit: of the estimator, or of the steps of a Pipeline."""
    if isinstance(estimator, Pipeline):
        steps = [(f"{name}__", step) for name, step in estimator.steps if hasattr(step, "fit")]
        return {
            f"{prefix}{name}": values for prefix, step in steps for name, values in fit_arguments(step, of_rows).items()
        }
    return {name: values for name, values in of_rows.items() if takes_argument(estimator, name)}


def _adjust_scores(estimator: Any, covariates: NDArray[np.float64]) -> None:
    """Make scikit-learn's univariate selectors score features next to covariates of the rows they are fitted to."""
    for name, value in estimator.get_params(deep=True).items():
        if name.rpartition("__")[2] == "score_func" and value in (f_classif, f_regression):
            estimator.set_params(**{name: PartialF(covariates, classes=value is f_classif)})


def takes_argument(estimator: Any, name: str) -> bool:
    """Whether a fit takes this of rows, or hands it on to an estimator that does, as SelectFromModel does."""
    if _takes(estimator.fit, name):
        return True
    inner = getattr(estimator, "estimator", None)
    hands_on = any(part.kind is part.VAR_KEYWORD for part in inspect.signature(estimator.fit).parameters.values())
    return name == "sample_weight" and hands_on and hasattr(inner, "fit") and takes_argument(inner, name)
