"""Cuts secrets out of text: the one place that decides what may be written, shown or sent."""

from lerim.redaction.hidden import HIDDEN, flags, visible, without_orders
from lerim.redaction.markup import plain
from lerim.redaction.redact import Redacted, Span, clean, counting, redact, redacted_spans, without_private
from lerim.redaction.written import redact_json, redact_new

__all__ = [
    "HIDDEN",
    "Redacted",
    "Span",
    "clean",
    "counting",
    "flags",
    "plain",
    "redact",
    "redact_json",
    "redact_new",
    "redacted_spans",
    "visible",
    "without_orders",
    "without_private",
]
