"""Reads a rollout of any version of Codex: prompts, answers with their tool calls and results, and token usage.

A turn of the model consists of its texts and tool calls up to the first result, and of the results that follow. Most
messages are recorded twice, as an event and as an item, but make only one turn.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from lerim.sessions.model import NO_TOKENS, Session, Transcript
from lerim.sessions.readers.codex.calls import CALLS, OUTPUTS, parse_codex_call
from lerim.sessions.readers.codex.human import (
    is_typed_in_editor,
    is_unattended_thread,
    parse_context_cwd,
    parse_prompt_event,
    parse_prompt_item,
    parse_shell_output,
)
from lerim.sessions.readers.codex.outputs import parse_output_text
from lerim.sessions.readers.codex.records import CodexPayload, CodexRecord, decode_codex_line
from lerim.sessions.readers.codex.results import CodexResults
from lerim.sessions.readers.codex.tally import CodexTally
from lerim.sessions.readers.codex.thread_names import load_thread_name, parse_rollout_time
from lerim.sessions.readers.engine import (
    MEMORIES_TAG,
    OPEN_TURN_BYTES,
    LineReading,
    TurnDraft,
    TurnDrafts,
    TypedText,
    close_call,
    content_texts,
    cut_blocks,
    decode_leniently,
    decode_string,
    find_object,
    find_text,
    make_own_command,
    make_session_title,
    parse_fields,
    parse_timestamp,
    usable_id,
    without_nul,
)

_PLAN, _PLAN_END = "<proposed_plan>", "</proposed_plan>"


class _UnconfirmedPrompt(NamedTuple):
    """A user message that has not been confirmed yet to be typed by a person."""

    typed: TypedText
    time: datetime | None
    text: str


class CodexReading(LineReading[CodexRecord, CodexTally]):
    """One pass over a rollout; see `LineReading`."""

    def __init__(self, transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> None:
        self._index_title = load_thread_name(transcript)
        self._answer_turn: TurnDraft | None = None
        self._is_answering = False
        self._unconfirmed: list[_UnconfirmedPrompt] = []
        self._pending_reasoning: list[str] = []
        drafts = TurnDrafts()
        self._results = CodexResults(drafts, brief=brief)
        super().__init__(transcript, resume, CodexTally(thread=transcript.session_id), drafts, brief=brief)

    _decode_line = staticmethod(decode_codex_line)

    def _is_known(self, record: CodexRecord) -> bool:
        is_bare_head = not record.type and bool(record.id)  # the first line of an early rollout
        return is_bare_head or record.type in _ENVELOPES or record.type in _HANDLERS

    def _build_session(self) -> Session:
        tally = self._tally
        title = self._index_title or tally.thread_name
        return tally.build_session(self.transcript, title=title, has_tokens=tally.has_usage)

    def _add_record(self, record: CodexRecord) -> None:
        payload = record.payload or record
        kind = payload.type or record.type or ""
        handler = _HANDLERS.get(kind)
        if handler is None:
            if kind != "session_meta" and (kind or record.payload is not None or not payload.id):
                return
            handler = CodexReading._read_meta
        if kind in _TURN_BEGINNERS and not (self._is_answering and kind in CALLS):
            self._save_tally()
        tally = self._tally
        self._time = time = parse_timestamp(record.timestamp) or tally.fallback_time
        if time is not None:
            tally.note_time(time)
        handler(self, payload)

    # --- context -------------------------------------------------------------------------------------------------

    def _read_meta(self, payload: CodexPayload) -> None:
        tally = self._tally
        if not payload.type and isinstance(payload, CodexRecord):
            tally.fallback_time = self._time or parse_rollout_time(self.transcript.path.name)
        native_id = usable_id(payload.id)
        if not tally.turns:
            tally.thread = native_id or tally.thread or self.transcript.session_id
        if tally.own_thread:
            tally.is_forked = tally.is_forked or bool(native_id and native_id != tally.own_thread)
            return
        tally.own_thread = native_id or self.transcript.session_id
        tally.is_forked, tally.copied_until = bool(payload.forked_from_id), self._time
        tally.set_cwd(payload.cwd)
        tally.set_branch(find_text(parse_fields(payload.git), "branch"))
        tally.parent = without_nul(payload.parent_thread_id)[:200]
        source, begun = parse_fields(payload.source), parse_timestamp(payload.timestamp)
        subagent = source.get("subagent") or source.get("internal")
        tally.is_subagent = bool(subagent)
        if subagent or payload.forked_from_id or payload.parent_thread_id:
            tally.created_ms = int(begun.timestamp() * 1000) if begun else 0
        if isinstance(subagent, dict):
            tally.parent = find_text(find_object(subagent, "thread_spawn"), "parent_thread_id")[:200] or tally.parent
            tally.is_ignored = "other" in subagent
        sources = [
            decode_string(raw) or ("other" if parse_fields(raw) else "")
            for raw in (payload.source, payload.thread_source)
        ]
        tally.unattended = is_unattended_thread(sources[0], sources[1], without_nul(payload.originator))

    def _read_context(self, payload: CodexPayload) -> None:
        self._tally.begin_task(payload.turn_id)
        self._tally.set_cwd(payload.cwd)
        if payload.model:
            self._tally.current_model = without_nul(payload.model)[:200]

    # --- messages ------------------------------------------------------------------------------------------------

    def _add_message(self, payload: CodexPayload) -> None:
        if payload.role == "assistant":
            self._add_answer_text("item", "".join(content_texts(payload.content)), usable_id(payload.id))
        elif payload.role == "user":
            self._read_prompt_item(payload)

    def _add_answer_event(self, payload: CodexPayload) -> None:
        text = decode_string(payload.message)
        if text:  # an item of this name has `content` instead: it is a message between agents, not this agent's
            self._add_answer_text("event", text, "")

    def _add_answer_text(self, source: str, text: str, native_id: str) -> None:
        """Adds a text of the model. Plans are split off, because an event leaves out the plan that its item
        contains."""
        for part in _split_plans(without_nul(cut_blocks(text, (MEMORIES_TAG, "oai-mem-citation")))):
            if part.strip() and not self._is_skipped() and not self._tally.take_counterpart(source, part):
                self._answer_draft(native_id, part).texts.append(part)

    def _read_prompt_event(self, payload: CodexPayload) -> None:
        text = decode_string(payload.message)
        self._confirm_prompt(parse_prompt_event(payload, text), text)

    def _confirm_prompt(self, typed: TypedText | None, text: str) -> None:
        """Handles an event with what a person typed. The messages held before it either repeat it or were not typed."""
        self._unconfirmed = []
        self._tally.prompt_events += 1
        if typed is None or self._is_skipped():
            return
        if self._tally.is_subagent and not is_typed_in_editor(text):
            self._tally.note_request(typed.text)
        else:
            self._add_prompt("event", typed, text)

    def _read_prompt_item(self, payload: CodexPayload) -> None:
        tally = self._tally
        typed, text = parse_prompt_item(payload)
        if typed is None or tally.is_subagent:
            tally.set_cwd(parse_context_cwd(text))
        elif typed.kind == "shell" or tally.fallback_time:
            self._add_prompt("item", typed, text)
        else:
            self._hold_line()
            self._unconfirmed.append(_UnconfirmedPrompt(typed, self._time, text))

    def _accept_unconfirmed(self) -> None:
        """Handles held messages that no event confirmed: if the rollout contains no such events at all, a person
        typed these messages."""
        unconfirmed, self._unconfirmed = self._unconfirmed, []
        if not self._tally.prompt_events:
            start, now = self._open_start, self._time
            for prompt in unconfirmed:
                self._open_start, self._time = start, prompt.time
                self._add_prompt("item", prompt.typed, prompt.text)
            self._time = now

    def _add_prompt(self, source: str, typed: TypedText, text: str) -> None:
        if self._is_skipped() or (typed.kind == "shell" and self._tally.take_counterpart(source, text)):
            return
        if typed.kind == "prompt":
            self._tally.unpaired = ()
        native_id = self._tally.make_turn_key("user", typed.text)
        if not self._tally.register_id(self._seen_ids, f"turn:{native_id}"):
            return
        draft = self._begin_turn("user", typed.kind, native_id, is_sidechain=False)
        draft.unattended = self._tally.unattended and not self._tally.is_subagent
        self._is_answering, self._pending_reasoning = False, []
        self._tally.count_prompt(typed)
        self._results.processes.settle_all(self._line_offset)
        draft.texts.append(typed.text)
        if typed.kind == "shell":
            output = parse_output_text(parse_shell_output(text))
            command = make_own_command(typed.text)
            draft.calls.append(close_call(command, output.status or "ok", output.text, output.exit_code, brief=False))

    def _add_reasoning(self, payload: CodexPayload) -> None:
        if self._brief or self._is_skipped():
            return
        texts = [text for text in content_texts(payload.summary) or content_texts(payload.content) if text]
        if not texts:
            return
        thoughts = [without_nul(cut_blocks(text, (MEMORIES_TAG,))) for text in texts]
        if self._answer_turn is not None and self._is_answering and not self._unconfirmed:
            self._answer_turn.reasoning += thoughts
            self._answer_turn.last_offset = self._line_offset
        else:
            self._hold_line()
            self._pending_reasoning += thoughts

    # --- tool calls ----------------------------------------------------------------------------------------------

    def _add_call(self, payload: CodexPayload) -> None:
        tally = self._tally
        native_id = usable_id(payload.call_id) or usable_id(payload.id)
        if self._is_skipped() or (native_id and not tally.register_id(self._seen_ids, f"call:{native_id}")):
            return
        call = parse_codex_call(payload, brief=self._brief)
        draft = self._answer_draft(native_id, f"{call.name}\n{call.command}")
        tally.tool_calls += 1
        self._drafts.add_call(draft, call)
        self._results.note_call(payload, call)

    def _add_output(self, payload: CodexPayload) -> None:
        self._is_answering = False
        native_id = usable_id(payload.call_id)
        if not self._is_skipped() and (not native_id or self._tally.register_id(self._seen_ids, f"out:{native_id}")):
            denials, errors = self._results.add_result(payload, self._line_offset)
            self._tally.denials += denials
            self._tally.tool_errors += errors

    # --- other events --------------------------------------------------------------------------------------------

    def _count_usage(self, payload: CodexPayload) -> None:
        usage = payload.info.total_token_usage if payload.info else None
        if payload.info is None or usage is None:
            return
        tally, draft = self._tally, self._answer_turn
        used = tally.count_usage(usage, payload.info.last_token_usage)
        if draft is not None and draft.tokens == NO_TOKENS:
            draft.tokens, draft.last_offset = used, self._line_offset
        else:  # reported before the message it belongs to
            tally.unassigned_tokens = tally.unassigned_tokens + used

    def _note_mcp_end(self, payload: CodexPayload) -> None:
        native_id = usable_id(payload.call_id)
        if not self._is_skipped() and native_id and self._results.note_mcp_end(payload, self._line_offset):
            self._tally.denials += self._tally.register_id(self._seen_ids, f"out:{native_id}")

    def _rename_thread(self, payload: CodexPayload) -> None:
        self._tally.thread_name = make_session_title(payload.thread_name) or self._tally.thread_name

    def _read_completed_item(self, payload: CodexPayload) -> None:
        """Handles a completed item, which paginated threads contain instead of an event."""
        item = decode_leniently(payload.item, CodexPayload)
        if item.type == "UserMessage":
            self._confirm_prompt(*parse_prompt_item(item))
        elif item.type == "AgentMessage":
            self._add_answer_text("event", "".join(content_texts(item.content)), "")
        elif item.status == "failed":
            self._results.note_code(item.id, item.exit_code or 1, self._line_offset)

    # --- turns ---------------------------------------------------------------------------------------------------

    def _is_skipped(self) -> bool:
        """Checks whether the current lines are not the thread's own work: they were copied from a parent to a
        subagent, or belong to a thread that only judges another one."""
        return self._tally.is_ignored or (self._tally.is_subagent and self._tally.is_replayed)

    def _answer_draft(self, native_id: str, text: str) -> TurnDraft:
        """Returns the draft of the model's turn that a text or call belongs to, and begins one if needed."""
        if self._unconfirmed:
            self._accept_unconfirmed()
        draft = self._answer_turn
        if draft is not None and self._is_answering and self._line_offset - draft.first_offset <= OPEN_TURN_BYTES:
            draft.last_offset = self._line_offset
            return draft
        tally = self._tally
        native_id = native_id or tally.make_turn_key("assistant", text)
        while not tally.register_id(self._seen_ids, f"turn:{native_id}"):
            native_id += "+"
        self._answer_turn = draft = self._begin_turn("assistant", "reply", native_id, is_sidechain=tally.is_subagent)
        draft.model, draft.tokens = tally.current_model, tally.unassigned_tokens
        tally.unassigned_tokens = NO_TOKENS
        draft.reasoning, self._pending_reasoning = self._pending_reasoning, []
        if tally.current_model:
            tally.add_model(tally.current_model)
        self._is_answering = tally.answered = True
        return draft

    def _hold_line(self) -> None:
        """Notes that this line belongs to a turn that begins later."""
        if self._open_start is None:
            self._open_start = (self._line_offset, self._tally_before)


_TURN_BEGINNERS = CALLS | {"message", "user_message", "agent_message", "reasoning", "item_completed"}
_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "world_state", "compacted")
"""The types of lines that have a payload."""
_HANDLERS: dict[str, Callable[[CodexReading, CodexPayload], None]] = {
    **dict.fromkeys(CALLS, CodexReading._add_call),
    **dict.fromkeys(OUTPUTS, CodexReading._add_output),
    "message": CodexReading._add_message,
    "token_count": CodexReading._count_usage,
    "agent_message": CodexReading._add_answer_event,
    "user_message": CodexReading._read_prompt_event,
    "reasoning": CodexReading._add_reasoning,
    "turn_context": CodexReading._read_context,
    "task_started": CodexReading._read_context,
    "turn_started": CodexReading._read_context,
    "exec_command_end": lambda self, end: self._results.note_code(end.call_id, end.exit_code, self._line_offset),
    "patch_apply_end": lambda self, end: self._results.note_patch(end, self._line_offset),
    "mcp_tool_call_end": CodexReading._note_mcp_end,
    "turn_aborted": lambda self, _: self._drafts.interrupt_calls(self._line_offset),
    **dict.fromkeys(
        ("task_complete", "turn_complete"), lambda self, _: self._results.processes.settle_all(self._line_offset)
    ),
    "thread_name_updated": CodexReading._rename_thread,
    "item_completed": CodexReading._read_completed_item,
}


def _split_plans(text: str) -> list[str]:
    """Returns a text without the plans proposed in it, followed by those plans."""
    around: list[str] = []
    plans: list[str] = []
    position = 0
    while (start := text.find(_PLAN, position)) >= 0 and (end := text.find(_PLAN_END, start)) >= 0:
        around.append(text[position:start])
        position = end + len(_PLAN_END)
        plans.append(text[start:position])
    return ["".join([*around, text[position:]]), *plans]
