"""A server of `lerim serve` in a thread of the test, on a free port of loopback, and requests to it."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2

from hang import HANG
from lerim.paths import Home
from lerim.web.binding import ServeOptions, open_socket, plan_binding
from lerim.web.daemon.daemon import Daemon
from lerim.web.running import mark_environment
from lerim.web.running_jobs import Work
from lerim.web.served import Served
from lerim.web.server import QuietServer, make_app, make_config
from lerim.web.token import load_token
from warm_python import warm_python


@dataclass(frozen=True)
class WebServer:
    """A running server; `client` sends the token with every request, `stranger` does not."""

    served: Served
    client: httpx2.Client
    stranger: httpx2.Client

    def get(self, path: str, **query: Any) -> Any:
        """The answer of the API to a request that succeeds."""
        response = self.client.get(f"/api/v1{path}", params=query)
        assert response.status_code == 200, response.text
        return response.json()

    def post(self, path: str, body: object = None, status: int = 200) -> Any:
        """The answer of the API to a request that changes something."""
        response = self.client.post(f"/api/v1{path}", json=body)
        assert response.status_code == status, response.text
        return response.json()


@contextmanager
def web_server(home: Home, now: datetime | None = None) -> Iterator[WebServer]:
    """Serves this home for the block, as if it were always `now`."""
    with open_socket("127.0.0.1", 0) as listener:
        binding = plan_binding("127.0.0.1", listener.getsockname()[1], has_certificate=False)
        environ = dict(os.environ)

        def clock() -> datetime:
            return (now or datetime.now()).astimezone()

        work = Work(home, environ)
        work.processes.executable = warm_python()
        daemon = Daemon(home, environ, work, clock)
        mark = mark_environment(home, environ)
        served = Served(home, environ, binding, load_token(home), clock, work, daemon, mark)
        server = QuietServer(make_config(make_app(served), ServeOptions()))
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
        thread.start()
        headers = {"Authorization": f"Bearer {served.token}"}
        options: dict[str, Any] = {"base_url": binding.origin, "timeout": HANG, "trust_env": False}
        try:
            with httpx2.Client(headers=headers, **options) as client, httpx2.Client(**options) as stranger:
                yield WebServer(served, client, stranger)
        finally:
            server.handle_exit(signal.SIGTERM, None)
            thread.join(HANG)
            assert not thread.is_alive()
