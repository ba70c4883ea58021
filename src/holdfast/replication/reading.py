"""What a study with halvings selected on all rows and on its halves."""

import numpy as np

from holdfast.preferences import Preferences
from holdfast.study import StudyResult
from holdfast.study.common_measure import CommonMeasure


def read_runs(result: StudyResult, candidate: str, top: int | None, measured: bool) -> Preferences:
    """What a candidate selected on halves (``measured``), or on all rows; of rankings and weights the best ``top``."""
    if result.kinds.get(candidate) == "subset":
        return result.designed(candidate, top=top, measured=measured).runs
    if top is None and candidate in result.kinds:
        raise ValueError(
            f"Expected top=, the number of best features that count as selected: {candidate} gives a "
            f"{result.kinds[candidate]}."
        )
    return CommonMeasure("", top).cut(result.designed(candidate, measured=measured)).runs


def complete_pairs(result: StudyResult, halves: Preferences) -> Preferences:
    """The halves of halvings both of whose fits ended well, in order."""
    splits = result.split_numbers(halves)
    order = np.argsort(splits)
    blocks = result.split_table["block"].loc[splits[order].tolist()].to_numpy()
    found, counts = np.unique(blocks, return_counts=True)
    both = np.isin(blocks, found[counts == 2])
    return halves.take(order[both].tolist())
