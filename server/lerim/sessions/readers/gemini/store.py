"""Finds the sessions of Gemini CLI and opens them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lerim.sessions.model import StoreContents, Transcript
from lerim.sessions.readers.engine import WholeReading, collect_sessions, list_folder, list_subfolders
from lerim.sessions.readers.gemini.folders import folders_by_hash, load_slugs, read_project_root
from lerim.sessions.readers.gemini.turns import load_session


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """Lists, from stat alone, the sessions under `tmp/<project>/chats`, whose folders are matched against `folders`,
    and the problems found. The sessions of subagents are in a folder named after the parent session."""
    contents = StoreContents()
    projects = list_subfolders(root / "tmp", contents.problems)
    if not projects:
        return contents
    folder_by_name = folders_by_hash(folders) | load_slugs(root)
    for project in projects:
        if chats := list_folder(project / "chats", contents.problems):
            cwd = read_project_root(project) or folder_by_name.get(project.name, "")
            collect_sessions(contents, "gemini", chats, cwd=cwd)
            for entry in chats:
                if entry.is_dir(follow_symlinks=False):
                    files = list_folder(Path(entry.path), contents.problems)
                    collect_sessions(contents, "gemini", files, parent=entry.name, cwd=cwd)
    return contents


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """Returns a reading of one session. Iterating it raises TranscriptError if its file cannot be read, UnfinishedError
    while it is being written."""
    return WholeReading(transcript, partial(load_session, brief=brief), resume)
