"""Work that is killed: at random instants, or at each touch of the disk."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from random import Random

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
