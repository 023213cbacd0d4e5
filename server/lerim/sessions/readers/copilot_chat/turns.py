"""The turns of a chat: the person's prompt, and each step of the answer with its tool calls.

A step ends where text or reasoning follows tool calls, because there the model was called again. The chat shows tool
calls with other ids and names than the model used, so they are matched by their order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath, PureWindowsPath

from lerim.sessions.model import NO_TOKENS, Tokens, ToolCall, Turn, make_turn_id
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
from lerim.sessions.readers.copilot_chat.tools import (
    build_chat_call,
    build_edit_call,
    build_question_call,
    chat_tool_kind,
)
from lerim.sessions.readers.engine import cut_blocks, parse_json_or_none, text_outside_blocks, usable_id, without_nul

_OVER = (1, 2, 3)
_FENCE = "```"
"""A part with only this text is put before and after the changes to a file."""
_UNIQUE = 20
"""Ids with at least this many characters are unique; older versions only number their requests."""


@dataclass(slots=True)
class _Step:
    texts: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    shown: list[ChatPart] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)


def milliseconds_to_time(milliseconds: float | None) -> datetime | None:
    """Converts milliseconds since 1970 to a datetime, or returns None if there are none."""
    if not milliseconds or not 0 < milliseconds < 1e14:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def request_tokens(request: ChatRequest) -> Tokens | None:
    """Returns the tokens of a request, from one of three places depending on the version, or None if they are not
    recorded."""
    own = ChatUsage(request.prompt_tokens, request.completion_tokens)
    for used in (request.result.usage if request.result else None, request.usage, own):
        if used is not None and (used.prompt_tokens is not None or used.completion_tokens is not None):
            return Tokens(input=_count(used.prompt_tokens), output=_count(used.completion_tokens))
    return None


def _count(number: int | None) -> int:
    return number if number and 0 < number < 1 << 48 else 0


def parse_chat_prompt(request: ChatRequest) -> str:
    """Returns what the person typed, or '' if they typed nothing (they pressed a button, or the system made the
    request)."""
    if request.confirmation or request.is_system_initiated:
        return ""
    if request.hidden_from_transcript or request.request_hidden_from_transcript:
        return ""
    found = parse_json_or_none(request.message)
    text = found.get("text") if isinstance(found, dict) else found
    if isinstance(text, str) and (said := without_nul(text_outside_blocks(text).strip())):
        return said
    several = found.get("parts") if isinstance(found, dict) else None
    texts = [one.get("text") for one in several if isinstance(one, dict)] if isinstance(several, list) else []
    said = without_nul(text_outside_blocks("".join(one for one in texts if isinstance(one, str))).strip())
    variables = parse_json_or_none(request.variable_data)
    attached = variables.get("variables") if isinstance(variables, dict) else None
    entries = attached if isinstance(attached, list) else []
    images = any(isinstance(one, dict) and one.get("kind") == "image" for one in entries)
    return said or ("[image]" if images else "")


def is_request_over(request: ChatRequest, *, last: bool) -> bool:
    """Checks whether a request is finished, so that nothing will be added to it."""
    state = request.model_state.value if request.model_state else None
    return state in _OVER or bool(request.is_canceled) or not last or (state is None and request.result is not None)


def build_request_turns(
    request: ChatRequest, session: str, ordinal: int, cwd: str, *, last: bool, brief: bool
) -> list[Turn]:
    """Builds the turns of one request."""
    made: list[Turn] = []
    name = _name(request.request_id, session, f"{ordinal}\n{request.timestamp}")
    if said := parse_chat_prompt(request):
        made.append(
            Turn(
                id=make_turn_id("copilot", name),
                ordinal=ordinal,
                role="user",
                kind="prompt",
                text=said,
                time=milliseconds_to_time(request.timestamp),
                cwd=cwd,
            )
        )
    steps = _steps(request, over=is_request_over(request, last=last), brief=brief)
    used = request_tokens(request) or NO_TOKENS
    reply = _name(request.response_id, session, f"{name}\nreply")
    for number, step in enumerate(steps):
        made.append(
            Turn(
                id=make_turn_id("copilot", f"{reply}\n{number}" if number else reply),
                ordinal=ordinal + len(made),
                role="assistant",
                kind="reply",
                text=without_nul(cut_blocks("".join(step.texts))).strip(),
                time=_answered(request),
                cwd=cwd,
                reasoning="" if brief else without_nul(cut_blocks("\n\n".join(step.reasoning))).strip(),
                tool_calls=tuple(step.calls),
                model=_model(request),
                tokens=used if number + 1 == len(steps) else NO_TOKENS,
            )
        )
    return made


def _model(request: ChatRequest) -> str:
    """Returns the model that answered, even if the editor was left to choose it."""
    metadata = request.result.metadata if request.result else None
    chosen = without_nul(request.model_id)
    picked = without_nul(metadata.resolved_model) if metadata and (not chosen or chosen.endswith("/auto")) else ""
    return (picked or chosen)[:200]


def _name(native_id: str | None, session: str, fallback: str) -> str:
    own = usable_id(native_id)
    return own if len(own) >= _UNIQUE else f"{session}\n{own or fallback}"


def _answered(request: ChatRequest) -> datetime | None:
    state = request.model_state
    return milliseconds_to_time(state.completed_at if state and state.completed_at else request.timestamp)


def _steps(request: ChatRequest, *, over: bool, brief: bool) -> list[_Step]:
    shown = chat_parts(request)
    rounds = list_requested_calls(request)
    results = collect_call_results(request)
    wanted = [one for _, calls in rounds for one in calls]
    matched = _matched([one for one in shown if _invokes(one) and not one.sub_agent_invocation_id], wanted)
    steps = _laid_out(shown) or ([_Step()] if rounds else [])
    if not shown and rounds and (said := [text for text, _ in rounds if text]):
        steps[0].texts = ["\n\n".join(said)]
    taken: set[int] = set()
    edited: set[str] = set()
    for step in steps:
        for one in step.shown:
            if not _invokes(one):
                continue
            at = matched.get(id(one))
            own = wanted[at] if at is not None else None
            step.calls.append(build_chat_call(one, own, _result(own, results), over=over, brief=brief))
            taken |= {at} if at is not None else set()
    for at, own in enumerate(wanted):
        if at not in taken:
            _place(steps, at, matched).calls.append(
                build_chat_call(None, own, _result(own, results), over=over, brief=brief)
            )
    calls = [call for step in steps for call in step.calls]
    edited = {_file(path) for call in calls if call.kind in ("edit", "write") for path in call.paths}
    asks = any(call.kind == "ask" for call in calls)
    for step in steps:
        for one in step.shown:
            path = address_path(one.uri) if one.kind in ("textEditGroup", "notebookEditGroup") else ""
            if path and _file(path) not in edited:
                step.calls.append(build_edit_call(without_nul(path), one.edits, brief=brief))
            elif one.kind == "questionCarousel" and not asks:
                step.calls.append(build_question_call(one, over=over))
    return [step for step in steps if step.texts or step.reasoning or step.calls]


def _place(steps: list[_Step], at: int, matched: dict[int, int]) -> _Step:
    """Returns the step with the last shown call before the requested call at index `at`, or the first step if there is
    none."""
    before = {name for name, place in matched.items() if place < at}
    held = [step for step in steps if any(id(one) in before for one in step.shown)]
    return held[-1] if held else steps[0]


def _result(own: RequestedCall | None, results: dict[str, str]) -> str | None:
    return results.get(own.id or "") if own is not None else None


def _file(path: str) -> str:
    return (PureWindowsPath(path) if "\\" in path else PurePosixPath(path)).name.lower()


def _invokes(one: ChatPart) -> bool:
    return one.kind in CALLS


def _laid_out(shown: list[ChatPart]) -> list[_Step]:
    steps: list[_Step] = []
    for one in shown:
        text = _text(one)
        thought = markdown_text(one.value) if one.kind == "thinking" else ""
        acts = _invokes(one) or one.kind in ("textEditGroup", "notebookEditGroup", "questionCarousel")
        if not (text or thought or acts):
            continue
        if not steps or (not acts and steps[-1].shown and (text.strip() or thought)):
            steps.append(_Step())
        step = steps[-1]
        if acts:
            step.shown.append(one)
        elif text:
            step.texts.append(text)
        else:
            step.reasoning.append(thought)
    return steps


def _text(one: ChatPart) -> str:
    """Returns the text of a part that was shown to the person as the answer."""
    if one.kind in ("", None):
        text = markdown_text(one.value)
        return "" if text.strip() == _FENCE else text
    if one.kind in ("markdownContent", "markdownVuln", "warning"):
        return markdown_text(one.content)
    if one.kind == "inlineReference":
        return without_nul(one.name) or _file_name(address_path(one.inline_reference))
    return ""


def _file_name(path: str) -> str:
    return (PureWindowsPath(path) if "\\" in path else PurePosixPath(path)).name


def _matched(shown: list[ChatPart], wanted: list[RequestedCall]) -> dict[int, int]:
    """Maps the `id()` of each shown call to the index of the requested one: by call id, else the next one of the same
    kind, else the next."""
    found: dict[int, int] = {}
    free = list(range(len(wanted)))
    by_id = {one.id: at for at, one in enumerate(wanted) if one.id}
    rest: list[ChatPart] = []
    for one in shown:
        at = by_id.get(one.tool_call_id or "")
        if at is not None and at in free:
            found[id(one)] = at
            free.remove(at)
        else:
            rest.append(one)
    left: list[ChatPart] = []
    for one in rest:
        kind = chat_tool_kind(one.tool_id or "")
        at = next((place for place in free if chat_tool_kind(wanted[place].name or "") == kind), None)
        if at is None:
            left.append(one)
        else:
            found[id(one)] = at
            free.remove(at)
    found.update({id(one): at for one, at in zip(left, free, strict=False)})
    return found
