"""Where rollouts lie and what they are called; what is read of a packed one is bounded by what lies on the disk."""

from __future__ import annotations

import io
import itertools
import json
import time
from io import BufferedReader
from pathlib import Path

import pytest

import codex_lines as lines
from lerim.errors import TranscriptError
from lerim.sessions.readers import find_working_folder
from lerim.sessions.readers.codex import store
from lerim.sessions.readers.engine.compressed import (  # type: ignore[attr-defined] # zstd is of Python or of its package
    BASE_BYTES,
    BASE_LINES,
    BYTES_A_BYTE,
    BYTES_A_LINE,
    UnpackedStream,
    zstd,
)
from lerim.sessions.readers.engine.line_stream import BLOCK_BYTES

NAME = f"rollout-2026-03-01T00-00-00-{lines.THREAD}.jsonl"
OTHER = NAME.replace("0a.jsonl", "0b.jsonl")
SPOKEN = lines.encoded(
    lines.meta(), lines.prompt("Use uv"), lines.said("Yes"), lines.run("c1", "ls"), lines.ran("c1", 0)
)


def put(path: Path, data: bytes = SPOKEN) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


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


def test_a_packed_rollout_is_read_as_the_unpacked_one_and_a_bare_one_tells_its_folder(tmp_path):
    plain = put(tmp_path / NAME)
    packed = put(tmp_path / f"{NAME}.zst", zstd.compress(SPOKEN))
    turns, done = lines.reading(packed)
    assert turns == lines.reading(plain)[0]
    assert find_working_folder(lines.transcript(packed)) == "/home/ana/app"
    again, second = lines.reading(packed, b"whatever was known")
    assert (again, second.restarted, done.restarted) == (turns, True, False)
    context = "Current working directory: /home/ana/app\nApproval policy: never"  # of a bare one
    told = lines.message("user", f"<environment_context>\n{context}\n</environment_context>")["payload"]
    put(plain, b"".join(json.dumps(one).encode() + b"\n" for one in ({"id": "x"}, told)))
    assert find_working_folder(lines.transcript(plain)) == "/home/ana/app"
    assert find_working_folder(lines.transcript(put(tmp_path / "empty.jsonl", b""))) == ""


def test_a_thread_has_the_name_it_was_given(tmp_path):
    path = put(tmp_path / "sessions" / "2026" / "03" / "01" / NAME)
    assert lines.reading(path)[1].session.title == "Use uv"
    renamed = lines.event("thread_name_updated", thread_name=f"{'Rotate ' * 15} AKIA{'Q7XJ3PL2' * 2}")
    put(path, SPOKEN + lines.encoded(renamed))
    assert "AKIA" not in lines.reading(path)[1].session.title
    named = [{"id": lines.THREAD, "thread_name": "Move to uv"}, {"id": "other", "thread_name": "x"}, {"id": None}]
    put(tmp_path / "session_index.jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in named) + b'{"half')
    assert lines.reading(path)[1].session.title == "Move to uv"


# --- packed rollouts -----------------------------------------------------------------------------------------------

HEAD = lines.encoded(lines.meta(), lines.prompt("Said before it"))
MB = 1 << 20


def packed(block: bytes, times: int) -> bytes:
    packer = zstd.ZstdCompressor(level=3)
    return b"".join([packer.compress(HEAD), *(packer.compress(block) for _ in range(times)), packer.flush()])


@pytest.mark.parametrize(
    ("block", "times", "bound"),
    [
        (b"\n" * MB, 60, "lines"),
        (b"x\n" * MB, 30, "lines"),
        (b"{}" * MB + b"\n", 30, "MB"),
        (b'{"payload":{"content":' + b"[" * MB + b"\n", 60, "MB"),
        ((b'{"payload":{"exit_code":' + b"9" * 4000 + b"}}\n") * 100, 100, "MB"),
    ],
    ids=["empty lines", "no JSON", "objects on one line", "nested deep", "numbers of many digits"],
)
def test_a_bomb_is_read_as_far_as_its_size_allows_and_told(
    tmp_path: Path, block: bytes, times: int, bound: str
) -> None:
    path = put(tmp_path / f"{NAME}.zst", packed(block, times))
    size = path.stat().st_size
    with path.open("rb") as file, BufferedReader(raw := UnpackedStream(file, size), BLOCK_BYTES) as stream:
        held = 0
        while given := stream.read1(BLOCK_BYTES):
            held += given.count(b"\n")
        assert raw.unpacked_bytes <= BASE_BYTES + BYTES_A_BYTE * size + BLOCK_BYTES
        assert held <= BASE_LINES + size // BYTES_A_LINE
    turns, done = lines.reading(path)
    assert turns[0].text == "Said before it"
    told = [one for one in done.problems if one.code == "cut-short"]
    assert [one.path for one in told] == [str(path)]
    assert bound in told[0].message


def test_work_on_a_packed_file_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed(lines.encoded(lines.prompt("Do it")) * 1000, 10)
    clock = itertools.count(0.0, 8.0)
    monkeypatch.setattr(time, "thread_time", lambda: next(clock))
    stream = UnpackedStream(io.BytesIO(data), len(data))
    assert 0 < len(stream.read()) < len(zstd.decompress(data))
    assert "too long" in stream.stop_reason


def test_a_packed_rollout_is_read_whole_or_up_to_where_it_is_cut_or_damaged(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.zst"
    said = (f"{at}: {hash(('a', at))} {'because the tests say so ' * 40}" for at in range(1000))
    more = lines.encoded(*(lines.prompt(one) for one in said))
    whole = zstd.compress(HEAD + more)
    turns, done = lines.reading(put(path, whole))
    assert (len(turns), done.problems) == (1001, [])
    assert 0 < len(lines.reading(put(path, whole[: len(whole) // 2]))[0]) < 1001
    turns, done = lines.reading(put(path, zstd.compress(HEAD) + zstd.compress(more)[:-200] + b"\xff" * 200))
    assert turns[0].text == "Said before it"
    assert [one.code for one in done.problems] == ["cut-short"]
    with pytest.raises(TranscriptError, match="not compressed correctly"):
        lines.reading(put(path, b"\0" * 100))
