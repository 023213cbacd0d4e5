"""The data model of a session, whichever agent wrote it. Every reader produces these types; all later stages use them.

A *turn* is one message: what a person typed, or one answer of the model with its tool calls and their results. Injected
text (reminders, hook output, rules files, compaction summaries, our own memories) is never a turn or part of one.

Types with many instances are `msgspec.Struct`s, which are created ten times faster than frozen dataclasses. None can
contain itself, so they are excluded from garbage collection (`gc=False`).
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol, cast

import msgspec
from msgspec.structs import astuple

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
"""The display name of each agent."""


def agent_name(platform: str) -> str:
    """Returns the display name of an agent, or `platform` unchanged if there is no such agent."""
    return PLATFORM_NAMES.get(cast("Platform", platform), platform)


Role = Literal["user", "assistant"]
TurnKind = Literal["prompt", "shell", "command", "reply"]
"""prompt: typed by a person; shell: a person's own `!command`; command: a slash command and the text typed after it;
reply: an answer of the model."""
OWN_COMMAND = "!"
"""The name of the only tool call of a `shell` turn: the person's own command and its output."""
ToolKind = Literal["shell", "read", "edit", "write", "search", "ask", "plan", "agent", "web", "other"]
ToolStatus = Literal["ok", "error", "denied", "interrupted", "pending"]
"""pending: no result has been recorded (yet)."""


def make_turn_id(platform: Platform, native: str) -> str:
    """Returns the stable id of a turn: 12 hex digits of SHA-256 over platform and native id.

    `native` is the uuid of the turn's first record, or `role + "\\n" + raw text` if the store has no ids.
    """
    return hashlib.sha256(f"{platform}:{native}".encode("utf-8", "surrogatepass")).hexdigest()[:12]


class Tokens(msgspec.Struct, frozen=True, gc=False):
    """The tokens of one turn or session. Each API message is counted once."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @classmethod
    def from_columns(
        cls, input: int | None, output: int | None, cache_read: int | None, cache_write: int | None
    ) -> Tokens:
        """Builds the counts from the columns of a row; None counts as 0."""
        return cls(input or 0, output or 0, cache_read or 0, cache_write or 0)

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(*map(operator.add, astuple(self), astuple(other)))

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(*map(operator.sub, astuple(self), astuple(other)))


NO_TOKENS = Tokens()


class FileEdit(msgspec.Struct, frozen=True, gc=False):
    """One replacement in a file. If the whole file was written, `old` is ""."""

    path: str
    old: str
    new: str


class QuestionAnswer(msgspec.Struct, frozen=True, gc=False):
    """A question the agent asked the person through a tool, and what they chose or typed ('' if not answered yet).

    `descriptions` are the agent's descriptions of the options, in the same order.
    """

    question: str
    options: tuple[str, ...]
    answer: str
    descriptions: tuple[str, ...] = ()

    @property
    def chosen_descriptions(self) -> str:
        """The agent's descriptions of the options the person chose; '' if they typed their own answer."""
        first_line = self.answer.partition("\n")[0]
        options_with_descriptions = zip(self.options, self.descriptions, strict=False)
        if first_line in self.options:
            return "\n".join(description for option, description in options_with_descriptions if option == first_line)
        chosen_options: set[str] = set()
        rest = f", {first_line}, "
        for option in sorted(self.options, key=len, reverse=True):  # an option may contain ", " and another option
            if f", {option}, " in rest:
                chosen_options.add(option)
                rest = rest.replace(f", {option}, ", ", , ", 1)
        return "\n".join(
            description for option, description in options_with_descriptions if option in chosen_options and description
        )


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """One tool call and its result. `name` and all texts come from the model or a tool: they are data, never trusted.

    `paths` are as written in the record (absolute or relative, native separators). `output` is the beginning and end of
    the result, `output_cut` the number of characters left out between them. `exit_code` is None if unknown. `feedback`
    is what the person said when they denied the call or approved a plan, and is set only if the structure of the record
    proves it. If only the text of a result attributes words to the person, they stay in `output`, because a tool can
    write such text.
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


class Turn(msgspec.Struct, frozen=True, gc=False):
    """One message of a session. `ordinal` counts turns from 0 within the transcript file; `id` comes from
    `make_turn_id`.

    `unattended`: the record says that a script, an SDK or a CI job sent this prompt, so no person said it.
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
    """A session as known after reading its transcript: totals over the whole file.

    `prompts` counts what people typed (turns of kind `prompt`); `tool_errors` counts calls that failed (not those
    that were denied or interrupted). `cwds` and `branches` are in order of first appearance. `parent` is the id of
    the parent session if this is a subagent's transcript. `tokens` is None if the store records no counts; `cost` is
    what the store itself recorded, in USD.
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
    turns: int = 0
    prompts: int = 0
    tool_calls: int = 0
    tool_errors: int = 0
    denials: int = 0
    tokens: Tokens | None = None
    parent: str = ""
    cost: float | None = None


Stamp = tuple[int, int, int]
StoreStamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Transcript:
    """A transcript found on disk: a file, known by stat alone, or one session in a database.

    `stamp` changes whenever the transcript does; for a session in a database it is computed from that session's
    data. `store_key` is the session's key in a store that contains many. `cwd` is its working folder if something
    other than its own records names it.
    """

    platform: Platform
    path: Path
    session_id: str
    size: int
    mtime_ns: int
    inode: int
    parent: str = ""
    store_key: str = ""
    cwd: str = ""

    @property
    def stamp(self) -> Stamp:
        return (self.size, self.mtime_ns, self.inode)

    @property
    def place(self) -> str:
        """The key of this transcript in the catalog."""
        path = encode_path(self.path)
        return f"{path}#{self.store_key}" if self.store_key else path


@dataclass(frozen=True, slots=True)
class Database:
    """A store that contains many sessions, known by stat alone: `stamp` is the size and mtime of the file and of its
    `-wal` (0, 0 if there is none)."""

    platform: Platform
    path: Path
    stamp: StoreStamp


@dataclass(frozen=True, slots=True)
class DamagedStore:
    """A database that cannot be read in its current state, and why."""

    database: Database
    problem: Problem


@dataclass(frozen=True, slots=True)
class StoreContents:
    """The contents of an agent's store as far as they were found: transcripts, databases with more sessions, and
    problems. `copies` are files whose session is already among the transcripts; they are not read."""

    transcripts: list[Transcript] = field(default_factory=list)
    databases: list[Database] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    copies: list[Transcript] = field(default_factory=list)


LOST_PLACE_CODES = ("bad-line", "bad-row")
"""Problem codes of single lines and rows that could not be read."""
UNKNOWN_FORM = "unknown-form"
"""Problem code of a session with records, none of which has a form that its reader knows."""


@dataclass(frozen=True, slots=True)
class OmittedProblems(Problem):
    """A stand-in for problems of a session that are only counted, because there are too many."""

    count: int = 0


class Readable(Protocol):
    """A pass over one transcript: iterate its turns; after the last one, `session`, `resume` and `problems` are
    final."""

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
        """The ids of all turns the session has now, or None if unknown. Turns indexed earlier with other ids are
        gone."""

    def __iter__(self) -> Iterator[Turn]: ...

    def checkpoint(self) -> bool:
        """Updates `session` and `resume` to the turns yielded so far; returns False if that is not possible here."""
