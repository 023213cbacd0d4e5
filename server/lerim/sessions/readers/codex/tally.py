"""What is counted while a rollout is read, and what the ids of its turns are made of.

Few records have ids of their own, and a fork writes its parent's lines again with new times. So the id of a turn is
made of what stays: the call's id, or the thread (of the task within it) with the text and how often it was said there.
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
"""Lines of one write follow each other within this; no answer of a model does."""


class CodexTally(TranscriptTally, gc=False):
    """Totals of a rollout up to a point in it.

    `thread` is the id of the thread in which what follows was said first, `task` of the task within. `said` counts what
    was said in it, `unpaired` what only one of an event and its item has told so far. `inherited`: what stands here was
    copied from a parent. `owed` are the tokens of a message that has not begun yet. `bare`:
    lines have no time of their own, this is when all began; and there are no events. `forked`: a parent's lines follow
    the first one; they were written with it, `copied` is when the last of them was.
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
        """Notes the working folder of what follows."""
        if cwd and cwd != self.cwd:
            self.cwd = without_nul(cwd)[:4096]
            self.cwds = append_name(self.cwds, self.cwd)

    def at(self, time: datetime) -> None:
        """Notes when something was written."""
        if self.ended is None or time > self.ended:
            self.ended = time
        if self.started is None or time < self.started:
            self.started = time
        if self.copied is not None:
            self.copied = max(time, self.copied) if time - self.copied <= _AT_ONCE else None

    @property
    def replayed(self) -> bool:
        """Whether what stands here is a parent's, as the ids of its tasks tell, or, where they do not, the time."""
        return self.inherited or (self.forked and self.copied is not None)

    def begin_task(self, native: str | None) -> None:
        """What follows belongs to the task of this id."""
        task = usable_id(native)
        if 0 < len(task) < _WHOLE:  # a number, which every thread has
            task = f"{self.thread} {task}"
        if task and task != self.task:
            self.task = task
            self.said = {}
            begun = _born(task)
            self.inherited = bool(self.born) and 0 < begun < self.born
            if begun and self.born and not self.inherited:
                self.copied = None

    def native(self, role: str, text: str) -> str:
        """What stands for a turn without an id of its own: the same in a fork, another each time it is said."""
        one = blake2b(f"{role}\n{text}".encode("utf-8", "replace"), digest_size=8).hexdigest()
        times = self.said.get(one, 0)
        said = {key: count for key, count in self.said.items() if key != one}
        if len(said) >= _REMEMBERED:
            del said[next(iter(said))]
        self.said = {**said, one: times + 1}
        return f"{role}\n{self.task or self.thread}\n{times}\n{text}"

    def paired(self, source: str, text: str) -> bool:
        """Whether the other of event and item has told this text already, white space apart."""
        one = blake2b("".join(text.split()).encode("utf-8", "replace"), digest_size=8).hexdigest()
        other = ("item" if source == "event" else "event", one)
        if other in self.unpaired:
            at = self.unpaired.index(other)
            self.unpaired = self.unpaired[:at] + self.unpaired[at + 1 :]
            return True
        self.unpaired = (*self.unpaired[1 - _PAIRS :], (source, one))
        return False

    def use(self, usage: CodexUsage, last: CodexUsage | None) -> TokenCounts:
        """Counts what was used since the running total was told last; returns it. `last` is what one answer used: a
        fork's first total holds all that its parent had used."""
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
        """The session these totals are of."""
        parent = transcript.parent or self.parent
        session = self.session(
            transcript.session_id, transcript.path, "" if parent == transcript.session_id else parent
        )
        tokens = session.tokens if self.counted else None
        return replace(session, platform="codex", title=title or self.thread_name or self.first_prompt, tokens=tokens)


def _counted(usage: CodexUsage) -> TokenCounts:
    cached, written = _count(usage.cached_input_tokens), _count(usage.cache_write_input_tokens)
    return max(0, _count(usage.input_tokens) - cached - written), _count(usage.output_tokens), cached, written


def _count(number: int | None) -> int:
    return number if number and 0 < number < _MOST else 0


def _born(native: str) -> int:
    """When an id of version 7 was made, in milliseconds; 0 for any other."""
    digits = native.replace("-", "")
    if len(digits) != 32 or digits[12] != "7":
        return 0
    try:
        return int(digits[:12], 16)
    except ValueError:
        return 0
