"""Work that is killed at random instants."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from random import Random


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
