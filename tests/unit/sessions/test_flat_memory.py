"""Memory does not grow with a transcript's size."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from claude_lines import answer, call, encoded, prompt, reply, text

SCRIPT = Path(__file__).parents[2] / "catalog_dump.py"
STATUS = Path("/proc/self/status")
PEAK = f"""
import runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, {str(SCRIPT.parent)!r})
runpy.run_path(sys.argv[0], run_name="__main__")
print(open({str(STATUS)!r}).read())
"""

pytestmark = pytest.mark.skipif(not STATUS.exists(), reason="this system does not tell a process's peak memory")


def peak(folder: Path, megabytes: int) -> float:
    """Peak resident MB of a process that indexes one transcript of this size."""
    path = folder / "claude" / "projects" / "-home-ana-app" / "long.jsonl"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        number = 0
        while file.tell() < megabytes * 1_000_000:
            number += 1
            asked = reply(f"m{number}", text(f"Step {number}"), call(f"t{number}", "Bash", command=f"make {number}"))
            file.write(encoded(prompt(f"Do {number}"), asked, answer(f"t{number}", f"line {number}\n" * 6000)))
    command = [sys.executable, "-c", PEAK, str(SCRIPT), str(folder / "home"), str(folder / "claude")]
    done = subprocess.run(command, input="\n", capture_output=True, text=True, check=True)
    found = re.search(r"VmHWM:\s+(\d+) kB", done.stdout)
    assert found
    return int(found[1]) / 1024


def test_a_transcript_ten_times_as_large_takes_no_more_memory(tmp_path):
    small, large = peak(tmp_path / "small", 10), peak(tmp_path / "large", 100)
    assert large < 200
    assert large < small + 25
