"""Tracks what a session was already given: each event is answered once, each memory is given once, and the total never
exceeds a budget.

Several of our processes may run at once for one session. So whatever must happen only once is a file that only one
of them can create, and what was given is recorded in a file that all of them append to.
"""

import os
import time

from .small_imports import hash_bytes

MAX_SESSION_CHARS = 6_000
"""Maximum number of characters that a session is given: about 1,500 tokens."""
CALLS, SESSIONS = "calls", "sessions"
ANONYMOUS_SECONDS = 10
"""Seconds for which an event without an id of its own counts as the same event."""


class AgentSession:
    """One session of an agent. `folder` is `~/.lerim/run/hooks`."""

    def __init__(self, folder: str, key: str) -> None:
        self._folder = folder
        self._key = key
        self._path = os.path.join(folder, SESSIONS, _digest(key))
        self.served: set[str] = set()
        self.chars = 0
        self._resets = 0
        for line in _read_lines(self._path):
            first, *ids = line.split(" ")
            if first == "reset":
                self._resets += 1
                self.served.clear()
                self.chars = 0
            elif first.isdigit():
                self.chars += int(first)
                self.served.update(ids)

    @property
    def room(self) -> int:
        """The number of characters that the session may still be given."""
        return max(0, MAX_SESSION_CHARS - self.chars)

    def claim_event(self, event: str, event_id: str) -> bool:
        """Returns whether this event was not answered before. From then on it counts as answered."""
        lifetime = 0 if event_id else ANONYMOUS_SECONDS
        return self._claim(f"event {event} {event_id}", lifetime)

    def claim_memory(self, memory_id: str) -> bool:
        """Returns whether no process has given this memory to the session yet. From then on it counts as given."""
        return self._claim(f"memory {self._resets} {memory_id}", 0)

    def forget(self) -> None:
        """Forgets what the session was given. Called when the agent no longer has it, because its context was
        cleared or compacted."""
        self._append("reset")
        self.served.clear()
        self.chars = 0
        self._resets += 1

    def record(self, ids: list[str], chars: int) -> None:
        """Records what the session was given."""
        self._append(" ".join((str(chars), *ids)))

    def _claim(self, what: str, lifetime: int) -> bool:
        path = os.path.join(self._folder, CALLS, _digest(f"{self._key}\0{what}"))
        if _create_in_folder(path):
            return True
        claimed_at = os.stat(path).st_mtime_ns
        if not lifetime or time.time() - claimed_at / 1e9 < lifetime:
            return False
        if not _create_in_folder(f"{path}-{claimed_at}"):  # of all processes that find it expired, one claims it again
            return False
        os.utime(path)
        return True

    def _append(self, line: str) -> None:
        handle = _open_in_folder(self._path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        try:
            os.write(handle, f"{line}\n".encode())
        finally:
            os.close(handle)


def _create_in_folder(path: str) -> bool:
    """Creates an empty file. Returns False if the file already exists."""
    try:
        os.close(_open_in_folder(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def _open_in_folder(path: str, flags: int) -> int:
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


def _read_lines(path: str) -> list[str]:
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return []


def _digest(text: str) -> str:
    return hash_bytes(text.encode("utf-8", "replace"))
