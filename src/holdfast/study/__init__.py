"""Studies: resample, select, score, keep."""

from holdfast.study.families import Candidates
from holdfast.study.foreign import from_cross_validate, from_pairs, from_rfecv
from holdfast.study.interruption import StudyInterrupted
from holdfast.study.result import StudyResult, load
from holdfast.study.store import StoreError
from holdfast.study.study import HalfWidth, Study, StudyError

__all__ = [
    "Candidates",
    "HalfWidth",
    "StoreError",
    "Study",
    "StudyError",
    "StudyInterrupted",
    "StudyResult",
    "from_cross_validate",
    "from_pairs",
    "from_rfecv",
    "load",
]
