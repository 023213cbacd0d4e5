"""Reads the transcripts that Cursor's agents leave in `~/.cursor/projects`: one message per line, without times, ids or
tool results. They are used only if no database contains the session.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from lerim.errors import Problem
from lerim.files import make_unreadable_error, open_buffered
from lerim.sessions.model import ToolCall, Transcript
from lerim.sessions.readers.cursor.folders import common_folder
from lerim.sessions.readers.cursor.records import decode_cursor_string, split_elements
from lerim.sessions.readers.cursor.tools import parse_cursor_call
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import (
    JSON_NULL,
    FileLine,
    LineStream,
    LoadedSession,
    count_final_turns,
    parse_object,
    sum_session,
)
from lerim.sessions.readers.live import CUT_SHORT

PROBLEMS = 100


class _Part(msgspec.Struct, gc=False):
    type: str | None = ""
    text: str | None = ""
    thinking: str | None = ""
    id: str | None = ""
    name: str | None = ""
    input: msgspec.Raw = JSON_NULL


class _Message(msgspec.Struct, gc=False):
    content: msgspec.Raw = JSON_NULL


class _Line(msgspec.Struct, gc=False):
    role: str | None = ""
    message: _Message | None = None


def load_agent_transcript(transcript: Transcript, *, brief: bool = False) -> LoadedSession:
    """Loads the whole transcript. Raises TranscriptError if it cannot be read."""
    talk = CursorSessionBuilder(transcript.session_id, brief=brief, child=bool(transcript.parent))
    problems: list[Problem] = []
    faults = 0
    found, stopped = _lines(transcript.path)
    for start, _, data, complete in found:
        try:
            if data is not None and data.strip():
                _take(talk, parse_object(data.strip(), _Line), brief=brief)
            elif data is None:
                raise ValueError("it is too long")
        except ValueError as error:
            if not complete:
                break  # still being written
            faults += 1
            if faults <= PROBLEMS:
                what = f"A line of this transcript could not be read ({error}) and was skipped"
                problems.append(Problem("bad-line", f"{transcript.path}@{start}", what))
    if faults > PROBLEMS:
        more = f"{faults - PROBLEMS} more lines of this transcript could not be read"
        problems.append(Problem("many", str(transcript.path), more))
    if stopped:
        problems.append(
            Problem(CUT_SHORT, str(transcript.path), (f"Only part of this transcript was read: it {stopped}"))
        )
    turns = talk.turns(transcript.cwd)
    if not transcript.cwd and (
        cwd := common_folder(path for turn in turns for call in turn.tool_calls for path in call.paths)
    ):
        turns = talk.turns(cwd)
    return LoadedSession(
        sum_session(transcript, turns, injected=talk.injected), turns, count_final_turns(turns), problems
    )


def _lines(path: Path) -> tuple[list[FileLine], str]:
    """Returns the lines of a file, and why reading stopped before its end ('' if it did not)."""
    try:
        with open_buffered(path) as file:
            found = LineStream(file, 0)
            return list(found), found.stop_reason
    except OSError as error:
        raise make_unreadable_error(path, error) from error


def _take(talk: CursorSessionBuilder, line: _Line, *, brief: bool) -> None:
    if line.message is None or line.role not in ("user", "assistant"):
        return
    content = line.message.content
    said = decode_cursor_string(content)
    parts = (
        [_Part("text", said)]
        if said
        else [parse_object(raw, _Part) for raw in split_elements(content) if bytes(raw)[:1] == b"{"]
    )
    words = "\n".join(part.text for part in parts if part.type == "text" and part.text)
    if line.role == "user":
        talk.prompt(words, "", images=any(part.type == "image" for part in parts))
        return
    thought = "\n".join(part.thinking or part.text or "" for part in parts if part.type in ("thinking", "reasoning"))
    calls = tuple(_call(part, brief=brief) for part in parts if part.type == "tool_use")
    if words.strip() or thought or calls:
        talk.reply(words.strip(), thought, calls)


def _call(part: _Part, *, brief: bool) -> ToolCall:
    return parse_cursor_call(part.name or "", part.id or "", (bytes(part.input),), brief=brief)
