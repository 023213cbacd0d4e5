"""Parses Antigravity's tool calls: a result is the step that follows the call, and contains the exit code in words."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import FileEdit, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.engine import (
    cut_blocks,
    find_text,
    keep_ends,
    kinds_by_name,
    list_objects,
    parse_json_or_none,
    parse_question,
    without_nul,
)

_KINDS = kinds_by_name(
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
)
_PATH_KEYS = ("Path", "AbsolutePath", "TargetFile", "File", "SearchPath", "SearchDirectory", "DirectoryPath")
_COMMAND_KEYS = ("CommandLine", "Query", "query", "Pattern", "Url", "Task", "Prompt")
_EXIT_CODE = re.compile(r"ommand (?:exited|failed) with (?:exit )?code:? (-?\d{1,10})\b")
_TIME_HEADER = re.compile(r"(?:(?:Created|Completed) At: [^\n]{0,100}\n){1,2}")
_ANSWER = re.compile(r"^A(\d{1,3}): ?", re.MULTILINE)
_CONVERSATION_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")


class AntigravityCall(NamedTuple):
    """A call without a result yet, the folder it runs in, and the recipient of the message it sends ('' if none)."""

    call: ToolCall
    cwd: str
    recipient: str


def parse_antigravity_call(record: object, *, brief: bool, is_wrapped: bool) -> AntigravityCall:
    """Parses a call that a step requests; `brief` leaves out the text it writes, `is_wrapped` means that each argument
    is JSON inside a string."""
    fields = record if isinstance(record, dict) else {}
    name = find_text(fields, "name")[:200]
    raw_arguments = fields.get("args")
    arguments = raw_arguments if isinstance(raw_arguments, dict) else {}
    if is_wrapped:
        arguments = {key: unwrap_argument(value) for key, value in arguments.items()}
    kind = _KINDS.get(name, "other")
    path = find_text(arguments, *_PATH_KEYS)
    questions = list_objects(arguments.get("questions")) if kind == "ask" else []
    return AntigravityCall(
        ToolCall(
            id=find_text(fields, "id"),
            name=name,
            kind=kind,
            command=find_text(arguments, *_COMMAND_KEYS),
            description=find_text(arguments, "toolAction", "Description", "Instruction"),
            paths=(path,) if path else (),
            edits=_build_edits(kind, path, arguments) if kind in ("edit", "write") and not brief else (),
            answers=tuple(parse_question(one, "question") for one in questions),
        ),
        find_text(arguments, "Cwd")[:4096],
        find_text(arguments, "Recipient") if name == "send_message" else "",
    )


def unwrap_argument(value: object) -> object:
    """Decodes a string that contains a string, a list or an object as JSON; returns anything else as is."""
    if not isinstance(value, str) or not value.startswith(('"', "[", "{")):
        return value
    decoded = parse_json_or_none(msgspec.Raw(value.encode("utf-8", "replace")))
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
    code = int(code_match[1]) if code_match else None
    outcome: ToolStatus = "error" if code or status == "ERROR" else "ok"
    if status in ("CANCELED", "CANCELLED"):
        outcome = "interrupted"
    subagent_id = _CONVERSATION_ID.search(text[:4000]) if call.kind == "agent" else None
    output, omitted = ("", 0) if brief and outcome == "ok" and call.kind != "ask" else keep_ends(text)
    return replace(
        call,
        status=outcome,
        output=output,
        output_cut=omitted,
        exit_code=code,
        subagent=subagent_id[0] if subagent_id else "",
        answers=_parse_answers(call.answers, text),
    )


def close_antigravity_call(call: ToolCall) -> ToolCall:
    """Closes a call after which another turn began, because it gets no result any more. One that already has output
    continues in the background and counts as ok, any other as interrupted."""
    return replace(call, status="ok" if call.output else "interrupted") if call.status == "pending" else call


def _parse_answers(answers: tuple[QuestionAnswer, ...], text: str) -> tuple[QuestionAnswer, ...]:
    """Returns the questions with their answers, which are on lines that begin with `A` and the number of the
    question."""
    pieces = _ANSWER.split(text) if answers else []
    answer_by_number = {int(number): words.strip() for number, words in zip(pieces[1::2], pieces[2::2], strict=False)}
    return tuple(
        replace(question, answer=answer_by_number.get(number, "")) for number, question in enumerate(answers, 1)
    )


def _build_edits(kind: ToolKind, path: str, arguments: dict[str, object]) -> tuple[FileEdit, ...]:
    if kind == "write":
        return (FileEdit(path, "", find_text(arguments, "CodeContent", "Content")),)
    chunks = arguments.get("ReplacementChunks")
    parts = list_objects(chunks) if isinstance(chunks, list) else [arguments]
    return tuple(
        FileEdit(path, find_text(part, "Target", "TargetContent"), find_text(part, "Replacement", "ReplacementContent"))
        for part in parts
    )
