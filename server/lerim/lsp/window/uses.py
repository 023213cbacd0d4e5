"""Counts the use of memories in the editor: memories that were opened, and hovers that were read; and knows which
memories the person has called wrong or outdated and did nothing to keep since, and which were made here, so that
hovers can say so."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from lerim.errors import LerimError
from lerim.lsp.window.candidate_counts import find_review_paths

if TYPE_CHECKING:
    from pathlib import Path

    from lerim.lsp.window.repos import Repo
    from lerim.lsp.window.state import Sidecar
    from lerim.memory import UseKind

log = logging.getLogger("lerim.lsp")

READ_AFTER_SECONDS = 1.0
"""A hover counts as read if the person does nothing else for this long."""


def note_opened(sidecar: Sidecar, repo: Repo | None, memory_id: str) -> None:
    """Records that the person opened a memory (blocking). `repo` is None for a personal memory."""
    if sidecar.options.trusted:
        _record_use(sidecar, _private_folder(sidecar, repo), memory_id, "opened")


def note_hovered(sidecar: Sidecar, repo: Repo, memory_id: str) -> None:
    """Records that a hover was read if the person does nothing else for a second. Does nothing in Restricted Mode."""
    last_hover = sidecar.last_hover
    last_hover.cancel()
    if not sidecar.options.trusted:
        return

    def count_as_read() -> None:
        last_hover.timer = None
        sidecar.executor.submit(_record_use, sidecar, _private_folder(sidecar, repo), memory_id, "hovered")

    last_hover.timer = asyncio.get_running_loop().call_later(READ_AFTER_SECONDS, count_as_read)


def _private_folder(sidecar: Sidecar, repo: Repo | None) -> Path:
    from lerim.project import PERSONAL_KEY

    return sidecar.home.project(PERSONAL_KEY if repo is None else repo.project.key)


def _record_use(sidecar: Sidecar, private_folder: Path, memory_id: str, kind: UseKind) -> None:
    from lerim.memory import Uses

    uses = Uses(private_folder)
    uses.record_use([memory_id], kind, sidecar.clock())
    for problem in uses.problems:
        if problem not in sidecar.last_hover.logged_problems:
            sidecar.last_hover.logged_problems.add(problem)
            log.warning("%s", problem.message)


async def refresh_memory_marks(sidecar: Sidecar, repo: Repo) -> None:
    """Reads again what the person called a repository's memories, and which of them were made on this machine. Hovers
    read only what is kept here."""
    repo.unwanted = await sidecar.run_in_thread(find_unwanted, sidecar, repo.project.key)
    repo.own_memories = await sidecar.run_in_thread(_find_own_memories, sidecar, repo)


def _find_own_memories(sidecar: Sidecar, repo: Repo) -> frozenset[str]:
    from lerim.review import queue

    try:
        return queue.list_own_memories(find_review_paths(sidecar, repo))
    except LerimError as error:
        log.warning("%s", error.explanation)
        return frozenset()


def find_unwanted(sidecar: Sidecar, key: str) -> dict[str, str]:
    """Returns what the person has called wrong or outdated, by the ids of the memories of a project (blocking)."""
    from lerim.memory import Uses

    found = Uses(sidecar.home.project(key)).find_unwanted()
    return {memory: feedback for memory, (feedback, _) in found.items()}
