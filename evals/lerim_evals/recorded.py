"""Answers of a model, kept in files, so that extraction with a model can be measured again without one.

One file a session: `{"model": …, "answers": {"primitives 0-55": "the whole answer"}}`; an answer is called by the
field that was asked for and the turns that were shown. What is not there is asked of the settings' model, and kept.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from dspy import lm15

from lerim.errors import SettingsError
from lerim.models import tokens
from lerim.models.lm import AnsweringEngine
from lerim.models.money.usage import NO_USAGE, Usage

_TURN = re.compile(r"^\[(\d{1,9})\] (?:user|assistant)\b", re.MULTILINE)
_ASKED = re.compile(r"^\[\[ ## (\w{1,40}) ## \]\]$", re.MULTILINE)


class _Kept(msgspec.Struct):
    model: str = ""
    answers: dict[str, str] = {}


@dataclass(slots=True)
class Recording:
    """The answers of one session. `model` is asked for those that are not there and its `label` is kept with them."""

    path: Path
    model: AnsweringEngine | None = None
    label: str = ""
    spent: Usage = NO_USAGE
    """Calls that were answered from the file or by the model, in tokens as o200k counts them."""
    _kept: _Kept | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def complete(self, request: lm15.Request) -> lm15.Response:
        """The answer that was kept, else a new one. Raises errors of `dspy.lm15`, SettingsError for a broken file."""
        with self._lock:
            return self._complete(request)

    def _complete(self, request: lm15.Request) -> lm15.Response:
        kept = self._kept = self._kept or _read(self.path)
        name, prompt = asked(request)
        text = kept.answers.get(name)
        if text is None:
            if self.model is None:
                raise lm15.InvalidRequestError(f"no answer to “{name}” was recorded in {self.path.name}")
            text = self.model.complete(request).message.text or ""
            kept.answers[name], kept.model = text, self.label
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(msgspec.json.format(msgspec.json.encode(kept)) + b"\n")
        self.spent += Usage(1, tokens.count_tokens(prompt), tokens.count_tokens(text))
        message = lm15.Message.assistant([lm15.TextPart(text)])
        return lm15.Response(
            id=name, model=kept.model or "recorded", message=message, finish_reason="stop", usage=lm15.Usage()
        )

    def close(self) -> None:
        """Nothing stays open between calls."""


def asked(request: lm15.Request) -> tuple[str, str]:
    """What a request is called in a file, and all of its text."""
    system = request.system if isinstance(request.system, str) else "".join(part.text for part in request.system or ())
    said = "\n".join(message.text or "" for message in request.messages)
    fields = [name for name in _ASKED.findall(system) if name != "completed"]
    turns = _TURN.findall(said)
    shown = f"{turns[0]}-{turns[-1]}" if turns else "joined"
    return f"{fields[-1] if fields else 'answer'} {shown}", f"{system}\n{said}"


def _read(path: Path) -> _Kept:
    if not path.exists():
        return _Kept()
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Kept)
    except (OSError, ValueError) as error:
        raise SettingsError(f"The recorded answers cannot be read: {error}.", where=str(path)) from error
