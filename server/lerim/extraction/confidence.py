"""Computes the confidence of a candidate from who said it, how it turned out and how often it was said, without a
model.

| basis                                          | base |
|------------------------------------------------|------|
| ranked: something said, scored by the ranker   | the chance that it is worth keeping |
| fixed: the same command failed, then passed    | 0.70 |
| replaced: another command passed instead       | 0.70 |
| model: a model found it and gave a quote       | 0.70 |
| met: the same error in several sessions        | 0.60 |
| worked: several sessions worked on it          | 0.55 |

A claim loses 0.10, down to 0.20, for each weakness: it names no file, function, command, setting or
error; it begins with an unresolved "this" or "it"; it contains I, you or we; it is too long for a title. Such claims
come last, but they are proposed. The ranker already accounts for these weaknesses. Add 0.05 if the person's next words
accept it, and 0.05 for each further quote from the person, at most 0.10; the total is at most 0.95. Text that gives
orders to an agent or hides characters gets at most 0.30. A model's candidate gets at most the model's own confidence,
and at most 0.55 if it rests on the agent's words alone.
"""

from __future__ import annotations

import re

from lerim.extraction.facts import MAX_TITLE_CHARS
from lerim.extraction.signals import Basis
from lerim.patterns import compile_later

_BASE: dict[Basis, float] = {
    "ranked": 0.50,
    "fixed": 0.70,
    "replaced": 0.70,
    "met": 0.60,
    "worked": 0.55,
    "model": 0.70,
}
_WEAKNESS_PENALTY = 0.10
_MIN_CONFIDENCE = 0.20
_UNRESOLVED = compile_later(
    r"(?:this|that|these|those|it|its|they|them|their|he|she|here|there)\b(?![-'\w])"
    r"(?!\s(?:repo(?:sitory)?|project|codebase|package|module|app|application|service|library|monorepo)\b)",
    re.IGNORECASE,
)
_PERSON = compile_later(
    r"(?<![\w./@-])(?:[Ii]|[Mm]e|[Mm]y|[Mm]ine|[Yy]ou|[Yy]ours?|us|[Ww]e|[Oo]urs?|(?:I|[Ww]e|[Yy]ou)'[a-z]{1,2}|[Ll]et's)"
    r"(?![\w/@-]|\.\w)"
)
"""Does not match parts of names such as `us-east-1`, `oh-my-zsh` or `my.cnf`."""


def candidate_confidence(
    basis: Basis,
    *,
    accepted: bool,
    repeated: int,
    flagged: bool,
    weaknesses: int = 0,
    chance: float | None = None,
) -> float:
    """Returns the confidence from the table, rounded to two places. `repeated` counts the person's quotes beyond the
    first. `chance`, from the ranker, replaces base and weaknesses."""
    base = _BASE[basis] - _WEAKNESS_PENALTY * weaknesses if chance is None else chance
    figure = max(_MIN_CONFIDENCE, base + (0.05 if accepted else 0.0) + min(0.10, 0.05 * max(0, repeated)))
    return round(min(0.30 if flagged else 0.95, figure), 2)


def raise_confidence(figure: float, further: int) -> float:
    """Returns the confidence of a pending candidate after `further` more quotes from the person; never lower than
    before."""
    return max(figure, round(min(0.95, figure + 0.05 * further), 2))


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
