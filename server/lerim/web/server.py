"""The application that answers requests: the API, the dashboard's pages, and the door before both. It runs on a socket
until it is asked to stop."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import datetime
from types import FrameType
from typing import TYPE_CHECKING

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from lerim.errors import LerimError, UsageError
from lerim.heap import limit_malloc_arenas
from lerim.paths import Home
from lerim.views import RunningServer
from lerim.web.answers import error_response
from lerim.web.api import API_PREFIX, api_routes
from lerim.web.background import start_logging
from lerim.web.binding import LOOPBACK, Binding, ServeOptions, open_socket, plan_binding
from lerim.web.daemon import Daemon, Timings
from lerim.web.pages import page_routes
from lerim.web.running import announce_server, hold_server_lock, mark_environment
from lerim.web.running_jobs import Work
from lerim.web.security import LOGIN_PATH, BodyTooLargeError, Guard, sign_in
from lerim.web.served import Served
from lerim.web.token import load_token

if TYPE_CHECKING:
    from starlette.types import ASGIApp


STOP_SECONDS = 2
"""How long open requests may take after the server was asked to stop."""
MAX_CONNECTIONS = 200


def serve(
    home: Home,
    environ: Mapping[str, str],
    options: ServeOptions,
    clock: Callable[[], datetime],
    on_start: Callable[[Binding], None],
    timings: Timings = Timings(),  # noqa: B008 - it is frozen
) -> None:
    """Serves a home until SIGINT, SIGTERM or SIGHUP; `on_start` is called when it listens.

    Raises UsageError for an address that would not be safe, ServerError if a server runs already or cannot listen.
    """
    if bool(options.certificate) != bool(options.key):
        raise UsageError("A certificate and its key must be given together.", where="--tls-cert, --tls-key")
    has_certificate = bool(options.certificate)
    plan_binding(options.host, options.port, has_certificate=has_certificate, proxy_origin=options.proxy_origin)
    start_logging(home)
    limit_malloc_arenas()  # must come before our first thread
    with hold_server_lock(home), open_socket(options.host, options.port) as listener:
        port = int(listener.getsockname()[1])
        binding = plan_binding(options.host, port, has_certificate=has_certificate, proxy_origin=options.proxy_origin)
        work = Work(home, environ)
        daemon = Daemon(home, environ, work, clock, timings=timings)
        mark = mark_environment(home, environ)
        served = Served(home, environ, binding, load_token(home), clock, work, daemon, mark)
        running = RunningServer(
            os.getpid(), _own_address(binding, has_certificate), binding.origin, min(binding.hosts), clock().isoformat()
        )
        with announce_server(home, running):
            on_start(binding)
            QuietServer(make_config(make_app(served), options)).run(sockets=[listener])


def _own_address(binding: Binding, has_certificate: bool) -> str:
    """Returns the address at which programs on this machine reach the server, also if a proxy is in front."""
    host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(binding.host, binding.host)
    return f"{'https' if has_certificate else 'http'}://{f'[{host}]' if ':' in host else host}:{binding.port}"


class QuietServer(uvicorn.Server):
    """A server that sleeps while nobody asks: uvicorn's own wakes up ten times a second."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()

    async def main_loop(self) -> None:
        """Waits until the server is asked to stop."""
        self._loop = asyncio.get_running_loop()
        if not self.should_exit:
            await self._stopping.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handles SIGHUP as well, which says that the terminal was closed, unless `nohup` ignores it."""
        hangup = getattr(signal, "SIGHUP", None)  # not on Windows
        is_main = threading.current_thread() is threading.main_thread()
        with super().capture_signals():
            if hangup is None or not is_main or signal.getsignal(hangup) != signal.SIG_DFL:
                yield
                return
            signal.signal(hangup, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(hangup, signal.SIG_DFL)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stops the server, at a signal or from another thread. SIGTERM is how it is asked to stop: it then ends with
        code 0, so that no service starts it again. It ends in the same way if its terminal is closed."""
        if sig == signal.SIGINT:
            super().handle_exit(sig, frame)
        else:
            self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)


def make_config(app: ASGIApp, options: ServeOptions) -> uvicorn.Config:
    """Returns how uvicorn serves the application: one process, no access log, bounded connections."""
    return uvicorn.Config(
        app,
        http="h11",
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=STOP_SECONDS,
        limit_concurrency=MAX_CONNECTIONS,
        ssl_certfile=options.certificate or None,
        ssl_keyfile=options.key or None,
    )


def main(arguments: Sequence[str]) -> int:
    """Serves in a process of its own, which `lerim up` starts without the command line's packages. The only argument is
    a ServeOptions as JSON. Returns the exit code."""
    try:
        options = msgspec.json.decode(arguments[0], type=ServeOptions)
        home = Home.from_environ(os.environ)
        serve(home, os.environ, options, lambda: datetime.now().astimezone(), lambda _binding: None)
    except LerimError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


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
