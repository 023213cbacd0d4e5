"""The turns of a chat: the person's prompt, and each step of the answer with its tool calls.

A step ends where text or reasoning follows tool calls, because the model was called again at that point. The chat
shows tool calls with other ids and names than the model used, so they are matched by their order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from lerim.sessions.model import NO_TOKENS, Tokens, ToolCall, Turn, make_turn_id
from lerim.sessions.readers.copilot_chat.calls import build_chat_call, build_edit_call, chat_tool_kind
from lerim.sessions.readers.copilot_chat.records import (
    CALLS,
    ChatPart,
    ChatRequest,
    ChatUsage,
    RequestedCall,
    address_path,
    chat_parts,
    collect_call_results,
    list_requested_calls,
    markdown_text,
)
from lerim.sessions.readers.engine import (
    cut_blocks,
    file_name,
    find_text,
    list_objects,
    milliseconds_to_time,
    parse_fields,
    parse_json_or_none,
    plausible_count,
    text_outside_blocks,
    usable_id,
    without_nul,
)

_EDITS = ("textEditGroup", "notebookEditGroup")
_FINISHED_STATES = (1, 2, 3)
_FENCE = "```"
"""The whole text of the parts that come before and after the changes to a file."""
_UNIQUE_ID_LENGTH = 20
"""Ids with at least this many characters are unique; older versions only number their requests."""


@dataclass(slots=True)
class _Step:
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    shown: list[ChatPart] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


def request_tokens(request: ChatRequest) -> Tokens | None:
    """Returns the tokens of a request, from one of three places depending on the version, or None if they are not
    recorded."""
    request_usage = ChatUsage(request.prompt_tokens, request.completion_tokens)
    for usage in (request.result.usage if request.result else None, request.usage, request_usage):
        if usage is not None and (usage.prompt_tokens is not None or usage.completion_tokens is not None):
            return Tokens(input=plausible_count(usage.prompt_tokens), output=plausible_count(usage.completion_tokens))
    return None


def parse_chat_prompt(request: ChatRequest) -> str:
    """Returns what the person typed, or '' if they typed nothing (they pressed a button, or the system made the
    request)."""
    if request.confirmation or request.is_system_initiated:
        return ""
    if request.hidden_from_transcript or request.request_hidden_from_transcript:
        return ""
    message = parse_json_or_none(request.message)
    fields = message if isinstance(message, dict) else {"text": message}
    parts = "".join(find_text(one, "text") for one in list_objects(fields.get("parts")))
    for text in (find_text(fields, "text"), parts):
        if typed := text_outside_blocks(text).strip():
            return typed
    variables = list_objects(parse_fields(request.variable_data).get("variables"))
    return "[image]" if any(one.get("kind") == "image" for one in variables) else ""


def is_request_over(request: ChatRequest, *, is_last: bool) -> bool:
    """Checks whether a request is finished, so that nothing will be added to it."""
    state = request.model_state.value if request.model_state else None
    return (
        state in _FINISHED_STATES
        or bool(request.is_canceled)
        or not is_last
        or (state is None and request.result is not None)
    )


def build_request_turns(
    request: ChatRequest, session: str, ordinal: int, cwd: str, *, is_last: bool, brief: bool
) -> list[Turn]:
    """Builds the turns of one request."""
    turns: list[Turn] = []
    prompt_key = _make_key(request.request_id, session, f"{ordinal}\n{request.timestamp}")
    if typed := parse_chat_prompt(request):
        turns.append(
            Turn(
                id=make_turn_id("copilot", prompt_key),
                ordinal=ordinal,
                role="user",
                kind="prompt",
                text=typed,
                time=milliseconds_to_time(request.timestamp),
                cwd=cwd,
            )
        )
    steps = _build_steps(request, is_over=is_request_over(request, is_last=is_last), brief=brief)
    tokens = request_tokens(request) or NO_TOKENS
    reply_key = _make_key(request.response_id, session, f"{prompt_key}\nreply")
    for number, step in enumerate(steps):
        turns.append(
            Turn(
                id=make_turn_id("copilot", f"{reply_key}\n{number}" if number else reply_key),
                ordinal=ordinal + len(turns),
                role="assistant",
                kind="reply",
                text=without_nul(cut_blocks("".join(step.texts))).strip(),
                time=_answer_time(request),
                cwd=cwd,
                reasoning="" if brief else without_nul(cut_blocks("\n\n".join(step.reasoning))).strip(),
                tool_calls=tuple(step.calls),
                model=_model(request),
                tokens=tokens if number + 1 == len(steps) else NO_TOKENS,
            )
        )
    return turns


def _model(request: ChatRequest) -> str:
    """Returns the model that answered, also if the person let the editor choose it."""
    metadata = request.result.metadata if request.result else None
    chosen = without_nul(request.model_id)
    resolved = without_nul(metadata.resolved_model) if metadata and (not chosen or chosen.endswith("/auto")) else ""
    return (resolved or chosen)[:200]


def _make_key(native_id: str | None, session: str, fallback: str) -> str:
    usable = usable_id(native_id)
    return usable if len(usable) >= _UNIQUE_ID_LENGTH else f"{session}\n{usable or fallback}"


def _answer_time(request: ChatRequest) -> datetime | None:
    state = request.model_state
    return milliseconds_to_time(state.completed_at if state and state.completed_at else request.timestamp)


def _build_steps(request: ChatRequest, *, is_over: bool, brief: bool) -> list[_Step]:
    shown = chat_parts(request)
    rounds = list_requested_calls(request)
    results = collect_call_results(request)
    requested = [part for _, calls in rounds for part in calls]
    matched = _match_calls([part for part in shown if _is_call(part) and not part.sub_agent_invocation_id], requested)
    steps = _split_steps(shown) or ([_Step()] if rounds else [])
    if not shown and rounds and (texts := [text for text, _ in rounds if text]):
        steps[0].texts = ["\n\n".join(texts)]

    def build_call(part: ChatPart | None, index: int | None) -> ToolCall:
        own = None if index is None else requested[index]
        result = None if own is None else results.get(own.id or "")
        return build_chat_call(part, own, result, is_over=is_over, brief=brief)

    step_by_index: dict[int, int] = {}
    for number, step in enumerate(steps):
        for part in filter(_is_call, step.shown):
            index = matched.get(id(part))
            step.calls.append(build_call(part, index))
            if index is not None:
                step_by_index[index] = number
    last_step = 0
    for index in range(len(requested)):
        if index in step_by_index:
            last_step = max(last_step, step_by_index[index])
        else:  # not shown: it belongs to the step of the calls requested before it
            steps[last_step].calls.append(build_call(None, index))
    calls = [call for step in steps for call in step.calls]
    edited = {file_name(path).lower() for call in calls if call.kind in ("edit", "write") for path in call.paths}
    for step in steps:
        for part in step.shown:
            path = address_path(part.uri) if part.kind in _EDITS else ""
            if path and file_name(path).lower() not in edited:
                step.calls.append(build_edit_call(without_nul(path), part.edits, brief=brief))
    return [step for step in steps if step.texts or step.reasoning or step.calls]


def _is_call(part: ChatPart) -> bool:
    return part.kind in CALLS


def _split_steps(shown: list[ChatPart]) -> list[_Step]:
    steps: list[_Step] = []
    for part in shown:
        text = _answer_text(part)
        reasoning = markdown_text(part.value) if part.kind == "thinking" else ""
        is_action = _is_call(part) or part.kind in _EDITS
        if not (text or reasoning or is_action):
            continue
        if not steps or (not is_action and steps[-1].shown and (text.strip() or reasoning)):
            steps.append(_Step())
        step = steps[-1]
        if is_action:
            step.shown.append(part)
        elif text:
            step.texts.append(text)
        else:
            step.reasoning.append(reasoning)
    return steps


def _answer_text(part: ChatPart) -> str:
    """Returns the text of a part that was shown to the person as the answer."""
    if part.kind in ("", None):
        text = markdown_text(part.value)
        return "" if text.strip() == _FENCE else text
    if part.kind in ("markdownContent", "markdownVuln", "warning"):
        return markdown_text(part.content)
    if part.kind == "inlineReference":
        return without_nul(part.name) or file_name(address_path(part.inline_reference))
    return ""


def _match_calls(shown: list[ChatPart], requested: list[RequestedCall]) -> dict[int, int]:
    """Maps the `id()` of each shown call to the index of the requested call that it shows: the one with the same
    call id, or else the next one of the same kind, or else the next one."""
    index_by_part: dict[int, int] = {}
    free = dict.fromkeys(range(len(requested)))
    by_id = {one.id: index for index, one in enumerate(requested) if one.id}
    kinds = [chat_tool_kind(one.name or "") for one in requested]

    def find_same_kind(part: ChatPart) -> int | None:
        kind = chat_tool_kind(part.tool_id or "")
        return next((index for index in free if kinds[index] == kind), None)

    for find in (lambda part: by_id.get(part.tool_call_id), find_same_kind, lambda _: next(iter(free), None)):
        for part in shown:
            index = None if id(part) in index_by_part else find(part)
            if index is not None and index in free:
                index_by_part[id(part)] = index
                del free[index]
    return index_by_part
