"""Edits of files that are not Lerim's own: shown as a difference, made only while the file is as it was read."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lerim.errors import BoundaryError, StaleError
from lerim.files import FileUpdate, make_edits, render_diff


def test_an_edit_is_shown_as_a_unified_diff(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    assert render_diff(FileUpdate(path, "one\ntwo\n", "one\nthree\n", ""), "AGENTS.md") == (
        "--- AGENTS.md\n+++ AGENTS.md\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"
    )
    assert render_diff(FileUpdate(path, None, "new\n", ""), "AGENTS.md").startswith("--- /dev/null\n+++ AGENTS.md\n")
    assert render_diff(FileUpdate(path, "old\n", None, ""), "AGENTS.md").startswith("--- AGENTS.md\n+++ /dev/null\n")
    assert render_diff(FileUpdate(path, "same\n", "same\n", "")) == ""


def test_edits_create_change_and_remove_files_and_can_be_reversed(tmp_path: Path) -> None:
    created, changed, removed = (tmp_path / name for name in ("deep/new.json", "changed.md", "removed.md"))
    changed.write_bytes(b"one\r\n")
    changed.chmod(0o640)
    removed.write_bytes(b"gone\n")
    edits = [
        FileUpdate(created, None, "{}\n", ""),
        FileUpdate(changed, "one\r\n", "two\r\n", ""),
        FileUpdate(removed, "gone\n", None, ""),
        FileUpdate(tmp_path / "same.md", None, None, ""),
    ]
    made = make_edits(edits)
    assert made == edits[:3]
    assert created.read_bytes() == b"{}\n"
    assert changed.read_bytes() == b"two\r\n"
    assert changed.stat().st_mode & 0o777 == 0o640
    assert not removed.exists()
    make_edits([edit.inverse() for edit in reversed(made)])
    assert not created.exists()
    assert changed.read_bytes() == b"one\r\n"
    assert removed.read_bytes() == b"gone\n"


def test_a_file_saved_since_it_was_read_keeps_its_text_and_earlier_edits_are_taken_back(tmp_path: Path) -> None:
    first, second = tmp_path / "first.md", tmp_path / "second.md"
    first.write_text("1")
    second.write_text("saved meanwhile")
    with pytest.raises(StaleError):
        make_edits([FileUpdate(first, "1", "2", ""), FileUpdate(second, "as read", "new", "")])
    assert first.read_text() == "1"
    assert second.read_text() == "saved meanwhile"
    with pytest.raises(StaleError):
        make_edits([FileUpdate(second, None, "created", "")])
    assert second.read_text() == "saved meanwhile"


def test_what_cannot_be_taken_back_keeps_no_other_edit_from_it(tmp_path: Path) -> None:
    first, second = tmp_path / "first.md", tmp_path / "folder" / "second.md"
    first.write_text("1")

    def edits() -> Iterator[FileUpdate]:
        yield FileUpdate(first, "1", "2", "")
        yield FileUpdate(second, None, "new", "", tmp_path)
        second.parent.rename(tmp_path / "moved")
        second.parent.symlink_to(tmp_path / "moved")
        yield FileUpdate(first, "as read", "3", "")

    with pytest.raises(StaleError):
        make_edits(edits())
    assert first.read_text() == "1"


def test_a_linked_dotfile_is_changed_where_it_leads_and_a_link_in_a_repository_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "settings.json"
    target.parent.mkdir()
    target.write_text("{}")
    link = tmp_path / "home" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(target)
    make_edits([FileUpdate(link, "{}", '{"a": 1}', "")])
    assert link.is_symlink()
    assert target.read_text() == '{"a": 1}'
    with pytest.raises(BoundaryError):
        make_edits([FileUpdate(link, '{"a": 1}', "{}", "", anchor=tmp_path / "home")])
    assert target.read_text() == '{"a": 1}'


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_whoever_watches_a_folder_is_told_last_that_a_changed_file_is_there(tmp_path: Path) -> None:
    """VS Code takes a file whose last event says that it went for deleted, and goes on showing its old text."""
    path = tmp_path / "memory.md"
    path.write_text("1")
    moved_from, moved_to = 0x40, 0x80
    library = ctypes.CDLL(None, use_errno=True)
    watch = library.inotify_init1(os.O_NONBLOCK)
    try:
        assert library.inotify_add_watch(watch, os.fsencode(tmp_path), moved_from | moved_to) > 0
        make_edits([FileUpdate(path, "1", "2", "")])
        events = os.read(watch, 65_536)
    finally:
        os.close(watch)
    seen: list[int] = []
    while events:
        _, mask, _, length = struct.unpack_from("iIII", events)
        if events[16 : 16 + length].rstrip(b"\0") == path.name.encode():
            seen.append(mask)
        events = events[16 + length :]
    assert path.read_text() == "2"
    assert seen[-1] == moved_to, [hex(mask) for mask in seen]
