"""Sessions of Gemini CLI and of its successor Antigravity: finds and reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lerim.sessions.model import NO_TOKENS, StoreContents, Tokens, Transcript, Turn, make_turn_id
from lerim.sessions.readers.antigravity import store
from lerim.sessions.readers.engine import (
    LoadedSession,
    TypedText,
    WholeReading,
    cut_blocks,
    parse_timestamp,
    plausible_count,
    read_start,
    sum_session,
    sum_tokens,
    without_nul,
)
from lerim.sessions.readers.gemini import (
    GeminiMessage,
    GeminiSession,
    GeminiUsage,
    extract_message_text,
    find_chats,
    infer_folder,
    load_gemini_session,
    make_gemini_own_command,
    parse_gemini_call,
    parse_gemini_output,
    parse_gemini_prompt,
)

_PROBED_BYTES = 256 * 1024


def scan_root(root: Path, folders: Sequence[str]) -> StoreContents:
    """Lists the sessions under `~/.gemini`: those of Gemini CLI, whose folders are matched against `folders`, and those
    of Antigravity."""
    contents = StoreContents()
    find_chats(root, folders, contents)
    store.find_conversations(root, contents)
    return contents


def probe_folder(transcript: Transcript) -> str:
    """Returns the folder a session begins in, or '' if its first 256 kB do not name it."""
    if transcript.cwd:
        return transcript.cwd
    start = read_start(transcript.path, _PROBED_BYTES)
    if store.is_antigravity_log(transcript.path):
        return store.find_first_command_cwd(start)
    return infer_folder(start, _project_store(transcript.path))


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """Returns a reading of one session. Iterating it raises TranscriptError if its file cannot be read, UnfinishedError
    while it is being written."""
    load = store.load_conversation if store.is_antigravity_log(transcript.path) else _load_session
    return WholeReading(transcript, partial(load, brief=brief), resume)


def _project_store(path: Path) -> str:
    """Returns the name of the project's folder in the store, the one that contains `chats/`."""
    return next((parent.parent.name for parent in path.parents if parent.name == "chats"), "")


def _load_session(transcript: Transcript, *, brief: bool) -> LoadedSession:
    path = transcript.path
    session = load_gemini_session(path)
    header = session.header
    session_id = without_nul(header.session_id)[:200] or transcript.session_id
    is_subagent = bool(transcript.parent) or header.kind == "subagent"
    cwd = transcript.cwd or infer_folder(session.beginning, _project_store(path))
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
