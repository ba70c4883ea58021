"""Studies: resample, select, score, keep."""

from holdfast.study.families import Candidates
from holdfast.study.foreign import from_cross_validate, from_pairs, from_rfecv
from holdfast.study.interruption import StudyInterrupted
from holdfast.study.result import StudyResult, load_study
from holdfast.study.store import StoreError
from holdfast.study.study import Study, StudyError, TargetPrecision

__all__ = [
    "Candidates",
    "StoreError",
    "Study",
    "StudyError",
    "StudyInterrupted",
    "StudyResult",
    "TargetPrecision",
    "from_cross_validate",
    "from_pairs",
    "from_rfecv",
    "load_study",
]
