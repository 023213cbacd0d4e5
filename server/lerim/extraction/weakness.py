"""Counts the weaknesses of a claim. They lower its rank but never drop it."""

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
"""Does not match parts of names such as `us-east-1`, `oh-my-zsh` or `my.cnf`."""


def count_weaknesses(title: str, *, names_something: bool, asks: bool = False) -> int:
    """Counts the weaknesses of a claim: it names nothing in the project; it begins with a pronoun whose referent it
    does not name; it contains I, you or we; it is too long for a title; it ends with a question mark although it is not
    a question (`asks` is False)."""
    weaknesses = (
        not names_something,
        _UNRESOLVED.match(title) is not None,
        _PERSON.search(title) is not None,
        len(title) > MAX_TITLE_CHARS,
        title.endswith("?") and not asks,
    )
    return sum(weaknesses)
