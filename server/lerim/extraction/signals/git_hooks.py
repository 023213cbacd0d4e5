"""Finds a git hook that stopped a commit or push, and whether the hook was skipped later."""

from __future__ import annotations

import re

from lerim.extraction.facts import Command, output_lines
from lerim.patterns import compile_later
from lerim.sessions import ToolCall

_GIT = compile_later(r"(?:^|[\s;&|(])git\s(?:-C\s\S{1,200}\s)?(?P<verb>commit|push)\b(?P<rest>[^\n;&|]{0,200})")
_LEFT_OUT = compile_later(r"\s--no-verify\b|\sHUSKY=0\b|\sLEFTHOOK=0\b")
_HOOK = compile_later(r"\b(?:pre-commit|pre-push|commit-msg|prepare-commit-msg)\b|\bhook id: |\bhusky\b|\blefthook\b")
_RACE = compile_later(r"non-fast-forward|fetch first|\[(?:remote )?rejected\]|Could not read from remote|stale info")
"""Matches a refusal by the remote, not by a hook."""
_PUSHED = compile_later(r"failed to push some refs")
_SAID = compile_later(
    r"The following paths are ignored by one of your \.gitignore files|^[^\n.]{2,60}\.{3,120}Failed|"
    r"^- hook id: [\w-]{2,40}|(?:exited with code|exit status|exit code:?) [1-9]\d{0,2}|"
    r"^[^\n]{0,60}\bhook (?:failed|declined)[^\n]{0,60}",
    re.MULTILINE,
)


def git_verb(command: str) -> str:
    """Returns `commit` or `push` if a shell command does one, else ""."""
    match = _GIT.search(command[:2_000]) if "git" in command else None
    return match["verb"] if match else ""


def hook_refusal(call: ToolCall) -> str:
    """Returns what the hook that stopped the commit or push printed, or "" if no hook did."""
    if call.status != "error" or not git_verb(call.command) or _RACE.search(call.output):
        return ""
    if not _HOOK.search(call.output):
        return ""
    line = output_lines.error_line(call.output)
    match = _SAID.search(call.output[:20_000])
    return line if line and not _PUSHED.search(line) else match.group().strip() if match else line


def plain_git_command(call: ToolCall) -> Command:
    """Returns just `git commit` or `git push`, so that commands can be compared without their messages."""
    return Command(f"git {git_verb(call.command)}")


def is_hook_skipped(call: ToolCall) -> bool:
    """Returns whether the hooks were skipped on purpose."""
    return bool(_LEFT_OUT.search(f" {call.command[:2_000]}"))
