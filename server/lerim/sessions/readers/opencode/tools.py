"""Parses OpenCode's tool calls, their input and their result."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import OWN_COMMAND, FileEdit, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.engine import (
    JSON_NULL,
    cut_blocks,
    decode_leniently,
    find_text,
    keep_ends,
    kinds_by_name,
    list_objects,
    list_texts,
    parse_fields,
    parse_json_or_none,
    parse_patch,
    parse_question,
    without_nul,
)
from lerim.sessions.readers.opencode.records import OpenCodePart, ToolState

_KINDS = kinds_by_name(
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
"""The file with the plan that `plan_exit` puts to the person."""
_NOTE_LENGTH = 600
"""How many characters from the end of the output the shell tool notes what cut a command short."""


class _ToolMetadata(msgspec.Struct, gc=False):
    exit: int | None = None
    interrupted: bool | None = False
    session_id: str | None = msgspec.field(default="", name="sessionId")
    answers: msgspec.Raw = JSON_NULL


def parse_opencode_call(part: OpenCodePart, *, brief: bool) -> ToolCall:
    """Parses the call of a tool part, with its result if there is one; `brief` leaves out what the catalog does not
    keep."""
    state = part.state or ToolState()
    name = without_nul(part.tool)[:200]
    kind = _KINDS.get(name, "other")
    arguments, metadata = parse_fields(state.input), decode_leniently(state.metadata, _ToolMetadata)
    exit_code = (
        metadata.exit if kind == "shell" and metadata.exit is not None and abs(metadata.exit) < 1 << 32 else None
    )
    status = _find_status(state, metadata, kind, exit_code)
    path = find_text(arguments, "filePath", "path")
    todos = _format_todos(list_objects(arguments.get("todos"))) if name == "todowrite" else ""
    call = ToolCall(
        id=without_nul(part.call_id),
        name=name,
        kind=kind,
        status=status,
        command=find_text(arguments, "command", "url", "query", "pattern"),
        description=find_text(arguments, "description"),
        paths=(path,) if path else (),
        plan=find_text(arguments, "plan") if kind == "plan" else todos,
        exit_code=exit_code,
        answers=_parse_answers(arguments, metadata) if kind == "ask" else (),
        subagent=without_nul(metadata.session_id) if kind == "agent" else "",
    )
    if kind in ("edit", "write"):
        call = _add_edits(call, path, arguments, brief=brief)
    return _add_output(call, state, brief=brief)


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


def _add_output(call: ToolCall, state: ToolState, *, brief: bool) -> ToolCall:
    if call.status == "denied":
        message = without_nul(state.error)
        feedback = message.partition(_FEEDBACK)[2].strip()
        is_proven = call.kind in _OWN_ERRORS
        return replace(call, output=keep_ends(message)[0], feedback=feedback if is_proven else "")
    if call.status == "pending" or (brief and call.status == "ok" and call.kind != "ask"):
        return call
    if call.kind == "plan" and call.status == "ok":
        return call  # the output is the same for every plan and written by OpenCode
    output, omitted = keep_ends(
        without_nul(cut_blocks((state.error if state.status == "error" else state.output) or ""))
    )
    return replace(call, output=output, output_cut=omitted)


def _add_edits(call: ToolCall, path: str, arguments: dict[str, object], *, brief: bool) -> ToolCall:
    if text := find_text(arguments, "patchText"):
        patch = parse_patch(text, brief=brief)
        return replace(call, kind="write" if patch.only_adds_files else "edit", paths=patch.paths, edits=patch.edits)
    if brief and not PLAN_FILE.search(path):
        return call
    if call.kind == "write":
        return replace(call, edits=(FileEdit(path, "", find_text(arguments, "content")),))
    replacements = list_objects(arguments.get("edits")) or [arguments]
    edits = (
        FileEdit(find_text(one, "filePath") or path, find_text(one, "oldString"), find_text(one, "newString"))
        for one in replacements
    )
    return replace(call, edits=tuple(edits))


def _parse_answers(arguments: dict[str, object], metadata: _ToolMetadata) -> tuple[QuestionAnswer, ...]:
    questions = [parse_question(one, "question") for one in list_objects(arguments.get("questions"))]
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
