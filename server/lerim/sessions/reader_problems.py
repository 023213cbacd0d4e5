"""Selects the problems with the agents' stores that a project's sync reports, in brief: those that may hide its
sessions.

`lerim connect list` and the Agents view report all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from lerim.errors import Problem
from lerim.sessions.readers import claude_folder_name, find_workspace_folder, folders_by_hash
from lerim.sessions.readers import folders as cursor_folders

UNREPORTED_CODES = frozenset(("skipped", "compressed"))
"""The problem codes of a store that only its own program can read, and of a compressed session: `lerim connect list`
reports them, a sync does not."""

MOST_PER_MESSAGE = 3
"""How many problems with the same message are reported; any others are only counted."""

_FOLDER_DIGEST = re.compile(r"[0-9a-f]{64}")
_TODO = "Check that it exists and that you may read it. Everything else is read."


def select_reader_problems(problems: Iterable[Problem], folders: Sequence[str]) -> list[Problem]:
    """Returns the problems that may affect sessions started in `folders`, without duplicates and with a hint on what to
    do."""
    folder_names = _StoreFolderNames(folders)
    by_message: dict[tuple[str, str], list[Problem]] = {}
    for one in dict.fromkeys(problems):
        if one.code not in UNREPORTED_CODES and not folder_names.is_of_other_project(Path(one.path)):
            by_message.setdefault((one.code, one.message), []).append(one)
    found: list[Problem] = []
    for (code, message), group in by_message.items():
        hint = f"{message.rstrip('.')}. {_TODO}" if code == "unreadable" else message
        omitted = len(group) - MOST_PER_MESSAGE
        found += [replace(one, message=hint) for one in group[: MOST_PER_MESSAGE if omitted > 0 else None]]
        if omitted > 0:
            what = f"The same problem in other places ({omitted} more); `lerim connect list` shows what is not read"
            found.append(Problem(code, str(Path(group[-1].path).parent), what))
    return found


def _has_store_below(path: Path, folder: Path) -> bool:
    """Returns whether `path` leads through an agent's store inside `folder`; if so, `folder` itself is not part of a
    store."""
    return any(part.startswith(".") or part == "sessions" for part in path.relative_to(folder).parts)


class _StoreFolderNames:
    """The folders of one project, in each form in which the stores use folders to name the places of sessions."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = [PurePath(folder) for folder in folders]
        self._slugs = tuple(claude_folder_name(folder) for folder in folders)
        self._cursor_slugs = tuple(cursor_folders.cursor_slug(folder) for folder in folders)
        self._digests = {*folders_by_hash(folders), *cursor_folders.folders_by_digest(folders)}

    def is_of_other_project(self, path: Path) -> bool:
        """Returns whether `path` is named after a folder that is unrelated to the project's folders."""
        for place in (path, *path.parents):
            match place.parent.name:
                case "workspaceStorage":
                    folder = find_workspace_folder(place)
                    return bool(folder) and not self._is_related(PurePath(folder))
                case "projects" if not _has_store_below(path, place):
                    own = place.name.startswith(self._slugs)
                    return not own and not cursor_folders.cursor_slug(place.name).startswith(self._cursor_slugs)
                case "tmp" | "chats" if _FOLDER_DIGEST.fullmatch(place.name) or len(place.name) == 32:
                    return place.name not in self._digests
        return False

    def _is_related(self, folder: PurePath) -> bool:
        return any(folder.is_relative_to(own) or own.is_relative_to(folder) for own in self._folders)
