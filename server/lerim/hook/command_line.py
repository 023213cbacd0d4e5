"""The command lines that agents are told to run at their events.

Three agents stop working when a hook fails: one refuses every tool call, another every prompt, and a third waits for
ever for one that hangs, because what hangs keeps the output open. So a command line checks that the program is there,
kills it after a few seconds, hides its errors and always ends with 0. Its text must never change, because agents ask
the person again about a hook that did.
"""

from __future__ import annotations

import shlex
import sys

from lerim.paths import Home

KILL_AFTER_SECONDS = 2
"""How long a POSIX shell lets the program run: less than the agents let the shell run. The program gives up by itself
long before, so this is for what hangs it, such as a dead network drive."""


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
