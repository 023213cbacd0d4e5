"""Checks that a quote is in its turn, word for word, and shortens it to the maximum length and to a part without
secrets.

Every quote that becomes the evidence of a memory is checked here.
"""

from __future__ import annotations

from functools import lru_cache

from lerim.extraction.signals import Quote
from lerim.redaction import Span, find_redaction_marks, redact_secrets, show_hidden

MAX_QUOTE_CHARS = 200
MIN_QUOTE_CHARS = 8
"""Minimum length of what is left of a quote after a secret was cut off, unless the quote itself was shorter."""


def verify_quote(quote: Quote, turn_text: str) -> str:
    """Returns the quote as it is written in `turn_text`, which is everything that its speaker said in the turn. The
    result has at most MAX_QUOTE_CHARS characters, contains no part of a secret, and has hidden characters written
    out. Returns "" if the quote is not there or too little of it is left."""
    text = quote.text.strip()
    start = turn_text.find(text) if text else -1
    if start < 0:
        return ""
    lo, hi = start, start + len(text)
    for span in _find_secret_spans(turn_text):
        if span.start < hi and lo < span.end:
            if span.start - lo >= hi - span.end:
                hi = span.start
            else:
                lo = span.end
    part = shorten_quote(turn_text[lo:hi].strip())
    return show_hidden(part) if len(part) >= min(MIN_QUOTE_CHARS, len(text)) else ""


@lru_cache(maxsize=4)  # several drafts quote one turn
def _find_secret_spans(said: str) -> tuple[Span, ...]:
    return tuple(sorted((*redact_secrets(said).spans, *find_redaction_marks(said)), key=lambda span: span.start))


def shorten_quote(text: str) -> str:
    """Returns the first MAX_QUOTE_CHARS characters of a text, cut after a whole word unless half of them would be
    lost."""
    if len(text) <= MAX_QUOTE_CHARS:
        return text
    at = text.rfind(" ", 0, MAX_QUOTE_CHARS + 1)
    return text[: at if at > MAX_QUOTE_CHARS // 2 else MAX_QUOTE_CHARS]
