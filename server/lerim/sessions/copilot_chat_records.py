"""The parts of a chat in VS Code that are used, in every version of its form; all others are skipped unread."""

from __future__ import annotations

import msgspec

from lerim.sessions.broken_json import part, pieces, shaped
from lerim.sessions.shapes import NOTHING

CALLS = ("toolInvocationSerialized", "toolInvocation")
"""The kinds of parts that show a call of a tool."""


class Round(msgspec.Struct, rename="camel", gc=False):
    """One answer of the model, with the calls it asked for."""

    response: str | None = ""
    tool_calls: msgspec.Raw = NOTHING


class Asked(msgspec.Struct, gc=False):
    """A call as the model asked for it; `arguments` is JSON."""

    id: str | None = ""
    name: str | None = ""
    arguments: str | None = ""


class Metadata(msgspec.Struct, rename="camel", gc=False):
    """What the agent keeps of an answer."""

    tool_call_rounds: msgspec.Raw = NOTHING
    tool_call_results: msgspec.Raw = NOTHING
    resolved_model: str | None = ""


class Usage(msgspec.Struct, rename="camel", gc=False):
    """Tokens of a request, in the versions that tell them."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Failure(msgspec.Struct, gc=False):
    """Why a request failed."""

    message: str | None = ""
    code: str | None = ""


class Result(msgspec.Struct, rename="camel", gc=False):
    """How a request ended."""

    metadata: Metadata | None = None
    usage: Usage | None = None
    error_details: Failure | None = None


class ModelState(msgspec.Struct, rename="camel", gc=False):
    """0 pending, 1 complete, 2 cancelled, 3 failed, 4 waiting for the person."""

    value: int | None = None
    completed_at: float | None = None


class Agent(msgspec.Struct, rename="camel", gc=False):
    """Who answered."""

    extension_version: str | None = ""


class Request(msgspec.Struct, rename="camel", gc=False):
    """What a person asked, with the answer."""

    request_id: str | None = ""
    response_id: str | None = ""
    timestamp: float | None = None
    message: msgspec.Raw = NOTHING
    variable_data: msgspec.Raw = NOTHING
    response: msgspec.Raw = NOTHING
    result: Result | None = None
    response_error_details: Failure | None = None
    usage: Usage | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    model_id: str | None = ""
    agent: Agent | None = None
    model_state: ModelState | None = None
    is_canceled: bool | None = False
    confirmation: str | None = ""
    is_system_initiated: bool | None = False
    hidden_from_transcript: bool | None = False
    request_hidden_from_transcript: bool | None = False


class Chat(msgspec.Struct, rename="camel", gc=False):
    """What is told of a chat itself."""

    session_id: str | None = ""
    creation_date: float | None = None
    last_message_date: float | None = None
    custom_title: str | None = ""
    computed_title: str | None = ""
    working_directory: str | None = ""


class Repository(msgspec.Struct, rename="camel", gc=False):
    """The repository that was open, as newer versions note it."""

    local_branch: str | None = ""


class CommandLine(msgspec.Struct, rename="camel", gc=False):
    """A command as the model wrote it, and as it was changed."""

    original: str | None = ""
    user_edited: str | None = ""
    tool_edited: str | None = ""


class CommandState(msgspec.Struct, rename="camel", gc=False):
    """How a command ended."""

    exit_code: int | None = None


class Output(msgspec.Struct, gc=False):
    """What a command printed."""

    text: str | None = ""


class Specific(msgspec.Struct, rename="camel", gc=False):
    """What is told of a call by its kind; `command` is of older versions."""

    kind: str | None = ""
    command_line: CommandLine | None = None
    command: str | None = ""
    terminal_command_state: CommandState | None = None
    terminal_command_output: Output | None = None
    description: str | None = ""


class Part(msgspec.Struct, rename="camel", gc=False):
    """One part of an answer, of any kind; '' is markdown."""

    kind: str | None = ""
    value: msgspec.Raw = NOTHING
    content: msgspec.Raw = NOTHING
    tool_id: str | None = ""
    tool_call_id: str | None = ""
    invocation_message: msgspec.Raw = NOTHING
    is_confirmed: msgspec.Raw = NOTHING
    is_complete: bool | None = False
    tool_specific_data: Specific | None = None
    result_details: msgspec.Raw = NOTHING
    result_error: msgspec.Raw = NOTHING
    sub_agent_invocation_id: str | None = ""
    uri: msgspec.Raw = NOTHING
    edits: msgspec.Raw = NOTHING
    inline_reference: msgspec.Raw = NOTHING
    name: str | None = ""
    questions: msgspec.Raw = NOTHING
    data: msgspec.Raw = NOTHING


def parts(request: Request) -> list[Part]:
    """The parts of an answer; a part that is no object is left out, a plain text is markdown. A call that is shown
    again once it went on stands where it began."""
    found: list[Part] = []
    places: dict[str, int] = {}
    for one in pieces(request.response):
        try:
            made = shaped(one, Part)
        except ValueError:
            if isinstance(part(one), str):
                found.append(Part(value=one))
            continue
        if made.tool_call_id and made.kind in CALLS:
            place = places.setdefault(made.tool_call_id, len(found))
            if place < len(found):
                found[place] = made
                continue
        found.append(made)
    return found


def asked(request: Request) -> list[tuple[str, list[Asked]]]:
    """The answers of the model that a request took, each with its calls; none while it goes on."""
    metadata = request.result.metadata if request.result else None
    found: list[tuple[str, list[Asked]]] = []
    for one in pieces(metadata.tool_call_rounds) if metadata else ():
        try:
            answer = shaped(one, Round)
        except ValueError:
            continue
        found.append((answer.response or "", [call for raw in pieces(answer.tool_calls) if (call := _asked(raw))]))
    return found


def _asked(raw: msgspec.Raw) -> Asked | None:
    try:
        return shaped(raw, Asked)
    except ValueError:
        return None


def brought(request: Request) -> dict[str, str]:
    """What each call brought back, by the call's id."""
    metadata = request.result.metadata if request.result else None
    found = part(metadata.tool_call_results) if metadata else None
    if not isinstance(found, dict):
        return {}
    return {name: _shown(one) for name, one in found.items() if isinstance(name, str)}


def _shown(result: object) -> str:
    content = result.get("content") if isinstance(result, dict) else None
    texts: list[str] = []
    for one in content if isinstance(content, list) else ():
        told = one.get("value") if isinstance(one, dict) else None
        if isinstance(told, str):
            texts.append(told)
        elif isinstance(told, dict):
            texts.append(_rendered(told.get("node")))
    return "\n".join(text for text in texts if text)


def _rendered(node: object) -> str:
    """The text of a tree of prompt elements, in its order."""
    pieces: list[str] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if not isinstance(one, dict):
            continue
        if isinstance(text := one.get("text"), str):
            pieces.append(f"\n{text}" if one.get("lineBreakBefore") and pieces else text)
        if isinstance(children := one.get("children"), list):
            waiting += reversed(children)
    return "".join(pieces)


def markdown(raw: msgspec.Raw) -> str:
    """The text of a markdown value: a text, several, or an object that holds one."""
    return _markdown(part(raw))


def _markdown(found: object) -> str:
    if isinstance(found, dict):
        found = found.get("value")
    if isinstance(found, list):
        return "".join(one for one in found if isinstance(one, str))
    return found if isinstance(found, str) else ""


def path_of(raw: msgspec.Raw) -> str:
    """The path of an address kept as an object, as written on its own machine; '' where there is none."""
    found = part(raw)
    if isinstance(found, dict) and isinstance(inner := found.get("uri"), dict):
        found = inner
    if not isinstance(found, dict):
        return ""
    for name in ("fsPath", "path"):
        if isinstance(path := found.get(name), str) and path:
            return path
    return ""
