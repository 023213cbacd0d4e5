"""How many of a session's passages are proposed: by what they are worth, and more in a longer session.

Nothing is proposed before one passage is worth a look by itself (`first`); then what follows it may be worth less
(`further`). So a session with nothing to keep stays empty, and one with something is not cut short. `train.py` chose
both figures on projects that the ranker had not seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

PROMPTS_A_PROPOSAL: Final = 2
AT_LEAST: Final = 3


def max_proposals(prompts: int) -> int:
    """How many proposals a session of so many prompts has at most."""
    return AT_LEAST + prompts // PROMPTS_A_PROPOSAL


def select_above_cut(scores: Iterable[float], prompts: int, first: float, further: float) -> frozenset[int]:
    """The places of the scores that are proposed, of all the session's passages so far."""
    ranked = sorted(enumerate(scores), key=lambda one: (-one[1], one[0]))
    if not ranked or ranked[0][1] < first:
        return frozenset()
    return frozenset(place for place, score in ranked[: max_proposals(prompts)] if score >= further)
