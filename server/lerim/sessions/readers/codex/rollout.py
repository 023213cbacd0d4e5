"""Reads a rollout of any version of Codex: prompts, answers with their tool calls and results, and token usage.

A turn of the model consists of its texts and tool calls up to the first result, and of the results that follow. Most
messages are recorded twice, as an event and as an item, but make only one turn.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from lerim.sessions.model import Session, Transcript
from lerim.sessions.readers.codex.calls import CALLS, CALLS_WITHOUT_OUTPUT, OUTPUTS, parse_codex_call
from lerim.sessions.readers.codex.files import load_thread_name, parse_rollout_time
from lerim.sessions.readers.codex.human import (
    is_unattended_thread,
    parse_context_cwd,
    parse_prompt_event,
    parse_prompt_item,
    parse_shell_output,
)
from lerim.sessions.readers.codex.outputs import parse_codex_output
from lerim.sessions.readers.codex.records import CodexLine, CodexPayload, CodexRecord, decode_codex_line, line_payload
from lerim.sessions.readers.codex.results import CodexResults
from lerim.sessions.readers.codex.tally import CodexTally
from lerim.sessions.readers.engine import (
    MEMORIES_TAG,
    NO_TOKEN_COUNTS,
    OPEN_TURN_BYTES,
    CallDrafts,
    LineReading,
    TurnDraft,
    TypedText,
    content_texts,
    cut_blocks,
    decode_fields,
    decode_string,
    keep_ends,
    make_own_command,
    parse_timestamp,
    usable_id,
    without_nul,
)
from lerim.sessions.readers.engine import decode_leniently as shaped

_PLAN, _PLAN_END = "<proposed_plan>", "</proposed_plan>"


def _around_plans(text: str) -> list[str]:
    """Returns a text without the plans proposed in it, followed by those plans."""
    around: list[str] = []
    plans: list[str] = []
    at = 0
    while (start := text.find(_PLAN, at)) >= 0 and (end := text.find(_PLAN_END, start)) >= 0:
        around.append(text[at:start])
        at = end + len(_PLAN_END)
        plans.append(text[start:at])
    return ["".join([*around, text[at:]]), *plans]


class _Held(NamedTuple):
    """A message of the user that is not confirmed yet to be typed by a person."""

    words: TypedText
    time: datetime | None
    text: str


class CodexReading(LineReading[CodexLine | CodexRecord, CodexTally, CallDrafts]):
    """One pass over a rollout; see `LineReading`."""

    def __init__(self, transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> None:
        self._title = load_thread_name(transcript)
        self._draft: TurnDraft | None = None
        self._answering = False
        self._held: list[_Held] = []
        self._thinking: list[str] = []
        drafts = CallDrafts()
        self._results = CodexResults(drafts, brief=brief)
        super().__init__(transcript, resume, CodexTally(thread=transcript.session_id), drafts, brief=brief)

    _decode_line = staticmethod(decode_codex_line)

    def _build_session(self) -> Session:
        return self._tally.thread_session(self.transcript, self._title)

    def _add_record(self, record: CodexLine | CodexRecord) -> None:
        said = record.payload or line_payload(record)
        kind = said.type or record.type or ""
        how = _TELLS.get(kind)
        if how is None:
            if kind != "session_meta" and (kind or record.payload is not None or not said.id):
                return
            how = CodexReading._meta
        if kind in _OPENS and not (self._answering and kind in CALLS):
            self._save_tally()
        tally = self._tally
        self._time = time = parse_timestamp(record.timestamp) or tally.bare
        if time is not None:
            tally.at(time)
        how(self, said)

    # --- context -------------------------------------------------------------------------------------------------

    def _meta(self, said: CodexPayload) -> None:
        tally = self._tally
        if not said.type and isinstance(said, CodexRecord):
            tally.bare = self._time or parse_rollout_time(self.transcript.path.name)
        native_id = usable_id(said.id)
        if not tally.turns:
            tally.thread = native_id or tally.thread or self.transcript.session_id
        if tally.own:
            tally.forked = tally.forked or bool(native_id and native_id != tally.own)
            return
        tally.own = native_id or self.transcript.session_id
        tally.forked, tally.copied = bool(said.forked_from_id), self._time
        tally.be(said.cwd)
        tally.version = without_nul(said.cli_version)[:50]
        if said.git is not None and said.git.branch:
            tally.branch = without_nul(said.git.branch)[:500]
            tally.branches = (tally.branch,)
        tally.parent = without_nul(said.parent_thread_id)[:200]
        when = parse_timestamp(said.timestamp)
        if said.forked_from_id or said.parent_thread_id:
            tally.born = int(when.timestamp() * 1000) if when else 0
        source = decode_fields(said.source)
        known_as = [
            decode_string(raw) or ("other" if decode_fields(raw) else "") for raw in (said.source, said.thread_source)
        ]
        tally.unattended = is_unattended_thread(known_as[0], known_as[1], without_nul(said.originator))
        self._source(source.get("subagent") or source.get("internal"), when)

    def _source(self, subagent: object, when: datetime | None) -> None:
        if not subagent:
            return
        tally = self._tally
        tally.child = True
        tally.born = int(when.timestamp() * 1000) if when else 0
        spawn = subagent.get("thread_spawn") if isinstance(subagent, dict) else None
        parent = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
        if isinstance(parent, str):
            tally.parent = without_nul(parent)[:200]
        tally.mute = isinstance(subagent, dict) and "other" in subagent

    def _context(self, said: CodexPayload) -> None:
        self._tally.begin_task(said.turn_id)
        self._tally.be(said.cwd)
        if said.model:
            self._tally.engine = without_nul(said.model)[:200]

    # --- messages ------------------------------------------------------------------------------------------------

    def _message(self, said: CodexPayload) -> None:
        if said.role == "assistant":
            self._say("item", "".join(content_texts(said.content)), usable_id(said.id))
        elif said.role == "user":
            self._typed_item(said)

    def _say_event(self, said: CodexPayload) -> None:
        text = decode_string(said.message)
        if text:  # an item of this name has `content` instead: it is a message between agents, not this agent's
            self._say("event", text, "")

    def _say(self, source: str, text: str, native_id: str) -> None:
        """Adds a text of the model. Plans are split off, because an event leaves out the plan that its item
        contains."""
        text = without_nul(cut_blocks(text, (MEMORIES_TAG, "oai-mem-citation")))
        for said in _around_plans(text):
            self._say_once(source, said, native_id)

    def _say_once(self, source: str, text: str, native_id: str) -> None:
        if text.strip() and not self._skipped() and not self._tally.paired(source, text):
            self._answer(native_id, text, told=False).texts.append(text)

    def _typed_event(self, said: CodexPayload) -> None:
        words, _ = parse_prompt_event(said)
        self._confirm(words, decode_string(said.message))

    def _confirm(self, words: TypedText | None, text: str) -> None:
        """Handles an event with what a person typed. The messages held before it either repeat it or were not typed."""
        tally = self._tally
        held, self._held = self._held, []
        tally.events += 1
        tally.injected += sum(one.words != words for one in held)
        if words is None or tally.child:
            tally.injected += words is not None or bool(text.strip())
        elif words.kind == "shell":
            if not tally.paired("event", text):
                self._prompt(words, text)
        else:
            self._prompt(words, text)

    def _typed_item(self, said: CodexPayload) -> None:
        tally = self._tally
        words, text = parse_prompt_item(said)
        if words is None or tally.child:
            tally.injected += 1
            tally.be(parse_context_cwd(text))
        elif words.kind == "shell":
            if not tally.paired("item", text):
                self._prompt(words, text)
        elif tally.bare:
            self._prompt(words, text)
        else:
            self._wait()
            self._held.append(_Held(words, self._time, text))

    def _promote(self) -> None:
        """Handles held messages that no event confirmed: if the rollout has no such events, they are what the person
        typed."""
        held, self._held = self._held, []
        if self._tally.events:
            self._tally.injected += len(held)
        else:
            start, now = self._open_start, self._time
            for one in held:
                self._open_start, self._time = start, one.time
                self._prompt(one.words, one.text)
            self._time = now

    def _prompt(self, words: TypedText, text: str) -> None:
        if self._skipped():
            return
        if words.kind == "prompt":
            self._tally.unpaired = ()
        native_id = self._tally.native_id("user", words.text)
        if not self._tally.register_id(self._seen_ids, f"turn:{native_id}"):
            return
        draft = self._begin_turn("user", words.kind, native_id, aside=self._tally.child)
        draft.unattended = self._tally.unattended
        self._answering, self._thinking = False, []
        self._tally.count_prompt(words)
        self._results.leave(self._line_offset)
        draft.texts.append(words.text)
        if words.kind == "shell":
            told = parse_codex_output(msgspec.Raw(msgspec.json.encode(parse_shell_output(text))))
            shown, left_out = keep_ends(told.text)
            call = replace(make_own_command(words.text), status=told.status or "ok", exit_code=told.exit_code)
            draft.calls.append(replace(call, output=shown, output_cut=left_out))

    def _think(self, said: CodexPayload) -> None:
        if self._brief or self._skipped():
            return
        told = [text for text in content_texts(said.summary) or content_texts(said.content) if text]
        if not told:
            return
        thoughts = [without_nul(cut_blocks(text, (MEMORIES_TAG,))) for text in told]
        if self._draft is not None and self._answering and not self._held:
            self._draft.reasoning += thoughts
            self._draft.last_offset = self._line_offset
        else:
            self._wait()
            self._thinking += thoughts

    # --- tool calls ----------------------------------------------------------------------------------------------

    def _call(self, said: CodexPayload) -> None:
        tally = self._tally
        native_id = usable_id(said.call_id) or usable_id(said.id)
        if self._skipped() or (native_id and not tally.register_id(self._seen_ids, f"call:{native_id}")):
            return
        one = parse_codex_call(said, brief=self._brief)
        draft = self._answer(native_id, f"{one.name}\n{one.command}", told=True)
        tally.tool_calls += 1
        self._drafts.add_call(draft, one)
        if said.type in CALLS_WITHOUT_OUTPUT:
            draft.pending_calls -= 1
        else:
            self._results.expect(said, one)

    def _output(self, said: CodexPayload) -> None:
        self._answering = False
        native_id = usable_id(said.call_id)
        if not self._skipped() and (not native_id or self._tally.register_id(self._seen_ids, f"out:{native_id}")):
            denials, errors = self._results.take(said, self._line_offset)
            self._tally.denials += denials
            self._tally.tool_errors += errors

    # --- other events --------------------------------------------------------------------------------------------

    def _used(self, said: CodexPayload) -> None:
        usage = said.info.total_token_usage if said.info else None
        if said.info is None or usage is None:
            return
        more, tally, draft = self._tally.use(usage, said.info.last_token_usage), self._tally, self._draft
        if draft is not None and not any(draft.tokens):
            draft.tokens, draft.last_offset = more, self._line_offset
        else:  # reported before the message it belongs to
            owed = tally.owed
            tally.owed = (owed[0] + more[0], owed[1] + more[1], owed[2] + more[2], owed[3] + more[3])

    def _ran(self, said: CodexPayload) -> None:
        self._results.ran(said, self._line_offset)

    def _served(self, said: CodexPayload) -> None:
        native_id = usable_id(said.call_id)
        if not self._skipped() and native_id and self._results.served(said, self._line_offset):
            self._tally.denials += self._tally.register_id(self._seen_ids, f"out:{native_id}")

    def _patched(self, said: CodexPayload) -> None:
        self._results.patched(said, self._line_offset)

    def _aborted(self, _: CodexPayload) -> None:
        self._drafts.interrupt_calls(self._line_offset)

    def _done(self, said: CodexPayload) -> None:
        self._tally.api_errors += bool(decode_fields(said.error))
        self._results.leave(self._line_offset)

    def _failed(self, _: CodexPayload) -> None:
        self._tally.api_errors += 1

    def _renamed(self, said: CodexPayload) -> None:
        self._tally.thread_name = without_nul(said.thread_name)[:120] or self._tally.thread_name

    def _completed(self, said: CodexPayload) -> None:
        """Handles a completed item, which paginated threads contain instead of an event."""
        item = shaped(said.item, CodexPayload)
        if item.type == "UserMessage":
            self._confirm(*parse_prompt_item(item))
        elif item.type == "AgentMessage":
            self._say("event", "".join(content_texts(item.content)), "")
        elif item.status == "failed":
            self._results.ran(replace(item, call_id=item.id, exit_code=item.exit_code or 1), self._line_offset)

    # --- turns ---------------------------------------------------------------------------------------------------

    def _skipped(self) -> bool:
        """Checks whether the current lines are not the thread's own work: copied from a parent to a subagent, or in a
        thread that only judges another."""
        return self._tally.mute or (self._tally.child and self._tally.replayed)

    def _answer(self, native_id: str, text: str, *, told: bool) -> TurnDraft:
        """Returns the draft of the model's turn that a text or call belongs to, and begins one if needed. `told` means
        that `native_id` is known to be new."""
        if self._held:
            self._promote()
        draft = self._draft
        if draft is not None and self._answering and self._line_offset - draft.first_offset <= OPEN_TURN_BYTES:
            draft.last_offset = self._line_offset
            return draft
        tally = self._tally
        if not native_id or not told:
            native_id = self._fresh(native_id or tally.native_id("assistant", text))
        self._draft = draft = self._begin_turn("assistant", "reply", native_id, aside=self._tally.child)
        draft.model, draft.tokens = tally.engine, tally.owed
        tally.owed = NO_TOKEN_COUNTS
        draft.reasoning, self._thinking = self._thinking, []
        if tally.engine:
            tally.add_model(tally.engine)
        self._answering = tally.answered = True
        return draft

    def _fresh(self, native_id: str) -> str:
        while not self._tally.register_id(self._seen_ids, f"turn:{native_id}"):
            native_id += "+"
        return native_id

    def _wait(self) -> None:
        """Notes that this line belongs to a turn that begins later."""
        if self._open_start is None:
            self._open_start = (self._line_offset, self._tally_before)


_OPENS = CALLS | {"message", "user_message", "agent_message", "reasoning", "item_completed"}
_TELLS: dict[str, Callable[[CodexReading, CodexPayload], None]] = {
    **dict.fromkeys(CALLS, CodexReading._call),
    **dict.fromkeys(OUTPUTS, CodexReading._output),
    "message": CodexReading._message,
    "token_count": CodexReading._used,
    "agent_message": CodexReading._say_event,
    "user_message": CodexReading._typed_event,
    "reasoning": CodexReading._think,
    "turn_context": CodexReading._context,
    "task_started": CodexReading._context,
    "turn_started": CodexReading._context,
    "exec_command_end": CodexReading._ran,
    "patch_apply_end": CodexReading._patched,
    "mcp_tool_call_end": CodexReading._served,
    "turn_aborted": CodexReading._aborted,
    "task_complete": CodexReading._done,
    "turn_complete": CodexReading._done,
    "error": CodexReading._failed,
    "thread_name_updated": CodexReading._renamed,
    "item_completed": CodexReading._completed,
}
