"""Opaque names for memories and turns in links: random-keyed, so that no text from outside can spell one."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from lerim.errors import NotFoundError


@dataclass(frozen=True, slots=True)
class MemoryHandle:
    """A memory of one repository."""

    root: Path
    id: str


@dataclass(frozen=True, slots=True)
class TurnHandle:
    """A turn of a session, met through a memory of one repository."""

    root: Path
    session: str
    turn: str


@dataclass(slots=True)
class Handles:
    """The handles this process gave out."""

    _key: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    _given: dict[str, MemoryHandle | TurnHandle] = field(default_factory=dict)

    def give(self, meant: MemoryHandle | TurnHandle) -> str:
        """The handle of a memory or turn; the same one each time."""
        text = "\0".join(str(part) for part in _parts(meant)).encode("utf-8", "surrogatepass")
        handle = hashlib.blake2b(text, key=self._key, digest_size=9).hexdigest()
        self._given.setdefault(handle, meant)
        return handle

    def memory(self, handle: str) -> MemoryHandle:
        """What a memory's handle means. Raises NotFoundError."""
        meant = self._given.get(handle)
        if not isinstance(meant, MemoryHandle):
            raise NotFoundError("This link is no longer valid.", todo="Hover again, or use Lerim: Search Memories.")
        return meant

    def turn(self, handle: str) -> TurnHandle:
        """What a turn's handle means. Raises NotFoundError."""
        meant = self._given.get(handle)
        if not isinstance(meant, TurnHandle):
            raise NotFoundError("This link is no longer valid.", todo="Hover again, or use Lerim: Search Memories.")
        return meant


def _parts(meant: MemoryHandle | TurnHandle) -> tuple[str, ...]:
    if isinstance(meant, MemoryHandle):
        return ("memory", str(meant.root), meant.id)
    return ("turn", str(meant.root), meant.session, meant.turn)
