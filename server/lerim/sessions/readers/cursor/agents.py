"""Reads the transcripts that Cursor's agents leave in `~/.cursor/projects`: one message per line, without times, ids or
tool results. They are used only if no database contains the session.
"""

from __future__ import annotations

import msgspec

from lerim.errors import Problem
from lerim.sessions.model import Transcript
from lerim.sessions.readers.cursor.cli import ChatMessage, add_chat_message
from lerim.sessions.readers.cursor.folders import common_folder
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import (
    JSON_NULL,
    LoadedSession,
    count_final_turns,
    limit_problems,
    parse_object,
    read_log_lines,
    report_line,
    sum_session,
)


class _Message(msgspec.Struct, gc=False):
    content: msgspec.Raw = JSON_NULL


class _Line(msgspec.Struct, gc=False):
    role: str | None = ""
    message: _Message | None = None


def load_agent_transcript(transcript: Transcript, *, brief: bool = False) -> LoadedSession:
    """Loads the whole transcript. Raises OSError."""
    builder = CursorSessionBuilder(transcript.session_id, brief=brief, is_subagent=bool(transcript.parent))
    problems: list[Problem] = []
    for start, data, is_complete in read_log_lines(transcript.path, problems):
        try:
            line = parse_object(data.strip(), _Line)
        except ValueError as error:
            if is_complete:
                report_line(transcript.path, start, error, problems)
            continue
        if line.message is not None and line.role in ("user", "assistant"):
            add_chat_message(builder, ChatMessage(line.role, line.message.content), "", brief=brief)
    turns = builder.build_turns(transcript.cwd)
    if not transcript.cwd and (
        cwd := common_folder(path for turn in turns for call in turn.tool_calls for path in call.paths)
    ):
        turns = builder.build_turns(cwd)
    session = sum_session(transcript, turns, injected=builder.injected)
    return LoadedSession(session, turns, count_final_turns(turns), limit_problems(problems, transcript.path))
