"""Finds the sessions of Gemini CLI, by stat alone."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lerim.errors import Problem
from lerim.sessions.model import Transcript
from lerim.sessions.readers.engine import collect_sessions, is_folder, list_folder
from lerim.sessions.readers.gemini.folders import folders_by_hash, load_slugs, read_project_root


def find_chats(root: Path, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """Returns the sessions under `tmp/<project>/chats`, and problems with what cannot be read. The sessions of
    subagents are in a folder named after the parent session."""
    problems: list[Problem] = []
    found: list[Transcript] = []
    stores = list_folder(root / "tmp", problems)
    if not stores:
        return found, problems
    known, named = folders_by_hash(folders), load_slugs(root)
    for store in stores:
        if not is_folder(store):
            continue
        chats = list_folder(Path(store.path) / "chats", problems)
        if not chats:
            continue
        cwd = read_project_root(Path(store.path)) or named.get(store.name, "") or known.get(store.name, "")
        found += collect_sessions("gemini", chats, problems, cwd=cwd)
        for entry in chats:
            if entry.is_dir(follow_symlinks=False):
                inside = list_folder(Path(entry.path), problems)
                found += collect_sessions("gemini", inside, problems, parent=entry.name, cwd=cwd)
    return found, problems
