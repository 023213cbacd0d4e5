"""Finds a git hook that stopped a commit or push, and what got past it: a changed setting, or skipping the hook."""

from __future__ import annotations

import re

from lerim.extraction.facts import Command, output_lines, strip_emphasis
from lerim.extraction.signals.draft import Draft
from lerim.extraction.signals.failure import CommandFailure, draft_lesson
from lerim.sessions import ToolCall, Turn

_GIT = re.compile(r"(?:^|[\s;&|(])git\s(?:-C\s\S{1,200}\s)?(?P<verb>commit|push)\b(?P<rest>[^\n;&|]{0,200})")
_LEFT_OUT = re.compile(r"\s--no-verify\b|\sHUSKY=0\b|\sLEFTHOOK=0\b")
_HOOK = re.compile(
    r"\b(?P<name>pre-commit|pre-push|commit-msg|prepare-commit-msg)\b|\bhook id: |\bhusky\b|\blefthook\b"
)
_TOOL = re.compile(r"\b(?:lefthook|husky|pre-commit\.com|overcommit)\b")
_RACE = re.compile(r"non-fast-forward|fetch first|\[(?:remote )?rejected\]|Could not read from remote|stale info")
"""Matches a refusal by the remote, not by a hook."""
_PUSHED = re.compile(r"failed to push some refs")
_SAID = re.compile(
    r"The following paths are ignored by one of your \.gitignore files|^[^\n.]{2,60}\.{3,120}Failed|"
    r"^- hook id: [\w-]{2,40}|(?:exited with code|exit status|exit code:?) [1-9]\d{0,2}|"
    r"^[^\n]{0,60}\bhook (?:failed|declined)[^\n]{0,60}",
    re.MULTILINE,
)
MANY_REFUSALS = 2  # refusals from which skipping the hook is worth a note even if nobody said why


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


def draft_hook_bypass(turn: Turn, failure: CommandFailure) -> Draft | None:
    """Returns the lesson that the commit or push only went through with the hook skipped; None if the hook stopped it
    only once and nobody said why."""
    if failure.attempts < MANY_REFUSALS and not failure.cause:
        return None
    name = _HOOK.search(failure.output)
    hook = (name["name"] if name and name["name"] else "") or (
        "pre-push" if "push" in failure.command else "pre-commit"
    )
    tool = _TOOL.search(failure.output)
    whose = f"{tool.group()} {hook}" if tool else hook
    tries = f" {failure.attempts} times" if failure.attempts > 1 else ""
    why = f" Said of the cause then: “{strip_emphasis(failure.cause)}”" if failure.cause else ""
    return draft_lesson(
        failure,
        turn,
        "",
        basis="replaced",
        kind="friction",
        title=f"`{failure.command}` got past the {whose} hook only with `--no-verify`",
        body=(
            f"The {hook} hook stopped `{failure.command}`{tries} with “{failure.error}”. It went through with "
            f"`--no-verify`, so the checks of the hook did not run.{why}"
        ),
        statements=failure.causes,
        artifacts=(failure.command, "--no-verify"),
    )
