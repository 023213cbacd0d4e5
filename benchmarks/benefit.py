"""Measures `lerim benefit` with 10,000 sessions, in each of which a memory was served.

    python benchmarks/benefit.py [--sessions 10000] [--json FILE]

Each session is one prompt, one answer and one command, as Claude Code writes them. Only the newest 300 are read, so the
time is bounded, whatever their number.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lerim.memory import MemoryRecord, Serving, render_record
from lerim.memory.serving.servings import FILE_NAME
from lerim.paths import Home
from lerim.project import make_personal_project
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import Transcript
from lerim.sessions.readers.platform_readers import read_session
from lerim.statistics import compute_benefit

MEMORIES = 100
BUDGET_SECONDS = 10.0
START = datetime(2026, 3, 1, tzinfo=UTC)


class NoOwners:
    """Every folder belongs to no project."""

    def find_owner(self, _cwd: str) -> str:
        return ""


def write_session(folder: Path, number: int) -> Transcript:
    """Writes one session in which a command runs a minute after the memory was served."""
    name = f"00000000-0000-4000-8000-{number:012d}"
    began = START + timedelta(minutes=5 * number)
    common = {"sessionId": name, "cwd": "/home/dev/app", "version": "2.1.100"}

    def record(minutes: int, role: str, content: object, **more: object) -> str:
        time_text = (began + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")
        message = {"role": role, "content": content, **more}
        return json.dumps(
            {**common, "type": role, "uuid": f"{name}-{minutes}-{role}", "timestamp": time_text, "message": message}
        )

    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": "pnpm test"}}
    result = [{"type": "tool_result", "tool_use_id": f"t{number}", "content": "ok"}]
    lines = (
        record(0, "user", f"Run test number {number}"),
        record(2, "assistant", [call], id=f"m{number}", model="claude-sonnet-4-5"),
        record(2, "user", result),
    )
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    stat = path.stat()
    return Transcript("claude", path, name, stat.st_size, stat.st_mtime_ns, stat.st_ino)


def main() -> int:
    """Builds the sessions, memories and servings, and measures."""
    arguments = argparse.ArgumentParser(description="Measure lerim benefit.")
    arguments.add_argument("--sessions", type=int, default=10_000)
    arguments.add_argument("--json", type=Path)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        home = Home(Path(temporary).resolve() / "home")
        project = make_personal_project(home)
        folder = Path(temporary).resolve() / "sessions"
        folder.mkdir()
        transcripts = [write_session(folder, number) for number in range(chosen.sessions)]
        with Catalog.open(home) as catalog:
            for _ in catalog.index_transcripts(((one, read_session(one)) for one in transcripts), NoOwners()):
                pass
        ids = []
        for number in range(MEMORIES):
            identifier = f"20260301-rule-{number}"
            record = MemoryRecord(
                identifier, "decision", f"Use pnpm instead of npm in part {number}", START, START, "manual", 0.9, (), ""
            )
            path = project.memory_dir / "decisions" / f"{identifier}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(render_record(record), encoding="utf-8")
            ids.append(identifier)
        private = home.project(project.key)
        private.mkdir(parents=True, exist_ok=True)
        with (private / FILE_NAME).open("w", encoding="utf-8") as file:
            for number, transcript in enumerate(transcripts):
                at = (START + timedelta(minutes=5 * number + 1)).timestamp()
                serving = Serving(at, "hook", "claude", "start", (ids[number % MEMORIES],), transcript.session_id)
                line = {name: getattr(serving, name) for name in serving.__struct_fields__}
                file.write(json.dumps(line) + "\n")
        began = time.perf_counter()
        benefit = compute_benefit(project, home)
        seconds = time.perf_counter() - began
    assert benefit.total.sessions == chosen.sessions, benefit.total
    print(
        f"{chosen.sessions:,} sessions: {seconds:.2f} s; followed {benefit.total.followed}, unknown {benefit.unknown}"
    )
    row = {
        "what": f"benefit, {chosen.sessions:,} sessions with a serving",
        "measured": seconds,
        "unit": "s",
        "budget": BUDGET_SECONDS,
    }
    if chosen.json:
        chosen.json.write_text(json.dumps([row]), encoding="utf-8")
    return int(seconds > BUDGET_SECONDS)


if __name__ == "__main__":
    os.environ.setdefault("LERIM_HOME", tempfile.gettempdir())
    sys.exit(main())
