"""Starting and ending child processes, as functions of (platform, environment): no shell, no console, own group.

Everything here returns data, so that every system is tested on any machine; only `claim_streams`, `lower_priority`
and `kill_group` act.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath
from typing import BinaryIO

log = logging.getLogger("lerim.process")

CREATE_NEW_PROCESS_GROUP = 0x00000200
BELOW_NORMAL_PRIORITY_CLASS = 0x00004000
CREATE_NO_WINDOW = 0x08000000

NICE = 10
"""How much a job yields to the editor and to what the person runs."""

FOREIGN_VARIABLES = ("PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT", "PYTHONHOME", "PYTHONWARNINGS")
"""Variables that would change what our Python does; they belong to the person's own programs."""


@dataclass(frozen=True, slots=True)
class ProcessLaunch:
    """What to hand to `subprocess`: `new_session` makes a process group on POSIX, `creationflags` do so on Windows.

    Where `line` is not empty it is handed over in place of `argv`: Windows starts a batch file by a line alone.
    """

    argv: tuple[str, ...]
    environ: dict[str, str]
    creationflags: int
    new_session: bool
    line: str = ""


def build_lerim_launch(
    arguments: Sequence[str], executable: str, environ: Mapping[str, str], platform: str = sys.platform
) -> ProcessLaunch:
    """A child `python -m lerim <arguments>`.

    `-P` keeps the working directory, which may be a hostile repository, off the module path.
    """
    windows = platform == "win32"
    kept = {name: value for name, value in environ.items() if name.upper() not in FOREIGN_VARIABLES}
    return ProcessLaunch(
        argv=(executable, "-P", "-X", "utf8", "-m", "lerim", *arguments),
        environ={**kept, "PYTHONUTF8": "1"},
        creationflags=CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP | BELOW_NORMAL_PRIORITY_CLASS if windows else 0,
        new_session=not windows,
    )


def find_executable(
    name: str,
    environ: Mapping[str, str],
    platform: str = sys.platform,
    there: Callable[[str], bool] = lambda path: os.path.isfile(path) and os.access(path, os.X_OK),  # noqa: PTH113
) -> str | None:
    """The whole path of a program: as it is named, or from the folders of PATH; never from where we happen to be."""
    windows = platform == "win32"
    pure = PureWindowsPath if windows else PurePosixPath
    known = {key.upper() if windows else key: value for key, value in environ.items()}
    endings = _endings(name, known.get("PATHEXT", "")) if windows else [""]
    folders = [] if pure(name).is_absolute() else known.get("PATH", "").split(";" if windows else ":")
    if not name or (folders and len(pure(name).parts) != 1):
        return None
    places = [pure(folder) / name for folder in folders if pure(folder).is_absolute()] if folders else [pure(name)]
    return next((f"{place}{end}" for place in places for end in endings if there(f"{place}{end}")), None)


def _endings(name: str, pathext: str) -> list[str]:
    """What Windows may add to a program's name. npm puts a script for other systems, which has no ending, beside the
    one for Windows, so that a name without an ending is the last that is tried."""
    known = [one for one in (pathext or ".COM;.EXE;.BAT;.CMD").split(";") if one]
    named = PureWindowsPath(name).suffix.upper() in {one.upper() for one in known}
    return ["", *known] if named else [*known, ""]


def is_batch(program: str) -> bool:
    """Whether Windows runs a program by its command processor."""
    return PureWindowsPath(program).suffix.lower() in (".cmd", ".bat")


def build_batch_line(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """The line that starts a batch file on Windows, such as the `claude.cmd` that npm installs.

    Raises ValueError for an argument that the command processor would read as more than text.
    """
    for word in argv:
        if any(sign in word for sign in '"%!\r\n\0'):
            raise ValueError(f"Windows cannot hand {word!r} to {PureWindowsPath(argv[0]).name}")
    processor = _windows_folder(environ) / "System32" / "cmd.exe"
    words = " ".join(f'"{word}"' for word in argv)
    return f'"{processor}" /d /v:off /s /c "{words}"'


def _windows_folder(environ: Mapping[str, str]) -> PureWindowsPath:
    root = PureWindowsPath(next((value for name, value in environ.items() if name.upper() == "SYSTEMROOT"), ""))
    return root if root.is_absolute() else PureWindowsPath("C:\\Windows")


def build_kill_launch(pid: int, environ: Mapping[str, str], platform: str = sys.platform) -> ProcessLaunch | None:
    """The command that ends a process and all its children, or None where a signal to its group does (POSIX).

    It is named by its whole path: a program of that name in a repository or on the path is never run.
    """
    if platform != "win32":
        return None
    program = _windows_folder(environ) / "System32" / "taskkill.exe"
    return ProcessLaunch(
        (str(program), "/F", "/T", "/PID", str(pid)), dict(environ), CREATE_NO_WINDOW, new_session=False
    )


def kill_group(pid: int, environ: Mapping[str, str]) -> None:
    """Kills a process that leads a group of its own, and its children, now; one that is gone already is fine."""
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


def lower_priority(platform: str = sys.platform) -> None:
    """Lowers this process's priority; on Windows the parent already asked for it at start."""
    if platform != "win32":
        os.nice(NICE)


def claim_streams() -> tuple[BinaryIO, BinaryIO]:
    """Takes stdin and stdout for a protocol: (input, output) on file descriptors of their own.

    Afterwards fd 1 is stderr and fd 0 is empty, so that nothing this process or a child of it prints or reads can
    corrupt the protocol.
    """
    output = os.fdopen(os.dup(1), "wb", 0x10000)
    source = os.fdopen(os.dup(0), "rb", 0x10000)
    os.dup2(2, 1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    sys.stdout = sys.stderr
    return source, output
