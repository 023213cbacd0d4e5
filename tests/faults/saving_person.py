"""A person who saves files at a chosen instant of a piece of work, from a process of their own."""

from __future__ import annotations

import itertools
import os
import select
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

from hang import HANG
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
    what, which, request = command.split()
    if what == "save":
        found = [path for place in map(Path, places) for path in (place, *sorted(place.rglob("*.md")))]
        found = [path for path in found if path.is_file() and not path.name.startswith(".")]
        for path in found if which == "all" else found[int(which) : int(which) + 1]:
            try:
                save(path)
            except FileNotFoundError:  # it was moved while the one before it had to wait
                pass
    else:
        for handle, text in held:
            os.write(handle, text.encode())
            os.close(handle)
        held.clear()
    print("done", request, flush=True)
"""


class Person:
    """Adds a line to memories, candidates and settings in these places when told to. `saved` is what they wrote so
    far."""

    def __init__(self, way: Way, log: Path, *places: Path) -> None:
        log.touch()
        self._log = log
        self._requests = itertools.count()
        command = [sys.executable, "-c", WRITER, way, str(log), *map(str, places)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()
        assert kind or self._process.returncode == 0

    def tell(self, what: Literal["save", "finish"], which: Which = "all", blocked: int | None = None) -> None:
        """Has them save, or finish what they hold open, and returns when it is done, or as soon as `blocked` can be
        read: then their save waits for us."""
        assert self._process.stdin and self._process.stdout
        request = f"{os.getpid()}-{next(self._requests)}"
        os.write(self._process.stdin.fileno(), f"{what} {which} {request}\n".encode())
        answers = self._process.stdout.fileno()
        told = b""
        while f"done {request}\n".encode() not in told:
            ready = select.select([answers] if blocked is None else [answers, blocked], [], [], HANG)[0]
            assert ready, "the person does not answer"
            if answers not in ready:
                return
            told += os.read(answers, 4096)
            assert told, "the person is gone"

    def saved(self) -> list[str]:
        return self._log.read_text().splitlines()


def instants(work: Callable[[], object]) -> int:
    """At how many instants of this work somebody could save a file; the work is done, in a child."""
    ready, go = os.pipe()
    code = _in_child(work, lambda _at, _blocked: os.write(go, b"."))
    os.close(go)
    with os.fdopen(ready, "rb") as counted:
        count = len(counted.read())
    assert code == DONE
    return count


def saved_at(instant: int, person: Person, which: Which, work: Callable[[], object]) -> int:
    """Does the work in a child while the person saves at this instant of it: whether it was done or refused."""

    def meanwhile(at: int, blocked: int) -> None:
        if at == instant:
            person.tell("save", which, blocked)
        elif at == instant + 1:
            person.tell("finish", blocked=blocked)

    code = _in_child(work, meanwhile)
    person.tell("finish")
    return code


def _in_child(work: Callable[[], object], meanwhile: Callable[[int, int], object]) -> int:
    """Does the work in a child, which calls `meanwhile` at each instant: with its number, and with a handle that can be
    read once the system told the child that somebody waits to write a file it holds a lease on."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    at = 0

    def count(event: str, given: tuple[object, ...]) -> None:
        nonlocal at
        if event in TOUCHES or (event == "open" and str(given[0]).endswith(OURS)):
            at += 1
            meanwhile(at - 1, blocked)

    blocked, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.signal(signal.SIGURG, lambda *_: None)
    signal.set_wakeup_fd(wake)
    try:
        sys.addaudithook(count)
        work()
        os._exit(DONE)
    except LerimError:
        os._exit(REFUSED)
    except BaseException:
        traceback.print_exc()
        os._exit(FAILED)
