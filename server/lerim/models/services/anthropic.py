"""Anthropic's Messages API: the system prompt is a separate field, an output limit is required, and content is a
list of blocks."""

from __future__ import annotations

import json

import msgspec
from msgspec.structs import replace

from lerim.models.answer import ONE_CALL, ModelAnswer, valid_count
from lerim.models.dspy_import import lm15
from lerim.models.model import Model
from lerim.models.money import Usage
from lerim.models.services.chat import AnswerStream, make_answer, system_text
from lerim.models.services.faults import BrokenOffError, decode_reply, invalid_reply_error, refusal_error
from lerim.models.services.wire import ServiceReply

API_VERSION = "2023-06-01"


class _Block(msgspec.Struct):
    type: str = ""
    text: str = ""


class _TokenCounts(msgspec.Struct):
    """The token counts of a reply. `input_tokens` are the tokens that were neither read from the cache nor written
    to it."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Message(msgspec.Struct):
    type: str = ""
    content: list[_Block] | None = None
    stop_reason: str | None = None
    usage: _TokenCounts | None = None


class _EventDelta(msgspec.Struct):
    """The changes in an event: `text` is that of a block, `stop_reason` that of the message."""

    text: str | None = None
    stop_reason: str | None = None


class _Event(msgspec.Struct):
    type: str = ""
    message: _Message | None = None
    delta: _EventDelta | None = None
    usage: _TokenCounts | None = None


def anthropic_url(model: Model) -> str:
    """Returns the URL to post requests to."""
    return f"{model.base_url}/messages"


def anthropic_headers(model: Model) -> dict[str, str]:
    """Returns the headers with the key and the API version."""
    return {"anthropic-version": API_VERSION} | ({"x-api-key": model.key} if model.key else {})


def encode_anthropic_request(
    request: lm15.Request, model: Model, max_output_tokens: int, *, stream: bool = False
) -> bytes:
    """Encodes the request. For parameters that are left out, the service uses its defaults. `stream`: request a
    streamed answer."""
    messages = [{"role": message.role, "content": message.text or ""} for message in request.messages]
    body: dict[str, object] = {"model": model.name, "max_tokens": max_output_tokens, "messages": messages}
    if system := system_text(request):
        body["system"] = system
    if request.config.temperature is not None:
        body["temperature"] = request.config.temperature
    if stream:
        body["stream"] = True
    return json.dumps(body, ensure_ascii=True).encode()


def parse_anthropic_reply(reply: ServiceReply, model: Model) -> ModelAnswer:
    """Parses the answer in a reply. Raises an error of `dspy.lm15` that says why there is none."""
    if not 200 <= reply.status < 300:
        raise refusal_error(reply, model.key, model.name)
    message = decode_reply(reply.body, _Message, reply.status)
    if message.type == "error":
        raise refusal_error(reply, model.key, model.name)
    if message.content is None:
        raise invalid_reply_error(reply.status)
    text = "".join(block.text for block in message.content if block.type == "text")
    return make_answer(text, message.stop_reason, _usage(message.usage))


class AnthropicStream(AnswerStream):
    """A streamed answer of the Messages API."""

    _counts = _TokenCounts()

    def take(self, data: bytes) -> str:
        event = decode_reply(data, _Event)
        if event.type == "error":
            if not self._parts:
                raise refusal_error(ServiceReply(200, {}, data), self._model.key, self._model.name)
            raise BrokenOffError("it failed while it answered", usage=None)
        if event.type == "message_start" and event.message is not None:
            self._counts = event.message.usage or self._counts
        if event.type == "message_delta" and event.usage is not None:
            self._counts = replace(self._counts, output_tokens=event.usage.output_tokens)
        self._usage = _usage(self._counts)
        self._is_over = self._is_over or event.type == "message_stop"
        delta = event.delta or _EventDelta()
        self._finish = delta.stop_reason or self._finish
        if event.type != "content_block_delta" or not delta.text:
            return ""
        self._parts.append(delta.text)
        return delta.text


def _usage(counts: _TokenCounts | None) -> Usage:
    if counts is None:
        return ONE_CALL
    cached = valid_count(counts.cache_read_input_tokens)
    input_tokens = valid_count(counts.input_tokens) + cached + valid_count(counts.cache_creation_input_tokens)
    return Usage(1, input_tokens, valid_count(counts.output_tokens), cached)
