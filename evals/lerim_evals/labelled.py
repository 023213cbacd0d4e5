"""Labelled pairs: a memory, and what a later session says of its ground (evals/pairs.toml, pairs-reworded.toml)."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

import msgspec

from lerim.errors import SettingsError
from lerim.memory.record import LearningKind

Is = Literal["same", "updates", "replaces", "different"]


class Later(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"what": "is"}):
    """What was said later, and what that is to the memory."""

    what: Is
    title: str
    body: str = ""
    replaces: tuple[str, ...] = ()


class Known(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A memory, and what was said of its ground later."""

    id: str
    primitive: Literal["decision", "learning"]
    title: str
    later: tuple[Later, ...]
    body: str = ""
    kind: LearningKind | None = None

    @property
    def held(self) -> bool:
        """Whether it is set aside: nothing is tuned on it. By a hash, so that nobody chose."""
        return bool(hashlib.sha256(self.id.encode()).digest()[0] % 2)


class _Pairs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    memories: tuple[Known, ...]


def read_pairs(path: Path) -> tuple[Known, ...]:
    """A file of labelled pairs. Raises SettingsError where it cannot be read as one."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=_Pairs).memories
    except (ValueError, OSError) as error:
        raise SettingsError(
            f"The pairs cannot be read: {error}.", where=str(path), todo="Correct the file, or name another."
        ) from error
