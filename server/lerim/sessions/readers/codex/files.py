"""Finds Codex's rollouts, the names of their threads, and the folder each one begins in."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from lerim.files import open_buffered
from lerim.sessions.model import StoreContents, Transcript
from lerim.sessions.readers.codex.human import parse_context_cwd
from lerim.sessions.readers.codex.records import decode_codex_line, line_payload
from lerim.sessions.readers.engine import (
    COMPRESSED_SUFFIX,
    content_texts,
    decode_leniently,
    make_title,
    read_beginning,
    session_files,
    without_nul,
)

ROLLOUT_FOLDERS = ("sessions", "archived_sessions")
_DEEP = 4
_NAMES = 4 * 1024 * 1024
_ENDINGS = (".jsonl", ".json", ".jsonl" + COMPRESSED_SUFFIX)


def scan_root(root: Path, _folders: Sequence[str] = ()) -> StoreContents:
    """Lists the rollouts under a folder of Codex from stat alone, and the problems found.

    If a rollout exists both packed and unpacked, only the unpacked one is listed. A folder that does not exist contains
    none.
    """
    found = StoreContents()
    for name in ROLLOUT_FOLDERS:
        _look(root / name, _DEEP, found)
    return found


def _look(folder: Path, deep: int, found: StoreContents) -> None:
    listed = session_files.list_folder(folder, found.problems)
    names = {entry.name for entry in listed}
    for entry in listed:
        if entry.name.startswith("rollout-") and entry.name.endswith(_ENDINGS):
            if entry.name.removesuffix(COMPRESSED_SUFFIX) not in names or not entry.name.endswith(COMPRESSED_SUFFIX):
                found.transcripts.extend(
                    session_files.stat_transcript("codex", entry, parse_thread_id(entry.name), found.problems)
                )
        elif deep and entry.is_dir(follow_symlinks=False):
            _look(Path(entry.path), deep - 1, found)


def parse_thread_id(name: str) -> str:
    """Extracts the thread's id from the name of a rollout: the part after the date and, if there is one, the time."""
    stem = name.removesuffix(COMPRESSED_SUFFIX).removesuffix(".jsonl").removesuffix(".json").removeprefix("rollout-")
    return stem[-36:] if len(stem) >= 36 and stem[-36:].count("-") == 4 else stem


def parse_rollout_time(name: str) -> datetime | None:
    """Parses when a rollout was begun from its name, which is in local time. Returns None if the name does not contain
    it."""
    try:
        return datetime.strptime(name[8:27], "%Y-%m-%dT%H-%M-%S").astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def probe_folder(transcript: Transcript) -> str:
    """Returns the working folder named in a rollout's first 256 kB; '' if there is none or the file cannot be read."""
    for record in read_beginning(transcript.path, decode_codex_line):
        said = line_payload(record)
        if said.cwd:
            return without_nul(said.cwd)[:4096]
        if said.role == "user":
            for text in content_texts(said.content):
                if cwd := parse_context_cwd(text):
                    return without_nul(cwd)
    return ""


def load_thread_name(transcript: Transcript) -> str:
    """Returns the name of the thread in `session_index.jsonl`, given by Codex or the person, or '' if it has none."""
    for parent in transcript.path.parents:
        if parent.name in ROLLOUT_FOLDERS:
            index = parent.parent / "session_index.jsonl"
            try:
                known_as = index.stat()
            except OSError:
                return ""
            return _names(index, known_as.st_size, known_as.st_mtime_ns).get(transcript.session_id, "")
    return ""


class _Name(msgspec.Struct, gc=False):
    id: str | None = ""
    thread_name: str | None = ""


@functools.lru_cache(maxsize=4)
def _names(index: Path, size: int, _changed: int) -> dict[str, str]:
    try:
        with open_buffered(index) as file:
            file.seek(max(0, size - _NAMES))
            lines = file.read(_NAMES).split(b"\n")
    except OSError:
        return {}
    told = (decode_leniently(line, _Name) for line in lines if line.strip())
    return {one.id: make_title(one.thread_name) for one in told if one.id and one.thread_name}
