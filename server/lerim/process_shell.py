"""Command lines as people can paste them."""

from __future__ import annotations

import shlex
import subprocess
import sys


def format_command_line(*words: object, platform: str = sys.platform) -> str:
    """The words as one command line of the platform's shell: quoted where they need it."""
    texts = [str(word) for word in words]
    return subprocess.list2cmdline(texts) if platform == "win32" else shlex.join(texts)
