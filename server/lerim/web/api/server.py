"""The server itself: what it does, and the one-time links that sign a browser in."""

from __future__ import annotations

import asyncio

import msgspec

from lerim import __version__
from lerim.web.api.operations import Call, Operation
from lerim.web.daemon import DaemonState
from lerim.web.pages import prepare_first_page


class LoginLinkOutput(msgspec.Struct, frozen=True):
    """A link that opens the dashboard once, within two minutes."""

    url: str


async def add_login_link(call: Call) -> LoginLinkOutput:
    """Makes a link that signs a browser in. While the browser starts, its first page is prepared."""
    asyncio.get_running_loop().run_in_executor(None, prepare_first_page, call.served)
    return LoginLinkOutput(f"{call.served.binding.origin}/login?code={call.served.links.add()}")


class ServerOutput(msgspec.Struct, frozen=True):
    """The running server and what its daemon does. `environment` is a mark of the variables that decide what it reads
    and which models it can ask; a command with the same mark lets the server work for it."""

    version: str
    origin: str
    environment: str
    daemon: DaemonState


def show_server(call: Call) -> ServerOutput:
    """Returns what the server does."""
    served = call.served
    return ServerOutput(__version__, served.binding.origin, served.environment, served.daemon.state)


operations = [
    Operation("GET", "/server", "Show what the server does", show_server),
    Operation("POST", "/login-links", "Make a link that signs a browser in", add_login_link, is_secret=True),
]
