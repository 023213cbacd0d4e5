"""Transcripts are found by looking, not by opening them."""

from __future__ import annotations

import os

from claude_lines import encoded, envelope, prompt
from lerim.sessions.model import StoreContents, Transcript
from lerim.sessions.readers.claude.store import probe_folder, scan_root
from rights import bound


def first_cwd(path):
    return probe_folder(Transcript("claude", path, "s", 1, 1, 1))


def touch(path, content=b"x"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_sessions_and_subagents_of_every_layout_are_found(tmp_path):
    assert scan_root(tmp_path / "nowhere") == StoreContents()
    project = tmp_path / "projects" / "-home-ana-app"
    touch(project / "s1.jsonl", b"1234")
    touch(project / "agent-old.jsonl")
    touch(project / "s1" / "subagents" / "agent-a1.jsonl")
    touch(project / "s1" / "subagents" / "workflows" / "wf_1" / "agent-a2.jsonl")
    for other in ("s1/subagents/agent-a1.meta.json", "s1/tool-results/x.txt", "sessions-index.json", "memory/a.md"):
        touch(project / other)
    touch(tmp_path / "projects" / "stray.jsonl")
    touch(tmp_path / "history.jsonl")
    store = scan_root(tmp_path)
    found = {(one.session_id, one.parent): one.stamp for one in store.transcripts}
    assert store.problems == []
    assert set(found) == {("s1", ""), ("agent-old", ""), ("agent-a1", "s1"), ("agent-a2", "s1")}
    known = (project / "s1.jsonl").stat()
    assert found["s1", ""] == (4, known.st_mtime_ns, known.st_ino)


def test_folders_pipes_and_broken_links_are_told_and_are_not_transcripts(tmp_path):
    project = tmp_path / "projects" / "p"
    (project / "folder.jsonl").mkdir(parents=True)
    (project / "broken.jsonl").symlink_to(tmp_path / "gone")
    if hasattr(os, "mkfifo"):
        os.mkfifo(project / "pipe.jsonl")
        assert first_cwd(project / "pipe.jsonl") == ""
    store = scan_root(tmp_path)
    assert store.transcripts == []
    assert {one.path for one in store.problems} == {str(entry) for entry in project.iterdir()}


def test_a_folder_that_may_not_be_listed_is_a_problem(tmp_path):
    closed = tmp_path / "projects" / "p"
    closed.mkdir(parents=True)
    closed.chmod(0)
    with bound():
        store = scan_root(tmp_path)
    closed.chmod(0o700)
    assert (store.transcripts, [one.code for one in store.problems]) == ([], ["unreadable"])


def test_the_first_working_directory_is_found_without_reading_the_file(tmp_path):
    path = touch(
        tmp_path / "s.jsonl", b'bad\n{"type":"summary","summary":"x"}\n' + encoded(prompt("Go", cwd="/a"), prompt("x"))
    )
    assert first_cwd(path) == "/a"
    far = encoded(envelope("system", cwd="", content="x" * 300_000), prompt("Go", cwd="/b"))
    assert first_cwd(touch(tmp_path / "far.jsonl", far)) == ""
    assert first_cwd(tmp_path / "gone.jsonl") == ""
    assert first_cwd(touch(tmp_path / "empty.jsonl", b"")) == ""
