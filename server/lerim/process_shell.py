"""Formats command lines for people to paste into a shell."""

from __future__ import annotations

import shlex
import subprocess
import sys


def format_command_line(*words: object, platform: str = sys.platform) -> str:
    """Return the words as one command line for the platform's shell, quoted where necessary."""
    texts = [str(word) for word in words]
    return subprocess.list2cmdline(texts) if platform == "win32" else shlex.join(texts)
