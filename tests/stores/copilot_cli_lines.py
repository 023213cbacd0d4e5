"""Sessions as Copilot CLI writes them, built for tests: real envelopes, made-up words."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from lerim.sessions.model import Readable, Transcript, Turn
from lerim.sessions.readers.copilot_cli.store import open_session
from reading_laws import json_lines as encoded
from reading_laws import moment, taken, transcript_of

SESSION = "5d0c4c0e-6a0e-4a55-9b7e-3a0f7a1f0c47"
_numbers = itertools.count()

Fields = dict[str, Any]


def event(type_: str, /, _more: Fields | None = None, **data: Any) -> Fields:
    number = next(_numbers)
    native = f"{number:08x}-0000-4000-8000-000000000000"
    return {"type": type_, "data": data, "id": native, "timestamp": moment(number), "parentId": None, **(_more or {})}


def start(**data: Any) -> Fields:
    context = {"cwd": "/home/ana/app", "gitRoot": "/home/ana/app", "branch": "main"}
    return event("session.start", sessionId=SESSION, copilotVersion="1.0.64", context=context, **data)


def prompt(text: str, **data: Any) -> Fields:
    wrapped = f"<current_datetime>2026</current_datetime>\n\n{text}"
    return event("user.message", content=text, transformedContent=wrapped, attachments=[], **data)


def asked(native: str, name: str, arguments: Any) -> Fields:
    return {"toolCallId": native, "name": name, "arguments": arguments, "type": "function"}


def reply(message: str, text: str, *requests: Fields, **data: Any) -> Fields:
    given = {"model": "gpt-5.4", "outputTokens": 7, **data}
    return event("assistant.message", messageId=message, content=text, toolRequests=list(requests), **given)


def started(native: str, name: str, arguments: Any) -> Fields:
    return event("tool.execution_start", toolCallId=native, toolName=name, arguments=arguments)


def done(native: str, text: str, *, success: bool = True, **data: Any) -> Fields:
    given = {"result": {"content": text, "detailedContent": text}} if success else {"error": {"message": text}}
    return event("tool.execution_complete", toolCallId=native, success=success, **{**given, **data})


def ran(native: str, code: int, text: str = "", shell: int = 0) -> Fields:
    return done(native, f"{text}\n<shellId: {shell} completed with exit code {code}>")


def shut(**used: int) -> Fields:
    usage = {"inputTokens": 0, "outputTokens": 0, "cacheReadTokens": 0, "cacheWriteTokens": 0, **used}
    return event("session.shutdown", modelMetrics={"gpt-5.4": {"requests": {"count": 1}, "usage": usage}})


def transcript(path: Path) -> Transcript:
    return transcript_of("copilot", path, SESSION)


def reading(path: Path, resume: bytes | None = None, *, brief: bool = False) -> tuple[list[Turn], Readable]:
    one = open_session(transcript(path), resume, brief=brief)
    return list(one), one


def turns_of(folder: Path, *records: Any) -> tuple[list[Turn], Readable]:
    """What a session of these events holds."""
    path = folder / "session-state" / SESSION / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encoded(*records))
    return taken(open_session, transcript(path))
