"""What a person did with memories in the editor counts as use: one that was opened, and a hover that was looked at."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lerim.lsp.window.state import Sidecar, log

if TYPE_CHECKING:
    from pathlib import Path

    from lerim.lsp.window.repos import Repo
    from lerim.memory import UseKind

SHOWN_SECONDS = 1.0
"""How long nobody must do anything else for a hover to count as read."""


def note_opened(sidecar: Sidecar, repo: Repo | None, memory_id: str) -> None:
    """A person opened a memory; `repo` is None for one of their own (in the executor)."""
    if sidecar.options.trusted:
        _note(sidecar, _private(sidecar, repo), [memory_id], "opened")


def note_hovered(sidecar: Sidecar, repo: Repo, memory_ids: Sequence[str]) -> None:
    """A hover shows memories: they are used if nothing else is done for a second. In Restricted Mode nothing is."""
    glance = sidecar.glance
    glance.over()
    if not sidecar.options.trusted:
        return

    def count() -> None:
        glance.timer = None
        sidecar.executor.submit(_note, sidecar, _private(sidecar, repo), list(memory_ids), "hovered")

    glance.timer = asyncio.get_running_loop().call_later(SHOWN_SECONDS, count)


def _private(sidecar: Sidecar, repo: Repo | None) -> Path:
    from lerim.project import PERSONAL_KEY

    return sidecar.home.project(PERSONAL_KEY if repo is None else repo.project.key)


def _note(sidecar: Sidecar, private: Path, memory_ids: Sequence[str], how: UseKind) -> None:
    from lerim.memory import Uses

    uses = Uses(private)
    uses.record_use(memory_ids, how, sidecar.clock())
    for problem in uses.problems:
        if problem not in sidecar.glance.told:
            sidecar.glance.told.add(problem)
            log.warning("%s", problem.message)
