"""Finds markdown files below the memory folder that are not read as memories, and ids that two files share.

A person who puts a file in the wrong folder is told so. The search is limited, because the folder may be a stranger's.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from lerim import files
from lerim.errors import Problem

DUPLICATE_ID_CODE = "memory-twice"
"""The problem code for an id that two files share."""
_OTHER_FOLDERS = frozenset({"archived", "summaries", "journal"})
_MAX_DEPTH = 4
_MAX_ENTRIES = 2_000
_MAX_PROBLEMS = 20


def find_stray_files(memory_dir: Path, folders: Collection[str]) -> list[Problem]:
    """Returns a problem for each `.md` file below `memory_dir` that is not directly in one of `folders` (relative to
    it).

    At most 20 are returned. Summaries and the journal have a different format and are skipped; so is `archived/` unless
    `folders` include some of it.
    """
    tops = {Path(name).parts[0] for name in folders}
    skipped = {memory_dir / name for name in _OTHER_FOLDERS - tops}
    memory_folders = {memory_dir / name for name in folders}
    problems: list[Problem] = []
    for path in _walk_markdown_files(memory_dir, memory_folders, skipped):
        message = "This file is not in a folder of memories, so it is not read. Move it into decisions/, learnings/, "
        problems.append(
            Problem("memory-misplaced", files.path_to_text(path), f"{message}questions/ or themes/, or elsewhere.")
        )
        if len(problems) == _MAX_PROBLEMS:
            break
    return problems


def find_duplicate_ids(memory_dir: Path, names: Iterable[str]) -> list[Problem]:
    """Returns a problem for each id that several of these files share; `names` are paths relative to `memory_dir`."""
    by_id: dict[str, list[str]] = defaultdict(list)
    for name in names:
        by_id[name.rpartition("/")[2]].append(name)
    problems: list[Problem] = []
    for file, same in by_id.items():
        if len(same) > 1:
            message = f"One id has {len(same)} files: {' and '.join(same)}. Only the first is found by the id."
            todo = f"Merge them with `lerim memory merge {file.removesuffix('.md')}`, or rename one."
            problems.append(Problem(DUPLICATE_ID_CODE, str(memory_dir / same[0]), f"{message} {todo}"))
    return problems


def _walk_markdown_files(top: Path, memory_folders: Collection[Path], skipped: Collection[Path]) -> Iterator[Path]:
    waiting = [(top, 0)]
    left = _MAX_ENTRIES
    while waiting:
        folder, depth = waiting.pop()
        try:
            entries = sorted(_scan_folder(folder, folder in memory_folders), key=lambda entry: entry.name)
        except OSError:
            continue  # `Store.find` reports a memory folder that cannot be listed
        for entry in entries:
            path = folder / entry.name
            if entry.is_dir(follow_symlinks=False):
                if path not in skipped and depth < _MAX_DEPTH and not entry.name.endswith(".md"):
                    waiting.append((path, depth + 1))
            elif folder != top or entry.name.lower() != "readme.md":
                yield path
            left -= 1
            if left <= 0:
                return


def _scan_folder(folder: Path, memory_folders: bool) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number >= _MAX_ENTRIES and not memory_folders:
                return
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False) or (entry.name.endswith(".md") and not memory_folders):
                yield entry
