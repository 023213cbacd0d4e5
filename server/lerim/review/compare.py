"""What a candidate is to the memories that exist: its neighbours, and what a person can answer about each of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lerim.memory.store import Stored

if TYPE_CHECKING:
    from lerim.review.candidates import ProposedAction

NeighbourAnswer = Literal["same", "replaces", "changes", "answers", "keep"]
"""What a candidate is to a memory: it says the same, replaces it, changes it, answers it (a question), or stands
beside it."""
ACTIONS: dict[NeighbourAnswer, ProposedAction] = {
    "same": "same",
    "replaces": "supersede",
    "changes": "update",
    "answers": "resolve",
    "keep": "add",
}
"""What accepting does for each answer."""
SHOWN = 3
"""How many neighbours of a candidate are shown."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What the person chose for a candidate and a memory. `keep` without a memory keeps it beside all neighbours.

    `hash` is the hash of the memory's file as the person saw it; empty where nobody knows.
    """

    answer: NeighbourAnswer
    memory: str = ""
    hash: str = ""


@dataclass(frozen=True, slots=True)
class Near:
    """An active memory near a candidate. `similarity` is from 0 to 1."""

    stored: Stored
    similarity: float
