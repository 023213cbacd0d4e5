"""The routes of the dashboard's pages, and the page on which you ask: a form, whose answer comes from the API as it is
made (`static/ask.js`).
"""

from __future__ import annotations

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from lerim.web.pages.agents import act_on_jobs, show_agents
from lerim.web.pages.endpoints import action, page
from lerim.web.pages.journal import show_journal
from lerim.web.pages.links import show_links
from lerim.web.pages.memories import act_on_memory, show_memories, show_memory
from lerim.web.pages.place import find_place
from lerim.web.pages.rendering import render_page
from lerim.web.pages.review import act_on_candidate, propose_left_out, show_review, undo_action
from lerim.web.pages.runs import show_run, show_runs
from lerim.web.pages.sessions import show_sessions, show_transcript, show_turn, show_whole_turn
from lerim.web.pages.statistics import show_statistics
from lerim.web.pages.team import show_team
from lerim.web.pages.today import show_projects, show_today

STATIC_FOLDER = Path(__file__).with_name("static")


def show_ask(request: Request) -> Response:
    """Shows the form on which you ask about the project."""
    place = find_place(request)
    return render_page(request, "ask.html", "Ask", {}, place=place, section="ask")


page_routes: list[BaseRoute] = [
    Route("/", page(show_projects), methods=["GET"]),
    Route("/team", page(show_team), methods=["GET"]),
    Mount("/static", StaticFiles(directory=STATIC_FOLDER)),
    Mount(
        "/projects/{key}",
        routes=[
            Route("/today", page(show_today), methods=["GET"]),
            Route("/review", page(show_review), methods=["GET"]),
            Route("/review/act", action(act_on_candidate), methods=["POST"]),
            Route("/review/undo", action(undo_action), methods=["POST"]),
            Route("/review/propose", action(propose_left_out), methods=["POST"]),
            Route("/memories", page(show_memories), methods=["GET"]),
            Route("/memories/links", page(show_links), methods=["GET"]),
            Route("/memories/{memory}", page(show_memory), methods=["GET"]),
            Route("/memories/{memory}", action(act_on_memory), methods=["POST"]),
            Route("/sessions", page(show_sessions), methods=["GET"]),
            Route("/sessions/show", page(show_transcript), methods=["GET"]),
            Route("/sessions/whole", page(show_whole_turn), methods=["GET"]),
            Route("/sessions/turn", page(show_turn), methods=["GET"]),
            Route("/journal", page(show_journal), methods=["GET"]),
            Route("/ask", page(show_ask), methods=["GET"]),
            Route("/agents", page(show_agents), methods=["GET"]),
            Route("/agents/queue", action(act_on_jobs), methods=["POST"]),
            Route("/runs", page(show_runs), methods=["GET"]),
            Route("/runs/{run}", page(show_run), methods=["GET"]),
            Route("/statistics", page(show_statistics), methods=["GET"]),
        ],
    ),
]
