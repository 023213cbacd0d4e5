"""Writes what the program leaves behind: which agent was given which memories, when an agent last called and how
long that took, and errors. Also starts the process that updates an index in the background."""

import json
import os
import sys
import time

MAX_LOG_BYTES, MAX_SERVINGS_BYTES = 64_000, 4_000_000
MAX_IDS, MAX_DURATIONS = 20, 50
LOCK_SECONDS = 60
"""Age in seconds from which the process that made a lock must have been killed."""
REFRESH_SECONDS = 5
"""Minimum number of seconds between two refreshes of one index."""


def record_serving(private: str, agent: str, event: str, ids: list[str], session: str) -> None:
    """Appends a line in the form of `memory/serving/servings.py` to the record of a project."""
    path = os.path.join(private, "servings.jsonl")
    os.makedirs(private, 0o700, exist_ok=True)
    if _is_long(path):
        _put_aside(path, os.path.join(private, "servings.1.jsonl"))
    line = {"at": time.time(), "channel": "hook", "agent": agent, "event": event, "ids": ids[:MAX_IDS]}
    line["session"] = session[:200]
    _append(path, json.dumps(line, separators=(",", ":")))


def _is_long(path: str) -> bool:
    return os.path.exists(path) and os.stat(path).st_size > MAX_SERVINGS_BYTES


def _put_aside(path: str, older: str) -> None:
    """Renames a long record in the same way as `memory/serving/servings.py`: only if no other process is doing so."""
    lock = f"{older}.lock"
    try:
        os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if time.time() - os.stat(lock).st_mtime > LOCK_SECONDS:
            os.unlink(lock)
        return
    try:
        if _is_long(path):
            os.replace(path, older)
    finally:
        os.unlink(lock)


def record_call(folder: str, agent: str, event: str, milliseconds: float) -> None:
    """Writes `last-<agent>`: when the agent last called, at which event, and how long its latest calls took in this
    program."""
    path = os.path.join(folder, f"last-{agent}")
    durations: list[float] = []
    try:
        with open(path, "rb") as file:
            known = json.loads(file.read(20_000)).get("durations")
            durations = [one for one in known if isinstance(one, int | float)]
    except (OSError, ValueError, AttributeError, TypeError):
        pass  # the first call, or the file is damaged: start again
    took = round(milliseconds, 2)
    last = {"at": time.time(), "event": event, "ms": took, "durations": [*durations, took][-MAX_DURATIONS:]}
    temporary = f"{path}.{os.getpid()}"
    _append(temporary, json.dumps(last))
    os.replace(temporary, path)


def swap_start_day(folder: str, name: str) -> str:
    """Records that a session starts in a worktree. Returns the day (YYYY-MM-DD) of the last one, "" if there was
    none."""
    marker = os.path.join(folder, f"{name}.start")
    try:
        day = time.strftime("%Y-%m-%d", time.gmtime(os.stat(marker).st_mtime))
    except FileNotFoundError:
        day = ""
    _touch(marker)
    return day


def log_error(folder: str, agent: str, error: BaseException) -> None:
    """Adds one line about an error to `hook.log`. A log that has become too long is started again."""
    path = os.path.join(folder, "hook.log")
    try:
        if os.path.exists(path) and os.stat(path).st_size > MAX_LOG_BYTES:
            os.replace(path, f"{path}.1")
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        what = f"{type(error).__name__}: {error}".encode("ascii", "backslashreplace").decode()
        _append(path, f"{when} {agent} {what}".replace("\n", " ")[:500])
    except (OSError, ValueError):
        pass  # there is nowhere left to report it


def start_refresh(home: str, folder: str, name: str, root: str) -> None:
    """Starts the process that makes the index of a worktree again, unless one was started a moment ago."""
    marker = os.path.join(folder, f"{name}.refresh")
    try:
        if time.time() - os.stat(marker).st_mtime < REFRESH_SECONDS:
            return
    except FileNotFoundError:
        pass
    _touch(marker)
    argv = [sys.executable, "-P", "-X", "utf8", "-m", "lerim", "hook-refresh", root]
    environ = {**os.environ, "LERIM_HOME": home, "PYTHONUTF8": "1"}
    if os.name == "nt":
        import subprocess

        flags = 0x08000000 | 0x00000200 | 0x00004000  # no window, a group of its own, low priority
        quiet = subprocess.DEVNULL
        subprocess.Popen(argv, env=environ, stdin=quiet, stdout=quiet, stderr=quiet, creationflags=flags)
        return
    quiet_streams = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    try:
        os.posix_spawn(argv[0], argv, environ, file_actions=quiet_streams, setsid=True)
    except NotImplementedError:  # an old system: a group of its own must do
        os.posix_spawn(argv[0], argv, environ, file_actions=quiet_streams, setpgroup=0)


def _touch(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    os.utime(path)


def _append(path: str, line: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(handle, line.encode() + b"\n")
    finally:
        os.close(handle)
