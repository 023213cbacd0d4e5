from .benefit import compute_benefit as compute_benefit
from .figures import Benefit as Benefit
from .figures import BenefitFigures as BenefitFigures
from .figures import UnknownSessions as UnknownSessions
from .practices import find_practice as find_practice
from .practices import judge_actions as judge_actions
from .practices import list_actions as list_actions
from .repetitions import says_again as says_again
