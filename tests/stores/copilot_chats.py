"""Chats as VS Code writes them, built for tests: real envelopes, made-up words."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from lerim.sessions.model import Transcript, Turn
from lerim.sessions.readers.copilot_chat.store import open_session
from lerim.sessions.readers.engine.whole_session import WholeReading
from reading_laws import taken, transcript_of

SESSION = "6b1c0d2e-0000-4000-8000-00000000bb01"
_numbers = itertools.count(1)

Fields = dict[str, Any]


def markdown(text: str) -> Fields:
    return {"value": text, "supportThemeIcons": False, "supportHtml": False}


def thinking(text: str) -> Fields:
    return {"kind": "thinking", "value": text, "id": "t"}


def tool(tool_id: str, call_id: str = "", *, confirmed: Any = None, complete: bool = True, **fields: Any) -> Fields:
    return {
        "kind": "toolInvocationSerialized",
        "toolId": tool_id,
        "toolCallId": call_id or f"shown-{next(_numbers):06}",
        "invocationMessage": markdown("Using a tool"),
        "isConfirmed": {"type": 1} if confirmed is None else confirmed,
        "isComplete": complete,
    } | fields


def terminal(command: str, exit_code: int | None = None, **fields: Any) -> Fields:
    specific: Fields = {"kind": "terminal", "commandLine": {"original": command}, "language": "sh"}
    if exit_code is not None:
        specific["terminalCommandState"] = {"exitCode": exit_code}
    return tool("run_in_terminal", toolSpecificData=specific, **fields)


def asked(name: str, native: str = "", **arguments: Any) -> Fields:
    return {"id": native or f"toolu_{next(_numbers):06}", "name": name, "arguments": json.dumps(arguments)}


def metadata(*calls: Fields, results: dict[str, str] | None = None) -> Fields:
    told = {native: {"content": [{"value": text}]} for native, text in (results or {}).items()}
    return {"toolCallRounds": [{"response": "", "toolCalls": list(calls)}], "toolCallResults": told}


def request(text: Any, *parts: Fields, calls: Fields | None = None, state: int | None = 1, **fields: Any) -> Fields:
    number = next(_numbers)
    time = 1_780_000_000_000 + number * 1000
    made: Fields = {
        "requestId": f"request_{number:08x}-0000-4000-8000-000000000000",
        "responseId": f"response_{number:08x}-0000-4000-8000-000000000000",
        "timestamp": time,
        "message": {"text": text, "parts": [{"kind": "text", "text": text}]},
        "variableData": {"variables": []},
        "response": list(parts),
        "modelId": "copilot/claude-sonnet-4.5",
        "agent": {"id": "github.copilot.editsAgent", "extensionVersion": "0.40.1"},
        "result": {"timings": {}, "metadata": calls or {}},
    }
    if state is not None:
        made["modelState"] = {"value": state, "completedAt": time + 500}
    return made | fields


def chat(*requests: Fields, **fields: Any) -> Fields:
    return {"version": 3, "sessionId": SESSION, "creationDate": 1_780_000_000_000, "requests": list(requests)} | fields


def whole(path: Path, *requests: Fields, **fields: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(chat(*requests, **fields)), encoding="utf-8")
    return path


def log(path: Path, *entries: Fields) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in entries))
    return path


def initial(*requests: Fields, **fields: Any) -> Fields:
    return {"kind": 0, "v": chat(*requests, **fields)}


def put(*keys: Any, v: Any) -> Fields:
    return {"kind": 1, "k": list(keys), "v": v}


def push(*keys: Any, v: list[Any], i: int | None = None) -> Fields:
    return {"kind": 2, "k": list(keys), "v": v} | ({} if i is None else {"i": i})


def delete(*keys: Any) -> Fields:
    return {"kind": 3, "k": list(keys)}


def transcript(path: Path, **fields: Any) -> Transcript:
    return transcript_of("copilot", path, **fields)


def reading(path: Path, resume: bytes | None = None, **fields: Any) -> tuple[list[Turn], WholeReading]:
    return taken(open_session, transcript(path, **fields), resume)


def only(folder: Path, *requests: Fields, **fields: Any) -> tuple[list[Turn], WholeReading]:
    """A chat of these requests, read."""
    return reading(whole(folder / "one.json", *requests, **fields))
