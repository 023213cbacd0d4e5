"""The Sessions view's requests: days and the sessions of a day, from the catalog, cleaned for display."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from lerim.lsp.protocol import DaysParams, SessionsParams
from lerim.lsp.window import Sidecar
from lerim.sessions import Catalog, browsing, convert_sqlite_errors
from lerim.views import SessionView, make_session_view

R = TypeVar("R")

PAGE_SESSIONS = 200
"""Sessions per answer."""


class DayView(msgspec.Struct, frozen=True):
    """A day in local time (`2026-11-21`, '' for sessions without a time) and the number of sessions that ended on
    it."""

    day: str
    sessions: int


class DaysView(msgspec.Struct, frozen=True):
    """The days with sessions, newest first."""

    days: list[DayView]


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
    """Returns one page of a day's sessions."""
    sidecar.require_trust("The list of sessions")
    projects = await list_project_keys(sidecar, params.everywhere)
    return await sidecar.run_in_thread(query_catalog, sidecar, _load_sessions, SessionsView([], 0), projects, params)


async def list_project_keys(sidecar: Sidecar, everywhere: bool) -> list[str] | None:
    """Returns the keys of the window's projects; None for every project."""
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
