"""Measures the first sync of a long history: alone, and with processes beside the writer.

    python benchmarks/first_sync.py [--sessions 803] [--json FILE]

The sessions are the shared real ones of Claude Code and Codex, repeated with other ids and partly other words and moved
into one repository, in a temporary folder; 803 of them are about 500 MB. They hold more text and fewer images than a
person's own history, so a megabyte of them takes longer. Both syncs have to propose the same, in the same order.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from indexing import load_sources, vary
from lerim.jobs.report import CandidateFound, SyncEvent
from lerim.jobs.sync import SyncOptions, sync_project
from lerim.paths import Home
from lerim.project import project as projects
from table import Row, report_rows

MAX_SECONDS, MAX_FIRST_SECONDS, MAX_MEGABYTES = 12.0, 2.0, 250.0
CWD = re.compile(rb'"cwd":"[^"]*"')
NEWEST = 1_770_000_000


@dataclass(frozen=True)
class FirstSync:
    """Seconds until the end and until the first candidate, seconds of processor and the most resident MB of all
    processes, and a digest of what was proposed."""

    seconds: float
    first: float
    processor: float
    peak: float
    candidates: int
    digest: str


def write_history(base: Path, sessions: int, largest: int = sys.maxsize) -> float:
    """Writes sessions that ran in `base/repo`, each a minute older than the one before, made from those of at most so
    many bytes; their MB."""
    root = base / "repo"
    (root / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    claude = [("claude", source) for source in load_sources("claude/projects")]
    codex = [("codex", source) for source in load_sources("codex/sessions")]
    sources = [one for one in [*claude, *codex] if len(one[1]) <= largest]
    cwd, written = b'"cwd":"%s"' % str(root).encode(), 0
    for number in range(sessions):
        agent, source = sources[number % len(sources)]
        session = f"{number:08x}-0000-4000-8000-000000000000"
        if agent == "claude":
            path = base / ".claude" / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(root)) / f"{session}.jsonl"
        else:
            path = base / ".codex" / "sessions" / "2026" / "03" / "01" / f"rollout-2026-03-01T10-00-00-{session}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        written += path.write_bytes(CWD.sub(lambda _: cwd, vary(source, number + 1)))
        os.utime(path, (NEWEST - 60 * number,) * 2)
    return written / 1e6


def run_sync(base: Path) -> FirstSync:
    """Syncs `base/repo` in this process."""
    home = Home.from_environ(os.environ)
    project = projects.locate_project(base / "repo", home)
    assert project is not None
    first = 0.0
    began = time.perf_counter()

    def note(event: SyncEvent) -> None:
        nonlocal first
        if isinstance(event, CandidateFound) and not first:
            first = time.perf_counter() - began

    watch = MemoryWatch()
    watch.start()
    report = sync_project(project, home, os.environ, SyncOptions(model="none"), note, lambda: False)
    seconds, spent = time.perf_counter() - began, os.times()
    watch.ended.set()
    watch.join()
    said = repr([(one.title, one.turn) for one in report.candidates])
    digest = hashlib.sha256(said.encode()).hexdigest()[:12]
    return FirstSync(seconds, first, sum(spent[:4]), watch.peak, len(report.candidates), digest)


class MemoryWatch(threading.Thread):
    """Looks every tenth of a second how many MB this process and its children hold together (Linux only)."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak = 0.0
        self.ended = threading.Event()

    def run(self) -> None:
        own = Path("/proc/self/task")
        while own.exists() and not self.ended.wait(0.1):
            children = [pid for task in own.iterdir() for pid in read_living(task / "children").split()]
            self.peak = max(self.peak, sum(map(resident_mb, ("self", *children))))


def resident_mb(pid: str) -> float:
    found = re.search(r"VmRSS:\s+(\d+) kB", read_living(Path("/proc", pid, "status")))
    return int(found[1]) / 1024 if found else 0.0


def read_living(path: Path) -> str:
    """A file that tells of a process or thread; "" if that ended meanwhile."""
    try:
        return path.read_text()
    except OSError:
        return ""


def measure(base: Path, how: str) -> FirstSync:
    """Runs a first sync in a process of its own."""
    review = base / "repo" / ".lerim"
    if review.exists():
        review.rename(base / f"before-{how}")
    server = str(Path(__file__).resolve().parents[1] / "server")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "CODEX_", "CLAUDE_"))}
    environ = {**kept, "HOME": str(base), "LERIM_HOME": str(base / how), "PYTHONPATH": server}
    command = [sys.executable, __file__, "--run", how, str(base)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environ)
    return FirstSync(**json.loads(done.stdout))


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--sessions", type=int, default=803)
    arguments.add_argument("--json", type=Path)
    arguments.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.run:
        if options.run[0] == "alone":
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # there is no pool of readers on one processor
        print(json.dumps(asdict(run_sync(Path(options.run[1])))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        megabytes = write_history(base, options.sessions)
        alone, together = measure(base, "alone"), measure(base, "together")
    rows: list[Row] = []
    for how, found in (("alone", alone), ("with processes", together)):
        rows += [
            (f"first sync of {options.sessions} sessions, {megabytes:.0f} MB, {how}", found.seconds, MAX_SECONDS, "s"),
            (f"its first candidate, {how}", found.first, MAX_FIRST_SECONDS, "s"),
            (f"memory of all processes, {how}", found.peak, MAX_MEGABYTES, "MB"),
            (f"processor time of all processes, {how}", found.processor, None, "s"),
        ]
    report_rows(rows, options.json)
    same = together.digest == alone.digest
    print(f"{together.candidates} candidates, {'the same' if same else 'NOT THE SAME'} in both")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
