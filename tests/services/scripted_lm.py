"""A DSPy language model whose engine answers by a script, at the seam where the real one asks a service."""

from __future__ import annotations

from collections.abc import Callable

from chat_server import item, marked
from lerim.models import lm15
from lerim.models.lm import make_language_model

__all__ = ["Cut", "Script", "item", "marked"]


class Cut(str):
    """An answer that ends where the model may write no more."""


class Script:
    """Answers in order, the last one for ever; an answer is a text, an error to raise, or a function of the prompt."""

    def __init__(self, *answers: str | Exception | Callable[[str], str]) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []
        self.lm = make_language_model(self)

    def complete(self, request: lm15.Request) -> lm15.Response:
        system = request.system if isinstance(request.system, str) else ""
        self.prompts.append("\n".join((system, *(message.text or "" for message in request.messages))))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else answer(self.prompts[-1])
        finish = "length" if isinstance(text, Cut) else "stop"
        message = lm15.Message.assistant([lm15.TextPart(text)])
        return lm15.Response(id="1", model="scripted", message=message, finish_reason=finish, usage=lm15.Usage())
