"""Reads labelled sessions from FOLDER/OWNER+NAME/SESSION.jsonl (.json for Gemini CLI, .md for SpecStory).

The agents' files are read by Lerim's own readers. SpecStory's Markdown, which no agent writes, is parsed here.
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
from lerim.sessions.readers import read_session
from lerim.sessions.redacted import redact_turn

LABELS_FOLDER = Path(__file__).parent
_SPEAKER = re.compile(r"^_\*\*(?P<who>User|Agent|Assistant)?[^*\n]*\*\*_[ \t]*$", re.MULTILINE)
_TOOL = re.compile(
    r'<tool-use(?: data-tool-type="(?P<kind>\w+)")?[^>]*>.*?</tool-use>|^Tool use:.*|<details>.*?</details>',
    re.DOTALL | re.MULTILINE,
)
_INJECTED = re.compile(r"<(local-command-[a-z]+|command-[a-z]+|system-reminder|task-notification)>.*?</\1>", re.DOTALL)
_THINKING = re.compile(r"<think>.*?</think>", re.DOTALL)
_KINDS: dict[str, ToolKind] = {"shell": "shell", "read": "read", "write": "edit", "search": "search"}


@dataclass(frozen=True, slots=True)
class LabelledSession:
    """One labelled session.

    `until` is the ordinal of the first turn that was not read, None if the whole session was. `must` and `maybe` are
    the memories with that weight.
    """

    project: str
    session: str
    agent: str
    held: bool
    until: int | None
    must: tuple[LabelledMemory, ...]
    maybe: tuple[LabelledMemory, ...]


@dataclass(frozen=True, slots=True)
class LabelledMemory:
    """A memory as its reader wrote it: its type, the claim, the sentence to quote, and the turns that state it."""

    type: str
    claim: str
    quote: str
    turns: tuple[str, ...]


def read_labelled_sessions() -> Iterator[LabelledSession]:
    """Reads the labels of all sessions."""
    for line in (LABELS_FOLDER / "sessions.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        must, maybe = (
            tuple(LabelledMemory(one["type"], one["claim"], one["said"], tuple(one["turns"])) for one in row[weight])
            for weight in ("must", "maybe")
        )
        yield LabelledSession(row["project"], row["session"], row["agent"], row["held"], row["until"], must, maybe)


def read_turns(folder: Path, session: LabelledSession) -> Iterator[Turn]:
    """The turns of a session as extraction sees them (redacted and condensed), up to where it was labelled.

    Raises TranscriptError, or FileNotFoundError if the session is not in the folder.
    """
    for turn in _read_raw_turns(folder, session):
        if session.until is not None and turn.ordinal >= session.until:
            return
        yield condense_turn(redact_turn(turn))


def find_transcript(folder: Path, session: LabelledSession) -> Transcript | None:
    """The transcript of a session, as a sync would find it; None for SpecStory, which Lerim does not read."""
    if session.agent.startswith("specstory"):
        return None
    suffix = "json" if session.agent == "gemini" else "jsonl"
    path = folder / session.project.replace("/", "+") / f"{session.session}.{suffix}"
    stat = path.stat()
    platform = cast("Platform", session.agent)
    return Transcript(platform, path, session.session, stat.st_size, stat.st_mtime_ns, stat.st_ino)


def _read_raw_turns(folder: Path, session: LabelledSession) -> Iterator[Turn]:
    found = find_transcript(folder, session)
    if found is not None:
        yield from read_session(found)
        return
    path = folder / session.project.replace("/", "+") / f"{session.session}.md"
    yield from parse_markdown_turns(path.read_text("utf-8", "replace"))


def parse_markdown_turns(text: str) -> Iterator[Turn]:
    """Parses a session in SpecStory's Markdown. Of tool calls only the kind is known."""
    speaker_marks = list(_SPEAKER.finditer(text))
    for ordinal, speaker_mark in enumerate(speaker_marks):
        end = speaker_marks[ordinal + 1].start() if ordinal + 1 < len(speaker_marks) else len(text)
        body = re.sub(r"\n---\s*$", "", text[speaker_mark.end() : end]).strip()
        role: Literal["user", "assistant"] = "user" if speaker_mark["who"] == "User" else "assistant"
        calls: tuple[ToolCall, ...] = ()
        if role == "user":
            body = _INJECTED.sub("", body).strip()
        else:
            body = _THINKING.sub("", body)
            found = list(_TOOL.finditer(body))
            calls = tuple(
                ToolCall(str(at), "", _KINDS.get(one["kind"] or "", "other"), "ok") for at, one in enumerate(found)
            )
            body = _TOOL.sub("", body).strip()
        kind: Literal["prompt", "reply"] = "prompt" if role == "user" else "reply"
        yield Turn(
            make_turn_id("cursor", f"{role}\n{ordinal}\n{body}"), ordinal, role, kind, body, None, "", tool_calls=calls
        )
