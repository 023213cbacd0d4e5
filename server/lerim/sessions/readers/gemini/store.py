"""Reads a session of Gemini CLI: its messages become turns."""

from __future__ import annotations

from lerim.sessions.model import NO_TOKENS, Tokens, Transcript, Turn, make_turn_id
from lerim.sessions.readers.engine import (
    LoadedSession,
    TypedText,
    cut_blocks,
    parse_timestamp,
    plausible_count,
    sum_session,
    sum_tokens,
    without_nul,
)
from lerim.sessions.readers.gemini.calls import make_gemini_own_command, parse_gemini_call
from lerim.sessions.readers.gemini.folders import find_chats, infer_folder
from lerim.sessions.readers.gemini.human import parse_gemini_output, parse_gemini_prompt
from lerim.sessions.readers.gemini.records import (
    GeminiMessage,
    GeminiSession,
    GeminiUsage,
    extract_message_text,
    load_gemini_session,
)

__all__ = ["find_chats", "infer_folder", "load_session"]

_SEARCHED_BYTES = 1024 * 1024
"""How many bytes of each of a session's files are searched for its working folder."""


def load_session(transcript: Transcript, *, brief: bool) -> LoadedSession:
    """Loads a session. Raises UnfinishedError while its file is being written, TranscriptError if nothing in it can be
    read, and OSError."""
    session = load_gemini_session(transcript.path)
    header = session.header
    session_id = without_nul(header.session_id)[:200] or transcript.session_id
    is_subagent = bool(transcript.parent) or header.kind == "subagent"
    cwd = transcript.cwd or infer_folder(transcript.path, _SEARCHED_BYTES)
    turns = _build_turns(session, session_id, cwd, is_subagent=is_subagent, brief=brief)
    return LoadedSession(
        session=sum_session(
            transcript,
            turns,
            id=session_id,
            title=without_nul(header.summary),
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
        if message.type == "gemini":
            turn = _build_answer(message, turn_key, len(turns), plans, cwd, is_subagent=is_subagent, brief=brief)
            if turn is not None:
                turns.append(turn)
        elif message.type == "user":
            typed = None if is_subagent else parse_gemini_prompt(message)
            if typed is not None:
                turns.append(_build_prompt(message, typed, turn_key, len(turns), cwd))
    return turns


def _build_prompt(message: GeminiMessage, typed: TypedText, turn_key: str, ordinal: int, cwd: str) -> Turn:
    return Turn(
        id=make_turn_id("gemini", turn_key),
        ordinal=ordinal,
        role="user",
        kind=typed.kind,
        text=typed.text,
        time=parse_timestamp(message.timestamp),
        cwd=cwd,
        tool_calls=(make_gemini_own_command(typed.text, parse_gemini_output(message)),)
        if typed.kind == "shell"
        else (),
    )


def _build_answer(
    message: GeminiMessage,
    turn_key: str,
    ordinal: int,
    plans: dict[str, str],
    cwd: str,
    *,
    is_subagent: bool,
    brief: bool,
) -> Turn | None:
    text = without_nul(cut_blocks(extract_message_text(message.content)[0]))
    reasoning = [
        f"{without_nul(one.subject)}\n{without_nul(one.description)}".strip() for one in message.thoughts or ()
    ]
    calls = tuple(parse_gemini_call(one, plans, brief=brief) for one in message.tool_calls or ())
    if not (text or reasoning or calls or message.tokens):
        return None
    return Turn(
        id=make_turn_id("gemini", turn_key),
        ordinal=ordinal,
        role="assistant",
        kind="reply",
        text=text,
        time=parse_timestamp(message.timestamp),
        cwd=cwd,
        reasoning="" if brief else cut_blocks("\n\n".join(one for one in reasoning if one)),
        tool_calls=calls,
        model=without_nul(message.model)[:200],
        tokens=_convert_tokens(message.tokens),
        sidechain=is_subagent,
    )


def _convert_tokens(usage: GeminiUsage | None) -> Tokens:
    """Converts token counts: uncached input, output (including thoughts) and cache reads. Each answer sends the whole
    context, and `input` includes the cached part of it."""
    if usage is None:
        return NO_TOKENS
    sent, cached = plausible_count(usage.input), plausible_count(usage.cached)
    return Tokens(
        input=max(0, sent - cached) + plausible_count(usage.tool),
        output=plausible_count(usage.output) + plausible_count(usage.thoughts),
        cache_read=min(sent, cached),
    )
