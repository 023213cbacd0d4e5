"""The application that answers requests: the API, the dashboard's pages, and the door before both."""

from __future__ import annotations

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from lerim.errors import LerimError
from lerim.web import api, pages
from lerim.web.answers import error_response
from lerim.web.security import LOGIN_PATH, BodyTooLargeError, Guard, sign_in
from lerim.web.served import Served

API_PREFIX = "/api/v1"


def make_app(served: Served) -> Starlette:
    """Returns the application that serves a home."""

    def answer_login(request: Request) -> Response:
        return sign_in(served, request)

    handled = (LerimError, BodyTooLargeError, HTTPException, ClientDisconnect, Exception)
    app = Starlette(
        routes=[
            Route(LOGIN_PATH, answer_login, methods=["GET"]),
            Mount(API_PREFIX, routes=api.routes),
            *pages.routes,
        ],
        middleware=[Middleware(Guard, served=served)],
        exception_handlers=dict.fromkeys(handled, error_response),
    )
    app.state.served = served
    return app
