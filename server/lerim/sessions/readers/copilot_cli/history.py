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


class _Shown(msgspec.Struct, rename="camel", gc=False):
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
    timeline: list[_Shown] | None = None


_REFUSED = ("rejected", "denied")
_FAILED = ("failure", "error", *_REFUSED)


def load_cli_history(transcript: Transcript, *, brief: bool) -> LoadedSession:
    """Loads such a session with its turns. Raises TranscriptError if it cannot be read."""
    events = partial(_events, transcript=transcript)
    return load_single_object(transcript, _History, events, CopilotReading(transcript, brief=brief))


def _events(history: _History, transcript: Transcript) -> list[CliEvent]:
    """Converts a history to the events of today's sessions. Ids are made from the session's id and the position of the
    message."""
    native_id = history.session_id or transcript.session_id
    shown = history.timeline or []
    typed = [one for one in shown if one.type == "user" and one.text]
    outcomes = {one.call_id: one.result for one in shown if one.call_id and one.type == "tool_call_completed"}
    start = CliEventData(selected_model=history.selected_model, context=CliContext(cwd=transcript.cwd))
    events = [CliEvent("session.start", f"{native_id} start", history.start_time, data=start)]
    time = history.start_time
    for at, message in enumerate(history.chat_messages or ()):
        text = "\n".join(content_texts(message.content))
        if message.role == "user":
            told = next((one for one in typed if one.text and one.text in text), None)
            if told is not None:
                typed.remove(told)
                text, time = told.text or "", told.timestamp or time
            events.append(CliEvent("user.message", f"{native_id} {at}", time, data=CliEventData(content=_raw(text))))
        elif message.role == "assistant":
            asked = [
                CliToolRequest(one.id, one.function.name, one.function.arguments) for one in message.tool_calls or ()
            ]
            said = CliEventData(content=_raw(text), message_id=f"{native_id} {at}", tool_requests=asked)
            events.append(CliEvent("assistant.message", f"{native_id} {at}", time, data=said))
        elif message.role == "tool":
            events.append(
                CliEvent(
                    "tool.execution_complete",
                    f"{native_id} {at}",
                    time,
                    data=_result(message, text, outcomes.get(message.tool_call_id or "")),
                )
            )
    return events


def _result(message: _Message, text: str, outcome: _Outcome | None) -> CliEventData:
    if outcome is not None and outcome.type in _FAILED:
        fault = {"message": text or outcome.log, "code": "rejected" if outcome.type in _REFUSED else "failure"}
        return CliEventData(tool_call_id=message.tool_call_id, success=False, error=_raw(fault))
    return CliEventData(tool_call_id=message.tool_call_id, success=True, result=_raw({"content": text}))


def _raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))
