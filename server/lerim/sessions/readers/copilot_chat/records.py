"""The parts of a VS Code chat that are used, in every version of its format; all others are skipped unread."""

from __future__ import annotations

import msgspec

from lerim.sessions.readers.engine import (
    JSON_NULL,
    find_text,
    list_objects,
    parse_fields,
    parse_json_or_none,
    parse_object,
    parse_objects,
    split_json_array,
)

CALLS = ("toolInvocationSerialized", "toolInvocation")
"""The kinds of parts that show a tool call."""


class ModelRound(msgspec.Struct, rename="camel", gc=False):
    """One answer of the model, with the tool calls it requested."""

    response: str | None = ""
    tool_calls: msgspec.Raw = JSON_NULL


class RequestedCall(msgspec.Struct, gc=False):
    """A tool call as the model requested it; `arguments` is JSON."""

    id: str | None = ""
    name: str | None = ""
    arguments: str | None = ""


class AnswerMetadata(msgspec.Struct, rename="camel", gc=False):
    """The agent's record of an answer."""

    tool_call_rounds: msgspec.Raw = JSON_NULL
    tool_call_results: msgspec.Raw = JSON_NULL
    resolved_model: str | None = ""


class ChatUsage(msgspec.Struct, rename="camel", gc=False):
    """Token counts of a request, in the versions that record them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class RequestResult(msgspec.Struct, rename="camel", gc=False):
    """How a request ended."""

    metadata: AnswerMetadata | None = None
    usage: ChatUsage | None = None


class ModelState(msgspec.Struct, rename="camel", gc=False):
    """0 pending, 1 complete, 2 cancelled, 3 failed, 4 waiting for the person."""

    value: int | None = None
    completed_at: float | None = None


class ChatRequest(msgspec.Struct, rename="camel", gc=False):
    """A person's request, with the answer."""

    request_id: str | None = ""
    response_id: str | None = ""
    timestamp: float | None = None
    message: msgspec.Raw = JSON_NULL
    variable_data: msgspec.Raw = JSON_NULL
    response: msgspec.Raw = JSON_NULL
    result: RequestResult | None = None
    usage: ChatUsage | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model_id: str | None = ""
    model_state: ModelState | None = None
    is_canceled: bool | None = False
    confirmation: str | None = ""
    is_system_initiated: bool | None = False
    hidden_from_transcript: bool | None = False
    request_hidden_from_transcript: bool | None = False


class ChatPart(msgspec.Struct, rename="camel", gc=False):
    """One part of an answer, of any kind; the kind '' is markdown."""

    kind: str | None = ""
    value: msgspec.Raw = JSON_NULL
    content: msgspec.Raw = JSON_NULL
    tool_id: str | None = ""
    tool_call_id: str | None = ""
    invocation_message: msgspec.Raw = JSON_NULL
    is_confirmed: msgspec.Raw = JSON_NULL
    is_complete: bool | None = False
    tool_specific_data: msgspec.Raw = JSON_NULL
    result_details: msgspec.Raw = JSON_NULL
    result_error: msgspec.Raw = JSON_NULL
    sub_agent_invocation_id: str | None = ""
    uri: msgspec.Raw = JSON_NULL
    edits: msgspec.Raw = JSON_NULL
    inline_reference: msgspec.Raw = JSON_NULL
    name: str | None = ""


def chat_parts(request: ChatRequest) -> list[ChatPart]:
    """Returns the parts of an answer. A plain string is markdown; anything else that is not an object is left out. If a
    tool call appears again later, that part replaces the first one in its place."""
    parts: list[ChatPart] = []
    index_by_call: dict[str, int] = {}
    for raw in split_json_array(request.response):
        try:
            part = parse_object(raw, ChatPart)
        except ValueError:
            if isinstance(parse_json_or_none(raw), str):
                parts.append(ChatPart(value=raw))
            continue
        if part.tool_call_id and part.kind in CALLS:
            index = index_by_call.setdefault(part.tool_call_id, len(parts))
            if index < len(parts):
                parts[index] = part
                continue
        parts.append(part)
    return parts


def list_requested_calls(request: ChatRequest) -> list[tuple[str, list[RequestedCall]]]:
    """Returns the answers of the model to a request, each with its tool calls; empty while the request is in
    progress."""
    metadata = request.result.metadata if request.result else None
    rounds = parse_objects(metadata.tool_call_rounds, ModelRound) if metadata else []
    return [(one.response or "", parse_objects(one.tool_calls, RequestedCall)) for one in rounds]


def collect_call_results(request: ChatRequest) -> dict[str, str]:
    """Returns the result of each tool call, by the call's id."""
    metadata = request.result.metadata if request.result else None
    results = parse_fields(metadata.tool_call_results) if metadata else {}
    return {name: _result_text(result) for name, result in results.items()}


def _result_text(result: object) -> str:
    content = result.get("content") if isinstance(result, dict) else None
    texts: list[str] = []
    for part in list_objects(content):
        value = part.get("value")
        if isinstance(value, str):
            texts.append(value)
        elif isinstance(value, dict):
            texts.append(_render_node(value.get("node")))
    return "\n".join(text for text in texts if text)


def _render_node(node: object) -> str:
    """Returns the text of a tree of prompt elements, in order."""
    pieces: list[str] = []
    nodes = [node]
    while nodes:
        current = nodes.pop()
        if not isinstance(current, dict):
            continue
        if isinstance(text := current.get("text"), str):
            pieces.append(f"\n{text}" if current.get("lineBreakBefore") and pieces else text)
        if isinstance(children := current.get("children"), list):
            nodes += reversed(children)
    return "".join(pieces)


def markdown_text(raw: msgspec.Raw) -> str:
    """Returns the text of a markdown value: a string, a list of strings, or an object that contains one."""
    value = parse_json_or_none(raw)
    if isinstance(value, dict):
        value = value.get("value")
    if isinstance(value, list):
        return "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""


def address_path(raw: msgspec.Raw) -> str:
    """Returns the path of a URI stored as an object, as written on its own machine, or '' if there is none."""
    address = parse_fields(raw)
    inner = address.get("uri")
    return find_text(inner if isinstance(inner, dict) else address, "fsPath", "path")
