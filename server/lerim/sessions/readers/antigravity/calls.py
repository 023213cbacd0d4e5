"""Parses Antigravity's tool calls. The result of a call is the step that follows it, which gives the exit code in
words."""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec.structs import replace

from lerim.sessions.model import QuestionAnswer, ToolCall, ToolStatus
from lerim.sessions.readers.engine import (
    ToolTable,
    close_call,
    cut_blocks,
    find_object,
    find_text,
    keep_ends,
    kinds_by_name,
    parse_json_or_none,
    without_nul,
)

_TOOLS = ToolTable(
    kinds=kinds_by_name(
        {
            "shell": "run_command",
            "read": "read_file view_file view_file_outline view_code_item",
            "edit": "edit_file replace_file_content multi_replace_file_content",
            "write": "write_to_file",
            "search": "grep_search find_by_name codebase_search list_dir",
            "web": "search_web read_url_content",
            "agent": "invoke_subagent browser_subagent",
            "ask": "ask_question",
        }
    ),
    command=("CommandLine", "Query", "query", "Pattern", "Url", "Task", "Prompt"),
    path=("Path", "AbsolutePath", "TargetFile", "File", "SearchPath", "SearchDirectory", "DirectoryPath"),
    description=("toolAction", "Description", "Instruction"),
    content=("CodeContent", "Content"),
    replacements="ReplacementChunks",
    old=("Target", "TargetContent"),
    new=("Replacement", "ReplacementContent"),
)
_CANCELLED = ("CANCELED", "CANCELLED")
_EXIT_CODE = re.compile(r"ommand (?:exited|failed) with (?:exit )?code:? (-?\d{1,10})\b")
_TIME_HEADER = re.compile(r"(?:(?:Created|Completed) At: [^\n]{0,100}\n){1,2}")
_ANSWER = re.compile(r"^A(\d{1,3}): ?", re.MULTILINE)


class AntigravityCall(NamedTuple):
    """A call without a result yet, the folder it runs in, and the recipient of the message it sends ('' if none)."""

    call: ToolCall
    cwd: str
    recipient: str


def parse_antigravity_call(fields: dict[str, object], *, brief: bool, is_wrapped: bool) -> AntigravityCall:
    """Parses a call that a step requests; `brief` leaves out the text it writes, `is_wrapped` means that each argument
    is JSON inside a string."""
    arguments = find_object(fields, "args")
    if is_wrapped:
        arguments = {key: unwrap_argument(value) for key, value in arguments.items()}
    call = _TOOLS.build_call(find_text(fields, "id"), find_text(fields, "name"), arguments, brief=brief)
    recipient = find_text(arguments, "Recipient") if call.name == "send_message" else ""
    return AntigravityCall(call, find_text(arguments, "Cwd")[:4096], recipient)


def unwrap_argument(value: object) -> object:
    """Decodes a string that contains a string, a list or an object as JSON; returns anything else as is."""
    if not isinstance(value, str) or not value.startswith(('"', "[", "{")):
        return value
    decoded = parse_json_or_none(value)
    return value if decoded is None else decoded


def attach_step_result(call: ToolCall, status: str, content: str, *, brief: bool) -> ToolCall:
    """Returns `call` with the result in the step that followed it; it stays pending while that step is still
    running."""
    text = without_nul(cut_blocks(content))
    header = _TIME_HEADER.match(text)
    text = text[header.end() :] if header else text
    if status in ("RUNNING", "PENDING", "GENERATING", "WAITING"):
        return replace(call, output=keep_ends(text)[0])
    code_match = _EXIT_CODE.search(text[:2000]) if call.kind == "shell" else None
    outcome: ToolStatus = "error" if status == "ERROR" else "interrupted" if status in _CANCELLED else "ok"
    closed = close_call(call, outcome, text, int(code_match[1]) if code_match else None, brief=brief)
    return replace(closed, answers=_parse_answers(call.answers, text))


def close_antigravity_call(call: ToolCall) -> ToolCall:
    """Closes a call after which another turn began, because it will not get a result any more. A call that already
    has output continues in the background and counts as ok; any other counts as interrupted."""
    return replace(call, status="ok" if call.output else "interrupted") if call.status == "pending" else call


def _parse_answers(answers: tuple[QuestionAnswer, ...], text: str) -> tuple[QuestionAnswer, ...]:
    """Returns the questions with their answers, which are on lines that begin with `A` and the number of the
    question."""
    pieces = _ANSWER.split(text) if answers else []
    answer_by_number = {int(number): words.strip() for number, words in zip(pieces[1::2], pieces[2::2], strict=False)}
    return tuple(
        replace(question, answer=answer_by_number.get(number, "")) for number, question in enumerate(answers, 1)
    )
