"""A person's answers about a candidate and a memory near it, saved so that the pair is not shown again.

Each answer is a row of the project's review ledger. It is inserted in the transaction that starts the action and
deleted in the one that undoes it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lerim.review.compare.claim_fingerprint import Fingerprint, is_reread, pack_hashes, unpack_hashes

NeighbourAnswer = Literal["same", "replaces", "changes", "answers", "keep"]
"""How a candidate relates to a memory: it says the same, replaces it, changes it, answers it (if it is a question), or
both are kept."""
ACTIONS: dict[NeighbourAnswer, Literal["same", "supersede", "update", "resolve", "add"]] = {
    "same": "same",
    "replaces": "supersede",
    "changes": "update",
    "answers": "resolve",
    "keep": "add",
}
"""The action of accepting a candidate, by the answer about the memory."""
ANSWERS: dict[str, NeighbourAnswer] = {**{action: answer for answer, action in ACTIONS.items()}, "merge": "changes"}
"""The answer that an action of a session's candidate stands for; the reverse of `ACTIONS`."""


@dataclass(frozen=True, slots=True)
class NeighbourChoice:
    """A person's answer about a candidate and a memory, given by its id. `keep` without a memory applies to all
    neighbours.

    `hash` is the hash of the memory file's text as the person saw it; empty if unknown.
    """

    answer: NeighbourAnswer
    memory: str = ""
    hash: str = ""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer about a claim (its fingerprint and source) and some memories, by their ids. `resulting_memory` is the
    id of the memory that the claim became."""

    claim: Fingerprint
    source: str
    answer: NeighbourAnswer
    memories: tuple[str, ...]
    resulting_memory: str


class ChoiceTable:
    """The `choices` table of an open ledger. The ledger commits."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def add(self, action: str, answered: RecordedAnswer) -> None:
        """Save an answer given with this action, one row for each memory."""
        self._sql.executemany(
            "INSERT INTO choices (action, claim, title, words, source, memory, made, answer) VALUES (?,?,?,?,?,?,?,?)",
            [
                (
                    *(
                        action,
                        answered.claim.text,
                        pack_hashes(answered.claim.title),
                        pack_hashes(answered.claim.words),
                    ),
                    *(answered.source, memory, answered.resulting_memory, answered.answer),
                )
                for memory in answered.memories
            ],
        )

    def delete(self, action: str) -> None:
        """Delete the answers of an action that is undone."""
        self._sql.execute("DELETE FROM choices WHERE action=?", (action,))

    def answered_memories(self, claim: Fingerprint, source: str) -> set[str]:
        """The ids of the memories that are not shown again with a claim of this source, because an answer exists for a
        claim with the same text, or for one of the same turn with mostly the same words."""
        query = "SELECT claim, title, words, memory FROM choices WHERE (claim=? AND claim!=x'') OR source=?"
        rows = self._sql.execute(query, (claim.text, source))
        return {
            memory
            for text, title, words, memory in rows
            if text == claim.text or is_reread(Fingerprint(text, unpack_hashes(title), unpack_hashes(words)), claim)
        }

    def pairs_kept_apart(self) -> set[frozenset[str]]:
        """The pairs of memories, by their ids, that a person chose to keep separate."""
        rows: Iterable[tuple[str, str]] = self._sql.execute("SELECT memory, made FROM choices WHERE answer='keep'")
        return {frozenset(pair) for pair in rows}
