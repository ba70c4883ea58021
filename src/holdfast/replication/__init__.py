"""What a new study would find: how many of the selected features it would select too, and how sure that is.

- ``running``: halves of the rows are fitted, with a control and cautions, and answers stored with the study
- ``result``: the answer in numbers and words, and how it is estimated from what halves selected
- ``lists``: a list of one's own, name by name and as a whole
- ``agreements``: the statistics behind it
"""

from holdfast.replication.lists import (
    ListCheck,
    add_new_study,
    check_features,
    check_list,
    expect_list,
    knows_lists,
    name_features,
    tabulate_features,
)
from holdfast.replication.result import Replicability, estimate_replicability
from holdfast.replication.running import (
    count_fits,
    find_answer,
    find_known,
    find_stored,
    has_split_halves,
    replicability,
    replicate_reported,
    store_replicability,
    study_replicability,
)

__all__ = [
    "ListCheck",
    "Replicability",
    "add_new_study",
    "check_features",
    "check_list",
    "count_fits",
    "estimate_replicability",
    "expect_list",
    "find_answer",
    "find_known",
    "find_stored",
    "has_split_halves",
    "knows_lists",
    "name_features",
    "replicability",
    "replicate_reported",
    "store_replicability",
    "study_replicability",
    "tabulate_features",
]
