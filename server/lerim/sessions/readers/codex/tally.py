"""The totals kept while a rollout is read, and the ids of its turns.

Few records have an id, and a fork copies its parent's lines with new times. So the id of a turn is derived from what
stays the same: the call's id, or the thread (or the task within it) with the text and how often it occurred there.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec
from msgspec.structs import astuple

from lerim.sessions.model import NO_TOKENS, Tokens
from lerim.sessions.readers.codex.records import CodexUsage
from lerim.sessions.readers.engine import TranscriptTally, short_hash, split_usage, usable_id

_TEXT_LIMIT = 256
_UNPAIRED_LIMIT = 8
_UNIQUE_ID_LENGTH = 32
_AT_ONCE = timedelta(seconds=0.5)
"""Maximum time between lines that were written at once; a model never answers that fast."""


class CodexTally(TranscriptTally, gc=False):
    """Totals of a rollout up to a point in it.

    `thread` is the id of the thread in which the following lines were first written, `task` that of the task within
    it. `text_counts` counts how often each text occurred in the task; `unpaired` lists the texts seen so far only in
    an event or only in an item. `is_inherited` means that the current lines were copied from a parent.
    `unassigned_tokens` are the tokens of a message that has not begun yet. `fallback_time` is the time the rollout
    began, set only if its lines have no time; such rollouts have no events. `is_forked` means that a parent's lines
    follow the first one, all written at once; `copied_until` is the time of the last of them.
    """

    own_thread: str = ""
    thread: str = ""
    task: str = ""
    created_ms: int = 0
    is_subagent: bool = False
    is_ignored: bool = False
    is_inherited: bool = False
    is_forked: bool = False
    copied_until: datetime | None = None
    prompt_events: int = 0
    text_counts: dict[str, int] = msgspec.field(default_factory=dict)
    unpaired: tuple[tuple[str, str], ...] = ()
    running_total: Tokens = NO_TOKENS
    has_usage: bool = False
    unassigned_tokens: Tokens = NO_TOKENS
    current_model: str = ""
    thread_name: str = ""
    fallback_time: datetime | None = None

    def note_time(self, time: datetime) -> None:
        """Notes the time of a record, which also shows whether it was copied from a parent."""
        super().note_time(time)
        if self.copied_until is not None:
            self.copied_until = max(time, self.copied_until) if time - self.copied_until <= _AT_ONCE else None

    @property
    def is_replayed(self) -> bool:
        """Whether the current lines are a parent's, judging by the ids of their tasks or else by their time."""
        return self.is_inherited or (self.is_forked and self.copied_until is not None)

    def begin_task(self, native_id: str | None) -> None:
        """Notes that the following lines belong to the task with this id."""
        task = usable_id(native_id)
        if 0 < len(task) < _UNIQUE_ID_LENGTH:  # a number that is not unique across threads
            task = f"{self.thread} {task}"
        if task and task != self.task:
            self.task = task
            self.text_counts = {}
            begun = _uuid_time_ms(task)
            self.is_inherited = bool(self.created_ms) and 0 < begun < self.created_ms
            if begun and self.created_ms and not self.is_inherited:
                self.copied_until = None

    def make_turn_key(self, role: str, text: str) -> str:
        """Returns a key for a turn without an id. It is the same in a fork, but differs each time the text occurs."""
        digest = short_hash(f"{role}\n{text}").hex()
        earlier = self.text_counts.get(digest, 0)
        counts = {key: count for key, count in self.text_counts.items() if key != digest}
        if len(counts) >= _TEXT_LIMIT:
            del counts[next(iter(counts))]
        self.text_counts = {**counts, digest: earlier + 1}
        return f"{role}\n{self.task or self.thread}\n{earlier}\n{text}"

    def take_counterpart(self, source: str, text: str) -> bool:
        """Returns whether the counterpart (the item of an event, or the event of an item) already contained this text,
        ignoring white space."""
        digest = short_hash("".join(text.split())).hex()
        counterpart = ("item" if source == "event" else "event", digest)
        if counterpart in self.unpaired:
            index = self.unpaired.index(counterpart)
            self.unpaired = self.unpaired[:index] + self.unpaired[index + 1 :]
            return True
        self.unpaired = (*self.unpaired[1 - _UNPAIRED_LIMIT :], (source, digest))
        return False

    def count_usage(self, usage: CodexUsage, last: CodexUsage | None) -> Tokens:
        """Counts the tokens used since the last running total and returns them. `last` is the usage of one answer,
        needed because a fork's first total includes all that its parent used."""
        now = _convert_usage(usage)
        before = self.running_total if sum(astuple(now)) >= sum(astuple(self.running_total)) else NO_TOKENS
        if not self.has_usage and (self.is_forked or self.created_ms) and last is not None and not self.is_replayed:
            used = _convert_usage(last)
        else:
            used = now - before
        self.running_total = now
        self.has_usage = True
        if not self.is_replayed:
            self.tokens = self.tokens + used
        return used


def _convert_usage(usage: CodexUsage) -> Tokens:
    return split_usage(
        usage.input_tokens, usage.output_tokens, usage.cached_input_tokens, usage.cache_write_input_tokens
    )


def _uuid_time_ms(native_id: str) -> int:
    """Returns when a version 7 UUID was created, in milliseconds; 0 for any other id."""
    digits = native_id.replace("-", "")
    if len(digits) != 32 or digits[12] != "7":
        return 0
    try:
        return int(digits[:12], 16)
    except ValueError:
        return 0
