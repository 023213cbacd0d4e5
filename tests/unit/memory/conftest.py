"""A repository as a project, and the person's home."""

from pathlib import Path

import pytest

from lerim.paths import Home
from lerim.project.project import Project, locate_project


@pytest.fixture
def home(isolated: Path) -> Home:
    return Home(isolated / ".lerim")


@pytest.fixture
def project(repo: Path, home: Home) -> Project:
    found = locate_project(repo, home)
    assert found is not None
    return found
