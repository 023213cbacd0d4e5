"""Adds results to the calls of a rollout, including the output of processes that earlier calls left running."""

from __future__ import annotations

from msgspec.structs import replace

from lerim.sessions.model import ToolCall, ToolKind
from lerim.sessions.readers.codex.calls import continued_process, parse_codex_answers, question_ids
from lerim.sessions.readers.codex.outputs import (
    CodexOutput,
    is_success_output,
    parse_codex_output,
    resolve_call_status,
)
from lerim.sessions.readers.codex.records import CodexPayload
from lerim.sessions.readers.engine import (
    RunningProcesses,
    TurnDrafts,
    close_call,
    cut_blocks,
    parse_fields,
    without_nul,
)

_KINDS_WITH_USED_RESULTS: frozenset[ToolKind] = frozenset({"ask", "plan"})

OutputCounts = tuple[int, int]
"""Number of denials and of errors among the calls that ended."""


class CodexResults:
    """The calls in `drafts`, to which results are added. `brief` skips the results of successful calls unread."""

    def __init__(self, drafts: TurnDrafts, *, brief: bool) -> None:
        self._drafts = drafts
        self._brief = brief
        self._question_ids: dict[str, tuple[str, ...]] = {}
        self.processes = RunningProcesses(drafts, brief=brief)
        self._continued_processes: dict[str, str] = {}

    def note_call(self, payload: CodexPayload, call: ToolCall) -> None:
        """Notes, when a call begins, what is needed to interpret its result later."""
        if call.kind == "ask":
            self._question_ids[call.id] = question_ids(payload)
        if process := continued_process(payload):
            self._continued_processes[call.id] = process

    def add_result(self, payload: CodexPayload, offset: int) -> OutputCounts:
        """Adds a result to its call. Returns how many denials and errors it contains."""
        call_id = without_nul(payload.call_id)
        call = self._drafts.find_call(call_id, offset)
        if call is not None and call.status in ("ok", "error", "denied"):  # a repeated result
            return 0, 0
        process = self._continued_processes.pop(call_id, "")
        unread = self._brief and not process and (call is None or call.kind not in _KINDS_WITH_USED_RESULTS)
        if unread and is_success_output(payload.output):
            self._drafts.update_call(call_id, offset, _mark_ok)
            return 0, 0
        output = parse_codex_output(payload.output)
        output = output._replace(text=without_nul(cut_blocks(output.text)))
        counted = (0, 0)
        if process and not output.running and output.exit_code is not None:
            status, code = resolve_call_status(output, "shell", None)
            if self.processes.finish(process, status, code, output.text, offset):
                counted = _count_outcome(output, None)
                output = CodexOutput(output.text, None)
        if process:
            output = output._replace(running="")
        elif output.running and call is not None:
            self.processes.add(output.running, call_id)
        own = _count_outcome(output, call)
        self._drafts.update_call(call_id, offset, lambda one: self._close_call(one, output))
        return counted[0] + own[0], counted[1] + own[1]

    def note_code(self, call_id: str | None, code: int | None, offset: int) -> None:
        """Notes the exit code that an event reports for a call, in case the result does not contain it."""
        call = self._drafts.find_call(without_nul(call_id), offset)
        if code is not None and abs(code) < 1 << 32 and call is not None and call.status == "pending":
            self._drafts.update_call(call.id, offset, lambda one: replace(one, exit_code=code))

    def note_mcp_end(self, payload: CodexPayload, offset: int) -> bool:
        """Notes whether an MCP tool call failed, as an event reports it. Returns whether the person refused the
        call, in which case no result follows."""
        result = parse_fields(payload.result)
        ended, fault = result.get("Ok"), result.get("Err")
        if isinstance(ended, dict) and (ended.get("isError") is True or ended.get("is_error") is True):
            self.note_code(payload.call_id, 1, offset)
        if not isinstance(fault, str):
            return False
        if not fault.startswith("user rejected"):
            self.note_code(payload.call_id, 1, offset)
            return False
        self._drafts.update_call(
            without_nul(payload.call_id), offset, lambda one: close_call(one, "denied", without_nul(fault), brief=False)
        )
        return True

    def note_patch(self, payload: CodexPayload, offset: int) -> None:
        """Notes the full paths of the files that a patch changed, and whether it failed, as an event reports them."""
        if payload.success is False:
            self.note_code(payload.call_id, 1, offset)
        full_paths = [without_nul(path)[:4096] for path in list(parse_fields(payload.changes))[:200]]
        if full_paths:
            self._drafts.update_call(
                without_nul(payload.call_id), offset, lambda one: _with_full_paths(one, full_paths)
            )

    def _close_call(self, call: ToolCall, output: CodexOutput) -> ToolCall:
        status, code = ("pending", None) if output.running else resolve_call_status(output, call.kind, call.exit_code)
        return replace(
            close_call(call, status, output.text, code, brief=self._brief),
            answers=parse_codex_answers(call, self._question_ids.pop(call.id, ()), output.text) if call.answers else (),
        )


def _mark_ok(call: ToolCall) -> ToolCall:
    return replace(call, status="ok", exit_code=0 if call.kind == "shell" else None)


def _count_outcome(output: CodexOutput, call: ToolCall | None) -> OutputCounts:
    status, _ = resolve_call_status(output, call.kind if call else "other", call.exit_code if call else None)
    return int(status == "denied"), int(status == "error")


def _with_full_paths(call: ToolCall, full_paths: list[str]) -> ToolCall:
    """Replaces the paths in `call` by the full paths from the record of the changes."""

    def full(path: str) -> str:
        tail = "/" + path.replace("\\", "/").lstrip("/")
        return next((one for one in full_paths if one.replace("\\", "/").endswith(tail)), path)

    edits = tuple(replace(edit, path=full(edit.path)) for edit in call.edits)
    return replace(call, paths=tuple(full(path) for path in call.paths) or tuple(full_paths), edits=edits)
