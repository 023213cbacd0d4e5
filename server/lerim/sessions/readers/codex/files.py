"""Finds Codex's rollouts, the names of their threads, and the folder each one begins in."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from lerim.files import open_buffered
from lerim.sessions.model import StoreContents, Transcript
from lerim.sessions.readers.engine import (
    COMPRESSED_SUFFIX,
    add_transcript,
    find_text,
    list_folder,
    make_session_title,
    parse_fields,
)

ROLLOUT_FOLDERS = ("sessions", "archived_sessions")
_DEPTH_LIMIT = 4
_INDEX_BYTES = 4 * 1024 * 1024
_ENDINGS = (".jsonl", ".json", ".jsonl" + COMPRESSED_SUFFIX)


def scan_root(root: Path, _folders: Sequence[str] = ()) -> StoreContents:
    """Lists, from stat alone, the rollouts under a folder of Codex, and the problems found. If a rollout exists both
    packed and unpacked, only the unpacked one is listed.

    A folder that does not exist contains none.
    """
    contents = StoreContents()
    for name in ROLLOUT_FOLDERS:
        _scan_folder(root / name, _DEPTH_LIMIT, contents)
    return contents


def _scan_folder(folder: Path, depth: int, contents: StoreContents) -> None:
    entries = list_folder(folder, contents.problems, unpacked=COMPRESSED_SUFFIX)
    names = {entry.name for entry in entries}
    for entry in entries:
        if entry.name.startswith("rollout-") and entry.name.endswith(_ENDINGS):
            if entry.name.removesuffix(COMPRESSED_SUFFIX) not in names or not entry.name.endswith(COMPRESSED_SUFFIX):
                add_transcript(contents, "codex", entry, parse_thread_id(entry.name))
        elif depth and entry.is_dir(follow_symlinks=False):
            _scan_folder(Path(entry.path), depth - 1, contents)


def parse_thread_id(name: str) -> str:
    """Extracts the thread's id from the name of a rollout: the UUID at its end, or without one, the name without its
    endings."""
    stem = name.removesuffix(COMPRESSED_SUFFIX).removesuffix(".jsonl").removesuffix(".json").removeprefix("rollout-")
    return stem[-36:] if len(stem) >= 36 and stem[-36:].count("-") == 4 else stem


def parse_rollout_time(name: str) -> datetime | None:
    """Parses when a rollout was begun from its name, which is in local time. Returns None if the name does not contain
    it."""
    try:
        return datetime.strptime(name[8:27], "%Y-%m-%dT%H-%M-%S").astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        return None


def load_thread_name(transcript: Transcript) -> str:
    """Returns the name of the thread in `session_index.jsonl`, given by Codex or the person, or '' if it has none."""
    for parent in transcript.path.parents:
        if parent.name in ROLLOUT_FOLDERS:
            index = parent.parent / "session_index.jsonl"
            try:
                index_stat = index.stat()
            except OSError:
                return ""
            names = _load_index(index, index_stat.st_size, index_stat.st_mtime_ns)
            return make_session_title(names.get(transcript.session_id))
    return ""


@functools.lru_cache(maxsize=4)
def _load_index(index: Path, size: int, _changed: int) -> dict[str, str]:
    try:
        with open_buffered(index) as file:
            file.seek(max(0, size - _INDEX_BYTES))
            lines = file.read(_INDEX_BYTES).split(b"\n")
    except OSError:
        return {}
    entries = (parse_fields(line) for line in lines if line.strip())
    return {find_text(one, "id"): name for one in entries if (name := find_text(one, "thread_name"))}
