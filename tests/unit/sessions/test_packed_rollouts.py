"""Packed rollouts: what is read of one is bounded by what lies on the disk, and told where it is cut."""

from __future__ import annotations

import io
import itertools
from io import BufferedReader
from pathlib import Path

import pytest

import codex_lines as lines
from lerim.sessions.readers.engine.compressed import (
    BASE_BYTES,
    BASE_LINES,
    BYTES_A_BYTE,
    BYTES_A_LINE,
    UnpackedStream,
    zstd,
)
from lerim.sessions.readers.engine.line_stream import BLOCK_BYTES

NAME = "rollout-2026-03-01T00-00-00-0c0c0c0c-0000-4000-8000-00000000000c.jsonl.zst"
HEAD = lines.encoded(lines.meta(), lines.prompt("Said before it"))
MB = 1 << 20


def packed(block: bytes, times: int) -> bytes:
    packer = zstd.ZstdCompressor(level=3)
    return b"".join([packer.compress(HEAD), *(packer.compress(block) for _ in range(times)), packer.flush()])


BOMBS = {
    "empty lines": (b"\n" * MB, 60, "lines"),
    "lines that are no JSON": (b"x\n" * MB, 30, "lines"),
    "objects on one line": (b"{}" * MB + b"\n", 30, "MB"),
    "nested deep inside": (b'{"payload":{"content":' + b"[" * MB + b"\n", 60, "MB"),
    "numbers of many digits": ((b'{"payload":{"exit_code":' + b"9" * 4000 + b"}}\n") * 100, 100, "MB"),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_read_as_far_as_its_size_allows_and_told(tmp_path: Path, kind: str) -> None:
    block, times, bound = BOMBS[kind]
    path = tmp_path / NAME
    path.write_bytes(packed(block, times))
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


def test_work_on_a_packed_file_ends_when_its_time_is_over() -> None:
    data = packed(lines.encoded(lines.prompt("Do it")) * 1000, 10)
    clock = itertools.count(0.0, 8.0)
    stream = UnpackedStream(io.BytesIO(data), len(data), lambda: next(clock))
    assert 0 < len(stream.read()) < len(zstd.decompress(data))
    assert "too long" in stream.stop_reason


def test_a_rollout_is_read_whole_or_up_to_the_damage_in_its_middle(tmp_path: Path) -> None:
    path = tmp_path / NAME
    said = (f"{at}: {hash(('a', at))} {'because the tests say so ' * 40}" for at in range(1000))
    more = lines.encoded(*(lines.prompt(one) for one in said))
    path.write_bytes(zstd.compress(HEAD + more))
    turns, done = lines.reading(path)
    assert (len(turns), done.problems) == (1001, [])
    path.write_bytes(zstd.compress(HEAD) + zstd.compress(more)[:-200] + b"\xff" * 200)
    turns, done = lines.reading(path)
    assert turns[0].text == "Said before it"
    assert [one.code for one in done.problems] == ["cut-short"]
