"""The files of the journal: killed writers, several at once, and folders where nothing can be written."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from desk import Desk
from journal_days import commit, entry
from killer import DONE, at_once, every_kill
from lerim.errors import LerimError
from lerim.journal import JournalEntry, write_entry
from lerim.journal.entry_files import is_as_written, render_entry_file


@pytest.fixture
def told(desk: Desk) -> JournalEntry:
    commit(desk, "Add notes", "2026-03-02T11:00:00Z", notes_DOT_txt="one")
    return entry(desk)


def path_of(desk: Desk) -> Path:
    return desk.repo / ".lerim/memory/journal/2026/03/02.md"


def write(desk: Desk, told: JournalEntry) -> None:
    write_entry(desk.place.project, desk.home, told)


def test_a_write_killed_at_any_moment_leaves_a_whole_entry_or_none_and_is_finished_by_the_next(
    desk: Desk, told: JournalEntry
) -> None:
    for kill in every_kill(every=1, least=3):
        shutil.rmtree(desk.repo / ".lerim", ignore_errors=True)
        kill(write, desk, told)
        assert not path_of(desk).exists() or path_of(desk).read_text("utf-8") == render_entry_file(told)
        write(desk, told)
        assert path_of(desk).read_text("utf-8") == render_entry_file(told)


def test_a_rewrite_killed_at_any_moment_leaves_the_old_entry_or_the_new_one(desk: Desk, told: JournalEntry) -> None:
    newer = replace(told, sentences=[replace(one, text=f"{one.text} And more.") for one in told.sentences])
    whole = {render_entry_file(told), render_entry_file(newer)}
    for kill in every_kill(every=1, least=2):
        shutil.rmtree(desk.repo / ".lerim", ignore_errors=True)
        write(desk, told)
        kill(write, desk, newer)
        assert path_of(desk).read_text("utf-8") in whole
        assert is_as_written(path_of(desk).read_text("utf-8"))
        write(desk, newer)
        assert path_of(desk).read_text("utf-8") == render_entry_file(newer)
    left = [path for path in (desk.repo / ".lerim/memory").rglob("*") if path.is_file() and path != path_of(desk)]
    assert left == []


def test_several_processes_at_once_leave_one_of_their_entries_whole(desk: Desk, told: JournalEntry) -> None:
    versions = [
        replace(told, sentences=[replace(one, text=f"{one.text} By {number}.") for one in told.sentences])
        for number in range(4)
    ]
    assert at_once(lambda number: write(desk, versions[number])) == [DONE] * 4
    assert path_of(desk).read_text("utf-8") in {render_entry_file(one) for one in versions}


def test_a_link_out_of_the_repository_is_not_followed(desk: Desk, told: JournalEntry, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (desk.repo / ".lerim/memory").mkdir(parents=True)
    (desk.repo / ".lerim/memory/journal").symlink_to(outside)
    with pytest.raises(LerimError):
        write(desk, told)
    assert list(outside.iterdir()) == []
