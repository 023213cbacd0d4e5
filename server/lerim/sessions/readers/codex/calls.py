"""Parses the tool calls of Codex: their arguments, in the format of every version."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import QuestionAnswer, ToolCall, ToolKind
from lerim.sessions.readers.codex.records import CodexPayload
from lerim.sessions.readers.engine import (
    PATCH_BEGIN,
    ToolTable,
    add_patch,
    decode_string,
    find_object,
    find_text,
    kinds_by_name,
    list_objects,
    list_texts,
    normalize_command,
    parse_fields,
    parse_json_or_none,
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

CONTINUES = {"write_stdin": "session_id", "wait": "cell_id"}
"""Tools that continue a process which an earlier call left running, and the argument that names it."""

_TOOLS = ToolTable(
    kinds=kinds_by_name(
        {
            "shell": "shell container.exec shell_command local_shell exec_command unified_exec write_stdin wait",
            "edit": "apply_patch",
            "read": "read_file view_image",
            "search": "list_dir grep_files",
            "plan": "update_plan",
            "ask": "request_user_input",
            "agent": "spawn_agent send_input send_message followup_task wait_agent resume_agent close_agent",
            "web": "web_search web_run",
        }
    ),
    command=("query", "pattern", "url", "message", "task_name"),
    path=("file_path", "path", "dir_path"),
    patch=("input", "patch"),
)
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
            return _build_shell_call("local_shell", normalize_command(parse_fields(item.action).get("command")))
        case "web_search_call":
            looked_for = find_text(parse_fields(item.action), "query", "url", "pattern")
            return ToolCall("", "web_search", "web", command=looked_for, status="ok")
        case "image_generation_call":
            return ToolCall("", "image_generation", "other", status="ok")
        case "tool_search_call":
            return ToolCall("", "tool_search", "other", command=find_text(parse_fields(item.arguments), "query"))
    name = without_nul(item.name)[:200]
    if item.type == "custom_tool_call":
        text = decode_string(item.input)
        return _parse_script(name, text) if name == "exec" else _parse_custom_call(name, text)
    if _is_mcp_call(item):
        return _TOOLS.build_call("", name, parse_fields(item.arguments), kind="other")
    return _parse_function_call(name, item.arguments)


def _parse_custom_call(name: str, text: str) -> ToolCall:
    call = ToolCall("", name, _TOOLS.find_kind(name))
    return add_patch(call, text) if PATCH_BEGIN in text else replace(call, command=without_nul(text)[:20_000])


def _build_shell_call(name: str, command: str) -> ToolCall:
    call = ToolCall("", name, "shell", command=command)
    if PATCH_BEGIN not in command:
        return call
    patched = add_patch(call, command)
    return replace(patched, command="") if _ONLY_PATCH.match(command) else replace(patched, kind="shell")


def _parse_script(name: str, text: str) -> ToolCall:
    """Builds a tool call from a script: the commands it runs, or the patch it applies."""
    commands = [_decode_literal(found[1]) for found in _EXEC_COMMAND.finditer(text[:_SCRIPT_LIMIT])]
    if commands:
        return _build_shell_call(name, "\n".join(commands))
    if PATCH_BEGIN in text:
        return add_patch(ToolCall("", name, "edit"), text.replace("\\n", "\n").replace('\\"', '"'))
    tools = _TOOL_CALL.findall(text[:_SCRIPT_LIMIT])
    kinds = {_TOOLS.find_kind(tool.replace("__", "_")) for tool in tools}
    kind: ToolKind = kinds.pop() if len(kinds) == 1 else "other"
    return ToolCall("", name, "other" if kind in ("plan", "ask") else kind, command=without_nul(text)[:20_000])


def _decode_literal(text: str) -> str:
    value = parse_json_or_none(text) if text.startswith('"') else None
    if isinstance(value, str):
        return without_nul(value)
    return without_nul(text[1:-1].replace("\\'", "'").replace("\\`", "`").replace("\\n", "\n").replace('\\"', '"'))


def _parse_function_call(name: str, arguments: msgspec.Raw) -> ToolCall:
    fields = parse_fields(arguments)
    call = _TOOLS.build_call("", name, fields)
    if name in CONTINUES:
        return replace(call, command=find_text(fields, "chars").strip("\n"), description="")
    if call.kind == "shell":
        return _build_shell_call(name, normalize_command(fields.get("command", fields.get("cmd"))))
    return replace(call, plan=_format_plan(fields)) if call.kind == "plan" else call


def _is_mcp_call(item: CodexPayload) -> bool:
    """Checks whether an MCP server answers the call, whatever its tool is called; the server then wrote the output."""
    return (item.namespace or "").startswith("mcp__")


def continued_process(item: CodexPayload) -> str:
    """Returns the process that a call continues, or '' for any other call."""
    key = "" if _is_mcp_call(item) else CONTINUES.get(item.name or "")
    value = parse_fields(item.arguments).get(key) if key else None
    return str(value)[:100] if isinstance(value, str | int) else ""


def _format_plan(arguments: dict[str, object]) -> str:
    lines = [find_text(arguments, "explanation")]
    for step in list_objects(arguments.get("plan")):
        if text := find_text(step, "step"):
            lines.append(f"{_STEP_MARKS.get(find_text(step, 'status'), '[ ]')} {text}")
    return "\n".join(line for line in lines if line)


def question_ids(item: CodexPayload) -> tuple[str, ...]:
    """Returns the ids under which the answers to an item's questions will be recorded, in the order of the
    questions."""
    return tuple(find_text(one, "id") for one in list_objects(parse_fields(item.arguments).get("questions")))


def parse_codex_answers(call: ToolCall, ids: tuple[str, ...], text: str) -> tuple[QuestionAnswer, ...]:
    """Returns the questions of a call with what the person chose or typed."""
    answers = find_object(parse_fields(text), "answers") if text.startswith("{") else {}
    filled: list[QuestionAnswer] = []
    for index, question in enumerate(call.answers):
        value = answers.get(ids[index]) if index < len(ids) else None
        chosen = list_texts(value.get("answers") if isinstance(value, dict) else value)
        answer = "\n".join(word.removeprefix("user_note: ") for word in chosen)
        filled.append(replace(question, answer=answer))
    return tuple(filled)
