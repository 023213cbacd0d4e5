"""Opaque handles for memories in links. Each process uses a random key, so no outside text can contain a valid one."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

MAX_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class HandleTarget:
    """The memory a handle refers to: its id, and the root of its repository (Lerim's home for a personal memory)."""

    root: Path
    id: str


@dataclass(slots=True)
class HandleTable:
    """Makes handles by keyed hashing, without storing them: ten thousand hovers must not grow the process.

    A handle is resolved by hashing every live memory again. Only those made elsewhere (in a search) are remembered.
    """

    _key: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    _remembered: OrderedDict[str, HandleTarget] = field(default_factory=OrderedDict)

    def make_handle(self, target: HandleTarget) -> str:
        """Returns the handle of a memory; always the same within one process."""
        text = f"{target.root}\0{target.id}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=self._key, digest_size=9).hexdigest()

    def remember(self, target: HandleTarget) -> str:
        """Returns the handle of a memory that may not be live; it is remembered, so that `find` can resolve it."""
        handle = self.make_handle(target)
        self._remembered.pop(handle, None)  # each step stays valid if two threads interleave
        self._remembered[handle] = target
        if len(self._remembered) > MAX_REMEMBERED:
            self._remembered.popitem(last=False)
        return handle

    def find(self, handle: str, live: Iterable[HandleTarget]) -> HandleTarget | None:
        """Returns the memory of a handle; None if this process did not make the handle, or the memory no longer
        exists."""
        remembered = self._remembered.get(handle)
        return remembered or next((target for target in live if self.make_handle(target) == handle), None)
