"""Candidates: a grid of settings and sizes of one selector, and their names."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from holdfast.selectors.catalog import SELECTORS

Keep: TypeAlias = Literal["order", "weights", "selected"]


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
        What a study stores of every fit beside the selection. By default the order of the features that the largest
        size takes, which costs nothing and tells the stability of smaller sizes too; ``"order"`` asks for all of it
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


def name_selectors(selectors: Any) -> dict[str, Any]:
    """Return selectors by name: a mapping as it is, a list or a single selector named after their classes.

    A selector has the name that the command line knows it by, or its class's name in snake_case; ``_2``, ``_3``, … tell
    selectors of one name apart. Of a pipeline, the last step that selects gives the name.

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
    >>> from holdfast.study.candidates import name_selectors
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
