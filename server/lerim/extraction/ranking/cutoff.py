"""Decides how many passages of a session are proposed, by their scores and the length of the session.

Nothing is proposed unless one passage is worth reviewing by itself (`first`); the passages after it may score lower
(`further`). So a session with nothing to keep stays empty, and one with something is not cut short. `train.py` chose
both figures on projects that the ranker had not seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

PROMPTS_PER_PROPOSAL: Final = 2
MIN_PROPOSALS: Final = 3


def max_proposals(prompts: int) -> int:
    """Returns the maximum number of proposals for a session with this many prompts."""
    return MIN_PROPOSALS + prompts // PROMPTS_PER_PROPOSAL


def select_above_cut(scores: Iterable[float], prompts: int, first: float, further: float) -> frozenset[int]:
    """Returns the indexes of the scores to propose, given the scores of all passages of the session so far."""
    ranked = sorted(enumerate(scores), key=lambda one: (-one[1], one[0]))
    if not ranked or ranked[0][1] < first:
        return frozenset()
    return frozenset(place for place, score in ranked[: max_proposals(prompts)] if score >= further)
