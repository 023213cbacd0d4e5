"""Where the sessions of Gemini CLI lie, by stat alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lerim.errors import Problem
from lerim.sessions.gemini_folders import hashed, marked, slugs
from lerim.sessions.model import Transcript
from lerim.sessions.session_files import entries, is_folder, sessions


def find_chats(root: Path, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """The sessions under `tmp/<project>/chats`, and what could not be looked at. A subagent's lie in a folder named by
    its parent's session."""
    problems: list[Problem] = []
    found: list[Transcript] = []
    stores = entries(root / "tmp", problems)
    if not stores:
        return found, problems
    known, named = hashed(folders), slugs(root)
    for store in stores:
        if not is_folder(store):
            continue
        chats = entries(Path(store.path) / "chats", problems)
        if not chats:
            continue
        cwd = marked(Path(store.path)) or named.get(store.name, "") or known.get(store.name, "")
        found += sessions("gemini", chats, problems, cwd=cwd)
        for entry in chats:
            if entry.is_dir(follow_symlinks=False):
                inside = entries(Path(entry.path), problems)
                found += sessions("gemini", inside, problems, parent=entry.name, cwd=cwd)
    return found, problems
