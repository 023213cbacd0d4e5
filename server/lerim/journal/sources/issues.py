"""References to issues in text: `#12`, `group/project#12` and `ABC-12`, and which of them a commit closes."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_ISSUES = 50
"""How many references of one text are used."""
_HASH_ISSUE = r"(?:[\w.-]{1,60}/[\w.-]{1,60})?#[1-9]\d{0,6}(?!\w)"
_KEY_ISSUE = r"[A-Z][A-Z0-9]{1,9}-[1-9]\d{0,6}(?![\w-])"
_ISSUE = re.compile(rf"(?<![\w&/#-])(?:{_HASH_ISSUE}|{_KEY_ISSUE})")
_CLOSING = re.compile(
    rf"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)\b:?\s{{1,3}}(?P<first>{_HASH_ISSUE}|{_KEY_ISSUE})"
    rf"(?P<more>(?:,?\s{{0,3}}(?:and\s)?(?:{_HASH_ISSUE}|{_KEY_ISSUE})){{0,20}})",
    re.IGNORECASE,
)
_STANDARDS = "AES CVE ES GMT GPT HTTP IEEE ISO MD PEP RFC RSA SHA SSL TLS UTC UTF"
_NOT_AN_ISSUE = frozenset(_STANDARDS.split())
"""Words with a number after them that are standards, encodings or models."""


def find_issues(text: str) -> tuple[str, ...]:
    """Returns the issues that a text names, each once, in the order of the text."""
    return tuple(dict.fromkeys(_find(text)))[:MAX_ISSUES]


def find_closed_issues(message: str) -> tuple[str, ...]:
    """Returns the issues that a commit message closes: those after `fixes`, `closes` or `resolves`."""
    closed: dict[str, None] = {}
    for match in _CLOSING.finditer(message):
        closed |= dict.fromkeys(_find(f"{match['first']} {match['more']}"))
    return tuple(closed)[:MAX_ISSUES]


def _find(text: str) -> Iterator[str]:
    for match in _ISSUE.finditer(text):
        if match[0].partition("-")[0] not in _NOT_AN_ISSUE:
            yield match[0]
