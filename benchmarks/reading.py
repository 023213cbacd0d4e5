"""Measures how fast transcripts are read, compared with a loop that only decodes the same lines, and the memory used.

    python benchmarks/reading.py [folder with claude/projects] [--megabytes 300] [--json FILE]

Both loops run alternately in this process on the same data; the ratio is what counts, the MB/s (of processor time)
depend on the machine. Memory is the peak of a separate process that reads one file of the given size.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from lerim.sessions.model import Transcript
from lerim.sessions.readers.claude.turns import ClaudeReading

REPOSITORY = Path(__file__).resolve().parents[1]
SESSIONS = Path(os.environ.get("LERIM_TEST_SESSIONS") or REPOSITORY.parent / "shared" / "transcripts")


class BareBlock(msgspec.Struct):
    type: str = ""
    text: str = ""
    thinking: str = ""
    id: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw()
    tool_use_id: str = ""
    content: msgspec.Raw = msgspec.Raw()
    is_error: bool | None = None


class BareUsage(msgspec.Struct):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


class BareMessage(msgspec.Struct):
    id: str = ""
    model: str = ""
    content: str | list[BareBlock] = ""
    usage: BareUsage | None = None


class BareRecord(msgspec.Struct, rename="camel"):
    type: str = ""
    uuid: str = ""
    timestamp: str = ""
    cwd: str = ""
    git_branch: str = ""
    version: str = ""
    session_id: str = ""
    is_sidechain: bool = False
    message: BareMessage | None = None
    tool_use_result: msgspec.Raw = msgspec.Raw()


def bare(path: Path) -> int:
    decode = msgspec.json.Decoder(BareRecord).decode
    records = 0
    with path.open("rb") as file:
        for line in file:
            try:
                decode(line)
                records += 1
            except msgspec.MsgspecError:
                pass
    return records


def ours(path: Path) -> int:
    known = path.stat()
    transcript = Transcript("claude", path, path.stem, known.st_size, known.st_mtime_ns, known.st_ino)
    return sum(1 for _ in ClaudeReading(transcript))


def synthetic(path: Path, sources: list[Path], size: int) -> None:
    """One transcript of `size` bytes made by repeating real ones, each time with new ids."""
    blocks = [source.read_bytes().rstrip(b"\n") + b"\n" for source in sources]
    with path.open("wb") as file:
        number = 0
        while file.tell() < size:
            for block in blocks:
                fresh = b"%08x" % number
                again = block.replace(b'"uuid":"', b'"uuid":"' + fresh).replace(b'"id":"', b'"id":"' + fresh)
                file.write(again.replace(b'"tool_use_id":"', b'"tool_use_id":"' + fresh))
                number += 1


def seconds(run: Callable[[Path], object], paths: list[Path]) -> float:
    start = time.process_time()
    for path in paths:
        run(path)
    return time.process_time() - start


def peak(path: Path, run: str) -> float:
    """Peak resident megabytes of a process that imports this file and runs `run` on `path`; `idle` only imports."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure", run, str(path)],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    return float(json.loads(done.stdout))


def measured(run: str, path: Path) -> None:
    if run == "ours":
        ours(path)
    sys.stdout.write(json.dumps(resident()))


def resident() -> float:
    """This process's own peak; what `getrusage` says on Linux still holds the peak of the process that started it."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sessions", nargs="?", type=Path, default=SESSIONS)
    parser.add_argument("--megabytes", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--measure", nargs=2)
    asked = parser.parse_args()
    if asked.measure:
        measured(asked.measure[0], Path(asked.measure[1]))
        return
    paths = sorted((asked.sessions / "claude" / "projects").glob("*/*.jsonl"))
    if not paths:
        sys.exit(f"no sessions under {asked.sessions}/claude/projects; give the folder that holds claude/projects")
    size = sum(path.stat().st_size for path in paths) / 1e6
    best = {"bare": float("inf"), "ours": float("inf")}
    for _ in range(asked.rounds):
        best["bare"] = min(best["bare"], seconds(bare, paths))
        best["ours"] = min(best["ours"], seconds(ours, paths))
    print(f"{len(paths)} sessions, {size:.0f} MB, best of {asked.rounds}")
    print(f"  bare typed decoding   {size / best['bare']:7.0f} MB/s")
    ratio = best["bare"] / best["ours"]
    print(f"  the reader            {size / best['ours']:7.0f} MB/s   {ratio:.2f} of bare (aim ≥ 0.60)")
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.jsonl"
        synthetic(large, paths, asked.megabytes * 1_000_000)
        idle, used = peak(large, "idle"), peak(large, "ours")
    above = used - idle
    print(f"  memory, {asked.megabytes} MB file  {used:7.0f} MB peak, {above:.0f} MB above an idle process (aim ≤ 200)")
    if asked.json:
        rows = [
            {
                "what": "the reader, beside bare typed decoding",
                "measured": ratio,
                "budget": ">= 0.6",
                "ok": ratio >= 0.6,
            },
            {"what": f"memory above an idle process, {asked.megabytes} MB file", "measured": above, "unit": "MB"}
            | {"budget": "<= 200", "ok": above <= 200},
        ]
        asked.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
