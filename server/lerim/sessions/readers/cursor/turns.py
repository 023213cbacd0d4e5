"""Builds Cursor's turns from pieces: prompts, and the model's texts, reasoning and tool calls, in order."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from itertools import accumulate

from msgspec.structs import replace

from lerim.sessions.model import NO_TOKENS, Role, Tokens, ToolCall, ToolStatus, Turn, make_turn_id
from lerim.sessions.readers.cursor.calls import close_cursor_call
from lerim.sessions.readers.cursor.folders import common_folder
from lerim.sessions.readers.cursor.human import PLAN_ORDER, cut_fix_order, parse_cursor_prompt, parse_prompt_time
from lerim.sessions.readers.cursor.records import AnswerTiming, Bubble, extract_rich_text, parse_cursor_time
from lerim.sessions.readers.engine import plausible_count, split_json_array, without_nul


@dataclass(slots=True)
class CursorSessionBuilder:
    """A session that is built from its pieces. `model` is used for pieces that name none; `brief` leaves out
    reasoning; `is_subagent`: an agent writes the prompts instead of the person."""

    session: str
    model: str = ""
    brief: bool = False
    is_subagent: bool = False
    tokens: Tokens | None = None
    _turns: list[Turn] = field(default_factory=list)
    _turn_of_call: dict[str, int] = field(default_factory=dict)
    _seen_ids: Counter[str] = field(default_factory=Counter)
    _can_join: bool = False

    def add_bubble(self, bubble: Bubble, calls: tuple[ToolCall, ...] = ()) -> None:
        """Adds a bubble of an editor chat; the bubbles of one answer of the model become one turn."""
        self._count_usage(bubble)
        model = bubble.model_info.name if bubble.model_info is not None else bubble.model_type
        timing = bubble.timing_info or AnswerTiming()
        times = map(parse_cursor_time, (bubble.created_at, timing.start, timing.sent))
        time = next(filter(None, times), None)
        native_id = bubble.bubble_id or bubble.id or ""
        if bubble.type in (1, "user"):
            self.model = without_nul(model) or self.model
            if bubble.is_simulated_msg:
                self._approve_last_plan()
            else:
                text = bubble.text or extract_rich_text(bubble.rich_text) or extract_rich_text(bubble.init_text)
                self.add_prompt(text, native_id, time, images=_has_images(bubble))
            return
        reasoning = (
            bubble.thinking if isinstance(bubble.thinking, str) else bubble.thinking.text if bubble.thinking else ""
        )
        text = without_nul(bubble.text or bubble.raw_text).strip()
        if text or reasoning or calls:
            self.add_reply(
                text,
                without_nul(reasoning).strip(),
                calls,
                native_id,
                time,
                without_nul(model),
                _bubble_tokens(bubble),
                continues_turn=True,
            )

    def add_prompt(self, text: str, native_id: str, time: datetime | None = None, *, images: bool = False) -> None:
        """Adds a user message: the person's words become a turn, anything else is left out."""
        typed, order, _ = parse_cursor_prompt(text).partition(PLAN_ORDER)
        if order:
            self._approve_last_plan()
        typed = cut_fix_order(typed.strip()) or ("[image]" if images else "")
        if not typed or self.is_subagent:
            self._can_join = self._can_join and not self.is_subagent
            return
        self._begin_turn("user", typed, native_id, time or parse_prompt_time(text), "")
        self._can_join = False

    def add_reply(
        self,
        text: str,
        reasoning: str = "",
        calls: tuple[ToolCall, ...] = (),
        native_id: str = "",
        time: datetime | None = None,
        model: str = "",
        tokens: Tokens = NO_TOKENS,
        *,
        continues_turn: bool = False,
    ) -> None:
        """Adds a piece of the model's answer. With `continues_turn`, it continues the last turn, unless text or
        reasoning follows tool calls."""
        last = self._turns[-1] if self._turns else None
        if not (continues_turn and self._can_join and last is not None) or (last.tool_calls and (text or reasoning)):
            last = self._begin_turn("assistant", text or reasoning, native_id, time, model or self.model)
        self._turns[-1] = replace(
            last,
            text=_join_paragraphs(last.text, text),
            reasoning=last.reasoning if self.brief else _join_paragraphs(last.reasoning, reasoning),
            tool_calls=last.tool_calls + calls,
            tokens=last.tokens + tokens,
        )
        self._turn_of_call.update((call.id, len(self._turns) - 1) for call in calls)
        self._can_join = continues_turn

    def add_result(self, call_id: str, status: ToolStatus, output: str) -> None:
        """Adds the result of a tool call made in an earlier turn."""
        if (index := self._turn_of_call.pop(call_id, None)) is not None:
            calls = (
                close_cursor_call(call, status, output, brief=self.brief) if call.id == call_id else call
                for call in self._turns[index].tool_calls
            )
            self._turns[index] = replace(self._turns[index], tool_calls=tuple(calls))

    def find_call_folder(self) -> str:
        return common_folder(path for turn in self._turns for call in turn.tool_calls for path in call.paths)

    def build_turns(self, cwd: str, branch: str = "") -> list[Turn]:
        """Returns the turns. A turn without a time takes the first one in its exchange, because the store may keep one
        time for a prompt and all its answers."""
        time_of_exchange: dict[int, datetime] = {}
        exchanges = list(accumulate(turn.role == "user" for turn in self._turns))
        for exchange, turn in zip(exchanges, self._turns, strict=True):
            if turn.time is not None:
                time_of_exchange.setdefault(exchange, turn.time)
        return [
            replace(turn, cwd=cwd, branch=branch, time=turn.time or time_of_exchange.get(exchange))
            for exchange, turn in zip(exchanges, self._turns, strict=True)
        ]

    def _begin_turn(self, role: Role, text: str, native_id: str, time: datetime | None, model: str) -> Turn:
        """Begins a new turn. If the store has no id or repeats one, the id is derived from the text and how often it
        occurred before."""
        if not native_id or self._seen_ids[native_id]:
            native_id = f"{self.session}\n{role}\n{text}"
            native_id = f"{native_id}\n{self._seen_ids[native_id]}" if self._seen_ids[native_id] else native_id
        self._seen_ids[native_id] += 1
        turn = Turn(
            id=make_turn_id("cursor", native_id),
            ordinal=len(self._turns),
            role=role,
            kind="prompt" if role == "user" else "reply",
            text=text if role == "user" else "",
            time=time,
            cwd="",
            model=model,
            sidechain=self.is_subagent,
        )
        self._turns.append(turn)
        return turn

    def _approve_last_plan(self) -> None:
        """Marks the last plan since the last prompt as approved: the editor sends a message on the person's behalf when
        they have a plan carried out."""
        for index, turn in reversed(list(enumerate(self._turns))):
            calls = tuple(map(_approve_plan, turn.tool_calls))
            if turn.role == "user" or calls != turn.tool_calls:
                self._turns[index] = replace(turn, tool_calls=calls)
                break

    def _count_usage(self, bubble: Bubble) -> None:
        tokens = _bubble_tokens(bubble)
        if tokens != NO_TOKENS:
            self.tokens = (self.tokens or NO_TOKENS) + tokens


def _approve_plan(call: ToolCall) -> ToolCall:
    is_waiting = call.kind == "plan" and call.status == "pending"
    return replace(call, status="ok", output="", output_cut=0) if is_waiting else call


def _join_paragraphs(first: str, second: str) -> str:
    return "\n\n".join(one for one in (first, second) if one)


def _bubble_tokens(bubble: Bubble) -> Tokens:
    counts = bubble.token_count
    return Tokens(plausible_count(counts.input), plausible_count(counts.output)) if counts is not None else NO_TOKENS


def _has_images(bubble: Bubble) -> bool:
    return bool(split_json_array(bubble.images) or split_json_array(bubble.selected_images))
