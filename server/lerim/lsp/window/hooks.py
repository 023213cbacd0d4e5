"""Keeps the index of the agents' hooks up to date with the memories, in a process of its own. Does nothing for people
who have not installed hooks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from lerim.lsp.window.repos import Repo

if TYPE_CHECKING:
    from lerim.lsp.window.state import Sidecar

REFRESH_DELAY_SECONDS = 1.0
"""Changes within this time are one refresh."""


def schedule_hook_refresh(sidecar: Sidecar, repo: Repo) -> None:
    """Starts a refresh of a repository's index soon, if it has one and the workspace is trusted."""
    if sidecar.options.trusted and not repo.hook_refresh_is_due:
        repo.hook_refresh_is_due = True
        asyncio.get_running_loop().call_later(REFRESH_DELAY_SECONDS, _start_refresh, sidecar, repo)


def _start_refresh(sidecar: Sidecar, repo: Repo) -> None:
    repo.hook_refresh_is_due = False
    sidecar.spawn("Refreshing the hooks' index", sidecar.run_in_thread(_refresh, sidecar, repo))


def _refresh(sidecar: Sidecar, repo: Repo) -> None:
    if (sidecar.home.root / "run" / "hooks").is_dir():
        from lerim.hook import start_refresh_if_used
        from lerim.lsp.window.editor_models import make_job_environ

        start_refresh_if_used(repo.project.root, sidecar.home, make_job_environ(sidecar))
