"""The filters of a search or a list of sessions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lerim.sessions.model import Platform


@dataclass(frozen=True, slots=True)
class SessionFilters:
    """All filters that are set must match. `projects`: keys, None for the whole machine. `file`: a path, the end of one
    (`src/app.py`) or a name (`app.py`) that a tool call of the turn read or changed. `branch` is an exact name, `model`
    a name or its beginning (`claude-opus`). `failed`: only turns in which a command failed. `since` and `until` limit
    when a turn was said (for a session: any of its turns), inclusive.
    """

    projects: tuple[str, ...] | None = None
    agent: Platform | None = None
    branch: str = ""
    model: str = ""
    file: str = ""
    since: datetime | None = None
    until: datetime | None = None
    failed: bool = False


NO_FILTERS = SessionFilters()
