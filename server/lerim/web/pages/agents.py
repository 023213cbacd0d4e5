"""The agents whose sessions are read, and the queue of sessions, with retry and skip."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from lerim.errors import NotFoundError, UsageError
from lerim.jobs import AGENT_STATE_LABELS, examine_agents
from lerim.sessions import EXTRACT_JOB, MODEL_JOB, JobRow, clean_line
from lerim.web.pages.endpoints import Form, read_number, redirect
from lerim.web.pages.place import Place, find_place
from lerim.web.pages.rendering import Pager, make_project_address, render_page

PAGE_SIZE = 50
STATE_LABELS = {
    "pending": "waiting",
    "running": "being read",
    "failed": "failed",
    "dead": "given up",
    "skipped": "skipped",
}
KIND_LABELS = {EXTRACT_JOB: "read without a model", MODEL_JOB: "read with the model"}


def show_agents(request: Request) -> Response:
    """Shows the agents and the queue."""
    place, start = find_place(request), read_number(request, "start")
    project = None if place.project.is_personal else place.project
    jobs, counts = _load_queue(place, start)
    context = {
        "agents": examine_agents(place.home, place.served.environ, project),
        "agent_state_labels": AGENT_STATE_LABELS,
        "jobs": jobs,
        "counts": counts,
        "pager": Pager(start, len(jobs), PAGE_SIZE, sum(counts.values())),
        "state_labels": STATE_LABELS,
        "kind_labels": KIND_LABELS,
        "clean_line": clean_line,
        "done": request.query_params.get("done", ""),
    }
    return render_page(request, "agents.html", "Agents and queue", context, place=place, section="agents")


def act_on_jobs(request: Request, form: Form) -> Response:
    """Retries or skips a job; without its number, skips all that were given up, or also retries those that failed."""
    place, number, action = find_place(request), form.get("job", ""), form.get("action", "")
    is_number = number.isascii() and number.isdigit() and len(number) < 19  # what the database can hold
    if action not in ("retry", "skip") or not (is_number or not number):
        raise UsageError("The form names no action.", todo="Reload the page and try again.")
    jobs = [int(number)] if number else []
    with place.open_catalog() as catalog:
        if catalog is None:
            raise NotFoundError("There is no queue yet.", todo="Run a sync first.")
        change = catalog.retry_jobs if action == "retry" else catalog.skip_jobs
        changed = change(place.project.key, jobs)
    if jobs and not changed:
        raise NotFoundError("This job no longer exists, or is running.", where=number, todo="Look at the queue again.")
    done = "retried" if action == "retry" else "skipped"
    return redirect(f"{make_project_address(place, 'agents', done=done).unescape()}#queue")


def _load_queue(place: Place, start: int) -> tuple[list[JobRow], dict[str, int]]:
    """Returns a page of the open jobs, those that need the person first, and how many are in each state."""
    with place.open_catalog() as catalog:
        if catalog is None:
            return [], {}
        # Model jobs wait for ever if no model is chosen, so only their failures are listed, as in the editor.
        shown = catalog.list_open_jobs(
            place.project.key, (EXTRACT_JOB,), failed_kinds=(MODEL_JOB,), limit=PAGE_SIZE, offset=start
        )
        counts = catalog.count_open_jobs(place.project.key, (EXTRACT_JOB,), failed_kinds=(MODEL_JOB,))
    return shown, counts
