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
    parse_object,
    parse_patch,
    split_json_array,
    without_nul,
)
from lerim.sessions.readers.opencode.records import OpenCodePart, ToolState

_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "shell": "shell",
    "read": "read",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "write": "write",
    "grep": "search",
    "glob": "search",
    "list": "search",
    "codesearch": "search",
    "question": "ask",
    "plan_exit": "plan",
    "submit_plan": "plan",
    "task": "agent",
    "webfetch": "web",
    "websearch": "web",
}
_DENIED = ("The user rejected permission", "The user has specified a rule", "The user dismissed this question")
_OWN_ERRORS: frozenset[ToolKind] = frozenset({"shell", "read", "edit", "write", "search", "ask", "plan"})
"""Kinds of built-in tools whose error messages OpenCode writes itself. Errors of a server, a plugin, a page or a
subagent are in the same field, so their text could be anything."""
_NAME = re.compile(r"^[A-Za-z]{0,60}Error: ")
"""The prefix of an error message in older versions."""
_FEEDBACK = "with the following feedback:"
_ABORTED = ("Tool execution aborted", "Cancelled")
_OVERTIME = "exceeding timeout"
_STOPPED = "User aborted the command"
PLAN_FILE = re.compile(r"(?:^|[/\\])plans[/\\][^/\\]{1,200}\.md$")
"""The file with the plan that `plan_exit` puts to the person."""
_NOTE_FROM_END = 600
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


class _Replaced(msgspec.Struct, gc=False):
    file_path: str | None = msgspec.field(default="", name="filePath")
    old: str | None = msgspec.field(default="", name="oldString")
    new: str | None = msgspec.field(default="", name="newString")


class _Asked(msgspec.Struct, gc=False):
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


class _Told(msgspec.Struct, gc=False):
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
    asked, told = _shaped(state.input, _Asked), _shaped(state.metadata, _Told)
    exit_code = told.exit if kind == "shell" and told.exit is not None and abs(told.exit) < 1 << 32 else None
    status = _status(state, told, kind, exit_code)
    path = without_nul(asked.file_path) or without_nul(asked.path)
    call = ToolCall(
        id=without_nul(part.call_id),
        name=name,
        kind=kind,
        status=status,
        command=without_nul(asked.command)
        or without_nul(asked.url)
        or without_nul(asked.query)
        or without_nul(asked.pattern),
        description=without_nul(asked.description),
        paths=(path,) if path else (),
        plan=without_nul(asked.plan) if kind == "plan" else _todos(asked.todos) if name == "todowrite" else "",
        exit_code=exit_code,
        answers=_answers(asked, told) if kind == "ask" else (),
        subagent=without_nul(told.session_id) if kind == "agent" else "",
    )
    if kind in ("edit", "write"):
        call = _changing(call, path, asked, brief=brief)
    return _ended(call, state, brief=brief)


def mark_own_command(call: ToolCall) -> ToolCall:
    """Returns the call as a command that the person ran, not the model. Whether it failed is not recorded."""
    return replace(call, id="", name=OWN_COMMAND, kind="shell", description="")


def _shaped(data: msgspec.Raw, shape: type[Shape]) -> Shape:
    try:
        return parse_object(data, shape)
    except ValueError:
        return shape()


def _status(state: ToolState, told: _Told, kind: ToolKind, exit_code: int | None) -> ToolStatus:
    if state.status == "error":
        said = _NAME.sub("", state.error or "", count=1)
        if said.startswith(_DENIED):
            return "denied"
        return "interrupted" if told.interrupted or said.startswith(_ABORTED) else "error"
    if state.status != "completed":
        return "pending"
    if exit_code:
        return "error"
    if kind == "shell" and exit_code is None:
        end = (state.output or "")[-_NOTE_FROM_END:]
        if _STOPPED in end:
            return "interrupted"
        return "error" if _OVERTIME in end else "ok"
    return "ok"


def _ended(call: ToolCall, state: ToolState, *, brief: bool) -> ToolCall:
    if call.status == "denied":
        said = without_nul(state.error)
        feedback = said.partition(_FEEDBACK)[2].strip()
        proven = call.kind in _OWN_ERRORS
        return replace(call, output=keep_ends(said)[0], feedback=feedback if proven else "")
    if call.status == "pending" or (brief and call.status == "ok" and call.kind != "ask"):
        return call
    if call.kind == "plan" and call.status == "ok":
        return call  # the output is the same for every plan and written by OpenCode
    output, left_out = keep_ends(
        without_nul(cut_blocks((state.error if state.status == "error" else state.output) or ""))
    )
    return replace(call, output=output, output_cut=left_out)


def _changing(call: ToolCall, path: str, asked: _Asked, *, brief: bool) -> ToolCall:
    if asked.patch:
        patch = parse_patch(asked.patch, brief=brief)
        return replace(call, kind="write" if patch.only_adds_files else "edit", paths=patch.paths, edits=patch.edits)
    if brief and not PLAN_FILE.search(path):
        return call
    if call.kind == "write":
        return replace(call, edits=(FileEdit(path, "", without_nul(asked.content)),))
    several = [_shaped(one, _Replaced) for one in split_json_array(asked.edits)]
    edits = tuple(
        FileEdit(without_nul(one.file_path) or path, without_nul(one.old), without_nul(one.new)) for one in several
    )
    return replace(call, edits=edits or (FileEdit(path, without_nul(asked.old), without_nul(asked.new)),))


def _answers(asked: _Asked, told: _Told) -> tuple[QuestionAnswer, ...]:
    given = [_strings(one) for one in split_json_array(told.answers)]
    answers: list[QuestionAnswer] = []
    for at, one in enumerate(_shaped(raw, _Question) for raw in split_json_array(asked.questions)):
        options = [_shaped(raw, _Option) for raw in split_json_array(one.options)]
        labels = tuple(without_nul(option.label) for option in options)
        descriptions = tuple(without_nul(option.description) for option in options)
        chosen = given[at] if at < len(given) else ""
        answers.append(
            QuestionAnswer(without_nul(one.question), labels, chosen, descriptions if any(descriptions) else ())
        )
    return tuple(answers)


def _strings(data: msgspec.Raw) -> str:
    try:
        return without_nul(", ".join(msgspec.json.decode(data, type=list[str])))
    except (msgspec.MsgspecError, UnicodeError):
        return ""


def _todos(data: msgspec.Raw) -> str:
    """Returns a todo list as lines of a Markdown list: searchable, but not a plan that anybody approved."""
    marks = {"completed": "x", "cancelled": "-"}
    todos = [_shaped(one, _Todo) for one in split_json_array(data)]
    return "\n".join(
        f"- [{marks.get(one.status or '', ' ')}] {without_nul(one.content)}" for one in todos if one.content
    )
