"""Parses what a person types into the search of sessions: words, and filters such as `agent:codex since:14d`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import datetime

from lerim.sessions.model import PLATFORM_NAMES
from lerim.sessions.search.query import SessionFilters
from lerim.times import parse_time

_FILTER = re.compile(r'(?<!\S)(agent|repo|branch|model|file|since|until|failed):(?:"([^"]*)"|(\S*))', re.IGNORECASE)
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query: its words, its filters, the repository it names, and problems with its filters."""

    words: str
    filters: SessionFilters
    repo: str
    problems: tuple[str, ...]


def parse_session_query(query: str, now: datetime) -> ParsedQuery:
    """Parses a query. Any text is valid: whatever is not a known filter counts as words."""
    filters, repo = SessionFilters(), ""
    problems: list[str] = []
    for found in _FILTER.finditer(query):
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
    words = _SPACES.sub(" ", _FILTER.sub(" ", query)).strip()
    return ParsedQuery(words, filters, repo, tuple(problems))
