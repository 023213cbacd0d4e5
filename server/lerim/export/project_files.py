"""Reads, once, the files of a repository that agents read at their start, so that a plan is made from them alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lerim import files
from lerim.errors import BoundaryError, MemoryError_, NotFoundError, Problem, error_reason
from lerim.export.rule_files import FOLDERS, find_rule_format
from lerim.sessions import Platform

START_FILES = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "GEMINI.md")
AGENTS, CLAUDE, CLAUDE_FOLDER, CLAUDE_LOCAL, GEMINI = START_FILES
GEMINI_SETTINGS = ".gemini/settings.json"
AGENT_SIGNS: Mapping[Platform, tuple[str, ...]] = {
    "claude": (".claude", CLAUDE, CLAUDE_FOLDER, CLAUDE_LOCAL),
    "codex": (".codex",),
    "cursor": (".cursor",),
    "opencode": (".opencode", "opencode.json", "opencode.jsonc"),
    "copilot": (".github/copilot-instructions.md", ".github/instructions"),
    "gemini": (".gemini", GEMINI),
}
"""Names that show which agents the project uses."""
MAX_BYTES = 1_000_000
CODE = "agent-file"


@dataclass(frozen=True, slots=True)
class ProjectFiles:
    """The files found in a worktree, by their paths from its root.

    `texts` are the start files and Lerim's rules files. `links` maps each start file that is a symbolic link to the
    file of the repository that it leads to. `signs` are the names of `AGENT_SIGNS` that exist. A file or folder in
    `locked` could not be read or must not be written; `problems` say why.
    """

    root: Path
    texts: Mapping[str, str]
    links: Mapping[str, str]
    signs: frozenset[str]
    locked: frozenset[str]
    problems: tuple[Problem, ...]

    def is_locked(self, name: str) -> bool:
        """Returns whether a file, or the folder it is in, must not be written."""
        return name in self.locked or name.rpartition("/")[0] in self.locked

    def exists(self, name: str) -> bool:
        """Returns whether there is a start file with this name, even if it could not be read."""
        return name in self.texts or name in self.links or name in self.locked


def read_project_files(root: Path) -> ProjectFiles:
    """Reads the files that a plan is made from. A file that cannot be read becomes a problem."""
    texts: dict[str, str] = {}
    links: dict[str, str] = {}
    locked: set[str] = set()
    problems: list[Problem] = []
    for name in (*START_FILES, GEMINI_SETTINGS, *_list_rule_files(root, locked, problems)):
        path = root / name
        if files.is_absent(path):
            continue
        target = name
        try:
            if path.is_symlink():
                links[name] = target = _resolve_link(root, path)
                if target in START_FILES:
                    continue  # it is read under its own name
            texts[target] = files.read_text(root / target, MAX_BYTES, root)
            _check_writable(root / target)
        except NotFoundError:
            continue
        except (MemoryError_, BoundaryError) as error:
            locked.add(target)
            problems.append(error.problem(str(path), code=CODE))
    signs = frozenset(name for some in AGENT_SIGNS.values() for name in some if not files.is_absent(root / name))
    return ProjectFiles(root, texts, links, signs, frozenset(locked), tuple(problems))


def _list_rule_files(root: Path, locked: set[str], problems: list[Problem]) -> Iterator[str]:
    for folder in FOLDERS.values():
        try:
            files.resolve_inside(root, root / folder)
            names = sorted(path.name for path in (root / folder).iterdir())
        except (FileNotFoundError, NotADirectoryError):
            continue
        except BoundaryError as error:
            locked.add(folder)
            problems.append(error.problem(code=CODE))
            continue
        except OSError as error:
            locked.add(folder)
            message = f"The folder cannot be listed: {error_reason(error)}."
            problems.append(Problem(CODE, str(root / folder), message))
            continue
        for name in names:
            path = f"{folder}/{name}"
            if find_rule_format(path) is not None and files.path_to_text(path) == path:
                yield path


def _resolve_link(root: Path, path: Path) -> str:
    """Returns the file in the repository that a link leads to. Raises BoundaryError if it is outside."""
    target = Path(os.path.realpath(path))
    if not target.is_relative_to(root):
        message = "This is a symbolic link that leads out of the repository; it was not read."
        raise BoundaryError(message, where=str(path), todo="Replace it with a regular file.")
    return target.relative_to(root).as_posix()


def _check_writable(path: Path) -> None:
    mode = path.stat().st_mode
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise MemoryError_("The file is read-only.", where=str(path), todo="Make it writable.")
