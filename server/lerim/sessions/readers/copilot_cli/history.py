"""Reads sessions of the first Copilot CLI: one JSON object with the messages as the model received them and the
timeline that was shown."""

from __future__ import annotations

from functools import partial

import msgspec

from lerim.sessions.model import Transcript
from lerim.sessions.readers.copilot_cli.events import CopilotReading
from lerim.sessions.readers.copilot_cli.records import CliContext, CliEvent, CliEventData, CliToolRequest
from lerim.sessions.readers.engine import JSON_NULL, LoadedSession, content_texts, load_single_object


class _Function(msgspec.Struct, gc=False):
    name: str | None = ""
    arguments: msgspec.Raw = JSON_NULL


class _Call(msgspec.Struct, gc=False):
    id: str | None = ""
    function: _Function = msgspec.field(default_factory=_Function)


class _Message(msgspec.Struct, gc=False):
    role: str | None = ""
    content: msgspec.Raw = JSON_NULL
    tool_calls: list[_Call] | None = None
    tool_call_id: str | None = ""


class _Outcome(msgspec.Struct, gc=False):
    type: str | None = ""
    log: str | None = ""


class _TimelineEntry(msgspec.Struct, rename="camel", gc=False):
    type: str | None = ""
    timestamp: str | None = ""
    text: str | None = ""
    call_id: str | None = ""
    result: _Outcome = msgspec.field(default_factory=_Outcome)


class _History(msgspec.Struct, rename="camel", gc=False):
    session_id: str | None = ""
    start_time: str | None = ""
    selected_model: str | None = ""
    chat_messages: list[_Message] | None = None
    timeline: list[_TimelineEntry] | None = None


_REFUSED_TYPES = ("rejected", "denied")
_FAILED_TYPES = ("failure", "error", *_REFUSED_TYPES)


def load_cli_history(transcript: Transcript, *, brief: bool) -> LoadedSession:
    """Loads such a session with its turns. Raises TranscriptError if it cannot be read."""
    events = partial(_convert_history, transcript=transcript)
    return load_single_object(transcript, _History, events, CopilotReading(transcript, brief=brief))


def _convert_history(history: _History, transcript: Transcript) -> list[CliEvent]:
    """Converts a history to the events of today's sessions. Ids are made from the session's id and the position of the
    message."""
    session_id = history.session_id or transcript.session_id
    timeline = history.timeline or []
    prompts = [one for one in timeline if one.type == "user" and one.text]
    outcomes = {one.call_id: one.result for one in timeline if one.call_id and one.type == "tool_call_completed"}
    start = CliEventData(selected_model=history.selected_model, context=CliContext(cwd=transcript.cwd))
    events = [CliEvent("session.start", f"{session_id} start", history.start_time, data=start)]
    time = history.start_time
    for index, message in enumerate(history.chat_messages or ()):
        text = "\n".join(content_texts(message.content))
        if message.role == "user":
            prompt = next((one for one in prompts if one.text and one.text in text), None)
            if prompt is not None:
                prompts.remove(prompt)
                text, time = prompt.text or "", prompt.timestamp or time
            events.append(
                CliEvent("user.message", f"{session_id} {index}", time, data=CliEventData(content=_encode_raw(text)))
            )
        elif message.role == "assistant":
            requests = [
                CliToolRequest(one.id, one.function.name, one.function.arguments) for one in message.tool_calls or ()
            ]
            data = CliEventData(content=_encode_raw(text), message_id=f"{session_id} {index}", tool_requests=requests)
            events.append(CliEvent("assistant.message", f"{session_id} {index}", time, data=data))
        elif message.role == "tool":
            events.append(
                CliEvent(
                    "tool.execution_complete",
                    f"{session_id} {index}",
                    time,
                    data=_convert_result(message, text, outcomes.get(message.tool_call_id or "")),
                )
            )
    return events


def _convert_result(message: _Message, text: str, outcome: _Outcome | None) -> CliEventData:
    if outcome is not None and outcome.type in _FAILED_TYPES:
        fault = {"message": text or outcome.log, "code": "rejected" if outcome.type in _REFUSED_TYPES else "failure"}
        return CliEventData(tool_call_id=message.tool_call_id, success=False, error=_encode_raw(fault))
    return CliEventData(tool_call_id=message.tool_call_id, success=True, result=_encode_raw({"content": text}))


def _encode_raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
