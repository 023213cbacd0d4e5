"""Memories that are maintained by themselves: when the person has been away for long, and never without need."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_asyncio
from lsprotocol import types

from lerim.lsp.boundary.sidecar_server import SidecarServer
from lerim.lsp.boundary.uris import path_to_uri
from lerim.lsp.features import maintaining
from lerim.lsp.window.settings import EditorOptions, EditorSettings
from lerim.lsp.window.state import Sidecar
from lerim.paths import Home
from lerim.review import queue
from proposals import review_paths
from window import make_warm_jobs

pytestmark = pytest.mark.asyncio
BODY = "Uploads to the archive bucket are retried by `upload.py` with a pause between them."


@pytest_asyncio.fixture
async def sidecar(repo: Path, isolated: Path) -> AsyncIterator[Sidecar]:
    """A window's sidecar with a repository that has two memories which say the same."""
    made = Sidecar(SidecarServer("lerim", "0"), Home(isolated / ".lerim"), dict(os.environ), make_jobs=make_warm_jobs)
    made.server.protocol.client_capabilities = types.ClientCapabilities()  # as after `initialize`
    made.options = EditorOptions(trusted=True, settings=EditorSettings())
    made.folder_uris = [path_to_uri(repo)]
    for number in (3, 5):
        queue.add_memory(review_paths(repo), "decision", f"Retry uploads {number} times", BODY)
    yield made
    made.stop()


def noted(sidecar: Sidecar) -> int:
    """How often memories were maintained."""
    log = sidecar.home.activity_log
    return log.read_text("utf-8").count("| maintain |") if log.exists() else 0


async def test_what_is_due_is_maintained_once_a_day_at_most_and_so_are_the_persons_own(
    sidecar: Sidecar, repo: Path
) -> None:
    await maintaining.maintain_when_idle(sidecar)
    assert [one.action for one in queue.list_pending(review_paths(repo))[0]] == ["merge"]
    own = review_paths(repo).personal()
    for number in (3, 5):
        queue.add_memory(own, "decision", f"Retry uploads {number} times", BODY)
    queue.add_memory(review_paths(repo), "decision", "Use uv", "For everything.")
    for _ in range(2):
        await maintaining.maintain_when_idle(sidecar)
    assert [one.action for one in queue.list_pending(own)[0]] == ["merge"]
    assert noted(sidecar) == 2
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    sidecar.clock = lambda: tomorrow
    await maintaining.maintain_when_idle(sidecar)
    assert noted(sidecar) == 4


async def test_nothing_is_maintained_in_restricted_mode_or_when_lerim_is_off(sidecar: Sidecar) -> None:
    for options in (EditorOptions(trusted=False), EditorOptions(trusted=True, settings=EditorSettings(enabled=False))):
        sidecar.options = options
        await maintaining.maintain_when_idle(sidecar)
    assert noted(sidecar) == 0


async def test_the_long_idle_is_as_long_as_the_settings_say_and_starts_anew_with_each_touch(sidecar: Sidecar) -> None:
    await maintaining.arm_idle_maintenance(sidecar)
    assert sidecar.maintenance_clock is not None
    assert sidecar.maintenance_clock.seconds == 30 * 60
    before = sidecar.maintenance_clock
    sidecar.home.config.write_text("[maintain]\nidle_minutes = 0\n", encoding="utf-8")
    await maintaining.arm_idle_maintenance(sidecar)
    assert sidecar.maintenance_clock is before
    assert sidecar.maintenance_clock.seconds == 0


async def test_work_that_is_cancelled_before_its_first_step_is_closed(sidecar: Sidecar) -> None:
    async def work() -> None:
        raise AssertionError("It must not run.")

    waiting = work()
    before = asyncio.all_tasks()
    sidecar.spawn("Work", waiting)
    (task,) = asyncio.all_tasks() - before
    task.cancel()
    await asyncio.wait({task})
    assert inspect.getcoroutinestate(waiting) == inspect.CORO_CLOSED
