"""A repository, a person's home and Claude Code's folder, and sessions written there as tests need them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from claude_lines import Fields, answer, call, encoded, prompt, reply, text
from finished import finish
from lerim.jobs import sync
from lerim.jobs.report import SyncEvent, SyncReport
from lerim.jobs.sync_context import SyncOptions
from lerim.models.editor import EditorBridge
from lerim.paths import Home
from lerim.review import queue
from lerim.review.review_paths import ReviewPaths
from proposals import review_paths


@dataclass
class Desk:
    """A repository, a person's home and Claude Code's folder, with the shortest words for what happens there."""

    repo: Path
    home: Home
    projects: Path

    @property
    def place(self) -> ReviewPaths:
        return review_paths(self.repo, self.home)

    def session(self, name: str, *records: Fields, cwd: Path | None = None) -> Path:
        """Writes (or continues) a session of this repository that is over."""
        folder = self.projects / re.sub(r"[^A-Za-z0-9]", "-", str(cwd or self.repo))
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{name}.jsonl"
        with path.open("ab") as file:
            file.write(encoded(*({**record, "cwd": str(cwd or self.repo), "sessionId": name} for record in records)))
        return finish(path)

    def sync(
        self,
        options: SyncOptions | None = None,
        emit: Callable[[SyncEvent], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        bridge: EditorBridge | None = None,
    ) -> SyncReport:
        at, options = self.place, options or SyncOptions()
        return sync.sync_project(at.project, at.home, os.environ, options, emit, cancelled, clock, bridge)

    def memories(self) -> list[str]:
        """The titles of the memories, sorted."""
        return sorted(item.record.title for item in self.place.store().load_all()[0])

    def waiting(self) -> list[str]:
        return [proposal.record.title for proposal in queue.list_pending(self.place)[0]]


def desk_in(home: Path, repo: Path) -> Desk:
    """The desk of a person with this folder as their home."""
    return Desk(repo, Home(home / ".lerim"), home / ".claude" / "projects")


def correction(desk: Desk, subject: str = "pathlib", file: str = "src/app.py", over: str = "os.path") -> list[Fields]:
    """An exchange in which the person corrects the agent, and the agent does as told."""
    path = str(desk.repo / file)
    return [
        prompt(f"Read the config in {file}"),
        reply(f"a-{subject}", text(f"I will use {over} in {file}."), call(f"t-{subject}", "Read", file_path=path)),
        answer(f"t-{subject}", "def load(path): ..."),
        prompt(f"No, use {subject} instead of {over} in {file}."),
        reply(
            f"b-{subject}",
            text("Done."),
            call(f"e-{subject}", "Edit", file_path=path, old_string=over, new_string=subject),
        ),
        answer(f"e-{subject}", "The file was updated."),
        prompt("perfect, commit it"),
        reply(f"c-{subject}", text("Committed.")),
    ]
