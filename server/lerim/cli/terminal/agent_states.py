"""Describes the state of agents' stores: which sessions are not read, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lerim.cli.terminal.repository import find_home
from lerim.project import Project

if TYPE_CHECKING:
    from lerim.jobs import AgentView

_MENDABLE_REASONS = ("compressed", "unreadable", "failed")
UNREAD_REASONS = ("skipped", *_MENDABLE_REASONS)
"""The reasons in `SkippedView` for which nothing of a session or store is read. A session that is skipped can only
be read by the agent's own program, so the person can do nothing about it."""


def examine_agents(project: Project | None = None) -> list[AgentView]:
    """Returns the state of every agent; `project` is the one that the counts refer to. Raises SettingsError,
    CatalogError."""
    from lerim import jobs

    return jobs.examine_agents(find_home(), os.environ, project)


def describe_skipped(agent: AgentView, *, unread: bool = False) -> Iterator[str]:
    """Yields a line for each reason why sessions or stores of an agent are not read, or not to their end. With
    `unread`, only those of which nothing is read are included."""
    for skipped in agent.skipped:
        if unread and skipped.reason not in UNREAD_REASONS:
            continue
        more = f" (and {skipped.count - 1} more)" if skipped.count > 1 else ""
        yield f"{skipped.example}{more}: {skipped.message}"


def describe_unread(agents: Sequence[AgentView]) -> str:
    """Returns a text that says how many sessions and stores are not read for a reason that the person can fix, or
    ""."""
    count = sum(one.count for agent in agents for one in agent.skipped if one.reason in _MENDABLE_REASONS)
    if not count:
        return ""
    what = "1 session or store is" if count == 1 else f"{count:,} sessions or stores are"
    return f"{what} not read; `lerim connect list` says why."
