"""Rollouts as Codex writes them, built for tests: real envelopes, made-up words."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from lerim.sessions.model import Readable, Transcript, Turn
from lerim.sessions.readers.codex.store import open_session
from reading_laws import json_lines as encoded
from reading_laws import moment, taken, transcript_of

THREAD = "0199aaaa-0000-7000-8000-00000000000a"
_numbers = itertools.count()

Fields = dict[str, Any]


def line(type_: str, **payload: Any) -> Fields:
    return {"timestamp": moment(next(_numbers)), "type": type_, "payload": payload}


def item(type_: str, **payload: Any) -> Fields:
    return line("response_item", type=type_, **payload)


def event(type_: str, **payload: Any) -> Fields:
    return line("event_msg", type=type_, **payload)


def meta(native: str = THREAD, **payload: Any) -> Fields:
    given = {"cwd": "/home/ana/app", "cli_version": "0.142.5", "source": "cli", "git": {"branch": "main"}, **payload}
    return line("session_meta", id=native, timestamp="2026-03-01T00:00:00.000Z", **given)


def message(role: str, *texts: str, **payload: Any) -> Fields:
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text} for text in texts], **payload)


def prompt(text: str) -> list[Fields]:
    """A prompt as both the item and the event tell it."""
    return [message("user", text), event("user_message", message=text, images=[])]


def said(text: str) -> list[Fields]:
    return [event("agent_message", message=text, phase="commentary"), message("assistant", text)]


def call(native: str, name: str, **arguments: Any) -> Fields:
    return item("function_call", name=name, arguments=json.dumps(arguments), call_id=native)


def run(native: str, command: str) -> Fields:
    return call(native, "exec_command", cmd=command, workdir="/home/ana/app")


def output(native: str, text: Any) -> Fields:
    return item("function_call_output", call_id=native, output=text)


def ran(native: str, code: int, text: str = "") -> Fields:
    head = f"Chunk ID: 1a2b3c\nWall time: 0.1 seconds\nProcess exited with code {code}\nOriginal token count: 1\n"
    return output(native, f"{head}Output:\n{text}")


def runs_on(native: str, process: int, text: str = "") -> Fields:
    head = f"Chunk ID: 1a2b3c\nWall time: 30.0 seconds\nProcess running with session ID {process}\n"
    return output(native, f"{head}Original token count: 0\nOutput:\n{text}")


def patch(native: str, text: str) -> Fields:
    return item("custom_tool_call", status="completed", call_id=native, name="apply_patch", input=text)


def patch_output(native: str, text: str) -> Fields:
    return item("custom_tool_call_output", call_id=native, output=text)


def spent(entry: int, cached: int, out: int) -> Fields:
    total = {"input_tokens": entry, "cached_input_tokens": cached, "output_tokens": out, "total_tokens": entry + out}
    return event("token_count", info={"total_token_usage": total, "last_token_usage": total})


def transcript(path: Path) -> Transcript:
    return transcript_of("codex", path, THREAD)


def reading(path: Path, resume: bytes | None = None, *, brief: bool = False) -> tuple[list[Turn], Readable]:
    done = open_session(transcript(path), resume, brief=brief)
    return list(done), done


def turns_of(folder: Path, *records: Any) -> tuple[list[Turn], Readable]:
    """What a rollout of these records holds."""
    path = folder / f"rollout-2026-03-01T00-00-00-{THREAD}.jsonl"
    path.write_bytes(encoded(*records))
    return taken(open_session, transcript(path))
