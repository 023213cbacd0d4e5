"""Parses Gemini CLI's tool calls, their input and their result."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import OWN_COMMAND, FileEdit, QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.engine import cut_blocks, keep_ends, parse_json_or_none, without_nul
from lerim.sessions.readers.gemini.records import GeminiCall, decode_arguments

_KINDS: dict[str, ToolKind] = {
    "run_shell_command": "shell",
    "read_file": "read",
    "read_many_files": "read",
    "replace": "edit",
    "edit": "edit",
    "write_file": "write",
    "glob": "search",
    "grep_search": "search",
    "search_file_content": "search",
    "list_directory": "search",
    "ask_user": "ask",
    "exit_plan_mode": "plan",
    "google_web_search": "web",
    "web_fetch": "web",
    "invoke_agent": "agent",
    "delegate_to_agent": "agent",
    "codebase_investigator": "agent",
}

_CODE = re.compile(r"^Exit Code: (-?\d{1,10})\s*$", re.MULTILINE)
_SHELL_CODE = re.compile(r"Command exited with code (-?\d{1,10})\.")
_CODE_FROM_END = 600
_UNENDED = ("Command moved to background", "Command started in background", "Command is running in background")
_OPENING, _CLOSING = "<untrusted_context>\n", "\n</untrusted_context>"
"""Newer versions put these around content from outside."""
_STOPPED = "Command was"
_FEEDBACK = "Plan rejected. User feedback: "
_REFUSED = ("Plan rejected.", "User cancelled the plan approval dialog", "User dismissed ask_user dialog")
_DENIALS = ("denied", "did not allow", "rejected")


class GeminiPlans:
    """The plans written so far, by file name, because the call that leaves plan mode only names the file."""

    def __init__(self) -> None:
        self._written: dict[str, str] = {}

    def note(self, path: str, text: str) -> None:
        """Remembers the text written to a Markdown file."""
        if path.endswith(".md"):
            self._written[_name(path)] = text

    def of(self, path: str) -> str:
        """Returns the text last written to a file of this name; '' if there is none."""
        return self._written.get(_name(path), "")


def _name(path: str) -> str:
    return (PureWindowsPath(path) if "\\" in path else PurePosixPath(path)).name


def parse_gemini_call(call: GeminiCall, plans: GeminiPlans, *, brief: bool) -> ToolCall:
    """Parses a call with its result; `brief` leaves out the text it writes, and its output if it succeeded."""
    name = without_nul(call.name)[:200]
    asked = {key: one for key, one in decode_arguments(call.args).items() if isinstance(key, str)}
    kind: ToolKind = "agent" if call.agent_id else _KINDS.get(name, "other")
    path = _path(asked)
    if kind == "write":
        plans.note(path, _text(asked, "content"))
    edits = _edits(kind, path, asked) if kind in ("edit", "write") and not brief else ()
    opened = ToolCall(
        id=without_nul(call.id),
        name=name,
        kind=kind,
        command=_first(asked, "command", "url", "query", "pattern", "prompt" if kind == "web" else "fact"),
        description=_first(asked, "description", "instruction", "objective", "reason"),
        paths=_paths(path, asked),
        edits=edits,
        answers=_questions(asked) if kind == "ask" else (),
        plan=(_text(asked, "plan") or plans.of(_first(asked, "plan_filename", "plan_path"))) if kind == "plan" else "",
        subagent=without_nul(call.agent_id),
    )
    return _closed(opened, call, brief=brief)


def make_gemini_own_command(text: str, output: str) -> ToolCall:
    """Returns the tool call for a person's own `!command`."""
    found = _SHELL_CODE.match(output)
    code = int(found[1]) if found else None
    shown, left_out = keep_ends(without_nul(cut_blocks(output)))
    status: ToolStatus = "error" if code else "ok"
    return ToolCall(
        id="",
        name=OWN_COMMAND,
        kind="shell",
        status=status,
        command=text,
        output=shown,
        output_cut=left_out,
        exit_code=code,
    )


def _text(asked: dict[str, object], name: str) -> str:
    found = asked.get(name)
    return without_nul(found) if isinstance(found, str) else ""


def _first(asked: dict[str, object], *names: str) -> str:
    return next((found for name in names if (found := _text(asked, name))), "")


def _path(asked: dict[str, object]) -> str:
    return _first(asked, "file_path", "absolute_path", "path", "dir_path")


def _paths(path: str, asked: dict[str, object]) -> tuple[str, ...]:
    several = asked.get("include") or asked.get("paths")
    named = [without_nul(one) for one in several if isinstance(one, str)] if isinstance(several, list) else []
    return tuple(one for one in (path, *named[:50]) if one)


def _edits(kind: ToolKind, path: str, asked: dict[str, object]) -> tuple[FileEdit, ...]:
    if kind == "write":
        return (FileEdit(path, "", _text(asked, "content")),)
    return (FileEdit(path, _text(asked, "old_string"), _text(asked, "new_string")),)


def _questions(asked: dict[str, object]) -> tuple[QuestionAnswer, ...]:
    questions = asked.get("questions")
    return tuple(_question(one) for one in questions if isinstance(one, dict)) if isinstance(questions, list) else ()


def _question(one: dict[str, object]) -> QuestionAnswer:
    options = one.get("options")
    offered = [option for option in options if isinstance(option, dict)] if isinstance(options, list) else []
    described = tuple(_text(option, "description") for option in offered)
    labels = tuple(_text(option, "label") for option in offered)
    return QuestionAnswer(_text(one, "question"), labels, "", described if any(described) else ())


# --- results -----------------------------------------------------------------------------------------------------


def _closed(call: ToolCall, record: GeminiCall, *, brief: bool) -> ToolCall:
    told = record.status or ""
    if told not in ("success", "error", "cancelled"):
        return call
    text = _result(record)
    status = _status(call, told, text)
    code = _exit_code(call, status, text)
    if code and status == "ok":
        status = "error"
    # Feedback is trusted only from the plan tool.
    rejected = call.kind == "plan" and told == "success" and text.startswith(_FEEDBACK)
    feedback = text[len(_FEEDBACK) :].partition("\n\nThe plan is stored at:")[0] if rejected else ""
    if brief and status == "ok" and call.kind not in ("ask", "plan"):
        return replace(call, status=status, exit_code=code)
    output, left_out = keep_ends(text)
    return replace(
        call,
        status=status,
        output=output,
        output_cut=left_out,
        exit_code=code,
        feedback=feedback,
        answers=_answered(call.answers, text),
    )


def _status(call: ToolCall, told: str, text: str) -> ToolStatus:
    if told == "cancelled":
        return "denied" if any(word in text[:500] for word in _DENIALS) else "interrupted"
    if told == "error":
        return "denied" if "denied by policy" in text[:500] else "error"
    if call.kind in ("plan", "ask") and text.startswith(_REFUSED):
        return "denied"
    return "interrupted" if call.kind == "shell" and text.startswith(_STOPPED) else "ok"


def _exit_code(call: ToolCall, status: ToolStatus, text: str) -> int | None:
    if call.kind != "shell" or status in ("denied", "interrupted"):
        return None
    codes = _CODE.findall(text[-_CODE_FROM_END:])
    if codes:
        return int(codes[-1])
    return 0 if status == "ok" and not text.startswith(_UNENDED) else None


def _result(record: GeminiCall) -> str:
    found = parse_json_or_none(record.result)
    parts = found if isinstance(found, list) else [found]
    answers = [one["functionResponse"] for one in parts if isinstance(one, dict) and "functionResponse" in one]
    own = [one for one in answers if isinstance(one, dict) and one.get("id") == record.id] or answers
    told = [_response(one.get("response")) for one in own if isinstance(one, dict)]
    told += [one for one in parts if isinstance(one, str)]
    told += [text for one in parts if isinstance(one, dict) and isinstance(text := one.get("text"), str)]
    if not any(told) and isinstance(shown := parse_json_or_none(record.result_display), str):
        told = [shown]
    return without_nul(cut_blocks("\n".join(one for one in told if one)))


def _response(response: object) -> str:
    if isinstance(response, str):
        return response
    if not isinstance(response, dict):
        return ""
    for name in ("output", "error", "content", "result"):
        if isinstance(text := response.get(name), str):
            return text.removeprefix(_OPENING).removesuffix(_CLOSING) if text.startswith(_OPENING) else text
    return msgspec.json.encode(response).decode()


def _answered(asked: tuple[QuestionAnswer, ...], text: str) -> tuple[QuestionAnswer, ...]:
    answers = decode_arguments(text.encode("utf-8", "replace")).get("answers") if asked else None
    if not isinstance(answers, dict):
        return asked
    return tuple(replace(one, answer=_text(answers, str(at))) for at, one in enumerate(asked))
