"""Reads the transcripts that Cursor's agents left as plain text from December 2025 to February 2026.

A message begins with a line `user:` or `assistant:` after an empty line. In an answer, `[Tool call] NAME` begins a
call, whose arguments are indented lines `key: value`, and `[Tool result] NAME` says that it is over; results themselves
are not kept.
"""

from __future__ import annotations

import re
from itertools import pairwise

from lerim.sessions.model import Transcript
from lerim.sessions.readers.cursor.calls import parse_cursor_call
from lerim.sessions.readers.cursor.turns import CursorSessionBuilder
from lerim.sessions.readers.engine import LoadedSession, read_session_file, sum_session, without_nul

_MESSAGE = re.compile(r"(?:\A|(?<=\n\n))(user:\n(?=[<\[])|assistant:\n)")
"""The beginning of a message. What Cursor puts around a person's words begins with a tag or `[Image]`; without it,
`user:` may be a line of a file."""
_TOOL = re.compile(r"^\[Tool (call|result)\] (\S{1,200})$", re.MULTILINE)
_ARGUMENT = re.compile(r"  ([A-Za-z_]\w{0,60}): ?(.*)")
_LONG_ARGUMENTS = ("old_string", "new_string", "contents", "content", "prompt", "plan", "todos")
"""Arguments of many lines, within which only another of them begins a new argument."""
_THOUGHT = re.compile(r"\s*<think>\n?(.*?)</think>", re.DOTALL)


def load_text_transcript(transcript: Transcript, *, brief: bool = False) -> LoadedSession:
    """Loads a transcript in plain text. Raises TranscriptError if it is too large, and OSError."""
    builder = CursorSessionBuilder(transcript.session_id, brief=brief, is_subagent=bool(transcript.parent))
    text = without_nul(read_session_file(transcript.path).decode("utf-8", "replace")).replace("\r\n", "\n")
    beginnings = list(_MESSAGE.finditer(text))
    ends = [*(one.start() for one in beginnings[1:]), len(text)]
    for beginning, end in zip(beginnings, ends, strict=False):
        message = text[beginning.end() : end]
        if beginning[1].startswith("user"):
            builder.add_prompt(message.strip(), "")
        else:
            _add_answer(builder, message, brief=brief)
    turns = builder.build_turns(transcript.cwd or builder.find_call_folder())
    return LoadedSession(sum_session(transcript, turns), turns)


def _add_answer(builder: CursorSessionBuilder, message: str, *, brief: bool) -> None:
    marks = list(_TOOL.finditer(message))
    said = message[: marks[0].start()] if marks else message
    thought = _THOUGHT.match(said)
    reasoning, said = (thought[1], said[thought.end() :]) if thought else ("", said)
    bounds = [*marks, None]
    calls = tuple(
        parse_cursor_call(
            mark[2], "", _parse_arguments(message[mark.end() : following.start() if following else None]), brief=brief
        )
        for mark, following in pairwise(bounds)
        if mark is not None and mark[1] == "call"
    )
    if said.strip() or reasoning.strip() or calls:
        builder.add_reply(said.strip(), reasoning.strip(), calls)


def _parse_arguments(text: str) -> dict[str, object]:
    arguments: dict[str, list[str]] = {}
    name = ""
    for line in text.rstrip("\n").split("\n"):
        found = _ARGUMENT.fullmatch(line)
        if found and (name not in _LONG_ARGUMENTS or found[1] in _LONG_ARGUMENTS):
            name = found[1]
            arguments[name] = [found[2]]
        elif name:
            arguments[name].append(line)
    return {name: "\n".join(lines) for name, lines in arguments.items()}
