from .insight_check import OWN_WORDS as OWN_WORDS
from .insight_check import is_in_source_words as is_in_source_words
from .insights import ask_for_insight as ask_for_insight
from .insights import insight_in_words as insight_in_words
from .merges import MergeEffort as MergeEffort
from .plan import PlannedSuggestion as PlannedSuggestion
from .plan import plan_maintenance as plan_maintenance
from .themes import find_theme_grounds as find_theme_grounds
