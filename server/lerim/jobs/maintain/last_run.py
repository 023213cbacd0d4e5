"""When a project's memories were maintained last: whether an idle editor should do it again."""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from lerim import files
from lerim.errors import MemoryError_
from lerim.memory import find_memory_files
from lerim.paths import Home
from lerim.project import Project, make_private_folder

MAINTENANCE_INTERVAL = timedelta(days=1)
_MAX_BYTES = 10_000


class _LastMaintenance(msgspec.Struct, frozen=True):
    at: datetime


def record_maintenance(project: Project, home: Home, now: datetime) -> None:
    """Notes that the memories were maintained now. Raises MemoryError_, OSError."""
    folder = home.project(project.key)
    make_private_folder(home, folder)
    files.replace_file(folder / "maintained.json", f"{msgspec.json.encode(_LastMaintenance(now)).decode()}\n", 0o600)


def is_maintenance_due(project: Project, home: Home, now: datetime) -> bool:
    """Whether an idle editor should maintain them: there are some, and the last time was a day ago, for time alone
    makes memories fade and themes end. What cannot be read counts as never."""
    if not find_memory_files(project.memory_dir, project.memory_dir.parent.parent)[0]:
        return False
    path = home.project(project.key) / "maintained.json"
    try:
        last = msgspec.json.decode(files.read_text(path, _MAX_BYTES), type=_LastMaintenance)
    except (MemoryError_, msgspec.MsgspecError):
        return True
    return now - last.at >= MAINTENANCE_INTERVAL
