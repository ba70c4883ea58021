"""What a new study would find: how many of the selected features it would select too, and how sure that is."""

from holdfast.replication.kept import find_answer, find_kept, keep_replicability
from holdfast.replication.result import Replicability, estimate_replicability
from holdfast.replication.running import replicability, replicate_reported, study_replicability

__all__ = [
    "Replicability",
    "estimate_replicability",
    "find_answer",
    "find_kept",
    "keep_replicability",
    "replicability",
    "replicate_reported",
    "study_replicability",
]
