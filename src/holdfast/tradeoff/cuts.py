"""Selections of several sizes: the candidates that are cuts of one order, and cuts at sizes that no candidate has."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from holdfast.inference.designs import DesignedRuns
from holdfast.study.orders import UnansweredError
from holdfast.study.result import StudyResult

SIZES = 30
SIZE_NAMES = ("size", "n_features", "k")
"""Parameters that are a number of features, the first of them that all candidates of a selector set."""


def cut_to_sizes(
    result: StudyResult, name: str, sizes: Iterable[int] | None = None, *, fill: bool = False
) -> tuple[dict[int, DesignedRuns], dict[int, str]]:
    """Cut subsets of every size from rankings, weights or orders, or take those of a selector's candidates.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    name : str
        A candidate or a selector, as for :func:`profile`.
    sizes : iterable of int, optional
        Sizes, as for :func:`profile`.
    fill : bool
        Whether to fill up selections with features without information, as for :func:`profile`.

    Returns
    -------
    (dict, dict)
        The subsets of each size, and the selector's candidates by their sizes.
    """
    wanted = None if sizes is None else sorted(set(map(int, sizes)))
    if gives_orders(result, name):
        whole = keep_whole_samples(result.designed(name))
        return _cut_orders(whole, _usual_sizes(whole.runs.n_features) if wanted is None else wanted), {}
    candidates = _sized_candidates(result, name)
    if not candidates:
        raise UnansweredError(
            f"Expected a candidate that gives rankings or weights, or a selector whose candidates differ in size alone "
            f"(hf.Candidates(…, sizes=[5, 10, 20])), got {name!r}; selectors are {', '.join(result.families)}.",
            _why_no_sizes(result, name),
        )
    if wanted is None:
        wanted = list(candidates) if len(candidates) > 1 else _stored_sizes(result, *candidates.values())
    cut = {size: _cut_to_size(result, candidates, size) for size in wanted}
    return {size: fill_up(designed, size) for size, designed in cut.items()} if fill else cut, candidates


def _cut_orders(whole: DesignedRuns, sizes: Iterable[int]) -> dict[int, DesignedRuns]:
    """The best features of rankings or weights, as many as each size says; equally good ones by a fixed seed."""
    ranked = whole.runs.to_ranking(ties="random", random_state=0)
    return {size: replace(whole, runs=ranked.top(size, ties="lowest")) for size in sizes}


def fill_up(designed: DesignedRuns, size: int) -> DesignedRuns:
    """Add features that a run did not select, in an order of its own that is drawn by a fixed seed, up to a size."""
    runs = designed.runs
    if (runs.sizes >= size).all():
        return designed
    others = np.random.default_rng(0).permuted(np.tile(np.arange(runs.n_features), (runs.n_runs, 1)), axis=1)
    indices, pointers = runs.lists()
    chosen = np.split(indices, pointers[1:-1])
    filled = [np.r_[own, order[~np.isin(order, own)]][:size] for own, order in zip(chosen, others, strict=True)]
    columns = np.sort(np.array(filled, dtype=np.int32), axis=1)
    return replace(
        designed, runs=replace(runs, indices=columns.ravel(), indptr=np.arange(runs.n_runs + 1, dtype=np.int64) * size)
    )


def gives_orders(result: StudyResult, name: str) -> bool:
    """Whether this is a candidate that gives rankings or weights of all features."""
    return result.kinds.get(name, "subset") != "subset"


def find_sizes(result: StudyResult, name: str) -> range | list[int]:
    """Return the sizes that a profile can be asked for: those that stored orders hold for, else those of candidates.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    name : str
        A candidate or a selector, as for :func:`profile`.

    Returns
    -------
    range or list of int
        The sizes, ascending.

    Raises
    ------
    UnansweredError
        If there are not several of them; its ``plain`` says why.
    """
    if gives_orders(result, name):
        return range(1, len(result.feature_names) + 1)
    candidates = _sized_candidates(result, name)
    if not candidates:
        raise UnansweredError(f"{name} has no sizes to look at.", _why_no_sizes(result, name))
    *_, largest = candidates.values()
    try:
        least, most = result.stored_sizes(largest)
    except UnansweredError:
        if len(candidates) < 2:
            raise
        return list(candidates)
    return range(least, most + 1)


def _why_no_sizes(result: StudyResult, family: str) -> str:
    names = [name for name in result.candidates if result.family(name) == family]
    if not any(name in result.kinds for name in names):
        return "no fit has succeeded"
    if len(names) > 1:
        return "its candidates differ in more than the number of features"
    return "it selects as many features as it finds, and has no number of features to change"


def _stored_sizes(result: StudyResult, candidate: str) -> list[int]:
    """About 30 of the sizes that the stored orders of a candidate hold for."""
    least, most = result.stored_sizes(candidate)
    return [size for size in _usual_sizes(most) if size >= least]


def _cut_to_size(result: StudyResult, candidates: Mapping[int, str], size: int) -> DesignedRuns:
    """The subsets of a size: those of a candidate that has it, or cut from the orders of another."""
    if size in candidates:
        return keep_whole_samples(result.designed(candidates[size]))
    *_, largest = candidates.values()
    return keep_whole_samples(result.designed(largest, top=size))


def keep_whole_samples(designed: DesignedRuns) -> DesignedRuns:
    """Return the runs of a candidate; of nested subsamples the whole ones, which are measured as plain runs."""
    if designed.design != "nested_subsamples":
        return designed
    whole = [run for run, fraction in enumerate(designed.fractions) if fraction == 1]
    blocks = [designed.blocks[run] for run in whole]
    return DesignedRuns(designed.runs.take(whole), "runs", blocks, [1.0] * len(whole))


def _usual_sizes(d: int) -> list[int]:
    """About 30 sizes from 1 to all, closer to each other where they are small."""
    return sorted({round(size) for size in np.geomspace(1, d, min(SIZES, d))})


def _sized_candidates(result: StudyResult, family: str) -> dict[int, str]:
    """The candidates of a selector by their size, if sizes are all that they differ in."""
    names = [name for name in result.candidates if result.family(name) == family]
    groups = group_by_order(result, names)
    if not groups and len(names) == 1 and names[0] in result.kinds:
        size = result.size_of(names[0])
        return {} if size is None else {size: names[0]}
    sized = all(set(SIZE_NAMES) & set(result.settings(name)) for name in names)
    return groups[0] if len(groups) == 1 and sized else {}


def group_by_order(result: StudyResult, names: Iterable[str]) -> list[dict[int, str]]:
    """Return the candidates that differ in nothing but their size, each group by size, ascending.

    Parameters
    ----------
    result : StudyResult
        What a study found.
    names : iterable of str
        Candidates; those that set no number of features, or have no finished fit, are in no group.

    Returns
    -------
    list of dict
        Candidate by size, one for each selector and setting of its other parameters.
    """
    groups: dict[tuple[str, ...], dict[int, str]] = {}
    for name in names:
        settings = result.settings(name)
        key = next((key for key in SIZE_NAMES if key in settings), None)
        if key is not None and name in result.kinds:
            others = sorted(f"{other}={value}" for other, value in settings.items() if other != key)
            groups.setdefault((result.family(name), key, *others), {})[int(settings[key])] = name
    return [dict(sorted(group.items())) for group in groups.values()]
