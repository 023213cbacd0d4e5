"""The Sessions view's search: finds turns, and shows each with a snippet."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

import msgspec

from lerim.lsp.features.sessions import listing
from lerim.lsp.protocol import SessionSearchParams
from lerim.lsp.window import Sidecar
from lerim.project import list_projects
from lerim.sessions import (
    Catalog,
    ParsedQuery,
    Role,
    TurnRow,
    agent_name,
    browsing,
    make_turn_snippet,
    parse_session_query,
    session_title,
)
from lerim.times import format_utc

MAX_QUERY = 1000
MAX_HITS = 200


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


async def search_sessions(sidecar: Sidecar, params: SessionSearchParams) -> HitsView:
    """Finds matching turns, best first."""
    sidecar.require_trust("Search in sessions")
    query = parse_session_query(params.query[:MAX_QUERY], sidecar.clock())
    projects = await listing.list_project_keys(sidecar, params.everywhere or bool(query.repo))
    limit = max(1, min(params.limit, MAX_HITS))
    return await sidecar.run_in_thread(_search_catalog, sidecar, query, projects, limit)


def _search_catalog(sidecar: Sidecar, query: ParsedQuery, projects: Sequence[str] | None, limit: int) -> HitsView:
    problems = list(query.problems)
    if query.repo:
        matching = [
            one
            for one in list_projects(sidecar.home)[0]
            if query.repo.lower() in (one.name.lower(), one.root.name.lower())
        ]
        projects = [one.key for one in matching]
        if not matching:
            problems.append(f"repo: Lerim knows no repository called {query.repo!r}.")
    filters = replace(query.filters, projects=None if projects is None else tuple(projects))
    if problems or not sidecar.home.catalog.exists():
        return HitsView([], problems)
    with Catalog.open(sidecar.home) as catalog:
        found = catalog.search_turns(query.words, limit=limit, filters=filters)
        return HitsView(
            [hit for row in found if (hit := _make_hit(catalog.db, row, query.words)) is not None], problems
        )


def _make_hit(db: sqlite3.Connection, row: TurnRow, words: str) -> HitView | None:
    location = browsing.locate_turn(db, row.id)
    session = browsing.find_list_item(db, location[0]) if location is not None else None
    if session is None:
        return None
    return HitView(
        id=session.place,
        turn=row.id,
        platform=row.platform,
        agent=agent_name(row.platform),
        title=session_title(session),
        time=format_utc(row.time or session.ended),
        role=row.role,
        snippet=make_turn_snippet(row.text, row.tools, words),
    )
