"""What makes a claim rank lower: it never drops one."""

from __future__ import annotations

import re

from lerim.extraction.facts import MAX_TITLE_CHARS

_UNRESOLVED = re.compile(
    r"(?:this|that|these|those|it|its|they|them|their|he|she|here|there)\b(?![-'\w])"
    r"(?!\s(?:repo(?:sitory)?|project|codebase|package|module|app|application|service|library|monorepo)\b)",
    re.IGNORECASE,
)
_PERSON = re.compile(
    r"(?<![\w./@-])(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Yy]ou|[Yy]ours?|us|[Ww]e|[Oo]urs?|(?:I|[Ww]e|[Yy]ou)'[a-z]{1,2}|[Ll]et's)"
    r"(?![\w/@-]|\.\w)"
)
"""Not a part of a name: `us-east-1`, `oh-my-zsh`, `my.cnf`."""


def count_weaknesses(title: str, *, names_something: bool, asks: bool = False) -> int:
    """How many of these a claim has: it names nothing of the project; it begins with a word that points at something
    it does not name; it speaks of I, you or we; it is longer than a title; it asks, and is no question (`asks`)."""
    found = (
        not names_something,
        _UNRESOLVED.match(title) is not None,
        _PERSON.search(title) is not None,
        len(title) > MAX_TITLE_CHARS,
        title.endswith("?") and not asks,
    )
    return sum(found)
