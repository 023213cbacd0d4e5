"""Compares the first indexing of Claude Code and Codex sessions with that of the command-line lerim 0.1.5.

    python benchmarks/earlier_release.py [--sessions 500] [--json FILE]

0.1.5 is installed once with pip into a folder in `build`. Without a package index nothing is measured, and the table
says so. Each version runs in its own process with its own home, on the same folders. The table also has the number of
characters that each version keeps of a session.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from indexing import write_claude_sessions, write_codex_sessions
from lerim.paths import Home
from lerim.project.project import FolderOwners
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.discovery import discover_stores
from lerim.sessions.model import Readable, Transcript
from lerim.sessions.readers.platform_readers import read_session

RELEASE = "lerim==0.1.5"
ROUNDS = 3
PLACE = Path(__file__).resolve().parents[1] / "build" / "upstream-0.1.5"
THEIRS = """
import json, os, sys, time
from pathlib import Path
from lerim.adapters.registry import connect_platform
from lerim.config.settings import get_config
from lerim.sessions.catalog import index_new_sessions
folder = Path(sys.argv[1])
for name, part in (("claude", "claude/projects"), ("codex", "codex/sessions")):
    connect_platform(get_config().platforms_path, name, str(folder / part))
started, worked = time.perf_counter(), time.process_time()
index_new_sessions()
seconds, busy = time.perf_counter() - started, time.process_time() - worked
import sqlite3
db = sqlite3.connect(get_config().sessions_db_path)
held, characters = db.execute("SELECT count(*), sum(length(content)) FROM session_docs").fetchone()
print(json.dumps({"seconds": seconds, "busy": busy, "sessions": held, "characters": characters or 0}))
"""


def install_release() -> Path | None:
    """The interpreter that has 0.1.5; None where it cannot be installed."""
    python = PLACE / "bin" / "python"
    done = PLACE / "installed"
    if not done.exists():
        made = [[sys.executable, "-m", "venv", str(PLACE)], [str(python), "-m", "pip", "install", "-q", RELEASE]]
        for command in made:
            if subprocess.run(command, check=False, capture_output=True, timeout=900).returncode:
                return None
        done.touch()
    return python


def index_with_this_version(folder: Path, home: Path) -> dict[str, float]:
    """Indexes with what this repository has."""
    started, worked = time.perf_counter(), time.process_time()
    stores = discover_stores({"claude": [folder / "claude"], "codex": [folder / "codex"]})
    with Catalog.open(Home(home)) as catalog:

        def readings() -> Iterator[tuple[Transcript, Readable]]:
            for one in stores.transcripts:
                yield one, read_session(one, None, brief=True)

        for done in catalog.index_transcripts(readings(), FolderOwners()):
            if done.failed:
                sys.exit(f"a session could not be read: {done.problems}")
        seconds, busy = time.perf_counter() - started, time.process_time() - worked
        (held,) = catalog.db.execute("SELECT count(*) FROM sessions").fetchone()
        words = catalog.db.execute("SELECT sum(length(body)) FROM turns").fetchone()[0]
    return {"seconds": seconds, "busy": busy, "sessions": held, "characters": words}


def measure_in_process(command: list[str], home: Path) -> dict[str, float]:
    """What one of the two printed, run in a process of its own."""
    home.mkdir()
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[1] / "server")}
    if "--ours" not in command:
        environ.pop("PYTHONPATH")
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environ, timeout=900, cwd=home)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure_rows(sessions: int) -> list[dict[str, object]]:
    """The table's rows."""
    theirs = install_release()
    if theirs is None:
        return [{"metric": f"{RELEASE} could not be installed: not measured", "ours": "-", "budget": "faster"}]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        size = write_claude_sessions(folder / "claude", sessions) + write_codex_sessions(folder / "codex", sessions)
        own, other = [], []
        for at in range(ROUNDS):
            home = folder / f"own-{at}"
            own.append(
                measure_in_process([sys.executable, __file__, "--ours", str(folder), str(home)], folder / f"a{at}")
            )
            other.append(measure_in_process([str(theirs), "-c", THEIRS, str(folder)], folder / f"b{at}"))
    print(
        f"{size / 1e6:.0f} MB in {2 * sessions} sessions of Claude Code and Codex; the best of {ROUNDS} each, in turns"
    )
    found: list[dict[str, object]] = []
    for what, unit in (("seconds", "s"), ("busy", "s of processor")):
        ours_best, best = (min(one[what] for one in several) for several in (own, other))
        found.append(
            {
                "metric": f"first indexing of {2 * sessions} sessions, {unit} (beside: {RELEASE})",
                "ours": ours_best,
                "baseline": best,
                "ratio": ours_best / best,
                "budget": "< 1 ×",
                "ok": ours_best < best,
            }
        )
    kept, theirs_kept = (one["characters"] / max(1, one["sessions"]) for one in (own[0], other[0]))
    metric = f"text kept of a session, characters (beside: {RELEASE})"
    return [*found, {"metric": metric, "ours": kept, "baseline": theirs_kept, "ratio": 0, "budget": "", "ok": True}]


def main() -> int:
    """Measure, print, and write the rows where asked."""
    parser = argparse.ArgumentParser(description="First indexing beside lerim 0.1.5.")
    parser.add_argument("--sessions", type=int, default=500, help="of each of the two agents")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--ours", nargs=2, type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ours:
        print(json.dumps(index_with_this_version(*options.ours)))
        return 0
    found = measure_rows(options.sessions)
    for row in found:
        print("  ".join(f"{value:.2f}" if isinstance(value, float) else str(value) for value in row.values()))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.get("ok", True) for row in found) else 1


if __name__ == "__main__":
    sys.exit(main())
