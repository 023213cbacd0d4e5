"""Reads a session that is parsed as a whole: the rows of a database, a file that is rewritten each time, a replayed
log.

A digest identifies the final turns that were already handed out, so that only new ones are returned.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import msgspec

from lerim.errors import Problem
from lerim.sessions.model import Session, Transcript, Turn

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class LoadedSession:
    """A session with all its turns; the first `settled` of them are final."""

    session: Session
    turns: list[Turn]
    settled: int
    problems: list[Problem] = field(default_factory=list)


class _Resume(msgspec.Struct):
    format: int
    settled: int
    digest: bytes


class WholeReading:
    """One pass over a session that `load` parses as a whole. Iterate it to the end; after that, `session`, `resume` and
    `problems` are valid.

    With `resume`, only the turns after the settled ones are yielded. If those have changed, `restarted` is True and all
    turns are yielded. `ids` are the ids of all turns the session has now. Raises TranscriptError, as `load` does.
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
        self._known = resume
        self._load = load

    def __iter__(self) -> Iterator[Turn]:
        loaded = self._load(self.transcript)
        start = self._start(loaded.turns)
        self.session = loaded.session
        self.problems = list(loaded.problems)
        self.ids = frozenset(turn.id for turn in loaded.turns)
        settled = loaded.turns[: loaded.settled]
        self.resume = msgspec.json.encode(_Resume(_FORMAT, len(settled), _digest(settled)))
        yield from loaded.turns[start:]

    def checkpoint(self) -> bool:
        """Always returns False, because a session that is read as a whole cannot be resumed in the middle."""
        return False

    def _start(self, turns: list[Turn]) -> int:
        if not self._known:
            return 0
        try:
            state = msgspec.json.decode(self._known, type=_Resume)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            self.restarted = True
            return 0
        before = turns[: state.settled]
        if state.format == _FORMAT and len(before) == state.settled and _digest(before) == state.digest:
            return state.settled
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
