"""Transcripts as Claude Code writes them, built for tests: real envelopes, made-up words."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

from lerim.sessions.model import Transcript, Turn
from lerim.sessions.readers.claude.turns import ClaudeReading
from reading_laws import json_lines as encoded
from reading_laws import moment, taken, transcript_of

SESSION = "0b9d3c1e-6f0a-4c55-9d43-0a8a3f9a7c11"
_numbers = itertools.count()

Fields = dict[str, Any]


def envelope(type_: str, **fields: Any) -> Fields:
    number = next(_numbers)
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/ana/app",
        "sessionId": SESSION,
        "version": "2.1.100",
        "gitBranch": "main",
        "type": type_,
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "timestamp": moment(number),
        **fields,
    }


def prompt(content: Any, **fields: Any) -> Fields:
    return envelope("user", message={"role": "user", "content": content}, **fields)


def reply(
    message: str, *blocks: Fields, usage: Fields | None = None, model: str = "claude-opus-4-6", **fields: Any
) -> Fields:
    body: Fields = {"id": message, "type": "message", "role": "assistant", "model": model, "content": list(blocks)}
    body["usage"] = usage if usage is not None else {"input_tokens": 3, "output_tokens": 5}
    return envelope("assistant", message=body, requestId=f"req_{message}", **fields)


def text(words: str) -> Fields:
    return {"type": "text", "text": words}


def call(native: str, name: str, **asked: Any) -> Fields:
    return {"type": "tool_use", "id": native, "name": name, "input": asked}


def answer(native: str, content: Any, *, is_error: bool | None = None, outcome: Any = None, **fields: Any) -> Fields:
    block: Fields = {"type": "tool_result", "tool_use_id": native, "content": content}
    if is_error is not None:
        block["is_error"] = is_error
    if outcome is not None:
        fields["toolUseResult"] = outcome
    return prompt([block], **fields)


def queued(words: Any, **fields: Any) -> Fields:
    return envelope("attachment", attachment={"type": "queued_command", "prompt": words, **fields})


def queue(operation: str, **fields: Any) -> Fields:
    made = envelope("queue-operation")
    return {key: made[key] for key in ("type", "timestamp", "sessionId")} | {"operation": operation, **fields}


def transcript(path: Path, parent: str = "") -> Transcript:
    return transcript_of("claude", path, parent=parent)


def reading(path: Path, resume: bytes | None = None, parent: str = "") -> tuple[list[Turn], ClaudeReading]:
    """A whole pass: its turns, and the reading after it."""
    one = ClaudeReading(transcript(path, parent), resume)
    return list(one), one


def read(folder: Path, *records: Fields | bytes, name: str = f"{SESSION}.jsonl") -> tuple[list[Turn], ClaudeReading]:
    """Writes records (or raw bytes as they are) to a transcript and reads it."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(one if isinstance(one, bytes) else encoded(one) for one in records))
    return taken(ClaudeReading, transcript(path))
