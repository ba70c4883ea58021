"""A filter before another selector, inside every split, with all settings of that selector fitted together."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from holdfast.declared import About
from holdfast.kernels.tolerances import check_magnitude
from holdfast.resampling import Split
from holdfast.selection import Selection
from holdfast.selectors.base import (
    Floats,
    Ints,
    Key,
    Preference,
    Resamples,
    Selector,
    Setting,
    SettingGroup,
    TakesGroups,
    Target,
    group_settings,
    learned_on,
    make_key,
    row_groups,
    select_for_group,
)
from holdfast.selectors.filters import Variance
from holdfast.selectors.models import LinearRule, Predicts
from holdfast.selectors.wrapping import Wrapper

Results = list[list[Selection | Exception]]
SEEN = "the prefilter looked at all rows, held-out ones too"


class Prefiltered(TakesGroups, Predicts, Wrapper):
    """Let a filter cut the features to its best, inside every split, and a selector choose among those.

    As a Pipeline of both does, but all settings of the selector are fitted together on the features that are left.

    Parameters
    ----------
    base : selector
        A selector of holdfast, which chooses among the features that the filter leaves.
    filter : selector, optional
        A selector of holdfast with a number of features, such as ``AnovaF(1000)``; ``Variance(1000)`` if not given.
    n_features : int, optional
        Number of features to select, for the base; its own if not given.
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

    uninformative: ClassVar[str | None] = "no information for the base, or left out by the filter"

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
        for name, selector in (("base", self.base), ("filter", self._own_filter())):
            if not isinstance(selector, Selector) or isinstance(selector, Prefiltered):
                raise ValueError(
                    f"Expected a selector of holdfast as {name}, got {selector!r}; other estimators go into a Pipeline."
                )
        if "n_features" not in self._own_filter().get_params(deep=False):
            raise ValueError(f"Expected a filter with a number of features, such as AnovaF(1000), got {self.filter!r}.")
        if learned_on("on", self.on) == "full" and not isinstance(self._own_filter(), Variance):
            raise ValueError(
                f"Expected on='split', got 'full' with {self.filter!r}, which would see the target of held-out rows; "
                "filter by Variance, or in every split."
            )
        return self.base

    def _own_filter(self) -> Any:
        return Variance(1000) if self.filter is None else self.filter

    def _own_seed(self) -> int | None:
        seed = super()._own_seed()
        return clone(self._checked_base())._own_seed() if seed is None else seed

    # One fit

    def _shared(self, X: Floats, target: Target) -> None:
        return None

    def _shared_in_groups(self, X: Floats, target: Target, groups: Ints | None) -> Ints | None:
        return groups

    def _preference(self, shared: Any, X: Floats, target: Target, counts: Ints, seed: int | None) -> Preference:
        setting = self._base_setting({})
        cut = self._prepare_cut(X, target.values, [setting], shared)
        results = self._select_cut(cut, X, target.values, Resamples(counts[None], [seed]), [setting], cut=True)
        ((selection,),) = cast(list[list[Selection | Exception]], list(results))
        if isinstance(selection, Exception):
            raise selection
        filtered = np.zeros(X.shape[1], dtype=bool)
        filtered[self._filter_columns(cut, X, target.values, Resamples(counts[None], [seed]))[0].values] = True
        extras: dict[str, Any] = {"filtered_": filtered}
        if selection.order is not None:
            extras["order_"] = selection.order
        if selection.model is not None:
            extras["model_"] = selection.model
            extras |= {"classes_": selection.model.classes_} if hasattr(selection.model, "classes_") else {}
        note = "\n".join(line for line in selection.note.split("\n") if line.startswith("fewer features"))
        return Preference("subset", selection.values, selection.model, extras, note=note)

    # Many fits

    def prepare(
        self, X: Floats, y: NDArray[Any], settings: Sequence[Setting], groups: NDArray[Any] | None = None
    ) -> dict[Key, Any]:
        check_magnitude(X)
        numbered = row_groups(groups, len(X))
        return {
            key: selector._prepare_cut(X, y, base_settings, numbered)
            for key, (selector, _, base_settings) in self._group_by_filter(settings).items()
        }

    def _select_many(
        self,
        shared: dict[Key, Any],
        X: Floats,
        y: NDArray[Any],
        splits: Sequence[Split],
        settings: Sequence[Setting],
        *,
        cut: bool,
    ) -> Iterator[list[Selection | Exception]]:
        counts = np.array([split.weights(X.shape[0]) for split in splits])
        resamples = Resamples(counts, self._seed_resamples([split.seed for split in splits]))
        groups = self._group_by_filter(settings)
        results = [
            selector._select_cut(shared[key], X, y, resamples, base_settings, cut=cut)
            for key, (selector, _, base_settings) in groups.items()
        ]
        for of_groups in zip(*results, strict=True):
            selections: dict[int, Selection | Exception] = {}
            for (_, places, _), of_group in zip(groups.values(), of_groups, strict=True):
                selections |= zip(places, of_group, strict=True)
            yield [selections[place] for place in range(len(settings))]

    def _group_by_filter(self, settings: Sequence[Setting]) -> dict[Key, tuple[Any, list[int], list[Setting]]]:
        """Settings that differ in parameters of the base only: their selector, their places, the base's settings."""
        groups: dict[Key, tuple[Any, list[int], list[Setting]]] = {}
        for place, setting in enumerate(settings):
            own = {name: setting[name] for name in sorted(setting) if not _is_of_base(name)}
            key = make_key(own, own)
            if key not in groups:
                groups[key] = clone(self).set_params(**own), [], []
            groups[key][1].append(place)
            groups[key][2].append(groups[key][0]._base_setting(setting))
        return groups

    def _base_setting(self, setting: Setting) -> Setting:
        own = {name.removeprefix("base__"): value for name, value in setting.items() if _is_of_base(name)}
        return own if "n_features" in own or self.n_features is None else {**own, "n_features": self.n_features}

    def _prepare_cut(self, X: Floats, y: NDArray[Any], base_settings: Sequence[Setting], groups: Ints | None) -> "Cut":
        """What all resamples share; if the filter sees all rows, the columns that it leaves and the base's part too."""
        base, filter_ = self._checked_base(), clone(self._own_filter())
        prepared = filter_._shared_in_groups(X, filter_._target(y), groups)
        if self.on == "split":
            return Cut(prepared, groups)
        columns = np.flatnonzero(filter_.fit(X, y).get_support())
        cut = np.ascontiguousarray(X[:, columns])
        return Cut(prepared, groups, columns, cut, _share(group_settings(base, base_settings), cut, y, groups))

    def _filter_columns(self, shared: "Cut", X: Floats, y: NDArray[Any], resamples: Resamples) -> list[Any]:
        """What the filter leaves of each resample, or the error that stopped it."""
        if shared.columns is not None:
            return [Selection.subset(shared.columns, note=SEEN)] * len(resamples.seeds)
        (group,) = group_settings(self._own_filter(), [{}])
        target = group.selectors[0]._target(y)
        return [result[0] for result in select_for_group(group, shared.filter, X, target, resamples, cut=True)]

    def _select_cut(
        self,
        shared: "Cut",
        X: Floats,
        y: NDArray[Any],
        resamples: Resamples,
        base_settings: Sequence[Setting],
        *,
        cut: bool,
    ) -> Iterator[Sequence[Selection | Exception]]:
        """Yield, for each resample, what each setting of the base selects of the features that the filter leaves."""
        groups, left = (
            group_settings(self._checked_base(), base_settings),
            self._filter_columns(shared, X, y, resamples),
        )
        if shared.columns is not None and shared.columns.size:
            together = _run_base(groups, shared.bases, shared.X, y, resamples, cut)
        for number, passed in enumerate(left):
            if isinstance(passed, Exception):
                yield [passed] * len(base_settings)
            elif not passed.values.size:
                yield [Selection.subset([], note=passed.note)] * len(base_settings)
            else:
                selections = together[number] if shared.columns is not None else self._run_alone(
                    groups, passed.values, X, y, shared.groups, resamples.take([number]), cut
                )  # fmt: skip
                yield [
                    selection if isinstance(selection, Exception) else _on_all_columns(selection, passed, X.shape[1])
                    for selection in selections
                ]

    def _run_alone(
        self,
        groups: Sequence[SettingGroup],
        columns: Ints,
        X: Floats,
        y: NDArray[Any],
        row_groups: Ints | None,
        resamples: Resamples,
        cut: bool,
    ) -> list[Selection | Exception]:
        """What each setting of the base selects of a resample's own columns."""
        own = np.ascontiguousarray(X[:, columns])
        try:
            return _run_base(groups, _share(groups, own, y, row_groups), own, y, resamples, cut)[0]
        except Exception as error:
            return [error] * sum(len(group.places) for group in groups)


class Cut(NamedTuple):
    """What all resamples share.

    Attributes
    ----------
    filter : object
        What the filter prepared.
    groups : ndarray of int or None
        The group of each row, if there are groups.
    columns : ndarray of int or None
        The columns that a filter of all rows leaves.
    X : ndarray or None
        The data in these columns.
    bases : list
        What each group of the base's settings prepared of them.
    """

    filter: Any
    groups: Ints | None
    columns: Ints | None = None
    X: Any = None
    bases: Sequence[Any] = ()


def _is_of_base(name: str) -> bool:
    return name == "n_features" or name.startswith("base__")


def _share(groups: Sequence[SettingGroup], X: Floats, y: NDArray[Any], row_groups: Ints | None) -> list[Any]:
    """What resamples share, for each group of the base's settings."""
    target = groups[0].selectors[0]._target(y)
    return [group.selectors[0]._shared_by_settings(group.selectors, X, target, row_groups) for group in groups]


def _run_base(
    groups: Sequence[SettingGroup], shared: Sequence[Any], X: Floats, y: NDArray[Any], resamples: Resamples, cut: bool
) -> Results:
    """Resamples × settings of the base."""
    selections: list[dict[int, Selection | Exception]] = [{} for _ in resamples.seeds]
    target = groups[0].selectors[0]._target(y)
    for group, own in zip(groups, shared, strict=True):
        for found, by_setting in zip(selections, select_for_group(group, own, X, target, resamples, cut), strict=True):
            found |= zip(group.places, by_setting, strict=True)
    return [[found[place] for place in range(len(found))] for found in selections]


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
