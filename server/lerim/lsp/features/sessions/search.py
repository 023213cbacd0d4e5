"""Searches sessions: parses a query into words and filters, and makes snippets that are safe to show."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from lerim.lsp.features.sessions import views
from lerim.lsp.protocol import HitsView, HitView, SessionSearchParams
from lerim.lsp.window import Sidecar
from lerim.project import list_projects
from lerim.redaction import clean_text
from lerim.sessions import PLATFORM_NAMES, Catalog, SessionFilters, TurnRow, browsing
from lerim.times import parse_time

MAX_QUERY = 1000
MAX_HITS = 200
MAX_SNIPPET_SOURCE = 200_000
"""Characters of a turn searched for its snippet. All text before the match is redacted: a secret may begin anywhere."""
BEFORE, AFTER, MARGIN = 60, 140, 2_000
FILTER = re.compile(r'(?<!\S)(agent|repo|branch|model|file|since|until|failed):(?:"([^"]*)"|(\S*))', re.IGNORECASE)
WORD = re.compile(r"\w+")
SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query: its words, its filters, the repository it names, and problems with its filters."""

    words: str
    filters: SessionFilters
    repo: str
    problems: tuple[str, ...]


async def search_sessions(sidecar: Sidecar, params: SessionSearchParams) -> HitsView:
    """Finds matching turns, best first."""
    sidecar.require_trust("Search in sessions")
    query = parse_session_query(params.query[:MAX_QUERY], sidecar.clock())
    projects = await views.list_project_keys(sidecar, params.everywhere or bool(query.repo))
    limit = max(1, min(params.limit, MAX_HITS))
    return await sidecar.run_in_thread(_search_catalog, sidecar, query, projects, limit)


def parse_session_query(query: str, now: datetime) -> ParsedQuery:
    """Parses a query. Any text is valid: whatever is not a known filter counts as words."""
    filters, repo = SessionFilters(), ""
    problems: list[str] = []
    for found in FILTER.finditer(query):
        name, value = found[1].lower(), found[2] if found[2] is not None else found[3]
        if name == "failed":
            filters = replace(filters, failed=True)
        elif not value:
            problems.append(f"{name}: needs a value.")
        elif name == "agent":
            agent = next((key for key, said in PLATFORM_NAMES.items() if value.lower() in (key, said.lower())), None)
            if agent is None:
                problems.append(f"agent: {value!r} is unknown; there are {', '.join(PLATFORM_NAMES)}.")
            filters = replace(filters, agent=agent)
        elif name == "repo":
            repo = value
        elif name in ("since", "until"):
            try:
                when = parse_time(value, now)
            except ValueError as error:
                problems.append(f"{name}: {error}.")
                continue
            filters = replace(filters, since=when) if name == "since" else replace(filters, until=when)
        elif name == "branch":
            filters = replace(filters, branch=value)
        elif name == "model":
            filters = replace(filters, model=value)
        else:
            filters = replace(filters, file=value.replace("\\", "/"))
    words = SPACES.sub(" ", FILTER.sub(" ", query)).strip()
    return ParsedQuery(words, filters, repo, tuple(problems))


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
        agent=PLATFORM_NAMES.get(row.platform, row.platform),
        title=views.session_title(session),
        time=views.wire_time(row.time or session.ended),
        role=row.role,
        snippet=make_snippet(row.text, words)
        or make_snippet(row.tools, words)
        or make_snippet(row.text or row.tools, ""),
    )


def make_snippet(text: str, words: str) -> str:
    """The text around the first match of any word, as one line without secrets; '' if none occurs. Without words, the
    beginning of the text."""
    search_words = [word.lower() for word in WORD.findall(words)]
    position = _find_first(text[:MAX_SNIPPET_SOURCE].lower(), search_words)
    if position is None:
        return ""
    shown = SPACES.sub(" ", clean_text(text[: position + MARGIN])).strip()
    match = _find_first(shown.lower(), search_words)
    start = max(0, (match or 0) - BEFORE)
    end = start + BEFORE + AFTER
    return f"{'…' if start else ''}{shown[start:end].strip()}{'…' if end < len(shown) else ''}"


def _find_first(low: str, search_words: Sequence[str]) -> int | None:
    if not search_words:
        return 0
    return min((position for word in search_words if (position := low.find(word)) >= 0), default=None)
