"""Runs one command, and ends it with everything it started when the caller is gone. Run as a script, by its path.

`guard.py FD PROGRAM [ARGUMENT…]`: FD is the reading end of a pipe; the caller keeps the other end open. This process
leads its own process group, in which the command runs with this process's input, output and error streams.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence


def _watch(pipe: int) -> None:
    os.read(pipe, 1)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def main(arguments: Sequence[str]) -> int:
    """Runs the command and returns its exit code, 127 if it cannot be started."""
    pipe, command = int(arguments[0]), arguments[1:]
    threading.Thread(target=_watch, args=(pipe,), daemon=True).start()
    try:
        code = subprocess.call(command)
    except OSError as error:
        sys.stderr.write(f"{command[0]} cannot be started: {error.strerror}\n")
        return 127
    return code if code >= 0 else 128 - code


if __name__ == "__main__" and sys.platform != "win32":
    os._exit(main(sys.argv[1:]))
