"""How an agent starts `lerim mcp`: with a small program in Lerim's home folder that never moves.

Lerim itself may be in an environment that is moved or recreated, for example that of the editor's extension, and is
often not on the PATH that an agent has. So the person's own files name this program, which knows where Lerim is now;
each window of the editor and each `lerim agents install` updates it. Files of a project, which others read as well,
name `lerim`.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath

from lerim import hook
from lerim.agents.model import InstallLevel
from lerim.errors import LerimError, MemoryError_, error_reason
from lerim.files import open_directory, read_regular_file, temporary_file
from lerim.paths import Home
from lerim.project import make_private_folder


def mcp_command(level: InstallLevel, platform: str, home: Home) -> Sequence[str]:
    """Returns the command with which an agent starts the MCP server: the program, then its arguments."""
    if level == "project":
        return ("lerim", "mcp")
    path = launcher_path(platform, home)
    # Windows cannot start a batch file itself; its command processor has to run it.
    return ("cmd", "/c", str(path), "mcp") if platform == "win32" else (str(path), "mcp")


def launcher_path(platform: str, home: Home) -> PurePath:
    """Returns the path of the program that starts Lerim."""
    return home.root / "bin" / ("lerim.cmd" if platform == "win32" else "lerim")


def launcher_text(platform: str, home: Home, executable: str) -> str:
    """Returns the text of the program that starts Lerim; `executable` is the Python interpreter that has Lerim.

    If the home is not the usual one, the text names it, because some agents pass on few environment variables.
    """
    arguments = "-P -X utf8 -m lerim"
    is_usual = home.user_home is None or home.root == home.user_home / ".lerim"
    if platform == "win32":
        lines = [] if is_usual else [f'@set "LERIM_HOME={home.root}"']
        return "".join(f"{line}\r\n" for line in [*lines, f'@"{executable}" {arguments} %*'])
    lines = [] if is_usual else [f"export LERIM_HOME={shlex.quote(str(home.root))}"]
    return "\n".join(["#!/bin/sh", *lines, f'exec {shlex.quote(executable)} {arguments} "$@"', ""])


def install_launcher(home: Home) -> None:
    """Writes the program that starts Lerim, unless it is already up to date. Raises MemoryError_."""
    path, text = Path(launcher_path(sys.platform, home)), launcher_text(sys.platform, home, sys.executable)
    if _read_launcher(path) == text:
        return
    try:
        make_private_folder(home, path.parent)
        with open_directory(path.parent) as folder, temporary_file(folder, text.encode(), 0o700, True) as temporary:
            folder.rename(temporary, path.name)
    except OSError as error:
        message = f"The program that starts Lerim cannot be written: {error_reason(error)}."
        todo = "Make the folder writable, then try again; nothing was changed."
        raise MemoryError_(message, where=str(path), todo=todo) from error


def is_launcher_current(home: Home) -> bool:
    """Returns whether the program that starts Lerim starts this installation of it."""
    path = Path(launcher_path(sys.platform, home))
    return _read_launcher(path) == launcher_text(sys.platform, home, sys.executable) and os.access(path, os.X_OK)


def update_installed_programs(home: Home) -> LerimError | None:
    """Updates the programs that agents start, if they were installed; installs none. Returns the error if that
    failed."""
    try:
        if Path(launcher_path(sys.platform, home)).exists() and not is_launcher_current(home):
            install_launcher(home)
        has_hook = any((home.root / "bin" / name).exists() for name in ("hook", "hook.py"))
        if has_hook and not hook.is_hook_program_current(home):
            hook.install_hook_program(home)
    except LerimError as error:
        return error
    return None


def _read_launcher(path: Path) -> str | None:
    try:
        return read_regular_file(path).decode(errors="replace")
    except OSError:
        return None
