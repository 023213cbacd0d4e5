"""Parses OpenCode's tool calls, their input and their result."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import OWN_COMMAND, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.engine import (
    JSON_NULL,
    ToolTable,
    close_call,
    cut_blocks,
    decode_leniently,
    find_text,
    keep_ends,
    kinds_by_name,
    list_objects,
    list_texts,
    parse_fields,
    parse_json_or_none,
    without_nul,
)
from lerim.sessions.readers.opencode.records import OpenCodePart, ToolState

_TOOLS = ToolTable(
    kinds=kinds_by_name(
        {
            "shell": "bash shell",
            "read": "read",
            "edit": "edit multiedit patch apply_patch",
            "write": "write",
            "search": "grep glob list codesearch",
            "ask": "question",
            "plan": "plan_exit submit_plan",
            "agent": "task",
            "web": "webfetch websearch",
        }
    ),
    command=("command", "url", "query", "pattern"),
    path=("filePath", "path"),
    patch=("patchText",),
    old=("oldString",),
    new=("newString",),
    description=("description", "name"),
)
_DENIED_STARTS = ("The user rejected permission", "The user has specified a rule", "The user dismissed this question")
_OWN_ERRORS: frozenset[ToolKind] = frozenset({"shell", "read", "edit", "write", "search", "ask", "plan"})
"""Kinds of built-in tools whose error messages OpenCode writes itself. Errors of a server, a plugin, a page or a
subagent are in the same field, so their text could be anything."""
_ERROR_PREFIX = re.compile(r"^[A-Za-z]{0,60}Error: ")
"""The prefix of an error message in older versions."""
_FEEDBACK = "with the following feedback:"
_ABORTED_STARTS = ("Tool execution aborted", "Cancelled")
_TIMEOUT_NOTE = "exceeding timeout"
_ABORT_NOTE = "User aborted the command"
PLAN_FILE = re.compile(r"(?:^|[/\\])plans[/\\][^/\\]{1,200}\.md$")
"""Matches the path of the file with the plan that `plan_exit` presents to the person."""
_NOTE_LENGTH = 600
"""How many characters at the end of the output are searched for the shell tool's note on what cut a command short."""


class _ToolMetadata(msgspec.Struct, gc=False):
    exit: int | None = None
    interrupted: bool | None = False
    answers: msgspec.Raw = JSON_NULL


def parse_opencode_call(part: OpenCodePart, *, brief: bool) -> ToolCall:
    """Parses the call of a tool part, with its result if there is one; `brief` leaves out what the catalog does not
    keep."""
    state = part.state or ToolState()
    arguments, metadata = parse_fields(state.input), decode_leniently(state.metadata, _ToolMetadata)
    is_plan_file = bool(PLAN_FILE.search(find_text(arguments, *_TOOLS.path)))
    call = _TOOLS.build_call(part.call_id, part.tool, arguments, brief=brief and not is_plan_file)
    exit_code = metadata.exit if call.kind == "shell" else None
    if call.name == "todowrite":
        call = replace(call, plan=_format_todos(list_objects(arguments.get("todos"))))
    if call.answers:
        call = replace(call, answers=_fill_answers(call.answers, metadata))
    return _add_output(call, _find_status(state, metadata, call.kind, exit_code), exit_code, state, brief=brief)


def mark_own_command(call: ToolCall) -> ToolCall:
    """Returns the call as a command that the person ran, not the model. Whether it failed is not recorded."""
    return replace(call, id="", name=OWN_COMMAND, kind="shell", description="")


def _find_status(state: ToolState, metadata: _ToolMetadata, kind: ToolKind, exit_code: int | None) -> ToolStatus:
    if state.status == "error":
        message = _ERROR_PREFIX.sub("", state.error or "", count=1)
        if message.startswith(_DENIED_STARTS):
            return "denied"
        return "interrupted" if metadata.interrupted or message.startswith(_ABORTED_STARTS) else "error"
    if state.status != "completed":
        return "pending"
    if exit_code:
        return "error"
    if kind == "shell" and exit_code is None:
        end = (state.output or "")[-_NOTE_LENGTH:]
        if _ABORT_NOTE in end:
            return "interrupted"
        return "error" if _TIMEOUT_NOTE in end else "ok"
    return "ok"


def _add_output(call: ToolCall, status: ToolStatus, code: int | None, state: ToolState, *, brief: bool) -> ToolCall:
    text = without_nul(state.error if state.status == "error" else state.output)
    if status == "denied":
        feedback = text.partition(_FEEDBACK)[2].strip() if call.kind in _OWN_ERRORS else ""
        return replace(call, status=status, exit_code=code, output=keep_ends(text)[0], feedback=feedback)
    if status == "pending" or (call.kind == "plan" and status == "ok"):
        text = ""  # the output is the same for every plan and written by OpenCode
    may_be_own = call.kind == "shell"  # the output of a command that the person ran is kept
    return close_call(call, status, cut_blocks(text), code, brief=brief and not may_be_own)


def _fill_answers(questions: tuple[QuestionAnswer, ...], metadata: _ToolMetadata) -> tuple[QuestionAnswer, ...]:
    chosen = parse_json_or_none(metadata.answers)
    answers = [", ".join(list_texts(one)) for one in (chosen if isinstance(chosen, list) else ())]
    return tuple(replace(one, answer=answers[at] if at < len(answers) else "") for at, one in enumerate(questions))


def _format_todos(todos: list[dict[str, object]]) -> str:
    """Returns a todo list as lines of a Markdown list: searchable, but not a plan that anybody approved."""
    marks = {"completed": "x", "cancelled": "-"}
    return "\n".join(
        f"- [{marks.get(find_text(one, 'status'), ' ')}] {find_text(one, 'content')}"
        for one in todos
        if find_text(one, "content")
    )
