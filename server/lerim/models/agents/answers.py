"""Reads the answer and the usage from the output of each agent's program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import msgspec

from lerim.models.answer import ModelAnswer, valid_count
from lerim.models.money import Usage


class FailureError(Exception):
    """The program reported, in its own output format, that it failed. `status` is the HTTP status of its service, 0
    if unknown."""

    def __init__(self, message: str, status: object = 0) -> None:
        self.message = message or "it failed"
        self.status = valid_count(status) if isinstance(status, int) else 0
        super().__init__(self.message)


def _parse_claude(text: str) -> ModelAnswer:
    """Parses the output of Claude Code, and of Cursor, which uses the same format with other names of counts."""
    result = next((line for line in _decode_lines(text) if line.get("type") == "result"), None)
    if result is None:
        raise FailureError("its output was not understood")
    answer = result.get("result")
    if result.get("is_error") or not isinstance(answer, str):
        raise FailureError(_text(result, "result") or _text(result, "subtype"), result.get("api_error_status"))
    counts = result.get("usage")
    cached = _count(counts, "cache_read_input_tokens") + _count(counts, "cacheReadTokens")
    new = sum(_count(counts, key) for key in ("input_tokens", "inputTokens", "cache_creation_input_tokens"))
    usage = Usage(1, new + cached, _count(counts, "output_tokens") + _count(counts, "outputTokens"), cached)
    return ModelAnswer(answer, "length" if result.get("stop_reason") == "max_tokens" else "stop", usage)


def _parse_codex(text: str) -> ModelAnswer:
    answer, usage, failure = "", Usage(calls=1), None
    for line in _decode_lines(text):
        kind = line.get("type")
        if _text(line, "item", "type") == "agent_message":
            answer = _text(line, "item", "text") or answer
        if kind == "turn.completed":
            keys = ("input_tokens", "output_tokens", "cached_input_tokens")
            usage += Usage(0, *(_count(line, "usage", key) for key in keys))
        if kind in ("turn.failed", "error"):
            failure = FailureError(_text(line, "error", "message") or _text(line, "message"))
    return _answer_or_failure(answer, usage, failure)


def _parse_gemini(text: str) -> ModelAnswer:
    try:
        reply = msgspec.json.decode(text[text.find("{") :].encode(), type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise FailureError("its output was not understood") from error
    if reply.get("error") is not None:
        raise FailureError(_text(reply, "error", "message"), _get(reply, "error", "code"))
    usage, models = Usage(calls=1), _get(reply, "stats", "models")
    for model in models.values() if isinstance(models, dict) else ():
        prompt, answered, thought, cached = (
            _count(model, "tokens", key) for key in ("prompt", "candidates", "thoughts", "cached")
        )
        usage += Usage(0, prompt, answered + thought, cached)
    return ModelAnswer(_text(reply, "response"), usage=usage)


def _parse_opencode(text: str) -> ModelAnswer:
    answer, usage, is_cut = "", Usage(calls=1), False
    for line in _decode_lines(text):
        if line.get("error") is not None:
            message = _text(line, "error", "data", "message") or _text(line, "error", "name")
            raise FailureError(message, _get(line, "error", "data", "statusCode"))
        if line.get("type") == "text":
            answer += _text(line, "part", "text")
        if (counts := _get(line, "part", "tokens")) is not None:
            cached = _count(counts, "cache", "read")
            output_tokens = _count(counts, "output") + _count(counts, "reasoning")
            usage += Usage(0, _count(counts, "input") + cached, output_tokens, cached)
            is_cut = _text(line, "part", "reason") == "length"
    return ModelAnswer(answer, "length" if is_cut else "stop", usage)


def _parse_copilot(text: str) -> ModelAnswer:
    answer, usage, failure = "", Usage(calls=1), None
    for line in _decode_lines(text):
        kind, data = line.get("type"), line.get("data")
        if kind == "assistant.message":
            answer = _text(data, "content") or answer
        elif kind == "assistant.usage":
            usage += Usage(0, *(_count(data, key) for key in ("inputTokens", "outputTokens", "cacheReadTokens")))
        elif kind == "session.error":
            failure = FailureError(_text(data, "message"), _get(data, "statusCode"))
    return _answer_or_failure(answer, usage, failure)


ANSWER_PARSERS: Mapping[str, Callable[[str], ModelAnswer]] = {
    "claude-code": _parse_claude,
    "codex": _parse_codex,
    "gemini-cli": _parse_gemini,
    "opencode": _parse_opencode,
    "copilot-cli": _parse_copilot,
    "cursor-agent": _parse_claude,
}
"""Parsers of each provider's output. Lines in an unknown format are skipped."""


def _answer_or_failure(answer: str, usage: Usage, failure: FailureError | None) -> ModelAnswer:
    if failure is not None and not answer:
        raise failure
    return ModelAnswer(answer, usage=usage)


def _decode_lines(text: str) -> Iterator[dict[str, object]]:
    """Yields the lines that are JSON objects; programs also print warnings and other events."""
    decoder = msgspec.json.Decoder(dict[str, object])
    for line in text.split("\n"):  # not splitlines: JSON may contain other line separators as they are
        if line.startswith("{"):
            try:
                yield decoder.decode(line.encode("utf-8", "replace"))
            except (msgspec.MsgspecError, RecursionError):
                continue


def _get(value: object, *path: str) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: object, *path: str) -> str:
    found = _get(value, *path)
    return found if isinstance(found, str) else ""


def _count(value: object, *path: str) -> int:
    found = _get(value, *path)
    return valid_count(found) if isinstance(found, int) else 0
