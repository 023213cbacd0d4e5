"""A person's answers about a candidate and a memory near it, saved so that the pair is not shown again.

Each answer is a row of the project's review ledger. It is inserted in the transaction that starts the action and
deleted in the one that undoes it. It identifies a claim by its fingerprint: salted hashes that allow comparing claims
without storing their text.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from lerim.memory import claim_text, claim_words, dice_overlap, word_stems
from lerim.review.decisions import NeighbourAnswer

ACTIONS: dict[NeighbourAnswer, Literal["same", "supersede", "update", "resolve", "add"]] = {
    "same": "same",
    "replaces": "supersede",
    "changes": "update",
    "answers": "resolve",
    "keep": "add",
}
"""The action that accepting a candidate performs, by the answer about the memory."""
ANSWERS: dict[str, NeighbourAnswer] = {**{action: answer for answer, action in ACTIONS.items()}, "merge": "changes"}
"""The answer that each action of a session's candidate corresponds to; the reverse of `ACTIONS`."""
WORD_HASH_SIZE = 6
"""Number of bytes of a word's hash."""
_TEXT_HASH_SIZE = 16
_REWORDING_STEMS = word_stems("not never no instead rather use uses used using prefer simply")
"""Words that often differ between two readings of a turn; they do not distinguish two claims."""
MIN_REREAD_OVERLAP = 0.5
"""Minimum word overlap (Dice's coefficient) for two claims of one turn to count as the same claim."""


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
        """Saves an answer given with this action, one row for each memory."""
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
        """Deletes the answers of an action that is undone."""
        self._sql.execute("DELETE FROM choices WHERE action=?", (action,))

    def answered_memories(self, claim: Fingerprint, source: str) -> set[str]:
        """Returns the ids of the memories that are not shown again with a claim of this source. An answer about them
        exists for a claim with the same text, or for a claim of the same turn with mostly the same words."""
        query = "SELECT claim, title, words, memory FROM choices WHERE (claim=? AND claim!=x'') OR source=?"
        rows = self._sql.execute(query, (claim.text, source))
        return {
            memory
            for text, title, words, memory in rows
            if text == claim.text or is_reread(Fingerprint(text, unpack_hashes(title), unpack_hashes(words)), claim)
        }

    def pairs_kept_apart(self) -> set[frozenset[str]]:
        """Returns the pairs of memories, by their ids, that a person chose to keep separate."""
        rows: Iterable[tuple[str, str]] = self._sql.execute("SELECT memory, made FROM choices WHERE answer='keep'")
        return {frozenset(pair) for pair in rows}


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The hashes of a claim: of its normalised text (empty if unknown), of each word of its title, and of each word of
    title and body."""

    text: bytes
    title: frozenset[bytes]
    words: frozenset[bytes]


def fingerprint(salt: bytes, title: str, body: str) -> Fingerprint:
    """Returns the fingerprint of a claim, without the sentences that Lerim itself adds to a body."""
    said = claim_words(title, body)
    title_words, words = (
        frozenset(_hash(salt, word, WORD_HASH_SIZE) for word in part - _REWORDING_STEMS)
        for part in (said.title, said.words)
    )
    return Fingerprint(_hash(salt, claim_text(title, body), _TEXT_HASH_SIZE), title_words, words)


def _hash(salt: bytes, text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), key=salt, digest_size=size).digest()


def is_reread(one: Fingerprint, other: Fingerprint) -> bool:
    """Returns whether two claims of the same turn are the same claim in slightly different words: at least half of
    their words are the same, and all words of one title are in the other."""
    within = one.title <= other.title or other.title <= one.title
    return within and dice_overlap(one.words, other.words) >= MIN_REREAD_OVERLAP


def pack_hashes(hashes: frozenset[bytes]) -> bytes:
    """Returns the hashes as one blob for the ledger, sorted."""
    return b"".join(sorted(hashes))


def unpack_hashes(blob: bytes) -> frozenset[bytes]:
    """Returns the hashes in a blob written by `pack_hashes`."""
    return frozenset(blob[at : at + WORD_HASH_SIZE] for at in range(0, len(blob), WORD_HASH_SIZE))
