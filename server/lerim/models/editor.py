"""Asks the editor's own models: a job writes questions to its parent process, which writes back the answers
(docs/PROTOCOL.md §2).

A model's name is the one under which the extension offers it, `vendor/id`. The sidecar, which passes the lines on,
imports this module, so it must stay cheap to import.
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
"""Why the editor gave no answer. `gone`: the model was removed while it was asked."""

CHECK_SECONDS = 0.05
"""Seconds between checks for cancellation."""

REFUSAL_MESSAGES: Mapping[RefusalReason | Literal["timeout"], str] = {
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
    """Returns whether this is an editor model that the person has neither allowed nor refused. Asking it can make the
    editor show a question, which a person expects only after starting a sync."""
    state = read_editor_state(environ)[0] if wire == "editor" else None
    return state is not None and any(model.id == name and model.allowed is None for model in state.models)


class EditorQuestion(msgspec.Struct, frozen=True, tag_field="event", tag="ask"):
    """Job → parent: a question to `model`. The lines that follow refer to it by `id`. `stream`: also send the answer in
    parts, as they arrive."""

    id: int
    model: str
    system: str
    prompt: str
    max_tokens: int | None = None
    stream: bool = False


class EditorCancellation(msgspec.Struct, frozen=True, tag_field="event", tag="unask"):
    """Job → parent: the job no longer waits for this answer."""

    id: int


class EditorAnswerPart(msgspec.Struct, frozen=True, tag_field="event", tag="part"):
    """Parent → job: the next part of an unfinished answer."""

    id: int
    text: str


class EditorAnswer(msgspec.Struct, frozen=True, tag_field="event", tag="answer"):
    """Parent → job: the complete text of an answer."""

    id: int
    text: str


class EditorRefusal(msgspec.Struct, frozen=True, tag_field="event", tag="refused"):
    """Parent → job: there is no answer. `message` is the editor's own text and must be treated as data."""

    id: int
    why: RefusalReason
    message: str = ""


class EditorRefusedError(Exception):
    """The editor gave no answer. The error's text is for people; `message` is the editor's own text and must be treated
    as data."""

    def __init__(self, why: RefusalReason | Literal["timeout"], message: str = "") -> None:
        self.why = why
        self.message = message
        super().__init__(REFUSAL_MESSAGES[why])


@dataclass(slots=True)
class _PendingAnswer:
    """The state of a question that a thread waits for."""

    parts: queue.SimpleQueue[str] = field(default_factory=queue.SimpleQueue)
    is_done: threading.Event = field(default_factory=threading.Event)
    reply: EditorAnswer | EditorRefusal | None = None


class EditorBridge:
    """Asks the editor's models for a job, from any number of threads. `send` passes a line to the parent."""

    def __init__(self, send: Callable[[EditorQuestion | EditorCancellation], None]) -> None:
        self._send = send
        self._lock = threading.Lock()
        self._last_id = 0
        self._pending: dict[int, _PendingAnswer] = {}

    def ask(
        self,
        model: str,
        system: str,
        prompt: str,
        *,
        max_tokens: int | None,
        seconds: float,
        cancelled: Callable[[], bool],
        on_text: Callable[[str], None] | None = None,
    ) -> str:
        """Returns the model's complete answer; `on_text` receives its parts as they arrive.

        Raises EditorRefusedError, also if there is no answer within `seconds` or if the person cancels; in these two
        cases, the editor is told to stop.
        """
        pending = _PendingAnswer()
        received = ""
        with self._lock:
            self._last_id += 1
            question_id = self._last_id
            self._pending[question_id] = pending
        deadline = time.monotonic() + seconds
        try:
            self._send(EditorQuestion(question_id, model, system, prompt, max_tokens, stream=on_text is not None))
            while not pending.is_done.wait(CHECK_SECONDS):
                while on_text is not None and not pending.parts.empty():
                    part = pending.parts.get()
                    received += part
                    on_text(part)
                if cancelled():
                    self._send(EditorCancellation(question_id))
                    raise EditorRefusedError("cancelled")
                if time.monotonic() > deadline:
                    self._send(EditorCancellation(question_id))
                    raise EditorRefusedError("timeout")
        finally:
            with self._lock:
                del self._pending[question_id]
        match pending.reply:
            case EditorAnswer(_, text):
                if on_text is not None and text.startswith(received) and text != received:
                    on_text(text[len(received) :])
                return text
            case EditorRefusal(_, why, message):
                raise EditorRefusedError(why, message)
        raise AssertionError("unreachable")

    def deliver(self, line: EditorAnswer | EditorRefusal | EditorAnswerPart) -> None:
        """Passes an answer to the thread that waits for it. If no thread does, the answer is dropped."""
        with self._lock:
            pending = self._pending.get(line.id)
        if pending is None:
            return
        if isinstance(line, EditorAnswerPart):
            pending.parts.put(line.text)
            return
        pending.reply = line
        pending.is_done.set()
