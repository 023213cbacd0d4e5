"""What a session was given already: each event is answered once, each memory given once, and never more than a budget.

Several of our processes run at once for one session, so what must happen once is a file that only one of them can
create, and what was given is a file that all append to.
"""

import os
import time

from .small_imports import hash_bytes

MAX_SESSION_CHARS = 6_000
"""About 1,500 tokens."""
CALLS, SESSIONS = "calls", "sessions"
ANONYMOUS_SECONDS = 10
"""For how long an event without an id of its own counts as the same one."""


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
        """How many characters the session may still be given."""
        return max(0, MAX_SESSION_CHARS - self.chars)

    def claim_event(self, event: str, event_id: str) -> bool:
        """Returns whether this event was not answered before. From now on it counts as answered."""
        lifetime = 0 if event_id else ANONYMOUS_SECONDS
        return self._claim(f"event {event} {event_id}", lifetime)

    def claim_memory(self, memory_id: str) -> bool:
        """Returns whether no other process has given this memory to the session."""
        return self._claim(f"memory {self._resets} {memory_id}", 0)

    def forget(self) -> None:
        """Starts anew: the agent no longer has what it was given, because its context was cleared or compacted."""
        self._append("reset")
        self.served.clear()
        self.chars = 0
        self._resets += 1

    def record(self, ids: list[str], chars: int) -> None:
        """Records what it was given."""
        self._append(" ".join((str(chars), *ids)))

    def _claim(self, what: str, lifetime: int) -> bool:
        path = os.path.join(self._folder, CALLS, _digest(f"{self._key}\0{what}"))
        if _create_in_folder(path):
            return True
        claimed_at = os.stat(path).st_mtime_ns
        if not lifetime or time.time() - claimed_at / 1e9 < lifetime:
            return False
        if not _create_in_folder(f"{path}-{claimed_at}"):  # of all who find that it is over, one claims it again
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
    """Creates an empty file. Returns False if there is one."""
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
