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

    def __init__(self, message: str | None, status: int | str | None = 0) -> None:
        self.message = message or "it failed"
        self.status = valid_count(status) if isinstance(status, int) else 0
        super().__init__(self.message)


def _sum(*counts: int | None) -> int:
    return sum(map(valid_count, counts))


class _ClaudeUsage(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    inputTokens: int | None = None  # noqa: N815 - Cursor's name
    outputTokens: int | None = None  # noqa: N815
    cacheReadTokens: int | None = None  # noqa: N815


class _ClaudeResult(msgspec.Struct):
    type: str = ""
    is_error: bool = False
    result: str | None = None
    stop_reason: str | None = None
    api_error_status: int | None = None
    subtype: str | None = None
    usage: _ClaudeUsage | None = None


def _parse_claude(text: str) -> ModelAnswer:
    """Parses the output of Claude Code, and of Cursor, which uses the same format."""
    result = next((line for line in _decode_lines(text, _ClaudeResult) if line.type == "result"), None)
    if result is None:
        raise FailureError("its output was not understood")
    if result.is_error or result.result is None:
        raise FailureError(result.result or result.subtype, result.api_error_status)
    counts = result.usage or _ClaudeUsage()
    cached = _sum(counts.cache_read_input_tokens, counts.cacheReadTokens)
    input_tokens = _sum(counts.input_tokens, counts.inputTokens, counts.cache_creation_input_tokens, cached)
    usage = Usage(1, input_tokens, _sum(counts.output_tokens, counts.outputTokens), cached)
    return ModelAnswer(result.result, "length" if result.stop_reason == "max_tokens" else "stop", usage)


class _CodexItem(msgspec.Struct):
    type: str = ""
    text: str | None = None


class _CodexUsage(msgspec.Struct):
    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    output_tokens: int | None = None


class _CodexError(msgspec.Struct):
    message: str | None = None


class _CodexLine(msgspec.Struct):
    type: str = ""
    item: _CodexItem | None = None
    usage: _CodexUsage | None = None
    error: _CodexError | None = None
    message: str | None = None


def _parse_codex(text: str) -> ModelAnswer:
    answer_text, usage, failure = "", Usage(calls=1), None
    for line in _decode_lines(text, _CodexLine):
        if line.item is not None and line.item.type == "agent_message" and line.item.text:
            answer_text = line.item.text
        if line.type == "turn.completed" and line.usage is not None:
            counts = line.usage
            usage += Usage(0, *map(_sum, (counts.input_tokens, counts.output_tokens, counts.cached_input_tokens)))
        if line.type in ("turn.failed", "error"):
            failure = FailureError(line.error.message if line.error else line.message)
    if failure is not None and not answer_text:
        raise failure
    return ModelAnswer(answer_text, usage=usage)


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


def _parse_gemini(text: str) -> ModelAnswer:
    try:
        reply = msgspec.json.decode(text[text.find("{") :].encode(), type=_GeminiReply)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise FailureError("its output was not understood") from error
    if reply.error is not None:
        raise FailureError(reply.error.message, reply.error.code)
    usage = Usage(calls=1)
    for model in (reply.stats.models if reply.stats else {}).values():
        counts = model.tokens
        usage += Usage(0, _sum(counts.prompt), _sum(counts.candidates, counts.thoughts), _sum(counts.cached))
    return ModelAnswer(reply.response or "", usage=usage)


class _OpenCodeCache(msgspec.Struct):
    read: int | None = None


class _OpenCodeTokens(msgspec.Struct):
    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cache: _OpenCodeCache = msgspec.field(default_factory=_OpenCodeCache)


class _OpenCodePart(msgspec.Struct):
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


def _parse_opencode(text: str) -> ModelAnswer:
    answer_text: list[str] = []
    usage, is_cut = Usage(calls=1), False
    for line in _decode_lines(text, _OpenCodeLine):
        if line.error is not None:
            fault = line.error.data or _OpenCodeFault()
            raise FailureError(fault.message or line.error.name, fault.statusCode)
        part = line.part or _OpenCodePart()
        if line.type == "text" and part.text:
            answer_text.append(part.text)
        if (counts := part.tokens) is not None:
            cached = _sum(counts.cache.read)
            usage += Usage(0, _sum(counts.input, cached), _sum(counts.output, counts.reasoning), cached)
            is_cut = part.reason == "length"
    return ModelAnswer("".join(answer_text), "length" if is_cut else "stop", usage)


class _CopilotData(msgspec.Struct, rename="camel"):
    content: str | None = None
    message: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    status_code: int | None = None


class _CopilotLine(msgspec.Struct):
    type: str = ""
    data: _CopilotData | None = None


def _parse_copilot(text: str) -> ModelAnswer:
    answer_text, usage, failure = "", Usage(calls=1), None
    for line in _decode_lines(text, _CopilotLine):
        data = line.data or _CopilotData()
        if line.type == "assistant.message" and data.content:
            answer_text = data.content
        elif line.type == "assistant.usage":
            usage += Usage(0, *map(_sum, (data.input_tokens, data.output_tokens, data.cache_read_tokens)))
        elif line.type == "session.error":
            failure = FailureError(data.message, data.status_code)
    if failure is not None and not answer_text:
        raise failure
    return ModelAnswer(answer_text, usage=usage)


ANSWER_PARSERS: Mapping[str, Callable[[str], ModelAnswer]] = {
    "claude-code": _parse_claude,
    "codex": _parse_codex,
    "gemini-cli": _parse_gemini,
    "opencode": _parse_opencode,
    "copilot-cli": _parse_copilot,
    "cursor-agent": _parse_claude,
}
"""Parsers of each provider's output. Lines in an unknown format are skipped."""


def _decode_lines(text: str, line_type: type[Line]) -> Iterator[Line]:
    """Yields the lines that match the format; programs also print warnings and other events."""
    decoder = msgspec.json.Decoder(line_type)
    for line in text.split("\n"):  # not splitlines: JSON may contain other line separators as they are
        if line.startswith("{"):
            try:
                yield decoder.decode(line.encode("utf-8", "replace"))
            except msgspec.MsgspecError:
                continue
