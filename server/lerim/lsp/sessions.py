"""The Sessions view's requests: days, the sessions of a day, search. The catalog answers; what leaves it is clean."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from lerim.lsp.session_protocol import (
    DaysParams,
    DaysView,
    DayView,
    SessionsParams,
    SessionsView,
    SessionView,
    TokensView,
)
from lerim.lsp.sidecar import Sidecar
from lerim.memory.lines import moment
from lerim.redaction import clean
from lerim.sessions import browsing
from lerim.sessions.browsing import Brief
from lerim.sessions.catalog import Catalog
from lerim.sessions.catalog_schema import telling

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


async def days(sidecar: Sidecar, params: DaysParams) -> DaysView:
    """The days with sessions of the window's repositories, or of the whole machine."""
    sidecar.trust("The list of sessions")
    projects = await own(sidecar, params.everywhere)
    return await sidecar.run(read, sidecar, _days, DaysView([]), projects)


async def listed(sidecar: Sidecar, params: SessionsParams) -> SessionsView:
    """One page of a day's sessions."""
    sidecar.trust("The list of sessions")
    projects = await own(sidecar, params.everywhere)
    return await sidecar.run(read, sidecar, _listed, SessionsView([], 0), projects, params)


async def own(sidecar: Sidecar, everywhere: bool) -> list[str] | None:
    """The keys of the window's projects; None for every project."""
    return None if everywhere else [repo.project.key for repo in await sidecar.repos.load()]


def read(sidecar: Sidecar, work: Callable[..., R], without: R, *arguments: object) -> R:
    """Looks something up in the catalog (in the executor); `without` where there is none, and none is made."""
    if not sidecar.home.catalog.exists():
        return without
    with Catalog.open(sidecar.home) as catalog, telling(catalog.path):
        return work(catalog.db, *arguments)


def _days(db: sqlite3.Connection, projects: Sequence[str] | None) -> DaysView:
    return DaysView([DayView(day, number) for day, number in browsing.days(db, projects)])


def _listed(db: sqlite3.Connection, projects: Sequence[str] | None, params: SessionsParams) -> SessionsView:
    found, total = browsing.of_day(db, projects, params.day, max(0, params.start), PAGE)
    return SessionsView([view(one) for one in found], total)


def view(one: Brief) -> SessionView:
    """A session as the editor may show it."""
    return SessionView(
        id=one.place,
        session=line(one.session),
        platform=one.platform,
        agent=NAMES.get(one.platform, one.platform),
        title=title(one),
        started=when(one.started),
        ended=when(one.ended),
        folder=line(one.cwds[0]) if one.cwds else "",
        branches=[line(name) for name in one.branches[:MAX_LISTED]],
        models=[line(name) for name in one.models[:MAX_LISTED]],
        files=one.files,
        turns=one.turns,
        prompts=one.prompts,
        tool_calls=one.tool_calls,
        tool_errors=one.tool_errors,
        denials=one.denials,
        tokens=None if one.tokens is None else TokensView(*_counts(one)),
        cost=one.cost,
        parent=line(one.parent),
        parent_missing=one.parent_missing,
        gone=one.vanished,
        error=line(one.error),
    )


def title(one: Brief) -> str:
    """What a session is called: its title, else how it begins, else its id."""
    return line(one.title or one.opening) or f"Session {line(one.session)[:8]}"


def line(text: str) -> str:
    """A text from a session as one short line that may be shown; redacted whole, then cut."""
    return shorten(SPACES.sub(" ", clean(text)).strip(), MAX_TITLE)


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, the last an ellipsis where something is left out."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def when(time: datetime | None) -> str:
    """A time as it goes over the wire, '' for none."""
    return moment(time) if time is not None else ""


def _counts(one: Brief) -> tuple[int, int, int, int]:
    assert one.tokens is not None
    return one.tokens.input, one.tokens.output, one.tokens.cache_read, one.tokens.cache_write
