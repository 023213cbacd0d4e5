"""Measures how long a person waits for the first candidate of their first sync, with gigabytes of other sessions.

    python benchmarks/first_candidate.py [--gigabytes 5] [--json FILE]

The time runs from `Lerim: Sync` (with a running sidecar and an empty catalog) until the panel's list has a candidate.
The files of the other sessions have real lines at the beginning and are sparse after that: only their number, and what
is read of each, matters before the first candidate.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

from _editor_client import SERVER, Client
from lerim.lsp.protocol.core import CANDIDATES_CHANGED, MEMORIES_CHANGED, REVIEW_LIST, SYNC

BUDGET_S = 3.0
SIZE = 1_000_000
HEAD = 20_000
OWN = 12
WORDS = "It uses `load` in src/app.py, which reads the settings, and goes on about it at some length. " * 20


def make_claude_line(kind: str, session: str, cwd: str, number: int, content: Any) -> bytes:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"msg_{session[:8]}{number}", "type": "message", "model": "claude-opus-4-6"}
    line = {
        "type": kind,
        "uuid": f"{session[:8]}-{number:04x}-4000-8000-000000000000",
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "sessionId": session,
        "cwd": cwd,
        "version": "2.1.100",
        "timestamp": f"2026-03-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}.000Z",
        "message": message,
    }
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def make_claude_talk(session: str, cwd: str, size: int) -> Iterator[bytes]:
    """Prompts and answers of about `size` bytes from which nothing is learned."""
    written = 0
    for number in count(0, 2):
        if written > size:
            return
        lines = make_claude_line("user", session, cwd, number, f"What is next, {number}?")
        lines += make_claude_line("assistant", session, cwd, number + 1, [{"type": "text", "text": WORDS}])
        written += len(lines)
        yield lines


def make_correction(session: str, cwd: str) -> bytes:
    """An exchange from which something is learned."""
    said = [
        ("user", "Read the config in src/app.py"),
        ("assistant", [{"type": "text", "text": "I will use os.path in src/app.py."}]),
        ("user", "No, always use pathlib instead of os.path in src/app.py."),
        ("assistant", [{"type": "text", "text": "Done, src/app.py uses pathlib."}]),
        ("user", "perfect, commit it"),
        ("assistant", [{"type": "text", "text": "Committed."}]),
    ]
    return b"".join(make_claude_line(kind, session, cwd, 4000 + at, content) for at, (kind, content) in enumerate(said))


def make_codex_talk(session: str, cwd: str, size: int) -> Iterator[bytes]:
    """The same talk as Codex writes it; nothing in its file's name tells where it ran."""
    meta = {"id": session, "timestamp": "2026-03-01T00:00:00.000Z", "cwd": cwd, "originator": "codex_cli_rs"}
    yield make_codex_line("session_meta", meta | {"cli_version": "0.142.5", "base_instructions": {"text": WORDS * 10}})
    written = 0
    while written < size:
        said = make_codex_line("event_msg", {"type": "user_message", "message": f"What is next, {written}?"})
        said += make_codex_line("event_msg", {"type": "agent_message", "message": WORDS})
        written += len(said)
        yield said


def make_codex_line(kind: str, payload: dict[str, Any]) -> bytes:
    line = {"timestamp": "2026-03-01T00:00:00.000Z", "type": kind, "payload": payload}
    return json.dumps(line, separators=(",", ":")).encode() + b"\n"


def write_other_sessions(claude: Path, codex: Path, gigabytes: float) -> int:
    """Writes other projects' sessions, newer than the own ones, every second one of Codex; how many."""
    number = int(gigabytes * 1e9 / SIZE)
    for at in range(number):
        session = f"{at:08x}-1111-4000-8000-000000000000"
        cwd = f"/home/dev/other{at % 50}"
        place, name, make_talk = claude / "projects" / cwd.replace("/", "-"), f"{session}.jsonl", make_claude_talk
        if at % 2:
            day = at % 28 + 1
            place, make_talk = codex / "sessions" / "2026" / "03" / f"{day:02}", make_codex_talk
            name = f"rollout-2026-03-{day:02}T10-00-00-{session}.jsonl"
        place.mkdir(parents=True, exist_ok=True)
        with (place / name).open("wb") as file:
            for lines in make_talk(session, cwd, HEAD):
                file.write(lines)
            file.truncate(SIZE)
    return number


def write_own_sessions(folder: Path, root: Path) -> None:
    """Writes the project's own sessions, some megabytes, each with something to learn at its end. They ended an hour
    ago: what was said a moment ago is not settled."""
    place = folder / "projects" / "".join(c if c.isalnum() else "-" for c in str(root))
    place.mkdir(parents=True)
    for at in range(OWN):
        session = f"{at:08x}-2222-4000-8000-000000000000"
        path = place / f"{session}.jsonl"
        with path.open("wb") as file:
            file.writelines(make_claude_talk(session, str(root), SIZE))
            file.write(make_correction(session, str(root)))
        os.utime(path, (time.time() - 3600,) * 2)


def time_first_candidate(environ: dict[str, str], root: Path) -> float:
    """Seconds from the sync's start until a candidate can be shown."""
    client = Client([sys.executable, "-P", "-X", "utf8", "-m", "lerim", "lsp"], environ, root)
    client.until(MEMORIES_CHANGED)
    number = next(client.ids)
    began = time.perf_counter()
    client.send(SYNC, {"root": root.as_uri()}, number)
    client.until(CANDIDATES_CHANGED, lambda told: told["pending"] > 0)
    listed = client.ask(REVIEW_LIST, {"root": root.as_uri()})["candidates"]
    spent = time.perf_counter() - began
    if not listed:
        sys.exit("a candidate was told and not listed")
    client.send("$/cancelRequest", {"id": number})
    client.stop()
    return spent


def measure(gigabytes: float) -> float:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        root = base / "repo"
        (root / "src").mkdir(parents=True)
        (root / "src" / "app.py").write_text("def load(): ...\n", encoding="utf-8")
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        write_own_sessions(base / "claude", root)
        print(f"{write_other_sessions(base / 'claude', base / '.codex', gigabytes):,} other sessions, {gigabytes:g} GB")
        path = os.pathsep.join(filter(None, [str(SERVER), os.environ.get("PYTHONPATH", "")]))
        places = {"HOME": str(base), "LERIM_HOME": str(base / "lerim"), "CLAUDE_CONFIG_DIR": str(base / "claude")}
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "CODEX_", "COPILOT_"))
        }
        return time_first_candidate({**kept, **places, "PYTHONPATH": path}, root)


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--gigabytes", type=float, default=5.0)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    spent = measure(options.gigabytes)
    what = f"Sync to the first candidate in the panel, {options.gigabytes:g} GB of other sessions"
    print(f"{what}: {spent:.2f} s, budget {BUDGET_S:g} s, {'ok' if spent <= BUDGET_S else 'NOT MET'}")
    if options.json:
        row = {"what": what, "measured": spent, "budget": BUDGET_S, "unit": "s"}
        options.json.write_text(json.dumps([row], indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
