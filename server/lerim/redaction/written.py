"""Redacts text once more before it is written to a file or shown elsewhere, after every other change.

Text is redacted when it is read. Quoting, cutting and joining change it afterwards, and can put a secret in a form
that the rules recognize only then. These functions are the last step.
"""

from __future__ import annotations

import json
import re

from lerim.redaction.redact import redact_secrets, replace_spans
from lerim.redaction.search import find_secrets

_JSON_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
_SHORTEST = 10  # the shortest JSON string that can contain a secret, quotes included


def redact_json(text: str) -> str:
    """Redacts each string in JSON, so that the result is still JSON."""
    return _JSON_STRING.sub(_redact_string, text)


def _redact_string(match: re.Match[str]) -> str:
    literal = match.group()
    if len(literal) < _SHORTEST:
        return literal
    value = json.loads(literal, strict=False) if "\\" in literal else literal[1:-1]
    redacted = redact_secrets(value)
    return json.dumps(redacted.text, ensure_ascii=False) if redacted.count else literal


def redact_new(text: str, before: str) -> str:
    """Removes the secrets that `before` does not contain: what a person wrote into a file by hand stays."""
    spans = [span for span in find_secrets(text) if text[span.start : span.end] not in before]
    return replace_spans(text, spans) if spans else text
