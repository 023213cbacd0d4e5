"""The Sessions view's requests: days and the sessions of a day, from the catalog, cleaned for display."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

import msgspec

from lerim.lsp.protocol import DaysParams, SessionsParams
from lerim.lsp.window import Sidecar
from lerim.memory import format_time
from lerim.sessions import (
    Catalog,
    SessionListItem,
    Tokens,
    agent_name,
    browsing,
    clean_line,
    convert_sqlite_errors,
    session_title,
)

R = TypeVar("R")

PAGE_SESSIONS = 200
"""Sessions per answer."""
MAX_NAMES = 20
"""Most branches or models listed for one session."""


class DayView(msgspec.Struct, frozen=True):
    """A day in local time (`2026-11-21`, '' for sessions without a time) and the number of sessions that ended on
    it."""

    day: str
    sessions: int


class DaysView(msgspec.Struct, frozen=True):
    """The days with sessions, newest first."""

    days: list[DayView]


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
    tokens: Tokens | None
    cost: float | None
    parent: str
    parent_missing: bool
    gone: bool
    error: str


class SessionsView(msgspec.Struct, frozen=True):
    """One page of a day's sessions, newest first; `total` counts all of them."""

    sessions: list[SessionView]
    total: int


async def list_days(sidecar: Sidecar, params: DaysParams) -> DaysView:
    """Lists the days with sessions of the window's repositories, or of the whole machine."""
    sidecar.require_trust("The list of sessions")
    projects = await list_project_keys(sidecar, params.everywhere)
    return await sidecar.run_in_thread(query_catalog, sidecar, _load_days, DaysView([]), projects)


async def list_sessions(sidecar: Sidecar, params: SessionsParams) -> SessionsView:
    """One page of a day's sessions."""
    sidecar.require_trust("The list of sessions")
    projects = await list_project_keys(sidecar, params.everywhere)
    return await sidecar.run_in_thread(query_catalog, sidecar, _load_sessions, SessionsView([], 0), projects, params)


async def list_project_keys(sidecar: Sidecar, everywhere: bool) -> list[str] | None:
    """The keys of the window's projects; None for every project."""
    return None if everywhere else [repo.project.key for repo in await sidecar.repos.load()]


def query_catalog(sidecar: Sidecar, work: Callable[..., R], default: R, *arguments: object) -> R:
    """Queries the catalog (blocking). Returns `default` if there is no catalog; none is created."""
    if not sidecar.home.catalog.exists():
        return default
    with Catalog.open(sidecar.home) as catalog, convert_sqlite_errors(catalog.path):
        return work(catalog.db, *arguments)


def _load_days(db: sqlite3.Connection, projects: Sequence[str] | None) -> DaysView:
    return DaysView([DayView(day, number) for day, number in browsing.list_days(db, projects)])


def _load_sessions(db: sqlite3.Connection, projects: Sequence[str] | None, params: SessionsParams) -> SessionsView:
    found, total = browsing.list_recent_sessions(db, projects, max(0, params.start), PAGE_SESSIONS, params.day)
    return SessionsView([make_session_view(session) for session in found], total)


def make_session_view(session: SessionListItem) -> SessionView:
    """Makes the view of a session, cleaned for display."""
    return SessionView(
        id=session.place,
        session=clean_line(session.session_id),
        platform=session.platform,
        agent=agent_name(session.platform),
        title=session_title(session),
        started=wire_time(session.started),
        ended=wire_time(session.ended),
        folder=clean_line(session.cwds[0]) if session.cwds else "",
        branches=[clean_line(name) for name in session.branches[:MAX_NAMES]],
        models=[clean_line(name) for name in session.models[:MAX_NAMES]],
        files=session.files,
        turns=session.turns,
        prompts=session.prompts,
        tool_calls=session.tool_calls,
        tool_errors=session.tool_errors,
        denials=session.denials,
        tokens=session.tokens,
        cost=session.cost,
        parent=clean_line(session.parent),
        parent_missing=session.parent_missing,
        gone=session.vanished,
        error=clean_line(session.error),
    )


def wire_time(time: datetime | None) -> str:
    """A time as sent to the editor; '' for None."""
    return format_time(time) if time is not None else ""
