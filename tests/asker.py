"""Questions as the editor asks them: the real job process, the question on its input; or the same without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import msgspec

from chat_server import KEY
from claude_lines import prompt, reply, text
from desk import Desk
from lerim.assistant import answer_question
from lerim.assistant.answers import Question
from lerim.review import queue
from model_desk import environ


@dataclass
class Asking:
    """A job that was asked something; `lines` grows as it answers."""

    process: subprocess.Popen[bytes]
    lines: list[dict] = field(default_factory=list)
    came: threading.Event = field(default_factory=threading.Event)

    def send(self, line: object) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def follow(self) -> None:
        assert self.process.stdout
        for raw in self.process.stdout:
            self.lines.append(json.loads(raw))
            self.came.set()
        self.process.wait(30)

    @property
    def said(self) -> list[str]:
        return [line["sentence"]["text"] for line in self.lines if line["event"] == "said"]


@contextmanager
def asking(desk: Desk, question: str, **options: object) -> Iterator[Asking]:
    """The process, before its lines are read."""
    command = [sys.executable, "-P", "-X", "utf8", "-m", "lerim", "worker", "ask", "--repo", str(desk.repo)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ())
    errors: list[bytes] = []
    assert process.stderr
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
    reader.start()
    made = Asking(process)
    try:
        made.send({"text": question} | options)
        yield made
    finally:
        process.kill()
        process.wait(30)
        reader.join(10)
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
    assert KEY.encode() not in errors[0], errors
    assert b"Traceback" not in errors[0]


def asked(desk: Desk, question: str, **options: object) -> dict:
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
    )
    return msgspec.to_builtins(answer) | {"said": told}


def by_job(desk: Desk, question: str, **options: object) -> dict:
    """The same by the job."""
    with asking(desk, question, **options) as job:
        job.follow()
    last = job.lines[-1]
    assert last["event"] == "answered", last
    return last["answer"] | {"said": job.said}


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
