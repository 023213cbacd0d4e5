"""What a search or a list of sessions is narrowed to, and how it is asked of the catalog."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from lerim.sessions.model import Platform


@dataclass(frozen=True, slots=True)
class SessionFilters:
    """All that are set must hold. `projects`: keys, None for the whole machine. `file`: a path, the end of one
    (`src/app.py`) or a name (`app.py`) that a call of the turn read or changed. `branch` and `model` are names as they
    stand, `model` also the beginning of one (`claude-opus`). `failed`: only turns in which a command failed.
    `since` and `until` are when a turn was said (a session: any of its turns), the ends included.
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
