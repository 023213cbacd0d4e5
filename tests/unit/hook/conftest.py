"""A repository whose memories the installed hook program tells agents of."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hook_program import HookProgram, write_memories
from lerim.paths import Home
from lerim.project import Project, locate_project


@pytest.fixture
def home() -> Home:
    return Home.from_environ(os.environ)


@pytest.fixture
def project(repo: Path, home: Home) -> Project:
    found = locate_project(repo, home)
    assert found is not None
    return found


@pytest.fixture
def program(project: Project, home: Home) -> HookProgram:
    """The program with an index of four memories."""
    write_memories(project.memory_dir)
    installed = HookProgram(project, home)
    installed.refresh()
    return installed
