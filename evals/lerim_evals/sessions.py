"""Where labelled sessions lie: below one folder, in the store of any agent."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from lerim.errors import LerimError
from lerim.sessions.model import Platform, Transcript
from lerim.sessions.readers.agents import find_sessions, list_sessions

DEEP = 3
Key = tuple[Platform, str]


def below(folder: Path, wanted: Collection[Key]) -> dict[Key, Transcript]:
    """The wanted sessions (agent, id) that lie in a store in this folder, or at most `DEEP` folders further down; of
    one kept in several forms, that in a database."""
    found: dict[Key, Transcript] = {}
    if any(platform == "claude" for platform, _ in wanted):
        found |= {("claude", path.stem): _file(path) for path in sorted(folder.rglob("*.jsonl"))}
    for root in _folders(folder, DEEP):
        for platform in sorted({platform for platform, session in wanted if (platform, session) not in found}):
            for one in _stored(platform, root):
                found.setdefault((platform, one.session_id), one)
    return {key: found[key] for key in wanted if key in found}


def _file(path: Path) -> Transcript:
    stat = path.stat()
    return Transcript("claude", path, path.stem, stat.st_size, stat.st_mtime_ns, stat.st_ino)


def _folders(folder: Path, deep: int) -> Iterator[Path]:
    yield folder
    for one in sorted(folder.iterdir()) if deep else ():
        if one.is_dir():
            yield from _folders(one, deep - 1)


def _stored(platform: Platform, root: Path) -> Iterator[Transcript]:
    """The sessions of a root, those in databases first; one that cannot be read is one that is not there."""
    store = find_sessions(platform, root, ())
    for database in store.databases:
        try:
            yield from list_sessions(database, ())[0]
        except LerimError:
            continue
    yield from store.transcripts
