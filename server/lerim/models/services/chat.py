"""The chat completions API, which most services and all local servers provide."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from lerim.models.answer import ONE_CALL, FinishReason, ModelAnswer, valid_count
from lerim.models.dspy_import import lm15
from lerim.models.model import Model
from lerim.models.money import Usage
from lerim.models.services.faults import BrokenOffError, decode_reply, invalid_reply_error, refusal_error
from lerim.models.services.wire import ServiceReply

LimitParameter = Literal["max_tokens", "max_completion_tokens"]


class _Part(msgspec.Struct):
    text: str = ""


class _Content(msgspec.Struct):
    content: str | list[_Part] | None = None


class _Choice(msgspec.Struct):
    """One choice of a reply. `message` is an answer, `delta` its next piece in a stream."""

    message: _Content | None = None
    delta: _Content | None = None
    finish_reason: str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: float | None = None


class _TokenCounts(msgspec.Struct):
    """The token counts of a reply. Some services write whole numbers as `12.0`."""

    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    prompt_tokens_details: _PromptDetails | None = None
    cost: float | None = None


class _Completion(msgspec.Struct):
    """A reply, or one event of a stream."""

    choices: list[_Choice] = []
    usage: _TokenCounts | None = None
    error: object = None


_FINISH_REASONS: dict[str | None, FinishReason] = {
    "length": "length",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
    "refusal": "content_filter",
}
"""The reasons that services, including Anthropic, give for an answer that is not complete."""


def chat_url(model: Model) -> str:
    """Returns the URL to post requests to."""
    return f"{model.base_url}/chat/completions"


def chat_headers(model: Model) -> dict[str, str]:
    """Returns the headers with the key, or no headers if there is no key."""
    return {"Authorization": f"Bearer {model.key}"} if model.key else {}


def guess_limit_parameter(model: Model) -> LimitParameter:
    """Guesses the service's name for the parameter that limits an answer's tokens."""
    return "max_completion_tokens" if urlsplit(model.base_url).hostname == "api.openai.com" else "max_tokens"


def encode_chat_request(
    request: lm15.Request,
    model: Model,
    max_output_tokens: int,
    limit_parameter: LimitParameter,
    *,
    stream: bool = False,
) -> bytes:
    """Encodes the request. For parameters that are left out, the service uses its defaults. `stream`: request a
    streamed answer."""
    messages = [{"role": message.role, "content": message.text or ""} for message in request.messages]
    if system := system_text(request):
        messages.insert(0, {"role": "system", "content": system})
    body: dict[str, object] = {"model": model.name, "messages": messages, limit_parameter: max_output_tokens}
    if request.config.temperature is not None:
        body["temperature"] = request.config.temperature
    if model.provider == "openrouter":
        body["usage"] = {"include": True}  # otherwise it does not report the cost of a call
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return json.dumps(body, ensure_ascii=True).encode()


def parse_chat_reply(reply: ServiceReply, model: Model) -> ModelAnswer:
    """Parses the answer in a reply. Raises an error of `dspy.lm15` that says why there is none."""
    if not 200 <= reply.status < 300:
        raise refusal_error(reply, model.key, model.name)
    completion = decode_reply(reply.body, _Completion, reply.status)
    if completion.error is not None:
        raise refusal_error(reply, model.key, model.name)
    if not completion.choices:
        raise invalid_reply_error(reply.status)
    choice = completion.choices[0]
    if choice.finish_reason in ("error", "network_error"):
        usage = _usage(completion.usage) if completion.usage else None
        raise BrokenOffError("it failed while it answered", usage=usage)
    return make_answer(_text(choice.message), choice.finish_reason, _usage(completion.usage))


def make_answer(text: str, finish: str | None, usage: Usage) -> ModelAnswer:
    """Returns an answer that ended for this reason, in the service's words."""
    return ModelAnswer(text, _FINISH_REASONS.get(finish, "stop"), usage)


class AnswerStream(ABC):
    """A streamed answer: `take` reads its events, `answer` returns the whole answer at the end."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._parts: list[str] = []
        self._finish: str | None = None
        self._usage = ONE_CALL
        self._is_over = False

    @abstractmethod
    def take(self, data: bytes) -> str:
        """Returns the text of one event. Raises an error of `dspy.lm15` if the event reports one."""

    def answer(self) -> ModelAnswer:
        """Returns the whole answer. Raises BrokenOffError if the stream ended before the answer was complete."""
        if not self._is_over and self._finish is None:
            raise BrokenOffError("its answer broke off", usage=None)
        return make_answer("".join(self._parts), self._finish, self._usage)


class ChatStream(AnswerStream):
    """A streamed answer of chat completions."""

    def take(self, data: bytes) -> str:
        if data.strip() == b"[DONE]":
            self._is_over = True
            return ""
        chunk = decode_reply(data, _Completion)
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
        if chunk.error is not None and not self._parts:
            raise refusal_error(ServiceReply(200, {}, data), self._model.key, self._model.name)
        choice = chunk.choices[0] if chunk.choices else _Choice()
        if chunk.error is not None or choice.finish_reason in ("error", "network_error"):
            raise BrokenOffError("it failed while it answered", usage=_usage(chunk.usage) if chunk.usage else None)
        self._finish = choice.finish_reason or self._finish
        text = _text(choice.delta)
        if text:
            self._parts.append(text)
        return text


def system_text(request: lm15.Request) -> str:
    """Returns the system prompt as one text."""
    system = request.system
    return system if isinstance(system, str) else "".join(part.text for part in system or ())


def _usage(counts: _TokenCounts | None) -> Usage:
    if counts is None:
        return ONE_CALL
    input_tokens = valid_count(counts.prompt_tokens)
    cached = valid_count(counts.prompt_tokens_details.cached_tokens) if counts.prompt_tokens_details else 0
    return Usage(1, input_tokens, valid_count(counts.completion_tokens), min(cached, input_tokens), _cost(counts.cost))


def _text(said: _Content | None) -> str:
    content = said.content if said else None
    return "".join(part.text for part in content) if isinstance(content, list) else content or ""


def _cost(value: float | None) -> float:
    return value if value is not None and math.isfinite(value) and 0 <= value < 10**6 else 0.0
