"""Sessions of Gemini CLI, and of Antigravity that follows it: where they lie, and what is in one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lerim.errors import Problem
from lerim.sessions import gemini_antigravity
from lerim.sessions.gemini_files import find_chats
from lerim.sessions.gemini_folders import told
from lerim.sessions.gemini_human import printed, typed
from lerim.sessions.gemini_records import Message, Recorded, Usage, recorded
from lerim.sessions.gemini_tools import Plans, called, own_command
from lerim.sessions.gemini_words import words
from lerim.sessions.model import NO_TOKENS, Found, Tokens, Transcript, Turn, turn_id
from lerim.sessions.regular import buffered, unreadable
from lerim.sessions.totals import settled, spent, summed
from lerim.sessions.typed import Typed, cut
from lerim.sessions.values import moment, plain
from lerim.sessions.whole import Loaded, WholeReading

PROBLEMS = 100
"""Problems told one by one; what comes after is only counted."""

_PEEK = 256 * 1024


def find(root: Path, folders: Sequence[str]) -> Found:
    """The sessions under `~/.gemini`: of Gemini CLI, its folders matched against `folders`, and of Antigravity."""
    transcripts, problems = find_chats(root, folders)
    steps, more = gemini_antigravity.find(root)
    return Found([*transcripts, *steps], [], [*problems, *more])


def probe(transcript: Transcript) -> str:
    """The folder a session begins in; '' where its first 256 kB do not tell."""
    if transcript.cwd:
        return transcript.cwd
    try:
        with buffered(transcript.path) as file:
            start = file.read(_PEEK)
    except OSError:
        return ""
    if gemini_antigravity.owns(transcript.path):
        return gemini_antigravity.began(start)
    return told(start, _store(transcript.path))


def read(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> WholeReading:
    """A reading of one session. Iterating it raises TranscriptError where its file cannot be read, UnfinishedError
    while it is being written."""
    load = gemini_antigravity.load if gemini_antigravity.owns(transcript.path) else _load
    return WholeReading(transcript, partial(load, brief=brief), resume)


def _store(path: Path) -> str:
    """The name of the project's folder in the store, around `chats/`."""
    return next((parent.parent.name for parent in path.parents if parent.name == "chats"), "")


def _load(transcript: Transcript, *, brief: bool) -> Loaded:
    path = transcript.path
    try:
        session = recorded(path)
    except OSError as error:
        raise unreadable(path, error) from error
    header = session.header
    native = plain(header.session_id)[:200] or transcript.session_id
    child = bool(transcript.parent) or header.kind == "subagent"
    cwd = transcript.cwd or told(session.text, _store(path))
    turns, injected = _turns(session, native, cwd, child=child, brief=brief)
    failures = [one for one in session.messages.values() if one.type == "error"]
    return Loaded(
        session=summed(
            transcript,
            turns,
            id=native,
            title=plain(header.summary),
            injected=injected,
            api_errors=sum("API Error" in words(one.content)[0][:200] for one in failures),
            tokens=spent(turns) if any(one.tokens for one in session.messages.values()) else None,
            times=(moment(header.start_time), moment(header.last_updated)),
        ),
        turns=turns,
        settled=settled(turns),
        problems=_problems(path, session.faults),
    )


def _problems(path: Path, faults: list[tuple[str, str]]) -> list[Problem]:
    problems = [Problem("bad-line", f"{path}{where}", message) for where, message in faults[:PROBLEMS]]
    if len(faults) > PROBLEMS:
        more = f"{len(faults) - PROBLEMS} more records of this session could not be read"
        problems.append(Problem("many", str(path), more))
    return problems


def _turns(session: Recorded, native: str, cwd: str, *, child: bool, brief: bool) -> tuple[list[Turn], int]:
    turns: list[Turn] = []
    injected = 0
    plans = Plans()
    for key, message in session.messages.items():
        # A key that begins with @ is a place in the file: the record has no id of its own.
        name = f"{native}\n{message.type}\n{message.timestamp}\n{key}" if key.startswith("@") else key
        if message.type == "gemini":
            turn = _answer(message, name, len(turns), plans, cwd, child=child, brief=brief)
            if turn is not None:
                turns.append(turn)
        elif message.type == "user":
            said = None if child else typed(message)
            if said is None:
                injected += not words(message.content)[1]
            else:
                turns.append(_prompt(message, said, name, len(turns), cwd))
    return turns, injected


def _prompt(message: Message, said: Typed, name: str, ordinal: int, cwd: str) -> Turn:
    return Turn(
        id=turn_id("gemini", name),
        ordinal=ordinal,
        role="user",
        kind=said.kind,
        text=said.text,
        time=moment(message.timestamp),
        cwd=cwd,
        tool_calls=(own_command(said.text, printed(message)),) if said.kind == "shell" else (),
    )


def _answer(
    message: Message, name: str, ordinal: int, plans: Plans, cwd: str, *, child: bool, brief: bool
) -> Turn | None:
    text = plain(cut(words(message.content)[0]))
    thoughts = [f"{plain(one.subject)}\n{plain(one.description)}".strip() for one in message.thoughts or ()]
    calls = tuple(called(one, plans, brief=brief) for one in message.tool_calls or ())
    if not (text or thoughts or calls or message.tokens):
        return None
    return Turn(
        id=turn_id("gemini", name),
        ordinal=ordinal,
        role="assistant",
        kind="reply",
        text=text,
        time=moment(message.timestamp),
        cwd=cwd,
        reasoning="" if brief else cut("\n\n".join(one for one in thoughts if one)),
        tool_calls=calls,
        model=plain(message.model)[:200],
        tokens=_tokens(message.tokens),
        sidechain=child,
    )


def _tokens(used: Usage | None) -> Tokens:
    """What was sent uncached, came back (thoughts too), was read from the cache. Each answer sends the whole context,
    and the part of it that was cached is in `input` too."""
    if used is None:
        return NO_TOKENS
    sent, cached = _count(used.input), _count(used.cached)
    return Tokens(
        input=max(0, sent - cached) + _count(used.tool),
        output=_count(used.output) + _count(used.thoughts),
        cache_read=min(sent, cached),
    )


def _count(number: int | None) -> int:
    return number if number and 0 < number < 1 << 48 else 0
