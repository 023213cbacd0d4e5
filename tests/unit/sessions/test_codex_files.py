"""Where rollouts lie, packed or not, and what they are called."""

from __future__ import annotations

import json
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

import codex_lines as lines
from lerim import paths
from lerim.errors import TranscriptError
from lerim.sessions.readers.codex import store
from lerim.sessions.readers.engine.compressed import zstd

NAME = f"rollout-2026-03-01T00-00-00-{lines.THREAD}.jsonl"
OTHER = NAME.replace("0a.jsonl", "0b.jsonl")
SPOKEN = lines.encoded(
    lines.meta(), lines.prompt("Use uv"), lines.said("Yes"), lines.run("c1", "ls"), lines.ran("c1", 0)
)


def put(path: Path, data: bytes = SPOKEN) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(
    ("environ", "platform", "root"),
    [
        ({"HOME": "/home/ana"}, "linux", PurePosixPath("/home/ana/.codex")),
        ({"USERPROFILE": r"C:\Users\ana"}, "win32", PureWindowsPath(r"C:\Users\ana\.codex")),
        ({"HOME": "/home/ana", "CODEX_HOME": "/data/codex"}, "linux", PurePosixPath("/data/codex")),
    ],
)
def test_the_store_is_where_codex_keeps_it_on_every_system(environ, platform, root):
    assert paths.codex_roots(environ, platform) == (root,)


def test_rollouts_are_found_in_dated_folders_and_in_the_archive_and_of_a_packed_copy_only_the_original(tmp_path):
    assert store.scan_root(tmp_path / "none", ()).transcripts == []
    put(tmp_path / "sessions" / "2026" / "03" / "01" / NAME)
    put(tmp_path / "sessions" / "2026" / "03" / "01" / f"{NAME}.zst", zstd.compress(SPOKEN))
    put(tmp_path / "archived_sessions" / f"{OTHER}.zst", zstd.compress(SPOKEN))
    put(tmp_path / "sessions" / "rollout-2025-04-20-5d0c4c0e-6a0e-4a55-9b7e-3a0f7a1f0c47.json")
    put(tmp_path / "sessions" / "2026" / "03" / "01" / "notes.jsonl")
    put(tmp_path / "history.jsonl")
    found = store.scan_root(tmp_path, ())
    assert {(one.session_id[-2:], one.path.suffix) for one in found.transcripts} == {
        ("0a", ".jsonl"),
        ("0b", ".zst"),
        ("47", ".json"),
    }
    assert lines.THREAD in {one.session_id for one in found.transcripts}
    assert (len(found.transcripts), found.databases, found.problems) == (3, [], [])


def test_a_packed_rollout_is_read_as_the_unpacked_one(tmp_path):
    plain = put(tmp_path / NAME)
    packed = put(tmp_path / f"{NAME}.zst", zstd.compress(SPOKEN))
    turns, done = lines.reading(packed)
    assert turns == lines.reading(plain)[0]
    assert store.probe_folder(lines.transcript(packed)) == "/home/ana/app"
    again, second = lines.reading(packed, b"whatever was known")
    assert (again, second.restarted, done.restarted) == (turns, True, False)


def test_a_packed_rollout_that_is_cut_gives_what_it_holds_and_one_without_any_content_is_an_error(tmp_path):
    whole = zstd.compress(lines.encoded(lines.meta(), *(lines.prompt(f"Step {at}") for at in range(2000))))
    turns, _ = lines.reading(put(tmp_path / "cut.jsonl.zst", whole[: len(whole) // 2]))
    assert len(turns) < 2000
    with pytest.raises(TranscriptError, match="not compressed correctly"):
        lines.reading(put(tmp_path / "damaged.jsonl.zst", b"\0" * 100))


def test_a_thread_has_the_name_it_was_given(tmp_path):
    path = put(tmp_path / "sessions" / "2026" / "03" / "01" / NAME)
    assert lines.reading(path)[1].session.title == "Use uv"
    renamed = lines.event("thread_name_updated", thread_name=f"{'Rotate ' * 15} AKIA{'Q7XJ3PL2' * 2}")
    put(path, SPOKEN + lines.encoded(renamed))
    assert "AKIA" not in lines.reading(path)[1].session.title
    named = [{"id": lines.THREAD, "thread_name": "Move to uv"}, {"id": "other", "thread_name": "x"}, {"id": None}]
    put(tmp_path / "session_index.jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in named) + b'{"half')
    assert lines.reading(path)[1].session.title == "Move to uv"


def test_the_folder_of_a_bare_rollout_is_in_its_first_message(tmp_path):
    text = "Current working directory: /home/ana/app\nApproval policy: never"
    bare = [{"id": "x", "timestamp": "2025-08-01T00:00:00Z"}, lines.message("user", text)["payload"]]
    path = put(tmp_path / NAME, b"".join(json.dumps(one).encode() + b"\n" for one in bare))
    assert store.probe_folder(lines.transcript(path)) == "/home/ana/app"
    assert store.probe_folder(lines.transcript(put(tmp_path / "empty.jsonl", b""))) == ""
