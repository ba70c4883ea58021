"""A control: how far halves agree if the target is shuffled, so that there is nothing to find.

Some selectors prefer certain features whatever the target is: those with the largest variance, the most different
values, the emptiest bins. Such a selection is found again by every study, and says nothing.
"""

import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from holdfast.replication.agreements import Floats, HalvingAgreements
from holdfast.replication.reading import complete_pairs, read_runs
from holdfast.resampling import Halvings
from holdfast.resampling.split import rng_of
from holdfast.study import Study, StudyError
from holdfast.study.data import GivenData

N_ORDERS, N_HALVINGS = 5, 4
"""How many times the target is shuffled, and the halvings with each."""
NOTEWORTHY = 0.1
"""Agreement with a shuffled target above which it is told, if it is at least half of that with the true one."""
SHUFFLE = 7
"""Stream of random numbers for the order of the target."""


def shuffled_agreement(plan: Study, given: GivenData, top: int | None, **running: Any) -> float:
    """Return the mean agreement of halves after the target was shuffled; ``nan`` if most of them select nothing."""
    target, seed = np.asarray(given.y), int(plan.random_state)
    study = replace(plan, perturbation=Halvings(N_HALVINGS))
    orders = [rng_of(seed, place, SHUFFLE).permutation(len(target)) for place in range(N_ORDERS)]
    within = [_agreements(study, given._replace(y=target[order]), top, running) for order in orders]
    known = np.concatenate(within)
    return float(known.mean()) if 2 * known.size >= N_ORDERS * N_HALVINGS else math.nan


def _agreements(study: Study, given: GivenData, top: int | None, running: dict[str, Any]) -> Floats:
    """Agreements of the halves of each halving; without those that select nothing, or could not be fitted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of fits to a target that is none
        try:
            result = study.run(given.X, given.y, groups=given.groups, progress=False, **running)
            halves = complete_pairs(result, read_runs(result, result.candidates[0], top, measured=True))
        except (ValueError, StudyError):
            return np.empty(0)
    within = HalvingAgreements.from_runs(halves).within
    return within[~np.isnan(within)]


def warn_of_preference(shuffled: float, half_agreement: float) -> tuple[str, ...]:
    """Say that halves agree much the same whatever the target is, if they do."""
    if not (shuffled > NOTEWORTHY and shuffled >= half_agreement / 2):
        return ()
    return (
        f"With a shuffled target halves agree by {shuffled:.2f}, too (with the true one by {half_agreement:.2f}): the "
        "selector prefers certain features whatever the target is, so being found again is no sign that they matter.",
    )
