"""What a new study would find: how many of the selected features it would select too, and how sure that is."""

from holdfast.replication.result import Replicability, estimate_replicability
from holdfast.replication.running import replicability, study_replicability

__all__ = ["Replicability", "estimate_replicability", "replicability", "study_replicability"]
