"""Which troubles with the agents' stores the sync of one project tells: those that may hide sessions of it, briefly.

All of them are told by the doctor (`lerim connect list`, the Agents view).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from lerim.errors import Problem
from lerim.sessions.readers import claude_folder_name, folders_by_hash
from lerim.sessions.readers import folders as cursor_folders

SKIPPED_CODE = "skipped"
"""The problem code of a store that nobody but its own program can read: told by the doctor, not by each sync."""

MOST_ALIKE = 3
"""Problems that say the same are told so often; the rest is counted."""

_DIGEST = re.compile(r"[0-9a-f]{64}")
_TODO = "Check that it exists and that you may read it. Everything else is read."


def select_reader_problems(problems: Iterable[Problem], folders: Sequence[str]) -> list[Problem]:
    """The problems that may concern sessions begun in `folders`, each once and with what a person can do."""
    own = StoreFolderNames(folders)
    alike: dict[tuple[str, str], list[Problem]] = {}
    for one in dict.fromkeys(problems):
        if one.code != SKIPPED_CODE and not own.elsewhere(Path(one.path)):
            alike.setdefault((one.code, one.message), []).append(one)
    found: list[Problem] = []
    for (code, message), same in alike.items():
        hint = f"{message.rstrip('.')}. {_TODO}" if code == "unreadable" else message
        more = len(same) - MOST_ALIKE
        found += [replace(one, message=hint) for one in same[: MOST_ALIKE if more > 0 else None]]
        if more > 0:
            what = f"The same problem in {more} more places; `lerim connect list` shows what is not read"
            found.append(Problem(code, str(Path(same[-1].path).parent), what))
    return found


class StoreFolderNames:
    """The folders of one project, as each store names the places of its sessions after them."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = [PurePath(folder) for folder in folders]
        self._slugs = tuple(claude_folder_name(folder) for folder in folders)
        self._cursor_slugs = tuple(cursor_folders.cursor_slug(folder) for folder in folders)
        self._digests = {*folders_by_hash(folders), *cursor_folders.folders_by_digest(folders)}

    def elsewhere(self, path: Path) -> bool:
        """Whether what lies at a path is named after a folder that has nothing to do with these."""
        for place in (path, *path.parents):
            match place.parent.name:
                case "workspaceStorage":
                    folder = cursor_folders.folder_of_storage(place)
                    return bool(folder) and not self._near(PurePath(folder))
                case "projects":
                    own = place.name.startswith(self._slugs)
                    return not own and not cursor_folders.cursor_slug(place.name).startswith(self._cursor_slugs)
                case "tmp" | "chats" if _DIGEST.fullmatch(place.name) or len(place.name) == 32:
                    return place.name not in self._digests
        return False

    def _near(self, folder: PurePath) -> bool:
        return any(folder.is_relative_to(own) or own.is_relative_to(folder) for own in self._folders)
