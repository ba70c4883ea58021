"""A filter before another selector, inside every split, with all settings of that selector fitted together."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from holdfast.declared import About
from holdfast.selection import Selection
from holdfast.selectors.base import (
    AS_BASE,
    Batch,
    Data,
    FitResult,
    Ints,
    Ranked,
    Selector,
    Serves,
    Setting,
    SharedBySetting,
    learns_on_all,
)
from holdfast.selectors.filters import Variance
from holdfast.selectors.models import LinearRule, Predicts
from holdfast.selectors.wrapping import Wrapper

SEEN = "the prefilter looked at all rows, held-out ones too"


class Prefiltered(Predicts, Wrapper):
    """Let a filter cut the features to its best, inside every split, and a selector choose among those.

    As a Pipeline of both does, but all settings of the selector are fitted together on the features that are left.

    Parameters
    ----------
    base : selector
        A selector of holdfast, which chooses among the features that the filter leaves.
    filter : selector, optional
        A selector of holdfast with a number of features, such as ``AnovaF(1000)``; ``Variance(1000)`` if not given.
    n_features : int, optional
        Number of features to select, for the base; that of the base if not given.
    on : {"split", "full"}, default "split"
        Whether the filter sees the split's rows, or all rows, held-out ones too, once for all splits, which is faster;
        the latter only for :class:`Variance`, which does not look at the target. Each fit then says so in its note.
    random_state : int, optional
        Seed of both. In a study each resample has its own, unless this is set.

    Attributes
    ----------
    filtered_ : ndarray of bool
        Which features the filter leaves.
    order_ : ndarray
        Selected columns, the best first, if the base orders them.
    model_ : object
        The base's linear model, if it has one, which ``predict`` uses.
    support_ : ndarray of bool
        Which features are selected.

    See Also
    --------
    Variance, AnovaF : Filters.
    sklearn.pipeline.Pipeline : Any steps, each setting by itself.

    Examples
    --------
    >>> from holdfast.selectors import AnovaF, MRMR, Prefiltered
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> chosen = Prefiltered(MRMR(3), AnovaF(10)).fit(X, y)
    >>> int(chosen.filtered_.sum()), list(chosen.get_feature_names_out())
    (10, ['mean area', 'worst concavity', 'worst concave points'])
    """

    about: ClassVar[About] = About(
        name="prefiltered",
        label="Prefiltered selection",
        summary="A base selector's choice among the best features of a filter, in every split.",
        methods="selection among the best features of a filter",
    )
    serves: ClassVar[Serves | None] = AS_BASE

    shared_parameters: ClassVar[tuple[str, ...]] = ("n_features", "base__")
    uninformative: ClassVar[str | None] = "no information for the base, or left out by the filter"
    _fits_cut: ClassVar[bool] = True

    def __init__(
        self,
        base: Any,
        filter: Any = None,
        *,
        n_features: int | None = None,
        on: Literal["split", "full"] = "split",
        random_state: Any = None,
    ) -> None:
        self.base, self.filter, self.n_features, self.on, self.random_state = base, filter, n_features, on, random_state

    def _predicts(self) -> bool:
        return isinstance(self.base, Predicts) and self.base._predicts()

    def _checked_base(self) -> Any:
        filter_ = self._checked_filter()
        for name, selector in (("base", self.base), ("filter", filter_)):
            if not isinstance(selector, Selector) or isinstance(selector, Prefiltered):
                raise ValueError(
                    f"Expected a selector of holdfast as {name}, got {selector!r}; other estimators go into a Pipeline."
                )
        if "n_features" not in filter_.get_params(deep=False):
            raise ValueError(f"Expected a filter with a number of features, such as AnovaF(1000), got {self.filter!r}.")
        if learns_on_all("on", self.on) and not isinstance(filter_, Variance):
            raise ValueError(
                f"Expected on='split', got 'full' with {self.filter!r}, which would see the target of held-out rows; "
                "filter by Variance, or in every split."
            )
        return self.base

    def _checked_filter(self) -> Any:
        return Variance(1000) if self.filter is None else self.filter

    def _fit_seed(self) -> int | None:
        seed = super()._fit_seed()
        return clone(self._checked_base())._fit_seed() if seed is None else seed

    def _base_settings(self, data: Data) -> list[Setting]:
        """The settings of the base: those of a part of this name, and its number of features."""
        settings = []
        for setting, selector in zip(data.settings, data.selectors, strict=True):
            base_parameters = {
                name.removeprefix("base__"): setting[name] for name in setting if name.startswith("base__")
            }
            sized = {} if selector.n_features is None else {"n_features": selector.n_features}
            settings.append({**sized, **base_parameters})
        return settings

    def share(self, data: Data) -> "Shared":
        base, filter_, y = self._checked_base(), clone(self._checked_filter()), data.target.values
        prepared = filter_._prepare(SharedBySetting(data.groups), data.X, y, ALONE)
        if self.on == "split":
            return Shared(prepared)
        columns = np.flatnonzero(filter_.fit(data.X, y).get_support())
        cut = np.ascontiguousarray(data.X[:, columns])
        of_base = base._prepare(SharedBySetting(data.groups), cut, y, self._base_settings(data))
        return Shared(prepared, columns, cut, of_base)

    def rank(self, batch: Batch, shared: Any) -> Ranked:
        base, filter_, y = self._checked_base(), self._checked_filter(), batch.target.values
        settings, d = self._base_settings(batch), batch.n_features
        if shared.columns is None:
            resamples = batch.counts, batch.seeds
            filtered = [left for (left,) in filter_._select(shared.filter, batch.X, y, *resamples, ALONE, cut=True)]
        else:
            filtered = [Selection.subset(shared.columns, note=SEEN)] * len(batch)
            if shared.columns.size:
                together = list(
                    base._select(shared.base, shared.X, y, batch.counts, batch.seeds, settings, cut=batch.cut)
                )
        known = SharedBySetting(batch.groups)  # its groups of settings serve every resample
        ranked: list[Sequence[FitResult | Exception]] = []
        for resample, (left, single) in enumerate(zip(filtered, batch, strict=True)):
            if isinstance(left, Exception):
                selections: list[Any] = [left] * len(settings)
            elif not left.values.size:
                selections = [Selection.subset([], note=left.note)] * len(settings)
            elif shared.columns is not None:
                selections = together[resample]
            else:
                selections = _select_among(base, known, left.values, single, settings)
            ranked.append(
                [
                    chosen
                    if isinstance(chosen, Exception)
                    else FilteredSelection(_on_all_columns(chosen, left, d), left.values, d)
                    for chosen in selections
                ]
            )
        return ranked


ALONE: list[Setting] = [{}]


class Shared(NamedTuple):
    """What all resamples share.

    Attributes
    ----------
    filter : object
        What the filter prepared.
    columns : ndarray of int or None
        The columns that a filter of all rows leaves.
    X : ndarray or None
        The data in these columns.
    base : object
        What the base prepared of them.
    """

    filter: Any
    columns: Ints | None = None
    X: Any = None
    base: Any = None


class FilteredSelection(FitResult):
    """What the base selects or orders, as a selection of all columns, and the columns that the filter left."""

    def __init__(self, chosen: Selection, filtered: Ints, n_features: int) -> None:
        self.chosen, self.kind, self.values = chosen, chosen.kind, chosen.values
        mask = np.zeros(n_features, dtype=bool)
        mask[filtered] = True
        self.extras = {"filtered_": mask}
        if chosen.order is not None:
            self.extras["order_"] = chosen.order
        if chosen.model is not None:
            self.extras["model_"] = chosen.model
        if hasattr(chosen.model, "classes_"):
            self.extras["classes_"] = chosen.model.classes_
        self.note = "\n".join(line for line in chosen.note.split("\n") if line.startswith("fewer features"))

    def selection(self) -> Selection:
        return self.chosen

    def subset(self) -> Selection:
        return self.chosen


def _select_among(
    base: Selector, known: SharedBySetting, columns: Ints, single: Batch, settings: Sequence[Setting]
) -> list[Any]:
    """What each setting of the base selects of a resample's columns."""
    cut, y = np.ascontiguousarray(single.X[:, columns]), single.target.values
    try:
        shared = base._prepare(known, cut, y, settings)
        (selections,) = base._select(shared, cut, y, single.counts, single.seeds, settings, cut=single.cut)
    except Exception as error:
        return [error] * len(settings)
    return selections


def _on_all_columns(selection: Selection, passed: Selection, n_features: int) -> Selection:
    """What was selected of the columns that passed, as a selection of all columns; others carry no information."""
    columns, whole = passed.values, selection.whole
    note = "\n".join(dict.fromkeys(filter(None, [*passed.note.split("\n"), *selection.note.split("\n")])))
    model = _move_model(selection.model, columns)
    if selection.kind == "subset":
        return replace(
            selection, values=columns[selection.values], model=model, note=note,
            order=None if selection.order is None else columns[selection.order],
            whole=None if whole is None else lambda: _on_all_columns(whole(), passed, n_features),
        )  # fmt: skip
    worst = n_features if selection.kind == "ranking" else min(0.0, selection.values.min(initial=0.0))
    values, informative = np.full(n_features, worst, dtype=np.float64), np.zeros(n_features, dtype=bool)
    values[columns] = selection.values
    informative[columns] = True if selection.informative is None else selection.informative
    return Selection(selection.kind, values, model, note, informative)


def _move_model(model: Any, columns: NDArray[Any]) -> Any:
    """The same linear model on the columns of all data; None for a model of another kind."""
    if not isinstance(model, LinearRule):
        return None
    moved = copy.copy(model)
    moved.columns = columns[model.columns]
    return moved
