"""Labelled pairs of a memory and a later claim on the same subject (evals/pairs.toml, pairs-reworded.toml)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import msgspec

from lerim.errors import SettingsError
from lerim.memory.record import LearningKind

Relation = Literal["same", "updates", "replaces", "different"]


class LaterClaim(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"what": "is"}):
    """A claim of a later session, and how it relates to the memory (`is` in the file)."""

    what: Relation
    title: str
    body: str = ""
    replaces: tuple[str, ...] = ()


class KnownMemory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A memory, and the later claims on its subject."""

    id: str
    primitive: Literal["decision", "learning"]
    title: str
    later: tuple[LaterClaim, ...]
    body: str = ""
    kind: LearningKind | None = None

    @property
    def held(self) -> bool:
        """Whether the memory belongs to the held-out half, on which nothing is tuned. A hash decides, nobody chose."""
        return bool(hashlib.sha256(self.id.encode()).digest()[0] % 2)


class _PairFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    memories: tuple[KnownMemory, ...]


def read_pairs(path: Path) -> tuple[KnownMemory, ...]:
    """Reads a file of labelled pairs. Raises SettingsError if it cannot be read or has the wrong format."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=_PairFile).memories
    except (ValueError, OSError) as error:
        raise SettingsError(
            f"The pairs cannot be read: {error}.", where=str(path), todo="Correct the file, or name another."
        ) from error
