"""Turns that are not final yet, and updates to their tool calls from later records."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from lerim.sessions.model import ToolCall
from lerim.sessions.readers.engine.turn_drafts import TurnDraft, TurnDrafts


class CallDrafts(TurnDrafts):
    """Turns that are not final yet, with access to their tool calls by id."""

    def held(self, native: str, offset: int) -> ToolCall | None:
        """Returns the tool call with this id, or None if its turn is final at `offset` or unknown."""
        place = self._place(native, offset)
        return place[0].calls[place[1]] if place else None

    def change(self, native: str, offset: int, how: Callable[[ToolCall], ToolCall]) -> ToolCall | None:
        """Replaces a tool call by what `how` returns for it. Returns None if its turn is final or unknown."""
        place = self._place(native, offset)
        if place is None:
            return None
        draft, at = place
        before = draft.calls[at]
        after = how(before)
        draft.calls[at] = after
        draft.waiting += (after.status == "pending") - (before.status == "pending")
        draft.last = offset
        return after

    def settle(self, natives: list[str], offset: int) -> None:
        """Marks pending calls as ok that continue in the background, because no result is expected any more."""
        for native in natives:
            call = self.held(native, offset)
            if call is not None and call.status == "pending":
                self.change(native, offset, lambda one: replace(one, status="ok"))

    def _place(self, native: str, offset: int) -> tuple[TurnDraft, int] | None:
        """Finds the draft and the index of a tool call; if several share an id, the first one without a result.

        A final turn that waits behind another one counts as already handed out, because a reading that resumes with it
        would hand it out at once.
        """
        held = self._calls.get(native)
        if held is None:
            return None
        turns = self._queue[-1].ordinal + 1 if self._queue else 0
        if len(held) == 1:
            return None if self._final(held[0][0], turns, offset) else held[0]
        found = [one for one in held if not self._final(one[0], turns, offset)]
        if not found:
            return None
        return next((one for one in found if one[0].calls[one[1]].status == "pending"), found[-1])
