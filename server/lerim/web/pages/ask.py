"""The page on which you ask about the project. The answer comes from the API as it is made (`static/ask.js`)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from lerim.web.pages.place import find_place
from lerim.web.pages.rendering import render_page


def show_ask(request: Request) -> Response:
    """Shows the form."""
    place = find_place(request)
    return render_page(request, "ask.html", "Ask", {}, place=place, section="ask")
