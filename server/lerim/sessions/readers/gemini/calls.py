"""Parses Gemini CLI's tool calls, their input and their result."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import QuestionAnswer, ToolCall, ToolStatus
from lerim.sessions.readers.engine import (
    ToolTable,
    close_call,
    cut_blocks,
    file_name,
    find_text,
    kinds_by_name,
    list_texts,
    make_own_command,
    parse_fields,
    parse_json_or_none,
    without_nul,
)
from lerim.sessions.readers.gemini.records import GeminiCall

_TOOLS = ToolTable(
    kinds=kinds_by_name(
        {
            "shell": "run_shell_command",
            "read": "read_file read_many_files",
            "edit": "replace edit",
            "write": "write_file",
            "search": "glob grep_search search_file_content list_directory",
            "ask": "ask_user",
            "plan": "exit_plan_mode",
            "web": "google_web_search web_fetch",
            "agent": "invoke_agent delegate_to_agent codebase_investigator",
        }
    ),
    command=("command", "url", "query", "pattern", "fact"),
    path=("file_path", "absolute_path", "path", "dir_path"),
    description=("description", "instruction", "objective", "reason", "title"),
)
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,10})\s*$", re.MULTILINE)
_SHELL_CODE = re.compile(r"Command exited with code (-?\d{1,10})\.")
_CODE_SEARCH_LENGTH = 600
_BACKGROUND_STARTS = (
    "Command moved to background",
    "Command started in background",
    "Command is running in background",
)
_OPENING, _CLOSING = "<untrusted_context>\n", "\n</untrusted_context>"
"""The tags that newer versions put around content from outside."""
_INTERRUPTED_START = "Command was"
_FEEDBACK_START = "Plan rejected. User feedback: "
_REFUSED_STARTS = ("Plan rejected.", "User cancelled the plan approval dialog", "User dismissed ask_user dialog")
_DENIAL_WORDS = ("denied", "did not allow", "rejected")


def parse_gemini_call(call: GeminiCall, plans: dict[str, str], *, brief: bool) -> ToolCall:
    """Parses a call with its result; `brief` leaves out the text it writes, and its output if it succeeded. `plans` are
    the Markdown files written so far, by name, because the call that leaves plan mode only names the file."""
    arguments = parse_fields(call.args)
    pending = _TOOLS.build_call(call.id, call.name, arguments, kind="agent" if call.agent_id else None, brief=brief)
    included = list_texts(arguments.get("include") or arguments.get("paths"))[:50]
    pending = replace(pending, paths=(*pending.paths, *(one for one in included if one)))
    if pending.kind == "write":
        if (path := find_text(arguments, *_TOOLS.path)).endswith(".md"):
            plans[file_name(path)] = find_text(arguments, "content")
    elif pending.kind == "plan" and not pending.plan:
        plan = plans.get(file_name(find_text(arguments, "plan_filename", "plan_path")), "")
        pending = replace(pending, plan=plan)
    elif pending.kind == "web" and not pending.command:
        pending = replace(pending, command=find_text(arguments, "prompt"))
    return _add_result(pending, call, brief=brief)


def make_gemini_own_command(text: str, output: str) -> ToolCall:
    """Returns the tool call for a person's own `!command`."""
    match = _SHELL_CODE.match(output)
    code = int(match[1]) if match else None
    return close_call(make_own_command(text), "ok", without_nul(cut_blocks(output)), code, brief=False)


# --- results -----------------------------------------------------------------------------------------------------


def _add_result(call: ToolCall, record: GeminiCall, *, brief: bool) -> ToolCall:
    status_text = record.status or ""
    if status_text not in ("success", "error", "cancelled"):
        return call
    text = _result_text(record)
    status = _find_status(call, status_text, text)
    # Feedback is trusted only from the plan tool.
    rejected = call.kind == "plan" and status_text == "success" and text.startswith(_FEEDBACK_START)
    return replace(
        close_call(call, status, text, _find_exit_code(call, status, text), brief=brief),
        feedback=text[len(_FEEDBACK_START) :].partition("\n\nThe plan is stored at:")[0] if rejected else "",
        answers=_parse_answers(call.answers, text),
    )


def _find_status(call: ToolCall, status_text: str, text: str) -> ToolStatus:
    if status_text == "cancelled":
        return "denied" if any(word in text[:500] for word in _DENIAL_WORDS) else "interrupted"
    if status_text == "error":
        return "denied" if "denied by policy" in text[:500] else "error"
    if call.kind in ("plan", "ask") and text.startswith(_REFUSED_STARTS):
        return "denied"
    return "interrupted" if call.kind == "shell" and text.startswith(_INTERRUPTED_START) else "ok"


def _find_exit_code(call: ToolCall, status: ToolStatus, text: str) -> int | None:
    if call.kind != "shell" or status in ("denied", "interrupted"):
        return None
    codes = _EXIT_CODE.findall(text[-_CODE_SEARCH_LENGTH:])
    if codes:
        return int(codes[-1])
    return 0 if status == "ok" and not text.startswith(_BACKGROUND_STARTS) else None


def _result_text(record: GeminiCall) -> str:
    value = parse_json_or_none(record.result)
    parts = value if isinstance(value, list) else [value]
    answers = [one["functionResponse"] for one in parts if isinstance(one, dict) and "functionResponse" in one]
    own_answers = [one for one in answers if isinstance(one, dict) and one.get("id") == record.id] or answers
    texts = [_response_text(one.get("response")) for one in own_answers if isinstance(one, dict)]
    texts += [one for one in parts if isinstance(one, str)]
    texts += [text for one in parts if isinstance(one, dict) and isinstance(text := one.get("text"), str)]
    if not any(texts) and isinstance(shown := parse_json_or_none(record.result_display), str):
        texts = [shown]
    return without_nul(cut_blocks("\n".join(one for one in texts if one)))


def _response_text(response: object) -> str:
    if isinstance(response, str):
        return response
    if not isinstance(response, dict):
        return ""
    for name in ("output", "error", "content", "result"):
        if isinstance(text := response.get(name), str):
            return text.removeprefix(_OPENING).removesuffix(_CLOSING) if text.startswith(_OPENING) else text
    return msgspec.json.encode(response).decode()


def _parse_answers(questions: tuple[QuestionAnswer, ...], text: str) -> tuple[QuestionAnswer, ...]:
    answers = parse_fields(text).get("answers") if questions else None
    if not isinstance(answers, dict):
        return questions
    return tuple(replace(question, answer=find_text(answers, str(index))) for index, question in enumerate(questions))
