"""Reads a session of Gemini CLI: its messages become turns."""

from __future__ import annotations

from msgspec.structs import replace

from lerim.sessions.model import NO_TOKENS, Tokens, Transcript, Turn, make_turn_id
from lerim.sessions.readers.engine import (
    LoadedSession,
    cut_blocks,
    parse_timestamp,
    plausible_count,
    report_unknown_form,
    split_usage,
    sum_session,
    sum_tokens,
    without_nul,
)
from lerim.sessions.readers.gemini.calls import make_gemini_own_command, parse_gemini_call
from lerim.sessions.readers.gemini.folders import find_session_folder
from lerim.sessions.readers.gemini.human import parse_gemini_output, parse_gemini_prompt, parse_subagent_task
from lerim.sessions.readers.gemini.records import (
    MESSAGE_TYPES,
    GeminiMessage,
    GeminiSession,
    GeminiUsage,
    extract_message_text,
    load_gemini_session,
)

_SERVER_SESSION = "a2a-server"
"""The id that all sessions of the server behind Gemini Code Assist have; their files are told apart by their names."""


def load_session(transcript: Transcript, *, brief: bool) -> LoadedSession:
    """Loads a session. Raises UnfinishedError while its file is being written, TranscriptError if nothing in it can be
    read, and OSError."""
    session = load_gemini_session(transcript.path)
    header = session.header
    named_id = "" if header.session_id == _SERVER_SESSION else without_nul(header.session_id)[:200]
    session_id = named_id or transcript.session_id
    first = next((one for one in session.messages.values() if one.type == "user"), GeminiMessage())
    task = parse_subagent_task(first)
    is_subagent = bool(task or transcript.parent) or header.kind == "subagent"
    parent = ""
    if task and not transcript.parent and header.kind != "subagent":  # earlier versions do not mark such a session
        session_id, parent = transcript.session_id, named_id
    cwd = find_session_folder(transcript)
    turns = _build_turns(session, session_id, cwd, is_subagent=is_subagent, brief=brief)
    if session.messages and not any(one.type in MESSAGE_TYPES for one in session.messages.values()):
        report_unknown_form(transcript.path, session.problems)
    return LoadedSession(
        session=sum_session(
            transcript,
            turns,
            id=session_id,
            parent=parent,
            title=(task or extract_message_text(first.content)[0]) if is_subagent else without_nul(header.summary),
            tokens=sum_tokens(turns) if any(one.tokens for one in session.messages.values()) else None,
            times=(parse_timestamp(header.start_time), parse_timestamp(header.last_updated)),
        ),
        turns=turns,
        problems=session.problems,
    )


def _build_turns(session: GeminiSession, session_id: str, cwd: str, *, is_subagent: bool, brief: bool) -> list[Turn]:
    turns: list[Turn] = []
    plans: dict[str, str] = {}
    for key, message in session.messages.items():
        # A key that begins with @ is an offset in the file, used because the record has no id.
        turn_key = f"{session_id}\n{message.type}\n{message.timestamp}\n{key}" if key.startswith("@") else key
        turn_id, time = make_turn_id("gemini", turn_key), parse_timestamp(message.timestamp)
        empty = Turn(turn_id, len(turns), "assistant", "reply", "", time, cwd, sidechain=is_subagent)
        turn = None
        if message.type == "gemini":
            turn = _fill_answer(empty, message, plans, brief=brief)
        elif message.type == "user" and not is_subagent:
            turn = _fill_prompt(empty, message)
        if turn is not None:
            turns.append(turn)
    return turns


def _fill_prompt(turn: Turn, message: GeminiMessage) -> Turn | None:
    typed = parse_gemini_prompt(message)
    if typed is None:
        return None
    output = parse_gemini_output(message)
    calls = (make_gemini_own_command(typed.text, output),) if typed.kind == "shell" else ()
    return replace(turn, role="user", kind=typed.kind, text=typed.text, tool_calls=calls)


def _fill_answer(turn: Turn, message: GeminiMessage, plans: dict[str, str], *, brief: bool) -> Turn | None:
    text = without_nul(cut_blocks(extract_message_text(message.content)[0]))
    thoughts = (f"{without_nul(one.subject)}\n{without_nul(one.description)}" for one in message.thoughts or ())
    reasoning = "\n\n".join(thought.strip() for thought in thoughts if thought.strip())
    calls = tuple(parse_gemini_call(one, plans, brief=brief) for one in message.tool_calls or ())
    if not (text or message.thoughts or calls or message.tokens):
        return None
    return replace(
        turn,
        text=text,
        reasoning="" if brief else cut_blocks(reasoning),
        tool_calls=calls,
        model=without_nul(message.model)[:200],
        tokens=_convert_tokens(message.tokens),
    )


def _convert_tokens(usage: GeminiUsage | None) -> Tokens:
    """Converts token counts: uncached input, output (including thoughts) and cache reads. Each answer sends the whole
    context, and `input` includes the cached part of it."""
    if usage is None:
        return NO_TOKENS
    counts = split_usage(usage.input, usage.output, usage.cached)
    return counts + Tokens(input=plausible_count(usage.tool), output=plausible_count(usage.thoughts))
