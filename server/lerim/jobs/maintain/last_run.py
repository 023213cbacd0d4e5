"""Records when a project's memories were last maintained, and tells whether an idle editor should do it again."""

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
    """Records `now` as the time of the last maintenance, in `maintained.json`. Raises MemoryError_, OSError."""
    folder = home.project(project.key)
    make_private_folder(home, folder)
    files.replace_file(folder / "maintained.json", f"{msgspec.json.encode(_LastMaintenance(now)).decode()}\n", 0o600)


def is_maintenance_due(project: Project, home: Home, now: datetime) -> bool:
    """Returns whether an idle editor should maintain the project: it has memories, and the last maintenance is at least
    a day ago. A daily run is useful without any changes, because memories decay and themes end with time.

    An unreadable record counts as no maintenance yet, and so does one from the future: the clock was set back.
    """
    path = home.project(project.key) / "maintained.json"
    try:
        recorded = msgspec.json.decode(files.read_text(path, _MAX_BYTES), type=_LastMaintenance)
        if abs(now - recorded.at) < MAINTENANCE_INTERVAL:
            return False
    except (MemoryError_, msgspec.MsgspecError):
        pass
    # last, because it lists thousands of files
    return bool(find_memory_files(project.memory_dir, project.memory_dir.parent.parent)[0])
