"""Tool calls of Copilot CLI: what was asked of a tool, and what came back."""

from __future__ import annotations

import re
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from lerim.sessions.command_lines import command_of
from lerim.sessions.copilot_cli_records import Data, Fault, Result
from lerim.sessions.model import Answer, Edit, ToolCall, ToolKind, ToolStatus
from lerim.sessions.patches import parsed
from lerim.sessions.shapes import NOTHING, fields, loose, parts, read
from lerim.sessions.typed import cut
from lerim.sessions.values import plain

_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "powershell": "shell",
    "shell": "shell",
    "local_shell": "shell",
    "read_bash": "shell",
    "write_bash": "shell",
    "stop_bash": "shell",
    "read_powershell": "shell",
    "write_powershell": "shell",
    "stop_powershell": "shell",
    "view": "read",
    "edit": "edit",
    "str_replace": "edit",
    "str_replace_editor": "edit",
    "apply_patch": "edit",
    "create": "write",
    "grep": "search",
    "rg": "search",
    "glob": "search",
    "list_dir": "search",
    "ask_user": "ask",
    "exit_plan_mode": "plan",
    "task": "agent",
    "read_agent": "agent",
    "web_fetch": "web",
    "web_search": "web",
    "fetch": "web",
}
_CONTINUES = ("read_", "write_", "stop_")
_EDITOR: dict[str, ToolKind] = {"view": "read", "create": "write"}
_CODE = re.compile(r"\s{0,9}<[^<>\n]{1,150}\bexit code (-?\d{1,10})>\s{0,9}\Z")
_RUNNING = re.compile(r"<command with (?:shellId|id): (\S{1,100}) is still running")
_TAIL = 400
_SAID = re.compile(r"\AUser (?:selected|responded|answered|said|typed)(?: with)?: ?")
_DENIED = ("rejected", "denied")


class Ended(NamedTuple):
    """How a call ended. `running` names the shell in which the command goes on."""

    status: ToolStatus
    text: str
    exit_code: int | None = None
    running: str = ""


def opened(native: str, name: str, arguments: msgspec.Raw, *, brief: bool = False) -> ToolCall:
    """The call a message asks for, still without a result; `brief`: without what it writes to files."""
    name = plain(name)[:200]
    kind = _KINDS.get(name, "other")
    given = fields(arguments)
    if name == "str_replace_editor":
        kind = _EDITOR.get(_text(given, "command"), "edit")
    if name == "apply_patch":
        text = _text(given, "input", "patch") if given else plain(_string(arguments))
        patch = parsed(text, brief=brief)
        return ToolCall(native, name, "write" if patch.adds else "edit", paths=patch.paths, edits=patch.edits)
    path = _text(given, "path", "file_path")
    paths = (path,) if path else tuple(plain(one) for one in _listed(given.get("paths")))
    if kind == "shell":
        command = "" if name.startswith(_CONTINUES) else command_of(given.get("command"))
        return ToolCall(native, name, kind, command=command, description=_text(given, "description"))
    if kind == "ask":
        asked = Answer(_text(given, "question"), tuple(plain(one) for one in _listed(given.get("choices"))), "")
        return ToolCall(native, name, kind, answers=(asked,))
    if kind == "plan":
        return ToolCall(native, name, kind, plan=_text(given, "plan", "summary"))
    return ToolCall(
        native,
        name,
        kind,
        command=_text(given, "pattern", "query", "url", "prompt", "intent", "fact"),
        description=_text(given, "description"),
        paths=paths,
        edits=_edits(kind, path, given) if kind in ("edit", "write") and not brief else (),
    )


def served(call: ToolCall) -> ToolCall:
    """A call that an MCP server answers, whatever its tool is called: what comes back is the server's."""
    return replace(call, kind="other", answers=(), plan="") if call.kind in ("ask", "plan") else call


def shell_of(name: str, arguments: msgspec.Raw) -> str:
    """The shell whose command a call goes on with; '' for any other call."""
    value = fields(arguments).get("shellId") if name.startswith(_CONTINUES) else None
    return str(value)[:100] if isinstance(value, str | int) else ""


def ended(said: Data, kind: ToolKind) -> Ended:
    """What came back to a call. The exit code stands in the text; `success` is of the tool, not of its command."""
    if said.success is False:
        fault = read(said.error, Fault) if said.error is not NOTHING else Fault()
        message = plain(fault.message) or plain(_string(said.error))
        return Ended("denied" if fault.code in _DENIED else "error", plain(cut(message)))
    result = read(said.result, Result)
    text = plain(cut("\n".join(parts(result.content)) or _string(said.result)))
    if kind != "shell":
        return Ended("ok", text)
    tail = text[-_TAIL:]
    if found := _CODE.search(tail):
        code = int(found[1])
        return Ended("error" if code else "ok", text[: len(text) - len(tail) + found.start()], code)
    beside = _exit_code(result.contents)
    if beside is not None:
        return Ended("error" if beside else "ok", text, beside)
    running = _RUNNING.search(tail)
    return Ended("ok", text, None, running[1] if running else "")


def _exit_code(contents: msgspec.Raw) -> int | None:
    """The exit code where it stands beside the text."""
    listed = loose(contents) if contents is not NOTHING else None
    for one in reversed(listed) if isinstance(listed, list) else ():
        code = one.get("exitCode") if isinstance(one, dict) else None
        if type(code) is int and abs(code) < 1 << 32:
            return code
    return None


def answered(call: ToolCall, text: str) -> tuple[Answer, ...]:
    """The question of a call with what the person chose or typed. Any other text is the program's: nobody was there."""
    told = _SAID.match(text)
    said = text[told.end() :].strip() if told else ""
    return tuple(Answer(one.question, one.options, said, one.descriptions) for one in call.answers)


def _edits(kind: ToolKind, path: str, given: dict[str, object]) -> tuple[Edit, ...]:
    if kind == "write":
        return (Edit(path, "", _text(given, "file_text", "content")),)
    old, new = _text(given, "old_str", "old_string"), _text(given, "new_str", "new_string", "insert_text")
    return (Edit(path, old, new),) if old or new else ()


def _text(given: dict[str, object], *names: str) -> str:
    return next((plain(value) for name in names if isinstance(value := given.get(name), str) and value), "")


def _listed(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _string(raw: msgspec.Raw) -> str:
    value = loose(raw) if raw is not NOTHING else None
    return value if isinstance(value, str) else ""
