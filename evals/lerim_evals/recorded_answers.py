"""Recorded answers of a model, with which extraction can be measured again without asking the model.

There is one file per session: `{"model": …, "answers": {"primitives 0-55": "the whole answer"}}`. The name of an answer
is the field that was requested and the range of turns that was shown. A missing answer is requested and recorded.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from lerim.errors import SettingsError
from lerim.models import lm15, tokens
from lerim.models.lm import AnsweringEngine
from lerim.models.money.usage import NO_USAGE, Usage

_TURN_HEADING = re.compile(r"^\[(\d{1,9})\] (?:user|assistant)\b", re.MULTILINE)
_FIELD_HEADING = re.compile(r"^\[\[ ## (\w{1,40}) ## \]\]$", re.MULTILINE)


class _AnswerFile(msgspec.Struct):
    model: str = ""
    answers: dict[str, str] = {}


@dataclass(slots=True)
class RecordedAnswers:
    """The recorded answers of one session; an engine like the others. `model` gives answers that are missing in the
    file, which then also names its `label`."""

    path: Path
    model: AnsweringEngine | None = None
    label: str = ""
    spent: Usage = NO_USAGE
    """The usage of all calls, recorded or not, in o200k tokens."""
    _file: _AnswerFile | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def complete(self, request: lm15.Request) -> lm15.Response:
        """The recorded answer, else a new one. Raises errors of `dspy.lm15`, and SettingsError for a broken file."""
        with self._lock:
            return self._complete(request)

    def _complete(self, request: lm15.Request) -> lm15.Response:
        file = self._file = self._file or _read_answers(self.path)
        name, prompt = describe_request(request)
        answer = file.answers.get(name)
        if answer is None:
            if self.model is None:
                raise lm15.InvalidRequestError(f"no answer to “{name}” was recorded in {self.path.name}")
            answer = self.model.complete(request).message.text or ""
            file.answers[name], file.model = answer, self.label
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_bytes(msgspec.json.format(msgspec.json.encode(file)) + b"\n")
        self.spent += Usage(1, tokens.count_tokens(prompt), tokens.count_tokens(answer))
        message = lm15.Message.assistant([lm15.TextPart(answer)])
        return lm15.Response(
            id=name, model=file.model or "recorded", message=message, finish_reason="stop", usage=lm15.Usage()
        )


def describe_request(request: lm15.Request) -> tuple[str, str]:
    """The name of a request in the file, and its whole text."""
    system = request.system if isinstance(request.system, str) else "".join(part.text for part in request.system or ())
    messages = "\n".join(message.text or "" for message in request.messages)
    fields = [name for name in _FIELD_HEADING.findall(system) if name != "completed"]
    turns = _TURN_HEADING.findall(messages)
    turn_range = f"{turns[0]}-{turns[-1]}" if turns else "joined"
    return f"{fields[-1] if fields else 'answer'} {turn_range}", f"{system}\n{messages}"


def _read_answers(path: Path) -> _AnswerFile:
    if not path.exists():
        return _AnswerFile()
    try:
        return msgspec.json.decode(path.read_bytes(), type=_AnswerFile)
    except (OSError, ValueError) as error:
        raise SettingsError(f"The recorded answers cannot be read: {error}.", where=str(path)) from error
