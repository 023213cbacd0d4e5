from .insight_check import OWN_WORDS_FLAG as OWN_WORDS_FLAG
from .insight_check import is_in_source_words as is_in_source_words
from .insights import ask_for_insight as ask_for_insight
from .insights import word_insight as word_insight
from .merges import MergeEffort as MergeEffort
from .plan import PlannedSuggestion as PlannedSuggestion
from .plan import plan_maintenance as plan_maintenance
from .themes import find_theme_activity as find_theme_activity
