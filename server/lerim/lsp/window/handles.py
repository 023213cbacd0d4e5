"""Opaque names for memories in links: keyed at random for each process, so that no text from outside can spell one."""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class HandleTarget:
    """A memory: the root of its repository (the person's own folder for a global one) and its id."""

    root: Path
    id: str


@dataclass(slots=True)
class HandleTable:
    """Names memories without keeping a list of them: ten thousand hovers must not grow the process.

    A name is found again by naming every live memory once more; the few met elsewhere (in a search) are remembered.
    """

    _key: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    _met: OrderedDict[str, HandleTarget] = field(default_factory=OrderedDict)

    def name(self, meant: HandleTarget) -> str:
        """The handle of a memory; the same one each time."""
        text = f"{meant.root}\0{meant.id}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=self._key, digest_size=9).hexdigest()

    def remember(self, meant: HandleTarget) -> str:
        """The handle of a memory that may not be among the live ones of a repository."""
        handle = self.name(meant)
        self._met.pop(handle, None)  # in steps that two threads may mix
        self._met[handle] = meant
        if len(self._met) > REMEMBERED:
            self._met.popitem(last=False)
        return handle

    def find(self, handle: str, live: Iterable[HandleTarget]) -> HandleTarget | None:
        """What a handle means; None for one this process never gave, or whose memory is gone."""
        met = self._met.get(handle)
        return met or next((meant for meant in live if self.name(meant) == handle), None)
