"""A fact: one small thing that a turn shows, with a fixed set of relations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Relation = Literal[
    "mentions",
    "produced_error",
    "succeeded",
    "decided",
    "wrote",
    "read",
    "ran",
    "prefers",
    "depends_on",
    "fixed_by",
    "remembered",
]
"""What a fact can say about its entity:

- mentions: the text names the entity (a file path, the same as `value`)
- produced_error: the tool or file gave the error in `value`
- succeeded: the tool finished without an error
- decided: the text decides `value`
- wrote, read: the tool wrote or read the file in `value`
- ran: the tool ran the command in `value`
- prefers: the person wants `value`
- depends_on: the entity needs `value`
- fixed_by: the entity's failure ended with `value`
- remembered: the agent stored `value` in a memory of its own
"""

RELATIONS: frozenset[str] = frozenset(get_args(Relation))


@dataclass(frozen=True, slots=True)
class Fact:
    """States that `entity` is in `relation` to `value`, with a `confidence` in 0..1.

    `source_turn` is the ordinal of the turn in its session; it is never stored in a memory. `supersedes` lists the
    earlier values that this one replaces; a candidate made from the fact lists them in `Candidate.replaces`.
    """

    entity: str
    relation: Relation
    value: str
    confidence: float
    source_turn: int
    supersedes: tuple[str, ...] = ()
