from .plan import PlanInputs as PlanInputs
from .plan import PlannedSuggestion as PlannedSuggestion
from .plan import plan_maintenance as plan_maintenance
from .themes import find_theme_activity as find_theme_activity
