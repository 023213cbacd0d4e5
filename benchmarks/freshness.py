"""Measures how fast 1,000 references are checked again after a commit, and that only the changed files are read.

python benchmarks/freshness.py [--references 1000] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lerim.memory.freshness.drift import DriftChecker
from lerim.memory.freshness.verifying import verify_record
from lerim.memory.record import MemoryRecord, render_record
from lerim.paths import Home
from lerim.project.git import open_git
from lerim.project.project import Project, locate_project

NOW = datetime(2026, 11, 21, tzinfo=UTC)
FILES = 200
TOUCHED, RENAMED, DELETED = 10, 10, 10
LINES = 12
Row = tuple[str, float, float | None, str]
opened_files: set[str] = set()


def record_open(event: str, arguments: tuple[Any, ...]) -> None:
    """Notes which source files are opened."""
    if event == "open" and isinstance(arguments[0], str) and "/src/" in arguments[0]:
        opened_files.add(arguments[0])


def make_function(name: str, number: int) -> str:
    body = "".join(f"    value = value * {number + line} + other[{line}]\n" for line in range(LINES))
    return f"def {name}(value, other):\n{body}    return value\n"


def run_git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid", "-c", "gc.auto=0")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


def write_project(root: Path, home: Home, references: int) -> Project:
    each = references // FILES
    for number in range(FILES):
        path = root / "src" / f"module_{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        names = [make_function(f"name_{number}_{one}", number * 100 + one) for one in range(each)]
        path.write_text("\n\n".join(names), encoding="utf-8")
    run_git(root, "init", "-q")
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "Start")
    project = locate_project(root, home)
    assert project
    for number in range(references):
        reference = f"src/module_{number % FILES}.py#name_{number % FILES}_{number // FILES}"
        title = f"Memory {number} says what to do"
        made = MemoryRecord(
            f"20261101-memory-{number}", "decision", title, NOW, NOW, "manual", 0.8, (), title, references=(reference,)
        )
        place = project.memory_dir / "decisions" / f"{made.id}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(render_record(verify_record(project, home, made, NOW)), encoding="utf-8")
    return project


def commit_changes(root: Path, round_: int) -> None:
    """A commit that changes, renames and deletes files."""
    for number in range(TOUCHED):
        path = root / "src" / f"module_{number}.py"
        path.write_text(
            path.read_text(encoding="utf-8").replace("return value", f"return value + {round_}", 1), "utf-8"
        )
    (root / "src" / "moved").mkdir(exist_ok=True)
    for number in range(TOUCHED, TOUCHED + RENAMED):
        (root / "src" / f"module_{number}.py").rename(root / "src" / "moved" / f"module_{number}.py")
    for number in range(TOUCHED + RENAMED, TOUCHED + RENAMED + DELETED):
        (root / "src" / f"module_{number}.py").unlink()
    run_git(root, "add", ".")
    run_git(root, "commit", "-q", "-m", "On")


def time_ms(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def measure(references: int) -> list[Row]:
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder).resolve()
        root, home = base / "repo", Home(base / "home")
        began = time.perf_counter()
        project = write_project(root, home, references)
        accepted = (time.perf_counter() - began) * 1000 / references
        rows.append(("a memory written and verified", accepted, None, "ms"))
        fresh = DriftChecker(project, home)
        fresh.check(subjects=())
        sys.addaudithook(record_open)
        opened_files.clear()
        what = f"{references:,} references, nothing changed"
        rows.append((what, time_ms(lambda: fresh.check(subjects=())), None, "ms"))
        rows.append(("files read for it", len(opened_files), 0, ""))
        commit_changes(root, 1)
        opened_files.clear()
        what = f"{references:,} references after a commit of {TOUCHED + RENAMED + DELETED} files, as the editor looks"
        rows.append((what, time_ms(lambda: fresh.check(subjects=())), None, "ms"))
        rows.append(("files read for it", len(opened_files), TOUCHED + RENAMED, ""))
        each = references // FILES
        drifts = fresh.summary().drift_by_memory
        drifted = sum(one.state == "drifted" for one in drifts.values())
        moved = sum(one.state == "fresh" and bool(one.moved_to) for one in drifts.values())
        gone = sum(one.state == "gone" for one in drifts.values())
        missed = abs(drifted - TOUCHED) + abs(moved - RENAMED * each) + abs(gone - DELETED * each)
        rows.append(("references that were told wrong", missed, 0, ""))
        there = open_git(root, os.environ)
        if there is not None:
            what = f"the same in a job: all {references:,} memory files read, with git"
            rows.append((what, time_ms(lambda: DriftChecker(project, home, there).check()), None, "ms"))
    return rows


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--references", type=int, default=1_000)
    arguments.add_argument("--json", type=Path)
    options = arguments.parse_args()
    rows = measure(options.references)
    print(f"{'what':72} {'measured':>12} {'budget':>10}")
    for what, measured, budget, unit in rows:
        verdict = "" if budget is None else "ok" if measured <= budget else "NOT MET"
        print(f"{what:72} {measured:>9.2f} {unit:>2} {'' if budget is None else f'{budget:g}':>10} {verdict}")
    if options.json:
        named = [dict(zip(("what", "measured", "budget", "unit"), row, strict=True)) for row in rows]
        options.json.write_text(json.dumps(named, indent=1), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
