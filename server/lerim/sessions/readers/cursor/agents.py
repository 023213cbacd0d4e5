"""Reads the transcripts that Cursor's agents leave in `~/.cursor/projects`: one message per line, without times, ids or
tool results. They are used only if no database contains the session.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from lerim.errors import Problem
from lerim.files import make_unreadable_error, open_buffered
from lerim.sessions.model import Transcript
from lerim.sessions.readers.cursor.cli import ChatMessage, add_chat_message
from lerim.sessions.readers.cursor.folders import common_folder
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import (
    JSON_NULL,
    FileLine,
    LineStream,
    LoadedSession,
    count_final_turns,
    limit_problems,
    parse_object,
    sum_session,
)
from lerim.sessions.readers.live import CUT_SHORT


class _Message(msgspec.Struct, gc=False):
    content: msgspec.Raw = JSON_NULL


class _Line(msgspec.Struct, gc=False):
    role: str | None = ""
    message: _Message | None = None


def load_agent_transcript(transcript: Transcript, *, brief: bool = False) -> LoadedSession:
    """Loads the whole transcript. Raises TranscriptError if it cannot be read."""
    builder = CursorSessionBuilder(transcript.session_id, brief=brief, is_subagent=bool(transcript.parent))
    problems: list[Problem] = []
    lines, stop_reason = _read_lines(transcript.path)
    for start, _, data, complete in lines:
        try:
            if data is not None and data.strip():
                line = parse_object(data.strip(), _Line)
                if line.message is not None and line.role in ("user", "assistant"):
                    add_chat_message(builder, ChatMessage(line.role, line.message.content), "", brief=brief)
            elif data is None:
                raise ValueError("it is too long")
        except ValueError as error:
            if not complete:
                break  # still being written
            what = f"A line of this transcript could not be read ({error}) and was skipped"
            problems.append(Problem("bad-line", f"{transcript.path}@{start}", what))
    problems = limit_problems(problems, transcript.path)
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
