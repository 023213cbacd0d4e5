"""Finds the files that can be imported: rules files in the repository, and the memories that agents keep at home."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem
from lerim.paths import claude_roots, codex_roots, gemini_roots, user_home

MAX_FILE_BYTES = 256_000
MAX_FOLDERS, MAX_FILES = 5_000, 200
CODE = "import"
LOCAL_FILE = "CLAUDE.local.md"
GEMINI_MEMORIES = "## Gemini Added Memories"
_ROOT_PATTERNS = (
    *(".claude/CLAUDE.md", ".cursorrules", ".windsurfrules", ".clinerules", ".github/copilot-instructions.md"),
    *(".cursor/rules/*.mdc", ".claude/rules/*.md", ".github/instructions/*.instructions.md", ".windsurf/rules/*.md"),
    *(".clinerules/*.md", ".clinerules/*.txt"),
)
_NESTED_NAMES = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
_SKIPPED_FOLDERS = frozenset(
    {"node_modules", "vendor", "target", "dist", "build", "__pycache__", "venv", "site-packages"}
)
Author = Literal["user", "assistant"]


@dataclass(frozen=True, slots=True)
class RulesSource:
    """A file to import. `name` is how its place is written: from the repository's root, or from `~`. `author` says who
    usually writes such a file. `folder` is the part of the repository that a nested one is for."""

    name: str
    text: str
    author: Author
    folder: str = ""


def read_rules_files(root: Path, *, with_local: bool = False) -> tuple[list[RulesSource], list[Problem]]:
    """Returns the rules files of a repository. `with_local`: also CLAUDE.local.md, which is not shared."""
    problems: list[Problem] = []
    names = [*_list_nested(root, problems), *_list_matching(root), *([LOCAL_FILE] if with_local else [])]
    found: list[RulesSource] = []
    seen: set[str] = set()
    for name in dict.fromkeys(names):
        path = root / name
        real = os.path.realpath(path)
        if files.is_absent(path) or real in seen:
            continue
        seen.add(real)
        if not Path(real).is_relative_to(root):
            message = "This is a symbolic link that leads out of the repository; it was not read."
            problems.append(Problem(CODE, str(path), message))
            continue
        text = _read(Path(real), problems)
        if text is not None and len(found) == MAX_FILES:
            problems.append(Problem(CODE, str(root), f"Only the first {MAX_FILES} files were read."))
            break
        if text is not None:
            folder = name.rpartition("/")[0] if name.rpartition("/")[2] in _NESTED_NAMES else ""
            found.append(RulesSource(name, text, "user", "" if folder == ".claude" else folder))
    return found, problems


def read_project_memories(root: Path, environ: Mapping[str, str]) -> tuple[list[RulesSource], list[Problem]]:
    """Returns what agents remember of this repository: Claude Code's memory folder."""
    from lerim.sessions import claude_folder_name  # imported late: it loads the readers, which the editor does not need

    name = claude_folder_name(str(root))
    found: list[RulesSource] = []
    problems: list[Problem] = []
    for base in claude_roots(environ):
        _add_folder(Path(base) / "projects" / name / "memory", environ, found, problems)
    return found, problems


def read_personal_memories(environ: Mapping[str, str]) -> tuple[list[RulesSource], list[Problem]]:
    """Returns what agents remember of the person, in every repository: what Gemini CLI was told to remember, and
    Codex's memories."""
    found: list[RulesSource] = []
    problems: list[Problem] = []
    for base in gemini_roots(environ):
        path = Path(base) / "GEMINI.md"
        text = None if files.is_absent(path) else _read(path, problems)
        start = text.find(GEMINI_MEMORIES) if text is not None else -1
        if text is not None and start >= 0:
            end = text.find("\n## ", start + 1)
            kept = "\n" * text.count("\n", 0, start) + text[start : end if end >= 0 else None]
            found.append(RulesSource(_home_name(path, environ), kept, "assistant"))
    for base in codex_roots(environ):
        path = Path(base) / "memories" / "MEMORY.md"
        text = None if files.is_absent(path) else _read(path, problems)
        if text is not None:
            found.append(RulesSource(_home_name(path, environ), text, "assistant"))
    return found, problems


def _add_folder(folder: Path, environ: Mapping[str, str], found: list[RulesSource], problems: list[Problem]) -> None:
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".md")
    except OSError:
        return  # most projects have none
    if len(paths) > MAX_FILES:
        problems.append(Problem(CODE, str(folder), f"Only the first {MAX_FILES} files were read."))
    for path in paths[:MAX_FILES]:
        text = _read(path, problems)
        if text is not None:
            found.append(RulesSource(_home_name(path, environ), text, "assistant"))


def _list_nested(root: Path, problems: list[Problem]) -> Iterator[str]:
    """Yields the files of these names in all folders that could be the project's own, those nearest the root first."""
    waiting, read = [""], 0
    while waiting:
        if read == MAX_FOLDERS:
            problems.append(Problem(CODE, str(root), f"Only the first {MAX_FOLDERS:,} folders were searched."))
            return
        folder = waiting.pop(0)
        read += 1
        try:
            with os.scandir(root / folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        names = {entry.name for entry in listed}
        if folder and ".git" in names:
            continue  # another repository
        prefix = f"{folder}/" if folder else ""
        yield from (f"{prefix}{name}" for name in _NESTED_NAMES if name in names)
        waiting += [
            f"{prefix}{entry.name}"
            for entry in listed
            if entry.name[0] != "." and entry.name not in _SKIPPED_FOLDERS and entry.is_dir(follow_symlinks=False)
        ]


def _list_matching(root: Path) -> Iterator[str]:
    for pattern in _ROOT_PATTERNS:
        folder, _, name = pattern.rpartition("/")
        try:
            names = sorted(path.name for path in (root / folder).iterdir())
        except OSError:
            continue
        prefix = f"{folder}/" if folder else ""
        yield from (f"{prefix}{one}" for one in names if fnmatchcase(one, name) and (root / prefix / one).is_file())


def _read(path: Path, problems: list[Problem]) -> str | None:
    try:
        return files.read_text(path, MAX_FILE_BYTES)
    except NotFoundError:
        return None
    except (MemoryError_, BoundaryError) as error:
        problems.append(error.problem(str(path), code=CODE))
        return None


def _home_name(path: Path, environ: Mapping[str, str]) -> str:
    home = Path(user_home(environ))
    return f"~/{path.relative_to(home).as_posix()}" if path.is_relative_to(home) else path.as_posix()
