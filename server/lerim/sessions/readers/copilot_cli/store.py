"""Finds and opens Copilot CLI's sessions, and the folder each begins in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import yaml

from lerim.sessions.model import Readable, StoreContents, Transcript
from lerim.sessions.readers.copilot_cli.history import load_cli_history
from lerim.sessions.readers.copilot_cli.turns import CopilotReading
from lerim.sessions.readers.engine import (
    WholeReading,
    add_transcript,
    find_text,
    is_folder,
    list_folder,
    make_session_title,
    read_start,
)

_STATE_FOLDER = "session-state"
_HISTORY_FOLDER = "history-session-state"
_EVENTS_NAME = "events.jsonl"
_SIDE_FILE_BYTES = 64 * 1024


def scan_root(root: Path, _folders: Sequence[str] = ()) -> StoreContents:
    """Finds the sessions in the folder of Copilot CLI, by stat alone, and reports what cannot be read.

    If a session has both a folder and a file, only the folder counts. Returns empty contents if there is no such
    folder.
    """
    contents = StoreContents()
    sessions_in_folders: set[str] = set()
    entries = list_folder(root / _STATE_FOLDER, contents.problems)
    for entry in sorted(entries, key=lambda entry: entry.name.endswith(".jsonl")):
        if entry.name.endswith(".jsonl"):
            if (stem := entry.name.removesuffix(".jsonl")) not in sessions_in_folders:
                add_transcript(contents, "copilot", entry, stem)
        elif is_folder(entry):
            for inner in list_folder(Path(entry.path), contents.problems):
                if inner.name == _EVENTS_NAME:
                    sessions_in_folders.add(entry.name)
                    add_transcript(contents, "copilot", inner, entry.name)
    for entry in list_folder(root / _HISTORY_FOLDER, contents.problems):
        if entry.name.endswith(".json"):
            native_id = entry.name.removesuffix(".json").removeprefix("session_")
            add_transcript(contents, "copilot", entry, native_id)
    return contents


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """Returns a reading of a session that continues where `resume` ended."""
    if transcript.path.suffix == ".json":
        return WholeReading(transcript, partial(load_cli_history, brief=brief), resume)
    if not transcript.cwd:  # counts only until the events name a folder
        transcript = replace(transcript, cwd=_read_workspace_field(transcript.path, "cwd")[:4096])
    title = make_session_title(
        _read_workspace_field(transcript.path, "name") or _read_workspace_field(transcript.path, "summary")
    )
    return CopilotReading(transcript, resume, brief=brief, title=title)


def _read_workspace_field(path: Path, field: str) -> str:
    """Returns a field of the `workspace.yaml` next to a session's events; '' if it is not there."""
    if path.name != _EVENTS_NAME:
        return ""
    lines = read_start(path.with_name("workspace.yaml"), _SIDE_FILE_BYTES).decode("utf-8", "replace").split("\n")
    try:
        value = yaml.safe_load(next((line for line in lines if line.startswith(f"{field}:")), ""))
    except (yaml.YAMLError, ValueError, RecursionError):
        return ""
    return find_text(value, field) if isinstance(value, dict) else ""
