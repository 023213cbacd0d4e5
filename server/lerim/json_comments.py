"""Removes what JSON does not allow but the settings of editors have: comments and trailing commas."""

from __future__ import annotations

import re

# A string or comment that does not end takes the rest, so that each character is looked at once.
_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_TRAILING_COMMA = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|,(?=\s*[}\]])')


def strip_json_comments(text: str) -> str:
    """Returns a text without comments and trailing commas; what is in strings stays."""
    bare = _COMMENT_OR_STRING.sub(lambda match: match[0] if match[0][0] == '"' else " ", text)
    return _TRAILING_COMMA.sub(lambda match: match[0] if match[0][0] == '"' else "", bare)
