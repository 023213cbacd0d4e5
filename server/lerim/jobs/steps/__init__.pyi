from .auto_accept import accept_automatically as accept_automatically
from .decide import suggest_answers as suggest_answers
from .facts import FACT_TOKENS as FACT_TOKENS
from .facts import MAX_MODEL_TURNS as MAX_MODEL_TURNS
from .facts import ask_for_facts as ask_for_facts
from .model import ask_model as ask_model
from .rules import sync_by_rules as sync_by_rules
from .summaries import summarize_sessions as summarize_sessions
