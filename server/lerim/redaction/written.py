"""What is written to a file or shown somewhere else: redacted once more, after every other change of the text.

Text is redacted when it comes in. Quoting, cutting and joining change it afterwards, so that what stood in a form the
rules know could leave in another one, or the other way round. These functions are the last step before it leaves.
"""

from __future__ import annotations

import json
import re

from lerim.redaction.redact import find_secrets, redact_secrets, replace_spans

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')
_SHORTEST = 10  # characters of a JSON string, with its quotes, that may hold a secret


def redact_json(text: str) -> str:
    """JSON with each of its strings redacted, so that it stays JSON."""
    return _STRING.sub(_redact_string, text)


def _redact_string(match: re.Match[str]) -> str:
    literal = match.group()
    if len(literal) < _SHORTEST:
        return literal
    value = json.loads(literal, strict=False) if "\\" in literal else literal[1:-1]
    found = redact_secrets(value)
    return json.dumps(found.text, ensure_ascii=False) if found.count else literal


def redact_new(text: str, before: str) -> str:
    """The text without the secrets that `before` does not hold: what a person wrote into a file by hand stays."""
    spans = [span for span in find_secrets(text) if text[span.start : span.end] not in before]
    return replace_spans(text, spans) if spans else text
