"""How sure a candidate is, by code alone: who said it, how it turned out, how often it was said.

| rests on                                       | base |
|------------------------------------------------|------|
| ranked: what was said, as the ranker scores it | its chance to be worth keeping |
| fixed: the same command failed, then passed    | 0.70 |
| replaced: another command passed instead       | 0.70 |
| model: what a model read, with a quote of it   | 0.70 |
| met: the same error in several sessions        | 0.60 |
| worked: several sessions worked on it          | 0.55 |

What names no file, function, command, setting or error, what begins with an unresolved "this" or "it" or speaks of I,
you or we, and what is too long for a title, loses 0.10 for each, down to 0.20 (`weakness.py`): such claims come last,
but they come. The ranker has weighed these already. The person's next words accepting it add 0.05; each further quote
of the person adds 0.05, at most 0.10; the whole is at most 0.95. What tries to command an agent or hides characters is
at most 0.30. What a model read is at most as sure as the model was, and at most 0.55 on the agent's words alone.
"""

from __future__ import annotations

from lerim.extraction.signals import Basis

_BASE: dict[Basis, float] = {
    "ranked": 0.50,
    "fixed": 0.70,
    "replaced": 0.70,
    "met": 0.60,
    "worked": 0.55,
    "model": 0.70,
}
_WEAKER = 0.10
_WEAKEST = 0.20


def candidate_confidence(
    basis: Basis,
    *,
    accepted: bool,
    repeated: int,
    flagged: bool,
    weaknesses: int = 0,
    chance: float | None = None,
) -> float:
    """The figure of the table, rounded to two places. `repeated` counts the person's quotes beyond the first; `chance`
    is the ranker's, in place of base and weaknesses."""
    base = _BASE[basis] - _WEAKER * weaknesses if chance is None else chance
    figure = max(_WEAKEST, base + (0.05 if accepted else 0.0) + min(0.10, 0.05 * max(0, repeated)))
    return round(min(0.30 if flagged else 0.95, figure), 2)


def raise_confidence(figure: float, further: int) -> float:
    """A waiting candidate's figure after so many more quotes of the person said the same; never less than it was."""
    return max(figure, round(min(0.95, figure + 0.05 * further), 2))
