"""Where rollouts lie, packed or not, and what they are called."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest

import codex_lines as lines
from lerim import paths
from lerim.sessions.readers.codex import store
from lerim.sessions.readers.engine.compressed import zstd

NAME = f"rollout-2026-03-01T00-00-00-{lines.THREAD}.jsonl"
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
        ({"HOME": "/Users/ana"}, "darwin", PurePosixPath("/Users/ana/.codex")),
        ({"USERPROFILE": r"C:\Users\ana"}, "win32", PureWindowsPath(r"C:\Users\ana\.codex")),
        ({"HOME": "/home/ana", "CODEX_HOME": "/data/codex"}, "linux", PurePosixPath("/data/codex")),
    ],
)
def test_the_store_is_where_codex_keeps_it_on_every_system(environ, platform, root):
    assert paths.codex_roots(environ, platform) == (root,)


def test_rollouts_are_found_in_dated_folders_and_in_the_archive(tmp_path):
    put(tmp_path / "sessions" / "2026" / "03" / "01" / NAME)
    put(tmp_path / "archived_sessions" / NAME.replace("0a.jsonl", "0b.jsonl"))
    put(tmp_path / "sessions" / "rollout-2025-04-20-5d0c4c0e-6a0e-4a55-9b7e-3a0f7a1f0c47.json")
    put(tmp_path / "sessions" / "2026" / "03" / "01" / "notes.jsonl")
    put(tmp_path / "history.jsonl")
    found = store.scan_root(tmp_path, ())
    assert sorted(one.session_id[-2:] for one in found.transcripts) == ["0a", "0b", "47"]
    assert {one.session_id for one in found.transcripts} >= {lines.THREAD}
    assert (found.databases, found.problems) == ([], [])


def test_a_store_that_does_not_exist_holds_nothing(tmp_path):
    assert store.scan_root(tmp_path / "none", ()).transcripts == []


def test_of_a_rollout_that_lies_there_packed_and_unpacked_one_is_told(tmp_path):
    put(tmp_path / "sessions" / NAME)
    put(tmp_path / "sessions" / f"{NAME}.zst", zstd.compress(SPOKEN))
    put(tmp_path / "sessions" / f"{NAME.replace('0a.jsonl', '0b.jsonl')}.zst", zstd.compress(SPOKEN))
    found = store.scan_root(tmp_path, ()).transcripts
    assert [one.path.name[-12:] for one in found] == [f"{NAME}"[-12:], "0b.jsonl.zst"]
    assert found[1].session_id.endswith("0b")


def test_a_packed_rollout_is_read_as_the_unpacked_one(tmp_path):
    plain = put(tmp_path / NAME)
    packed = put(tmp_path / f"{NAME}.zst", zstd.compress(SPOKEN))
    turns, done = lines.reading(packed)
    assert turns == lines.reading(plain)[0]
    assert store.probe_folder(lines.transcript(packed)) == "/home/ana/app"
    again, second = lines.reading(packed, b"whatever was known")
    assert (again, second.restarted, done.restarted) == (turns, True, False)


def test_a_packed_rollout_that_is_cut_gives_what_it_holds_and_one_that_is_damaged_is_told(tmp_path):
    whole = zstd.compress(lines.encoded(lines.meta(), *(lines.prompt(f"Step {at}") for at in range(2000))))
    turns, _ = lines.reading(put(tmp_path / "cut.jsonl.zst", whole[: len(whole) // 2]))
    assert len(turns) < 2000
    with pytest.raises(Exception, match="not compressed correctly"):
        lines.reading(put(tmp_path / "damaged.jsonl.zst", b"\0" * 100))


STATUS = Path("/proc/self/status")
READ = f"""
import sys
sys.path[:0] = {[str(Path(lines.__file__).parent)]!r}
import pathlib, codex_lines
done = codex_lines.open_session(codex_lines.transcript(pathlib.Path(sys.argv[1])), brief=len(sys.argv) > 2)
print(sum(1 for _ in done), [one.code for one in done.problems])
print(open({str(STATUS)!r}).read())
"""


@pytest.mark.skipif(not STATUS.exists(), reason="this system does not tell a process's peak memory")
def test_a_packed_line_of_a_gigabyte_does_not_fill_the_memory(tmp_path):
    packer = zstd.ZstdCompressor(level=1)
    block = b" " * (1 << 24)
    parts = [
        packer.compress(SPOKEN[:-1]),
        *(packer.compress(block) for _ in range(64)),
        packer.compress(b"\n" + SPOKEN),
    ]
    path = put(tmp_path / f"{NAME}.zst", b"".join([*parts, packer.flush()]))
    command = [sys.executable, "-c", READ, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ})
    assert "['cut-short']" in done.stdout
    peak = re.search(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert peak
    assert int(peak[1]) < 200 * 1024


def test_a_thread_has_the_name_it_was_given(tmp_path):
    path = put(tmp_path / "sessions" / "2026" / "03" / "01" / NAME)
    assert lines.reading(path)[1].session.title == "Use uv"
    named = [{"id": lines.THREAD, "thread_name": "Move to uv"}, {"id": "other", "thread_name": "x"}, {"id": None}]
    put(tmp_path / "session_index.jsonl", b"".join(json.dumps(one).encode() + b"\n" for one in named) + b'{"half')
    assert lines.reading(path)[1].session.title == "Move to uv"


def test_the_folder_of_a_bare_rollout_is_in_its_first_message(tmp_path):
    text = "Current working directory: /home/ana/app\nApproval policy: never"
    bare = [{"id": "x", "timestamp": "2025-08-01T00:00:00Z"}, lines.message("user", text)["payload"]]
    path = put(tmp_path / NAME, b"".join(json.dumps(one).encode() + b"\n" for one in bare))
    assert store.probe_folder(lines.transcript(path)) == "/home/ana/app"
    path.unlink()
    assert store.probe_folder(lines.transcript(put(tmp_path / "empty.jsonl", b""))) == ""


def peak(path: Path) -> float:
    """Peak resident MB of a process that reads this rollout."""
    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True)
    found = re.search(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert found
    return int(found[1]) / 1024


@pytest.mark.skipif(not STATUS.exists(), reason="this system does not tell a process's peak memory")
def test_a_rollout_ten_times_as_large_takes_no_more_memory(tmp_path):
    def written(megabytes: int) -> Path:
        path = tmp_path / f"rollout-{megabytes}.jsonl"
        with path.open("wb") as file:
            file.write(lines.encoded(lines.meta()))
            number = 0
            while file.tell() < megabytes * 1_000_000:
                number += 1
                done = lines.ran(f"c{number}", 0, f"line {number}\n" * 6000)
                file.write(
                    lines.encoded(lines.prompt(f"Do {number}"), lines.said("Yes"), lines.run(f"c{number}", "make"))
                )
                file.write(lines.encoded(done, lines.spent(number * 9, 0, number)))
        return path

    assert peak(written(200)) < peak(written(20)) + 25
