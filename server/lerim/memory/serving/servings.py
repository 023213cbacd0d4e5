"""The record of what agents were given: one JSON line for each serving, in a private folder.

Several processes append at once, among them the hook program, which imports nothing of Lerim and writes the same line
itself (`hook/program`). A line is one write of less than 4 kB, so that lines never mix.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from lerim.errors import Problem, error_reason

Channel = Literal["mcp", "hook", "editor"]
FILE_NAME, OLDER_FILE_NAME = "servings.jsonl", "servings.1.jsonl"
MAX_FILE_BYTES = 4_000_000
MAX_IDS = 20
LOCK_SECONDS = 60
"""The age of a lock whose process must have been killed."""


class Serving(msgspec.Struct, frozen=True):
    """Memories that reached an agent. `at` is the time in seconds since 1970, `event` what they were given for:
    recall, why, start, prompt, read, failure or edit. `session` is the agent's own id of the session, "" if unknown."""

    at: float
    channel: Channel
    agent: str
    event: str
    ids: tuple[str, ...]
    session: str = ""

    @property
    def time(self) -> datetime:
        """When it was."""
        return datetime.fromtimestamp(self.at, UTC)


def record_serving(private_dir: Path, serving: Serving) -> Problem | None:
    """Appends a serving to the record of this project. Returns a problem if it cannot be written."""
    path = private_dir / FILE_NAME
    try:
        private_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if _is_long(path):
            _put_aside(path, private_dir / OLDER_FILE_NAME)
        line = msgspec.json.encode(msgspec.structs.replace(serving, ids=serving.ids[:MAX_IDS]))
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line + b"\n")
        finally:
            os.close(handle)
    except OSError as error:
        message = f"What an agent was given cannot be recorded: {error_reason(error)}."
        return Problem("servings", str(path), message)
    return None


def _is_long(path: Path) -> bool:
    return path.exists() and path.stat().st_size > MAX_FILE_BYTES


def _put_aside(path: Path, older: Path) -> None:
    """Renames a long record, only while no other process does so: it would rename the short one that comes next, and
    the long one would be lost. Raises OSError."""
    lock = older.with_name(f"{older.name}.lock")
    try:
        lock.touch(0o600, exist_ok=False)
    except FileExistsError:
        if time.time() - lock.stat().st_mtime > LOCK_SECONDS:
            lock.unlink()
        return
    try:
        if _is_long(path):
            path.replace(older)
    finally:
        lock.unlink()


def load_servings(private_dir: Path) -> tuple[Sequence[Serving], Sequence[Problem]]:
    """Returns the servings of a project, oldest first. Lines that cannot be read are counted in a problem."""
    servings: list[Serving] = []
    problems: list[Problem] = []
    for name in (OLDER_FILE_NAME, FILE_NAME):
        path = private_dir / name
        unreadable = 0
        try:
            with path.open("rb") as file:
                for line in filter(bytes.strip, file):
                    try:
                        servings.append(_DECODER.decode(line))
                    except msgspec.MsgspecError:
                        unreadable += 1
        except FileNotFoundError:
            continue
        except OSError as error:
            problems.append(Problem("servings", str(path), f"It cannot be read: {error_reason(error)}."))
        if unreadable:
            problems.append(Problem("servings", str(path), f"{unreadable} of its lines cannot be read."))
    return sorted(servings, key=lambda one: one.at), problems


_DECODER = msgspec.json.Decoder(Serving)
