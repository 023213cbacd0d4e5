"""The part of the protocol about sessions, agents and the queue (docs/PROTOCOL.md §1).

All texts in the views are cleaned of secrets and invisible characters.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.lsp.protocol.core import Params, WholeNumber

Role = Literal["user", "assistant"]


class DaysParams(Params, frozen=True):
    """Which sessions to include: those of the window's repositories, or those `everywhere` on this machine."""

    everywhere: bool = False


class SessionsParams(Params, frozen=True):
    """A page of the sessions of one day of `lerim/sessions/days`, from `start` on, as many as fit into one answer."""

    day: str
    everywhere: bool = False
    start: WholeNumber = 0


class SessionSearchParams(Params, frozen=True):
    """Words and filters (`agent:codex since:7d`) as typed by the person."""

    query: str
    everywhere: bool = False
    limit: WholeNumber = 50


class OpenParams(Params, frozen=True):
    """A session by the id of its view; `turn` is where to open it ('' is its start)."""

    id: str
    turn: str = ""


class TurnsParams(Params, frozen=True):
    """Up to `count` turns of a session from position `start` on; `whole`: the first one is not cut."""

    id: str
    start: WholeNumber = 0
    count: WholeNumber = 200
    whole: bool = False


class FindParams(Params, frozen=True):
    """A text to find in a session, literally but ignoring case."""

    id: str
    text: str


class AgentsParams(Params, frozen=True):
    """The folder whose sessions are counted; by default the window's first repository."""

    root: str | None = None


class ConnectParams(Params, frozen=True):
    """An agent to connect or disconnect; `path` is the folder of its store (None is the usual place)."""

    platform: str
    action: Literal["connect", "disconnect"]
    path: str | None = None


class QueueParams(Params, frozen=True):
    """A job of `lerim/agents` to retry or skip."""

    job: WholeNumber
    action: Literal["retry", "skip"]


class DayView(msgspec.Struct, frozen=True):
    """A day in local time (`2026-11-21`, '' for sessions without a time) and the number of sessions that ended on
    it."""

    day: str
    sessions: int


class UseSessionsParams(Params, frozen=True):
    """A folder whose sessions are to count as those of a workspace folder's repository."""

    root: str
    folder: str


class OtherFolderView(msgspec.Struct, frozen=True):
    """A folder whose sessions look like those of the repository. `reason`: the remote, the first commit or the
    name is the same."""

    path: str
    sessions: int
    reason: Literal["remote", "commit", "name"]


class OtherFoldersView(msgspec.Struct, frozen=True):
    """The folders to offer, those with the most sessions first."""

    folders: list[OtherFolderView]


class DaysView(msgspec.Struct, frozen=True):
    """The days with sessions, newest first."""

    days: list[DayView]


class TokensView(msgspec.Struct, frozen=True):
    """The tokens used by a session's model calls."""

    input: int
    output: int
    cache_read: int
    cache_write: int


class SessionView(msgspec.Struct, frozen=True):
    """A session as shown in lists and in the viewer's header. `files` is the number of files it touched; it and
    `tokens` are None if the agent does not record them. `parent` is the session that started a subagent's session;
    `parent_missing`: that one was not read."""

    id: str
    session: str
    platform: str
    agent: str
    title: str
    started: str
    ended: str
    folder: str
    branches: list[str]
    models: list[str]
    files: int | None
    turns: int
    prompts: int
    tool_calls: int
    tool_errors: int
    denials: int
    tokens: TokensView | None
    cost: float | None
    parent: str
    parent_missing: bool
    gone: bool
    error: str


class SessionsView(msgspec.Struct, frozen=True):
    """One page of a day's sessions, newest first; `total` counts all of them."""

    sessions: list[SessionView]
    total: int


class HitView(msgspec.Struct, frozen=True):
    """A turn that matches a search; `id` is that of its session."""

    id: str
    turn: str
    platform: str
    agent: str
    title: str
    time: str
    role: Role
    snippet: str


class HitsView(msgspec.Struct, frozen=True):
    """Matching turns, best first; `problems` are filters that were not understood."""

    hits: list[HitView]
    problems: list[str]


class OutlineView(msgspec.Struct, frozen=True):
    """A session without its text. `kinds` has one letter per turn (p: prompt, s: shell command of the person, c: slash
    command, r: reply), `sizes` the approximate number of characters of each. `at` is the position of the requested turn
    (-1: not found), `note` a remark about the whole session, and `summary` its short summary ("" if there is none).
    `resume` is the command that continues it in a terminal, "" if its agent has none."""

    session: SessionView
    kinds: str
    sizes: list[int]
    at: int
    note: str
    summary: str
    resume: str


class CallView(msgspec.Struct, frozen=True):
    """A tool call: its first line, how it ended ('' if unknown), the exit code, and the rest of its text. `edits`: it
    changed files, so that `lerim/session/edits` can be asked how."""

    title: str
    status: Literal["", "ok", "error", "denied", "interrupted", "pending"]
    exit_code: int | None
    text: str
    edits: bool


class SessionTurn(msgspec.Struct, frozen=True):
    """A turn with its text; `left` is the number of characters cut off."""

    turn: str
    role: Role
    kind: str
    time: str
    text: str
    left: int
    calls: list[CallView]


class TurnsView(msgspec.Struct, frozen=True):
    """One page of the turns of a session, from position `start` on."""

    start: int
    turns: list[SessionTurn]


class EditsParams(Params, frozen=True):
    """A call of a turn, by its number among the turn's calls (from 0)."""

    id: str
    turn: str
    call: int


class EditView(msgspec.Struct, frozen=True):
    """What a call changed in one file: the texts it replaced and the new ones; `before` is "" for a whole file."""

    path: str
    before: str
    after: str


class EditsView(msgspec.Struct, frozen=True):
    """The edits of a call, one for each file."""

    edits: list[EditView]


class PositionsView(msgspec.Struct, frozen=True):
    """Positions of turns, in ascending order."""

    positions: list[int]


class JobView(msgspec.Struct, frozen=True):
    """A job that failed or was given up; `id` is that of its session."""

    job: int
    kind: str
    state: Literal["failed", "dead"]
    tries: int
    id: str
    title: str
    error: str


class OutcomeView(msgspec.Struct, frozen=True):
    """Whether an action was performed, and a message about it."""

    ok: bool
    message: str
