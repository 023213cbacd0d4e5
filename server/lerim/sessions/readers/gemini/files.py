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
    transcripts: list[Transcript] = []
    projects = list_folder(root / "tmp", problems)
    if not projects:
        return transcripts, problems
    folder_by_hash, folder_by_slug = folders_by_hash(folders), load_slugs(root)
    for project in projects:
        if not is_folder(project):
            continue
        chats = list_folder(Path(project.path) / "chats", problems)
        if not chats:
            continue
        cwd = (
            read_project_root(Path(project.path))
            or folder_by_slug.get(project.name, "")
            or folder_by_hash.get(project.name, "")
        )
        transcripts += collect_sessions("gemini", chats, problems, cwd=cwd)
        for entry in chats:
            if entry.is_dir(follow_symlinks=False):
                entries = list_folder(Path(entry.path), problems)
                transcripts += collect_sessions("gemini", entries, problems, parent=entry.name, cwd=cwd)
    return transcripts, problems
