"""Parses the tool calls of Claude Code: their arguments and their results."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import QuestionAnswer, ToolCall, ToolKind, ToolStatus
from lerim.sessions.readers.claude.human import INTERRUPTED, parse_text_beside_result
from lerim.sessions.readers.claude.records import ClaudeBlock, ClaudeRecord
from lerim.sessions.readers.claude.spilled_outputs import read_spilled_output
from lerim.sessions.readers.engine import (
    JSON_NULL,
    ToolTable,
    content_texts,
    cut_blocks,
    decode_leniently,
    find_object,
    find_text,
    join_texts,
    keep_ends,
    kinds_by_name,
    parse_fields,
    without_nul,
)

_TOOLS = ToolTable(
    kinds=kinds_by_name(
        {
            "shell": "Bash PowerShell",
            "read": "Read NotebookRead",
            "edit": "Edit MultiEdit NotebookEdit",
            "write": "Write",
            "search": "Grep Glob LS",
            "ask": "AskUserQuestion",
            "plan": "ExitPlanMode exit_plan_mode",
            "agent": "Task Agent",
            "web": "WebFetch WebSearch",
        }
    ),
    command=("command", "url", "query", "pattern"),
    path=("file_path", "notebook_path", "path"),
    new=("new_string", "new_source"),
    description=("description", "summary", "skill", "message"),
)


class _Outcome(msgspec.Struct, rename="camel", gc=False):
    answers: msgspec.Raw = JSON_NULL
    annotations: msgspec.Raw = JSON_NULL
    plan: str | None = ""
    interrupted: bool | None = False
    exit_code: int | None = None
    background_task_id: str | None = ""
    return_code_interpretation: str | None = ""
    persisted_output_path: str | None = ""


_NO_OUTCOME = _Outcome()


def parse_claude_call(block: ClaudeBlock, *, brief: bool = False) -> ToolCall:
    """Parses a `tool_use` block into a tool call without a result; `brief` leaves out text it writes to files."""
    return _TOOLS.build_call(block.id, block.name, parse_fields(block.input), brief=brief)


# --- results -----------------------------------------------------------------------------------------------------

_DENIED_STARTS = (
    "The user doesn't want to proceed",
    "Permission for this tool use was denied",
    "Permission to use ",
    "The agent proposed a plan that was rejected",
    "User rejected ",
)
_INTERRUPTED_STARTS = (INTERRUPTED, "The user doesn't want to take this action right now")
_FEEDBACK = re.compile(r"\b[Tt]he user said:\s*")
_FEEDBACK_END = "\n\nNote: The user's next message may contain"
_EXIT_CODE = re.compile(r"Exit code (-?\d{1,10})\b")
_APPROVED_PLAN = "## Approved Plan"
_REJECTED_PLAN = "\n\nRejected plan:"

_MCP_START = "mcp__"
"""The prefix of the names of MCP tools; their whole result is worded by the server."""
_DENIED_BY_PERSON = "user-rejected"
_OWN_RESULTS: frozenset[ToolKind] = frozenset({"edit", "write", "plan", "ask"})
"""The built-in tools whose results Claude Code writes itself: they contain no output of a command and no text of a
page."""


def parse_claude_result(record: ClaudeRecord, block: ClaudeBlock) -> tuple[ToolStatus, str]:
    """Returns how a tool call ended, according to its `tool_result` block alone, and the text of that block."""
    text = _content_text(block.content)
    head = text[:200].lstrip()
    kind = record.tool_denial_kind or ""
    is_unclear = bool(block.is_error) and not kind
    if kind in ("interrupted", "cancelled") or (is_unclear and head.startswith(_INTERRUPTED_STARTS)):
        return "interrupted", text
    if kind or (is_unclear and head.startswith(_DENIED_STARTS)):
        return "denied", text
    return "error" if block.is_error else "ok", text


def close_claude_call(
    call: ToolCall, status: ToolStatus, text: str, record: ClaudeRecord, results_folder: Path
) -> ToolCall:
    """Adds the result in a record to `call`; outputs that are too long for the transcript are files in
    `results_folder`."""
    feedback = _find_feedback(call, status, text, record)
    outcome = decode_leniently(record.tool_use_result, _Outcome) if _needs_outcome(call, record) else _NO_OUTCOME
    if outcome.interrupted and (status == "ok" or (status == "error" and call.kind == "shell")):
        status = "interrupted"
    shown, omitted = _read_output(text, outcome, results_folder) if text.startswith(_SPILLED_START) else keep_ends(text)
    if status == "denied" and call.name.startswith(_MCP_START) and not record.tool_denial_kind:
        status = "error"
    return replace(
        call,
        status=status,
        output=shown,
        output_cut=omitted,
        exit_code=_find_exit_code(call, status, text, outcome),
        feedback=feedback,
        answers=_parse_answers(call.answers, outcome, text) if call.answers and status == "ok" else call.answers,
        plan=_approved_plan(call, outcome, text) if call.kind == "plan" else call.plan,
    )


def _find_feedback(call: ToolCall, status: ToolStatus, text: str, record: ClaudeRecord) -> str:
    """Returns what the person said when they refused the call or approved a plan, if the record itself, and not only
    the text of the result, shows that the words are theirs.

    Claude Code has written `toolDenialKind` and `userFeedback` since 2.1.205. In earlier versions, only the results
    that it writes itself are reliable: the result of a command, a page or a server may begin with any text.
    """
    said = without_nul(record.user_feedback).strip()
    if status == "ok" and call.kind == "plan":
        beside = parse_text_beside_result(record.message.content) if record.message and not said else None
        return beside.text if beside is not None and beside.kind == "prompt" else said
    if status not in ("denied", "interrupted") or call.name.startswith(_MCP_START):
        return ""
    kind = record.tool_denial_kind
    if said or not (kind == _DENIED_BY_PERSON or (call.kind in _OWN_RESULTS and not kind)):
        return said
    own_part = text.partition(_REJECTED_PLAN)[0]  # the plan after it is the agent's
    match = _FEEDBACK.search(own_part[:2000])
    return own_part[match.end() :].partition(_FEEDBACK_END)[0].strip() if match else ""


def _needs_outcome(call: ToolCall, record: ClaudeRecord) -> bool:
    """Checks whether the structured result has to be decoded. The structured results of reads and edits contain
    whole files and are skipped."""
    return call.kind in ("shell", "ask", "plan", "other") and record.tool_use_result is not JSON_NULL


def _find_exit_code(call: ToolCall, status: ToolStatus, text: str, outcome: _Outcome) -> int | None:
    if outcome.exit_code is not None and abs(outcome.exit_code) < 1 << 32:
        return outcome.exit_code
    if call.kind != "shell":
        return None
    if status == "error":
        match = _EXIT_CODE.match(text)
        return int(match[1]) if match else None
    is_other_code = outcome.background_task_id or outcome.return_code_interpretation  # such as “No matches found”
    return 0 if status == "ok" and not is_other_code else None


def _approved_plan(call: ToolCall, outcome: _Outcome, text: str) -> str:
    """Returns the plan as the person approved it, since they may have edited it."""
    start = text.find(_APPROVED_PLAN)
    if start >= 0:
        return text[start:].partition("\n")[2].strip()
    return without_nul(outcome.plan) or call.plan


def _parse_answers(questions: tuple[QuestionAnswer, ...], outcome: _Outcome, text: str) -> tuple[QuestionAnswer, ...]:
    answers_by_question, notes = parse_fields(outcome.answers), parse_fields(outcome.annotations)
    answers: list[QuestionAnswer] = []
    for question in questions:
        selected = answers_by_question.get(question.question)
        answer = (
            join_texts(selected) if selected is not None else _parse_quoted_answer(question.question, questions, text)
        )
        written = find_text(find_object(notes, question.question), "notes")
        if written.strip() and written not in answer:
            answer = f"{answer}\n{written}".strip()
        answers.append(replace(question, answer=answer))
    return tuple(answers)


def _parse_quoted_answer(question: str, questions: tuple[QuestionAnswer, ...], text: str) -> str:
    """Extracts the answer from `"question"="answer", "question"="answer". You can now continue …`."""
    opening = f'"{question}"="'
    start = text.find(opening)
    if start < 0:
        return ""
    start += len(opening)
    ends = [text.find(f'", "{other.question}"="', start) for other in questions]
    ends += [text.find(ending, start) for ending in ('". You can now continue', '" user notes:', '" selected preview:')]
    later_ends = [end for end in ends if end >= 0]
    end = min(later_ends) if later_ends else text.find('"', start)
    return text[start : end if end >= 0 else len(text)]


def _content_text(content: msgspec.Raw) -> str:
    return without_nul(cut_blocks("\n".join(text for text in content_texts(content) if text)))


_SPILLED_START = "<persisted-output>"
_SPILLED_PATH = re.compile(r"Full output saved to: ([^\n]{1,1000})")


def _read_output(text: str, outcome: _Outcome, results_folder: Path) -> tuple[str, int]:
    match = _SPILLED_PATH.search(text[:2000])
    path = without_nul(outcome.persisted_output_path) or (match[1].strip() if match else "")
    ends = read_spilled_output(results_folder, path)
    return ends if ends is not None else keep_ends(text)
