"""Runs the application on a socket until it is asked to stop."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

from lerim.errors import UsageError
from lerim.paths import Home
from lerim.web.app import make_app
from lerim.web.binding import DEFAULT_PORT, LOOPBACK, Binding, open_socket, plan_binding
from lerim.web.running import RunningServer, announce_server, hold_server_lock
from lerim.web.served import Served
from lerim.web.token import load_token
from lerim.web.work import Work

if TYPE_CHECKING:
    from starlette.types import ASGIApp

STOP_SECONDS = 2
"""How long open requests may take after the server was asked to stop."""
MAX_CONNECTIONS = 200


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """Where to listen. `certificate` and `key` are PEM files; `proxy_origin` is the address people use if a proxy is in
    front. Port 0 takes a free one."""

    host: str = LOOPBACK
    port: int = DEFAULT_PORT
    certificate: Path | None = None
    key: Path | None = None
    proxy_origin: str = ""


def serve(
    home: Home,
    environ: Mapping[str, str],
    options: ServeOptions,
    clock: Callable[[], datetime],
    on_start: Callable[[Binding], None],
) -> None:
    """Serves a home until SIGINT or SIGTERM; `on_start` is called when it listens.

    Raises UsageError for an address that would not be safe, ServerError if a server runs already or cannot listen.
    """
    if (options.certificate is None) != (options.key is None):
        raise UsageError("A certificate and its key belong together.", where="--tls-cert, --tls-key")
    has_certificate = options.certificate is not None
    plan_binding(options.host, options.port, has_certificate=has_certificate, proxy_origin=options.proxy_origin)
    with hold_server_lock(home), open_socket(options.host, options.port) as listener:
        port = int(listener.getsockname()[1])
        binding = plan_binding(options.host, port, has_certificate=has_certificate, proxy_origin=options.proxy_origin)
        served = Served(home, environ, binding, load_token(home), clock, Work(home, environ))
        running = RunningServer(
            os.getpid(), _own_address(binding, has_certificate), binding.origin, min(binding.hosts), clock().isoformat()
        )
        with announce_server(home, running):
            on_start(binding)
            uvicorn.Server(make_config(make_app(served), options)).run(sockets=[listener])


def _own_address(binding: Binding, has_certificate: bool) -> str:
    """Returns the address at which programs of this machine reach the server, also if a proxy is in front."""
    host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(binding.host, binding.host)
    return f"{'https' if has_certificate else 'http'}://{f'[{host}]' if ':' in host else host}:{binding.port}"


def make_config(app: ASGIApp, options: ServeOptions = ServeOptions()) -> uvicorn.Config:
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
        proxy_headers=False,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=STOP_SECONDS,
        limit_concurrency=MAX_CONNECTIONS,
        ssl_certfile=options.certificate,
        ssl_keyfile=options.key,
    )
