"""What a rule for tokens is: a literal their issuers publish, and the shape around it. `forms.py` has the rules.

Every pattern is matched at a known place (its literal), with bounded repetition, so that the cost is linear in the
text; it is compiled when its literal is first met, so that loading this costs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Span:
    """`text[start:end]` is a secret of this kind."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class TokenRule:
    """A literal beginning and the shape of what follows it; `random`: what follows must look made by chance."""

    kind: str
    literal: str
    rest: str
    random: bool = False

    @property
    def pattern(self) -> re.Pattern[str]:
        """Matches from the literal's first character on."""
        return _compiled(self)


@cache
def _compiled(rule: TokenRule) -> re.Pattern[str]:
    return re.compile(re.escape(rule.literal) + rule.rest)


@dataclass(frozen=True, slots=True)
class MiddleRule:
    """A token that no fixed text begins: known by a literal in it, and by the shapes before and after that."""

    kind: str
    literal: str
    before: str
    after: str

    @property
    def patterns(self) -> tuple[re.Pattern[str], re.Pattern[str]]:
        """The shape that ends where the literal begins, and the one that begins where it ends."""
        return _sides(self)


@cache
def _sides(rule: MiddleRule) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return re.compile(rule.before + r"\Z"), re.compile(rule.after)


DISCORD = re.compile(r"\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_-])")
DISCORD_HEAD = re.compile(r"(?<![A-Za-z0-9_-])[MNO][A-Za-z0-9_-]{22,28}$")

SHAM = re.compile(
    r"x{5,}|your|example|placeholder|redacted|replace|changeme|dummy|sample|\*{3}|\.{3}|(.)\1{7,}",
    re.IGNORECASE,
)
"""What stands in tokens that documentation shows."""
PLACEHOLDER = re.compile(
    r"^(?:\$|<|\{|%(?:[A-Za-z_]\w*%|[sdq(@{]|$)|\[|\.\.\.|\*{2,}|x{3,}|your|my[-_]|example|dummy|placeholder"
    r"|change[-_]?(?:me|it)|redacted|none$|"
    r"null$|undefined$|true$|false$|"
    r"todo|test$|fake|secrets?\.|env\.|process\.|import\.meta|os\.|config\.|settings\.|self\.|this\.|req\.|request\.|"
    r"ctx\.|vars?\.|\||&(?:[a-z_]+$|amp|&|$)|!(?:[A-Za-z]+(?:\s|$)|[=!\[(]|$)|=)"
    r"|redacted|\$\{|\{\{|<[a-z]|\*{4,}|x{8,}|your[-_]|[-_]here$|example\.com",
    re.IGNORECASE,
)
