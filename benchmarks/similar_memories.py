"""Measures how long commands take with many similar memories, as templates, imports or loops produce them.

    python benchmarks/similar_memories.py [--memories 10000] [--shapes number word equal theme] [--json FILE]

Each store has its own home. Different memories are measured by `maintenance.py` and `memory_search.py`. Every row is a
whole command, including the start of the process. Budgets are for 10,000 memories, and ten times that for 100,000.
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
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lerim.memory.record import Evidence, MemoryRecord, render_record
from memory_search import make_vocabulary

START = datetime(2025, 1, 1, tzinfo=UTC)
BODY = "The upload service drops every tenth request; the retry keeps the nightly job green. Measured on the cluster."
SHAPES = ("number", "word", "equal", "theme")
COMMANDS: tuple[tuple[str, float | None, tuple[str, ...]], ...] = (
    ("status, no index", None, ("status",)),
    ("memory search, the index made", None, ("memory", "search", "upload")),
    ("status", 4.0, ("status",)),
    ("memory list", 5.0, ("memory", "list")),
    ("memory list --json", None, ("memory", "list", "--json")),
    ("memory search", 3.0, ("memory", "search", "upload")),
    ("maintain --dry-run", 30.0, ("maintain", "--dry-run")),
    ("maintain, 50 proposals written", 40.0, ("maintain",)),
)
"""What is measured, its budget in seconds at 10,000 memories, and the command."""


def write_memories(folder: Path, shape: str, count: int) -> None:
    """Writes so many memories: one sentence with another number or word, one text, or one word in common."""
    draw = random.Random(3)
    words, weights = make_vocabulary(draw)
    for name in ("decisions", "learnings"):
        (folder / name).mkdir(parents=True)
    for number in range(count):
        time_ = START + timedelta(minutes=number)
        said = draw.choices(words, weights, k=40)
        title = {
            "number": f"Retry the upload {number} times before giving up",
            "word": f"Retry the {words[number % len(words)]} upload before giving up",
            "equal": "Retry the upload before giving up",
            "theme": f"Deployment {' '.join(said[:5])}",
        }[shape]
        learning = number % 2 == 0
        record = MemoryRecord(
            id=f"{time_:%Y%m%d}-memory-{number}",
            primitive="learning" if learning else "decision",
            title=title,
            created=time_,
            updated=time_,
            source=f"claude:session-{number // 20}#{number:012x}",
            confidence=0.8,
            tags=("deploy", "upload"),
            body=f"Deployment {' '.join(said[5:])}." if shape == "theme" else BODY,
            kind="pitfall" if learning else None,
            references=(f"src/part{number % 500}.py" if shape == "theme" else "src/upload.py",),
            evidence=(Evidence(title, f"{number:012x}", "user"),),
        )
        (folder / ("learnings" if learning else "decisions") / f"{record.id}.md").write_text(
            render_record(record), "utf-8"
        )


def time_command(repository: Path, home: Path, arguments: tuple[str, ...]) -> float:
    """Seconds of a whole command."""
    environ = {**os.environ, "HOME": str(home), "LERIM_HOME": str(home / ".lerim")}
    command = [sys.executable, "-m", "lerim", *arguments]
    start = time.perf_counter()
    subprocess.run(command, cwd=repository, env=environ, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--memories", type=int, default=10_000)
    arguments.add_argument("--shapes", nargs="*", choices=SHAPES, default=SHAPES)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    rows: list[dict[str, object]] = []
    for shape in options.shapes:
        with tempfile.TemporaryDirectory() as temporary:
            repository, home = Path(temporary).resolve() / "repo", Path(temporary).resolve() / "home"
            home.mkdir()
            subprocess.run(["git", "init", "-q", str(repository)], check=True)
            write_memories(repository / ".lerim" / "memory", shape, options.memories)
            for what, budget, command in COMMANDS:
                limit = None if budget is None else budget * max(1.0, options.memories / 10_000)
                measured = time_command(repository, home, command)
                verdict = "" if limit is None else f"{limit:.0f} s {'ok' if measured <= limit else 'NOT MET'}"
                print(f"{options.memories:,} {shape:8} {what:34} {measured:8.1f} s {verdict}", flush=True)
                rows.append({"what": f"{shape}: {what}", "measured": measured, "budget": limit, "unit": "s"})
    if options.json:
        options.json.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
