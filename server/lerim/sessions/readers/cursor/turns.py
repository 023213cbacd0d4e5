"""Builds Cursor's turns from pieces: prompts, and the model's texts, reasoning and tool calls, in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from msgspec.structs import replace

from lerim.sessions.model import NO_TOKENS, Role, Tokens, ToolCall, ToolStatus, Turn, make_turn_id
from lerim.sessions.readers.cursor.human import parse_cursor_prompt
from lerim.sessions.readers.cursor.records import Bubble, parse_count, parse_cursor_time, rich_text, split_elements
from lerim.sessions.readers.cursor.tools import close_cursor_call
from lerim.sessions.readers.engine import JSON_NULL, parse_json_or_none, without_nul


@dataclass(slots=True)
class _Draft:
    id: str
    role: Role
    time: datetime | None
    model: str
    texts: list[str]
    reasoning: list[str]
    calls: list[ToolCall]
    tokens: Tokens


@dataclass(slots=True)
class CursorSessionBuilder:
    """Builds a session from its pieces. `model` is used for pieces that name none; `brief` leaves out reasoning;
    `child`: an agent writes the prompts instead of the person."""

    session: str
    model: str = ""
    brief: bool = False
    child: bool = False
    injected: int = 0
    api_errors: int = 0
    tokens: Tokens | None = None
    _drafts: list[_Draft] = field(default_factory=list)
    _waiting: dict[str, _Draft] = field(default_factory=dict)
    _seen_ids: Counter[str] = field(default_factory=Counter)
    _joins: bool = False

    def bubble(self, one: Bubble, calls: tuple[ToolCall, ...] = ()) -> None:
        """Adds a bubble of an editor chat; the bubbles of one answer of the model become one turn."""
        self._count(one)
        chosen = one.model_info.name if one.model_info is not None else one.model_type
        time = parse_cursor_time(one.created_at) or (
            parse_cursor_time(one.timing_info.start) if one.timing_info is not None else None
        )
        native_id = one.bubble_id or one.id or ""
        if one.type in (1, "user"):
            self.model = without_nul(chosen) or self.model
            if one.is_simulated_msg:
                self.injected += 1
                self._approve()
            else:
                self.prompt(one.text or rich_text(one.rich_text), native_id, time, images=_shown(one))
            return
        thought = one.thinking if isinstance(one.thinking, str) else one.thinking.text if one.thinking else ""
        text = without_nul(one.text).strip()
        if text or thought or calls:
            self.reply(
                text,
                without_nul(thought).strip(),
                calls,
                native_id,
                time,
                without_nul(chosen),
                _counted(one),
                joins=True,
            )

    def prompt(self, text: str, native_id: str, time: datetime | None = None, *, images: bool = False) -> None:
        """Adds a user message: the person's words become a turn, anything else is only counted."""
        said = parse_cursor_prompt(text) or ("[image]" if images else "")
        if not said or self.child:
            self.injected += bool(text.strip())
            self._joins = self._joins and not self.child
            return
        self._draft("user", said, native_id, time, "", NO_TOKENS)
        self._joins = False

    def reply(
        self,
        text: str,
        thought: str = "",
        calls: tuple[ToolCall, ...] = (),
        native_id: str = "",
        time: datetime | None = None,
        model: str = "",
        tokens: Tokens = NO_TOKENS,
        *,
        joins: bool = False,
    ) -> None:
        """Adds a piece of the model's answer. With `joins`, it continues the last turn, unless text or reasoning
        follows tool calls."""
        last = self._drafts[-1] if self._drafts else None
        if not (joins and self._joins and last is not None) or (last.calls and (text or thought)):
            last = self._draft("assistant", text or thought, native_id, time, model or self.model, tokens)
            last.texts.clear()
        else:
            last.tokens += tokens
        last.texts += [text] if text else []
        last.reasoning += [thought] if thought and not self.brief else []
        for call in calls:
            last.calls.append(call)
            self._waiting[call.id] = last
        self._joins = joins

    def result(self, call_id: str, status: ToolStatus, output: str, subagent: str = "") -> None:
        """Adds the result of a tool call made in an earlier turn."""
        draft = self._waiting.pop(call_id, None)
        for at, call in enumerate(draft.calls if draft is not None else ()):
            if call.id == call_id and draft is not None:
                draft.calls[at] = replace(close_cursor_call(call, status, output, brief=self.brief), subagent=subagent)

    def turns(self, cwd: str, branch: str = "") -> list[Turn]:
        """Returns all turns, in order."""
        return [
            Turn(
                id=draft.id,
                ordinal=ordinal,
                role=draft.role,
                kind="prompt" if draft.role == "user" else "reply",
                text="\n\n".join(draft.texts),
                time=draft.time,
                cwd=cwd,
                branch=branch,
                reasoning="\n\n".join(draft.reasoning),
                tool_calls=tuple(draft.calls),
                model=draft.model,
                tokens=draft.tokens,
                sidechain=self.child,
            )
            for ordinal, draft in enumerate(self._drafts)
        ]

    def _draft(
        self, role: Role, text: str, native_id: str, time: datetime | None, model: str, tokens: Tokens
    ) -> _Draft:
        """Begins a new turn. If the store has no id or repeats one, the id is derived from the text and how often it
        occurred before."""
        if not native_id or self._seen_ids[native_id]:
            native_id = f"{self.session}\n{role}\n{text}"
            native_id = f"{native_id}\n{self._seen_ids[native_id]}" if self._seen_ids[native_id] else native_id
        self._seen_ids[native_id] += 1
        draft = _Draft(make_turn_id("cursor", native_id), role, time, model, [text], [], [], tokens)
        self._drafts.append(draft)
        return draft

    def _approve(self) -> None:
        """Marks the plan in the last turn as approved: the editor sends a message on the person's behalf when they have
        a plan carried out."""
        last = self._drafts[-1] if self._drafts else None
        for at, call in enumerate(last.calls if last is not None else ()):
            if last is not None and call.kind == "plan" and call.status == "pending":
                last.calls[at] = replace(call, status="ok", output="", output_cut=0)

    def _count(self, one: Bubble) -> None:
        used = _counted(one)
        if used != NO_TOKENS:
            self.tokens = (self.tokens or NO_TOKENS) + used
        if one.error_details != JSON_NULL and parse_json_or_none(one.error_details):
            self.api_errors += 1


def _counted(one: Bubble) -> Tokens:
    counted = one.token_count
    return Tokens(parse_count(counted.input), parse_count(counted.output)) if counted is not None else NO_TOKENS


def _shown(one: Bubble) -> bool:
    return bool(split_elements(one.images) or split_elements(one.selected_images))
