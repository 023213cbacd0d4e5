"""The text of a turn as the catalog keeps it: what was said, and its tool calls in readable lines, packed as one."""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from lerim.sessions.model import OWN_COMMAND, ToolCall, ToolStatus, Turn
from lerim.sessions.readers import trim_torn_words

COMMAND_CHARACTERS = 4_000
ERROR_CHARACTERS = 400
PACKED_FROM = 400
"""Characters below which packing gains too little for its time."""
DEFLATE_WINDOW = -12
"""Deflate with a window of 4 kB and no header: clearing the usual 32 kB takes longer than packing a turn."""

_UNSPACED = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f])")
_SPACED = bytes(range(0xE3))
"""Every byte of UTF-8 that begins no character from U+3000 on: looking for others is much faster than the pattern."""
_BETWEEN = "\x1f"

# Before each call stand a mark and a letter of its status, after it a mark and its exit code. None of them is a word.
_CALL, _EXIT = "\x1e", "\x1d"
_STATUS: Mapping[ToolStatus, str] = {
    "ok": "\x01",
    "error": "\x02",
    "denied": "\x03",
    "interrupted": "\x04",
    "pending": "\x05",
}
_STATUS_OF = {mark: status for status, mark in _STATUS.items()}
_MARKS = re.compile("\x1e[\x01-\x05]|\x1d-?[0-9]{1,20}")
_UNMARKED = str.maketrans(dict.fromkeys((_BETWEEN, _CALL, _EXIT), " "))


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A tool call as the catalog keeps it: its lines, the first of which says what was done. `exit_code` only where it
    is not 0."""

    status: ToolStatus
    exit_code: int | None
    text: str


def pack_turn_text(text: str, tools: str) -> str | bytes:
    """Text and tools as one value; deflated where that is shorter, so that index and text fit in twice the text."""
    body = f"{text}{_BETWEEN}{tools}"
    if len(body) < PACKED_FROM:
        return body
    plain = body.encode()
    packed = deflate(plain)
    return packed if len(packed) < len(plain) else body


def unpack_turn_text(body: str | bytes) -> tuple[str, str]:
    """Text and tools of a packed value; the tools as `render_calls` made them."""
    plain = body if isinstance(body, str) else inflate(body).decode()
    text, _, tools = plain.rpartition(_BETWEEN)
    return text, tools


def format_stored_calls(tools: str) -> str:
    """What `render_calls` made as lines for people."""
    if _CALL not in tools:
        return tools
    return _MARKS.sub(lambda mark: "\n" if mark[0].startswith(_CALL) else "", tools).lstrip("\n")


def parse_stored_calls(tools: str) -> list[StoredCall]:
    """The calls that `render_calls` was given."""
    found = []
    for part in tools.split(_CALL):
        status = _STATUS_OF.get(part[:1])
        if status is not None:
            text, _, code = part[1:].partition(_EXIT)
            found.append(StoredCall(status, int(code) if code else None, text))
    return found


def map_stored_calls(tools: str, change: Callable[[str], str]) -> str:
    """What `render_calls` made with the text of each call changed; the marks between calls stay."""
    parts = []
    for part in tools.split(_CALL):
        mark = part[:1] if part[:1] in _STATUS_OF else ""
        text, exit_mark, code = part[len(mark) :].rpartition(_EXIT) if _EXIT in part else (part[len(mark) :], "", "")
        parts.append(f"{mark}{change(text)}{exit_mark}{code}")
    return _CALL.join(parts)


def deflate(data: bytes) -> bytes:
    """`data` made smaller, fast."""
    return zlib.compress(data, 1, DEFLATE_WINDOW)


def inflate(data: bytes) -> bytes:
    """What was deflated. Raises zlib.error for anything else."""
    return zlib.decompress(data, DEFLATE_WINDOW)


def estimate_row_size(turn: Turn) -> int:
    """About how many characters the turn's row takes."""
    size = len(turn.text)
    for call in turn.tool_calls:
        size += len(call.command) + len(call.plan)
    return size


def replace_surrogates(text: str) -> str:
    """`text` with lone surrogates replaced: SQLite takes only what UTF-8 can hold."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def space_ideographs(text: str) -> str:
    """`text` for the index and for queries: Chinese and Japanese characters apart, since no spaces part their words."""
    if text.isascii() or not text.encode("utf-8", "surrogatepass").translate(None, _SPACED):
        return text
    return _UNSPACED.sub(r" \1 ", text)


def render_calls(calls: Iterable[ToolCall]) -> str:
    """The tool calls of a turn for search, and for `format_stored_calls` and `parse_stored_calls`: commands, paths,
    questions with answers, plans, errors, and what the person's own commands printed."""
    return "".join(map(_rendered, calls))


def _rendered(call: ToolCall) -> str:
    lines = replace_surrogates("\n".join(_lines(call)))
    if _BETWEEN in lines or _CALL in lines or _EXIT in lines:
        lines = lines.translate(_UNMARKED)
    code = f"{_EXIT}{call.exit_code}" if call.exit_code else ""
    return f"{_CALL}{_STATUS[call.status]}{lines}{code}" if lines else ""


def _lines(call: ToolCall) -> list[str]:
    if call.name == OWN_COMMAND and not call.id:  # the command is the turn's text
        return [call.output] if call.output else []
    lines: list[str] = []
    command = _first(call.command, COMMAND_CHARACTERS)
    shell = call.kind == "shell"
    if shell and command:
        lines.append(f"$ {command}")
    else:
        lines.append(" ".join((call.name[:80], *call.paths)))
    if call.description:
        lines.append(_first(call.description, COMMAND_CHARACTERS))
    if command and not shell:
        lines.append(command)
    for answer in call.answers:
        lines.append(f"{answer.question} [{' | '.join(answer.options)}] {answer.answer}")
    if call.plan:
        lines.append(call.plan)
    if call.output and call.status == "error":
        lines.append(_first(call.output, ERROR_CHARACTERS))
    if call.feedback:
        lines.append(call.feedback)
    return lines


def _first(text: str, most: int) -> str:
    """The beginning of a text, without the word the cut would go through: half of a secret is not known for one."""
    return text if len(text) <= most else trim_torn_words(text[:most], "")[0]
