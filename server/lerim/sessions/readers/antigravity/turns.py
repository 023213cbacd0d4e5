"""Reads a conversation of Antigravity: the steps in its log become turns."""

from __future__ import annotations

import re

import msgspec
from msgspec.structs import replace

from lerim.errors import Problem
from lerim.sessions.model import Tokens, Transcript, Turn, make_turn_id
from lerim.sessions.readers.antigravity.calls import (
    attach_step_result,
    close_antigravity_call,
    parse_antigravity_call,
    unwrap_argument,
)
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LoadedSession,
    cut_blocks,
    list_objects,
    parse_json_or_none,
    parse_timestamp,
    read_log_records,
    split_usage,
    sum_session,
    sum_tokens,
    tag_content,
    text_outside_blocks,
    without_nul,
)

LOG_NAMES = ("transcript_full.jsonl", "transcript.jsonl")
"""The names of a conversation's logs: the full log, and the one to read if there is no full log, in which the
arguments of calls are JSON inside strings."""
_CWD = re.compile(rb'"Cwd"\s{0,10}:\s{0,10}("(?:[^"\\]|\\.){1,1000}")')
_CONTEXT_TAGS = ("ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "SYSTEM_MESSAGE", "EPHEMERAL_MESSAGE", "lerim-memories")
_REQUEST = "USER_REQUEST"


class AntigravityStep(msgspec.Struct, gc=False):
    """One step of a conversation."""

    step_index: int | None = None
    source: str | None = ""
    type: str | None = ""
    status: str | None = ""
    created_at: str | None = ""
    content: str | None = ""
    thinking: str | None = ""
    tool_calls: msgspec.Raw = JSON_NULL
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None


def _find_command_cwd(step: AntigravityStep) -> str:
    """Returns the folder in which a command of a step runs, or ''."""
    match = _CWD.search(bytes(step.tool_calls))
    cwd = unwrap_argument(parse_json_or_none(msgspec.Raw(match[1]))) if match else ""
    return without_nul(cwd)[:4096] if isinstance(cwd, str) else ""


def load_conversation(transcript: Transcript, *, brief: bool) -> LoadedSession:
    """Loads the conversation in a log. Raises OSError."""
    problems: list[Problem] = []
    steps = list(read_log_records(transcript.path, AntigravityStep, problems))
    cwd = transcript.cwd or next(filter(None, map(_find_command_cwd, steps)), "")
    is_subagent = bool(steps) and not any(_is_prompt(step) for step in steps)
    turns, parent = _build_turns(transcript, steps, cwd, is_subagent=is_subagent, brief=brief)
    return LoadedSession(
        session=sum_session(
            transcript,
            turns,
            parent=parent if is_subagent else "",
            tokens=sum_tokens(turns) if any(step.input_tokens is not None for step in steps) else None,
            times=(parse_timestamp(step.created_at) for step in steps),
        ),
        turns=turns,
        problems=problems,
    )


def _is_prompt(step: AntigravityStep) -> bool:
    return step.source == "USER_EXPLICIT" or step.type == "USER_INPUT"


def _build_turns(
    transcript: Transcript, steps: list[AntigravityStep], cwd: str, *, is_subagent: bool, brief: bool
) -> tuple[list[Turn], str]:
    turns: list[Turn] = []
    open_calls: list[int] = []
    parent = ""
    is_wrapped = transcript.path.name == LOG_NAMES[-1]
    for index, step in enumerate(steps):
        number = index if step.step_index is None else step.step_index
        turn_id, time = make_turn_id("gemini", f"{transcript.session_id}:{number}"), parse_timestamp(step.created_at)
        if _is_prompt(step) or step.source == "SYSTEM":
            text = "" if is_subagent or not _is_prompt(step) else _typed_text(step.content or "")
            if text:
                turns.append(Turn(turn_id, len(turns), "user", "prompt", text, time, cwd))
                open_calls = []
        elif step.type == "PLANNER_RESPONSE":
            records = list_objects(parse_json_or_none(step.tool_calls))
            requested = [parse_antigravity_call(one, brief=brief, is_wrapped=is_wrapped) for one in records]
            cwd = next((one.cwd for one in reversed(requested) if one.cwd), cwd)
            parent = next((one.recipient for one in requested if one.recipient), parent)
            open_calls = list(range(len(requested)))
            answer = Turn(
                turn_id,
                len(turns),
                "assistant",
                "reply",
                without_nul(cut_blocks(step.content or "")),
                time,
                cwd,
                reasoning="" if brief else without_nul(cut_blocks(step.thinking or "")),
                tool_calls=tuple(one.call for one in requested),
                tokens=_count_tokens(step),
                sidechain=is_subagent,
            )
            turns.append(answer)
        elif open_calls:
            calls = list(turns[-1].tool_calls)
            at = open_calls.pop(0)
            calls[at] = attach_step_result(calls[at], step.status or "", step.content or "", brief=brief)
            turns[-1] = replace(turns[-1], tool_calls=tuple(calls))
    for at, turn in enumerate(turns[:-1]):
        turns[at] = replace(turn, tool_calls=tuple(map(close_antigravity_call, turn.tool_calls)))
    return turns, parent


def _typed_text(content: str) -> str:
    text = text_outside_blocks(content, _CONTEXT_TAGS)
    return without_nul(tag_content(text, _REQUEST, last=True) if f"<{_REQUEST}>" in text else text.strip())


def _count_tokens(step: AntigravityStep) -> Tokens:
    return split_usage(step.input_tokens, step.output_tokens, step.cache_read_tokens)
