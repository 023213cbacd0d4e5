"""Reading a rollout of Codex of any era: prompts, answers with their calls and results, and what was used.

A message of the model is what stands between two batches of results: texts and calls up to the first result, and the
results. Events and items tell most things twice; each makes one turn.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from lerim.sessions.call_drafts import CallDrafts
from lerim.sessions.codex_calls import ALONE, CALLS, OUTPUTS, opened
from lerim.sessions.codex_files import began, named
from lerim.sessions.codex_human import begins_in, of_event, of_item, printed, unattended
from lerim.sessions.codex_outputs import output
from lerim.sessions.codex_records import Line, Payload, Record, decode, payload_of
from lerim.sessions.codex_results import Results
from lerim.sessions.codex_tally import CodexTally
from lerim.sessions.jsonl import LineReading
from lerim.sessions.model import Session, Transcript
from lerim.sessions.shapes import fields, parts, text_of
from lerim.sessions.shapes import read as shaped
from lerim.sessions.tally import NO_TOKENS
from lerim.sessions.turn_drafts import REACH, Draft, own_command
from lerim.sessions.typed import OWN, Typed, cut
from lerim.sessions.values import ends, known, moment, plain

_PLAN, _PLAN_END = "<proposed_plan>", "</proposed_plan>"


def _around_plans(text: str) -> list[str]:
    """A text without the plans proposed in it, and then those plans."""
    around: list[str] = []
    plans: list[str] = []
    at = 0
    while (start := text.find(_PLAN, at)) >= 0 and (end := text.find(_PLAN_END, start)) >= 0:
        around.append(text[at:start])
        at = end + len(_PLAN_END)
        plans.append(text[start:at])
    return ["".join([*around, text[at:]]), *plans]


class _Held(NamedTuple):
    """A message of the user that nothing has confirmed to be typed by a person yet."""

    words: Typed
    time: datetime | None
    text: str


class Reading(LineReading[Line | Record, CodexTally, CallDrafts]):
    """One pass over a rollout; see `LineReading`."""

    def __init__(self, transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> None:
        self._title = named(transcript)
        self._draft: Draft | None = None
        self._answering = False
        self._held: list[_Held] = []
        self._thinking: list[str] = []
        drafts = CallDrafts()
        self._results = Results(drafts, brief=brief)
        super().__init__(transcript, resume, CodexTally(thread=transcript.session_id), drafts, brief=brief)

    _decode = staticmethod(decode)

    def _session(self) -> Session:
        return self._tally.thread_session(self.transcript, self._title)

    def _take(self, record: Line | Record) -> None:
        said = record.payload or payload_of(record)
        kind = said.type or record.type or ""
        how = _TELLS.get(kind)
        if how is None:
            if kind != "session_meta" and (kind or record.payload is not None or not said.id):
                return
            how = Reading._meta
        if kind in _OPENS and not (self._answering and kind in CALLS):
            self._keep()
        tally = self._tally
        self._time = time = moment(record.timestamp) or tally.bare
        if time is not None:
            tally.at(time)
        how(self, said)

    # --- where and when ------------------------------------------------------------------------------------------

    def _meta(self, said: Payload) -> None:
        tally = self._tally
        if not said.type and isinstance(said, Record):
            tally.bare = self._time or began(self.transcript.path.name)
        native = known(said.id)
        if not tally.turns:
            tally.thread = native or tally.thread or self.transcript.session_id
        if tally.own:
            tally.forked = tally.forked or bool(native and native != tally.own)
            return
        tally.own = native or self.transcript.session_id
        tally.forked, tally.copied = bool(said.forked_from_id), self._time
        tally.be(said.cwd)
        tally.version = plain(said.cli_version)[:50]
        if said.git is not None and said.git.branch:
            tally.branch = plain(said.git.branch)[:500]
            tally.branches = (tally.branch,)
        tally.parent = plain(said.parent_thread_id)[:200]
        when = moment(said.timestamp)
        if said.forked_from_id or said.parent_thread_id:
            tally.born = int(when.timestamp() * 1000) if when else 0
        source = fields(said.source)
        known_as = [text_of(raw) or ("other" if fields(raw) else "") for raw in (said.source, said.thread_source)]
        tally.unattended = unattended(known_as[0], known_as[1], plain(said.originator))
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
            tally.parent = plain(parent)[:200]
        tally.mute = isinstance(subagent, dict) and "other" in subagent

    def _context(self, said: Payload) -> None:
        self._tally.begin_task(said.turn_id)
        self._tally.be(said.cwd)
        if said.model:
            self._tally.engine = plain(said.model)[:200]

    # --- what people and the model said --------------------------------------------------------------------------

    def _message(self, said: Payload) -> None:
        if said.role == "assistant":
            self._say("item", "".join(parts(said.content)), known(said.id))
        elif said.role == "user":
            self._typed_item(said)

    def _say_event(self, said: Payload) -> None:
        text = text_of(said.message)
        if text:  # between agents, an item of this name holds content: that is no word of this one
            self._say("event", text, "")

    def _say(self, source: str, text: str, native: str) -> None:
        """Something the model said. An event leaves out the plan that its item proposes."""
        text = plain(cut(text, (OWN, "oai-mem-citation")))
        for said in _around_plans(text):
            self._say_once(source, said, native)

    def _say_once(self, source: str, text: str, native: str) -> None:
        if text.strip() and not self._skipped() and not self._tally.paired(source, text):
            self._answer(native, text, told=False).texts.append(text)

    def _typed_event(self, said: Payload) -> None:
        words, _ = of_event(said)
        self._confirm(words, text_of(said.message))

    def _confirm(self, words: Typed | None, text: str) -> None:
        """An event tells what a person typed; what messages held before it told the same, or nothing typed."""
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

    def _typed_item(self, said: Payload) -> None:
        tally = self._tally
        words, text = of_item(said)
        if words is None or tally.child:
            tally.injected += 1
            tally.be(begins_in(text))
        elif words.kind == "shell":
            if not tally.paired("item", text):
                self._prompt(words, text)
        elif tally.bare:
            self._prompt(words, text)
        else:
            self._wait()
            self._held.append(_Held(words, self._time, text))

    def _promote(self) -> None:
        """No event came for what messages held: where there are none at all they tell what was typed."""
        held, self._held = self._held, []
        if self._tally.events:
            self._tally.injected += len(held)
        else:
            start, now = self._open, self._time
            for one in held:
                self._open, self._time = start, one.time
                self._prompt(one.words, one.text)
            self._time = now

    def _prompt(self, words: Typed, text: str) -> None:
        if self._skipped():
            return
        if words.kind == "prompt":
            self._tally.unpaired = ()
        native = self._tally.native("user", words.text)
        if not self._tally.new(self._seen, f"turn:{native}"):
            return
        draft = self._turn("user", words.kind, native, aside=self._tally.child)
        draft.unattended = self._tally.unattended
        self._answering, self._thinking = False, []
        self._tally.say(words)
        self._results.leave(self._line)
        draft.texts.append(words.text)
        if words.kind == "shell":
            told = output(msgspec.Raw(msgspec.json.encode(printed(text))))
            shown, left_out = ends(told.text)
            call = replace(own_command(words.text), status=told.status or "ok", exit_code=told.exit_code)
            draft.calls.append(replace(call, output=shown, output_cut=left_out))

    def _think(self, said: Payload) -> None:
        if self._brief or self._skipped():
            return
        told = [text for text in parts(said.summary) or parts(said.content) if text]
        if not told:
            return
        thoughts = [plain(cut(text, (OWN,))) for text in told]
        if self._draft is not None and self._answering and not self._held:
            self._draft.reasoning += thoughts
            self._draft.last = self._line
        else:
            self._wait()
            self._thinking += thoughts

    # --- what was done -------------------------------------------------------------------------------------------

    def _call(self, said: Payload) -> None:
        tally = self._tally
        native = known(said.call_id) or known(said.id)
        if self._skipped() or (native and not tally.new(self._seen, f"call:{native}")):
            return
        one = opened(said, brief=self._brief)
        draft = self._answer(native, f"{one.name}\n{one.command}", told=True)
        tally.tool_calls += 1
        self._drafts.call(draft, one)
        if said.type in ALONE:
            draft.waiting -= 1
        else:
            self._results.expect(said, one)

    def _output(self, said: Payload) -> None:
        self._answering = False
        native = known(said.call_id)
        if not self._skipped() and (not native or self._tally.new(self._seen, f"out:{native}")):
            denials, errors = self._results.take(said, self._line)
            self._tally.denials += denials
            self._tally.tool_errors += errors

    # --- what else is told ---------------------------------------------------------------------------------------

    def _used(self, said: Payload) -> None:
        usage = said.info.total_token_usage if said.info else None
        if said.info is None or usage is None:
            return
        more, tally, draft = self._tally.use(usage, said.info.last_token_usage), self._tally, self._draft
        if draft is not None and not any(draft.tokens):
            draft.tokens, draft.last = more, self._line
        else:  # told before the message it is for
            owed = tally.owed
            tally.owed = (owed[0] + more[0], owed[1] + more[1], owed[2] + more[2], owed[3] + more[3])

    def _ran(self, said: Payload) -> None:
        self._results.ran(said, self._line)

    def _served(self, said: Payload) -> None:
        native = known(said.call_id)
        if not self._skipped() and native and self._results.served(said, self._line):
            self._tally.denials += self._tally.new(self._seen, f"out:{native}")

    def _patched(self, said: Payload) -> None:
        self._results.patched(said, self._line)

    def _aborted(self, _: Payload) -> None:
        self._drafts.interrupt(self._line)

    def _done(self, said: Payload) -> None:
        self._tally.api_errors += bool(fields(said.error))
        self._results.leave(self._line)

    def _failed(self, _: Payload) -> None:
        self._tally.api_errors += 1

    def _renamed(self, said: Payload) -> None:
        self._tally.thread_name = plain(said.thread_name)[:120] or self._tally.thread_name

    def _completed(self, said: Payload) -> None:
        """In threads kept by pages the items stand where others have events."""
        item = shaped(said.item, Payload)
        if item.type == "UserMessage":
            self._confirm(*of_item(item))
        elif item.type == "AgentMessage":
            self._say("event", "".join(parts(item.content)), "")
        elif item.status == "failed":
            self._results.ran(replace(item, call_id=item.id, exit_code=item.exit_code or 1), self._line)

    # --- turns ---------------------------------------------------------------------------------------------------

    def _skipped(self) -> bool:
        """Whether this is no part of the thread's own work: a parent's, copied for a subagent, or a judge's."""
        return self._tally.mute or (self._tally.child and self._tally.replayed)

    def _answer(self, native: str, text: str, *, told: bool) -> Draft:
        """The message of the model that a text or call belongs to. `told`: it is certain that `native` is new."""
        if self._held:
            self._promote()
        draft = self._draft
        if draft is not None and self._answering and self._line - draft.first <= REACH:
            draft.last = self._line
            return draft
        tally = self._tally
        if not native or not told:
            native = self._fresh(native or tally.native("assistant", text))
        self._draft = draft = self._turn("assistant", "reply", native, aside=self._tally.child)
        draft.model, draft.tokens = tally.engine, tally.owed
        tally.owed = NO_TOKENS
        draft.reasoning, self._thinking = self._thinking, []
        if tally.engine:
            tally.model(tally.engine)
        self._answering = tally.answered = True
        return draft

    def _fresh(self, native: str) -> str:
        while not self._tally.new(self._seen, f"turn:{native}"):
            native += "+"
        return native

    def _wait(self) -> None:
        """What this line says belongs to a turn that begins later."""
        if self._open is None:
            self._open = (self._line, self._before)


_OPENS = CALLS | {"message", "user_message", "agent_message", "reasoning", "item_completed"}
_TELLS: dict[str, Callable[[Reading, Payload], None]] = {
    **dict.fromkeys(CALLS, Reading._call),
    **dict.fromkeys(OUTPUTS, Reading._output),
    "message": Reading._message,
    "token_count": Reading._used,
    "agent_message": Reading._say_event,
    "user_message": Reading._typed_event,
    "reasoning": Reading._think,
    "turn_context": Reading._context,
    "task_started": Reading._context,
    "turn_started": Reading._context,
    "exec_command_end": Reading._ran,
    "patch_apply_end": Reading._patched,
    "mcp_tool_call_end": Reading._served,
    "turn_aborted": Reading._aborted,
    "task_complete": Reading._done,
    "turn_complete": Reading._done,
    "error": Reading._failed,
    "thread_name_updated": Reading._renamed,
    "item_completed": Reading._completed,
}
