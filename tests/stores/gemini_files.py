"""Sessions as Gemini CLI and Antigravity write them, built for tests: real envelopes, made-up words."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from pathlib import Path
from typing import Any

from lerim.sessions.model import Transcript, Turn
from lerim.sessions.readers.engine.whole_session import WholeReading
from lerim.sessions.readers.gemini_family import open_session
from reading_laws import moment, taken, transcript_of

SESSION = "5f0c1d2e-0000-4000-8000-00000000aa01"
FOLDER = "/home/ana/app"
HASH = hashlib.sha256(FOLDER.encode()).hexdigest()
_numbers = itertools.count(1)

Fields = dict[str, Any]


def message(type_: str, content: Any, **fields: Any) -> Fields:
    number = next(_numbers)
    native = f"{number:08x}-1111-4000-8000-000000000000"
    return {"id": native, "timestamp": moment(number, "2026-05-01"), "type": type_, "content": content} | fields


def prompt(text: str, **fields: Any) -> Fields:
    return message("user", [{"text": text}], **fields)


def reply(text: str, *calls: Fields, **fields: Any) -> Fields:
    own: Fields = {"model": "gemini-3-flash", "thoughts": [], "tokens": tokens(10, 2)}
    return message("gemini", text, **(own | ({"toolCalls": list(calls)} if calls else {}) | fields))


def tokens(sent: int, received: int, cached: int = 0, thoughts: int = 0, tool: int = 0) -> Fields:
    total = sent + received + thoughts + tool
    return {"input": sent, "output": received, "cached": cached, "thoughts": thoughts, "tool": tool, "total": total}


def call(name: str, output: Any = "done", status: str = "success", **args: Any) -> Fields:
    native = f"{name}_{next(_numbers):08}"
    response = output if isinstance(output, dict) else {"output": output}
    result = [{"functionResponse": {"id": native, "name": name, "response": response}}]
    return {"id": native, "name": name, "args": args, "result": result, "status": status, "timestamp": ""}


def header(**fields: Any) -> Fields:
    times = {"startTime": "2026-05-01T00:00:00.000Z", "lastUpdated": "2026-05-01T00:00:00.000Z"}
    return {"sessionId": SESSION, "projectHash": HASH, **times, "kind": "main"} | fields


def chats(root: Path, store: str = HASH) -> Path:
    folder = root / "tmp" / store / "chats"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def whole(path: Path, *messages: Fields, **fields: Any) -> Path:
    path.write_text(json.dumps(header(**fields) | {"messages": list(messages)}, indent=2), encoding="utf-8")
    return path


def log(path: Path, *records: Fields, **fields: Any) -> Path:
    path.write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in (header(**fields), *records)))
    return path


def transcript(path: Path, **fields: Any) -> Transcript:
    return transcript_of("gemini", path, **fields)


def reading(path: Path, resume: bytes | None = None, **fields: Any) -> tuple[list[Turn], WholeReading]:
    return taken(open_session, transcript(path, **fields), resume)


def long_ago(path: Path) -> None:
    """Makes a file one that nobody is writing any more."""
    os.utime(path, (1_700_000_000, 1_700_000_000))
