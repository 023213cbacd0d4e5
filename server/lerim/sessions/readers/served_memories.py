"""Removes memories that Lerim gave to an agent from the results of its tools, so that nothing is learned from them."""

from __future__ import annotations

import re

import msgspec

from lerim.sessions.model import ToolCall, Turn
from lerim.sessions.readers.engine import MEMORIES_TAG, cut_blocks

_OWN_TOOL = re.compile(r"(?:^|[^a-z0-9])lerim(?:[^a-z0-9]|$)", re.IGNORECASE)
"""Matches the names that agents give the tools of `lerim mcp`, such as `mcp__lerim__recall` and `lerim-recall`."""
_OWN_COMMAND = re.compile(r"\s*(?:[\w./~-]{0,200}/)?lerim\s")
_STEP_END = re.compile(r"&&|\|\||[;\n]")
_QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
_SILENT_STEP = re.compile(r"\s*(?:$|#|(?:cd|pushd|popd|export|set|source|true)(?:\s|$)|[A-Za-z_]\w{0,100}=\S*\s*$)")
"""Matches a step of a command line that prints nothing."""
_OWN_FILE = re.compile(
    r"(?:^|[/\\\s'\"=])(?:\.lerim[/\\](?:memory|review|index|workspace)(?:$|[/\\])|"
    r"(?:rules|instructions)[/\\]lerim-[^/\\\s]{1,100}\.(?:md|mdc)|skills[/\\]lerim(?:$|[/\\]))",
)
"""Matches the paths of memories, candidates, and the rules files and skill that Lerim writes for agents."""
_OWN_BLOCK = re.compile(r"<!-- lerim:begin\b[^\n]{0,200}-->.*?(?:<!-- lerim:end -->|\Z)", re.DOTALL)
"""Matches the block of memories in `AGENTS.md` and similar files, also one whose end was cut off."""
_ESCAPED = str.maketrans({"<": "&lt;", ">": "&gt;"})
_ESCAPED_OPENING, _ESCAPED_CLOSING = (f"{mark}{MEMORIES_TAG}>".translate(_ESCAPED) for mark in ("<", "</"))


def without_served_memories(turn: Turn) -> Turn:
    """Returns a turn without the output of Lerim's own tools and commands, and without text read from Lerim's own
    files. Memories in other outputs, such as those that a hook appended, are removed too."""
    if not turn.tool_calls:
        return turn
    calls = tuple(map(_without_memories, turn.tool_calls))
    return turn if calls == turn.tool_calls else msgspec.structs.replace(turn, tool_calls=calls)


def _without_memories(call: ToolCall) -> ToolCall:
    if not call.output:
        return call
    if _is_ours(call):
        return msgspec.structs.replace(call, output="", output_cut=0)
    output = _OWN_BLOCK.sub("", call.output) if "lerim:begin" in call.output else call.output
    if MEMORIES_TAG in output:
        output = output.replace(_ESCAPED_OPENING, f"<{MEMORIES_TAG}>").replace(_ESCAPED_CLOSING, f"</{MEMORIES_TAG}>")
        output = cut_blocks(output, (MEMORIES_TAG,))
    return msgspec.structs.replace(call, output=output)


def _is_ours(call: ToolCall) -> bool:
    """Returns whether everything that a call returned comes from Lerim's own tools, commands or files. A command
    line that also runs something else does not count, because it is unknown where Lerim's part of its output ends."""
    if _OWN_TOOL.search(call.name):
        return True
    if call.kind == "shell":
        text = _QUOTED.sub(lambda quoted: _STEP_END.sub(" ", quoted.group()), call.command)
        steps = [step for step in _STEP_END.split(text) if not _SILENT_STEP.match(step)]
        return bool(steps) and all(_OWN_COMMAND.match(step) or _OWN_FILE.search(step) for step in steps)
    return bool(call.paths) and all(_OWN_FILE.search(path) for path in call.paths)
