"""Reads sessions of the first Copilot CLI: one JSON object with the messages as the model received them, and the
timeline that the person saw."""

from __future__ import annotations

from functools import partial

import msgspec

from lerim.sessions.model import Transcript
from lerim.sessions.readers.copilot_cli.records import CliContext, CliEvent, CliEventData, CliToolRequest
from lerim.sessions.readers.copilot_cli.turns import CopilotReading
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LoadedSession,
    content_texts,
    find_object,
    find_text,
    list_objects,
    load_single_object,
    parse_json_or_none,
)


class _History(msgspec.Struct, rename="camel", gc=False):
    session_id: str | None = ""
    start_time: str | None = ""
    selected_model: str | None = ""
    chat_messages: msgspec.Raw = JSON_NULL
    timeline: msgspec.Raw = JSON_NULL


_REFUSED_TYPES = ("rejected", "denied")
_FAILED_TYPES = ("failure", "error", *_REFUSED_TYPES)


def load_cli_history(transcript: Transcript, *, brief: bool) -> LoadedSession:
    """Loads a session in this format with its turns. Raises TranscriptError if it cannot be read."""
    events = partial(_convert_history, transcript=transcript)
    return load_single_object(transcript, _History, events, CopilotReading(transcript, brief=brief))


def _convert_history(history: _History, transcript: Transcript) -> list[CliEvent]:
    """Converts a history to the events of today's sessions. Ids are made from the session's id and the position of the
    message."""
    session_id = history.session_id or transcript.session_id
    timeline = list_objects(parse_json_or_none(history.timeline))
    prompts = [one for one in timeline if one.get("type") == "user" and find_text(one, "text")]
    results = [one for one in timeline if one.get("type") == "tool_call_completed"]
    outcomes = {find_text(one, "callId"): find_object(one, "result") for one in results}
    start = CliEventData(selected_model=history.selected_model, context=CliContext(cwd=transcript.cwd))
    events = [CliEvent("session.start", f"{session_id} start", history.start_time, data=start)]
    time = history.start_time
    for index, message in enumerate(list_objects(parse_json_or_none(history.chat_messages))):
        native_id, role = f"{session_id} {index}", message.get("role")
        text = "\n".join(content_texts(_encode_raw(message.get("content"))))
        if role == "user":
            prompt = next((one for one in prompts if find_text(one, "text") in text), None)
            if prompt is not None:
                prompts.remove(prompt)
                text, time = find_text(prompt, "text"), find_text(prompt, "timestamp") or time
            data = CliEventData(content=_encode_raw(text))
            events.append(CliEvent("user.message", native_id, time, data=data))
        elif role == "assistant":
            requests = [_convert_request(one) for one in list_objects(message.get("tool_calls"))]
            data = CliEventData(content=_encode_raw(text), message_id=native_id, tool_requests=requests)
            events.append(CliEvent("assistant.message", native_id, time, data=data))
        elif role == "tool":
            call_id = find_text(message, "tool_call_id")
            data = _convert_result(call_id, text, outcomes.get(call_id, {}))
            events.append(CliEvent("tool.execution_complete", native_id, time, data=data))
    return events


def _convert_request(call: dict[str, object]) -> CliToolRequest:
    function = find_object(call, "function")
    return CliToolRequest(find_text(call, "id"), find_text(function, "name"), _encode_raw(function.get("arguments")))


def _convert_result(call_id: str, text: str, outcome: dict[str, object]) -> CliEventData:
    if (kind := outcome.get("type")) in _FAILED_TYPES:
        code = "rejected" if kind in _REFUSED_TYPES else "failure"
        fault = {"message": text or find_text(outcome, "log"), "code": code}
        return CliEventData(tool_call_id=call_id, success=False, error=_encode_raw(fault))
    return CliEventData(tool_call_id=call_id, success=True, result=_encode_raw({"content": text}))


def _encode_raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
