"""A repository, the working directory, whose memories agents' files hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from lerim.review import ReviewPaths


@pytest.fixture
def place(place: ReviewPaths, repo: Path, monkeypatch: pytest.MonkeyPatch) -> ReviewPaths:
    monkeypatch.chdir(repo)
    return place
