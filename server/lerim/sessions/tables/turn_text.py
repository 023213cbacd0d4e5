"""The stored text of a turn: what was said, and its tool calls as readable lines, packed into one value."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lerim.sessions.model import OWN_COMMAND, QuestionAnswer, ToolCall, ToolStatus, Turn
from lerim.sessions.readers import trim_torn_words

COMMAND_CHARACTERS = 4_000
ERROR_CHARACTERS = 400
MAX_ANSWER_LINES, MAX_ANSWER_CHARACTERS = 8, 3_000
"""The most lines of a call that are read as answers, and the most characters of such a line."""
LEAST_PACKED_CHARACTERS = 400
"""Texts with fewer characters are not packed, because that would save too little space for the time it takes."""
DEFLATE_WINDOW = -12
"""Deflate with a 4 kB window and no header: clearing the usual 32 kB takes longer than packing a turn."""

_ANSWER_MARK, _NO_ANSWER_MARK = "? [", "?  ["
"""The mark between a question and its options, and the text that replaces this mark in everything else a call
contains, so that only answers are parsed as answers. Neither is used for commands."""
_QUESTION_ENDS = "?？:： \n"
_IDEOGRAPH = re.compile("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f])")
_BYTES_WITHOUT_IDEOGRAPHS = bytes(range(0xE3))
"""Every byte that does not start a character from U+3000 on in UTF-8. Checking for other bytes is much faster than the
pattern."""
_SEPARATOR = "\x1f"

# Each tool call starts with a mark, the mark of its status, and (unless it is a command) a mark that says whether it
# changes files. It ends with a mark and its exit code. None of these is a word for the index.
_CALL_MARK, _EXIT_MARK = "\x1e", "\x1d"
_STATUS_MARKS: Mapping[ToolStatus, str] = {
    "ok": "\x01",
    "error": "\x02",
    "denied": "\x03",
    "interrupted": "\x04",
    "pending": "\x05",
}
_STATUS_BY_MARK = {mark: status for status, mark in _STATUS_MARKS.items()}
_EDIT_MARK, _OTHER_MARK = "\x06", "\x07"
_MARK_PATTERN = re.compile("\x1e[\x01-\x05][\x06\x07]?|\x1d-?[0-9]{1,20}")
_MARK_REPLACEMENTS = str.maketrans(dict.fromkeys((_SEPARATOR, _CALL_MARK, _EXIT_MARK), " "))


@dataclass(frozen=True, slots=True)
class StoredCall:
    """A tool call from the catalog. The first line of `text` says what was done. `exit_code` is None if it was 0 or
    unknown. `changes_files`: its reader found that it edits or writes files."""

    status: ToolStatus
    exit_code: int | None
    text: str
    changes_files: bool = False

    @property
    def answers(self) -> tuple[QuestionAnswer, ...]:
        """The questions that the agent asked the person with this call and the answers, without the descriptions of the
        options: each is a line `question? [a | b] answer`."""
        answers: list[QuestionAnswer] = []
        for line in self.text.partition("\n")[2].splitlines()[:MAX_ANSWER_LINES]:
            question, asks, rest = line[:MAX_ANSWER_CHARACTERS].partition(_ANSWER_MARK)
            options, ends, answer = rest.rpartition("] ")
            if asks and ends and question.strip() and answer.strip():
                answers.append(QuestionAnswer(f"{question}?", tuple(options.split(" | ")), answer))
        return tuple(answers)

    def find_named_paths(self, paths: Sequence[str]) -> list[str]:
        """Returns those of the turn's `paths` that this call names. Their order is kept."""
        first = self.text.partition("\n")[0]
        line = f" {first} ".replace("\\", "/").replace(" ./", " ").replace("/ ", " ")
        named: set[str] = set()
        for path in sorted(paths, key=len, reverse=True):  # “my notes.md” before “notes.md”
            if f" {path} " in line:
                named.add(path)
                line = line.replace(f" {path} ", "  ")
        return [path for path in paths if path in named]


def pack_turn_text(text: str, tools: str) -> str | bytes:
    """Packs text and tool calls into one value, deflated if that is shorter, so that this value and the search index
    together take at most twice the size of the text."""
    body = f"{text}{_SEPARATOR}{tools}"
    if len(body) < LEAST_PACKED_CHARACTERS:
        return body
    plain = body.encode()
    packed = deflate(plain)
    return packed if len(packed) < len(plain) else body


def unpack_turn_text(body: str | bytes) -> tuple[str, str]:
    """Unpacks a value into the text and the tool calls, the latter as rendered by `render_calls`."""
    plain = body if isinstance(body, str) else inflate(body).decode()
    text, _, tools = plain.rpartition(_SEPARATOR)
    return text, tools


def format_stored_calls(tools: str) -> str:
    """Converts the output of `render_calls` to readable lines without marks."""
    return _MARK_PATTERN.sub(lambda mark: "\n" if mark[0].startswith(_CALL_MARK) else "", tools).lstrip("\n")


def parse_stored_calls(tools: str) -> list[StoredCall]:
    """Parses the output of `render_calls` into tool calls."""
    found = []
    for part in tools.split(_CALL_MARK):
        if status := _STATUS_BY_MARK.get(part[:1]):
            text, _, code = part[1 + (part[1:2] in (_EDIT_MARK, _OTHER_MARK)) :].partition(_EXIT_MARK)
            found.append(StoredCall(status, int(code) if code else None, text, part[1:2] == _EDIT_MARK))
    return found


def deflate(data: bytes) -> bytes:
    """Compresses `data`, fast."""
    return zlib.compress(data, 1, DEFLATE_WINDOW)


def inflate(data: bytes) -> bytes:
    """Decompresses what `deflate` returned. Raises zlib.error for anything else."""
    return zlib.decompress(data, DEFLATE_WINDOW)


def estimate_row_size(turn: Turn) -> int:
    """Estimates how many characters the turn's row takes."""
    size = len(turn.text)
    for call in turn.tool_calls:
        size += len(call.command) + len(call.description) + len(call.plan)
    return size


def replace_surrogates(text: str) -> str:
    """Replaces lone surrogates in `text`, because SQLite only takes text that is valid in UTF-8."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    return text


def space_ideographs(text: str) -> str:
    """Separates Chinese and Japanese characters with spaces, for the index and for queries: these scripts have no
    spaces."""
    if text.isascii() or not text.encode("utf-8", "surrogatepass").translate(None, _BYTES_WITHOUT_IDEOGRAPHS):
        return text
    return _IDEOGRAPH.sub(r" \1 ", text)


def render_calls(calls: Iterable[ToolCall]) -> str:
    """Renders the tool calls of a turn for search, `format_stored_calls` and `parse_stored_calls`: commands, paths,
    questions with answers, plans, errors, and the output of the person's own commands."""
    return "".join(map(_render_call, calls))


def _render_call(call: ToolCall) -> str:
    listed = _list_call_lines(call)
    if listed and not listed[0].startswith("$ "):
        said = [line.replace(_ANSWER_MARK, _NO_ANSWER_MARK) for line in listed]
        listed = [said[0], *map(_format_answer, call.answers), *said[1:]]
    lines = replace_surrogates("\n".join(listed))
    if _SEPARATOR in lines or _CALL_MARK in lines or _EXIT_MARK in lines:
        lines = lines.translate(_MARK_REPLACEMENTS)
    code = f"{_EXIT_MARK}{call.exit_code}" if call.exit_code else ""
    kind = "" if lines.startswith("$ ") else _EDIT_MARK if call.kind in ("edit", "write") else _OTHER_MARK
    return f"{_CALL_MARK}{_STATUS_MARKS[call.status]}{kind}{lines}{code}" if lines else ""


def _format_answer(answer: QuestionAnswer) -> str:
    """Returns an answer on one line, in the form that `StoredCall.answers` reads."""
    line = f"{answer.question.rstrip(_QUESTION_ENDS)}{_ANSWER_MARK}{' | '.join(answer.options)}] {answer.answer}"
    return " ".join(line.split())


def _list_call_lines(call: ToolCall) -> list[str]:
    if call.name == OWN_COMMAND and call.kind == "shell":  # the command is the turn's text
        return [call.output] if call.output else []
    lines: list[str] = []
    command = _cut_text(call.command, COMMAND_CHARACTERS)
    shell = call.kind == "shell"
    if shell and command:
        lines.append(f"$ {command}")
    else:
        lines.append(" ".join((call.name[:80], *call.paths)))
    if call.description:
        lines.append(_cut_text(call.description, COMMAND_CHARACTERS))
    if command and not shell:
        lines.append(command)
    if call.plan:
        lines.append(call.plan)
    if call.output and call.status == "error":
        lines.append(_cut_text(call.output, ERROR_CHARACTERS))
    if call.feedback:
        lines.append(call.feedback)
    return lines


def _cut_text(text: str, most: int) -> str:
    """Returns the first `most` characters of a text without a torn last word: half a secret would not be recognized as
    one."""
    return text if len(text) <= most else trim_torn_words(text[:most], "")[0]
