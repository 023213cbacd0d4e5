"""Finds labelled sessions below a folder, in the store of any agent."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from lerim.errors import LerimError
from lerim.sessions.model import Platform, Transcript
from lerim.sessions.readers.platform_readers import find_sessions, list_sessions

MAX_DEPTH = 3
SessionKey = tuple[Platform, str]


def find_labelled_sessions(folder: Path, wanted: Collection[SessionKey]) -> dict[SessionKey, Transcript]:
    """Finds the wanted sessions in stores in this folder, or at most `MAX_DEPTH` folders further down.

    A session that is stored in several forms is taken from the database.
    """
    found: dict[SessionKey, Transcript] = {}
    if any(platform == "claude" for platform, _ in wanted):
        found |= {("claude", path.stem): _claude_transcript(path) for path in sorted(folder.rglob("*.jsonl"))}
    for root in _walk_folders(folder, MAX_DEPTH):
        for platform in sorted({platform for platform, session in wanted if (platform, session) not in found}):
            for one in _stored_sessions(platform, root):
                found.setdefault((platform, one.session_id), one)
    return {key: found[key] for key in wanted if key in found}


def _claude_transcript(path: Path) -> Transcript:
    stat = path.stat()
    return Transcript("claude", path, path.stem, stat.st_size, stat.st_mtime_ns, stat.st_ino)


def _walk_folders(folder: Path, depth_left: int) -> Iterator[Path]:
    yield folder
    for one in sorted(folder.iterdir()) if depth_left else ():
        if one.is_dir():
            yield from _walk_folders(one, depth_left - 1)


def _stored_sessions(platform: Platform, root: Path) -> Iterator[Transcript]:
    """The sessions of a root, those in databases first. Databases that cannot be read are skipped."""
    store = find_sessions(platform, root, ())
    for database in store.databases:
        try:
            yield from list_sessions(database, ())[0]
        except LerimError:
            continue
    yield from store.transcripts
