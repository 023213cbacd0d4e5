"""What becomes of each agent's sessions, as it is: where its store lies, what was found, what is not read and why.

`lerim connect list` and the editor's Agents view show these rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from lerim.paths import Home
from lerim.project import Project
from lerim.sessions.model import Platform

AgentState = Literal["connected", "not-found", "removed"]
"""connected: its store is there and read; not-found: it would be read, but nothing lies where it may; removed: the
person said not to read it."""


class StoreView(msgspec.Struct, frozen=True):
    """A place where an agent's store may lie."""

    path: str
    exists: bool


class SkippedView(msgspec.Struct, frozen=True):
    """Sessions or stores that are not read, by the reason.

    `reason`: `skipped` (only its own program can read it), `unreadable` (no right to, or the disk failed), `failed` (it
    could not be parsed), `no-folder` (read, but no working folder is known, so it is of no project). `example` is one
    of the places, `message` says of it what happened.
    """

    reason: str
    count: int
    example: str
    message: str


class LastErrorView(msgspec.Struct, frozen=True):
    """The last thing that went wrong with an agent's sessions; `time` is ISO 8601 UTC, '' where it is not known."""

    message: str
    where: str
    time: str


class AgentView(msgspec.Struct, frozen=True):
    """One agent. `sessions` were found on this machine (a subagent's own transcript is part of its parent's).

    Of the project asked for, 0 where none was: `found` sessions, of which `parsed` were read to their end and `waiting`
    will be at the next sync. `skipped` are the project's, and those that nobody knows whose they are. `redactions`
    counts the secrets cut out of what was learned from the project's sessions or shown to a model. `last_sync` of the
    project is ISO 8601 UTC, '' for never.
    """

    platform: Platform
    name: str
    state: AgentState
    stores: list[StoreView]
    sessions: int
    found: int
    parsed: int
    waiting: int
    skipped: list[SkippedView]
    redactions: int
    last_error: LastErrorView | None
    last_sync: str


def examine(home: Home, environ: Mapping[str, str], project: Project | None = None) -> list[AgentView]:
    """Every agent as it stands now, from the stores by stat and from the catalog where there is one; changes nothing.

    Databases that changed since are listed, so call it off the event loop. Raises SettingsError, CatalogError.
    """
    raise NotImplementedError
