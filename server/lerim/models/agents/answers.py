"""Reads the answer and the usage from the output of each agent's program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import msgspec

from lerim.models.answer import ModelAnswer, valid_count
from lerim.models.money import Usage

Line = TypeVar("Line")


class FailureError(Exception):
    """The program reported, in its own output format, that it failed. `status` is the HTTP status of its service, 0
    if unknown."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


class _Cache(msgspec.Struct):
    read: int | None = None


class _ClaudeUsage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    inputTokens: int | None = None  # noqa: N815 - Cursor's name
    outputTokens: int | None = None  # noqa: N815
    cacheReadTokens: int | None = None  # noqa: N815


class _Result(msgspec.Struct):
    type: str = ""
    is_error: bool = False
    result: str | None = None
    stop_reason: str | None = None
    api_error_status: int | None = None
    subtype: str | None = None
    usage: _ClaudeUsage | None = None


def _claude(text: str) -> ModelAnswer:
    """Parses the output of Claude Code, and of Cursor, which uses the same format."""
    result = next((one for one in _decoded(text, _Result) if one.type == "result"), None)
    if result is None:
        raise FailureError("its output was not understood")
    if result.is_error or result.result is None:
        raise FailureError(result.result or result.subtype or "it failed", valid_count(result.api_error_status))
    used = result.usage or _ClaudeUsage()
    cached = valid_count(used.cache_read_input_tokens) + valid_count(used.cacheReadTokens)
    sent = (
        valid_count(used.input_tokens)
        + valid_count(used.inputTokens)
        + valid_count(used.cache_creation_input_tokens)
        + cached
    )
    usage = Usage(1, sent, valid_count(used.output_tokens) + valid_count(used.outputTokens), cached)
    return ModelAnswer(result.result, "length" if result.stop_reason == "max_tokens" else "stop", usage)


class _Item(msgspec.Struct):
    type: str = ""
    text: str | None = None


class _CodexUsage(msgspec.Struct):
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None


class _Said(msgspec.Struct):
    message: str | None = None


class _CodexLine(msgspec.Struct):
    type: str = ""
    item: _Item | None = None
    usage: _CodexUsage | None = None
    error: _Said | None = None
    message: str | None = None


def _codex(text: str) -> ModelAnswer:
    said, usage, failed = "", Usage(calls=1), ""
    for line in _decoded(text, _CodexLine):
        if line.item is not None and line.item.type == "agent_message" and line.item.text:
            said = line.item.text
        if line.type == "turn.completed" and line.usage is not None:
            used = line.usage
            usage += Usage(
                0,
                valid_count(used.input_tokens),
                valid_count(used.output_tokens),
                valid_count(used.cached_input_tokens),
            )
        if line.type in ("turn.failed", "error"):
            failed = (line.error.message if line.error else line.message) or "it failed"
    if failed and not said:
        raise FailureError(failed)
    return ModelAnswer(said, usage=usage)


class _GeminiTokens(msgspec.Struct):
    prompt: int | None = None
    candidates: int | None = None
    thoughts: int | None = None
    cached: int | None = None


class _GeminiModel(msgspec.Struct):
    tokens: _GeminiTokens = msgspec.field(default_factory=_GeminiTokens)


class _GeminiStats(msgspec.Struct):
    models: dict[str, _GeminiModel] = {}


class _GeminiError(msgspec.Struct):
    message: str | None = None
    code: int | str | None = None


class _GeminiReply(msgspec.Struct):
    response: str | None = None
    stats: _GeminiStats | None = None
    error: _GeminiError | None = None


def _gemini(text: str) -> ModelAnswer:
    try:
        reply = msgspec.json.decode(text[text.find("{") :].encode(), type=_GeminiReply)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise FailureError("its output was not understood") from error
    if reply.error is not None:
        status = reply.error.code if isinstance(reply.error.code, int) else 0
        raise FailureError(reply.error.message or "it failed", status)
    usage = Usage(calls=1)
    for model in (reply.stats.models if reply.stats else {}).values():
        used = model.tokens
        usage += Usage(
            0,
            valid_count(used.prompt),
            valid_count(used.candidates) + valid_count(used.thoughts),
            valid_count(used.cached),
        )
    return ModelAnswer(reply.response or "", usage=usage)


class _OpenCodeTokens(msgspec.Struct):
    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cache: _Cache = msgspec.field(default_factory=_Cache)


class _OpenCodePart(msgspec.Struct):
    type: str = ""
    text: str | None = None
    tokens: _OpenCodeTokens | None = None
    reason: str | None = None


class _OpenCodeFault(msgspec.Struct):
    message: str | None = None
    statusCode: int | None = None  # noqa: N815 - as it is printed


class _OpenCodeError(msgspec.Struct):
    name: str | None = None
    data: _OpenCodeFault | None = None


class _OpenCodeLine(msgspec.Struct):
    type: str = ""
    part: _OpenCodePart | None = None
    error: _OpenCodeError | None = None


def _opencode(text: str) -> ModelAnswer:
    said: list[str] = []
    usage, cut = Usage(calls=1), False
    for line in _decoded(text, _OpenCodeLine):
        if line.error is not None:
            data = line.error.data or _OpenCodeFault()
            raise FailureError(data.message or line.error.name or "it failed", valid_count(data.statusCode))
        part = line.part
        if part is not None and line.type == "text" and part.text:
            said.append(part.text)
        if part is not None and part.tokens is not None:
            used, cached = part.tokens, valid_count(part.tokens.cache.read)
            usage += Usage(
                0, valid_count(used.input) + cached, valid_count(used.output) + valid_count(used.reasoning), cached
            )
            cut = part.reason == "length"
    return ModelAnswer("".join(said), "length" if cut else "stop", usage)


class _CopilotData(msgspec.Struct):
    content: str | None = None
    message: str | None = None
    inputTokens: int | None = None  # noqa: N815 - as it is printed
    outputTokens: int | None = None  # noqa: N815
    cacheReadTokens: int | None = None  # noqa: N815
    statusCode: int | None = None  # noqa: N815


class _CopilotLine(msgspec.Struct):
    type: str = ""
    data: _CopilotData | None = None


def _copilot(text: str) -> ModelAnswer:
    said, usage, failure = "", Usage(calls=1), None
    for line in _decoded(text, _CopilotLine):
        data = line.data or _CopilotData()
        if line.type == "assistant.message" and data.content:
            said = data.content
        elif line.type == "assistant.usage":
            sent, out = valid_count(data.inputTokens), valid_count(data.outputTokens)
            usage += Usage(0, sent, out, valid_count(data.cacheReadTokens))
        elif line.type == "session.error":
            failure = FailureError(data.message or "it failed", valid_count(data.statusCode))
    if failure is not None and not said:
        raise failure
    return ModelAnswer(said, usage=usage)


ANSWER_PARSERS: Mapping[str, Callable[[str], ModelAnswer]] = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "opencode": _opencode,
    "copilot-cli": _copilot,
    "cursor-agent": _claude,
}
"""Parsers of each provider's output. Lines in an unknown format are skipped."""


def _decoded(text: str, form: type[Line]) -> Iterator[Line]:
    """Yields the lines that match the format; programs also print warnings and other events."""
    decoder = msgspec.json.Decoder(form)
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                yield decoder.decode(line.encode("utf-8", "replace"))
            except msgspec.MsgspecError:
                continue
