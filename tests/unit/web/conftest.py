"""A project of the dashboard without sessions, and the server that shows it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lerim.paths import Home
from lerim.project.project import add_project, locate_project
from lerim.review.review_paths import ReviewPaths
from web_server import WebServer, web_server


@pytest.fixture
def place(repo: Path, isolated: Path) -> ReviewPaths:
    """A registered project without a session."""
    home = Home(isolated / ".lerim", isolated)
    project = locate_project(repo, home)
    assert project
    return ReviewPaths(add_project(project, home), home)


@pytest.fixture
def server(place: ReviewPaths) -> Iterator[WebServer]:
    with web_server(place.home) as running:
        yield running
