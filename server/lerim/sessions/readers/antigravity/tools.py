"""Parses Antigravity's tool calls: a result is the step that follows the call, and contains the exit code in words."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import FileEdit, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.engine import cut_blocks, keep_ends, parse_json_or_none, without_nul

_KINDS: dict[str, ToolKind] = {
    "run_command": "shell",
    "read_file": "read",
    "view_file": "read",
    "view_file_outline": "read",
    "view_code_item": "read",
    "edit_file": "edit",
    "replace_file_content": "edit",
    "multi_replace_file_content": "edit",
    "write_to_file": "write",
    "grep_search": "search",
    "find_by_name": "search",
    "codebase_search": "search",
    "list_dir": "search",
    "search_web": "web",
    "read_url_content": "web",
    "invoke_subagent": "agent",
    "browser_subagent": "agent",
    "ask_question": "ask",
}
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
    name = _get_text(fields, "name")[:200]
    raw_arguments = fields.get("args")
    arguments = raw_arguments if isinstance(raw_arguments, dict) else {}
    if is_wrapped:
        arguments = {key: unwrap_argument(value) for key, value in arguments.items()}
    kind = _KINDS.get(name, "other")
    path = next((found for key in _PATH_KEYS if (found := _get_text(arguments, key))), "")
    return AntigravityCall(
        ToolCall(
            id=_get_text(fields, "id"),
            name=name,
            kind=kind,
            command=next((found for key in _COMMAND_KEYS if (found := _get_text(arguments, key))), ""),
            description=_get_text(arguments, "toolAction")
            or _get_text(arguments, "Description")
            or _get_text(arguments, "Instruction"),
            paths=(path,) if path else (),
            edits=_build_edits(kind, path, arguments) if kind in ("edit", "write") and not brief else (),
            answers=_build_questions(arguments) if kind == "ask" else (),
        ),
        _get_text(arguments, "Cwd")[:4096],
        _get_text(arguments, "Recipient") if name == "send_message" else "",
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


def _build_questions(arguments: dict[str, object]) -> tuple[QuestionAnswer, ...]:
    questions = arguments.get("questions")
    records = [question for question in questions if isinstance(question, dict)] if isinstance(questions, list) else []
    return tuple(
        QuestionAnswer(_get_text(question, "question"), _option_texts(question.get("options")), "")
        for question in records
    )


def _option_texts(value: object) -> tuple[str, ...]:
    return tuple(without_nul(option) for option in value if isinstance(option, str)) if isinstance(value, list) else ()


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
        return (FileEdit(path, "", _get_text(arguments, "CodeContent") or _get_text(arguments, "Content")),)
    chunks = arguments.get("ReplacementChunks")
    parts = [part for part in chunks if isinstance(part, dict)] if isinstance(chunks, list) else [arguments]
    return tuple(
        FileEdit(
            path,
            _get_text(part, "Target") or _get_text(part, "TargetContent"),
            _get_text(part, "Replacement") or _get_text(part, "ReplacementContent"),
        )
        for part in parts
    )


def _get_text(values: dict[str, object], name: str) -> str:
    value = values.get(name)
    return without_nul(value) if isinstance(value, str) else ""
