"""A DSPy language model whose engine answers by a script, at the seam where the real one asks a service."""

from __future__ import annotations

from collections.abc import Callable

import dspy
from dspy import lm15

from chat_server import item, marked

__all__ = ["Script", "item", "marked"]


class Script:
    """Answers in order, the last one for ever; an answer is a text, an error to raise, or a function of the prompt."""

    supports_function_calling = False
    supports_reasoning = False
    supports_response_schema = False
    supported_params = frozenset({"temperature", "max_tokens"})

    def __init__(self, *answers: str | Exception | Callable[[str], str]) -> None:
        self.answers = list(answers)
        self.prompts: list[str] = []
        self.lm = dspy.LM("lerim/scripted", engine=self, cache=False, num_retries=0)

    def complete(self, request: lm15.Request) -> lm15.Response:
        system = request.system if isinstance(request.system, str) else ""
        self.prompts.append("\n".join((system, *(message.text or "" for message in request.messages))))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        text = answer if isinstance(answer, str) else answer(self.prompts[-1])
        message = lm15.Message.assistant([lm15.TextPart(text)])
        return lm15.Response(id="1", model="scripted", message=message, finish_reason="stop", usage=lm15.Usage())

    def close(self) -> None:
        pass
