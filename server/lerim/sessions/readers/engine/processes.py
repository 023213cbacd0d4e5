"""Commands that keep running after their tool call returned; a later call reports how they end."""

from __future__ import annotations

from msgspec.structs import replace

from lerim.sessions.model import ToolCall, ToolStatus
from lerim.sessions.readers.engine.call_drafts import CallDrafts
from lerim.sessions.readers.engine.fields import keep_ends

_MOST = 64


class RunningProcesses:
    """The tool calls in `drafts` whose processes are still running, keyed by the name of the process."""

    def __init__(self, drafts: CallDrafts, *, brief: bool) -> None:
        self._drafts = drafts
        self._brief = brief
        self._calls: dict[str, str] = {}

    def begin(self, process: str, native: str) -> None:
        """Notes that the tool call with this id left a process running."""
        self._calls[process] = native
        if len(self._calls) > _MOST:
            del self._calls[next(iter(self._calls))]

    def end(self, process: str, status: ToolStatus, code: int | None, text: str, offset: int) -> bool:
        """Adds to the call that began a process how it ended and what it has printed since. Returns False if that call
        is not known any more."""
        native = self._calls.pop(process, "")

        def ended(call: ToolCall) -> ToolCall:
            shown, left_out = keep_ends(f"{call.output}{text}")
            if self._brief and status == "ok":
                shown, left_out = "", 0
            before = call.output_cut if shown else 0
            return replace(call, status=status, exit_code=code, output=shown, output_cut=left_out + before)

        return self._drafts.change(native, offset, ended) is not None

    def leave(self, offset: int) -> None:
        """Marks the calls of processes that are still running as ok, because no result is expected any more."""
        self._drafts.settle(list(self._calls.values()), offset)
