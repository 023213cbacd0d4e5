"""Starts and ends child processes without a shell or console, each in its own process group.

Most functions take the platform and the environment and return data, so that each system is tested on any machine.
Only `lower_priority` and `kill_group` have side effects.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

log = logging.getLogger("lerim.process")

CREATE_NEW_PROCESS_GROUP = 0x00000200
BELOW_NORMAL_PRIORITY_CLASS = 0x00004000
CREATE_NO_WINDOW = 0x08000000

NICE = 10
"""The nice value of a job, so that it yields to the editor and the person's own programs."""

FOREIGN_VARIABLES = ("PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONHOME", "PYTHONWARNINGS")
"""Variables meant for the person's own Python programs; they would change how Lerim's Python runs."""


@dataclass(frozen=True, slots=True)
class ProcessLaunch:
    """Arguments for `subprocess`: `new_session` creates a process group on POSIX, `creationflags` does so on Windows.

    If `command_line` is not empty, it is passed instead of `argv`: Windows starts a batch file only by a command line.
    """

    argv: tuple[str, ...]
    environ: dict[str, str]
    creationflags: int
    new_session: bool
    command_line: str = ""


def build_lerim_launch(
    arguments: Sequence[str], executable: str, environ: Mapping[str, str], platform: str = sys.platform
) -> ProcessLaunch:
    """Returns the launch of a child process `python -m lerim <arguments>`.

    `-P` keeps the working directory, which may be a hostile repository, off the module path.
    """
    windows = platform == "win32"
    inherited = {name: value for name, value in environ.items() if name.upper() not in FOREIGN_VARIABLES}
    return ProcessLaunch(
        argv=(executable, "-P", "-X", "utf8", "-m", "lerim", *arguments),
        environ={**inherited, "PYTHONUTF8": "1"},
        creationflags=CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP | BELOW_NORMAL_PRIORITY_CLASS if windows else 0,
        new_session=not windows,
    )


def find_executable(
    name: str,
    environ: Mapping[str, str],
    platform: str = sys.platform,
    is_executable: Callable[[str], bool] = lambda path: os.path.isfile(path) and os.access(path, os.X_OK),  # noqa: PTH113
) -> str | None:
    """Returns the absolute path of a program given by absolute path or found in PATH, or None.

    The working directory and relative folders in PATH are never searched."""
    windows = platform == "win32"
    pure = PureWindowsPath if windows else PurePosixPath
    variables = {key.upper() if windows else key: value for key, value in environ.items()}
    endings = _list_endings(name, variables.get("PATHEXT", "")) if windows else [""]
    folders = [] if pure(name).is_absolute() else variables.get("PATH", "").split(";" if windows else ":")
    if not name or (folders and len(pure(name).parts) != 1):
        return None
    places = [pure(folder) / name for folder in folders if pure(folder).is_absolute()] if folders else [pure(name)]
    return next((f"{place}{end}" for place in places for end in endings if is_executable(f"{place}{end}")), None)


def _list_endings(name: str, pathext: str) -> list[str]:
    """Returns the extensions that Windows may append to a program's name, in the order to try them. npm installs a
    script for other systems, without an extension, next to the one for Windows, so the bare name is tried last."""
    extensions = [extension for extension in (pathext or ".COM;.EXE;.BAT;.CMD").split(";") if extension]
    named = PureWindowsPath(name).suffix.upper() in {extension.upper() for extension in extensions}
    return ["", *extensions] if named else [*extensions, ""]


def is_batch(program: str) -> bool:
    """Returns whether Windows runs the program with its command processor."""
    return PureWindowsPath(program).suffix.lower() in (".cmd", ".bat")


def build_batch_line(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """Returns the command line that starts a batch file on Windows, such as the `claude.cmd` that npm installs.

    Raises ValueError for an argument that the command processor would not take literally.
    """
    for word in argv:
        if any(character in word for character in '"%!\r\n\0'):
            raise ValueError(f"Windows cannot hand {word!r} to {PureWindowsPath(argv[0]).name}")
    processor = _windows_folder(environ) / "System32" / "cmd.exe"
    words = " ".join(f'"{word}"' for word in argv)
    return f'"{processor}" /d /v:off /s /c "{words}"'


def _windows_folder(environ: Mapping[str, str]) -> PureWindowsPath:
    root = PureWindowsPath(next((value for name, value in environ.items() if name.upper() == "SYSTEMROOT"), ""))
    return root if root.is_absolute() else PureWindowsPath("C:\\Windows")


def build_kill_launch(pid: int, environ: Mapping[str, str], platform: str = sys.platform) -> ProcessLaunch | None:
    """Returns the command that ends a process and all its children, or None on POSIX, where a signal to the group does
    that.

    The program is given by its absolute path, so that one of the same name in a repository or in PATH is never run.
    """
    if platform != "win32":
        return None
    program = _windows_folder(environ) / "System32" / "taskkill.exe"
    return ProcessLaunch(
        (str(program), "/F", "/T", "/PID", str(pid)), dict(environ), CREATE_NO_WINDOW, new_session=False
    )


def kill_group(pid: int, environ: Mapping[str, str]) -> None:
    """Kills a process that leads its own group, and its children. A process that has already ended is not an error."""
    launch = build_kill_launch(pid, environ)
    if launch is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        return
    quiet = subprocess.DEVNULL
    try:
        flags = launch.creationflags
        subprocess.Popen(launch.argv, stdin=quiet, stdout=quiet, stderr=quiet, env=launch.environ, creationflags=flags)
    except OSError as error:
        log.warning("%s could not be started: %s. The process is ended alone.", launch.argv[0], error.strerror)
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)


def lower_priority() -> None:
    """Lowers the priority of this process; on Windows the parent has already done so when starting it."""
    if sys.platform != "win32":
        os.nice(NICE)


def format_command_line(*words: object, platform: str = sys.platform) -> str:
    """Returns the words as one command line for the platform's shell, quoted where necessary."""
    texts = [str(word) for word in words]
    return subprocess.list2cmdline(texts) if platform == "win32" else shlex.join(texts)
