"""Parses Cursor's tool calls, their input and their result. A tool is identified by its name, never by its number."""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.cursor.edits import CursorToolOutput, FileContents, find_performed_edits
from lerim.sessions.readers.cursor.records import CursorTool, unwrap_json
from lerim.sessions.readers.engine import (
    JSON_NULL,
    PATCH_BEGIN,
    ToolTable,
    add_patch,
    close_call,
    cut_blocks,
    decode_leniently,
    decode_string,
    find_text,
    kinds_by_name,
    list_objects,
    parse_fields,
    parse_json_or_none,
    vscode_uri_to_path,
    without_nul,
)

_TOOLS = ToolTable(
    kinds=kinds_by_name(
        {
            "shell": "runterminalcommand runterminalcmd runcommand shell bash terminal",
            "read": "readfile read readlints readnotebook fetchrules readmcpresource fetchmcpresource",
            "edit": "editfile edit multiedit searchreplace strreplace applypatch reapply editnotebook deletefile"
            " delete",
            "write": "write writefile createfile",
            "search": "grepsearch grep ripgrep ripgrepsearch ripgreprawsearch globfilesearch glob filesearch listdir ls"
            " listdirectory codebasesearch semanticsearch semanticsearchfull search searchsymbols readproject",
            "ask": "askquestion askuserquestion askfollowupquestion",
            "plan": "createplan",
            "agent": "task subagent",
            "web": "websearch webfetch fetch fetchurl",
        }
    ),
    command=("command", "url", "query", "search_term", "pattern", "glob_pattern"),
    path=(
        "target_file",
        "relative_workspace_path",
        "file_path",
        "target_notebook",
        "path",
        "target_directory",
        "directory_path",
        "effective_uri",
    ),
    description=("description", "explanation"),
    question=("prompt", "question"),
    plan=("plan", "overview"),
    content=("contents", "content"),
    new=("new_string", "contents", "content"),
)
_VERSION_SUFFIX = re.compile(r"_v\d{1,3}$")
_CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
_EXIT_CODE = re.compile(r"\s{0,20}Exit code: (-?\d{1,10})\b")


def cursor_tool_kind(name: str) -> ToolKind:
    """Returns the kind of a tool from its name, in any spelling."""
    return _TOOLS.find_kind(_VERSION_SUFFIX.sub("", name.lower()).replace("_", "").replace("-", ""))


def parse_cursor_call(name: str, call_id: str, arguments: dict[str, object], *, brief: bool = False) -> ToolCall:
    """Parses a call that has no result yet; `arguments` come from `merge_arguments`."""
    call = _TOOLS.build_call(call_id, name or "tool", arguments, kind=cursor_tool_kind(name), brief=brief)
    patch = next((text for text in arguments.values() if isinstance(text, str) and PATCH_BEGIN in text), "")
    return add_patch(call, patch, brief=brief) if call.kind == "edit" and patch else call


def merge_arguments(json_texts: Iterable[bytes]) -> dict[str, object]:
    """Returns the input of a call from the JSON texts that may contain it, the most reliable one first. The editor
    spells `target_file` as `targetFile`."""
    arguments: dict[str, object] = {}
    for data in json_texts:
        for key, value in parse_fields(data).items():
            if value not in ("", None):
                name = _CAPITAL.sub("_", key).lower()
                is_uri = name in _TOOLS.path and isinstance(value, str) and "://" in value
                arguments.setdefault(name, (vscode_uri_to_path(str(value)) or value) if is_uri else value)
    return arguments


# --- results -----------------------------------------------------------------------------------------------------

_STATUSES: dict[str, ToolStatus] = {
    "completed": "ok",
    "success": "ok",
    "error": "error",
    "failed": "error",
    "cancelled": "interrupted",
    "aborted": "interrupted",
    "rejected": "denied",
}


def parse_bubble_call(tool: CursorTool, contents: FileContents | None, *, brief: bool = False) -> ToolCall:
    """Parses the call in a bubble, with its result. `contents` looks up the content of a file before and after an
    edit."""
    arguments = merge_arguments(unwrap_json(raw) for raw in (tool.params, tool.raw_args) if raw != JSON_NULL)
    call = parse_cursor_call(tool.name or "", tool.tool_call_id or "", arguments, brief=brief)
    result = unwrap_json(tool.result) if tool.result != JSON_NULL else b""
    output = decode_leniently(result, CursorToolOutput) if result[:1] == b"{" else CursorToolOutput()
    status = _find_status(tool, output, result)
    is_unknown = not any(edit.old or edit.new for edit in call.edits)
    if call.kind in ("edit", "write") and not brief and is_unknown and contents is not None:
        call = replace(call, edits=find_performed_edits(output, call.paths[0] if call.paths else "", contents))
    if call.answers:
        call = replace(call, answers=_fill_answers(call.answers, list_objects(arguments.get("questions")), output))
    code = output.exit_code_v2 if output.exit_code_v2 is not None else output.exit_code
    return close_cursor_call(call, status, _join_output(tool, output, result), code, brief=brief)


def _find_status(tool: CursorTool, output: CursorToolOutput, result: bytes) -> ToolStatus:
    status = _STATUSES.get((tool.status or "").lower(), "pending")
    if not tool.status and result:
        status = "ok"
    if output.rejected or (decode_string(tool.user_decision).startswith("reject") and status != "pending"):
        return "denied"
    if status == "ok" and output.not_interrupted is False:
        return "interrupted"
    is_accepted = output.accepted is True or decode_string(tool.user_decision).startswith("accept")
    if status == "ok" and cursor_tool_kind(tool.name or "") == "plan" and not is_accepted:
        return "pending"  # the plan was written, but the person has not decided on it yet
    return status


def close_cursor_call(
    call: ToolCall, status: ToolStatus, output: str, code: int | None = None, *, brief: bool = False
) -> ToolCall:
    """Returns `call` with its status and output. A shell command with a non-zero exit code counts as failed."""
    if call.kind != "shell":
        code = None
    elif code is None and (found := _EXIT_CODE.match(output)):
        code = int(found[1])
    return close_call(call, status, without_nul(cut_blocks(output)), code, brief=brief)


def _join_output(tool: CursorTool, output: CursorToolOutput, result: bytes) -> str:
    failure = _error_message(tool.error) or _error_message(output.error)
    text = "\n".join(text for text in (output.output, output.contents, output.stderr) if text)
    if not text and not failure and result not in (b"", b"null", b"{}"):
        text = result.decode("utf-8", "replace")
    return "\n".join(text for text in (failure, text) if text)


_MESSAGE_KEYS = ("clientVisibleErrorMessage", "modelVisibleErrorMessage", "message", "error")


def _error_message(error: msgspec.Raw) -> str:
    """Returns the message of an error: a string, an object, or an object inside a string."""
    if error == JSON_NULL:
        return ""
    value = parse_json_or_none(error)
    if isinstance(value, str) and value.startswith("{"):
        value = parse_json_or_none(value) or value
    if isinstance(value, dict):
        texts = (value.get(key) for key in _MESSAGE_KEYS)
        return next((text for text in texts if isinstance(text, str) and text), "")
    return value if isinstance(value, str) else ""


def _fill_answers(
    answers: tuple[QuestionAnswer, ...], questions: list[dict[str, object]], output: CursorToolOutput
) -> tuple[QuestionAnswer, ...]:
    chosen_by_question: dict[str, list[str]] = {}
    value = parse_json_or_none(output.answers)
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            _collect_answer(one, chosen_by_question)
    pairs = zip(answers, questions, strict=False)
    return tuple(
        replace(one, answer=", ".join(_option_labels(question, chosen_by_question))) for one, question in pairs
    )


def _collect_answer(answer: dict[object, object], chosen_by_question: dict[str, list[str]]) -> None:
    """Collects one answer: `{questionId, selectedOptionIds, freeformText}`, or the selected options by question id."""
    question_id = answer.get("questionId")
    for key, value in answer.items():
        key_or_id = question_id if isinstance(question_id, str) else key
        if key != "questionId" and isinstance(key_or_id, str):
            values = value if isinstance(value, list) else [value]
            chosen_by_question.setdefault(key_or_id, []).extend(
                text for text in values if isinstance(text, str) and text
            )


def _option_labels(question: dict[str, object], chosen_by_question: dict[str, list[str]]) -> list[str]:
    options = list_objects(question.get("options"))
    labels = {find_text(option, "id"): find_text(option, "label") for option in options}
    return [labels.get(one) or without_nul(one) for one in chosen_by_question.get(find_text(question, "id"), [])]
