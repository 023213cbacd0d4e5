"""Tool calls of Codex: their arguments, in the format of every version."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import QuestionAnswer, ToolCall, ToolKind
from lerim.sessions.readers.codex.records import CodexPayload
from lerim.sessions.readers.engine import (
    PATCH_BEGIN,
    decode_fields,
    decode_string,
    normalize_command,
    parse_json_or_none,
    parse_patch,
    without_nul,
)

CALLS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "tool_search_call",
        "image_generation_call",
    }
)
OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
CALLS_WITHOUT_OUTPUT = frozenset({"web_search_call", "image_generation_call"})
"""Calls that already say how they ended; no output follows."""

CONTINUES = {"write_stdin": "session_id", "wait": "cell_id"}
"""Tools that continue a process which an earlier call left running, and the argument that names it."""

_KINDS: dict[str, ToolKind] = {
    "shell": "shell",
    "container.exec": "shell",
    "shell_command": "shell",
    "local_shell": "shell",
    "exec_command": "shell",
    "unified_exec": "shell",
    "write_stdin": "shell",
    "wait": "shell",
    "apply_patch": "edit",
    "read_file": "read",
    "view_image": "read",
    "list_dir": "search",
    "grep_files": "search",
    "update_plan": "plan",
    "request_user_input": "ask",
    "spawn_agent": "agent",
    "send_input": "agent",
    "send_message": "agent",
    "followup_task": "agent",
    "wait_agent": "agent",
    "resume_agent": "agent",
    "close_agent": "agent",
    "web_search": "web",
    "web_run": "web",
}
_ONLY_PATCH = re.compile(r"\s*(?:cd [^\n;&|]{1,500}(?:&&|;)\s*)?(?:apply_patch|applypatch)\b")
_EXEC_COMMAND = re.compile(
    r'tools\.exec_command\(\s*\{[^"\'`{}]{0,200}?["\']?\bcmd["\']?\s*:\s*'
    r'("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`(?:[^`\\]|\\.)*`)',
    re.DOTALL,
)
_TOOL_CALL = re.compile(r"\btools\.(\w{1,100})\(")
_SCRIPT_LIMIT = 200_000
_STEP_MARKS = {"completed": "[x]", "in_progress": "[~]"}


def parse_codex_call(item: CodexPayload, *, brief: bool = False) -> ToolCall:
    """Parses an item into a tool call without a result; `brief` leaves out text it writes to files."""
    call = _parse_item(item)
    native_id = without_nul(item.call_id) or without_nul(item.id)
    return replace(call, id=native_id, edits=() if brief else call.edits)


def _parse_item(item: CodexPayload) -> ToolCall:
    match item.type:
        case "local_shell_call":
            return _build_shell_call("local_shell", normalize_command(decode_fields(item.action).get("command")))
        case "web_search_call":
            looked_for = _first_text(decode_fields(item.action), "query", "url", "pattern")
            return ToolCall("", "web_search", "web", command=looked_for, status="ok")
        case "image_generation_call":
            return ToolCall("", "image_generation", "other", status="ok")
        case "tool_search_call":
            return ToolCall("", "tool_search", "other", command=_first_text(decode_fields(item.arguments), "query"))
    name = without_nul(item.name)[:200]
    if item.type == "custom_tool_call":
        text = decode_string(item.input)
        return _parse_script(name, text) if name == "exec" else _parse_custom_call(name, text)
    if _is_mcp_call(item):
        return _build_other_call(name, decode_fields(item.arguments), "other")
    return _parse_function_call(name, item.arguments)


def _parse_custom_call(name: str, text: str) -> ToolCall:
    if PATCH_BEGIN not in text:
        return ToolCall("", name, _KINDS.get(name, "other"), command=without_nul(text)[:20_000])
    return _build_patch_call(name, text)


def _build_patch_call(name: str, text: str, command: str = "") -> ToolCall:
    patch = parse_patch(text)
    kind: ToolKind = "shell" if command else "write" if patch.only_adds_files else "edit"
    return ToolCall("", name, kind, command=command, paths=patch.paths, edits=patch.edits)


def _build_shell_call(name: str, command: str) -> ToolCall:
    if PATCH_BEGIN not in command:
        return ToolCall("", name, "shell", command=command)
    return _build_patch_call(name, command, "" if _ONLY_PATCH.match(command) else command)


def _parse_script(name: str, text: str) -> ToolCall:
    """Builds a tool call from a script: the commands it runs, or the patch it applies."""
    commands = [_decode_literal(found[1]) for found in _EXEC_COMMAND.finditer(text[:_SCRIPT_LIMIT])]
    if commands:
        return _build_shell_call(name, "\n".join(commands))
    if PATCH_BEGIN in text:
        return _build_patch_call(name, text.replace("\\n", "\n").replace('\\"', '"'))
    tools = _TOOL_CALL.findall(text[:_SCRIPT_LIMIT])
    kinds = {_KINDS.get(tool.replace("__", "_"), "other") for tool in tools}
    kind: ToolKind = kinds.pop() if len(kinds) == 1 else "other"
    return ToolCall("", name, "other" if kind in ("plan", "ask") else kind, command=without_nul(text)[:20_000])


def _decode_literal(text: str) -> str:
    """Decodes a string literal of a script."""
    value = parse_json_or_none(text) if text.startswith('"') else None
    if isinstance(value, str):
        return without_nul(value)
    return without_nul(text[1:-1].replace("\\'", "'").replace("\\`", "`").replace("\\n", "\n").replace('\\"', '"'))


def _parse_function_call(name: str, arguments: msgspec.Raw) -> ToolCall:
    kind = _KINDS.get(name, "other")
    fields = decode_fields(arguments)
    if name in CONTINUES:
        return ToolCall("", name, kind, command=_first_text(fields, "chars").strip("\n"))
    if kind == "shell":
        command = fields.get("command", fields.get("cmd"))
        return _build_shell_call(name, normalize_command(command))
    if kind == "edit":
        return _build_patch_call(name, _first_text(fields, "input", "patch"))
    if kind == "plan":
        return ToolCall("", name, kind, plan=_format_plan(fields))
    if kind == "ask":
        return ToolCall("", name, kind, answers=_parse_questions(fields))
    return _build_other_call(name, fields, kind)


def _is_mcp_call(item: CodexPayload) -> bool:
    """Checks whether an MCP server answers the call, whatever its tool is called; the server then wrote the output."""
    return (item.namespace or "").startswith("mcp__")


def _build_other_call(name: str, arguments: dict[str, object], kind: ToolKind) -> ToolCall:
    path = _first_text(arguments, "file_path", "path", "dir_path")
    return ToolCall(
        "",
        name,
        kind,
        command=_first_text(arguments, "query", "pattern", "url", "message", "task_name"),
        paths=(path,) if path else (),
    )


def continued_process(item: CodexPayload) -> str:
    """Returns the process that a call continues, or '' for any other call."""
    key = "" if _is_mcp_call(item) else CONTINUES.get(item.name or "")
    value = decode_fields(item.arguments).get(key) if key else None
    return str(value)[:100] if isinstance(value, str | int) else ""


def _format_plan(arguments: dict[str, object]) -> str:
    lines = [_first_text(arguments, "explanation")]
    steps = arguments.get("plan")
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and isinstance(step.get("step"), str):
            lines.append(f"{_STEP_MARKS.get(str(step.get('status')), '[ ]')} {without_nul(step['step'])}")
    return "\n".join(line for line in lines if line)


def _parse_questions(arguments: dict[str, object]) -> tuple[QuestionAnswer, ...]:
    questions = arguments.get("questions")
    answers: list[QuestionAnswer] = []
    for question in questions if isinstance(questions, list) else ():
        if not isinstance(question, dict) or not isinstance(question.get("question"), str):
            continue
        options_list = question.get("options")
        options = (
            [option for option in options_list if isinstance(option, dict)] if isinstance(options_list, list) else []
        )
        labels = tuple(_first_text(option, "label") for option in options)
        descriptions = tuple(_first_text(option, "description") for option in options)
        answers.append(
            QuestionAnswer(without_nul(question["question"]), labels, "", descriptions if any(descriptions) else ())
        )
    return tuple(answers)


def question_ids(item: CodexPayload) -> tuple[str, ...]:
    """Returns the ids under which the answers to an item's questions will be recorded, in the order of the
    questions."""
    questions = decode_fields(item.arguments).get("questions")
    records = questions if isinstance(questions, list) else []
    return tuple(
        _first_text(one, "id") for one in records if isinstance(one, dict) and isinstance(one.get("question"), str)
    )


def parse_codex_answers(call: ToolCall, ids: tuple[str, ...], text: str) -> tuple[QuestionAnswer, ...]:
    """Returns the questions of a call with what the person chose or typed."""
    decoded = parse_json_or_none(text) if text.startswith("{") else None
    answers = decoded.get("answers") if isinstance(decoded, dict) else None
    filled: list[QuestionAnswer] = []
    for index, question in enumerate(call.answers):
        value = answers.get(ids[index]) if isinstance(answers, dict) and index < len(ids) else None
        listed = value.get("answers") if isinstance(value, dict) else value
        chosen = [without_nul(word) for word in listed if isinstance(word, str)] if isinstance(listed, list) else []
        chosen = [word.removeprefix("user_note: ") for word in chosen]
        filled.append(QuestionAnswer(question.question, question.options, "\n".join(chosen), question.descriptions))
    return tuple(filled)


def _first_text(arguments: object, *names: str) -> str:
    """Returns the first non-empty text among these fields, or ''."""
    if isinstance(arguments, dict):
        for name in names:
            value = arguments.get(name)
            if isinstance(value, str) and value:
                return without_nul(value)
    return ""
