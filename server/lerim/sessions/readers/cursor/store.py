"""Finds and reads Cursor's sessions: the editor's chats in its databases, the command line's chats, and the transcripts
its agents leave.

Most chats are in the global database; the databases of workspaces contain chats of 2023 and 2024. Both are read while
Cursor may be writing them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from lerim.errors import Problem
from lerim.sessions.model import Database, StoreContents, Transcript
from lerim.sessions.readers.cursor import chats, cli, listing
from lerim.sessions.readers.cursor.folders import folder_of_project, folders_by_digest
from lerim.sessions.readers.cursor.text_transcripts import load_text_transcript
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LoadedSession,
    WholeReading,
    add_transcript,
    list_folder,
    list_subfolders,
    read_log_records,
    sum_session,
)
from lerim.sessions.readers.live import find_databases

_CLI_DATABASE = "store.db"
_EDITOR_DATABASE = "state.vscdb"
_TEXT_ENDING = ".txt"
_DEPTH_LIMIT = 3


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """Finds the sessions in a folder of the editor (`Cursor`, or its `User`) or in `~/.cursor`, by stat alone.

    Returns empty contents if there is no such folder. `folders` are working folders known on this machine, used to
    recognize folders that are named by a digest or a slug.
    """
    contents = StoreContents()
    for user in (root, root / "User"):
        paths = [user / "globalStorage" / _EDITOR_DATABASE]
        paths += [one / _EDITOR_DATABASE for one in list_subfolders(user / "workspaceStorage", contents.problems)]
        contents.databases.extend(find_databases("cursor", paths, contents.problems))
    _add_cli_chats(root / "chats", folders, contents)
    for project in list_subfolders(root / "projects", contents.problems):
        _add_project(project, folder_of_project(project, folders), contents)
    return contents


def list_database(database: Database, folders: Sequence[str]) -> tuple[list[Transcript], list[Problem]]:
    """Lists the chats in a database, each with its stamp. Raises TranscriptError if it cannot be opened."""
    if database.path.name == _CLI_DATABASE:
        return cli.list_cli_chat(database, folders)
    return listing.list_editor_chats(database)


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """Returns a reading of one session; see WholeReading. `brief` leaves out what the catalog does not keep."""
    return WholeReading(transcript, partial(_find_loader(transcript), brief=brief), resume)


def _find_loader(transcript: Transcript) -> Callable[..., LoadedSession]:
    if transcript.path.name == _CLI_DATABASE:
        return cli.load_cli_chat
    if transcript.store_key:
        return chats.load_editor_chat
    return load_text_transcript if transcript.path.suffix == _TEXT_ENDING else _load_agent_transcript


def _add_cli_chats(root: Path, folders: Sequence[str], contents: StoreContents) -> None:
    """Adds the chats of the command line. Their stamps change once the folder behind a digest is known, so that they
    are read again."""
    folder_by_digest = folders_by_digest(folders)
    for group in list_subfolders(root, contents.problems):
        checksum = zlib.crc32(folder_by_digest.get(group.name, "").encode("utf-8", "replace"))
        stores = [one / _CLI_DATABASE for one in list_subfolders(group, contents.problems)]
        for one in find_databases("cursor", stores, contents.problems):
            size, written, wal, wal_written = one.stamp
            contents.databases.append(Database("cursor", one.path, (size, written, wal, wal_written + checksum)))


def _add_project(project: Path, cwd: str, contents: StoreContents) -> None:
    """Adds the transcripts of a project. One in plain text is a copy if its session is there as lines of JSON, too."""
    found = StoreContents(problems=contents.problems)
    _add_agent_transcripts(project / "agent-transcripts", "", cwd, _DEPTH_LIMIT, found)
    line_ids = {one.session_id for one in found.transcripts if one.path.suffix != _TEXT_ENDING and one.size}
    for one in found.transcripts:
        is_copy = one.path.suffix == _TEXT_ENDING and one.session_id in line_ids
        (contents.copies if is_copy else contents.transcripts).append(one)


def _add_agent_transcripts(folder: Path, parent: str, cwd: str, depth: int, contents: StoreContents) -> None:
    """Adds the transcripts in a folder and its subfolders; those in `<id>/subagents` belong to subagents of the session
    `<id>`."""
    for entry in list_folder(folder, contents.problems):
        native_id, dot, ending = entry.name.rpartition(".")
        if dot + ending in (".jsonl", _TEXT_ENDING):
            add_transcript(contents, "cursor", entry, native_id, parent=parent, cwd=cwd)
        elif depth and entry.is_dir(follow_symlinks=False):
            parent_id = folder.name if entry.name == "subagents" else parent
            _add_agent_transcripts(Path(entry.path), parent_id, cwd, depth - 1, contents)


class _Message(msgspec.Struct, gc=False):
    content: msgspec.Raw = JSON_NULL


class _Line(msgspec.Struct, gc=False):
    role: str | None = ""
    message: _Message | None = None


def _load_agent_transcript(transcript: Transcript, *, brief: bool = False) -> LoadedSession:
    """Loads a transcript that an agent left: one message per line, without ids or tool results; only prompts may have a
    time. It is used only if no database contains the session."""
    builder = CursorSessionBuilder(transcript.session_id, brief=brief, is_subagent=bool(transcript.parent))
    problems: list[Problem] = []
    for line in read_log_records(transcript.path, _Line, problems):
        if line.message is not None and line.role in ("user", "assistant"):
            cli.add_chat_message(builder, cli.ChatMessage(line.role, line.message.content), "", brief=brief)
    turns = builder.build_turns(transcript.cwd or builder.find_call_folder())
    return LoadedSession(sum_session(transcript, turns), turns, problems=problems)
