"""Assembles turns from records: the blocks of one API message and the tool results that follow later in the file.

A turn is *final* once nothing that follows can change it, or once it has waited long enough. Turns are handed out in
the order in which they began, so a waiting turn delays those behind it; the limits below keep that delay short.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import NO_TOKENS, OWN_COMMAND, Role, Tokens, ToolCall, ToolStatus, Turn, TurnKind
from lerim.sessions.readers.engine.tally import TranscriptTally
from lerim.sessions.readers.engine.tool_calls import close_call

MESSAGE_LAG = 2
"""How many turns must have begun after a message before it is considered complete, because old versions interleave
two messages."""

RESULT_PATIENCE = 50
"""The number of turns after which a tool call without a result is given up, once the person has typed again."""

_PROCESS_LIMIT = 64

OPEN_TURN_BYTES = 16 * 1024 * 1024
"""The number of bytes after which a turn is closed even if it still waits for something; this limits the memory of a
reading."""


class TurnDraft(msgspec.Struct, eq=False, gc=False):
    """A turn that is still being assembled. `first_offset` and `last_offset` are the offsets of the first and last line
    that belong to it; `tally_before` is the tally before the first line."""

    id: str
    ordinal: int
    role: Role
    kind: TurnKind
    first_offset: int
    last_offset: int
    tally_before: TranscriptTally
    time: datetime | None
    cwd: str
    branch: str
    sidechain: bool
    message_key: str = ""
    unattended: bool = False
    texts: list[str] = msgspec.field(default_factory=list)
    reasoning: list[str] = msgspec.field(default_factory=list)
    calls: list[ToolCall] = msgspec.field(default_factory=list)
    pending_calls: int = 0
    model: str = ""
    tokens: Tokens = NO_TOKENS

    def build_turn(self) -> Turn:
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
            tokens=self.tokens,
            sidechain=self.sidechain,
            unattended=self.unattended,
        )


class TurnDrafts:
    """The turns that are not final yet, with access to their tool calls by id."""

    def __init__(self) -> None:
        self._queue: deque[TurnDraft] = deque()
        self._by_message: dict[str, TurnDraft] = {}
        self._calls_by_id: dict[str, list[tuple[TurnDraft, int]]] = {}
        self._emitted: list[tuple[int, int, TranscriptTally]] = []
        self._last_prompt = -1

    def add_draft(self, draft: TurnDraft) -> TurnDraft:
        self._queue.append(draft)
        if draft.role == "user":
            self._last_prompt = draft.ordinal
        if draft.message_key:
            self._by_message[draft.message_key] = draft
        return draft

    def find_draft(self, key: str) -> TurnDraft | None:
        return self._by_message.get(key)

    def add_call(self, draft: TurnDraft, call: ToolCall) -> None:
        draft.calls.append(call)
        draft.pending_calls += call.status == "pending"
        self._calls_by_id.setdefault(call.id, []).append((draft, len(draft.calls) - 1))

    def interrupt_calls(self, offset: int) -> None:
        """Marks tool calls without a result as interrupted, because the person stopped the agent."""
        for draft in self._queue:
            if draft.pending_calls:
                draft.calls = [
                    replace(call, status="interrupted") if call.status == "pending" else call for call in draft.calls
                ]
                draft.pending_calls = 0
                draft.last_offset = offset

    def has_final_turns(self, turns: int, offset: int) -> bool:
        """Checks whether `take_final_turns` has any turn to hand out."""
        return bool(self._queue) and self._is_final(self._queue[0], turns, offset)

    def take_final_turns(self, turns: int, offset: int) -> Iterator[Turn]:
        """Yields the turns that have become final, given how many turns have begun and how far the file was read."""
        while self.has_final_turns(turns, offset):
            draft = self._queue.popleft()
            self._unregister(draft)
            self._emitted.append((draft.first_offset, draft.last_offset, draft.tally_before))
            yield draft.build_turn()
        if len(self._emitted) > 8:
            start, _ = self.find_resume_point(offset, draft.tally_before)
            self._emitted = [one for one in self._emitted if one[1] >= start]

    def _is_final(self, draft: TurnDraft, turns: int, offset: int) -> bool:
        if offset - draft.first_offset > OPEN_TURN_BYTES:
            return True
        later = turns - draft.ordinal - 1
        if draft.role == "user":
            return draft.pending_calls == 0 or later > 0
        return later >= MESSAGE_LAG and (
            draft.pending_calls == 0 or (later >= RESULT_PATIENCE and self._last_prompt > draft.ordinal)
        )

    def _unregister(self, draft: TurnDraft) -> None:
        if draft.message_key:
            self._by_message.pop(draft.message_key, None)
        for call in draft.calls:
            entries = self._calls_by_id.pop(call.id, ())
            if len(entries) > 1 and (others := [entry for entry in entries if entry[0] is not draft]):
                self._calls_by_id[call.id] = others

    def take_unfinished_turns(self) -> Iterator[Turn]:
        """Yields the turns that are not final, as far as they are known."""
        return (draft.build_turn() for draft in self._queue)

    def find_resume_point(self, offset: int, tally: TranscriptTally) -> tuple[int, TranscriptTally]:
        """Returns the offset where the next reading must begin, and the tally there; `offset` and `tally` if no turn is
        open.

        A final turn with a line at or after that offset is read again too, so that no reading ever sees part of a turn.
        """
        if self._queue:
            offset, tally = self._queue[0].first_offset, self._queue[0].tally_before
        for first, last, before in reversed(self._emitted):
            if last >= offset and first < offset:
                offset, tally = first, before
        return offset, tally

    def find_call(self, call_id: str, offset: int) -> ToolCall | None:
        """Returns the tool call with this id, or None if its turn is final at `offset` or unknown."""
        entry = self._find_entry(call_id, offset)
        return entry[0].calls[entry[1]] if entry else None

    def update_call(self, call_id: str, offset: int, update: Callable[[ToolCall], ToolCall]) -> ToolCall | None:
        """Replaces a tool call with the one that `update` returns for it. Returns None if its turn is final or
        unknown."""
        entry = self._find_entry(call_id, offset)
        if entry is None:
            return None
        draft, index = entry
        before = draft.calls[index]
        after = update(before)
        draft.calls[index] = after
        draft.pending_calls += (after.status == "pending") - (before.status == "pending")
        draft.last_offset = offset
        return after

    def _find_entry(self, call_id: str, offset: int) -> tuple[TurnDraft, int] | None:
        """Finds the draft and the index of a tool call; if several share an id, the first one without a result.

        A final turn that waits behind another one counts as already handed out, because a reading that resumes with it
        would hand it out at once.
        """
        entries = self._calls_by_id.get(call_id)
        if entries is None:
            return None
        turns = self._queue[-1].ordinal + 1 if self._queue else 0
        if len(entries) == 1:
            return None if self._is_final(entries[0][0], turns, offset) else entries[0]
        open_entries = [one for one in entries if not self._is_final(one[0], turns, offset)]
        if not open_entries:
            return None
        return next((one for one in open_entries if one[0].calls[one[1]].status == "pending"), open_entries[-1])


def make_own_command(text: str) -> ToolCall:
    """Creates the tool call for a person's own `!command`; a later record contains its output."""
    return ToolCall(id="", name=OWN_COMMAND, kind="shell", command=text)


class RunningProcesses:
    """The tool calls in `drafts` that returned while their process was still running; a later call reports how it
    ended."""

    def __init__(self, drafts: TurnDrafts, *, brief: bool) -> None:
        self._drafts = drafts
        self._brief = brief
        self._call_ids: dict[str, str] = {}

    def add(self, process: str, call_id: str) -> None:
        """Notes that the tool call with this id left a process running."""
        self._call_ids[process] = call_id
        if len(self._call_ids) > _PROCESS_LIMIT:
            del self._call_ids[next(iter(self._call_ids))]

    def finish(self, process: str, status: ToolStatus, code: int | None, text: str, offset: int) -> bool:
        """Adds the end of a process, and what it has printed since, to the call that started it. Returns False if that
        call is no longer known."""
        call_id = self._call_ids.pop(process, "")

        def finish_call(call: ToolCall) -> ToolCall:
            closed = close_call(call, status, f"{call.output}{text}", code, brief=self._brief)
            return replace(closed, output_cut=closed.output_cut + (call.output_cut if closed.output else 0))

        return self._drafts.update_call(call_id, offset, finish_call) is not None

    def settle_all(self, offset: int) -> None:
        """Marks the calls of processes that are still running as ok, because no result is expected any more."""
        for call_id in self._call_ids.values():
            call = self._drafts.find_call(call_id, offset)
            if call is not None and call.status == "pending":
                self._drafts.update_call(call_id, offset, lambda one: replace(one, status="ok"))
