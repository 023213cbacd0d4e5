"""The hooks of each agent: which of its events run the hook program, and the form in which the agent expects them.

A hook runs at the start of a session, with each prompt, after a file was read, and after a command failed; before an
edit only if the person chose that. Three agents stop working when a hook fails: one refuses every tool call, another
every prompt, and a third waits forever for a hook that hangs, because a hanging process keeps the output open. So a
command line checks that the program is there, kills it after a few seconds, hides its errors and always exits with
0. Its text must never change, because agents ask the person again about a hook that has changed.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

from lerim.agents.json_text import Json
from lerim.agents.model import AgentName, InstallLevel
from lerim.paths import Home

TIMEOUT_SECONDS = 5
CODEX_CONTEXT_TOKENS = 2000
"""Number of tokens of a hook's text up to which Codex passes it on as a whole."""


@dataclass(frozen=True, slots=True)
class HookWriter:
    """Writes hooks for one machine: the platform, Lerim's home, and whether an edit is held up once (`deny_once`)."""

    platform: str
    home: Home
    deny_once: bool = False

    @property
    def program(self) -> PurePath:
        """The path of the hook program on this machine."""
        return self.home.root / "bin" / "hook"

    def claude(self, level: InstallLevel) -> Mapping[str, Json]:
        """Returns the hooks of Claude Code, by event.

        In the person's own settings, the program is named by its path, without a shell; it does no harm if the
        program is missing. A project's settings must not name a path of this machine, and Copilot CLI runs their
        hooks as well, so they have the guarded command.
        """
        handler: dict[str, Json] = {"type": "command"}
        if self.platform == "win32":
            handler |= {"command": self._command("claude"), "shell": "powershell"}
        elif level == "project":
            handler |= {"command": self._command("claude")}
        else:
            handler |= {"command": str(self.program), "args": ["claude"]}
        handler["timeout"] = TIMEOUT_SECONDS
        matchers = {"SessionStart": "", "UserPromptSubmit": "", "PostToolUse": "Read|Edit|Write"}
        matchers["PostToolUseFailure"] = "Bash"
        if self.deny_once:
            matchers["PreToolUse"] = "Edit|Write"
        return {event: _group(matcher, handler) for event, matcher in matchers.items()}

    def codex(self) -> Mapping[str, Json]:
        """Returns the hooks of Codex. Codex has no tool that reads files and does not report failures, so both are
        detected from its commands."""
        handler: Json = {
            "type": "command",
            "command": self._command("codex", "linux"),
            "commandWindows": self._command("codex", "win32"),
            "timeout": TIMEOUT_SECONDS,
            "additionalContextLimit": CODEX_CONTEXT_TOKENS,
        }
        matchers = {"SessionStart": "startup|resume|clear|compact", "UserPromptSubmit": "", "PostToolUse": "Bash"}
        if self.deny_once:
            matchers["PreToolUse"] = "Edit|Write"
        return {event: _group(matcher, handler) for event, matcher in matchers.items()}

    def copilot(self) -> Mapping[str, Json]:
        """Returns the hooks of Copilot CLI, which VS Code reads as well. Copilot CLI reports a failed command as a
        success."""
        handler: dict[str, Json] = {
            "type": "command",
            "bash": self._command("copilot", "linux"),
            "powershell": self._command("copilot", "win32"),
            "timeoutSec": TIMEOUT_SECONDS,
        }
        events: dict[str, Json] = {"sessionStart": [handler], "userPromptSubmitted": [handler]}
        events["postToolUse"] = [{**handler, "matcher": "view|apply_patch|edit|create|bash|powershell"}]
        events["postToolUseFailure"] = [{**handler, "matcher": "bash|powershell"}]
        if self.deny_once:
            events["preToolUse"] = [{**handler, "matcher": "apply_patch|edit|create"}]
        return events

    def gemini(self) -> Mapping[str, Json]:
        """Returns the hooks of Gemini CLI, whose timeouts are in milliseconds."""
        handler: Json = {
            "type": "command",
            "name": "lerim",
            "command": self._command("gemini"),
            "timeout": TIMEOUT_SECONDS * 1000,
        }
        matchers = {"SessionStart": "", "BeforeAgent": ""}
        matchers["AfterTool"] = "read_file|write_file|replace|run_shell_command"
        if self.deny_once:
            matchers["BeforeTool"] = "write_file|replace"
        return {event: _group(matcher, handler) for event, matcher in matchers.items()}

    def cursor(self) -> Mapping[str, Json]:
        """Returns the hooks of Cursor. Cursor passes on nothing that a hook answers to a prompt, so none is asked
        then."""
        handler: dict[str, Json] = {"command": self._command("cursor"), "timeout": TIMEOUT_SECONDS}
        events: dict[str, Json] = {"sessionStart": handler, "postToolUse": {**handler, "matcher": "Read|Write|Shell"}}
        if self.deny_once:
            events["preToolUse"] = {**handler, "matcher": "Write"}
        return events

    def plugin(self) -> Mapping[str, Json]:
        """Returns the hooks of the plugin folder, in a form that Claude Code, Codex, Copilot CLI and Gemini CLI share.

        They have no timeout, because some of these agents read it in seconds and others in milliseconds; the hook
        program limits its own time. Each agent skips the events that it does not know.
        """
        handler: Json = {
            "type": "command",
            "name": "lerim",
            "command": self._command("claude", "linux"),
            "commandWindows": self._command("claude", "win32"),
        }
        matchers = {
            "SessionStart": "",
            "UserPromptSubmit": "",
            "PostToolUse": "Read|Edit|Write|Bash",
            "PostToolUseFailure": "Bash",
            "BeforeAgent": "",
            "AfterTool": "read_file|write_file|replace|run_shell_command",
        }
        return {event: _group(matcher, handler) for event, matcher in matchers.items()}

    def _command(self, agent: AgentName, platform: str = "") -> str:
        return build_hook_command(agent, self.home, platform or self.platform)


def _group(matcher: str, handler: Json) -> Json:
    """Returns a group of hooks in the form of Claude Code, Codex and Gemini CLI."""
    return {"matcher": matcher, "hooks": [handler]} if matcher else {"hooks": [handler]}


KILL_AFTER_SECONDS = 2
"""Seconds that a POSIX shell lets the program run, which is less than the agents let the shell run. The program
gives up by itself long before that, so this limit is for whatever makes it hang, such as a dead network drive."""


def build_hook_command(agent: str, home: Home, platform: str = sys.platform) -> str:
    """Returns the guarded command line for one agent, such as `codex`: for a POSIX shell, or for PowerShell if
    `platform` is "win32"."""
    if platform == "win32":
        return _build_powershell_command(agent, home)
    program = '"$HOME/.lerim/bin/hook"' if _is_usual_place(home) else shlex.quote(str(home.root / "bin" / "hook"))
    # a command in the background reads nothing unless its input is another descriptor
    run = f'exec 3<&0; "$h" {shlex.quote(agent)} <&3 & p=$!'
    watch = f"{{ sleep {KILL_AFTER_SECONDS}; kill -9 $p; }} <&- 3<&- >&- & w=$!"
    return f'h={program}; [ -x "$h" ] && {{ {run}; {watch}; wait $p; kill $w; }} 2>/dev/null; exit 0'


def _build_powershell_command(agent: str, home: Home) -> str:
    folder = '"$env:USERPROFILE\\.lerim\\bin"' if _is_usual_place(home) else _quote_powershell(str(home.root / "bin"))
    run = f'$input | & (Get-Content "$h\\hook-python" -TotalCount 1 -Encoding UTF8) -I -S "$h\\hook.py" {agent} 2>$null'
    encoding = "$OutputEncoding = [Text.UTF8Encoding]::new($false)"
    return f'$h = {folder}; if (Test-Path "$h\\hook.py") {{ {encoding}; {run} }}; exit 0'


def _is_usual_place(home: Home) -> bool:
    return home.user_home is not None and home.root == home.user_home / ".lerim"


def _quote_powershell(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"'{quoted}'"
