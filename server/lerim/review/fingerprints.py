"""Claims without their text: salted hashes of their words, compared as the words would be."""

from __future__ import annotations

from dataclasses import dataclass

from lerim.memory.claim import overlap

SIZE = 6
"""Bytes of a word's hash."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A claim without its text: salted hashes of its words."""

    title: frozenset[bytes]
    words: frozenset[bytes]
    hard: frozenset[bytes]


def alike(one: Fingerprint, other: Fingerprint) -> float:
    """How similar two claims are, as `claim.similarity` would say of their texts."""
    return (overlap(one.title, other.title) + overlap(one.words, other.words)) / 2


def pack(hashes: frozenset[bytes]) -> bytes:
    """The hashes as one value of the ledger."""
    return b"".join(sorted(hashes))


def unpack(blob: bytes) -> frozenset[bytes]:
    """The hashes of a value of the ledger."""
    return frozenset(blob[at : at + SIZE] for at in range(0, len(blob), SIZE))
