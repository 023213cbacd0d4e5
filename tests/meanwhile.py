"""A person who saves files at a chosen instant of a piece of work, from a process of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from lerim.errors import LerimError

Way = Literal["append", "rename", "held"]
"""How an editor saves: it writes into the file, puts a new file in its place, or opens the file for writing at one
instant and writes at the next."""
Which = Literal["all"] | int
"""Which of the files there are at that instant is saved: all, or one of them by its place in their sorted list."""
DONE, FAILED, REFUSED = 0, 1, 3
TOUCHES = {"os.link", "os.rename", "os.remove", "ctypes.dlsym", "fcntl.fcntl"}
"""Each of these, and opening one of our files, is an instant. `ctypes.dlsym` is the one just before two names are
exchanged, `fcntl.fcntl` the one just before a file is compared."""
OURS = (".md", ".toml", ".tmp")
WRITER = """
import os, sys
from pathlib import Path

way, log, *places = sys.argv[1:]
written = open(log, "a", buffering=1)
number = 0
held = []

def save(path):
    global number
    line = f"# line-{number}-end"
    number += 1
    text = path.read_text() + line + "\\n"
    if way == "append":
        handle = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.write(handle, f"{line}\\n".encode())
        os.close(handle)
    elif way == "held":
        held.append((os.open(path, os.O_WRONLY | os.O_TRUNC), text))
    else:
        beside = path.with_name(f"{path.name}.beside")
        beside.write_text(text)
        os.replace(beside, path)
    written.write(line + "\\n")

for command in sys.stdin:
    what, which = command.split()
    if what == "save":
        found = [path for place in map(Path, places) for path in (place, *sorted(place.rglob("*.md")))]
        found = [path for path in found if path.is_file() and not path.name.startswith(".")]
        for path in found if which == "all" else found[int(which) : int(which) + 1]:
            save(path)
    else:
        for handle, text in held:
            os.write(handle, text.encode())
            os.close(handle)
        held.clear()
    print("done", flush=True)
"""


class Person:
    """Adds a line to memories, candidates and settings in these places when told to. `saved` is what they wrote so
    far."""

    def __init__(self, way: Way, log: Path, *places: Path) -> None:
        log.touch()
        self._log = log
        command = [sys.executable, "-c", WRITER, way, str(log), *map(str, places)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
        assert kind or self._process.returncode == 0

    def tell(self, what: Literal["save", "finish"], which: Which = "all") -> None:
        """Has them save, or finish what they hold open, and returns when it is done."""
        assert self._process.stdin and self._process.stdout
        os.write(self._process.stdin.fileno(), f"{what} {which}\n".encode())
        assert self._process.stdout.readline() == b"done\n"

    def saved(self) -> list[str]:
        return self._log.read_text().splitlines()


def instants(work: Callable[[], object]) -> int:
    """At how many instants of this work somebody could save a file; the work is done, in a child."""
    ready, go = os.pipe()
    code = _in_child(work, lambda at: os.write(go, b".") if at >= 0 else 0)
    os.close(go)
    with os.fdopen(ready, "rb") as counted:
        count = len(counted.read())
    assert code == DONE
    return count


def saved_at(instant: int, person: Person, which: Which, work: Callable[[], object]) -> int:
    """Does the work in a child while the person saves at this instant of it: whether it was done or refused."""

    def meanwhile(at: int) -> None:
        if at == instant:
            person.tell("save", which)
        elif at == instant + 1:
            person.tell("finish")

    code = _in_child(work, meanwhile)
    person.tell("finish")
    return code


def _in_child(work: Callable[[], object], meanwhile: Callable[[int], object]) -> int:
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    at = 0

    def count(event: str, given: tuple[object, ...]) -> None:
        nonlocal at
        if event in TOUCHES or (event == "open" and str(given[0]).endswith(OURS)):
            at += 1
            meanwhile(at - 1)

    try:
        sys.addaudithook(count)
        work()
        os._exit(DONE)
    except LerimError:
        os._exit(REFUSED)
    except BaseException:
        traceback.print_exc()
        os._exit(FAILED)
