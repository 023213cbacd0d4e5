"""What a person chose for a candidate and a memory near it, kept so that the pair is not shown again.

Each choice is a row of the project's review ledger. It is written in the transaction that begins the act and deleted
with the one that undoes it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lerim.review.comparing.claim_fingerprint import Fingerprint, is_reread, pack_hashes, unpack_hashes

NeighbourAnswer = Literal["same", "replaces", "changes", "answers", "keep"]
"""What a candidate is to a memory: it says the same, replaces it, changes it, answers it (a question), or stands
beside it."""
ACTIONS: dict[NeighbourAnswer, Literal["same", "supersede", "update", "resolve", "add"]] = {
    "same": "same",
    "replaces": "supersede",
    "changes": "update",
    "answers": "resolve",
    "keep": "add",
}
"""What accepting does for each answer about a memory."""
ANSWERS: dict[str, NeighbourAnswer] = {**{action: answer for answer, action in ACTIONS.items()}, "merge": "changes"}
"""Which answer an action of a session's candidate is."""


@dataclass(frozen=True, slots=True)
class NeighbourChoice:
    """What the person chose for a candidate and a memory. `keep` without a memory keeps it beside all neighbours.

    `hash` is the hash of the memory's file as the person saw it; empty where nobody knows.
    """

    answer: NeighbourAnswer
    memory: str = ""
    hash: str = ""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """The answer for a claim (its fingerprint and source) and some memories; `made` is the memory the claim became."""

    claim: Fingerprint
    source: str
    answer: NeighbourAnswer
    memories: tuple[str, ...]
    made: str


class ChoiceTable:
    """The rows in an open ledger; the ledger commits."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    def keep(self, action: str, answered: RecordedAnswer) -> None:
        """Keep an answer of this action, a row for each memory."""
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
                    *(answered.source, memory, answered.made, answered.answer),
                )
                for memory in answered.memories
            ],
        )

    def take_back(self, action: str) -> None:
        """Forget the answers of an action that is undone."""
        self._sql.execute("DELETE FROM choices WHERE action=?", (action,))

    def answered_memories(self, claim: Fingerprint, source: str) -> set[str]:
        """The memories that are not shown again beside a claim of this source: a claim with its text was answered
        for, or one of the same turn with most of its words."""
        query = "SELECT claim, title, words, memory FROM choices WHERE (claim=? AND claim!=x'') OR source=?"
        rows = self._sql.execute(query, (claim.text, source))
        return {
            memory
            for text, title, words, memory in rows
            if text == claim.text or is_reread(Fingerprint(text, unpack_hashes(title), unpack_hashes(words)), claim)
        }

    def pairs_kept_apart(self) -> set[frozenset[str]]:
        """The pairs of memories that a person keeps beside each other."""
        rows: Iterable[tuple[str, str]] = self._sql.execute("SELECT memory, made FROM choices WHERE answer='keep'")
        return {frozenset(pair) for pair in rows}
