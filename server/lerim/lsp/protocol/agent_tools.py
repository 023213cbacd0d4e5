"""The part of the protocol about what agents in the editor, and the person for them, ask for (docs/PROTOCOL.md §1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.lsp.protocol.core import Params

ToolName = Literal["recall", "why", "propose"]
MemoryKind = Literal["decision", "question", "insight", "procedure", "friction", "pitfall", "preference"]


class AgentToolParams(Params, frozen=True):
    """A call of one of the tools of `lerim mcp`. Only the fields that the tool has an argument for count; "" and []
    are left out. `agent` is the name of the program that asked."""

    root: str
    tool: ToolName
    agent: str = ""
    question: str = ""
    files: list[str] = msgspec.field(default_factory=list)
    path: str = ""
    symbol: str = ""
    kind: str = ""
    title: str = ""
    why: str = ""


class AgentToolView(msgspec.Struct, frozen=True):
    """The answer of a tool, as text for a model. `is_error`: the text says what was wrong with the call."""

    text: str
    is_error: bool


class MemoryContextParams(Params, frozen=True):
    """Memories, by their handles, to be copied for an agent."""

    ids: list[str]


class MemoryContextView(msgspec.Struct, frozen=True):
    """Memories as text for an agent; "" if none of them may be given."""

    text: str


class AddMemoryParams(Params, frozen=True):
    """A memory that the person writes by hand. `body` may be ""."""

    root: str
    kind: MemoryKind
    title: str
    body: str = ""
    files: list[str] = msgspec.field(default_factory=list)
