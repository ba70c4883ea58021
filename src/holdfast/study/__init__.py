"""Studies: selectors on resamples of a data set, scored on held-out rows, and stored.

Begin with ``study`` (:class:`Study`, what a user writes) and follow a call of ``run``: ``running`` finds the fits that
are missing, ``engines`` sends blocks of them to processes, ``work`` runs one block with ``families`` (selecting) and
``scoring``, ``store/`` writes it. What was stored is read by ``tables``, measured by ``stabilities``, written to files
by ``exports``; ``plan`` says what results depend on.
"""

from typing import TYPE_CHECKING, Any

from holdfast.study.families import Candidates
from holdfast.study.foreign import from_cross_validate, from_pairs, from_rfecv
from holdfast.study.orders import UnansweredError
from holdfast.study.running import StudyError, StudyInterrupted, TargetPrecision
from holdfast.study.stabilities import compare_studies
from holdfast.study.store import StoreError
from holdfast.study.study import Study
from holdfast.study.tables import load_study

if TYPE_CHECKING:
    from holdfast.result import StudyResult
else:

    def __getattr__(name: str) -> Any:
        """Import the result of a study when it is asked for: it imports this package."""
        if name != "StudyResult":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from holdfast.result import StudyResult

        return StudyResult


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
