"""The window keeps the index of the agents' hooks up to date, for people who have hooks."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lerim.hook import find_hook_index, install_hook_program, refresh_hook_index
from lerim.paths import Home
from proposals import review_paths
from window import RECORD, Editor, write_memory

pytestmark = pytest.mark.asyncio


def has_hooks(home: Home) -> bool:
    return os.path.lexists(home.root / "run")


def titles(index: Path) -> str:
    with closing(sqlite3.connect(index)) as db:
        return "\n".join(text for (text,) in db.execute("SELECT text FROM memories"))


def denies(index: Path) -> str:
    with closing(sqlite3.connect(index)) as db:
        return str(db.execute("SELECT value FROM meta WHERE name = 'deny_once'").fetchone()[0])


async def test_a_changed_memory_and_a_changed_setting_reach_the_hooks(editor: Editor) -> None:
    place = review_paths(editor.repo)
    install_hook_program(place.home)
    write_memory(editor.repo)
    refresh_hook_index(place.project, place.home)
    index = find_hook_index(place.project.root, place.home)
    await editor.start()
    path = write_memory(editor.repo, id="20260802-retry-twice", title="Retry twice")
    editor.changed(path)
    await editor.until(lambda: "Retry twice" in titles(index))
    assert RECORD.title in titles(index)
    editor.configure(**{"agents.denyOnce": True})
    await editor.until(lambda: denies(index) == "1")


async def test_without_hooks_nothing_is_made(editor: Editor) -> None:
    await editor.start()
    editor.changed(write_memory(editor.repo))
    await editor.until(lambda: editor.memories() == 1)
    assert not has_hooks(Home.from_environ(os.environ))
