"""Finds commits, pushes, pull requests and merges in shell commands, and git hooks that stopped a commit or push.
Text in quotes or in a heredoc is not a command."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from lerim.extraction.facts import Command, output_lines
from lerim.patterns import compile_later
from lerim.sessions import ToolCall

GitStep = Literal["committed", "pushed", "opened", "merged"]
MAX_READ_CHARS = 2_000
_QUOTED = compile_later(
    r"(?P<kept>(?<!<)<<(?!<)-?\s?\\?['\"]?(?P<end>\w{1,20})['\"]?[^\n]*\n)[\s\S]*?(?:\n[ \t]*(?P=end)\b|\Z)"
    r"|\"(?:[^\"\\]|\\[\s\S])*+\"|'[^']*+'"
)
_START = r"(?:^|[;&|(\s])"
_GIT = _START + r"git\s(?:-[Cc]\s\S{1,200}\s){0,3}"
_STEPS: Mapping[GitStep, re.Pattern[str]] = {
    "committed": compile_later(_GIT + r"commit\b(?![^;&|\n]{0,300}\s--dry-run\b)"),
    "pushed": compile_later(_GIT + r"push\b(?![^;&|\n]{0,300}\s(?:--dry-run|-n)\b)"),
    "opened": compile_later(_START + r"(?:gh\spr\screate|glab\smr\screate)\b"),
    "merged": compile_later(_START + r"(?:gh\spr\smerge|glab\smr\smerge)\b"),
}
_VERBS: Mapping[GitStep, str] = {"committed": "commit", "pushed": "push"}
_LEFT_OUT = compile_later(r"\s--no-verify\b|\sHUSKY=0\b|\sLEFTHOOK=0\b")
_HOOK = compile_later(r"\b(?:pre-commit|pre-push|commit-msg|prepare-commit-msg)\b|\bhook id: |\bhusky\b|\blefthook\b")
_RACE = compile_later(r"non-fast-forward|fetch first|\[(?:remote )?rejected\]|Could not read from remote|stale info")
"""Matches a refusal by the remote, as opposed to one by a hook."""
_PUSHED = compile_later(r"failed to push some refs")
_SAID = compile_later(
    r"The following paths are ignored by one of your \.gitignore files|^[^\n.]{2,60}\.{3,120}Failed|"
    r"^- hook id: [\w-]{2,40}|(?:exited with code|exit status|exit code:?) [1-9]\d{0,2}|"
    r"^[^\n]{0,60}\bhook (?:failed|declined)[^\n]{0,60}",
    re.MULTILINE,
)


def find_git_steps(command: str) -> dict[GitStep, int]:
    """Returns the steps that a shell command takes, each with the position after the words that name it."""
    if "git" not in command and "gh " not in command and "glab " not in command:
        return {}
    unquoted = _QUOTED.sub(_blank_out, command[:MAX_READ_CHARS])
    return {step: found.end() for step, pattern in _STEPS.items() if (found := pattern.search(unquoted))}


def _blank_out(quoted: re.Match[str]) -> str:
    kept = quoted["kept"] or ""
    return kept + "'" * (len(quoted.group()) - len(kept))


def git_verb(command: str) -> str:
    """Returns `commit` or `push`, whichever a shell command runs first; "" if it runs neither."""
    steps = find_git_steps(command) if "git" in command else {}
    found = [(steps[step], verb) for step, verb in _VERBS.items() if step in steps]
    return min(found)[1] if found else ""


def hook_refusal(call: ToolCall) -> str:
    """Returns the output of the hook that stopped the commit or push, or "" if no hook did."""
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
