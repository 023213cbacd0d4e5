"""The part of the protocol about sessions, agents and the queue (docs/PROTOCOL.md §1).

Everything in the views is as it may be shown: no secrets, and no character that does not show.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.lsp.protocol.core import Params, Whole

Role = Literal["user", "assistant"]


class DaysParams(Params, frozen=True):
    """Whose sessions: those of the window's repositories, or `everywhere` on this machine."""

    everywhere: bool = False


class SessionsParams(Params, frozen=True):
    """The sessions of one day of `lerim/sessions/days`: those from `start` on, as many as fit into one answer."""

    day: str
    everywhere: bool = False
    start: Whole = 0


class SessionSearchParams(Params, frozen=True):
    """Words and filters (`agent:codex since:7d`), as a person types them."""

    query: str
    everywhere: bool = False
    limit: Whole = 50


class OpenParams(Params, frozen=True):
    """A session by the id of its view; `turn` is where to open it ('': at its start)."""

    id: str
    turn: str = ""


class TurnsParams(Params, frozen=True):
    """The turns of a session from position `start` on, at most `count`; `whole`: the first of them uncut."""

    id: str
    start: Whole = 0
    count: Whole = 200
    whole: bool = False


class FindParams(Params, frozen=True):
    """A text to find in a session, to the letter but for case."""

    id: str
    text: str


class AgentsParams(Params, frozen=True):
    """Whose sessions are counted: those of a folder of the window, of its first repository where none is named."""

    root: str | None = None


class ConnectParams(Params, frozen=True):
    """An agent to connect, with the folder of its store (None: where it usually is), or to disconnect."""

    platform: str
    action: Literal["connect", "disconnect"]
    path: str | None = None


class QueueParams(Params, frozen=True):
    """A job of `lerim/agents` to run once more, or to leave alone."""

    job: Whole
    action: Literal["retry", "skip"]


class DayView(msgspec.Struct, frozen=True):
    """A day of this machine's calendar (`2026-11-21`, '' for sessions without a time), and how many sessions ended on
    it."""

    day: str
    sessions: int


class DaysView(msgspec.Struct, frozen=True):
    """The days with sessions, newest first."""

    days: list[DayView]


class TokensView(msgspec.Struct, frozen=True):
    """What a session's model calls took."""

    input: int
    output: int
    cache_read: int
    cache_write: int


class SessionView(msgspec.Struct, frozen=True):
    """A session as lists and the viewer's head show it: no secrets, no character that does not show. `files` are those
    it touched; None where that, or the tokens, are not recorded. `parent` is the session that started a subagent's,
    `parent_missing`: nothing was read of that one."""

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
    """Some sessions of a day, newest first; `total` is how many there are."""

    sessions: list[SessionView]
    total: int


class HitView(msgspec.Struct, frozen=True):
    """A turn that matches a search; `id` is its session's."""

    id: str
    turn: str
    platform: str
    agent: str
    title: str
    time: str
    role: Role
    snippet: str


class HitsView(msgspec.Struct, frozen=True):
    """Matches, best first; `problems` are filters that were not understood."""

    hits: list[HitView]
    problems: list[str]


class OutlineView(msgspec.Struct, frozen=True):
    """A session without its text: one letter a turn (p a prompt, s a person's own shell command, c a slash command, r a
    reply), about how many characters each has, the position `at` of the turn asked for (-1: it is not in it), what is
    to be said of the whole, and its summary in short ("" where it has none)."""

    session: SessionView
    kinds: str
    sizes: list[int]
    at: int
    note: str
    summary: str


class CallView(msgspec.Struct, frozen=True):
    """A tool call: one line, how it ended ('' where that is not kept), the exit code, and the rest of its text."""

    title: str
    status: Literal["", "ok", "error", "denied", "interrupted", "pending"]
    exit_code: int | None
    text: str


class SessionTurn(msgspec.Struct, frozen=True):
    """A turn with its text, without `left` more characters."""

    turn: str
    role: Role
    kind: str
    time: str
    text: str
    left: int
    calls: list[CallView]


class TurnsView(msgspec.Struct, frozen=True):
    """Turns of a session from position `start` on, as many as fit into one answer."""

    start: int
    turns: list[SessionTurn]


class PlacesView(msgspec.Struct, frozen=True):
    """The positions of turns, in order."""

    positions: list[int]


class JobView(msgspec.Struct, frozen=True):
    """A job that failed or was given up; `id` names its session."""

    job: int
    kind: str
    state: Literal["failed", "dead"]
    tries: int
    id: str
    title: str
    error: str


class DoneView(msgspec.Struct, frozen=True):
    """Whether something was done, and what to say of it."""

    ok: bool
    message: str
