"""Settings that take their results from one fit, and the fits of such a group on many resamples."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from joblib import hash as content_hash
from sklearn.base import clone

from holdfast.selection import Selection
from holdfast.selectors.rows import Floats, Resamples, Target

if TYPE_CHECKING:
    from holdfast.selectors.base import Preference

Key = tuple[tuple[str, str], ...]
PLAIN = (str, int, float, bool, type(None))
MOST_KNOWN = 8
"""Of how many lists of settings the groups are kept."""


class SettingGroup(NamedTuple):
    """Settings that differ in ``shared_parameters`` only, so that one fit gives the preferences of all of them."""

    key: Key  # the parameters that they have in common
    places: list[int]  # of the settings, among all
    selectors: list[Any]  # the selector with each setting


class Prepared(dict[Key, Any]):
    """What all resamples share, for each group of settings; and the groups, which are made once."""

    def __init__(self, shared: Mapping[Key, Any] | None = None) -> None:
        super().__init__(shared or {})
        self.known: list[tuple[list[dict[str, Any]], list[SettingGroup]]] = []

    def groups(self, selector: Any, settings: Sequence[dict[str, Any]]) -> list[SettingGroup]:
        """Put settings together that differ in ``shared_parameters`` only; the same objects are not looked at again."""
        for known, groups in self.known:
            if len(known) == len(settings) and all(map(operator.is_, known, settings)):
                return groups
        groups = group_settings(selector, settings)
        self.known = [*self.known[-MOST_KNOWN:], (list(settings), groups)]
        return groups


def make_key(setting: Mapping[str, Any], names: Iterable[str]) -> Key:
    """The values of these parameters, by which settings are told apart; the text of an array may be cut."""
    values = ((name, setting[name]) for name in names)
    return tuple((name, repr(value) if isinstance(value, PLAIN) else content_hash(value)) for name, value in values)


def group_settings(selector: Any, settings: Sequence[dict[str, Any]]) -> list[SettingGroup]:
    """Put settings together that differ in ``shared_parameters`` only, those of a shared one's own included."""
    groups: dict[Key, SettingGroup] = {}
    for place, setting in enumerate(settings):
        own = sorted(name for name in setting if name.partition("__")[0] not in selector.shared_parameters)
        key = make_key(setting, own)
        group = groups.setdefault(key, SettingGroup(key, [], []))
        group.places.append(place)
        group.selectors.append(clone(selector).set_params(**setting))
    return list(groups.values())


def select_for_group(
    group: SettingGroup, shared: Any, X: Floats, target: Target, resamples: Resamples, cut: bool
) -> list[Sequence[Selection | Exception]]:
    """Return, for each resample, what each selector of a group selects, or the error that stopped it."""
    first = group.selectors[0]
    resamples = resamples._replace(seeds=first._seed_resamples(resamples.seeds))
    results: list[Sequence[Selection | Exception]] = [()] * len(resamples.seeds)
    valid = []
    for resample, counts in enumerate(resamples.counts):
        try:
            first._check(target, counts)
            first._tie_seed(None)
            valid.append(resample)
        except ValueError as error:
            results[resample] = [error] * len(group.places)
    fits = _fit_resamples(group, shared, X, target, resamples.take(valid), cut)
    for resample, preferences in zip(valid, fits, strict=True):
        results[resample] = [
            selector._to_selection(preference, X.shape[1], resamples.seeds[resample], cut)
            for selector, preference in zip(group.selectors, preferences, strict=True)
        ]
    return results


def _fit_resamples(
    group: SettingGroup, shared: Any, X: Floats, target: Target, resamples: Resamples, cut: bool
) -> Sequence[Sequence["Preference | Exception"]]:
    """Fit all resamples together; if that raises, fit them one by one, so that only those fail that must."""
    first, n = group.selectors[0], len(resamples.seeds)
    prefer = first._preferences_to_cut if cut else first._preferences_by_resample
    try:
        return prefer(group.selectors, shared, X, target, resamples) if n else []
    except Exception as error:
        if n == 1:
            return [[error] * len(group.places)]
    return [_fit_resamples(group, shared, X, target, resamples.take([resample]), cut)[0] for resample in range(n)]
