"""`~/.lerim/models.json`: which models the person agreed to pay for, and what models told of their limits."""

from __future__ import annotations

import threading
from collections.abc import Callable

import filelock
import msgspec

from lerim.paths import Home
from lerim.registry import private_folder, replace

MOST_BYTES = 1_000_000
LOCK_SECONDS = 5.0

_ONE_THREAD = threading.Lock()


class Remembered(msgspec.Struct, frozen=True):
    """`allowed`: labels of models the person agreed to; `limits`: tokens a model takes in all, by its label."""

    allowed: tuple[str, ...] = ()
    limits: dict[str, int] = {}


def remembered(home: Home) -> Remembered:
    """What is known. A file that is missing, damaged or of another form holds nothing: the person is asked again."""
    try:
        with home.models.open("rb") as file:
            return msgspec.json.decode(file.read(MOST_BYTES), type=Remembered)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return Remembered()


def remember(home: Home, change: Callable[[Remembered], Remembered]) -> None:
    """Replaces what is known by what `change` makes of it, however many threads and processes do so at once.

    Raises OSError, with the file as it was.
    """
    private_folder(home, home.models.parent)
    with _ONE_THREAD, filelock.FileLock(home.models.with_suffix(".lock"), timeout=LOCK_SECONDS, mode=0o600):
        before = remembered(home)
        after = change(before)
        if after != before:
            replace(home.models, msgspec.json.format(msgspec.json.encode(after)) + b"\n")
