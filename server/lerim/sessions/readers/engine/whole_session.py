"""Reads a session that is parsed as a whole: the rows of a database, a file that is rewritten each time, a replayed
log.

A digest identifies the final turns that were already handed out, so that only new ones are returned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from lerim.errors import Problem
from lerim.files import open_buffered
from lerim.sessions.model import NO_TOKENS, OmittedProblems, Session, Tokens, Transcript, Turn
from lerim.sessions.readers.engine.fields import choose_session_title, make_session_title
from lerim.sessions.readers.engine.lenient_json import decode_leniently, parse_json_or_none, parse_object
from lerim.sessions.readers.engine.line_reading import PROBLEM_LIMIT, LineReading
from lerim.sessions.readers.engine.line_stream import LINE_LIMIT, TOO_LONG, LineStream, report_cut, report_line
from lerim.sessions.readers.engine.session_files import read_session_file
from lerim.sessions.readers.engine.tally import NAME_LIMIT

_FORMAT = 1

StoredObject = TypeVar("StoredObject", bound=msgspec.Struct)
Record = TypeVar("Record")


@dataclass(frozen=True, slots=True)
class LoadedSession:
    """A session with all its turns."""

    session: Session
    turns: list[Turn]
    problems: list[Problem] = field(default_factory=list)


class _Resume(msgspec.Struct):
    format: int
    final_turns: int
    digest: bytes


class WholeReading:
    """One pass over a session that `load` parses as a whole. Iterate it to the end; after that, `session`, `resume` and
    `problems` are valid.

    With `resume`, only the turns after the final ones are yielded. If those have changed, `restarted` is True and all
    turns are yielded. `ids` are the ids of all turns the session has now. Raises TranscriptError as `load` does, and if
    `load` raises OSError.
    """

    def __init__(
        self, transcript: Transcript, load: Callable[[Transcript], LoadedSession], resume: bytes | None = None
    ) -> None:
        self.transcript = transcript
        self.restarted = False
        self.problems: list[Problem] = []
        self.resume = resume or b""
        self.ids: frozenset[str] | None = None
        self.session = Session(transcript.session_id, transcript.platform, transcript.path, parent=transcript.parent)
        self._known_resume = resume
        self._load = load

    def __iter__(self) -> Iterator[Turn]:
        loaded = self._load(self.transcript)
        start = self._find_start(loaded.turns)
        self.session = loaded.session
        self.problems = _limit_problems(loaded.problems, self.transcript.path)
        self.ids = frozenset(turn.id for turn in loaded.turns)
        final_turns = loaded.turns[: _count_final_turns(loaded.turns)]
        self.resume = msgspec.json.encode(_Resume(_FORMAT, len(final_turns), _digest(final_turns)))
        yield from loaded.turns[start:]

    def checkpoint(self) -> bool:
        """Always returns False, because a session that is read as a whole cannot be resumed in the middle."""
        return False

    def _find_start(self, turns: list[Turn]) -> int:
        if not self._known_resume:
            return 0
        with suppress(msgspec.MsgspecError, ValueError, RecursionError):
            state = msgspec.json.decode(self._known_resume, type=_Resume)
            before = turns[: state.final_turns]
            if state.format == _FORMAT and len(before) == state.final_turns and _digest(before) == state.digest:
                return state.final_turns
        self.restarted = True
        return 0


def _digest(turns: list[Turn]) -> bytes:
    """Returns a 16-byte digest of the turns. It leaves out how much of a call's output was kept, because that differs
    in a brief reading."""
    digest = hashlib.blake2b(digest_size=16)
    for turn in turns:
        calls = [(call.id, call.name, call.status, call.command) for call in turn.tool_calls]
        digest.update(repr((turn.id, turn.ordinal, turn.text, calls)).encode("utf-8", "surrogatepass"))
    return digest.digest()


def load_single_object(
    transcript: Transcript,
    shape: type[StoredObject],
    list_records: Callable[[StoredObject], Iterable[Record]],
    reading: LineReading[Record, Any],
) -> LoadedSession:
    """Loads a session stored as one JSON object, as the first versions of Codex and Copilot CLI do. `reading` reads the
    records from `list_records` as if each were a line. Raises OSError."""
    data = read_session_file(transcript.path)
    stored = decode_leniently(data, shape)
    turns = reading.fold(list_records(stored))
    if stored == shape() and parse_json_or_none(data) is None:
        reading.problems.append(
            Problem("bad-line", str(transcript.path), "This transcript could not be read: it is not complete JSON")
        )
    return LoadedSession(reading.session, turns, problems=reading.problems)


def read_log_lines(path: Path, problems: list[Problem], limit: int = LINE_LIMIT) -> Iterator[tuple[int, bytes, bool]]:
    """Yields the lines of a log that is read as a whole, without blank ones: where each begins, its bytes, and whether
    it is complete. Adds a problem for a line longer than `limit`, and if the log is not read to its end. Raises
    OSError."""
    with open_buffered(path) as file:
        lines = LineStream(file, 0, limit)
        for start, _, data, is_complete in lines:
            if data is None:
                report_line(path, start, TOO_LONG, problems)
            elif data.strip():
                yield start, data, is_complete
    if lines.stop_reason:
        report_cut(path, lines.stop_reason, problems)


def read_log_records(path: Path, shape: type[StoredObject], problems: list[Problem]) -> Iterator[StoredObject]:
    """Yields the lines of a log, each decoded as `shape`. Adds a problem for each one that cannot be read, unless it is
    still being written. Raises OSError."""
    for start, data, is_complete in read_log_lines(path, problems):
        try:
            yield parse_object(data, shape)
        except ValueError as error:
            if is_complete:
                report_line(path, start, error, problems)


def sum_session(
    transcript: Transcript,
    turns: Sequence[Turn],
    *,
    id: str = "",
    title: str | None = "",
    parent: str = "",
    tokens: Tokens | None = None,
    times: Iterable[datetime | None] = (),
    branches: tuple[str, ...] = (),
) -> Session:
    """Builds the session that these turns belong to. `times` are timestamps recorded outside its turns. The title
    falls back to the first prompt; None leaves it empty, without the cost of redacting that prompt."""
    calls = [call for turn in turns if turn.role == "assistant" for call in turn.tool_calls]
    timestamps = [one for one in (*times, *(turn.time for turn in turns)) if one is not None]
    return Session(
        id=id or transcript.session_id,
        platform=transcript.platform,
        path=transcript.path,
        title="" if title is None else make_session_title(title) or _title_from_prompts(turns),
        started=min(timestamps, default=None),
        ended=max(timestamps, default=None),
        cwds=_distinct_names(turn.cwd for turn in turns) or ((transcript.cwd,) if transcript.cwd else ()),
        branches=branches,
        models=_distinct_names(turn.model for turn in turns),
        turns=len(turns),
        prompts=sum(turn.kind == "prompt" for turn in turns),
        tool_calls=len(calls),
        tool_errors=sum(call.status == "error" for call in calls),
        denials=sum(call.status == "denied" for call in calls),
        tokens=tokens,
        parent=parent or transcript.parent,
    )


def _title_from_prompts(turns: Iterable[Turn]) -> str:
    title = ""
    for turn in turns:
        if turn.kind == "prompt":
            title = choose_session_title(title, turn.text)
    return title


def sum_tokens(turns: Iterable[Turn]) -> Tokens:
    """Returns the sum of the tokens of all turns."""
    return sum((turn.tokens for turn in turns), start=NO_TOKENS)


def _count_final_turns(turns: Sequence[Turn]) -> int:
    """Returns how many turns come before the last exchange, which begins with the last turn of the person that has
    an answer. A prompt after it may wait behind an answer that is still being written."""
    pairs = range(len(turns) - 1, 0, -1)
    return next((at - 1 for at in pairs if turns[at - 1].role == "user" and turns[at].role != "user"), 0)


def _limit_problems(problems: list[Problem], path: Path) -> list[Problem]:
    """Returns the first problems of a session one by one, and one problem that says how many others there are."""
    if (omitted := len(problems) - PROBLEM_LIMIT) <= 0:
        return problems
    more = OmittedProblems("many", str(path), f"{omitted} more parts of this session could not be read", omitted)
    return [*problems[:PROBLEM_LIMIT], more]


def _distinct_names(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text))[:NAME_LIMIT]
