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
from lerim.sessions.readers.cursor.records import decode_cursor_string
from lerim.sessions.readers.cursor.tools import parse_cursor_call
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import (
    JSON_NULL,
    FileLine,
    LineStream,
    LoadedSession,
    count_final_turns,
    parse_object,
    split_json_array,
    sum_session,
)
from lerim.sessions.readers.live import CUT_SHORT

PROBLEM_LIMIT = 100


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
    builder = CursorSessionBuilder(transcript.session_id, brief=brief, is_subagent=bool(transcript.parent))
    problems: list[Problem] = []
    fault_count = 0
    lines, stop_reason = _read_lines(transcript.path)
    for start, _, data, complete in lines:
        try:
            if data is not None and data.strip():
                _add_message(builder, parse_object(data.strip(), _Line), brief=brief)
            elif data is None:
                raise ValueError("it is too long")
        except ValueError as error:
            if not complete:
                break  # still being written
            fault_count += 1
            if fault_count <= PROBLEM_LIMIT:
                what = f"A line of this transcript could not be read ({error}) and was skipped"
                problems.append(Problem("bad-line", f"{transcript.path}@{start}", what))
    if fault_count > PROBLEM_LIMIT:
        message = f"{fault_count - PROBLEM_LIMIT} more lines of this transcript could not be read"
        problems.append(Problem("many", str(transcript.path), message))
    if stop_reason:
        problems.append(
            Problem(CUT_SHORT, str(transcript.path), (f"Only part of this transcript was read: it {stop_reason}"))
        )
    turns = builder.build_turns(transcript.cwd)
    if not transcript.cwd and (
        cwd := common_folder(path for turn in turns for call in turn.tool_calls for path in call.paths)
    ):
        turns = builder.build_turns(cwd)
    return LoadedSession(
        sum_session(transcript, turns, injected=builder.injected), turns, count_final_turns(turns), problems
    )


def _read_lines(path: Path) -> tuple[list[FileLine], str]:
    """Returns the lines of a file, and why reading stopped before its end ('' if it did not)."""
    try:
        with open_buffered(path) as file:
            lines = LineStream(file, 0)
            return list(lines), lines.stop_reason
    except OSError as error:
        raise make_unreadable_error(path, error) from error


def _add_message(builder: CursorSessionBuilder, line: _Line, *, brief: bool) -> None:
    if line.message is None or line.role not in ("user", "assistant"):
        return
    content = line.message.content
    text_content = decode_cursor_string(content)
    parts = (
        [_Part("text", text_content)]
        if text_content
        else [parse_object(raw, _Part) for raw in split_json_array(content) if bytes(raw)[:1] == b"{"]
    )
    text = "\n".join(part.text for part in parts if part.type == "text" and part.text)
    if line.role == "user":
        builder.add_prompt(text, "", images=any(part.type == "image" for part in parts))
        return
    reasoning = "\n".join(part.thinking or part.text or "" for part in parts if part.type in ("thinking", "reasoning"))
    calls = tuple(_parse_call(part, brief=brief) for part in parts if part.type == "tool_use")
    if text.strip() or reasoning or calls:
        builder.add_reply(text.strip(), reasoning, calls)


def _parse_call(part: _Part, *, brief: bool) -> ToolCall:
    return parse_cursor_call(part.name or "", part.id or "", (bytes(part.input),), brief=brief)
