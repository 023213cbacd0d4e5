"""A repository with a home, whose memories agents' files hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lerim.paths import Home
from lerim.project import locate_project
from lerim.review import ReviewPaths


@pytest.fixture
def home() -> Home:
    return Home.from_environ(os.environ)


@pytest.fixture
def place(repo: Path, home: Home, monkeypatch: pytest.MonkeyPatch) -> ReviewPaths:
    monkeypatch.chdir(repo)
    project = locate_project(repo, home)
    assert project is not None
    return ReviewPaths(project, home)
