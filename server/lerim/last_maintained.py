"""When a project's memories were maintained last and what they were then: whether an idle editor should do it again."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta

import msgspec

from lerim.errors import MemoryError_
from lerim.memory import commits, files
from lerim.memory.store import find
from lerim.paths import Home
from lerim.project import Project
from lerim.registry import private_folder

AT_MOST_EVERY = timedelta(days=1)
_MOST_BYTES = 10_000


class _Last(msgspec.Struct, frozen=True):
    """`at` is when, `seen` a digest of the memories' files and the commit that was checked out."""

    at: datetime
    seen: str


def seen(project: Project) -> str:
    """A digest of a project's memories, by stat alone, and of its checked out commit."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(commits.head(project.root, project.common_dir).encode())
    found, _ = find(project.memory_dir, project.memory_dir.parent.parent, archived=True)
    for one in sorted(found, key=lambda one: one.name):
        digest.update(f"{one.name}\0{one.stamp}\n".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def remember(project: Project, home: Home, now: datetime) -> None:
    """Notes that the memories as they are were maintained now. Raises MemoryError_, OSError."""
    folder = home.project(project.key)
    private_folder(home, folder)
    text = msgspec.json.encode(_Last(now, seen(project))).decode()
    files.replace(folder / "maintained.json", f"{text}\n", 0o600)


def due(project: Project, home: Home, now: datetime) -> bool:
    """Whether an idle editor should maintain them: there are some, they or the commit changed since the last time, and
    that was a day ago. What cannot be read counts as never."""
    if not find(project.memory_dir, project.memory_dir.parent.parent)[0]:
        return False
    path = home.project(project.key) / "maintained.json"
    try:
        last = msgspec.json.decode(files.read_text(path, _MOST_BYTES), type=_Last)
    except (MemoryError_, msgspec.MsgspecError):
        return True
    return now - last.at >= AT_MOST_EVERY and seen(project) != last.seen
