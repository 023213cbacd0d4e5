"""A person's decisions about candidates and memories, in the form in which the editor, the command line and the API
send them.

This module imports nothing heavy, because the sidecar knows these types from its start.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from lerim.memory import MemoryKind

NeighbourAnswer = Literal["same", "replaces", "changes", "answers", "keep"]
"""How a candidate relates to a memory: it says the same, replaces it, changes it, answers it (if it is a question), or
both are kept."""
Title = Annotated[str, msgspec.Meta(max_length=10_000)]
Body = Annotated[str, msgspec.Meta(max_length=500_000)]
Tag = Annotated[str, msgspec.Meta(max_length=200)]
TypedReference = Annotated[str, msgspec.Meta(max_length=2000)]
Id = Annotated[str, msgspec.Meta(max_length=300)]


class NeighbourChoice(msgspec.Struct, frozen=True):
    """A person's answer about a candidate and a memory, given by its id. `keep` without a memory applies to all
    neighbours.

    `hash` is the hash of the memory file's text as the person saw it; empty if unknown.
    """

    answer: NeighbourAnswer
    memory: Id = ""
    hash: Id = ""


class MemoryEdit(msgspec.Struct, frozen=True):
    """A person's new words, tags or references for a memory or candidate. None leaves a part as it is."""

    title: Title | None = None
    body: Body | None = None
    tags: tuple[Tag, ...] | None = None
    references: tuple[TypedReference, ...] | None = None


class CandidateEdit(MemoryEdit, frozen=True):
    """A person's edit of a candidate. `kind` is only allowed for a candidate that adds a memory; `acts.change_kind`
    changes the kind of an existing memory."""

    kind: MemoryKind | None = None
