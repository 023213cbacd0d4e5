"""The start of a project: what waits, what has drifted, what was learned, and the last sessions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from heapq import nlargest

from starlette.requests import Request
from starlette.responses import Response

from lerim.errors import LerimError
from lerim.memory import WRONG_STATES, MemoryFilters, MemorySearch, MemoryView, Primitive, memory_view
from lerim.project import list_projects
from lerim.review import pending_count, queue
from lerim.sessions import EXTRACT_JOB, SessionListItem, browsing, session_title
from lerim.times import format_utc
from lerim.web.pages.endpoints import redirect
from lerim.web.pages.place import Place, find_place, list_places
from lerim.web.pages.rendering import make_project_address, prepare_rendering, render_page
from lerim.web.served import Served, find_served

MAX_SHOWN = 8
LEARNED_DAYS = 7
DRIFTED = MemoryFilters(drift_states=WRONG_STATES)
_COUNTED: tuple[Primitive, ...] = ("decision", "learning", "question", "theme")


@dataclass(frozen=True, slots=True)
class ProjectRow:
    """A project in the list of projects, with the number of candidates that wait."""

    place: Place
    folder: str
    pending: int


@dataclass(frozen=True, slots=True)
class RecentWork:
    """The last sessions with their titles, how many jobs are waiting, and how many have failed."""

    sessions: Sequence[tuple[SessionListItem, str]] = ()
    waiting_jobs: int = 0
    failed_jobs: int = 0


def prepare_first_page(served: Served) -> None:
    """Loads what the first page needs, for somebody who is about to open the dashboard. With one project the memories
    are opened, too; with several, their list comes first."""
    prepare_rendering(("projects.html", "today.html"))
    projects, _ = list_projects(served.home)
    if len(projects) == 1:
        with suppress(LerimError), served.searches.use(projects[0], served.home):  # the page itself tells of it
            pass


def show_projects(request: Request) -> Response:
    """Lists the projects; goes to the project if there is only one and the person has no memories of their own."""
    served = find_served(request)
    problems = list_projects(served.home)[1]
    rows: list[ProjectRow] = []
    for place in list_places(served):
        try:
            pending = pending_count.count_pending(place.paths)
        except LerimError as error:
            pending = 0
            problems.append(error.problem())
        if pending or not place.project.is_personal or served.home.memory.is_dir():
            rows.append(ProjectRow(place, str(place.project.root), pending))
    if len(rows) == 1 and not problems and not request.query_params:
        return redirect(make_project_address(rows[0].place, "today").unescape())
    has_projects = any(not row.place.project.is_personal for row in rows)
    context = {"rows": rows, "problems": problems, "has_projects": has_projects}
    return render_page(request, "projects.html", "Projects", context)


def show_today(request: Request) -> Response:
    """Shows the start of a project."""
    place = find_place(request)
    now = place.served.clock()
    waiting = queue.list_pending_page(place.paths, 0, MAX_SHOWN, best_first=True)
    with place.open_search() as search:
        drifted = search.search("", MAX_SHOWN, DRIFTED)
        learned = _list_learned(place, search, now - timedelta(days=LEARNED_DAYS))
        counts = [(name, search.count(MemoryFilters(primitives=(name,)))) for name in _COUNTED]
        drifted_count = search.count(DRIFTED)
        problems = [*waiting.problems, *search.problems]
    work = _load_recent_work(place)
    context = {
        "now": now,
        "counts": [(name, number) for name, number in counts if number],
        "pending": len(waiting.ids),
        "waiting": waiting.proposals,
        "drifted": [memory_view(hit.stored, hit.scope, hit.drift) for hit in drifted],
        "drifted_count": drifted_count,
        "learned": learned,
        "sessions": work.sessions,
        "waiting_jobs": work.waiting_jobs,
        "failed_jobs": work.failed_jobs,
        "problems": problems,
    }
    return render_page(request, "today.html", "Today", context, place=place, section="today")


def _list_learned(place: Place, search: MemorySearch, since: datetime) -> list[tuple[MemoryView, str]]:
    """Returns what you accepted since then, however old its session is, the last first; then what was changed since;
    each with the time at which that was."""
    times = {memory: time for memory, time in queue.acceptance_times(place.paths).items() if time >= since}
    loaded = {one.record.id: one for one in search.load_active(nlargest(MAX_SHOWN, times, key=times.__getitem__))}
    newest_first = sorted(loaded.values(), key=lambda one: times[one.record.id], reverse=True)
    accepted = [(memory_view(one, place.scope), format_utc(times[one.record.id])) for one in newest_first]
    changed = search.search("", MAX_SHOWN, MemoryFilters(since=since))
    others = [memory_view(hit.stored, hit.scope, hit.drift) for hit in changed if hit.record.id not in loaded]
    return [*accepted, *((view, view.updated) for view in others)][:MAX_SHOWN]


def _load_recent_work(place: Place) -> RecentWork:
    with place.open_catalog() as catalog:
        if catalog is None:
            return RecentWork()
        sessions, _ = browsing.list_recent_sessions(catalog.db, [place.project.key], 0, MAX_SHOWN)
        jobs = catalog.count_jobs_by_state(place.project.key, EXTRACT_JOB)
    return RecentWork(
        [(session, session_title(session)) for session in sessions],
        jobs.get("pending", 0),
        jobs.get("failed", 0) + jobs.get("dead", 0),
    )
