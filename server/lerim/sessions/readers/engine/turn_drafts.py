"""Assembles turns from records: the blocks of one API message and the tool results that follow later in the file.

A turn is *final* once nothing that follows can change it, or once it has waited long enough. Turns are handed out in
the order in which they began, so a waiting turn delays those behind it; the limits below keep that delay short.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from datetime import datetime

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import OWN_COMMAND, Role, Tokens, ToolCall, Turn, TurnKind
from lerim.sessions.readers.engine.tally import NO_TOKEN_COUNTS, TokenCounts, TranscriptTally

LAG = 2
"""Turns that must have begun after a message before it is considered complete: old versions interleave two messages."""

PATIENCE = 50
"""Turns after which a tool call without a result is given up, once the person has typed again."""

REACH = 16 * 1024 * 1024
"""Bytes after which a turn is closed even if it still waits for something; this limits the memory of a reading."""


class TurnDraft(msgspec.Struct, eq=False, gc=False):
    """A turn that is still being assembled. `first` and `last` are the offsets of the first and last line that belong
    to it; `before` is the tally before the first line."""

    id: str
    ordinal: int
    role: Role
    kind: TurnKind
    first: int
    last: int
    before: TranscriptTally
    time: datetime | None
    cwd: str
    branch: str
    sidechain: bool
    key: str = ""
    unattended: bool = False
    texts: list[str] = msgspec.field(default_factory=list)
    reasoning: list[str] = msgspec.field(default_factory=list)
    calls: list[ToolCall] = msgspec.field(default_factory=list)
    waiting: int = 0
    model: str = ""
    tokens: TokenCounts = NO_TOKEN_COUNTS

    def turn(self) -> Turn:
        """Returns the turn as far as it is known."""
        return Turn(
            id=self.id,
            ordinal=self.ordinal,
            role=self.role,
            kind=self.kind,
            text="\n\n".join(self.texts),
            time=self.time,
            cwd=self.cwd,
            branch=self.branch,
            reasoning="\n\n".join(self.reasoning),
            tool_calls=tuple(self.calls),
            model=self.model,
            tokens=Tokens(*self.tokens),
            sidechain=self.sidechain,
            unattended=self.unattended,
        )


class TurnDrafts:
    """The turns that are not final yet."""

    def __init__(self) -> None:
        self._queue: deque[TurnDraft] = deque()
        self._messages: dict[str, TurnDraft] = {}
        self._calls: dict[str, list[tuple[TurnDraft, int]]] = {}
        self._emitted: list[tuple[int, int, TranscriptTally]] = []
        self._prompt = -1

    def begin(self, draft: TurnDraft) -> TurnDraft:
        """Adds a turn that begins."""
        self._queue.append(draft)
        if draft.role == "user":
            self._prompt = draft.ordinal
        if draft.key:
            self._messages[draft.key] = draft
        return draft

    def of(self, key: str) -> TurnDraft | None:
        """Returns the unfinished turn of an API message."""
        return self._messages.get(key)

    def call(self, draft: TurnDraft, one: ToolCall) -> None:
        """Adds a tool call to a turn."""
        draft.calls.append(one)
        draft.waiting += 1
        self._calls.setdefault(one.id, []).append((draft, len(draft.calls) - 1))

    def interrupt(self, offset: int) -> None:
        """Marks tool calls without a result as interrupted, because the person stopped the agent."""
        for draft in self._queue:
            if draft.waiting:
                draft.calls = [
                    replace(one, status="interrupted") if one.status == "pending" else one for one in draft.calls
                ]
                draft.waiting = 0
                draft.last = offset

    def due(self, turns: int, offset: int) -> bool:
        """Checks whether `ready` has any turn to hand out."""
        queue = self._queue
        return bool(queue) and self._final(queue[0], turns, offset)

    def ready(self, turns: int, offset: int) -> Iterator[Turn]:
        """Yields the turns that have become final, given how many turns have begun and how far the file was read."""
        while self._queue and self._final(self._queue[0], turns, offset):
            draft = self._queue.popleft()
            self._forget(draft)
            self._emitted.append((draft.first, draft.last, draft.before))
            yield draft.turn()
        if len(self._emitted) > 8:
            start, _ = self.start(offset, draft.before if not self._queue else self._queue[0].before)
            self._emitted = [one for one in self._emitted if one[1] >= start]

    def _final(self, draft: TurnDraft, turns: int, offset: int) -> bool:
        if offset - draft.first > REACH:
            return True
        later = turns - draft.ordinal - 1
        if draft.role == "user":
            return draft.waiting == 0 or later > 0
        return later >= LAG and (draft.waiting == 0 or (later >= PATIENCE and self._prompt > draft.ordinal))

    def _forget(self, draft: TurnDraft) -> None:
        if draft.key:
            self._messages.pop(draft.key, None)
        for one in draft.calls:
            held = self._calls.pop(one.id, ())
            if len(held) > 1 and (others := [entry for entry in held if entry[0] is not draft]):
                self._calls[one.id] = others

    def rest(self) -> Iterator[Turn]:
        """Yields the turns that are not final, as far as they are known."""
        for draft in self._queue:
            yield draft.turn()

    def start(self, offset: int, tally: TranscriptTally) -> tuple[int, TranscriptTally]:
        """Returns the offset where the next reading must begin, and the tally there; `offset` and `tally` if no turn is
        open.

        A final turn with a line at or after that offset is read again too, so that no reading ever sees part of a turn.
        """
        if self._queue:
            offset, tally = self._queue[0].first, self._queue[0].before
        for first, last, before in reversed(self._emitted):
            if last >= offset and first < offset:
                offset, tally = first, before
        return offset, tally


def make_own_command(text: str) -> ToolCall:
    """Creates the tool call for a person's own `!command`; a later record contains its output."""
    return ToolCall(id="", name=OWN_COMMAND, kind="shell", command=text)
