"""Which candidate is meant where none is named: the only one, the chosen one, or the most stable one."""

import warnings
from collections.abc import Mapping

from holdfast.inference.estimate import StabilityEstimate
from holdfast.measures import find_measure
from holdfast.study.common_measure import common_size
from holdfast.study.orders import UnansweredError
from holdfast.study.result import StudyResult


def default_candidate(result: StudyResult) -> str:
    """Return the candidate that a report is about: the one that the usual rule chooses, else the most stable one."""
    if not result.finished:
        raise UnansweredError("No fit has succeeded, so there is no candidate to look at.", "no fit has succeeded")
    if len(result.candidates) == 1:
        return result.candidates[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if result.has_scores:
            try:
                return result.choose().candidate
            except ValueError:  # scores or stabilities are undefined
                pass
        common, estimates = result.common_measure(), dict[str, StabilityEstimate | str]()
        for name in result.finished:
            try:
                estimates[name] = result.stability(name, common.measure, top=common.top_of(result.kinds.get(name)))
            except ValueError as error:
                estimates[name] = str(error)
    return most_stable(estimates) or result.finished[0]


def most_stable(estimates: Mapping[str, StabilityEstimate | str]) -> str | None:
    """Return the candidate whose estimate is best; None if none has a stability."""
    known = {
        name: estimate
        for name, estimate in estimates.items()
        if isinstance(estimate, StabilityEstimate) and estimate.value == estimate.value
    }
    if not known:
        return None
    measure = find_measure(next(iter(known.values())).measure.split("(")[0])
    best = max if measure.higher_is_better else min
    return best(known, key=lambda name: known[name].value)


def features_that_count(result: StudyResult, candidate: str) -> int | None:
    """Return how many of the best features of a candidate's rankings or weights count; None if it gives subsets."""
    if result.kinds.get(candidate) == "subset":
        return None
    return result.common_measure().top or common_size([], len(result.feature_names))
