"""Sessions of every agent: lists, search, one session; and figures over them."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from lerim.project import Project
from lerim.sessions import Platform, SessionFilters
from lerim.statistics import Statistics
from lerim.views import (
    SessionListOutput,
    ShownSessionOutput,
    SignalStatisticsOutput,
    TurnSearchOutput,
    find_project_by_key,
    load_session,
    load_session_list,
    load_signal_statistics,
    load_statistics,
    search_turns,
)
from lerim.web.api.memories import ShortText, parse_query_time
from lerim.web.api.operations import Call, Limit, Operation


class SessionQuery(msgspec.Struct, frozen=True, kw_only=True):
    """The filters of `lerim sessions list`. `project` is a project's key; without it, all sessions count."""

    project: ShortText = ""
    agent: Platform | None = None
    branch: ShortText = ""
    model: ShortText = ""
    file: ShortText = ""
    failed: bool = False
    since: ShortText = ""
    until: ShortText = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 50


class SessionSearchQuery(SessionQuery, frozen=True, kw_only=True):
    """What to search for, and whether to list all turns that match or the best one of each session."""

    q: ShortText
    by: Literal["turn", "session"] = "turn"
    limit: Limit = 50


class SessionPartQuery(msgspec.Struct, frozen=True, kw_only=True):
    """`turn` is the id or number of one turn; "" is all of them."""

    turn: ShortText = ""


class SignalQuery(msgspec.Struct, frozen=True, kw_only=True):
    """Which proposals count."""

    project: ShortText = ""
    since: ShortText = ""
    until: ShortText = ""


class StatisticsQuery(SignalQuery, frozen=True, kw_only=True):
    """How to group the figures, and which sessions count."""

    by: Literal["day", "agent", "model", "repo"] = "day"


def list_sessions(call: Call, query: SessionQuery) -> SessionListOutput:
    """Returns sessions, most recently ended first."""
    return load_session_list(call.home, _make_filters(call, query), query.limit)


def search_sessions(call: Call, query: SessionSearchQuery) -> TurnSearchOutput:
    """Returns the turns that match, best first."""
    filters = _make_filters(call, query)
    return search_turns(call.home, query.q, filters, query.limit, by_session=query.by == "session")


def show_session(call: Call, query: SessionPartQuery) -> ShownSessionOutput:
    """Returns a session with its turns and its summary, or one turn."""
    return load_session(call.home, call.path["session"], query.turn)


def show_statistics(call: Call, query: StatisticsQuery) -> Statistics:
    """Returns sessions, prompts, tool calls, tokens and costs in groups."""
    since, until = parse_query_time(query.since, "since"), parse_query_time(query.until, "until")
    return load_statistics(call.home, query.by, _find_project(call, query.project), since, until)


def show_signals(call: Call, query: SignalQuery) -> SignalStatisticsOutput:
    """Returns what each signal proposed, and what was decided about it."""
    since, until = parse_query_time(query.since, "since"), parse_query_time(query.until, "until")
    return load_signal_statistics(call.home, _find_project(call, query.project), since, until)


def _make_filters(call: Call, query: SessionQuery) -> SessionFilters:
    project = _find_project(call, query.project)
    return SessionFilters(
        projects=(project.key,) if project else None,
        agent=query.agent,
        branch=query.branch,
        model=query.model,
        file=query.file,
        since=parse_query_time(query.since, "since"),
        until=parse_query_time(query.until, "until"),
        failed=query.failed,
    )


def _find_project(call: Call, key: str) -> Project | None:
    return find_project_by_key(key, call.home) if key else None


operations = [
    Operation("GET", "/sessions", "List sessions", list_sessions),
    Operation("GET", "/sessions/search", "Search sessions", search_sessions),
    Operation("GET", "/sessions/{session}", "Show a session", show_session),
    Operation("GET", "/statistics", "Show figures over sessions", show_statistics),
    Operation("GET", "/statistics/signals", "Show what became of proposals", show_signals),
]
