"""What the server's answers are made from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, cast
from weakref import WeakKeyDictionary

from starlette.requests import Request

from lerim.paths import Home
from lerim.web.binding import Binding
from lerim.web.daemon import Daemon
from lerim.web.running_jobs import Work
from lerim.web.searches import OpenSearches
from lerim.web.token import LoginLinks

if TYPE_CHECKING:
    from lerim.memory import MemorySearch
    from lerim.views import LastStatus


@dataclass(frozen=True, slots=True)
class Served:
    """The home that is served, and how.

    `clock` gives the time with its zone; `work` and `daemon` do what takes time. `environment` is the mark of this
    process (`mark_environment`).
    """

    home: Home
    environ: Mapping[str, str]
    binding: Binding
    token: str
    clock: Callable[[], datetime]
    work: Work
    daemon: Daemon
    environment: str
    links: LoginLinks = field(default_factory=LoginLinks)
    searches: OpenSearches = field(default_factory=OpenSearches)
    statuses: WeakKeyDictionary[MemorySearch, LastStatus] = field(default_factory=WeakKeyDictionary)


def find_served(request: Request) -> Served:
    """Returns what the application serves, for a route."""
    return cast(Served, request.app.state.served)
