"""The part of the protocol about sessions, agents and the queue (docs/PROTOCOL.md §1).

All texts in the views are cleaned of secrets and invisible characters.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from lerim.lsp.protocol.core import Params, WholeNumber


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
    """A folder of the window; by default that of its first repository."""

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


class UseSessionsParams(Params, frozen=True):
    """A folder whose sessions are to count as those of a workspace folder's repository."""

    root: str
    folder: str


class CallParams(Params, frozen=True):
    """A call of a turn, by its number among the turn's calls (from 0)."""

    id: str
    turn: str
    call: int


class OutcomeView(msgspec.Struct, frozen=True):
    """Whether an action was performed, and a message about it."""

    ok: bool
    message: str
