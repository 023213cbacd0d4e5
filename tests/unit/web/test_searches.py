"""Searches stay open between requests, and the one that is closed for another is never waited for or left open."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lerim.memory import MemorySearch
from lerim.paths import Home
from lerim.project import Project, locate_project
from lerim.web.searches import MAX_OPEN, OpenSearches


def make_project(folder: Path, home: Home, git: Callable[..., str]) -> Project:
    folder.mkdir()
    git(folder, "init", "-q")
    found = locate_project(folder, home)
    assert found is not None
    return found


def test_a_search_in_use_is_closed_by_the_request_that_uses_it(
    tmp_path: Path, isolated: Path, git: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Home(isolated / ".lerim")
    closed: list[MemorySearch] = []
    close = MemorySearch.close
    monkeypatch.setattr(MemorySearch, "close", lambda self: (closed.append(self), close(self))[1])
    searches = OpenSearches()
    with searches.use(make_project(tmp_path / "first", home, git), home) as first:
        for number in range(MAX_OPEN):
            with searches.use(make_project(tmp_path / f"other{number}", home, git), home):
                pass
        assert closed == [], "the search is in use, and nobody waits for it"
        first.search("anything")
    assert closed == [first]
    searches.close()
    assert len(closed) == MAX_OPEN + 1
