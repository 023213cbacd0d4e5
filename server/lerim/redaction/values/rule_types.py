"""Defines token rules: a literal that the issuer publishes, and the form around it. `token_forms.py` contains the
rules.

Every pattern is matched at a known position (its literal) with bounded repetition, so the cost is linear in the
text. It is compiled when its literal is first found, so importing this costs nothing.
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
    """A token without a fixed prefix, recognized by a literal inside it and the forms before and after that."""

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

SAMPLE = compile_later(
    r"x{5,}|your|example|placeholder|redacted|replace|changeme|dummy|sample|\*{3}|\.{3}|(.)\1{7,}",
    re.IGNORECASE,
)
"""What shows that a token is made up, as in documentation; searched anywhere in the value."""
PLACEHOLDER = compile_later(
    r"^(?:\$|<|\{|%(?:[A-Za-z_]\w*%|[sdq(@{]|$)|\[|\.\.\.|\*{2,}|x{3,}|your|my[-_]|example|dummy|placeholder"
    r"|change[-_]?(?:me|it)|redacted|none$|null$|undefined$|true$|false$|todo|test$|fake|secrets?\.|env\.|process\."
    r"|import\.meta|os\.|config\.|settings\.|self\.|this\.|req\.|request\.|ctx\.|vars?\.|\||&(?:[a-z_]+$|amp|&|$)"
    r"|!(?:[A-Za-z]+(?:\s|$)|[=!\[(]|$)|=)|redacted|\$\{|\{\{|<[a-z]|\*{4,}|x{8,}|your[-_]|[-_]here$|example\.com",
    re.IGNORECASE,
)
"""What shows that a value stands for a secret or refers to one: a variable, a template, a word such as `none`.
Searched in the first 80 characters of a value; most of its forms must be at the beginning."""
