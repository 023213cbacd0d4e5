"""Starts the server in the background, and stops it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from lerim.errors import ServerError, error_reason
from lerim.paths import Home
from lerim.process import build_lerim_launch, format_command_line
from lerim.project import make_private_folder
from lerim.views import RunningServer, find_running_server
from lerim.web.background.compose import COMPOSE_FILE
from lerim.web.binding import ServeOptions

Found = TypeVar("Found")
START_SECONDS = 30.0
"""How long starting may take on a slow machine."""
STOP_SECONDS = 15.0
LOOK_SECONDS = 0.05
OUTPUT_FILE = "start.txt"
"""What the server prints before it logs; it says why a start failed."""
DETACHED_PROCESS = 0x00000008


def server_arguments(options: ServeOptions) -> list[str]:
    """Returns the arguments of `lerim` that run the server, in a process with no more than it needs."""
    return ["server", msgspec.json.encode(options).decode()]


def start_server(home: Home, environ: Mapping[str, str], options: ServeOptions) -> RunningServer:
    """Starts the server in the background and waits until it listens. Raises ServerError."""
    launch = build_lerim_launch(server_arguments(options), sys.executable, environ)
    output_path = home.server / OUTPUT_FILE
    try:
        make_private_folder(home, home.server)
        with os.fdopen(os.open(output_path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
            process = subprocess.Popen(
                launch.argv,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=launch.environ,
                cwd=home.root,
                start_new_session=launch.new_session,
                creationflags=launch.creationflags | DETACHED_PROCESS if sys.platform == "win32" else 0,
            )
    except OSError as error:
        message = f"The server could not be started: {error_reason(error)}."
        raise ServerError(message, where=str(home.server), todo="Make the folder writable for you.") from error
    running = _wait(lambda: _find_started(home, process), START_SECONDS)
    if running is not None:
        process.returncode = 0  # it goes on without us; Python would warn that it still runs
        return running
    if process.poll() is None:
        process.kill()
        process.wait()
    where = _read_output(output_path) or str(output_path)
    raise ServerError("The server did not start.", where=where, todo="See `lerim logs`.")


def _find_started(home: Home, process: subprocess.Popen[bytes]) -> RunningServer | None:
    """Returns the server that this process became. Raises ServerError if it has ended."""
    running = find_running_server(home)
    if running is not None and running.pid == process.pid:
        return running
    if process.poll() is not None:
        text = _read_output(home.server / OUTPUT_FILE)
        raise ServerError("The server ended while it started.", where=text[-1000:], todo="See `lerim logs`.")
    return None


def _read_output(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def stop_server(home: Home) -> RunningServer | None:
    """Stops the server of this home and waits until it has ended. Returns it, or None if none runs.

    Raises ServerError if it does not end, or runs in a container. Work that it does is continued by the next sync.
    """
    running = find_running_server(home)
    if running is None:
        return None
    if not _is_lerim(running.pid) and find_running_server(home) is not None:
        compose_file = format_command_line(home.root / COMPOSE_FILE)
        todo = f"Stop the container, for example with `docker compose -f {compose_file} down`."
        raise ServerError("The server runs in a container.", where=running.origin, todo=todo)
    for stop_signal in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
        try:
            os.kill(running.pid, stop_signal)
        except ProcessLookupError:
            return running
        except OSError as error:
            message = f"The server could not be stopped: {error_reason(error)}."
            raise ServerError(message, where=f"process {running.pid}") from error
        if _wait(lambda: find_running_server(home) is None or None, STOP_SECONDS):
            return running
    raise ServerError("The server does not end.", where=f"process {running.pid}", todo="End it yourself.")


def _is_lerim(pid: int) -> bool:
    """Returns whether this process is one of Lerim's, as far as the system tells. In a container processes have ids of
    their own, which belong to other processes outside."""
    try:
        return b"lerim" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return not Path("/proc/self/cmdline").exists()


def _wait(check: Callable[[], Found | None], seconds: float) -> Found | None:
    """Returns the first result of `check` that is not None; None after this time."""
    deadline = time.monotonic() + seconds
    while (found := check()) is None and time.monotonic() < deadline:
        time.sleep(LOOK_SECONDS)
    return found
