"""Finds the conversations of Antigravity, the successor of Gemini CLI: one log of steps for each, under `brain/`.

The conversations themselves are protobuf and are not read; the conversations without a log are reported in a single
problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lerim.errors import Problem
from lerim.sessions.model import StoreContents, Transcript
from lerim.sessions.readers.antigravity.turns import LOG_NAMES, load_conversation
from lerim.sessions.readers.engine import (
    WholeReading,
    add_transcript,
    find_text,
    list_folder,
    list_subfolders,
    parse_fields,
    read_start,
    stat_regular_file,
)

_HISTORY_BYTES = 8 * 1024 * 1024
"""How many bytes of `history.jsonl` are read."""


def is_antigravity_log(path: Path) -> bool:
    """Returns whether a path is one of Antigravity's logs."""
    return path.name in LOG_NAMES


def scan_root(root: Path, _folders: Sequence[str] = ()) -> StoreContents:
    """Lists, from stat alone, the conversations with a log under `antigravity*/brain`, and the problems found."""
    contents = StoreContents()
    for product in list_subfolders(root, contents.problems):
        if product.name.startswith("antigravity"):
            folders = _read_workspaces(product)
            for conversation in list_subfolders(product / "brain", contents.problems):
                _add_log(conversation, folders.get(conversation.name, ""), contents)
            _report_skipped(product / "conversations", contents)
    return contents


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """Returns a reading of one conversation. Iterating it raises TranscriptError if its log cannot be read."""
    return WholeReading(transcript, partial(load_conversation, brief=brief), resume)


def _read_workspaces(product: Path) -> dict[str, str]:
    """Returns the folder of each conversation according to `history.jsonl`, the only file that names it; empty if that
    cannot be read."""
    folders: dict[str, str] = {}
    for line in read_start(product / "history.jsonl", _HISTORY_BYTES).split(b"\n"):
        entry = parse_fields(line)
        native_id, workspace = find_text(entry, "conversationId"), find_text(entry, "workspace")
        if native_id and workspace:
            folders[native_id] = workspace[:4096]
    return folders


def _add_log(folder: Path, cwd: str, contents: StoreContents) -> None:
    for folder_path in (folder / ".system_generated" / "logs", folder):
        entries = {entry.name: entry for entry in list_folder(folder_path, contents.problems)}
        for name in LOG_NAMES:
            file_stat = stat_regular_file("gemini", entries[name], contents.problems) if name in entries else None
            if file_stat is not None and file_stat.st_size:
                add_transcript(contents, "gemini", entries[name], folder.name, cwd=cwd)
                return


def _report_skipped(folder: Path, contents: StoreContents) -> None:
    entries = list_folder(folder, contents.problems)
    stems = {entry.name.partition(".")[0] for entry in entries if entry.name.endswith((".pb", ".db"))}
    if count := len(stems - {one.session_id for one in contents.transcripts}):
        what = (
            f"{count} Antigravity {'conversation is' if count == 1 else 'conversations are'} kept in a form that only"
            " Antigravity reads, and left out. Conversations with a log under brain/ are read."
        )
        contents.problems.append(Problem("skipped", str(folder), what))
