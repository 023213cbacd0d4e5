from .auto_accept import accept_automatically as accept_automatically
from .decide import suggest_answers as suggest_answers
from .model import ask_model as ask_model
from .rules import sync_by_rules as sync_by_rules
from .summaries import summarize_sessions as summarize_sessions
