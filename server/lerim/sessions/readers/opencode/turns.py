"""Builds the turns of an OpenCode session from its messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as replace_fields
from itertools import takewhile

from msgspec.structs import replace

from lerim.sessions.model import NO_TOKENS, Session, Tokens, ToolCall, Transcript, Turn, make_turn_id
from lerim.sessions.readers.engine import (
    MEMORIES_TAG,
    LoadedSession,
    cut_blocks,
    cut_command_template,
    make_session_title,
    milliseconds_to_time,
    plausible_count,
    sum_session,
    text_outside_blocks,
    without_nul,
)
from lerim.sessions.readers.opencode.calls import PLAN_FILE, mark_own_command
from lerim.sessions.readers.opencode.forms import OpenCodePiece, StoredSession
from lerim.sessions.readers.opencode.records import OpenCodeMessage, OpenCodeTimes, Revert

_DEFAULT_TITLE = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]{1,20}Z?")
_OWN_COMMAND_NOTE = "The following tool was executed by the user"
_INIT_STARTS = (
    "Please analyze this codebase and create an AGENTS.md file containing:",
    "Create or update `AGENTS.md` for this repository.\n\nThe goal is a compact instruction file",
)
"""The beginnings of the prompts that OpenCode stores in place of `/init`."""
_PLUGIN_STARTS = ("[SYSTEM DIRECTIVE: ", "[BACKGROUND TASK ")
_PLUGIN_MARK = "<!-- OMO_INTERNAL_INITIATOR -->"
"""The mark that a widespread plugin (oh-my-opencode) writes into the messages that it sends by itself."""
_PLUGIN_MODE = re.compile(r"\s{0,20}(?:<((?:[a-z]{1,20}-)?ultrawork-mode)>|\[[a-z-]{1,40}-mode\]\n)")
_PLUGIN_RULE = "\n\n---\n\n"
"""Separates the instructions that the plugin puts before a prompt from the prompt."""
_SKILL_END = re.compile(
    r"\n\nBase directory for this skill: ([^\n]{1,4096})\nRelative paths in this skill [^\n]{1,200}(?:\n|\Z)"
)
"""Matches the text between a skill that the person ran as a command and what they typed after the skill's name."""
_INIT_FOCUS = re.compile(r"User-provided focus or constraints \(honor these\):\n(.{0,20000}?)\n\n## How to", re.DOTALL)


def build_loaded_session(transcript: Transcript, stored: StoredSession) -> LoadedSession:
    """Returns the session with its turns. Messages that the person reverted make no turns, but their cost counts."""
    info = stored.info
    is_subagent = bool(transcript.parent or info.parent_id)
    default_cwd = without_nul(info.directory) or without_nul(stored.worktree) or transcript.cwd
    turns: list[Turn] = []
    own_command_ids: set[str] = set()
    plan = ""
    prompt_cwds = {
        without_nul(one.parent_id): _message_cwd(one, default_cwd) for one in reversed(stored.messages) if one.parent_id
    }
    for message, pieces in _unreverted_messages(stored, info.revert or Revert()):
        native_id = message.id or ""
        origin = stored.origins.get(native_id)
        turn_id = make_turn_id("opencode", origin.id if origin else native_id)
        if message.role == "user":
            cwd = prompt_cwds.get(native_id, default_cwd)
            text = _typed_text(pieces)
            if [one.text for one in pieces if one.type == "synthetic"] == [_OWN_COMMAND_NOTE]:
                own_command_ids.add(native_id)
            elif not (is_subagent or (origin and origin.is_subagent)) and text:
                turns.append(_begin_turn(message, turn_id, len(turns), cwd, text))
        elif message.role == "assistant":
            begun = _begin_turn(message, turn_id, len(turns), _message_cwd(message, default_cwd))
            is_own_command = message.parent_id in own_command_ids
            if (turn := _add_answer(begun, message, pieces, is_own_command=is_own_command)) is not None:
                turn, plan = _attach_plan(replace(turn, sidechain=is_subagent), plan)
                turns.append(turn)
    session = _build_session(replace_fields(transcript, cwd=default_cwd), stored, turns)
    return LoadedSession(session, turns, stored.problems)


def _unreverted_messages(
    stored: StoredSession, revert: Revert
) -> Iterator[tuple[OpenCodeMessage, list[OpenCodePiece]]]:
    """Yields the messages with their pieces up to the point where the person reverted the session."""
    for message in stored.messages:
        pieces = stored.pieces.get(message.id or "", [])
        if revert.message_id and message.id == revert.message_id:
            if part_id := revert.part_id:
                yield message, list(takewhile(lambda one: one.id < part_id, pieces))
            return
        yield message, pieces


def _typed_text(pieces: list[OpenCodePiece]) -> str:
    typed = (_remove_plugin_text(one.text) for one in pieces if one.type == "text")
    text = without_nul(text_outside_blocks("\n".join(typed))).strip()
    files = [one.text for one in pieces if one.type == "file"]
    if text.startswith(_INIT_STARTS):
        focus = _INIT_FOCUS.search(text)
        return f"/init {focus[1].strip() if focus else ''}".strip()
    if skill := _SKILL_END.search(text):
        name = re.split(r"[\\/]", skill[1].rstrip("\\/"))[-1]
        return f"/{name} {text[skill.end() :].strip()}".strip()
    return cut_command_template(text) or "".join(f"[{name}]" for name in files[:1])


def _remove_plugin_text(text: str) -> str:
    """Returns a text of the person without the text that a plugin put before it; '' if the plugin wrote all of it."""
    if _PLUGIN_MARK in text or text.lstrip().startswith(_PLUGIN_STARTS):
        return ""
    mode = _PLUGIN_MODE.match(text)
    if mode is None:
        return text
    _, rule, typed = text[max(text.rfind(f"</{mode[1]}>"), 0) :].partition(_PLUGIN_RULE)
    return typed if rule else text


def _message_cwd(message: OpenCodeMessage, default_cwd: str) -> str:
    return (without_nul(message.path.cwd) if message.path else "") or default_cwd


def _begin_turn(message: OpenCodeMessage, turn_id: str, ordinal: int, cwd: str, text: str = "") -> Turn:
    time = milliseconds_to_time(message.time.created) if message.time else None
    return Turn(turn_id, ordinal, "user", "prompt", text, time, cwd)


def _add_answer(
    turn: Turn, message: OpenCodeMessage, pieces: list[OpenCodePiece], *, is_own_command: bool
) -> Turn | None:
    """Returns the turn with an answer, or with the person's own command; None for the summary of a compaction and for
    an answer without content (yet)."""
    calls = tuple(one.call for one in pieces if one.call is not None)
    if calls and is_own_command:
        own_call = mark_own_command(calls[0])
        return replace(turn, kind="shell", text=own_call.command, tool_calls=(own_call,))
    text = "\n\n".join(
        part for one in pieces if one.type == "text" and (part := cut_blocks(one.text, (MEMORIES_TAG,)).strip())
    )
    reasoning = "\n\n".join(part for one in pieces if one.type == "reasoning" and (part := one.text.strip()))
    if bytes(message.summary) == b"true" or not (text or reasoning or calls):
        return None
    return replace(
        turn,
        role="assistant",
        kind="reply",
        text=text,
        reasoning=reasoning,
        tool_calls=calls,
        model=without_nul(message.model_id)[:200],
        tokens=_message_tokens(message) or NO_TOKENS,
    )


def _attach_plan(turn: Turn, plan: str) -> tuple[Turn, str]:
    """Adds the plan to a call that puts it to the person. Returns the turn, and the plan as its file contains it after
    the turn."""
    calls: list[ToolCall] = []
    for call in turn.tool_calls:
        for edit in call.edits if call.status == "ok" else ():
            if PLAN_FILE.search(edit.path):
                plan = plan.replace(edit.old, edit.new, 1) if edit.old else edit.new
        calls.append(replace(call, plan=plan) if call.name == "plan_exit" else call)
    return (replace(turn, tool_calls=tuple(calls)) if plan else turn), plan


def _message_tokens(message: OpenCodeMessage) -> Tokens | None:
    usage = message.tokens
    if usage is None:
        return None
    cache = usage.cache
    return Tokens(
        plausible_count(usage.input),
        plausible_count(usage.output) + plausible_count(usage.reasoning),
        plausible_count(cache.read) if cache else 0,
        plausible_count(cache.write) if cache else 0,
    )


def _build_session(transcript: Transcript, stored: StoredSession, turns: list[Turn]) -> Session:
    """Builds the session. The parts that end a step repeat the tokens and cost of a message, so they are not counted.

    The totals of a fork include the tokens of the messages it copied, as they include their turns and calls: statistics
    count tokens by turn, and a copied turn is only stored once. Cost is not known by turn, so the cost of a copied
    message counts only in the session it was copied from.
    """
    info = stored.info
    time = info.time or OpenCodeTimes()
    answers = [one for one in stored.messages if one.role == "assistant"]
    tokens = [counts for one in answers if (counts := _message_tokens(one)) is not None]
    costs = (one.cost for one in answers if one.cost and 0 < one.cost < 1e9 and (one.id or "") not in stored.origins)
    times = (when for one in stored.messages if one.time for when in (one.time.created, one.time.completed))
    calls = [call for turn in turns for call in turn.tool_calls]
    title = without_nul(info.title).strip()
    session = sum_session(
        transcript,
        turns,
        title=None,
        tokens=sum(tokens, start=NO_TOKENS) if tokens else None,
    )
    return replace_fields(
        session,
        title="" if _DEFAULT_TITLE.fullmatch(title) else make_session_title(title),
        started=milliseconds_to_time(time.created),
        ended=max(filter(None, map(milliseconds_to_time, times)), default=milliseconds_to_time(time.updated)),
        models=tuple(dict.fromkeys(without_nul(one.model_id)[:200] for one in answers if one.model_id)),
        # A call that was interrupted failed too, except a command, which may have done its work.
        tool_errors=session.tool_errors + sum(one.status == "interrupted" and one.kind != "shell" for one in calls),
        parent=parent if (parent := transcript.parent or without_nul(info.parent_id)) != transcript.session_id else "",
        cost=sum(costs) or None,
    )
