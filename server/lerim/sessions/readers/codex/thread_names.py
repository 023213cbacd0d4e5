"""Reads what the name of a Codex rollout says, and the name that its thread was given."""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from pathlib import Path

from lerim.files import open_buffered
from lerim.sessions.model import Transcript
from lerim.sessions.readers.engine import (
    COMPRESSED_SUFFIX,
    find_text,
    make_session_title,
    parse_fields,
)

ROLLOUT_FOLDERS = ("sessions", "archived_sessions")
_INDEX_BYTES = 4 * 1024 * 1024


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
