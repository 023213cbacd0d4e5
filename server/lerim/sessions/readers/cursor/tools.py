"""Parses Cursor's tool calls, their input and their result. A tool is identified by its name, never by its number."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.cursor.edits import FileBodies, performed_edits, requested_edits
from lerim.sessions.readers.cursor.folders import uri_to_path
from lerim.sessions.readers.cursor.records import CursorTool, decode_cursor_string, unwrap_json
from lerim.sessions.readers.cursor.tool_fields import (
    CursorQuestion,
    CursorToolInput,
    CursorToolOutput,
    parse_cursor_questions,
    parse_tool_inputs,
    parse_tool_output,
)
from lerim.sessions.readers.engine import (
    JSON_NULL,
    PATCH_BEGIN,
    cut_blocks,
    keep_ends,
    parse_json_or_none,
    parse_patch,
    without_nul,
)

_KINDS: dict[ToolKind, str] = {
    "shell": "runterminalcommand runterminalcmd runcommand shell bash terminal",
    "read": "readfile read readlints readnotebook fetchrules readmcpresource fetchmcpresource",
    "edit": "editfile edit multiedit searchreplace strreplace applypatch reapply editnotebook deletefile delete",
    "write": "write writefile createfile",
    "search": "grepsearch grep ripgrep ripgrepsearch ripgreprawsearch globfilesearch glob filesearch listdir ls "
    "listdirectory codebasesearch semanticsearch semanticsearchfull search searchsymbols readproject",
    "ask": "askquestion askuserquestion askfollowupquestion",
    "plan": "createplan",
    "agent": "task subagent",
    "web": "websearch webfetch fetch fetchurl",
}
_KIND: dict[str, ToolKind] = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_VERSION = re.compile(r"_v\d{1,3}$")
_EXIT = re.compile(r"\s{0,20}Exit code: (-?\d{1,10})\b")
_COMMANDS = ("command", "url", "query", "search_term", "pattern", "glob_pattern")
_PATHS = (
    "target_file",
    "relative_workspace_path",
    "file_path",
    "target_notebook",
    "path",
    "target_directory",
    "directory_path",
    "effective_uri",
)


def cursor_tool_kind(name: str) -> ToolKind:
    """Returns the kind of a tool from its name, in any spelling."""
    return _KIND.get(_VERSION.sub("", name.lower()).replace("_", "").replace("-", ""), "other")


def parse_cursor_call(name: str, call: str, given: tuple[bytes, ...], *, brief: bool = False) -> ToolCall:
    """Parses a call that has no result yet. `given` are the JSON texts that may contain its input, the most likely one
    first."""
    name = without_nul(name)[:200]
    kind = cursor_tool_kind(name)
    told = parse_tool_inputs(given)
    paths = _paths(told)
    edits = requested_edits(told, paths[0] if paths else "") if kind in ("edit", "write") and not brief else ()
    if kind == "edit" and (patch := _patch(given)):
        found = parse_patch(patch, brief=brief)
        paths, edits = found.paths or paths, found.edits
    return ToolCall(
        id=without_nul(call),
        name=name or "tool",
        kind=kind,
        command=_first(told, *_COMMANDS),
        description=_first(told, "description", "explanation"),
        paths=paths,
        edits=edits,
        answers=tuple(_question(one) for one in _put(told)) if kind == "ask" else (),
        plan=_first(told, "plan", "overview") if kind == "plan" else "",
    )


def _first(told: list[CursorToolInput], *names: str) -> str:
    for one in told:
        for name in names:
            if isinstance(found := getattr(one, name), str) and found:
                return without_nul(found)
    return ""


def _paths(told: list[CursorToolInput]) -> tuple[str, ...]:
    found = _first(told, *_PATHS)
    return ((uri_to_path(found) or found) if "://" in found else found,) if found else ()


def _patch(given: tuple[bytes, ...]) -> str:
    for data in given:
        if PATCH_BEGIN.encode() in data:
            found = parse_json_or_none(msgspec.Raw(data))
            texts = list(found.values()) if isinstance(found, dict) else [found]
            return next((text for text in texts if isinstance(text, str) and PATCH_BEGIN in text), "")
    return ""


def _put(told: list[CursorToolInput]) -> list[CursorQuestion]:
    return next((found for one in told if (found := parse_cursor_questions(one.questions))), [])


def _question(one: CursorQuestion) -> QuestionAnswer:
    options = one.options or []
    descriptions = tuple(without_nul(option.description) for option in options)
    labels = tuple(without_nul(option.label) for option in options)
    return QuestionAnswer(
        without_nul(one.prompt) or without_nul(one.question), labels, "", descriptions if any(descriptions) else ()
    )


# --- results -----------------------------------------------------------------------------------------------------

_ENDED: dict[str, ToolStatus] = {
    "completed": "ok",
    "success": "ok",
    "error": "error",
    "failed": "error",
    "cancelled": "interrupted",
    "aborted": "interrupted",
    "rejected": "denied",
}
_TELLING: frozenset[ToolKind] = frozenset({"shell", "ask", "agent"})
"""Kinds of calls whose results say more than that the call succeeded."""


def parse_bubble_call(tool: CursorTool, bodies: FileBodies, *, brief: bool = False) -> ToolCall:
    """Parses the call in a bubble, with its result. `bodies` looks up the content of a file before and after an
    edit."""
    given = tuple(unwrap_json(raw) for raw in (tool.params, tool.raw_args) if raw != JSON_NULL)
    call = parse_cursor_call(tool.name or "", tool.tool_call_id or "", given, brief=brief)
    result = unwrap_json(tool.result) if tool.result != JSON_NULL else b""
    told = parse_tool_output(result)
    status = _status(tool, told, result)
    if call.kind in ("edit", "write") and not brief and not call.edits:
        call = replace(call, edits=performed_edits(told, call.paths[0] if call.paths else "", bodies))
    if call.answers:
        call = replace(call, answers=_answered(call.answers, _put(parse_tool_inputs(given)), told))
    if call.kind == "agent":
        call = replace(call, subagent=without_nul(told.agent_id))
    code = told.exit_code_v2 if told.exit_code_v2 is not None else told.exit_code
    left_out = brief and status == "ok" and call.kind not in _TELLING
    return close_cursor_call(call, status, "" if left_out else _output(tool, told, result), code, brief=brief)


def _status(tool: CursorTool, told: CursorToolOutput, result: bytes) -> ToolStatus:
    status = _ENDED.get((tool.status or "").lower(), "pending")
    if not tool.status and result:
        status = "ok"
    if told.rejected or (decode_cursor_string(tool.user_decision).startswith("reject") and status != "pending"):
        return "denied"
    if status == "ok" and told.not_interrupted is False:
        return "interrupted"
    if status == "ok" and cursor_tool_kind(tool.name or "") == "plan" and not _accepted(tool, told):
        return "pending"  # the plan was written, but the person has not decided on it yet
    return status


def _accepted(tool: CursorTool, told: CursorToolOutput) -> bool:
    return told.accepted is True or decode_cursor_string(tool.user_decision).startswith("accept")


def close_cursor_call(
    call: ToolCall, status: ToolStatus, output: str, code: int | None = None, *, brief: bool = False
) -> ToolCall:
    """Returns `call` with its status and output. A shell command with a non-zero exit code counts as failed."""
    if call.kind == "shell" and code is None and (found := _EXIT.match(output)):
        code = int(found[1])
    if code is not None and (call.kind != "shell" or abs(code) >= 1 << 32):
        code = None
    if status == "ok" and code:
        status = "error"
    shown, left_out = ("", 0) if brief and status == "ok" else keep_ends(without_nul(cut_blocks(output)))
    return replace(call, status=status, output=shown, output_cut=left_out, exit_code=code)


def _output(tool: CursorTool, told: CursorToolOutput, result: bytes) -> str:
    failure = _message(tool.error) or _message(told.error)
    said = "\n".join(text for text in (told.output, told.contents, told.stderr) if text)
    if not said and not failure and result not in (b"", b"null", b"{}"):
        said = result.decode("utf-8", "replace")
    return "\n".join(text for text in (failure, said) if text)


_MESSAGES = ("clientVisibleErrorMessage", "modelVisibleErrorMessage", "message", "error")


def _message(error: msgspec.Raw) -> str:
    """Returns the message of an error: a string, an object, or an object inside a string."""
    if error == JSON_NULL:
        return ""
    found = parse_json_or_none(error)
    if isinstance(found, str) and found.startswith("{"):
        found = parse_json_or_none(msgspec.Raw(found.encode("utf-8", "replace"))) or found
    if isinstance(found, dict):
        texts = (found.get(key) for key in _MESSAGES)
        return next((text for text in texts if isinstance(text, str) and text), "")
    return found if isinstance(found, str) else ""


def _answered(
    answers: tuple[QuestionAnswer, ...], put: list[CursorQuestion], told: CursorToolOutput
) -> tuple[QuestionAnswer, ...]:
    chosen: dict[str, list[str]] = {}
    given = parse_json_or_none(told.answers)
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, dict):
            _take(one, chosen)
    both = zip(answers, put, strict=False)
    return tuple(replace(one, answer=", ".join(_named(question, chosen))) for one, question in both)


def _take(one: dict[object, object], chosen: dict[str, list[str]]) -> None:
    """Collects one answer: `{questionId, selectedOptionIds, freeformText}`, or the selected options by question id."""
    named = one.get("questionId")
    for key, value in one.items():
        to = named if isinstance(named, str) else key
        if key != "questionId" and isinstance(to, str):
            found = value if isinstance(value, list) else [value]
            chosen.setdefault(to, []).extend(text for text in found if isinstance(text, str) and text)


def _named(question: CursorQuestion, chosen: dict[str, list[str]]) -> list[str]:
    labels = {option.id: without_nul(option.label) for option in question.options or ()}
    return [labels.get(one) or without_nul(one) for one in chosen.get(question.id or "", [])]
