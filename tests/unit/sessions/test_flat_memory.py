"""Memory does not grow with a transcript's size, nor with what a packed one claims to hold."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import claude_lines
import codex_lines
from lerim.sessions.readers.engine.compressed import zstd  # type: ignore[attr-defined] # of Python or of its package

STATUS = Path("/proc/self/status")
INDEX = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(Path(claude_lines.__file__).parent)!r})
from catalog_dump import ByName
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.discovery import discover_stores
from lerim.sessions.readers.platform_readers import read_session
agent, root = sys.argv[1:]
found = discover_stores({{agent: [Path(root)]}}).transcripts
with Catalog.open(Home(Path(root) / "home")) as catalog:
    results = list(catalog.index_transcripts(((one, read_session(one, brief=True)) for one in found), ByName()))
print(len(results), [problem.code for one in results for problem in one.problems])
print(open({str(STATUS)!r}).read())
"""
pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="this system does not tell a process's peak memory")


def index_in_process(agent: str, root: Path) -> tuple[str, float]:
    """What a process says that indexes the one session in a store, and its peak resident MB."""
    command = [sys.executable, "-c", INDEX, agent, str(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert found
    assert done.stdout.startswith("1 ")
    return done.stdout.partition("\n")[0], int(found[1]) / 1024


def claude_steps(number: int) -> bytes:
    lines = claude_lines
    asked = lines.reply(f"m{number}", lines.text("Step"), lines.call(f"t{number}", "Bash", command=f"make {number}"))
    result = lines.answer(f"t{number}", f"line {number}\n" * 6000)
    return lines.encoded(lines.prompt(f"Do {number}"), asked, result)


def codex_steps(number: int) -> bytes:
    lines = codex_lines
    done = lines.ran(f"c{number}", 0, f"line {number}\n" * 6000)
    asked = lines.run(f"c{number}", "make")
    return lines.encoded(lines.prompt(f"Do {number}"), lines.said("Yes"), asked, done, lines.spent(number * 9, 0, 1))


@pytest.mark.parametrize(
    ("agent", "place", "head", "steps"),
    [
        ("claude", "projects/-home-ana-app/long.jsonl", b"", claude_steps),
        ("codex", f"sessions/rollout-{codex_lines.THREAD}.jsonl", codex_lines.encoded(codex_lines.meta()), codex_steps),
    ],
)
def test_a_transcript_ten_times_as_large_takes_no_more_memory(tmp_path, agent, place, head, steps):
    def peak(megabytes: int) -> float:
        path = tmp_path / str(megabytes) / place
        path.parent.mkdir(parents=True)
        with path.open("wb") as file:
            file.write(head)
            number = 0
            while file.tell() < megabytes * 1_000_000:
                number += 1
                file.write(steps(number))
        return index_in_process(agent, tmp_path / str(megabytes))[1]

    large = peak(50)
    assert large < 200
    assert large < peak(5) + 25


def test_a_packed_line_of_hundreds_of_megabytes_does_not_fill_the_memory(tmp_path):
    spoken = codex_lines.encoded(codex_lines.meta(), codex_lines.prompt("Use uv"))
    packer = zstd.ZstdCompressor(level=1)

    def parts() -> Iterator[bytes]:
        yield packer.compress(spoken[:-1])
        yield from (packer.compress(b" " * (1 << 24)) for _ in range(20))
        yield packer.compress(b"\n" + spoken) + packer.flush()

    path = tmp_path / "sessions" / f"rollout-{codex_lines.THREAD}.jsonl.zst"
    path.parent.mkdir()
    path.write_bytes(b"".join(parts()))
    said, peak = index_in_process("codex", tmp_path)
    assert "['cut-short']" in said
    assert peak < 200
