"""What a new study would find: how many of the selected features it would select too, and how sure that is.

- ``running``: halves of the rows are fitted, and asked
- ``cautions``: what the data say against the numbers
- ``estimating``: from what halves selected to a result; ``agreements`` and ``profile`` have the statistics
- ``control``: how far halves agree if the target is shuffled
- ``reading``: what a study selected on all rows and on its halves
- ``thorough``: a second look at the variance over data sets, by groups of rows left out
- ``result``: the answer in numbers and words
- ``kept``: answers in the store of a study
"""

from holdfast.replication.estimating import estimate_replicability
from holdfast.replication.result import Replicability
from holdfast.replication.running import (
    count_fits,
    find_answer,
    find_kept,
    find_known,
    has_halvings,
    keep_replicability,
    replicability,
    replicate_reported,
    study_replicability,
)

__all__ = [
    "Replicability",
    "count_fits",
    "estimate_replicability",
    "find_answer",
    "find_kept",
    "find_known",
    "has_halvings",
    "keep_replicability",
    "replicability",
    "replicate_reported",
    "study_replicability",
]
