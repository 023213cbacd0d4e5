"""Questions as the editor asks them: the real job process, the question on its input; or the same without one."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from chat_server import KEY
from claude_lines import prompt, reply, text
from desk import Desk
from hang import HANG
from lerim.assistant import answer_question
from lerim.assistant.answers import Question
from lerim.models.editor import EditorBridge
from lerim.review import queue
from model_desk import environ
from warm_python import warm_python


@dataclass
class Asking:
    """A job that was asked something."""

    process: subprocess.Popen[bytes]

    def send(self, line: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def next_line(self) -> dict[str, Any]:
        assert self.process.stdout
        line: dict[str, Any] = json.loads(self.process.stdout.readline())
        return line


@contextmanager
def asking(desk: Desk, question: str, **options: object) -> Iterator[Asking]:
    """The process, before its lines are read."""
    command = [warm_python(), "-P", "-X", "utf8", "-m", "lerim", "worker", "ask", "--repo", str(desk.repo)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ())
    errors: list[bytes] = []
    assert process.stdin and process.stdout and process.stderr
    stderr = process.stderr
    reader = threading.Thread(target=lambda: errors.append(stderr.read()))
    reader.start()
    made = Asking(process)
    try:
        made.send({"text": question} | options)
        yield made
    finally:
        process.kill()
        process.wait(HANG)
        reader.join(10)
        for stream in (process.stdin, process.stdout, stderr):
            stream.close()
    assert KEY.encode() not in errors[0], errors
    assert b"Traceback" not in errors[0]


def asked(desk: Desk, question: str, bridge: EditorBridge | None = None, **options: object) -> dict[str, Any]:
    """The answer of the same function in this process, with the sentences as they were told before it in `said`."""
    told: list[str] = []
    answer = answer_question(
        desk.place.project,
        desk.home,
        os.environ,
        msgspec.convert({"text": question} | options, Question),
        lambda said: told.append(said.sentence.text),
        lambda: False,
        lambda: datetime.now(UTC),
        bridge,
    )
    return {**msgspec.to_builtins(answer), "said": told}


def known(desk: Desk) -> None:
    """A session that was learned from without a model, and one memory of it."""
    desk.session(
        "s1",
        prompt("In src/app.py amounts of `Money` are integer cents by agreement with billing, never floats"),
        reply("a", text("Noted: `Money` holds integers in src/app.py, rounded in `to_cents`.")),
        prompt("ok"),
        reply("b", text("Anything else?")),
    )
    desk.session(
        "s2",
        prompt("How does the importer retry?"),
        reply("c", text("The importer retries 5 times with 200 ms between tries, see src/importer.py.")),
        prompt("fine"),
        reply("d", text("Good.")),
    )
    desk.sync()
    queue.add_memory(desk.place, "decision", "Use uv, not pip", "Installs go through `uv pip sync requirements.lock`.")
