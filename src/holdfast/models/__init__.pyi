from .catalog import EXACTNESS as EXACTNESS
from .catalog import MODELS as MODELS
from .catalog import Model as Model
from .cox import CoxRidge as CoxRidge
from .scores import SCORES as SCORES
from .scores import Score as Score
