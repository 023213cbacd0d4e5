from .asking import extract_with_model as extract_with_model
from .asking import make_paying_model as make_paying_model
from .estimate import Estimate as Estimate
from .estimate import estimate_work as estimate_work
from .fleet import FleetBudget as FleetBudget
from .fleet import FleetBusyError as FleetBusyError
from .fleet import Limits as Limits
from .fleet import set_limits as set_limits
