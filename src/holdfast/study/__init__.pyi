import holdfast.result

from .families import Candidates as Candidates
from .foreign import from_cross_validate as from_cross_validate
from .foreign import from_pairs as from_pairs
from .foreign import from_rfecv as from_rfecv
from .matching import RefitCheck as RefitCheck
from .orders import UnansweredError as UnansweredError
from .running import StudyError as StudyError
from .running import StudyInterrupted as StudyInterrupted
from .running import TargetPrecision as TargetPrecision
from .stabilities import compare_studies as compare_studies
from .store import StoreError as StoreError
from .study import Study as Study
from .tables import load_study as load_study

StudyResult = holdfast.result.StudyResult
