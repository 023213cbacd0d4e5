"""Fingerprints of claims: salted hashes that allow comparing claims without storing their text."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from lerim.memory import claim_text, claim_words, dice_overlap, word_stems

WORD_HASH_SIZE = 6
"""Bytes of a word's hash."""
_TEXT_HASH_SIZE = 16
_REWORDING_STEMS = word_stems("not never no instead rather use uses used using prefer simply")
"""Words that often differ between two readings of a turn; they do not distinguish two claims."""
MIN_REREAD_OVERLAP = 0.5
"""Minimum word overlap (Dice's coefficient) for two claims of one turn to count as the same claim."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The hashes of a claim: of its normalised text (empty if unknown), of each word of its title, and of each word of
    title and body."""

    text: bytes
    title: frozenset[bytes]
    words: frozenset[bytes]


def fingerprint(salt: bytes, title: str, body: str) -> Fingerprint:
    """The fingerprint of a claim, without the sentences that Lerim itself adds to a body."""
    said = claim_words(title, body)
    title_words, words = (
        frozenset(_hash(salt, word, WORD_HASH_SIZE) for word in part - _REWORDING_STEMS)
        for part in (said.title, said.words)
    )
    return Fingerprint(_hash(salt, claim_text(title, body), _TEXT_HASH_SIZE), title_words, words)


def _hash(salt: bytes, text: str, size: int) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), key=salt, digest_size=size).digest()


def is_reread(one: Fingerprint, other: Fingerprint) -> bool:
    """Whether two claims of the same turn are the same claim in slightly different words: at least half of their words
    are the same, and all words of one title are in the other."""
    within = one.title <= other.title or other.title <= one.title
    return within and dice_overlap(one.words, other.words) >= MIN_REREAD_OVERLAP


def pack_hashes(hashes: frozenset[bytes]) -> bytes:
    """The hashes as one blob for the ledger, sorted."""
    return b"".join(sorted(hashes))


def unpack_hashes(blob: bytes) -> frozenset[bytes]:
    """The hashes in a blob written by `pack`."""
    return frozenset(blob[at : at + WORD_HASH_SIZE] for at in range(0, len(blob), WORD_HASH_SIZE))
