"""The sessions of a project: the last ones, search, and a session's transcript."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from lerim.errors import NotFoundError
from lerim.sessions import (
    SessionListItem,
    TurnRow,
    browsing,
    convert_sqlite_errors,
    load_transcript_page,
    make_turn_snippet,
    parse_session_query,
    session_title,
)
from lerim.views import SummaryView, describe_copied_turns, find_folder_projects, find_summary_view
from lerim.web.pages.endpoints import read_number, redirect
from lerim.web.pages.place import Place, find_place
from lerim.web.pages.rendering import Pager, make_project_address, render_page

PAGE_SIZE = 30
MAX_HITS = 200
MAX_QUERY = 1000
PAGE_TURNS = 40
MAX_PLACE = 4_000
FILTER_HELP = "agent:codex branch:main model:claude file:src/app.py failed: since:14d"


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session in a list; of a search also the turn that was found."""

    session: SessionListItem
    title: str
    turn: str = ""
    snippet: str = ""


def show_sessions(request: Request) -> Response:
    """Searches the turns of the project's sessions; without a query, lists the sessions that ended last."""
    place = find_place(request)
    typed, start = request.query_params.get("q", "")[:MAX_QUERY], read_number(request, "start")
    rows: Sequence[SessionRow] = ()
    total: int | None = None
    more = False
    query = parse_session_query(typed, place.served.clock())
    with place.open_catalog() as catalog:
        if catalog is not None and not typed.strip():
            sessions, total = browsing.list_recent_sessions(catalog.db, [place.project.key], start, PAGE_SIZE)
            rows = [SessionRow(session, session_title(session)) for session in sessions]
        elif catalog is not None and not query.problems:
            filters = replace(query.filters, projects=(place.project.key,))
            end = min(start + PAGE_SIZE, MAX_HITS)
            found = catalog.search_turns(query.words, limit=end + 1, filters=filters)
            more = end < MAX_HITS and len(found) > end
            with convert_sqlite_errors(catalog.path):
                sessions_of = browsing.find_turn_sessions(catalog.db, [turn.id for turn in found[start:end]])
            rows = [
                _make_hit_row(sessions_of[turn.id], turn, query.words)
                for turn in found[start:end]
                if turn.id in sessions_of
            ]
    context = {
        "query": typed,
        "rows": rows,
        "pager": Pager(start, len(rows), PAGE_SIZE, total, more=more),
        "query_problems": query.problems,
        "filter_help": FILTER_HELP,
    }
    return render_page(request, "sessions.html", "Sessions", context, place=place, section="sessions")


def show_turn(request: Request) -> Response:
    """Goes to a turn in the transcript of its session. Raises NotFoundError if it is not on this machine."""
    place, turn = find_place(request), request.query_params.get("turn", "")[:MAX_PLACE]
    with place.open_catalog() as catalog:
        found = browsing.locate_turn(catalog.db, turn) if catalog is not None else None
    if found is None:
        raise NotFoundError(
            "This turn is not on this machine.",
            where=turn[:80],
            todo="Agents delete their transcripts after some weeks, and a teammate's are not on this machine.",
        )
    address = make_project_address(place, "sessions", "show", place=found[0], turn=turn).unescape()
    return redirect(f"{address}#turn-{turn}")


def show_transcript(request: Request) -> Response:
    """Shows some turns of a session; with `turn`, those around it."""
    place = find_place(request)
    session_place, turn = request.query_params.get("place", "")[:MAX_PLACE], request.query_params.get("turn", "")
    start = read_number(request, "start")
    with place.open_catalog() as catalog:
        session = browsing.find_list_item(catalog.db, session_place) if catalog is not None else None
        if catalog is None or session is None:
            raise NotFoundError("This session is not on this machine.", todo="Run a sync, or choose another one.")
        outline = browsing.load_outline(catalog.db, session.place, turn)
        if outline.position >= 0 and "start" not in request.query_params:
            start = outline.position - outline.position % PAGE_TURNS
        turns = load_transcript_page(catalog.db, session.place, start, PAGE_TURNS)
    total = len(outline.kinds)
    context = {
        "summary": _find_summary(place, session),
        "turns": turns,
        "turn": turn,
        "copied": describe_copied_turns(session.turns - total, total),
        "pager": Pager(start, len(turns), PAGE_TURNS, total),
    }
    return _render_transcript(request, place, session, context)


def show_whole_turn(request: Request) -> Response:
    """Shows one turn without a cut."""
    place = find_place(request)
    session_place, at = request.query_params.get("place", "")[:MAX_PLACE], read_number(request, "at")
    with place.open_catalog() as catalog:
        session = browsing.find_list_item(catalog.db, session_place) if catalog is not None else None
        turns = load_transcript_page(catalog.db, session_place, at, 1, whole=True) if catalog is not None else []
    if session is None or not turns:
        raise NotFoundError("This turn is not on this machine.", todo="Open its session again.")
    context = {"summary": None, "turns": turns, "turn": turns[0].turn, "copied": "", "pager": Pager(at, 1, 1)}
    return _render_transcript(request, place, session, context)


def _render_transcript(
    request: Request, place: Place, session: SessionListItem, context: Mapping[str, object]
) -> Response:
    title = session_title(session)
    context = {**context, "session": session, "session_title": title}
    return render_page(request, "transcript.html", title, context, place=place, section="sessions")


def _make_hit_row(session: SessionListItem, turn: TurnRow, words: str) -> SessionRow:
    snippet = make_turn_snippet(turn.text, turn.tools, words)
    return SessionRow(session, session_title(session), turn.id, snippet)


def _find_summary(place: Place, session: SessionListItem) -> SummaryView | None:
    projects = find_folder_projects(session.cwds, place.home)
    return find_summary_view(projects, place.home, session.platform, session.session_id)
