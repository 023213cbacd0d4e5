"""Parses Copilot CLI's tool calls, their input and their result."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.copilot_cli.records import CliEventData, CliToolResult
from lerim.sessions.readers.engine import (
    ToolTable,
    content_texts,
    cut_blocks,
    decode_leniently,
    decode_string,
    find_text,
    kinds_by_name,
    list_texts,
    normalize_command,
    parse_fields,
    parse_json_or_none,
    without_nul,
)

_TOOLS = ToolTable(
    kinds=kinds_by_name(
        {
            "shell": "bash powershell shell local_shell read_bash write_bash stop_bash read_powershell write_powershell"
            " stop_powershell",
            "read": "view",
            "edit": "edit str_replace str_replace_editor apply_patch",
            "write": "create",
            "search": "grep rg glob list_dir",
            "ask": "ask_user",
            "plan": "exit_plan_mode",
            "agent": "task read_agent",
            "web": "web_fetch web_search fetch",
        }
    ),
    command=("pattern", "query", "url", "prompt", "intent", "fact"),
    path=("path", "file_path"),
    plan=("plan", "summary"),
    content=("file_text", "content"),
    patch=("input", "patch"),
    old=("old_str", "old_string"),
    new=("new_str", "new_string", "insert_text"),
)
_CONTINUING_STARTS = ("read_", "write_", "stop_")
_EDITOR_KINDS: dict[str, ToolKind] = {"view": "read", "create": "write"}
_CODE = re.compile(r"\s{0,9}<[^<>\n]{1,150}\bexit code (-?\d{1,10})>\s{0,9}\Z")
_RUNNING = re.compile(r"<command with (?:shellId|id): (\S{1,100}) is still running")
_TAIL_LENGTH = 400
_ANSWER_START = re.compile(r"\AUser (?:selected|responded|answered|said|typed)(?: with)?: ?")
_AUTOMATIC_START = "The user is not available to respond"
"""The beginning of the answer that the program gives itself when it runs without a person."""
_DENIED_CODES = ("rejected", "denied")


class CliCallEnd(NamedTuple):
    """How a call ended. `running` names the shell in which its command continues."""

    status: ToolStatus
    text: str
    exit_code: int | None = None
    running: str = ""


def parse_cli_call(native_id: str, name: str, arguments: msgspec.Raw, *, brief: bool = False) -> ToolCall:
    """Parses a call that a message requests, without a result yet; `brief` leaves out the text it writes to files."""
    fields = parse_fields(arguments) or {"patch": decode_string(arguments)}
    kind = _EDITOR_KINDS.get(find_text(fields, "command"), "edit") if name == "str_replace_editor" else None
    call = _TOOLS.build_call(native_id, name, fields, kind=kind, brief=brief)
    if call.kind == "shell":
        return replace(
            call, command="" if name.startswith(_CONTINUING_STARTS) else normalize_command(fields.get("command"))
        )
    paths = fields.get("paths")
    return replace(call, paths=call.paths or list_texts([paths] if isinstance(paths, str) else paths))


def mark_served_by_mcp(call: ToolCall) -> ToolCall:
    """Returns a call that an MCP server answered. Even if its tool has the name of one that asks the person or
    proposes a plan, the result comes from the server."""
    return replace(call, kind="other", answers=(), plan="") if call.kind in ("ask", "plan") else call


def continued_shell(name: str, arguments: msgspec.Raw) -> str:
    """Returns the id of the shell whose command a call continues; '' for any other call."""
    value = parse_fields(arguments).get("shellId") if name.startswith(_CONTINUING_STARTS) else None
    return str(value)[:100] if isinstance(value, str | int) else ""


def parse_cli_call_end(data: CliEventData, kind: ToolKind) -> CliCallEnd:
    """Parses how a call ended. The exit code is in the text, because `success` refers to the tool, not to its
    command."""
    if data.success is False:
        error = parse_fields(data.error)
        message = find_text(error, "message") or without_nul(decode_string(data.error))
        is_denied = find_text(error, "code") in _DENIED_CODES
        return CliCallEnd("denied" if is_denied else "error", without_nul(cut_blocks(message)))
    result = decode_leniently(data.result, CliToolResult)
    text = without_nul(cut_blocks("\n".join(content_texts(result.content)) or decode_string(data.result)))
    if kind != "shell":
        return CliCallEnd("ok", text)
    tail = text[-_TAIL_LENGTH:]
    if code_match := _CODE.search(tail):
        code = int(code_match[1])
        return CliCallEnd("error" if code else "ok", text[: len(text) - len(tail) + code_match.start()], code)
    recorded_code = _find_exit_code(result.contents)
    if recorded_code is not None:
        return CliCallEnd("error" if recorded_code else "ok", text, recorded_code)
    running = _RUNNING.search(tail)
    return CliCallEnd("ok", text, None, running[1] if running else "")


def _find_exit_code(contents: msgspec.Raw) -> int | None:
    """Returns the exit code if it is recorded next to the text, else None."""
    parts = parse_json_or_none(contents)
    for part in reversed(parts) if isinstance(parts, list) else ():
        code = part.get("exitCode") if isinstance(part, dict) else None
        if type(code) is int and abs(code) < 1 << 32:
            return code
    return None


def parse_cli_answers(call: ToolCall, text: str) -> tuple[QuestionAnswer, ...]:
    """Returns the question of a call with what the person chose or typed. Any other text was written by the program
    because nobody answered."""
    match = _ANSWER_START.match(text)
    answer = text[match.end() :].strip() if match else ""
    answer = "" if answer.startswith(_AUTOMATIC_START) else answer
    return tuple(replace(question, answer=answer) for question in call.answers)
