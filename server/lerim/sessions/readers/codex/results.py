"""Adds results to the calls of a rollout, including what a process prints that an earlier call left running."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
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
    DECODE_ERRORS,
    CallDrafts,
    RunningProcesses,
    cut_blocks,
    decode_fields,
    decode_plain,
    keep_ends,
    without_nul,
)

_by_name = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_READ: frozenset[ToolKind] = frozenset({"ask", "plan", "agent"})

OutputCounts = tuple[int, int]
"""Number of denials and of errors among the calls that ended."""


class CodexResults:
    """Adds results to the calls in `drafts`. `brief` skips the results of successful calls unread."""

    def __init__(self, drafts: CallDrafts, *, brief: bool) -> None:
        self._drafts = drafts
        self._brief = brief
        self._asked: dict[str, tuple[str, ...]] = {}
        self._processes = RunningProcesses(drafts, brief=brief)
        self._continued: dict[str, str] = {}

    def expect(self, said: CodexPayload, call: ToolCall) -> None:
        """Notes what is needed to interpret the result of a call that began."""
        if call.kind == "ask":
            self._asked[call.id] = question_ids(said)
        if process := continued_process(said):
            self._continued[call.id] = process

    def take(self, said: CodexPayload, offset: int) -> OutputCounts:
        """Adds a result to its call. Returns how many denials and errors it contains."""
        native_id = without_nul(said.call_id)
        call = self._drafts.find_call(native_id, offset)
        if call is not None and call.status in ("ok", "error", "denied"):  # a repeated result
            return 0, 0
        process = self._continued.pop(native_id, "")
        unread = self._brief and not process and (call is None or call.kind not in _READ)
        if unread and is_success_output(said.output):
            self._drafts.update_call(native_id, offset, _well)
            return 0, 0
        told = parse_codex_output(said.output)
        told = told._replace(text=without_nul(cut_blocks(told.text)))
        counted = (0, 0)
        if process and not told.running and told.exit_code is not None:
            status, code = resolve_call_status(told, "shell", None)
            if self._processes.finish(process, status, code, told.text, offset):
                counted = _counted(told, None)
                told = CodexOutput(told.text, None)
        if process:
            told = told._replace(running="")
        elif told.running and call is not None:
            self._processes.add(told.running, native_id)
        own = _counted(told, call)
        self._drafts.update_call(native_id, offset, lambda one: self._closed(one, told))
        return counted[0] + own[0], counted[1] + own[1]

    def ran(self, said: CodexPayload, offset: int) -> None:
        """Notes the exit code of a command, according to an event, in case the result does not contain it."""
        code = said.exit_code
        if code is not None and abs(code) < 1 << 32:
            self._foretell(said, code, offset)

    def served(self, said: CodexPayload, offset: int) -> bool:
        """Notes whether an MCP tool call failed, according to an event. Returns whether the person refused the call, in
        which case no result follows."""
        told = decode_fields(said.result)
        ended, fault = told.get("Ok"), told.get("Err")
        if isinstance(ended, dict) and (ended.get("isError") is True or ended.get("is_error") is True):
            self._foretell(said, 1, offset)
        if not isinstance(fault, str):
            return False
        if not fault.startswith("user rejected"):
            self._foretell(said, 1, offset)
            return False
        shown, left_out = keep_ends(without_nul(fault))
        self._drafts.update_call(
            without_nul(said.call_id),
            offset,
            lambda one: replace(one, status="denied", exit_code=None, output=shown, output_cut=left_out),
        )
        return True

    def _foretell(self, said: CodexPayload, code: int, offset: int) -> None:
        waiting = self._drafts.find_call(without_nul(said.call_id), offset)
        if waiting is not None and waiting.status == "pending":
            self._drafts.update_call(waiting.id, offset, lambda one: replace(one, exit_code=code))

    def patched(self, said: CodexPayload, offset: int) -> None:
        """Notes the full paths of the files that a patch changed, and whether it failed, according to an event."""
        if said.success is False:
            self._foretell(said, 1, offset)
        whole = [without_nul(path)[:4096] for path in list(_changes(said.changes))[:200]]
        if whole:
            self._drafts.update_call(without_nul(said.call_id), offset, lambda one: _in_full(one, whole))

    def leave(self, offset: int) -> None:
        """Marks the calls of processes that are still running as ok, because no result is expected any more."""
        self._processes.settle_all(offset)

    def _closed(self, call: ToolCall, told: CodexOutput) -> ToolCall:
        shown, left_out = keep_ends(told.text)
        status, code = ("pending", None) if told.running else resolve_call_status(told, call.kind, call.exit_code)
        if self._brief and status == "ok" and call.kind not in ("ask", "plan"):
            shown, left_out = "", 0
        return replace(
            call,
            status=status,
            exit_code=code,
            output=shown,
            output_cut=left_out,
            answers=parse_codex_answers(call, self._asked.pop(call.id, ()), told.text) if call.answers else (),
            subagent=_child(told.text) if call.kind == "agent" else "",
        )


def _well(call: ToolCall) -> ToolCall:
    return replace(call, status="ok", exit_code=0 if call.kind == "shell" else None)


def _changes(raw: msgspec.Raw) -> Iterable[str]:
    """Returns the files of a patch, which are the keys of its changes; the changes themselves are left unread."""
    try:
        return _by_name(raw)
    except DECODE_ERRORS:
        return decode_fields(raw)


def _counted(told: CodexOutput, call: ToolCall | None) -> OutputCounts:
    status, _ = resolve_call_status(told, call.kind if call else "other", call.exit_code if call else None)
    return int(status == "denied"), int(status == "error")


def _in_full(call: ToolCall, whole: list[str]) -> ToolCall:
    """Replaces the paths in `call` by the full paths from the record of the changes."""

    def full(path: str) -> str:
        tail = "/" + path.replace("\\", "/").lstrip("/")
        return next((one for one in whole if one.replace("\\", "/").endswith(tail)), path)

    edits = tuple(replace(edit, path=full(edit.path)) for edit in call.edits)
    return replace(call, paths=tuple(full(path) for path in call.paths) or tuple(whole), edits=edits)


def _child(text: str) -> str:
    """Returns the id of the thread that a call started, or ''."""
    value = decode_plain(text.encode("utf-8", "surrogatepass")) if text.startswith("{") else None
    found = (value.get("agent_id") or value.get("new_thread_id")) if isinstance(value, dict) else None
    return without_nul(found)[:200] if isinstance(found, str) else ""
