"""The part of the protocol about giving memories to agents, and what agents in the editor, and the person for them, ask
for (docs/PROTOCOL.md §1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.lsp.protocol.core import Params
from lerim.memory import MemoryKind

ToolName = Literal["recall", "why", "propose"]


class AgentPlanParams(Params, frozen=True):
    """What to install or remove: for which agents, over which channels, in the person's own files (`user`) or in those
    of the repository of `root` (`project`). No agents are all that are found, no channels are all."""

    action: Literal["install", "remove"]
    level: Literal["user", "project"]
    agents: list[str]
    channels: list[str]
    root: str | None = None


class AgentApplyParams(AgentPlanParams, frozen=True, kw_only=True):
    """A plan that was agreed to. `hashes` are those of the edits that were shown: nothing is written if what would be
    written now differs."""

    hashes: list[str]


class AgentUndoParams(Params, frozen=True):
    """Changes to take back, by the `undo` of the answer to `lerim/agents/apply`."""

    undo: str


class AgentEditView(msgspec.Struct, frozen=True):
    """A change of an agent's file. `before` is None if there is no file, `after` if it would be removed; of a long file
    both have only the lines around the change. `hash` identifies the change."""

    path: str
    before: str | None
    after: str | None
    reason: str
    hash: str


class AgentManualView(msgspec.Struct, frozen=True):
    """A file that is left as it is, why, and what to add to it, or take out of it, by hand."""

    path: str
    reason: str
    snippet: str


class AgentPlanView(msgspec.Struct, frozen=True):
    """What would be done. `unchanged` is the number of files that need no change."""

    edits: list[AgentEditView]
    manual: list[AgentManualView]
    unchanged: int


class AgentApplyView(msgspec.Struct, frozen=True):
    """Whether everything was written, a message about it, and what `lerim/agents/undo` takes (None if nothing was
    written)."""

    ok: bool
    message: str
    undo: str | None


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


class SelectedWords(Params, frozen=True):
    """Words that the person selected in a transcript: the id of the session, that of the turn in which the selection
    begins, and the words as the page shows them."""

    session: str
    turn: str
    text: str


class AddMemoryParams(Params, frozen=True):
    """A memory that the person writes by hand. `body` may be "". With `selected`, these words are its evidence, and
    the files that their exchange changed or names are added to `files`; `quotes` then answers `ask-quotes`."""

    root: str
    kind: MemoryKind
    title: str
    body: str = ""
    files: list[str] = msgspec.field(default_factory=list)
    selected: SelectedWords | None = None
    quotes: Literal["shared", "local"] | None = None
