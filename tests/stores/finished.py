"""Sessions that nobody is writing to any more, so that their last exchange is over."""

from __future__ import annotations

import os
from pathlib import Path


def finish(path: Path) -> Path:
    """Dates a session an hour back."""
    written = path.stat().st_mtime_ns - 3600 * 10**9
    os.utime(path, ns=(written, written))
    return path
