"""Removes secrets from text before a memory, a candidate, a log or a model receives it. Nothing else does so.

Text is redacted when it is read. Quoting, cutting and joining it afterwards can give a secret a form that the rules
recognize only then, so `redact_json` and `redact_new` are the last step before text is written to a file or shown
elsewhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from lerim.patterns import compile_later
from lerim.redaction.clean_texts import CLEAN_TEXTS, make_key
from lerim.redaction.hidden import show_hidden
from lerim.redaction.search import REDACTION_MARK, find_secrets
from lerim.redaction.values import Span

_SHORTEST = 8
"""The shortest text that can contain a secret."""
_collected_hashes: ContextVar[set[int] | None] = ContextVar("secrets", default=None)
_JSON_STRING = compile_later(r'"(?:[^"\\]|\\.)*+"')
_SHORTEST_JSON = 10  # the shortest JSON string that can contain a secret, quotes included


@dataclass(frozen=True, slots=True)
class RedactedText:
    """The clean text, the number of secrets removed, and their positions in the original."""

    text: str
    count: int
    spans: tuple[Span, ...]


def redact_secrets(text: str) -> RedactedText:
    """Replaces every secret with `[redacted:<kind>]`, including secrets that invisible characters split. Text
    without secrets is returned unchanged; a second pass changes nothing."""
    key = make_key(text)
    if len(text) < _SHORTEST or key in CLEAN_TEXTS.keys:
        return RedactedText(text, 0, ())
    spans = find_secrets(text)
    if not spans:
        CLEAN_TEXTS.add(key)
        return RedactedText(text, 0, ())
    redacted = replace_spans(text, spans)
    for _ in range(5):  # rarely, a replacement brings a literal and its value together; another pass finds them
        new_spans = find_secrets(redacted)
        if not new_spans:
            break
        redacted = replace_spans(redacted, new_spans)
    _collect(text, spans)
    return RedactedText(redacted, len(spans), tuple(spans))


@contextmanager
def collect_redactions() -> Iterator[set[int]]:
    """Collects the secrets removed within the block, each once, as hashes that are meaningless outside this process."""
    hashes: set[int] = set()
    reset_token = _collected_hashes.set(hashes)
    try:
        yield hashes
    finally:
        _collected_hashes.reset(reset_token)


def _collect(text: str, spans: list[Span]) -> None:
    """Records the secrets if `collect_redactions` is active."""
    hashes = _collected_hashes.get()
    if hashes is not None:
        hashes.update(hash(text[span.start : span.end]) for span in spans)


def find_redaction_marks(text: str) -> tuple[Span, ...]:
    """Finds the marks of secrets that were removed from a text earlier."""
    if "[redacted:" not in text:
        return ()
    return tuple(Span(*match.span(), "redacted") for match in REDACTION_MARK.finditer(text))


def clean_text(text: str) -> str:
    """Returns the text as it may be shown: without secrets, and with every invisible character written out."""
    return show_hidden(redact_secrets(text).text)


def replace_spans(text: str, spans: list[Span]) -> str:
    """Replaces each span with its mark; the spans must be in order and not overlap."""
    parts: list[str] = []
    copied = 0
    for span in spans:
        parts += (text[copied : span.start], f"[redacted:{span.kind}]")
        copied = span.end
    parts.append(text[copied:])
    return "".join(parts)


def redact_json(text: str) -> str:
    """Redacts each string in JSON, so that the result is still JSON."""
    return _JSON_STRING.sub(_redact_string, text)


def _redact_string(match: re.Match[str]) -> str:
    literal = match.group()
    if len(literal) < _SHORTEST_JSON:
        return literal
    value = json.loads(literal, strict=False) if "\\" in literal else literal[1:-1]
    redacted = redact_secrets(value)
    return json.dumps(redacted.text, ensure_ascii=False) if redacted.count else literal


def redact_new(text: str, before: str) -> str:
    """Removes the secrets that `before` does not contain; secrets that a person wrote into a file by hand stay."""
    spans = [span for span in find_secrets(text) if text[span.start : span.end] not in before]
    return replace_spans(text, spans) if spans else text
