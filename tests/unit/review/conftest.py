"""A repository with a home, and candidates to put before it."""

from pathlib import Path

import pytest

from lerim.paths import Home
from lerim.project.project import locate_project
from lerim.review.review_paths import ReviewPaths
from reviews import Make, made_candidate


@pytest.fixture
def place(repo: Path, isolated: Path) -> ReviewPaths:
    home = Home(isolated / ".lerim")
    project = locate_project(repo, home)
    assert project is not None
    return ReviewPaths(project, home)


@pytest.fixture
def make() -> Make:
    """`make(title, body, turn=…, minutes=…)` is a candidate of its own turn."""
    return made_candidate
