"""Studies: selectors on resamples of a data set, scored on held-out rows, and stored."""

from holdfast.study.candidates import Candidates
from holdfast.study.comparing import compare_studies
from holdfast.study.foreign import from_cross_validate, from_pairs, from_rfecv
from holdfast.study.loading import load_study
from holdfast.study.orders import UnansweredError
from holdfast.study.result import StudyResult
from holdfast.study.running import StudyError, StudyInterrupted, TargetPrecision
from holdfast.study.store import StoreError
from holdfast.study.study import Study

__all__ = [
    "Candidates",
    "StoreError",
    "Study",
    "StudyError",
    "StudyInterrupted",
    "StudyResult",
    "TargetPrecision",
    "UnansweredError",
    "compare_studies",
    "from_cross_validate",
    "from_pairs",
    "from_rfecv",
    "load_study",
]
