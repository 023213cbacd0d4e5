"""The application that answers requests: the API, the dashboard's pages, and the door before both."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from lerim.errors import LerimError
from lerim.web.answers import error_response
from lerim.web.api import API_PREFIX, api_routes
from lerim.web.pages import page_routes
from lerim.web.security import LOGIN_PATH, BodyTooLargeError, Guard, sign_in
from lerim.web.served import Served


def make_app(served: Served) -> Starlette:
    """Returns the application that serves a home."""

    def answer_login(request: Request) -> Response:
        return sign_in(served, request)

    handled = (LerimError, BodyTooLargeError, HTTPException, ClientDisconnect, Exception)

    @asynccontextmanager
    async def live(_app: Starlette) -> AsyncIterator[None]:
        watching = asyncio.create_task(served.daemon.run())
        try:
            yield
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
            await served.work.close()
            served.searches.close()

    app = Starlette(
        routes=[
            Route(LOGIN_PATH, answer_login, methods=["GET"]),
            Mount(API_PREFIX, routes=api_routes),
            *page_routes,
        ],
        middleware=[Middleware(Guard, served=served)],
        lifespan=live,
        exception_handlers=dict.fromkeys(handled, error_response),
    )
    app.router.redirect_slashes = False  # a path is right or wrong
    app.state.served = served
    return app
