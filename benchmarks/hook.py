"""Measures the hook program: how long an agent waits for it at each event, what it is given, and how the index is made.

    python benchmarks/hook.py [--memories 10000] [--json FILE]

The whole process is measured, from its start to its end, beside `python -c pass` and `python -I -S -c pass`, taken in
turn, because what a process costs differs between machines.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lerim.hook import install_hook_program, refresh_hook_index
from lerim.memory import Store
from lerim.paths import Home
from lerim.project import Project, locate_project
from mcp_server import write_referenced_files
from memory_search import percentile, write_memories

CALLS = 60
P50_BUDGET_MS, P95_BUDGET_MS = 50.0, 100.0
CHARS_PER_TOKEN = 4
Row = tuple[str, float, float | None, str, float | None]
"""What, measured, budget, unit, and how many times `python -c pass` that is."""


class Caller:
    """Calls the installed program as an agent does."""

    def __init__(self, home: Home, repo: Path, environ: dict[str, str]) -> None:
        self._home = home
        self._repo = repo
        self._environ = environ

    def call(self, session: str, fields: dict[str, Any]) -> tuple[float, str]:
        """Returns the milliseconds a call took, and the text it gave."""
        payload = {"session_id": session, "cwd": str(self._repo), **fields}
        data = json.dumps(payload).encode()
        start = time.perf_counter()
        done = subprocess.run(
            [str(self._home.root / "bin" / "hook"), "claude"],
            input=data,
            capture_output=True,
            check=True,
            env=self._environ | {"CLAUDECODE": "1"},
        )
        took = (time.perf_counter() - start) * 1000
        return took, json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else ""


def make_events(project: Project, home: Home) -> dict[str, list[dict[str, Any]]]:
    """Events as they come: at a session's start, prompts that match a memory and prompts that do not, reads of files
    that memories are about, and failed commands."""
    stored, _ = Store(project.memory_dir, home.project(project.key)).load_all()
    some = random.Random(3).sample(stored, CALLS)
    prompts = [f"please look at this again: {one.record.title}" for one in some]
    paths = [one.record.references[0].partition("#")[0] for one in some if one.record.references]
    fixes = [one for one in stored if one.record.kind in ("friction", "pitfall", "procedure")][:CALLS]
    errors = [f"Exit code 1: {one.record.title}" for one in fixes]
    other = ["Could you make the sidebar a little wider and the font of the headings smaller, please?"] * CALLS
    read = {"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_response": {}}
    failed = {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": "make"}}
    return {
        "start": [{"hook_event_name": "SessionStart", "source": "startup"}] * CALLS,
        "prompt that names a memory": [{"hook_event_name": "UserPromptSubmit", "prompt": one} for one in prompts],
        "prompt about something else": [{"hook_event_name": "UserPromptSubmit", "prompt": one} for one in other],
        "read": [read | {"tool_input": {"file_path": str(project.root / path)}} for path in paths],
        "failed command": [failed | {"error": error} for error in errors],
    }


def measure(arguments: list[str]) -> float:
    """Returns the milliseconds of a bare interpreter."""
    start = time.perf_counter()
    subprocess.run([sys.executable, *arguments, "-c", "pass"], check=True)
    return (time.perf_counter() - start) * 1000


def event_rows(caller: Caller, events: dict[str, list[dict[str, Any]]]) -> list[Row]:
    """The rows of each kind of event, each call in a session of its own."""
    rows: list[Row] = []
    for name, calls in events.items():
        bare: list[float] = []
        isolated: list[float] = []
        times: list[float] = []
        texts: list[str] = []
        for number, fields in enumerate(calls):
            bare.append(measure([]))
            isolated.append(measure(["-I", "-S"]))
            took, text = caller.call(f"{name} {number}", fields)
            times.append(took)
            texts.append(text)
        given = [text for text in texts if text]
        usual = percentile(bare, 0.5)
        rows += [
            (f"{name}: python -c pass beside it: p50", usual, None, "ms", None),
            (f"{name}: python -I -S -c pass beside it: p50", percentile(isolated, 0.5), None, "ms", None),
            (f"{name}: p50", percentile(times, 0.5), P50_BUDGET_MS, "ms", percentile(times, 0.5) / usual),
            (f"{name}: p95", percentile(times, 0.95), P95_BUDGET_MS, "ms", percentile(times, 0.95) / usual),
            (f"{name}: answered", 100 * len(given) / max(1, len(texts)), None, "%", None),
        ]
        if given:
            tokens = sum(map(len, given)) / len(given) / CHARS_PER_TOKEN
            rows.append((f"{name}: tokens of an answer, about", tokens, None, "tokens", None))
    return rows


def index_rows(project: Project, home: Home) -> list[Row]:
    """The rows of making the index: the first time, with nothing changed, with one changed."""
    rows: list[Row] = []
    for what in ("for the first time", "with nothing changed", "with one memory changed"):
        if what == "with one memory changed":
            path = next(project.memory_dir.rglob("*.md"))
            path.write_text(path.read_text("utf-8") + "\nOne more line.\n", "utf-8")
        start = time.perf_counter()
        refresh_hook_index(project, home)
        rows.append((f"making the index {what}", time.perf_counter() - start, None, "s", None))
    return rows


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--memories", type=int, default=10_000)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        repo = Path(temporary).resolve() / "repo"
        subprocess.run(["git", "init", "-q", str(repo)], check=True)
        write_memories(repo / ".lerim" / "memory", options.memories, random.Random(7))
        write_referenced_files(repo)
        environ = os.environ | {"LERIM_HOME": str(Path(temporary) / "home")}
        home = Home.from_environ(environ)
        project = locate_project(repo, home)
        assert project is not None
        install_hook_program(home)
        made = index_rows(project, home)
        rows = [*event_rows(Caller(home, repo, environ), make_events(project, home)), *made]
    print(f"{options.memories:,} memories\n")
    for what, measured, budget, unit, ratio in rows:
        limit = "" if budget is None else f"{budget:.0f} {unit}"
        verdict = "" if budget is None else "ok" if measured <= budget else "NOT MET"
        times = "" if ratio is None else f"{ratio:.1f} × python -c pass"
        print(f"{what:75} {measured:9.2f} {unit:6} {limit:>10} {verdict:8}{times}".rstrip())
    if options.json:
        options.json.write_text(
            json.dumps([dict(zip(("what", "measured", "budget", "unit", "ratio"), row, strict=True)) for row in rows])
        )


if __name__ == "__main__":
    main()
