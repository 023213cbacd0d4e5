"""A repository whose memories the installed hook program tells agents of."""

from __future__ import annotations

import pytest

from hook_program import HookProgram, write_memories
from lerim.paths import Home
from lerim.project import Project


@pytest.fixture
def program(project: Project, home: Home) -> HookProgram:
    """The program with an index of four memories."""
    write_memories(project.memory_dir)
    installed = HookProgram(project, home)
    installed.refresh()
    return installed
