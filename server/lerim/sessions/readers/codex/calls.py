"""Tool calls of Codex: their arguments, in the format of every version."""

from __future__ import annotations

import re

import msgspec

from lerim.sessions.model import QuestionAnswer, ToolCall, ToolKind
from lerim.sessions.readers.codex.records import CodexPayload
from lerim.sessions.readers.engine import (
    JSON_NULL,
    PATCH_BEGIN,
    decode_fields,
    decode_plain,
    decode_string,
    normalize_command,
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
_ASKED = re.compile(
    r'tools\.exec_command\(\s*\{[^"\'`{}]{0,200}?["\']?\bcmd["\']?\s*:\s*'
    r'("(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`(?:[^`\\]|\\.)*`)',
    re.DOTALL,
)
_TOOL = re.compile(r"\btools\.(\w{1,100})\(")
_SCRIPT = 200_000
_STEPS = {"completed": "[x]", "in_progress": "[~]"}


def parse_codex_call(asked: CodexPayload, *, brief: bool = False) -> ToolCall:
    """Parses an item into a tool call without a result; `brief` leaves out text it writes to files."""
    kind_of_item = asked.type or ""
    native_id = without_nul(asked.call_id) or without_nul(asked.id)
    if kind_of_item == "local_shell_call":
        return _shell(native_id, "local_shell", normalize_command(_value(asked.action).get("command")), brief=brief)
    if kind_of_item == "web_search_call":
        action = _value(asked.action)
        return ToolCall(native_id, "web_search", "web", command=_first(action, "query", "url", "pattern"), status="ok")
    if kind_of_item == "image_generation_call":
        return ToolCall(native_id, "image_generation", "other", status="ok")
    if kind_of_item == "tool_search_call":
        return ToolCall(native_id, "tool_search", "other", command=_first(decode_fields(asked.arguments), "query"))
    name = without_nul(asked.name)[:200]
    if kind_of_item == "custom_tool_call":
        text = decode_string(asked.input)
        return (
            _script(native_id, name, text, brief=brief)
            if name == "exec"
            else _custom(native_id, name, text, brief=brief)
        )
    if _is_served(asked):
        return _other(native_id, name, decode_fields(asked.arguments), "other")
    return _function(native_id, name, asked.arguments, brief=brief)


def _custom(native_id: str, name: str, text: str, *, brief: bool) -> ToolCall:
    if PATCH_BEGIN not in text:
        return ToolCall(native_id, name, _KINDS.get(name, "other"), command=without_nul(text)[:20_000])
    return _patched(native_id, name, text, brief=brief)


def _patched(native_id: str, name: str, text: str, command: str = "", *, brief: bool) -> ToolCall:
    patch = parse_patch(text, brief=brief)
    kind: ToolKind = "shell" if command else "write" if patch.only_adds_files else "edit"
    return ToolCall(native_id, name, kind, command=command, paths=patch.paths, edits=patch.edits)


def _shell(native_id: str, name: str, command: str, *, brief: bool) -> ToolCall:
    if PATCH_BEGIN not in command:
        return ToolCall(native_id, name, "shell", command=command)
    return _patched(native_id, name, command, "" if _ONLY_PATCH.match(command) else command, brief=brief)


def _script(native_id: str, name: str, text: str, *, brief: bool) -> ToolCall:
    """Builds a tool call from a script: the commands it runs, or the patch it applies."""
    commands = [_literal(found[1]) for found in _ASKED.finditer(text[:_SCRIPT])]
    if commands:
        return _shell(native_id, name, "\n".join(commands), brief=brief)
    if PATCH_BEGIN in text:
        return _patched(native_id, name, text.replace("\\n", "\n").replace('\\"', '"'), brief=brief)
    tools = _TOOL.findall(text[:_SCRIPT])
    kinds = {_KINDS.get(tool.replace("__", "_"), "other") for tool in tools}
    kind: ToolKind = kinds.pop() if len(kinds) == 1 else "other"
    return ToolCall(native_id, name, "other" if kind in ("plan", "ask") else kind, command=without_nul(text)[:20_000])


def _literal(text: str) -> str:
    """Decodes a string literal of a script."""
    value = decode_plain(text.encode("utf-8", "replace")) if text.startswith('"') else None
    if isinstance(value, str):
        return without_nul(value)
    return without_nul(text[1:-1].replace("\\'", "'").replace("\\`", "`").replace("\\n", "\n").replace('\\"', '"'))


def _function(native_id: str, name: str, arguments: msgspec.Raw, *, brief: bool) -> ToolCall:
    kind = _KINDS.get(name, "other")
    given = decode_fields(arguments)
    if name in CONTINUES:
        return ToolCall(native_id, name, kind, command=_first(given, "chars").strip("\n"))
    if kind == "shell":
        command = given.get("command", given.get("cmd"))
        return _shell(native_id, name, normalize_command(command), brief=brief)
    if kind == "edit":
        return _patched(native_id, name, _first(given, "input", "patch"), brief=brief)
    if kind == "plan":
        return ToolCall(native_id, name, kind, plan=_steps(given))
    if kind == "ask":
        return ToolCall(native_id, name, kind, answers=_questions(given))
    return _other(native_id, name, given, kind)


def _is_served(asked: CodexPayload) -> bool:
    """Checks whether an MCP server answers the call, whatever its tool is called; the server then wrote the output."""
    return (asked.namespace or "").startswith("mcp__")


def _other(native_id: str, name: str, given: dict[str, object], kind: ToolKind) -> ToolCall:
    path = _first(given, "file_path", "path", "dir_path")
    return ToolCall(
        native_id,
        name,
        kind,
        command=_first(given, "query", "pattern", "url", "message", "task_name"),
        paths=(path,) if path else (),
    )


def continued_process(asked: CodexPayload) -> str:
    """Returns the process that a call continues, or '' for any other call."""
    key = "" if _is_served(asked) else CONTINUES.get(asked.name or "")
    value = decode_fields(asked.arguments).get(key) if key else None
    return str(value)[:100] if isinstance(value, str | int) else ""


def _steps(given: dict[str, object]) -> str:
    lines = [_first(given, "explanation")]
    steps = given.get("plan")
    for step in steps if isinstance(steps, list) else ():
        if isinstance(step, dict) and isinstance(step.get("step"), str):
            lines.append(f"{_STEPS.get(str(step.get('status')), '[ ]')} {without_nul(step['step'])}")
    return "\n".join(line for line in lines if line)


def _questions(given: dict[str, object]) -> tuple[QuestionAnswer, ...]:
    questions = given.get("questions")
    found: list[QuestionAnswer] = []
    for one in questions if isinstance(questions, list) else ():
        if not isinstance(one, dict) or not isinstance(one.get("question"), str):
            continue
        listed = one.get("options")
        options = [option for option in listed if isinstance(option, dict)] if isinstance(listed, list) else []
        labels = tuple(_first(option, "label") for option in options)
        said = tuple(_first(option, "description") for option in options)
        found.append(QuestionAnswer(without_nul(one["question"]), labels, "", said if any(said) else ()))
    return tuple(found)


def question_ids(asked: CodexPayload) -> tuple[str, ...]:
    """Returns the ids under which the answers to an item's questions will be recorded, in the order of the
    questions."""
    questions = decode_fields(asked.arguments).get("questions")
    listed = questions if isinstance(questions, list) else []
    return tuple(_first(one, "id") for one in listed if isinstance(one, dict) and isinstance(one.get("question"), str))


def parse_codex_answers(call: ToolCall, ids: tuple[str, ...], text: str) -> tuple[QuestionAnswer, ...]:
    """Returns the questions of a call with what the person chose or typed."""
    given = decode_plain(text.encode("utf-8", "surrogatepass")) if text.startswith("{") else None
    answers = given.get("answers") if isinstance(given, dict) else None
    found: list[QuestionAnswer] = []
    for at, one in enumerate(call.answers):
        value = answers.get(ids[at]) if isinstance(answers, dict) and at < len(ids) else None
        listed = value.get("answers") if isinstance(value, dict) else value
        said = [without_nul(word) for word in listed if isinstance(word, str)] if isinstance(listed, list) else []
        said = [word.removeprefix("user_note: ") for word in said]
        found.append(QuestionAnswer(one.question, one.options, "\n".join(said), one.descriptions))
    return tuple(found)


def _value(raw: msgspec.Raw) -> dict[str, object]:
    return decode_fields(raw) if raw is not JSON_NULL else {}


def _first(given: object, *names: str) -> str:
    """Returns the first non-empty text among these fields, or ''."""
    if isinstance(given, dict):
        for name in names:
            value = given.get(name)
            if isinstance(value, str) and value:
                return without_nul(value)
    return ""
