"""Builds the turns of an OpenCode session from its messages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from msgspec.structs import replace

from lerim.errors import Problem
from lerim.sessions.model import NO_TOKENS, Session, Tokens, ToolCall, Transcript, Turn, make_turn_id
from lerim.sessions.readers.engine import MEMORIES_TAG, LoadedSession, cut_blocks, text_outside_blocks, without_nul
from lerim.sessions.readers.opencode.forms import OpenCodePiece, StoredSession
from lerim.sessions.readers.opencode.records import OpenCodeMessage, OpenCodeTimes, Revert, opencode_time, token_count
from lerim.sessions.readers.opencode.tools import PLAN_FILE, mark_own_command

PROBLEMS = 100
"""Problems reported one by one; any further ones are only counted."""

_DEFAULT_TITLE = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT[\d:.]{1,20}Z?")
_BY_HAND = "The following tool was executed by the user"
_INIT = (
    "Please analyze this codebase and create an AGENTS.md file containing:",
    "Create or update `AGENTS.md` for this repository.\n\nThe goal is a compact instruction file",
)
"""The beginnings of the prompts that OpenCode stores in place of `/init`."""
_FOCUS = re.compile(r"User-provided focus or constraints \(honor these\):\n(.{0,20000}?)\n\n## How to", re.DOTALL)
_GOES_ON = ("tool-calls", "unknown")
_ABORTED = "MessageAbortedError"


@dataclass(slots=True)
class _Tally:
    injected: int = 0
    api_errors: int = 0
    tokens: Tokens | None = None
    cost: float = 0.0
    ended: datetime | None = None
    models: dict[str, None] = field(default_factory=dict)
    cwds: dict[str, None] = field(default_factory=dict)


def fold_session(transcript: Transcript, kept: StoredSession) -> LoadedSession:
    """Returns the session with its turns. Messages that the person reverted make no turns, but their cost counts."""
    info = kept.info
    child = bool(transcript.parent or info.parent_id)
    home = without_nul(info.directory) or without_nul(kept.worktree) or transcript.cwd
    tally, turns = _Tally(), list[Turn]()
    starts: list[int] = []
    by_hand: set[str] = set()
    plan = ""
    standing = _standing(kept, info.revert or Revert())
    answered = {without_nul(one.parent_id): _cwd(one, home) for one in reversed(kept.messages) if one.parent_id}
    for at, message in enumerate(kept.messages):
        starts.append(len(turns))
        origin = kept.origins.get(message.id or "")
        _spend(tally, message, copied=origin is not None)
        if at >= len(standing):
            continue
        native_id, pieces = message.id or "", standing[at]
        stable = make_turn_id("opencode", origin.id if origin else native_id)
        if message.role == "user":
            cwd = answered.get(native_id, home)
            words = _typed(pieces)
            if [one.text for one in pieces if one.type == "synthetic"] == [_BY_HAND]:
                by_hand.add(native_id)
            elif child or (origin and origin.child) or not words:
                tally.injected += bool(pieces)
            else:
                turns.append(_turn(message, stable, len(turns), cwd, words, child=False))
        elif message.role == "assistant":
            turn = _answer(message, stable, len(turns), _cwd(message, home), pieces, by_hand=by_hand, child=child)
            if turn is not None:
                turn, plan = _planned(turn, plan)
                turns.append(turn)
            tally.injected += bytes(message.summary) == b"true"
            tally.api_errors += bool(message.error and message.error.name and message.error.name != _ABORTED)
    for turn in turns:
        tally.cwds.setdefault(turn.cwd)
    return LoadedSession(_session(transcript, kept, tally, turns), turns, _settled(kept, turns, starts), _told(kept))


def _standing(kept: StoredSession, revert: Revert) -> list[list[OpenCodePiece]]:
    """Returns the pieces of every message up to the point where the person reverted the session."""
    found: list[list[OpenCodePiece]] = []
    for message in kept.messages:
        pieces = kept.pieces.get(message.id or "", [])
        if revert.message_id and message.id == revert.message_id:
            if not revert.part_id:
                break
            found.append([one for one in pieces if one.id < revert.part_id])
            break
        found.append(pieces)
    return found


def _typed(pieces: list[OpenCodePiece]) -> str:
    words = without_nul(text_outside_blocks("\n".join(one.text for one in pieces if one.type == "text"))).strip()
    files = [one.text for one in pieces if one.type == "file"]
    if words.startswith(_INIT):
        focus = _FOCUS.search(words)
        return f"/init {focus[1].strip() if focus else ''}".strip()
    return words or "".join(f"[{name}]" for name in files[:1])


def _cwd(message: OpenCodeMessage, home: str) -> str:
    return (without_nul(message.path.cwd) if message.path else "") or home


def _turn(message: OpenCodeMessage, stable: str, ordinal: int, cwd: str, words: str, *, child: bool) -> Turn:
    return Turn(
        id=stable,
        ordinal=ordinal,
        role="user",
        kind="prompt",
        text=words,
        time=opencode_time(message.time.created) if message.time else None,
        cwd=cwd,
        sidechain=child,
    )


def _answer(
    message: OpenCodeMessage,
    stable: str,
    ordinal: int,
    cwd: str,
    pieces: list[OpenCodePiece],
    *,
    by_hand: set[str],
    child: bool,
) -> Turn | None:
    """Returns the turn of an answer; None for the summary of a compaction and for an answer without content (yet)."""
    calls = tuple(one.call for one in pieces if one.call is not None)
    if calls and message.parent_id in by_hand:
        own = mark_own_command(calls[0])
        turn = _turn(message, stable, ordinal, cwd, own.command, child=child)
        return replace(turn, kind="shell", tool_calls=(own,))
    words = "\n\n".join(
        said for one in pieces if one.type == "text" and (said := cut_blocks(one.text, (MEMORIES_TAG,)).strip())
    )
    reasoning = "\n\n".join(said for one in pieces if one.type == "reasoning" and (said := one.text.strip()))
    if bytes(message.summary) == b"true" or not (words or reasoning or calls):
        return None
    return Turn(
        id=stable,
        ordinal=ordinal,
        role="assistant",
        kind="reply",
        text=words,
        time=opencode_time(message.time.created) if message.time else None,
        cwd=cwd,
        reasoning=reasoning,
        tool_calls=calls,
        model=without_nul(message.model_id)[:200],
        tokens=_tokens(message) or NO_TOKENS,
        sidechain=child,
    )


def _planned(turn: Turn, plan: str) -> tuple[Turn, str]:
    """Adds the plan to a call that puts it to the person. Returns the turn, and the plan as its file contains it after
    the turn."""
    calls: list[ToolCall] = []
    for call in turn.tool_calls:
        for edit in call.edits if call.status == "ok" else ():
            if PLAN_FILE.search(edit.path):
                plan = plan.replace(edit.old, edit.new, 1) if edit.old else edit.new
        calls.append(replace(call, plan=plan) if call.name == "plan_exit" else call)
    return (replace(turn, tool_calls=tuple(calls)) if plan else turn), plan


def _tokens(message: OpenCodeMessage) -> Tokens | None:
    spent = message.tokens
    if spent is None:
        return None
    cache = spent.cache
    return Tokens(
        token_count(spent.input),
        token_count(spent.output) + token_count(spent.reasoning),
        token_count(cache.read) if cache else 0,
        token_count(cache.write) if cache else 0,
    )


def _spend(tally: _Tally, message: OpenCodeMessage, *, copied: bool) -> None:
    """Counts the tokens, cost and time of a message. The parts that end a step repeat the tokens and cost, so they are
    not counted. The cost of a message that a fork copied counts only in the session it was copied from."""
    time = message.time or OpenCodeTimes()
    for when in (opencode_time(time.created), opencode_time(time.completed)):
        if when is not None and (tally.ended is None or when > tally.ended):
            tally.ended = when
    if message.role != "assistant":
        return
    spent = _tokens(message)
    if spent is not None:
        tally.tokens = (tally.tokens or NO_TOKENS) + spent
    if not copied and message.cost and 0 < message.cost < 1e9:
        tally.cost += message.cost
    if message.model_id:
        tally.models.setdefault(without_nul(message.model_id)[:200])


def _session(transcript: Transcript, kept: StoredSession, tally: _Tally, turns: list[Turn]) -> Session:
    info = kept.info
    time = info.time or OpenCodeTimes()
    calls: list[ToolCall] = [call for turn in turns if turn.kind == "reply" for call in turn.tool_calls]
    title = without_nul(info.title).strip()
    return Session(
        id=transcript.session_id,
        platform="opencode",
        path=transcript.path,
        title="" if _DEFAULT_TITLE.fullmatch(title) else title[:500],
        started=opencode_time(time.created),
        ended=tally.ended or opencode_time(time.updated),
        cwds=tuple(tally.cwds)
        or ((home,) if (home := without_nul(info.directory) or without_nul(kept.worktree)) else ()),
        models=tuple(tally.models),
        version=without_nul(info.version)[:200],
        turns=len(turns),
        prompts=sum(turn.kind == "prompt" for turn in turns),
        tool_calls=len(calls),
        tool_errors=sum(_failed(call) for call in calls),
        denials=sum(call.status == "denied" for call in calls),
        api_errors=tally.api_errors,
        injected=tally.injected,
        tokens=tally.tokens,
        parent=parent if (parent := transcript.parent or without_nul(info.parent_id)) != transcript.session_id else "",
        cost=tally.cost or None,
    )


def _failed(call: ToolCall) -> bool:
    """Returns whether a call counts as an error: it failed, or it was interrupted and is not a shell command."""
    return call.status == "error" or (call.status == "interrupted" and call.kind != "shell")


def _settled(kept: StoredSession, turns: list[Turn], starts: list[int]) -> int:
    """Returns how many turns are final: all once the last answer is complete, else those before the unfinished
    exchange."""
    messages = kept.messages
    answer = max((at for at, one in enumerate(messages) if one.role == "assistant"), default=-1)
    asked = max((at for at, one in enumerate(messages) if one.role == "user"), default=-1)
    begun = max((at for at, one in enumerate(messages[: answer + 1]) if one.role == "user"), default=0)
    open_calls = any(
        call.status == "pending" for turn in turns[starts[begun] :] for call in turn.tool_calls
    ) if starts else False  # fmt: skip
    if answer < 0 or not _complete(messages[answer]) or open_calls:
        return starts[begun if answer >= 0 else max(asked, 0)] if starts else 0
    return starts[asked] if asked > answer else len(turns)


def _complete(message: OpenCodeMessage) -> bool:
    ended = bool(message.time and message.time.completed)
    return bool(message.error) or (ended and message.finish not in _GOES_ON)


def _told(kept: StoredSession) -> list[Problem]:
    more = len(kept.problems) - PROBLEMS
    if more <= 0:
        return kept.problems
    where = kept.problems[0].path
    return [*kept.problems[:PROBLEMS], Problem("many", where, f"{more} more records of this session could not be read")]
