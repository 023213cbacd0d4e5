"""Reads the labelled sessions where they were laid out: FOLDER/OWNER+NAME/SESSION with its ending.

Agents' own files are read by the readers of the program. SpecStory's markdown, which no agent writes, is read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

from lerim.extraction.state import condense_turn
from lerim.sessions.model import Platform, ToolCall, ToolKind, Transcript, Turn, make_turn_id
from lerim.sessions.readers import agents
from lerim.sessions.redacted import redact_turn

LABELS = Path(__file__).parent
_SPEAKER = re.compile(r"^_\*\*(?P<who>User|Agent|Assistant)?[^*\n]*\*\*_[ \t]*$", re.MULTILINE)
_TOOL = re.compile(
    r'<tool-use(?: data-tool-type="(?P<kind>\w+)")?[^>]*>.*?</tool-use>|^Tool use:.*|<details>.*?</details>',
    re.DOTALL | re.MULTILINE,
)
_INJECTED = re.compile(r"<(local-command-[a-z]+|command-[a-z]+|system-reminder|task-notification)>.*?</\1>", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_KINDS: dict[str, ToolKind] = {"shell": "shell", "read": "read", "write": "edit", "search": "search"}


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled session. `until` is the ordinal of the turn from which on it was not read, None where it was read
    whole; `must` and `maybe` hold the quotes of each memory, the best first."""

    project: str
    session: str
    agent: str
    held: bool
    until: int | None
    must: tuple[Memory, ...]
    maybe: tuple[Memory, ...]


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as its reader put it: its kind, the claim, the sentence to quote, and the turns that say it."""

    type: str
    claim: str
    said: str
    turns: tuple[str, ...]


def labelled() -> Iterator[Labelled]:
    """All labelled sessions."""
    for line in (LABELS / "sessions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        must, maybe = (
            tuple(Memory(one["type"], one["claim"], one["said"], tuple(one["turns"])) for one in row[weight])
            for weight in ("must", "maybe")
        )
        yield Labelled(row["project"], row["session"], row["agent"], row["held"], row["until"], must, maybe)


def turns_of(folder: Path, session: Labelled) -> Iterator[Turn]:
    """The turns of a session as extraction holds them: redacted and condensed, up to where it was read.

    Raises TranscriptError, or FileNotFoundError where the session was not laid out.
    """
    for turn in _raw_turns(folder, session):
        if session.until is not None and turn.ordinal >= session.until:
            return
        yield condense_turn(redact_turn(turn))


def transcript_of(folder: Path, session: Labelled) -> Transcript | None:
    """The file that holds a session, as a sync would find it; None for SpecStory's, which no reader of ours reads."""
    if session.agent.startswith("specstory"):
        return None
    suffix = "json" if session.agent == "gemini" else "jsonl"
    path = folder / session.project.replace("/", "+") / f"{session.session}.{suffix}"
    stat = path.stat()
    platform = cast("Platform", session.agent)
    return Transcript(platform, path, session.session, stat.st_size, stat.st_mtime_ns, stat.st_ino)


def _raw_turns(folder: Path, session: Labelled) -> Iterator[Turn]:
    found = transcript_of(folder, session)
    if found is not None:
        yield from agents.read_session(found)
        return
    path = folder / session.project.replace("/", "+") / f"{session.session}.md"
    yield from turns_of_markdown(path.read_text("utf-8", "replace"))


def turns_of_markdown(text: str) -> Iterator[Turn]:
    """The turns of a session in SpecStory's markdown. Of a tool's use only its kind is told."""
    marks = list(_SPEAKER.finditer(text))
    for ordinal, mark in enumerate(marks):
        end = marks[ordinal + 1].start() if ordinal + 1 < len(marks) else len(text)
        body = re.sub(r"\n---\s*$", "", text[mark.end() : end]).strip()
        role: Literal["user", "assistant"] = "user" if mark["who"] == "User" else "assistant"
        calls: tuple[ToolCall, ...] = ()
        if role == "user":
            body = _INJECTED.sub("", body).strip()
        else:
            body = _THOUGHT.sub("", body)
            found = list(_TOOL.finditer(body))
            calls = tuple(
                ToolCall(str(at), "", _KINDS.get(one["kind"] or "", "other"), "ok") for at, one in enumerate(found)
            )
            body = _TOOL.sub("", body).strip()
        kind: Literal["prompt", "reply"] = "prompt" if role == "user" else "reply"
        yield Turn(
            make_turn_id("cursor", f"{role}\n{ordinal}\n{body}"), ordinal, role, kind, body, None, "", tool_calls=calls
        )
