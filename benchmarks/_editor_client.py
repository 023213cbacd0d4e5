"""As little of an editor as can be timed: it writes a message, and reads until its answer.

Every wait ends the benchmark after `DEADLINE_SECONDS`, with a message that says what it waited for.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

SERVER = Path(__file__).resolve().parents[1] / "server"
DEADLINE_SECONDS = 120


def wait_until(what: str, is_so: Callable[[], bool]) -> None:
    """Calls `is_so`, which asks the server or reads from it, until it returns True."""
    end = time.perf_counter() + DEADLINE_SECONDS
    while not is_so():
        if time.perf_counter() > end:
            sys.exit(f"waited {DEADLINE_SECONDS} s for {what}")


class Client:
    """A language server's process, and the notifications that it sent (`told`, by method)."""

    def __init__(self, command: list[str], environ: dict[str, str], root: Path) -> None:
        self.began = time.perf_counter()
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ)
        self.ids = count(1)
        self.told: dict[str, list[Any]] = {}
        folder = {"uri": root.as_uri(), "name": root.name}
        self.ask(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": None,
                "capabilities": {"experimental": {"lerimCommands": True}},
                "workspaceFolders": [folder],
                "initializationOptions": {"trusted": True, "settings": {"idleSeconds": 0}},
            },
        )
        self.start_ms = (time.perf_counter() - self.began) * 1000
        self.send("initialized", {})

    def send(self, method: str, params: Any, number: int | None = None) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def ask(self, method: str, params: Any) -> Any:
        number = next(self.ids)
        self.send(method, params, number)
        answer = self._read_until(
            f"the answer to {method}", lambda one: one.get("id") == number and "method" not in one
        )
        if "error" in answer:
            sys.exit(f"the server answered with an error: {answer['error']}")
        return answer["result"]

    def until(self, method: str, is_it: Callable[[Any], bool] = lambda _: True) -> None:
        """Reads until a notification of this name has come, with parameters of which `is_it` is true."""
        if not any(map(is_it, self.told.get(method, ()))):
            self._read_until(method, lambda one: one.get("method") == method and is_it(one["params"]))

    def _read_until(self, what: str, is_it: Callable[[Any], bool]) -> Any:
        def stop(_number: int, _frame: FrameType | None) -> None:
            sys.exit(f"waited {DEADLINE_SECONDS} s for {what}")

        signal.signal(signal.SIGALRM, stop)
        signal.alarm(DEADLINE_SECONDS)
        while not is_it(message := self._read(what)):
            pass
        signal.alarm(0)
        return message

    def _read(self, what: str) -> Any:
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        if not length:
            sys.exit(f"the server ended while the benchmark waited for {what}")
        message = json.loads(self.process.stdout.read(length))
        if "method" in message:
            self.told.setdefault(message["method"], []).append(message["params"])
        return message

    def timed(self, method: str, params: Any) -> tuple[float, Any]:
        began = time.perf_counter()
        result = self.ask(method, params)
        return (time.perf_counter() - began) * 1000, result

    def processor_ms(self) -> float | None:
        """The processor time that the server has spent, which other processes hardly change; None except on Linux."""
        if sys.platform != "linux":
            return None
        spent = 0
        for thread in Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # it ended meanwhile
                spent += int((thread / "schedstat").read_text(encoding="ascii").split()[0])
        return spent / 1e6

    def stop(self) -> None:
        self.ask("shutdown", None)
        self.send("exit", None)
        try:
            self.process.wait(DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            sys.exit(f"waited {DEADLINE_SECONDS} s for the server's end")
