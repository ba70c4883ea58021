"""Families: one selector with all the settings that one piece of work can fit; a candidate is one of them."""

import inspect
import itertools
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from holdfast.io.estimators import read_selection, set_seeds
from holdfast.resampling import Split
from holdfast.selection import RefitsMany, Selection

log = logging.getLogger(__name__)


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
        if not self.cuts:
            raise ValueError(f"Expected sizes to be a whole number of at least 1, or several, got {self.sizes!r}.")
        for size in self.cuts:
            if size is not None and (not isinstance(size, (int, np.integer)) or size < 1):
                raise ValueError(f"Expected sizes to be a whole number of at least 1, or several, got {size!r}.")

    @property
    def settings(self) -> list[dict[str, Any]]:
        """Every setting of the grid, in its order; one empty setting without a grid."""
        grids = [self.grid] if isinstance(self.grid, Mapping) else list(self.grid)
        return [setting for grid in grids for setting in _ordered_grid(grid)]

    @property
    def cuts(self) -> list[int | None]:
        """Every size; None stands for the selection as it is."""
        if self.sizes is None:
            return [None]
        return list(self.sizes) if isinstance(self.sizes, (Sequence, np.ndarray)) else [self.sizes]

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


def _ordered_grid(grid: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """The settings of one grid: the first parameter given changes slowest."""
    for name, values in grid.items():
        if isinstance(values, str) or not isinstance(values, (Sequence, np.ndarray)):
            raise ValueError(f"Expected a list of values for {name!r} in the grid, got {values!r}.")
        if not len(values):
            raise ValueError(f"Expected at least one value for {name!r} in the grid, got none.")
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def candidate_name(family: str, setting: Mapping[str, Any]) -> str:
    """The name of a candidate: its family, and its setting in parentheses."""
    return f"{family}({', '.join(f'{name}={_format_value(value)}' for name, value in setting.items())})"


def _format_value(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = value if isinstance(value, str) else repr(value)
    return " ".join(text.split())


class Fit:
    """The fit of one setting on one split: a selection or an error, and its seconds."""

    def __init__(self, result: Selection | Exception, seconds: float) -> None:
        self.result, self.seconds = result, seconds


@dataclass(frozen=True)
class Family:
    """A named selector with its candidates, fitted on blocks of splits."""

    name: str
    candidates: Candidates

    @property
    def selector(self) -> Any:
        """The selector."""
        return self.candidates.selector

    @cached_property
    def settings(self) -> list[dict[str, Any]]:
        """Every setting that needs a fit; a batched selector gets sizes as settings."""
        if not self._takes_sizes_as_settings:
            return self.candidates.settings
        return [
            {**setting, "n_features": size} for setting in self.candidates.settings for size in self.candidates.cuts
        ]

    @cached_property
    def cuts(self) -> list[int | None]:
        """Every size that is cut from one fit."""
        return [None] if self._takes_sizes_as_settings else self.candidates.cuts

    @property
    def _takes_sizes_as_settings(self) -> bool:
        return self.batched and self.candidates.sizes is not None

    @cached_property
    def names(self) -> list[str]:
        """The name of each candidate: all sizes of the first setting, then of the next."""
        return self.candidates.names(self.name)

    @property
    def batched(self) -> bool:
        """Whether the selector fits many resamples in one piece of work, and takes the sizes as a parameter."""
        sized = self.candidates.sizes is None or "n_features" in self.selector.get_params(deep=False)
        return sized and isinstance(self.selector, RefitsMany)

    def prepare(self, X: Any, y: NDArray[Any], groups: NDArray[Any] | None = None) -> Any:
        """What all splits share; None if there is nothing. Selectors that take groups of rows get them."""
        if not self.batched:
            return None
        return self.selector.prepare(as_numbers(X), y, self.settings, **_groups_for(self.selector.prepare, groups))

    def run(
        self,
        shared: Any,
        X: Any,
        y: NDArray[Any],
        names: Sequence[str],
        splits: Sequence[Split],
        places: Sequence[int],
        groups: NDArray[Any] | None = None,
    ) -> Iterator[list[Fit]]:
        """Yield, for each split, a fit of each of the settings at these places."""
        settings = [self.settings[place] for place in places]
        left = iter(splits)
        if self.batched and not any(split.change or split.reseed for split in splits):
            try:
                for fits in self._refit_batch(shared, X, y, splits, settings):
                    next(left)
                    yield fits
            except Exception:  # the fit that is to blame shows when each is made by itself
                log.warning("The batched fit of %s failed; its fits are made one by one.", self.name, exc_info=True)
        for split in left:
            yield self._fit_split(X, y, names, split, settings, groups)

    def cut(self, selection: Selection, random_state: int) -> list[Selection]:
        """One selection for each size; which of equally good features are taken depends on the split's seed."""
        return [selection if size is None else selection.top(size, random_state=random_state) for size in self.cuts]

    def _refit_batch(
        self, shared: Any, X: Any, y: NDArray[Any], splits: Sequence[Split], settings: list[dict[str, Any]]
    ) -> Iterator[list[Fit]]:
        begun = perf_counter()
        batch = list(self.selector.refit_many(shared, as_numbers(X), y, splits, settings))
        seconds = (perf_counter() - begun) / (len(splits) * len(settings))
        yield from ([Fit(result, seconds) for result in results] for results in batch)

    def _fit_split(
        self,
        X: Any,
        y: NDArray[Any],
        names: Sequence[str],
        split: Split,
        settings: list[dict[str, Any]],
        groups: NDArray[Any] | None,
    ) -> list[Fit]:
        try:
            train = *split.data(X, y), None if groups is None else groups[split.train]
        except Exception as error:
            return [Fit(error, 0.0)] * len(settings)
        return [self._fit(train, names, split, setting) for setting in settings]

    def _fit(self, train: tuple[Any, Any, Any], names: Sequence[str], split: Split, setting: dict[str, Any]) -> Fit:
        begun = perf_counter()
        try:
            estimator = clone(self.selector).set_params(
                **{name: clone(value, safe=False) for name, value in setting.items()}
            )
            set_seeds(estimator, split.seed, always=split.reseed)
            estimator.fit(*train[:2], **_groups_in_steps(estimator, train[2]))
            result: Selection | Exception = read_selection(estimator, names, ordered=self.cuts != [None])
        except Exception as error:
            result = error
        except SystemExit as leaving:
            result = RuntimeError(f"The selector called sys.exit({'' if leaving.code is None else leaving.code}).")
        return Fit(result, perf_counter() - begun)


def _groups_for(method: Any, groups: NDArray[Any] | None) -> dict[str, Any]:
    """Groups of rows as an argument of a method that names one for them."""
    return {"groups": groups} if groups is not None and "groups" in inspect.signature(method).parameters else {}


def _groups_in_steps(estimator: Any, groups: NDArray[Any] | None) -> dict[str, Any]:
    """Groups of rows as arguments of a fit: the estimator's own, or those of the steps of a Pipeline."""
    if not isinstance(estimator, Pipeline):
        return _groups_for(estimator.fit, groups)
    fits = {name: step.fit for name, step in estimator.steps if hasattr(step, "fit")}
    return {f"{name}__groups": groups for name, fit in fits.items() if _groups_for(fit, groups)}


def as_numbers(X: Any) -> NDArray[np.float64]:
    """The features as numbers, dense."""
    return np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
