"""A repository with a home, and candidates to put before it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lerim.extraction.candidate import Candidate
from lerim.memory.record import Evidence
from lerim.paths import Home
from lerim.project.project import locate_project
from lerim.review.review_paths import ReviewPaths

Make = Callable[..., Candidate]
START = datetime(2026, 8, 1, 10, 20, 30, tzinfo=UTC)


@pytest.fixture
def place(repo: Path, isolated: Path) -> ReviewPaths:
    home = Home(isolated / ".lerim")
    project = locate_project(repo, home)
    assert project is not None
    return ReviewPaths(project, home)


@pytest.fixture
def make() -> Make:
    """`make(title, body, turn=…, minutes=…)` is a candidate of its own turn."""

    def candidate(
        title: str = "Use uv, not pip",
        body: str = "Installs go through `uv pip sync requirements.lock`.",
        turn: str = "0a1b2c3d4e5f",
        minutes: int = 0,
        **more: object,
    ) -> Candidate:
        values: dict[str, object] = {
            "primitive": "decision",
            "kind": None,
            "title": title,
            "body": body,
            "confidence": 0.8,
            "tags": ("packaging",),
            "references": ("requirements.lock",),
            "evidence": (Evidence(f"no: {title}", turn, "user"),),
            "platform": "claude",
            "session": "s1",
            "turn": turn,
            "time": START + timedelta(minutes=minutes),
            "signal": "prompt",
        }
        return Candidate(**{**values, **more})  # type: ignore[arg-type]

    return candidate
