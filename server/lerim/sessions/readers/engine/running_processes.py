"""Commands that keep running after their tool call returned; a later call reports how they end."""

from __future__ import annotations

from msgspec.structs import replace

from lerim.sessions.model import ToolCall, ToolStatus
from lerim.sessions.readers.engine.fields import keep_ends
from lerim.sessions.readers.engine.turn_drafts import CallDrafts

_PROCESS_LIMIT = 64


class RunningProcesses:
    """The tool calls in `drafts` whose processes are still running, keyed by the name of the process."""

    def __init__(self, drafts: CallDrafts, *, brief: bool) -> None:
        self._drafts = drafts
        self._brief = brief
        self._call_ids: dict[str, str] = {}

    def add(self, process: str, call_id: str) -> None:
        """Notes that the tool call with this id left a process running."""
        self._call_ids[process] = call_id
        if len(self._call_ids) > _PROCESS_LIMIT:
            del self._call_ids[next(iter(self._call_ids))]

    def finish(self, process: str, status: ToolStatus, code: int | None, text: str, offset: int) -> bool:
        """Adds to the call that began a process how it ended and what it has printed since. Returns False if that call
        is not known any more."""
        call_id = self._call_ids.pop(process, "")

        def finish_call(call: ToolCall) -> ToolCall:
            shown, omitted = keep_ends(f"{call.output}{text}")
            if self._brief and status == "ok":
                shown, omitted = "", 0
            before = call.output_cut if shown else 0
            return replace(call, status=status, exit_code=code, output=shown, output_cut=omitted + before)

        return self._drafts.update_call(call_id, offset, finish_call) is not None

    def settle_all(self, offset: int) -> None:
        """Marks the calls of processes that are still running as ok, because no result is expected any more."""
        self._drafts.settle_calls(list(self._call_ids.values()), offset)
