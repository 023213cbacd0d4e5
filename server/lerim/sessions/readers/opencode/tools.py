"""Parses OpenCode's tool calls, their input and their result."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import OWN_COMMAND, FileEdit, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.engine import (
    JSON_NULL,
    Shape,
    cut_blocks,
    keep_ends,
    kinds_by_name,
    parse_object,
    parse_patch,
    split_json_array,
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


class _Option(msgspec.Struct, gc=False):
    label: str | None = ""
    description: str | None = ""


class _Question(msgspec.Struct, gc=False):
    question: str | None = ""
    options: msgspec.Raw = JSON_NULL


class _Todo(msgspec.Struct, gc=False):
    content: str | None = ""
    status: str | None = ""


class _Replacement(msgspec.Struct, gc=False):
    file_path: str | None = msgspec.field(default="", name="filePath")
    old: str | None = msgspec.field(default="", name="oldString")
    new: str | None = msgspec.field(default="", name="newString")


class _ToolInput(msgspec.Struct, gc=False):
    command: str | None = ""
    description: str | None = ""
    file_path: str | None = msgspec.field(default="", name="filePath")
    path: str | None = ""
    pattern: str | None = ""
    query: str | None = ""
    url: str | None = ""
    plan: str | None = ""
    content: str | None = ""
    old: str | None = msgspec.field(default="", name="oldString")
    new: str | None = msgspec.field(default="", name="newString")
    patch: str | None = msgspec.field(default="", name="patchText")
    edits: msgspec.Raw = JSON_NULL
    questions: msgspec.Raw = JSON_NULL
    todos: msgspec.Raw = JSON_NULL


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
    arguments, metadata = _parse_or_default(state.input, _ToolInput), _parse_or_default(state.metadata, _ToolMetadata)
    exit_code = (
        metadata.exit if kind == "shell" and metadata.exit is not None and abs(metadata.exit) < 1 << 32 else None
    )
    status = _find_status(state, metadata, kind, exit_code)
    path = without_nul(arguments.file_path) or without_nul(arguments.path)
    call = ToolCall(
        id=without_nul(part.call_id),
        name=name,
        kind=kind,
        status=status,
        command=without_nul(arguments.command)
        or without_nul(arguments.url)
        or without_nul(arguments.query)
        or without_nul(arguments.pattern),
        description=without_nul(arguments.description),
        paths=(path,) if path else (),
        plan=without_nul(arguments.plan)
        if kind == "plan"
        else _format_todos(arguments.todos)
        if name == "todowrite"
        else "",
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


def _parse_or_default(data: msgspec.Raw, shape: type[Shape]) -> Shape:
    try:
        return parse_object(data, shape)
    except ValueError:
        return shape()


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


def _add_edits(call: ToolCall, path: str, arguments: _ToolInput, *, brief: bool) -> ToolCall:
    if arguments.patch:
        patch = parse_patch(arguments.patch, brief=brief)
        return replace(call, kind="write" if patch.only_adds_files else "edit", paths=patch.paths, edits=patch.edits)
    if brief and not PLAN_FILE.search(path):
        return call
    if call.kind == "write":
        return replace(call, edits=(FileEdit(path, "", without_nul(arguments.content)),))
    replacements = [_parse_or_default(one, _Replacement) for one in split_json_array(arguments.edits)]
    edits = tuple(
        FileEdit(without_nul(one.file_path) or path, without_nul(one.old), without_nul(one.new)) for one in replacements
    )
    return replace(call, edits=edits or (FileEdit(path, without_nul(arguments.old), without_nul(arguments.new)),))


def _parse_answers(arguments: _ToolInput, metadata: _ToolMetadata) -> tuple[QuestionAnswer, ...]:
    chosen_by_question = [_join_strings(question) for question in split_json_array(metadata.answers)]
    answers: list[QuestionAnswer] = []
    for index, question in enumerate(
        _parse_or_default(raw, _Question) for raw in split_json_array(arguments.questions)
    ):
        options = [_parse_or_default(raw, _Option) for raw in split_json_array(question.options)]
        labels = tuple(without_nul(option.label) for option in options)
        descriptions = tuple(without_nul(option.description) for option in options)
        chosen = chosen_by_question[index] if index < len(chosen_by_question) else ""
        answers.append(
            QuestionAnswer(without_nul(question.question), labels, chosen, descriptions if any(descriptions) else ())
        )
    return tuple(answers)


def _join_strings(data: msgspec.Raw) -> str:
    try:
        return without_nul(", ".join(msgspec.json.decode(data, type=list[str])))
    except (msgspec.MsgspecError, UnicodeError):
        return ""


def _format_todos(data: msgspec.Raw) -> str:
    """Returns a todo list as lines of a Markdown list: searchable, but not a plan that anybody approved."""
    marks = {"completed": "x", "cancelled": "-"}
    todos = [_parse_or_default(one, _Todo) for one in split_json_array(data)]
    return "\n".join(
        f"- [{marks.get(one.status or '', ' ')}] {without_nul(one.content)}" for one in todos if one.content
    )
