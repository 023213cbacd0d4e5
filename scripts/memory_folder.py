"""A temporary folder in memory for the files of tests, which are written to disk many thousand times."""

import os
import shutil
import tempfile
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
BYTES_OF_TESTS = 4 * 1024**3
"""More than all tests write before their files are removed."""


def make_folder_in_memory() -> Path | None:
    """Make a temporary folder that no disk is written for; None where this system has no room for one, or where the
    person has set `TMPDIR`. The caller removes it."""
    if "TMPDIR" in os.environ:
        return None
    try:
        memory = Path("/proc/meminfo").read_text(encoding="ascii")
        available = next(int(line.split()[1]) * 1024 for line in memory.splitlines() if line.startswith("MemAvailable"))
        room, is_for_data_alone = shutil.disk_usage(SHARED_MEMORY).free, os.statvfs(SHARED_MEMORY).f_flag & os.ST_NOEXEC
        if is_for_data_alone or min(room, available / 2) < BYTES_OF_TESTS:
            return None
        return Path(tempfile.mkdtemp(prefix="lerim-tests-", dir=SHARED_MEMORY))
    except (OSError, StopIteration):
        return None
