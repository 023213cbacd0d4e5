"""Reads the events of a Copilot CLI session: prompts, messages with their tool calls and results, and token usage."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import NO_TOKENS, OWN_COMMAND, Role, Session, Tokens, ToolCall, Transcript, TurnKind
from lerim.sessions.readers.copilot_cli.calls import (
    CliCallEnd,
    continued_shell,
    mark_served_by_mcp,
    parse_cli_answers,
    parse_cli_call,
    parse_cli_call_end,
)
from lerim.sessions.readers.copilot_cli.records import (
    CliEvent,
    CliEventData,
    CliToolRequest,
    CliToolResult,
    decode_cli_event,
)
from lerim.sessions.readers.engine import (
    MEMORIES_TAG,
    LineReading,
    RunningProcesses,
    TranscriptTally,
    TurnDraft,
    TurnDrafts,
    close_call,
    content_texts,
    cut_blocks,
    decode_leniently,
    make_session_title,
    parse_fields,
    parse_json_or_none,
    parse_timestamp,
    plausible_count,
    short_hash,
    split_usage,
    text_outside_blocks,
    usable_id,
    without_nul,
)

_CONTEXT = (MEMORIES_TAG, "system_reminder", "system-reminder", "system_notification", "current_datetime", "reminder")
_INJECTED_STARTS = tuple(f"<{tag}" for tag in ("skill-context", *_CONTEXT))
_USAGE_KEYS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_DENIED_BY_PERSON = "denied-interactively-by-user"
"""The kind of a denial by the person; all other kinds come from rules, hooks and policies."""


class CopilotTally(TranscriptTally, gc=False):
    """Totals of a session up to a point in it. `has_all_tokens`: `tokens` covers everything said so far;
    `has_lost_tokens`: a part of it ended without its usage, as after a crash; `tokens_before_resume`: the tokens used
    before the session was last resumed."""

    has_all_tokens: bool = False
    has_lost_tokens: bool = False
    tokens_before_resume: Tokens = NO_TOKENS
    current_model: str = ""
    title: str = ""


class CopilotReading(LineReading[CliEvent, CopilotTally]):
    """One pass over a Copilot CLI session; see `LineReading`. `title` is its name if it is recorded outside the
    events."""

    def __init__(
        self, transcript: Transcript, resume: bytes | None = None, *, brief: bool = False, title: str = ""
    ) -> None:
        self._title = title
        self._current_answer: TurnDraft | None = None
        self._continued_shells: dict[str, str] = {}
        drafts = TurnDrafts()
        self._processes = RunningProcesses(drafts, brief=brief)
        super().__init__(transcript, resume, CopilotTally(cwd=transcript.cwd), drafts, brief=brief)

    _decode_line = staticmethod(decode_cli_event)

    def _build_session(self) -> Session:
        tally = self._tally
        return tally.build_session(self.transcript, title=self._title or tally.title, has_tokens=tally.has_all_tokens)

    def _is_known(self, event: CliEvent) -> bool:
        return event.type in _HANDLERS

    def _add_record(self, event: CliEvent) -> None:
        handler = _HANDLERS.get(event.type)
        if handler is None:
            return
        tally = self._tally
        if event.type in _TURN_BEGINNERS:
            self._save_tally()
        native_id = usable_id(event.id)
        if native_id and not tally.register_id(self._seen_ids, native_id):
            return
        self._time = parse_timestamp(event.timestamp)
        if self._time is not None:
            tally.note_time(self._time)
        handler(self, event, event.data)

    # --- context -------------------------------------------------------------------------------------------------

    def _begin_session(self, event: CliEvent, data: CliEventData) -> None:
        tally = self._tally
        tally.current_model = without_nul(data.selected_model)[:200] or tally.current_model
        tally.parent = without_nul(data.detached_from_spawning_parent_session_id)[:200] or tally.parent
        self._change_context(event, data)

    def _resume_session(self, event: CliEvent, data: CliEventData) -> None:
        tally = self._tally
        tally.tokens_before_resume = tally.tokens
        tally.has_lost_tokens = tally.has_lost_tokens or bool(tally.models and not tally.has_all_tokens)
        self._begin_session(event, data)

    def _change_context(self, _: CliEvent, data: CliEventData) -> None:
        context = data.context or data
        self._tally.set_cwd(context.cwd)
        self._tally.set_branch(context.branch)

    def _change_model(self, _: CliEvent, data: CliEventData) -> None:
        self._tally.current_model = without_nul(data.new_model)[:200] or self._tally.current_model

    def _set_title(self, _: CliEvent, data: CliEventData) -> None:
        self._tally.title = make_session_title(data.title) or self._tally.title

    # --- messages ------------------------------------------------------------------------------------------------

    def _add_prompt(self, event: CliEvent, data: CliEventData) -> None:
        tally = self._tally
        text = without_nul(text_outside_blocks("\n".join(content_texts(data.content)), _CONTEXT)).strip()
        if not text and isinstance(attachments := parse_json_or_none(data.attachments), list) and attachments:
            text = "[attachment]"
        is_automatic = data.is_autopilot_continuation or data.source not in ("", "user", None) or tally.parent
        if not text or is_automatic or self._is_sidechain(event) or text.startswith(_INJECTED_STARTS):
            return
        tally.prompts += 1
        tally.note_request(text)
        self._processes.settle_all(self._line_offset)
        self._begin_cli_turn(event, "user", "prompt", text).texts.append(text)

    def _add_own_command(self, event: CliEvent, data: CliEventData) -> None:
        """Adds a command the person ran themselves."""
        call = parse_cli_call(without_nul(data.tool_call_id), without_nul(data.tool_name), data.arguments)
        if call.kind == "shell" and call.command:
            draft = self._begin_cli_turn(event, "user", "shell", call.command)
            draft.texts.append(call.command)
            self._drafts.add_call(draft, replace(call, name=OWN_COMMAND))
            self._tally.register_id(self._seen_ids, f"call:{call.id}")

    def _add_answer(self, event: CliEvent, data: CliEventData) -> None:
        tally = self._tally
        tally.has_all_tokens = False
        key = usable_id(data.message_id) or usable_id(event.id)
        draft = self._drafts.find_draft(key) if key else None
        if draft is None:
            draft = self._begin_cli_turn(event, "assistant", "reply", "", key)
        draft.last_offset = self._line_offset
        self._current_answer = draft
        model = without_nul(data.model)[:200] or tally.current_model
        if model:
            draft.model = model
            tally.add_model(model)
        if output_tokens := plausible_count(data.output_tokens):
            draft.tokens = Tokens(output=output_tokens)
        text = without_nul(cut_blocks("\n".join(content_texts(data.content)), (MEMORIES_TAG,)))
        if text.strip() and text not in draft.texts:
            draft.texts.append(text)
        if data.reasoning_text and not self._brief:
            draft.reasoning.append(without_nul(cut_blocks(data.reasoning_text, (MEMORIES_TAG,))))
        for request in data.tool_requests or ():
            self._add_call(draft, request)

    # --- tool calls ----------------------------------------------------------------------------------------------

    def _begin_call(self, event: CliEvent, data: CliEventData) -> None:
        """Adds a call that no message requested."""
        native_id = usable_id(data.tool_call_id)
        if not native_id or short_hash(f"call:{native_id}") in self._seen_ids:
            return
        draft = self._current_answer
        if draft is None or self._drafts.find_draft(draft.message_key) is not draft:
            draft = self._current_answer = self._begin_cli_turn(event, "assistant", "reply", "", usable_id(event.id))
        draft.last_offset = self._line_offset
        self._add_call(draft, CliToolRequest(native_id, data.tool_name, data.arguments, data.mcp_server_name))

    def _add_call(self, draft: TurnDraft, request: CliToolRequest) -> None:
        native_id, name = usable_id(request.tool_call_id), request.name or ""
        if native_id and not self._tally.register_id(self._seen_ids, f"call:{native_id}"):
            return
        self._tally.tool_calls += 1
        call = parse_cli_call(native_id, name, request.arguments, brief=self._brief)
        self._drafts.add_call(draft, mark_served_by_mcp(call) if request.mcp_server_name else call)
        if native_id and (shell := continued_shell(name, request.arguments)):
            self._continued_shells[native_id] = shell

    def _add_denial(self, _: CliEvent, data: CliEventData) -> None:
        result = decode_leniently(data.result, CliToolResult)
        native_id = without_nul(data.tool_call_id)
        if not (result.kind or "").startswith("denied") or not self._tally.register_id(
            self._seen_ids, f"denied:{native_id}"
        ):
            return
        self._tally.denials += 1
        feedback = without_nul(result.feedback).strip() if result.kind == _DENIED_BY_PERSON else ""
        self._drafts.update_call(
            native_id, self._line_offset, lambda one: replace(one, status="denied", feedback=feedback)
        )

    def _end_call(self, _: CliEvent, data: CliEventData) -> None:
        native_id = without_nul(data.tool_call_id)
        tally = self._tally
        if usable_id(native_id) and not tally.register_id(self._seen_ids, f"out:{native_id}"):
            return
        call = self._drafts.find_call(native_id, self._line_offset)
        end = parse_cli_call_end(data, call.kind if call is not None else "shell")
        shell = self._continued_shells.pop(native_id, "")
        if shell and call is not None and call.name.startswith("stop_"):
            self._processes.finish(shell, "ok", None, "", self._line_offset)
        elif shell:
            end = self._end_continued(shell, end._replace(running=""))
        elif end.running and call is not None:
            self._processes.add(end.running, native_id)
        if short_hash(f"denied:{native_id}") in self._seen_ids:
            end = end._replace(status="denied")
        else:
            tally.denials += end.status == "denied"
            tally.tool_errors += end.status == "error" and (call is None or call.name != OWN_COMMAND)
        self._drafts.update_call(native_id, self._line_offset, lambda one: self._close_call(one, end))

    def _end_continued(self, shell: str, end: CliCallEnd) -> CliCallEnd:
        """Records the end of a command in the call that started it. Returns what is left for the call that continued
        it."""
        if end.exit_code is None or not self._processes.finish(
            shell, end.status, end.exit_code, end.text, self._line_offset
        ):
            return end
        self._tally.tool_errors += end.status == "error"
        return CliCallEnd("ok", end.text)

    def _close_call(self, call: ToolCall, end: CliCallEnd) -> ToolCall:
        is_brief = self._brief and call.name != OWN_COMMAND
        closed = close_call(call, "pending" if end.running else end.status, end.text, end.exit_code, brief=is_brief)
        answers = parse_cli_answers(call, end.text) if call.answers and end.status == "ok" else call.answers
        return replace(closed, answers=answers)

    def _end_session(self, _: CliEvent, data: CliEventData) -> None:
        """Ends the session. Its token usage is recorded only now, for everything since it began or was resumed."""
        tally = self._tally
        tally.tokens = tally.tokens_before_resume + _sum_usage(data.model_metrics)
        tally.has_all_tokens = not tally.has_lost_tokens
        self._processes.settle_all(self._line_offset)

    # --- turns ---------------------------------------------------------------------------------------------------

    def _is_sidechain(self, event: CliEvent) -> bool:
        return bool(event.agent_id or event.data.parent_tool_call_id)

    def _begin_cli_turn(self, event: CliEvent, role: Role, kind: TurnKind, text: str, key: str = "") -> TurnDraft:
        native_id = usable_id(event.id) or f"{role}\n{text}\n{key}\n{self.transcript.session_id} {self._tally.turns}"
        return self._begin_turn(role, kind, native_id, is_sidechain=self._is_sidechain(event), key=key)


_TURN_BEGINNERS = frozenset({"user.message", "assistant.message", "tool.execution_start", "tool.user_requested"})
_HANDLERS: dict[str, Callable[[CopilotReading, CliEvent, CliEventData], None]] = {
    "session.start": CopilotReading._begin_session,
    "session.resume": CopilotReading._resume_session,
    "session.context_changed": CopilotReading._change_context,
    "session.model_change": CopilotReading._change_model,
    "session.title_changed": CopilotReading._set_title,
    "session.shutdown": CopilotReading._end_session,
    "user.message": CopilotReading._add_prompt,
    "tool.user_requested": CopilotReading._add_own_command,
    "assistant.message": CopilotReading._add_answer,
    "tool.execution_start": CopilotReading._begin_call,
    "tool.execution_complete": CopilotReading._end_call,
    "permission.completed": CopilotReading._add_denial,
    "abort": lambda self, *_: self._drafts.interrupt_calls(self._line_offset),
}


def _sum_usage(metrics: msgspec.Raw) -> Tokens:
    total = NO_TOKENS
    for model in parse_fields(metrics).values():
        usage = model.get("usage") if isinstance(model, dict) else None
        if isinstance(usage, dict):
            total += split_usage(*(one if type(one := usage.get(name)) is int else 0 for name in _USAGE_KEYS))
    return total
