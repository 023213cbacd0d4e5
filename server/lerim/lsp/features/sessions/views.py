"""The Sessions view's requests: days, the sessions of a day, search. The catalog answers; what leaves it is clean."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from lerim.lsp.protocol import DaysParams, DaysView, DayView, SessionsParams, SessionsView, SessionView, TokensView
from lerim.lsp.window import Sidecar
from lerim.memory import format_time
from lerim.redaction import clean_text
from lerim.sessions import Catalog, SessionListItem, browsing, convert_sqlite_errors

R = TypeVar("R")

PAGE = 200
"""Sessions in one answer."""
MAX_TITLE = 200
MAX_LISTED = 20
"""Branches, models or folders named of one session."""
NAMES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "cursor": "Cursor",
    "opencode": "OpenCode",
    "copilot": "GitHub Copilot",
    "gemini": "Gemini CLI",
}
"""What people call each agent; the readers say the same, but are not to be imported for it."""
SPACES = re.compile(r"\s+")


async def list_days(sidecar: Sidecar, params: DaysParams) -> DaysView:
    """The days with sessions of the window's repositories, or of the whole machine."""
    sidecar.trust("The list of sessions")
    projects = await list_project_keys(sidecar, params.everywhere)
    return await sidecar.run(query_catalog, sidecar, _days, DaysView([]), projects)


async def list_sessions(sidecar: Sidecar, params: SessionsParams) -> SessionsView:
    """One page of a day's sessions."""
    sidecar.trust("The list of sessions")
    projects = await list_project_keys(sidecar, params.everywhere)
    return await sidecar.run(query_catalog, sidecar, _listed, SessionsView([], 0), projects, params)


async def list_project_keys(sidecar: Sidecar, everywhere: bool) -> list[str] | None:
    """The keys of the window's projects; None for every project."""
    return None if everywhere else [repo.project.key for repo in await sidecar.repos.load()]


def query_catalog(sidecar: Sidecar, work: Callable[..., R], without: R, *arguments: object) -> R:
    """Looks something up in the catalog (in the executor); `without` where there is none, and none is made."""
    if not sidecar.home.catalog.exists():
        return without
    with Catalog.open(sidecar.home) as catalog, convert_sqlite_errors(catalog.path):
        return work(catalog.db, *arguments)


def _days(db: sqlite3.Connection, projects: Sequence[str] | None) -> DaysView:
    return DaysView([DayView(day, number) for day, number in browsing.list_days(db, projects)])


def _listed(db: sqlite3.Connection, projects: Sequence[str] | None, params: SessionsParams) -> SessionsView:
    found, total = browsing.list_day_sessions(db, projects, params.day, max(0, params.start), PAGE)
    return SessionsView([make_session_view(one) for one in found], total)


def make_session_view(one: SessionListItem) -> SessionView:
    """A session as the editor may show it."""
    return SessionView(
        id=one.place,
        session=clean_line(one.session_id),
        platform=one.platform,
        agent=NAMES.get(one.platform, one.platform),
        title=session_title(one),
        started=wire_time(one.started),
        ended=wire_time(one.ended),
        folder=clean_line(one.cwds[0]) if one.cwds else "",
        branches=[clean_line(name) for name in one.branches[:MAX_LISTED]],
        models=[clean_line(name) for name in one.models[:MAX_LISTED]],
        files=one.files,
        turns=one.turns,
        prompts=one.prompts,
        tool_calls=one.tool_calls,
        tool_errors=one.tool_errors,
        denials=one.denials,
        tokens=None if one.tokens is None else TokensView(*_counts(one)),
        cost=one.cost,
        parent=clean_line(one.parent),
        parent_missing=one.parent_missing,
        gone=one.vanished,
        error=clean_line(one.error),
    )


def session_title(one: SessionListItem) -> str:
    """What a session is called: its title, else how it begins, else its id."""
    return clean_line(one.title or one.opening) or f"Session {clean_line(one.session_id)[:8]}"


def clean_line(text: str) -> str:
    """A text from a session as one short line that may be shown; redacted whole, then cut."""
    return shorten_line(SPACES.sub(" ", clean_text(text)).strip(), MAX_TITLE)


def shorten_line(text: str, limit: int) -> str:
    """At most `limit` characters, the last an ellipsis where something is left out."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def wire_time(time: datetime | None) -> str:
    """A time as it goes over the wire, '' for none."""
    return format_time(time) if time is not None else ""


def _counts(one: SessionListItem) -> tuple[int, int, int, int]:
    assert one.tokens is not None
    return one.tokens.input, one.tokens.output, one.tokens.cache_read, one.tokens.cache_write
