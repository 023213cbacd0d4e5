from .figures import NO_FIGURES as NO_FIGURES
from .figures import Figures as Figures
from .figures import GroupBy as GroupBy
from .figures import Statistics as Statistics
from .figures import compute_statistics as compute_statistics
