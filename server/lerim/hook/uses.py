"""Counts what the hook program gave to agents as uses of the memories.

The program only appends to the record of servings, because it must be quick. What it appended since the last count is
counted whenever an index is made.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from lerim.errors import LerimError, Problem
from lerim.files import read_text, replace_file
from lerim.memory import GLOBAL_KEY, Uses, load_servings
from lerim.paths import Home
from lerim.project import Project

_MAX_BYTES = 100


def count_uses(project: Project, home: Home) -> list[Problem]:
    """Counts the memories that the hook program has given since the last count, of the project and the person's own, as
    used by an agent. Returns what could not be read or written."""
    problems: list[Problem] = []
    for key in (project.key, GLOBAL_KEY):
        private = home.project(key)
        if not (private / "servings.jsonl").exists():
            continue
        try:
            with FileLock(private / "hook-uses.lock", timeout=0, mode=0o600):
                problems += _count_new(private)
        except Timeout:
            continue  # another process counts
        except LerimError as error:
            problems.append(error.problem())
    return problems


def _count_new(private: Path) -> list[Problem]:
    marker = private / "hook-uses"
    counted_until = 0.0
    if marker.exists():
        try:
            counted_until = float(read_text(marker, _MAX_BYTES))
        except ValueError:
            counted_until = datetime.now(UTC).timestamp()  # damaged: rather too few than twice
    servings, problems = load_servings(private)
    new = [one for one in servings if one.channel == "hook" and one.at > counted_until]
    if not new:
        return list(problems)
    replace_file(marker, f"{new[-1].at!r}\n", 0o600)
    by_time: dict[datetime, list[str]] = defaultdict(list)
    for one in new:
        by_time[one.time] += one.ids
    uses = Uses(private)
    for time, ids in by_time.items():
        uses.record_use(ids, "served", time)
    return [*problems, *uses.problems]
