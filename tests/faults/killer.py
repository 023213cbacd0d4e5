"""Work that is killed: at random instants, or at each touch of the disk."""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from random import Random

from long import LONG

TOUCHES_DISK = {"open", "os.link", "os.rename", "os.remove", "os.mkdir", "sqlite3.connect"}
KILLED, DONE = 9, 0


class Killer:
    """Runs work in children and kills them at random instants within the time the work takes unharmed."""

    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.takes: dict[str, float] = {}
        self.killed = 0

    def run(self, name: str, work: Callable[[], object]) -> None:
        began = time.monotonic()
        child = os.fork()
        if not child:
            try:
                work()
            except BaseException:
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
            os._exit(0)
        if name in self.takes:
            time.sleep(self.chance.uniform(0, self.takes[name]))  # the instant, not a wait for something
            os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, -signal.SIGKILL), f"{name} failed by itself"
        if code == 0:
            took = time.monotonic() - began
            self.takes[name] = min(self.takes.get(name, took), took)
        else:
            self.killed += 1


def _only_reads(event: str, given: tuple[object, ...]) -> bool:
    """Whether a file is opened without changing anything: a kill there is one at what comes next."""
    flags = given[2] if event == "open" else None
    return isinstance(flags, int) and not flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)


def in_child(work: Callable[[], object], kill_at: int = -1) -> int:
    """Run `work` in a child that dies without a farewell at its nth touch of the disk; its exit code."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    left = kill_at

    def count(event: str, given: tuple[object, ...]) -> None:
        nonlocal left
        if event in TOUCHES_DISK and not _only_reads(event, given):
            if left == 0:
                os._exit(KILLED)
            left -= 1

    try:
        sys.addaudithook(count)
        work()
        os._exit(DONE)
    except BaseException:
        os._exit(1)


class Kill:
    """Runs work that is killed at the `at`th touch of the disk."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.code = KILLED

    def __call__(self, work: Callable[..., object], *given: object, **named: object) -> int:
        """Run `work(*given, **named)`; KILLED or DONE."""
        self.code = in_child(lambda: work(*given, **named), self.at)
        assert self.code in (KILLED, DONE), "it failed by itself"
        return self.code


def every_kill(every: int = 3, least: int = 3, begin: int = 0) -> Iterator[Kill]:
    """A kill at each touch of the disk (on each change at each `every`th), until the work comes to its end."""
    at = begin
    while True:
        kill = Kill(at)
        yield kill
        if kill.code == DONE:
            break
        at += 1 if LONG else every
    assert at >= least, "the work hardly touched the disk"


def at_once(work: Callable[[int], object], count: int = 4) -> list[int]:
    """Run `work(number)` in that many processes at once; their exit codes."""
    ready, go = os.pipe()
    children = []
    for number in range(count):
        pid = os.fork()
        if not pid:
            try:
                os.close(go)
                os.read(ready, 1)
                work(number)
                os._exit(DONE)
            except BaseException:
                os._exit(1)
        children.append(pid)
    os.close(ready)
    os.close(go)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
