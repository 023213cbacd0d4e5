"""Defines token rules: a literal that the issuer publishes, and the form around it. `token_forms.py` contains the
rules.

Every pattern is matched at a known position (its literal) with bounded repetition, so the cost is linear in the
text. It is compiled when its literal is first found, so importing this module costs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from lerim.patterns import compile_later


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]` is a secret of this kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class TokenRule:
    """A literal prefix and the form of what follows; `random`: what follows must look random."""

    kind: str
    literal: str
    rest: str
    random: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, which matches from the literal's first character."""
        return _compiled(self)


@cache
def _compiled(rule: TokenRule) -> re.Pattern[str]:
    return re.compile(re.escape(rule.literal) + rule.rest)


@dataclass(frozen=True, slots=True)
class MiddleRule:
    """A token without a fixed prefix, recognized by a literal inside it and the forms before and after that literal."""

    kind: str
    literal: str
    before: str
    after: str

    @property
    def patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """The pattern that ends where the literal begins, and the one that begins where it ends."""
        return _sides(self)


@cache
def _sides(rule: MiddleRule) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(rule.before + r"\Z"), re.compile(rule.after)


DISCORD_TAIL = compile_later(r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])")
DISCORD_HEAD = compile_later(r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{22,28}$")
