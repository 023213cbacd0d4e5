"""The memories of a project: search, one memory, and acts on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response

from lerim.errors import LerimError, StaleError, UsageError
from lerim.memory import (
    Drift,
    DriftChecker,
    MemoryLinks,
    StoredMemory,
    Uses,
    baselines,
    find_wrong_filters,
    make_drift_subject,
    memory_view,
    parse_memory_query,
    parse_reference,
)
from lerim.review import ReviewResult, acts, find_ending, queue
from lerim.views import describe_source, match_referenced_files, refresh_agent_files
from lerim.web.pages.endpoints import Form, read_edit, read_number, redirect
from lerim.web.pages.place import Place, find_place
from lerim.web.pages.rendering import Pager, make_project_address, render_page

PAGE_SIZE = 30
MAX_QUERY = 1000
FILTER_HELP = "kind:pitfall tag:x file:src/app.py is:drifted is:archived since:30d"


@dataclass(frozen=True, slots=True)
class LinkedMemory:
    """A memory that the shown one is linked to: how, its id and its title, which is its id if it cannot be read."""

    relation: str
    id: str
    title: str


def show_memories(request: Request) -> Response:
    """Searches the memories; without a query, lists them, the last changed first."""
    place = find_place(request)
    typed = request.query_params.get("q", "")[:MAX_QUERY]
    start = read_number(request, "start")
    query, filters = parse_memory_query(typed, place.served.clock())
    filters = replace(filters, files=tuple(found for one in filters.files for found in _resolve_file(place, one)))
    with place.open_search() as search:
        hits = search.search(query, PAGE_SIZE + 1, filters, start=start)
        total = search.count(filters) if not typed.strip() else None
        problems = [*search.problems, *find_wrong_filters(typed)]
    views = [memory_view(hit.stored, hit.scope, hit.drift) for hit in hits[:PAGE_SIZE]]
    context = {
        "query": typed,
        "views": views,
        "count": total,
        "pager": Pager(start, len(views), PAGE_SIZE, more=len(hits) > PAGE_SIZE),
        "problems": problems,
        "filter_help": FILTER_HELP,
    }
    return render_page(request, "memories.html", "Memories", context, place=place, section="memories")


def _resolve_file(place: Place, name: str) -> tuple[str, ...]:
    """Returns what a file filter selects, as `lerim memory search` does."""
    reference = None if place.project.is_personal else parse_reference(name)
    return (name,) if reference is None else match_referenced_files(place.paths, reference)


def show_memory(request: Request) -> Response:
    """Shows one memory with its quotes, its source, its links and how fresh it is. Opening it counts as a use."""
    place, memory_id = find_place(request), str(request.path_params["memory"])
    shown = _render_memory(request, place, memory_id)
    Uses(place.paths.private).record_use([memory_id], "opened", place.served.clock())
    return shown


def act_on_memory(request: Request, form: Form) -> Response:
    """Edits, rates, archives, restores or verifies a memory, unless its text has changed since it was shown."""
    place, memory_id = find_place(request), str(request.path_params["memory"])
    try:
        stored = place.paths.store().load_by_id(memory_id)
        if stored.text_hash != form.get("seen"):
            raise StaleError(
                "This memory has changed since it was shown. Nothing was changed.",
                where=str(stored.path),
                todo="Check its new text, then decide again.",
            )
        result = _act(place, stored, form)
        if not result.ok:
            raise UsageError(result.message)
        refresh_agent_files(place.project, place.home)
    except LerimError as error:
        return _render_memory(request, place, memory_id, refused=error)
    return redirect(make_project_address(place, "memories", memory_id, done=result.action or "").unescape())


def _act(place: Place, stored: StoredMemory, form: Form) -> ReviewResult:
    memory_id = stored.record.id
    match form.get("action", ""):
        case "edit":
            view = memory_view(stored, place.scope)
            if (edit := read_edit(form, view.title, view.body, view.tags)) is not None:
                return acts.edit_memory(place.paths, memory_id, edit)
        case "useful" | "wrong" | "outdated" as feedback:
            return acts.give_feedback(place.paths, memory_id, feedback)
        case "archive":
            return acts.archive_memory(place.paths, memory_id)
        case "restore":
            return acts.restore_memory(place.paths, memory_id)
        case "verify":
            return acts.verify_memory(place.paths, memory_id)
    raise UsageError("The form names no action.", todo="Reload the page and decide again.")


def _render_memory(request: Request, place: Place, memory_id: str, *, refused: LerimError | None = None) -> Response:
    stored = place.paths.store().load_by_id(memory_id)
    with place.open_search() as search:
        linked = _load_linked(place, stored, search.links())
        current = search.with_shown_status(stored) if stored.status == "active" else stored
    view = memory_view(current, place.scope)
    drift = _check_drift(place, current)
    ending = find_ending(place.paths, stored)
    undoable = queue.find_undoable(place.paths)
    done = request.query_params.get("done", "")
    context = {
        "view": view,
        "source": describe_source(view),
        "seen": stored.text_hash,
        "linked": linked,
        "is_own": place.scope == "global" or memory_id in queue.list_own_memories(place.paths),
        "drift": drift,
        "ending": ending,
        "has_baselines": bool(view.references) and baselines.has_baselines(place.paths.private),
        "undo": undoable if undoable is not None and undoable.id == done else None,
        "undone": bool(request.query_params.get("undone")),
        "refused": refused,
        "is_editing": bool(request.query_params.get("edit")) and view.status == "active",
    }
    status = 409 if isinstance(refused, StaleError) else 422 if refused is not None else 200
    return render_page(request, "memory.html", view.title, context, place=place, section="memories", status=status)


def _check_drift(place: Place, stored: StoredMemory) -> Drift | None:
    """Returns the worst drift of an active memory's references, compared now; None if it is fresh or never checked."""
    if stored.status != "active" or not baselines.has_baselines(place.paths.private):
        return None
    found = DriftChecker(place.project, place.home).check_memories([make_drift_subject(stored.record)])
    return found.get(stored.record.id)


def _load_linked(place: Place, stored: StoredMemory, links: Sequence[MemoryLinks]) -> list[LinkedMemory]:
    """Returns the memories that this one ends and those that end it, whichever of the two files says so."""
    record = stored.record
    found = [
        *(("Supersedes", one) for one in record.supersedes),
        *(("Resolves", one) for one in record.resolves),
        *(("Superseded by", one) for one in (record.superseded_by,) if one),
        *(("Resolved by", one) for one in (record.resolved_by,) if one),
        *(("Superseded by", one.id) for one in links if record.id in one.supersedes),
        *(("Resolved by", one.id) for one in links if record.id in one.resolves),
    ]
    unique = list(dict.fromkeys(found))
    titles = load_titles(place, [name for _, name in unique])
    return [LinkedMemory(relation, name, titles[name]) for relation, name in unique]


def load_titles(place: Place, ids: Sequence[str]) -> dict[str, str]:
    """Returns the titles of these memories by id. The title of one that cannot be read is its id."""
    store = place.paths.store()
    titles: dict[str, str] = {}
    for name in ids:
        try:
            titles[name] = store.load_by_id(name).record.title
        except LerimError:
            titles[name] = name
    return titles
