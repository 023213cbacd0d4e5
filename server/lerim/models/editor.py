"""The editor's own model, asked by a job through its parent: lines up, answers down (docs/PROTOCOL.md §2).

A model is named as the extension offers it, `vendor/id`. Light: the sidecar, which passes the lines on, imports this.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from lerim.config import read_editor_state

RefusalReason = Literal["no-permission", "blocked", "quota", "not-found", "gone", "cancelled", "failed"]
"""Why the editor gave no answer. `gone`: the model was taken away while it was asked."""

LOOK_EVERY = 0.05
"""Seconds between two looks at whether the person cancelled."""

REFUSAL_WORDS: Mapping[RefusalReason | Literal["timeout"], str] = {
    "no-permission": "the editor does not allow Lerim to use it",
    "blocked": "the editor blocked the request",
    "quota": "its quota is used up",
    "not-found": "the editor has no such model",
    "gone": "the editor removed the model",
    "cancelled": "cancelled",
    "failed": "it failed",
    "timeout": "it did not answer in time",
}


def is_undecided(wire: str, name: str, environ: Mapping[str, str]) -> bool:
    """Whether a model is one of the editor's that the person was not asked about: asking it could open a question of
    the editor's, which only somebody who wanted a sync expects."""
    known = read_editor_state(environ)[0] if wire == "editor" else None
    return known is not None and any(one.id == name and one.allowed is None for one in known.models)


class EditorQuestion(msgspec.Struct, frozen=True, tag_field="event", tag="ask"):
    """Job → parent: one question to the model `model`; `id` names it in what follows. `stream`: its answer is wanted in
    parts, too, as they come."""

    id: int
    model: str
    system: str
    prompt: str
    max_tokens: int | None = None
    stream: bool = False


class EditorCancellation(msgspec.Struct, frozen=True, tag_field="event", tag="unask"):
    """Job → parent: nobody waits for this answer any more."""

    id: int


class EditorAnswerPart(msgspec.Struct, frozen=True, tag_field="event", tag="part"):
    """Parent → job: the next words of an answer that is not whole yet."""

    id: int
    text: str


class EditorAnswer(msgspec.Struct, frozen=True, tag_field="event", tag="answer"):
    """Parent → job: the whole text of an answer."""

    id: int
    text: str


class EditorRefusal(msgspec.Struct, frozen=True, tag_field="event", tag="refused"):
    """Parent → job: there is no answer. `message` is the editor's own, so it is data."""

    id: int
    why: RefusalReason
    message: str = ""


class EditorRefusedError(Exception):
    """No answer came from the editor. Its text is for people; `message` is what the editor said, which is data."""

    def __init__(self, why: RefusalReason | Literal["timeout"], message: str = "") -> None:
        self.why = why
        self.message = message
        super().__init__(REFUSAL_WORDS[why])


@dataclass(slots=True)
class _Waiting:
    parts: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    done: threading.Event = field(default_factory=threading.Event)
    came: EditorAnswer | EditorRefusal | None = None


class EditorBridge:
    """A job's way to the editor's models, for any number of threads. `send` passes a line to the parent."""

    def __init__(self, send: Callable[[EditorQuestion | EditorCancellation], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._last = 0
        self._waiting: dict[int, _Waiting] = {}

    def ask(
        self,
        model: str,
        system: str,
        prompt: str,
        *,
        max_tokens: int | None,
        seconds: float,
        cancelled: Callable[[], bool],
        hear: Callable[[str], None] | None = None,
    ) -> str:
        """The model's whole answer; `hear` is given it as it comes. Raises RefusedError, also where none came within
        `seconds` or the person cancelled; the editor is then told to stop."""
        waiting = _Waiting()
        heard = ""
        with self._lock:
            self._last += 1
            number = self._last
            self._waiting[number] = waiting
        deadline = time.monotonic() + seconds
        try:
            self._send(EditorQuestion(number, model, system, prompt, max_tokens, stream=hear is not None))
            while not waiting.done.wait(LOOK_EVERY):
                while hear is not None and not waiting.parts.empty():
                    part = waiting.parts.get()
                    heard += part
                    hear(part)
                if cancelled():
                    self._send(EditorCancellation(number))
                    raise EditorRefusedError("cancelled")
                if time.monotonic() > deadline:
                    self._send(EditorCancellation(number))
                    raise EditorRefusedError("timeout")
        finally:
            with self._lock:
                del self._waiting[number]
        match waiting.came:
            case EditorAnswer(_, text):
                if hear is not None and text.startswith(heard) and text != heard:
                    hear(text[len(heard) :])
                return text
            case EditorRefusal(_, why, message):
                raise EditorRefusedError(why, message)
        raise AssertionError("unreachable")

    def take(self, line: EditorAnswer | EditorRefusal | EditorAnswerPart) -> None:
        """Hands an answer to the thread that waits for it; one that nobody waits for any more is dropped."""
        with self._lock:
            waiting = self._waiting.get(line.id)
        if waiting is None:
            return
        if isinstance(line, EditorAnswerPart):
            waiting.parts.put(line.text)
            return
        waiting.came = line
        waiting.done.set()
