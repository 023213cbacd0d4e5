"""Reads the events of a Copilot CLI session: prompts, messages with their tool calls and results, and token usage."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as changed

from msgspec.structs import replace

from lerim.sessions.model import OWN_COMMAND, Role, Session, ToolCall, Transcript, TurnKind
from lerim.sessions.readers.copilot_cli.calls import (
    CliCallEnd,
    continued_shell,
    mark_served_by_mcp,
    parse_cli_answers,
    parse_cli_call,
    parse_cli_call_end,
)
from lerim.sessions.readers.copilot_cli.records import CliEvent, CliEventData, CliToolResult, decode_cli_event
from lerim.sessions.readers.engine import (
    MEMORIES_TAG,
    NO_TOKEN_COUNTS,
    CallDrafts,
    LineReading,
    RunningProcesses,
    TokenCounts,
    TranscriptTally,
    TurnDraft,
    append_name,
    content_texts,
    cut_blocks,
    decode_leniently,
    decode_plain,
    hash_text,
    keep_ends,
    make_title,
    parse_timestamp,
    text_outside_blocks,
    usable_id,
    without_nul,
)

_CONTEXT = (MEMORIES_TAG, "system_reminder", "system-reminder", "system_notification", "current_datetime", "reminder")
_INJECTED = tuple(f"<{tag}" for tag in ("skill-context", *_CONTEXT))
_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_MOST = 1 << 48
_REFUSED_BY_PERSON = "denied-interactively-by-user"
"""The kind of a denial by the person; all other kinds come from rules, hooks and policies."""


class CopilotTally(TranscriptTally, gc=False):
    """Totals of a session up to a point in it. `told`: `tokens` covers everything said so far; `earlier`: the tokens
    used before the session was last resumed."""

    told: bool = False
    earlier: TokenCounts = NO_TOKEN_COUNTS
    engine: str = ""
    title: str = ""


class CopilotReading(LineReading[CliEvent, CopilotTally, CallDrafts]):
    """One pass over a Copilot CLI session; see `LineReading`. `title` is its name if it is recorded outside the
    events."""

    def __init__(
        self, transcript: Transcript, resume: bytes | None = None, *, brief: bool = False, title: str = ""
    ) -> None:
        self._title = title
        self._current: TurnDraft | None = None
        self._shells: dict[str, str] = {}
        drafts = CallDrafts()
        self._processes = RunningProcesses(drafts, brief=brief)
        super().__init__(transcript, resume, CopilotTally(cwd=transcript.cwd), drafts, brief=brief)

    _decode_line = staticmethod(decode_cli_event)

    def _build_session(self) -> Session:
        tally, transcript = self._tally, self.transcript
        session = tally.build_session(transcript.session_id, transcript.path, transcript.parent or tally.parent)
        title = self._title or tally.title or session.title
        tokens = session.tokens if tally.told else None
        return changed(session, platform="copilot", title=title, tokens=tokens)

    def _add_record(self, event: CliEvent) -> None:
        how = _TELLS.get(event.type)
        if how is None:
            return
        tally = self._tally
        if event.type in _OPENS:
            self._save_tally()
        native_id = usable_id(event.id)
        if native_id and not tally.register_id(self._seen_ids, native_id):
            return
        self._time = parse_timestamp(event.timestamp)
        if self._time is not None:
            tally.started = min(self._time, tally.started or self._time)
            tally.ended = max(self._time, tally.ended or self._time)
        how(self, event, event.data)

    # --- where ---------------------------------------------------------------------------------------------------

    def _begun(self, _: CliEvent, said: CliEventData) -> None:
        tally = self._tally
        tally.version = without_nul(said.copilot_version)[:50] or tally.version
        tally.engine = without_nul(said.selected_model)[:200] or tally.engine
        tally.parent = without_nul(said.detached_from_spawning_parent_session_id)[:200] or tally.parent
        if said.context is not None:
            self._moved(said.context.cwd, said.context.branch)

    def _resumed(self, event: CliEvent, said: CliEventData) -> None:
        self._tally.earlier = self._tally.tokens
        self._begun(event, said)

    def _elsewhere(self, _: CliEvent, said: CliEventData) -> None:
        self._moved(said.cwd, said.branch)

    def _moved(self, cwd: str | None, branch: str | None) -> None:
        tally = self._tally
        if cwd:
            tally.cwd = without_nul(cwd)[:4096]
            tally.cwds = append_name(tally.cwds, tally.cwd)
        if branch:
            tally.branch = without_nul(branch)[:500]
            tally.branches = append_name(tally.branches, tally.branch)

    def _model(self, _: CliEvent, said: CliEventData) -> None:
        self._tally.engine = without_nul(said.new_model)[:200] or self._tally.engine

    def _named(self, _: CliEvent, said: CliEventData) -> None:
        self._tally.title = make_title(said.title) or self._tally.title

    # --- what was said -------------------------------------------------------------------------------------------

    def _prompt(self, event: CliEvent, said: CliEventData) -> None:
        tally = self._tally
        text = without_nul(text_outside_blocks("\n".join(content_texts(said.content)), _CONTEXT)).strip()
        if not text and isinstance(shown := decode_plain(said.attachments), list) and shown:
            text = "[attachment]"
        automatic = said.is_autopilot_continuation or said.source not in ("", "user", None) or tally.parent
        if not text or automatic or self._aside(event) or text.startswith(_INJECTED):
            tally.injected += 1
            return
        tally.prompts += 1
        tally.first_prompt = tally.first_prompt or make_title(text)
        self._processes.settle_all(self._line_offset)
        self._begin(event, "user", "prompt", text).texts.append(text)

    def _own_command(self, event: CliEvent, said: CliEventData) -> None:
        """Adds a command the person ran themselves."""
        call = parse_cli_call(without_nul(said.tool_call_id), without_nul(said.tool_name), said.arguments)
        if call.kind == "shell" and call.command:
            draft = self._begin(event, "user", "shell", call.command)
            draft.texts.append(call.command)
            self._drafts.add_call(draft, replace(call, name=OWN_COMMAND))
            self._tally.register_id(self._seen_ids, f"call:{call.id}")

    def _answer(self, event: CliEvent, said: CliEventData) -> None:
        tally = self._tally
        tally.told = False
        key = usable_id(said.message_id) or usable_id(event.id)
        draft = self._drafts.find_draft(key) if key else None
        if draft is None:
            draft = self._begin(event, "assistant", "reply", "", key)
        draft.last_offset = self._line_offset
        self._current = draft
        model = without_nul(said.model)[:200] or tally.engine
        if model:
            draft.model = model
            tally.add_model(model)
        if said.output_tokens and 0 < said.output_tokens < _MOST:
            draft.tokens = (0, said.output_tokens, 0, 0)
        text = without_nul(cut_blocks("\n".join(content_texts(said.content)), (MEMORIES_TAG,)))
        if text.strip() and text not in draft.texts:
            draft.texts.append(text)
        if said.reasoning_text and not self._brief:
            draft.reasoning.append(without_nul(cut_blocks(said.reasoning_text, (MEMORIES_TAG,))))
        for asked in said.tool_requests or ():
            call = parse_cli_call(usable_id(asked.tool_call_id), asked.name or "", asked.arguments, brief=self._brief)
            self._call(draft, mark_served_by_mcp(call) if asked.mcp_server_name else call)
            self._expect(asked.tool_call_id, continued_shell(asked.name or "", asked.arguments))

    # --- what was done -------------------------------------------------------------------------------------------

    def _started(self, event: CliEvent, said: CliEventData) -> None:
        native_id = usable_id(said.tool_call_id)
        if not native_id or not self._tally.register_id(self._seen_ids, f"call:{native_id}"):
            return
        draft = self._current
        if draft is None or self._drafts.find_draft(draft.message_key) is not draft:
            draft = self._current = self._begin(event, "assistant", "reply", "", usable_id(event.id))
        self._tally.tool_calls += 1
        call = parse_cli_call(native_id, said.tool_name or "", said.arguments, brief=self._brief)
        self._drafts.add_call(draft, mark_served_by_mcp(call) if said.mcp_server_name else call)
        draft.last_offset = self._line_offset
        self._expect(native_id, continued_shell(said.tool_name or "", said.arguments))

    def _call(self, draft: TurnDraft, call: ToolCall) -> None:
        if not call.id or self._tally.register_id(self._seen_ids, f"call:{call.id}"):
            self._tally.tool_calls += 1
            self._drafts.add_call(draft, call)

    def _expect(self, native_id: str | None, shell: str) -> None:
        if shell and native_id:
            self._shells[native_id] = shell

    def _permission(self, _: CliEvent, said: CliEventData) -> None:
        told = decode_leniently(said.result, CliToolResult)
        native_id = without_nul(said.tool_call_id)
        if not (told.kind or "").startswith("denied") or not self._tally.register_id(
            self._seen_ids, f"denied:{native_id}"
        ):
            return
        self._tally.denials += 1
        feedback = without_nul(told.feedback).strip() if told.kind == _REFUSED_BY_PERSON else ""
        self._drafts.update_call(
            native_id, self._line_offset, lambda one: replace(one, status="denied", feedback=feedback)
        )

    def _ended(self, _: CliEvent, said: CliEventData) -> None:
        native_id = without_nul(said.tool_call_id)
        tally = self._tally
        if usable_id(native_id) and not tally.register_id(self._seen_ids, f"out:{native_id}"):
            return
        call = self._drafts.find_call(native_id, self._line_offset)
        told = parse_cli_call_end(said, call.kind if call is not None else "shell")
        shell = self._shells.pop(native_id, "")
        if shell and call is not None and call.name.startswith("stop_"):
            self._processes.finish(shell, "ok", None, "", self._line_offset)
        elif shell:
            told = self._continued(shell, told._replace(running=""))
        elif told.running and call is not None:
            self._processes.add(told.running, native_id)
        if hash_text(f"denied:{native_id}") in self._seen_ids:
            told = told._replace(status="denied")
        else:
            tally.denials += told.status == "denied"
            tally.tool_errors += told.status == "error"
        self._drafts.update_call(native_id, self._line_offset, lambda one: self._closed(one, told))

    def _continued(self, shell: str, told: CliCallEnd) -> CliCallEnd:
        """Records the end of a command in the call that started it; returns what remains for the call that continued
        it."""
        if told.exit_code is None or not self._processes.finish(
            shell, told.status, told.exit_code, told.text, self._line_offset
        ):
            return told
        self._tally.tool_errors += told.status == "error"
        return CliCallEnd("ok", told.text)

    def _closed(self, call: ToolCall, told: CliCallEnd) -> ToolCall:
        shown, left_out = keep_ends(told.text)
        if self._brief and told.status == "ok" and call.kind not in ("ask", "plan") and call.name != OWN_COMMAND:
            shown, left_out = "", 0
        answers = parse_cli_answers(call, told.text) if call.answers and told.status == "ok" else call.answers
        return replace(
            call,
            status="pending" if told.running else told.status,
            exit_code=told.exit_code,
            output=shown,
            output_cut=left_out,
            answers=answers,
        )

    def _aborted(self, _: CliEvent, __: CliEventData) -> None:
        self._drafts.interrupt_calls(self._line_offset)

    def _failed(self, _: CliEvent, __: CliEventData) -> None:
        self._tally.api_errors += 1

    def _shut(self, _: CliEvent, said: CliEventData) -> None:
        """Ends the session. Only now its token usage is recorded, for everything since it began or was resumed."""
        tally = self._tally
        used, earlier = _used(decode_plain(said.model_metrics)), tally.earlier
        tally.tokens = (earlier[0] + used[0], earlier[1] + used[1], earlier[2] + used[2], earlier[3] + used[3])
        tally.told = True
        self._processes.settle_all(self._line_offset)

    # --- turns ---------------------------------------------------------------------------------------------------

    def _aside(self, event: CliEvent) -> bool:
        """Returns whether the event comes from a subagent."""
        return bool(event.agent_id or event.data.parent_tool_call_id)

    def _begin(self, event: CliEvent, role: Role, kind: TurnKind, text: str, key: str = "") -> TurnDraft:
        native_id = usable_id(event.id) or f"{role}\n{text}\n{key}\n{self.transcript.session_id} {self._tally.turns}"
        return self._begin_turn(role, kind, native_id, aside=self._aside(event), key=key)


_OPENS = frozenset({"user.message", "assistant.message", "tool.execution_start", "tool.user_requested"})
_TELLS: dict[str, Callable[[CopilotReading, CliEvent, CliEventData], None]] = {
    "session.start": CopilotReading._begun,
    "session.resume": CopilotReading._resumed,
    "session.context_changed": CopilotReading._elsewhere,
    "session.model_change": CopilotReading._model,
    "session.title_changed": CopilotReading._named,
    "session.error": CopilotReading._failed,
    "session.shutdown": CopilotReading._shut,
    "user.message": CopilotReading._prompt,
    "tool.user_requested": CopilotReading._own_command,
    "assistant.message": CopilotReading._answer,
    "tool.execution_start": CopilotReading._started,
    "tool.execution_complete": CopilotReading._ended,
    "permission.completed": CopilotReading._permission,
    "abort": CopilotReading._aborted,
}


def _used(metrics: object) -> TokenCounts:
    total = NO_TOKEN_COUNTS
    for model in metrics.values() if isinstance(metrics, dict) else ():
        usage = model.get("usage") if isinstance(model, dict) else None
        if isinstance(usage, dict):
            held = (usage.get(name) for name in _USAGE)
            fresh, out, cached, written = (one if type(one) is int and 0 < one < _MOST else 0 for one in held)
            fresh = max(0, fresh - cached - written)
            total = (total[0] + fresh, total[1] + out, total[2] + cached, total[3] + written)
    return total
