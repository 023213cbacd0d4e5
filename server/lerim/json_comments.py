"""Removes what the settings of editors may contain but JSON does not allow: comments and trailing commas."""

from __future__ import annotations

import re

# An unclosed string or comment extends to the end, so that each character is read only once.
_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|,(?=\s*[}\]])')


def strip_json_comments(text: str) -> str:
    """Returns a text without comments and trailing commas; strings are left unchanged."""
    bare = _COMMENT_OR_STRING.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)
    return _TRAILING_COMMA.sub(lambda match: match[0] if match[0][0] == '"' else "", bare)
