"""The runs of syncs and maintenance: what they did, their logs, and what models cost."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from lerim.models import total_usage
from lerim.review import list_runs, load_run
from lerim.web.pages.endpoints import read_number
from lerim.web.pages.place import find_place
from lerim.web.pages.rendering import Pager, render_page

PAGE_SIZE = 25
MAX_ROWS = 200
KIND_LABELS = {"sync": "Sync", "maintain": "Maintenance"}


def show_runs(request: Request) -> Response:
    """Lists the runs, the newest first."""
    place, start = find_place(request), read_number(request, "start")
    runs, total = list_runs(place.paths, start, PAGE_SIZE)
    context = {
        "runs": [(run, total_usage(run.spent)) for run in runs],
        "pager": Pager(start, len(runs), PAGE_SIZE, total),
        "kind_labels": KIND_LABELS,
    }
    return render_page(request, "runs.html", "Runs", context, place=place, section="runs")


def show_run(request: Request) -> Response:
    """Shows one run."""
    place = find_place(request)
    details = load_run(place.paths, str(request.path_params["run"]))
    title = KIND_LABELS[details.run.kind]
    context = {
        "details": details,
        "total": total_usage(details.run.spent),
        "kind": title,
        "most": MAX_ROWS,
    }
    return render_page(request, "run.html", title, context, place=place, section="runs")
