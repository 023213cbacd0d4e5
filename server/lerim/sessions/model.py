"""What a session is, whichever agent wrote it. Every reader produces these types; everything later consumes them.

A *turn* is one message: what a person typed, or one answer of the model with its tool calls and their results.
Injected text (reminders, hook output, boot files, compaction summaries, our own memories) makes no turn and is in none.

What there are many of is a `msgspec.Struct`, made ten times faster than a frozen dataclass. None can hold itself, so
the garbage collector need not look at them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

import msgspec

from lerim.errors import Problem
from lerim.files import encode_path

Platform = Literal["claude", "codex", "cursor", "opencode", "copilot", "gemini"]
PLATFORM_NAMES: Mapping[Platform, str] = {
    "claude": "Claude Code",
    "codex": "Codex",
    "cursor": "Cursor",
    "opencode": "OpenCode",
    "copilot": "GitHub Copilot",
    "gemini": "Gemini CLI",
}
"""What people call each agent."""
Role = Literal["user", "assistant"]
TurnKind = Literal["prompt", "shell", "command", "reply"]
"""prompt: typed by a person; shell: a person's own `!command`; command: a slash command with what was typed after it;
reply: the model."""
OWN_COMMAND = "!"
"""The name of the one call of a `shell` turn: the person's own command with what it printed."""
ToolKind = Literal["shell", "read", "edit", "write", "search", "ask", "plan", "agent", "web", "other"]
ToolStatus = Literal["ok", "error", "denied", "interrupted", "pending"]
"""pending: no result is recorded (yet)."""


def make_turn_id(platform: Platform, native: str) -> str:
    """The stable id of a turn: 12 hex digits of SHA-256 over platform and the record's native id (design §5).

    `native` is the uuid of the turn's first record, or `role + "\\n" + raw text` where a store has no ids.
    """
    return hashlib.sha256(f"{platform}:{native}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """Tokens of one turn or session, each counted once per API message."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @classmethod
    def told(cls, *counts: int | None) -> Tokens:
        """From the columns of a row; what is not told counts as 0."""
        return cls(*(count or 0 for count in counts))

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


NO_TOKENS = Tokens()


class FileEdit(msgspec.Struct, frozen=True, gc=False):
    """One replacement in a file; a whole written file has `old == ""`."""

    path: str
    old: str
    new: str


class QuestionAnswer(msgspec.Struct, frozen=True, gc=False):
    """A question the agent put to the person through a tool, and what they chose or typed ('' while unanswered).

    `descriptions` are what the agent said of each option, in their order.
    """

    question: str
    options: tuple[str, ...]
    answer: str
    descriptions: tuple[str, ...] = ()

    @property
    def chosen(self) -> str:
        """What the agent said of the options the person chose; '' where they typed their own answer."""
        picked = self.answer.partition("\n")[0]
        both = zip(self.options, self.descriptions, strict=False)
        if picked in self.options:
            return "\n".join(said for option, said in both if option == picked)
        several = picked.split(", ")
        return "\n".join(said for option, said in both if option in several and said)


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """One tool call and its result. `name` and every text are the model's or a tool's words: data, never trusted.

    `paths` are as written in the record (absolute or relative, native separators). `output` keeps head and tail of the
    result, `output_cut` says how many characters were left out between them. `exit_code` is None where not known.
    `feedback` is what the person said on denying the call or, of a plan, on approving it: only where the record's own
    structure shows it. What nothing but the text of a result ascribes to the person stays in `output`: a tool can write
    such a text, so these are its words.
    """

    id: str
    name: str
    kind: ToolKind
    status: ToolStatus = "pending"
    command: str = ""
    description: str = ""
    paths: tuple[str, ...] = ()
    edits: tuple[FileEdit, ...] = ()
    answers: tuple[QuestionAnswer, ...] = ()
    plan: str = ""
    output: str = ""
    output_cut: int = 0
    exit_code: int | None = None
    feedback: str = ""
    subagent: str = ""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One message of a session. `ordinal` counts turns from 0 within the transcript file; `id` is `make_turn_id`.

    `unattended`: the record says that a script, an SDK or a CI job sent this prompt, so that it is nobody's words.
    """

    id: str
    ordinal: int
    role: Role
    kind: TurnKind
    text: str
    time: datetime | None
    cwd: str
    branch: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    model: str = ""
    tokens: Tokens = NO_TOKENS
    sidechain: bool = False
    unattended: bool = False


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of a session after its transcript was read: totals over the whole file.

    `prompts` counts what people typed (turns of kind `prompt`); `tool_errors` counts results marked as errors (denials
    are in `denials`); `injected` counts user records that no person typed. `cwds` and `branches` are in order of first
    appearance.
    `parent` is the parent session's id for a subagent's own transcript. `tokens` is None where the store has no number;
    `cost` is what the store itself recorded, in USD.
    """

    id: str
    platform: Platform
    path: Path
    title: str = ""
    started: datetime | None = None
    ended: datetime | None = None
    cwds: tuple[str, ...] = ()
    branches: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    version: str = ""
    turns: int = 0
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    denials: int = 0
    api_errors: int = 0
    injected: int = 0
    tokens: Tokens | None = None
    parent: str = ""
    cost: float | None = None


Stamp = tuple[int, int, int]
StoreStamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript found on disk: a file, known by stat alone, or one session of a database.

    `stamp` changes whenever the transcript does; of a session in a database its parts are what tells that. `within` is
    the session's key in a store that holds many. `cwd` is its working folder where something outside its own records
    tells it.
    """

    platform: Platform
    path: Path
    session_id: str
    size: int
    mtime_ns: int
    inode: int
    parent: str = ""
    within: str = ""
    cwd: str = ""

    @property
    def stamp(self) -> Stamp:
        return (self.size, self.mtime_ns, self.inode)

    @property
    def place(self) -> str:
        """What the catalog knows it by."""
        path = encode_path(self.path)
        return f"{path}#{self.within}" if self.within else path


@dataclass(frozen=True, slots=True)
class Database:
    """A store that holds many sessions, known by stat alone: size and mtime of the file and of its `-wal` (0, 0 where
    there is none)."""

    platform: Platform
    path: Path
    stamp: StoreStamp


@dataclass(frozen=True, slots=True)
class DamagedStore:
    """A database that cannot be read as it is, and why."""

    database: Database
    problem: Problem


@dataclass(frozen=True, slots=True)
class StoreContents:
    """What lies in an agent's store: transcripts, databases that hold more, and what could not be looked at. `copies`
    are files whose session is among the transcripts, so that they are not read."""

    transcripts: list[Transcript] = field(default_factory=list)
    databases: list[Database] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    copies: list[Transcript] = field(default_factory=list)


class Readable(Protocol):
    """A reading of one transcript: its turns, and after the last one the session, the resume position and problems."""

    @property
    def session(self) -> Session: ...
    @property
    def resume(self) -> bytes: ...
    @property
    def problems(self) -> list[Problem]: ...
    @property
    def restarted(self) -> bool: ...
    @property
    def ids(self) -> frozenset[str] | None:
        """Of all turns the session has now, where that is known: others that were read from it before are gone."""

    def __iter__(self) -> Iterator[Turn]: ...

    def checkpoint(self) -> bool:
        """Between two turns: brings `session` and `resume` up to the turns handed out; False where it cannot."""
