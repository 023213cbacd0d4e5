"""The totals kept while a rollout is read, and the ids of its turns.

Few records have an id, and a fork copies its parent's lines with new times. So the id of a turn is derived from what
stays the same: the call's id, or the thread (or the task within it) with the text and how often it occurred there.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import blake2b

import msgspec

from lerim.sessions.model import Session, Transcript
from lerim.sessions.readers.codex.records import CodexUsage
from lerim.sessions.readers.engine import (
    NO_TOKEN_COUNTS,
    TokenCounts,
    TranscriptTally,
    append_name,
    usable_id,
    without_nul,
)

_REMEMBERED = 256
_PAIRS = 8
_MOST = 1 << 48
_WHOLE = 32
_AT_ONCE = timedelta(seconds=0.5)
"""Maximum time between lines that were written at once; a model never answers that fast."""


class CodexTally(TranscriptTally, gc=False):
    """Totals of a rollout up to a point in it.

    `thread` is the id of the thread in which the following lines were first written, `task` of the task within it.
    `said` counts how often each text occurred in the task; `unpaired` lists the texts seen so far in only one of event
    and item. `inherited` means that the current lines were copied from a parent. `owed` are the tokens of a message
    that has not begun yet. `bare` is the time the rollout began, set only if its lines have no time; such rollouts have
    no events. `forked` means that a parent's lines follow the first one, all written at once; `copied` is the time of
    the last of them.
    """

    own: str = ""
    thread: str = ""
    task: str = ""
    born: int = 0
    child: bool = False
    mute: bool = False
    inherited: bool = False
    forked: bool = False
    copied: datetime | None = None
    events: int = 0
    said: dict[str, int] = msgspec.field(default_factory=dict)
    unpaired: tuple[tuple[str, str], ...] = ()
    total: TokenCounts = NO_TOKEN_COUNTS
    counted: bool = False
    owed: TokenCounts = NO_TOKEN_COUNTS
    engine: str = ""
    thread_name: str = ""
    bare: datetime | None = None

    def be(self, cwd: str | None) -> None:
        """Sets the working folder of the following lines."""
        if cwd and cwd != self.cwd:
            self.cwd = without_nul(cwd)[:4096]
            self.cwds = append_name(self.cwds, self.cwd)

    def at(self, time: datetime) -> None:
        """Notes the time of a record."""
        if self.ended is None or time > self.ended:
            self.ended = time
        if self.started is None or time < self.started:
            self.started = time
        if self.copied is not None:
            self.copied = max(time, self.copied) if time - self.copied <= _AT_ONCE else None

    @property
    def replayed(self) -> bool:
        """Whether the current lines are a parent's, judging by the ids of their tasks or else by their time."""
        return self.inherited or (self.forked and self.copied is not None)

    def begin_task(self, native_id: str | None) -> None:
        """Notes that the following lines belong to the task with this id."""
        task = usable_id(native_id)
        if 0 < len(task) < _WHOLE:  # a number that is not unique across threads
            task = f"{self.thread} {task}"
        if task and task != self.task:
            self.task = task
            self.said = {}
            begun = _born(task)
            self.inherited = bool(self.born) and 0 < begun < self.born
            if begun and self.born and not self.inherited:
                self.copied = None

    def native_id(self, role: str, text: str) -> str:
        """Returns a key for a turn without an id. It is the same in a fork, but differs each time the text occurs."""
        one = blake2b(f"{role}\n{text}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        times = self.said.get(one, 0)
        said = {key: count for key, count in self.said.items() if key != one}
        if len(said) >= _REMEMBERED:
            del said[next(iter(said))]
        self.said = {**said, one: times + 1}
        return f"{role}\n{self.task or self.thread}\n{times}\n{text}"

    def paired(self, source: str, text: str) -> bool:
        """Returns whether the counterpart (the item of an event, or the event of an item) already contained this text,
        ignoring white space."""
        one = blake2b("".join(text.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()
        other = ("item" if source == "event" else "event", one)
        if other in self.unpaired:
            at = self.unpaired.index(other)
            self.unpaired = self.unpaired[:at] + self.unpaired[at + 1 :]
            return True
        self.unpaired = (*self.unpaired[1 - _PAIRS :], (source, one))
        return False

    def use(self, usage: CodexUsage, last: CodexUsage | None) -> TokenCounts:
        """Counts the tokens used since the last running total and returns them. `last` is the usage of one answer,
        needed because a fork's first total includes all that its parent used."""
        now = _counted(usage)
        before = self.total if sum(now) >= sum(self.total) else NO_TOKEN_COUNTS
        if not self.counted and (self.forked or self.born) and last is not None and not self.replayed:
            more = _counted(last)
        else:
            more = (now[0] - before[0], now[1] - before[1], now[2] - before[2], now[3] - before[3])
        self.total = now
        self.counted = True
        if not self.replayed:
            held = self.tokens
            self.tokens = (held[0] + more[0], held[1] + more[1], held[2] + more[2], held[3] + more[3])
        return more

    def thread_session(self, transcript: Transcript, title: str) -> Session:
        """Builds the session from these totals."""
        parent = transcript.parent or self.parent
        session = self.build_session(
            transcript.session_id, transcript.path, "" if parent == transcript.session_id else parent
        )
        tokens = session.tokens if self.counted else None
        return replace(session, platform="codex", title=title or self.thread_name or self.first_prompt, tokens=tokens)


def _counted(usage: CodexUsage) -> TokenCounts:
    cached, written = _count(usage.cached_input_tokens), _count(usage.cache_write_input_tokens)
    return max(0, _count(usage.input_tokens) - cached - written), _count(usage.output_tokens), cached, written


def _count(number: int | None) -> int:
    return number if number and 0 < number < _MOST else 0


def _born(native_id: str) -> int:
    """Returns when a version 7 UUID was created, in milliseconds; 0 for any other id."""
    digits = native_id.replace("-", "")
    if len(digits) != 32 or digits[12] != "7":
        return 0
    try:
        return int(digits[:12], 16)
    except ValueError:
        return 0
