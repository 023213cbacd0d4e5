"""Updates the hooks' indexes, but only for people who chose hooks, and counts the memories that the hook program gave
to agents as used.

The program only appends to the record of servings, because it must be quick. The entries appended since the last
count are counted whenever an index is made.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from lerim.errors import LerimError, Problem
from lerim.files import read_text, replace_file
from lerim.hook.background import find_hook_index, wanted_marker
from lerim.hook.index import refresh_hook_index
from lerim.memory import GLOBAL_KEY, Uses, load_servings
from lerim.paths import Home
from lerim.process import lower_priority
from lerim.project import Project, locate_project

_MAX_BYTES = 100


def refresh_if_used(project: Project, home: Home, environ: Mapping[str, str] = os.environ) -> list[Problem]:
    """Makes the index of a worktree again if there is one. Returns the problems; the caller never fails because of
    them."""
    if project.is_personal or not find_hook_index(project.root, home).exists():
        return []
    try:
        refresh_hook_index(project, home, environ)  # what it could not read is reported by those who show memories
        return count_uses(project, home)
    except LerimError as error:
        return [error.problem()]


def main(root: str) -> int:
    """Makes the index of the worktree at `root` again; the exit code is 1 if that failed. Only one process at a time
    does that for a worktree: any other process only notes that it must be done again, and ends."""
    lower_priority()
    try:
        home = Home.from_environ(os.environ)
        project = locate_project(Path(root), home)
        if project is None or not (home.root / "run" / "hooks").is_dir():
            return 1
        path = find_hook_index(project.root, home)
        marker = wanted_marker(path)
        marker.touch(0o600)
        while marker.exists():  # another process asked for it meanwhile
            with FileLock(path.with_suffix(".refreshing"), timeout=0, mode=0o600):
                marker.unlink(missing_ok=True)
                refresh_hook_index(project, home)
                count_uses(project, home)
    except Timeout:
        return 0
    except (LerimError, OSError):
        return 1
    return 0


def count_uses(project: Project, home: Home) -> list[Problem]:
    """Counts the memories of the project and the person that the hook program has given since the last count as used
    by an agent. Returns a problem for each record or count that could not be read or written."""
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
            counted_until = datetime.now(UTC).timestamp()  # damaged: count too few rather than twice
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
