"""Installs the hook program in `~/.lerim/bin/`.

    hook              starts the program (POSIX); its path and its text never change
    hook-python       the path of the interpreter
    hook.py           names the folder with the program's modules; renaming it into place is what an update is
    hook-<version>/   the modules, compiled

Agents may run the program at any moment of this: they get the old one or the new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import py_compile
import shutil
import stat
import sys
from pathlib import Path

from filelock import FileLock, Timeout

from lerim.errors import BusyError, HomeError, error_reason
from lerim.files import replace_file
from lerim.paths import Home
from lerim.project import make_private_folder

GIVE_UP_SECONDS = 0.3
_WAIT_SECONDS = 10
_MODULES = Path(__file__).parent / "program"
_START_SCRIPT = """#!/bin/sh
# Runs Lerim's hook program. The interpreter is named in the file hook-python, the program in hook.py.
d="${0%/*}"
IFS= read -r p 2>/dev/null <"$d/hook-python" && [ -x "$p" ] && exec "$p" -I -S "$d/hook.py" "$@"
exit 0
"""
_STARTER = """\
import os
import sys

try:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "{folder}"))
    from lerim_hook.main import main

    main(__file__, {seconds})
except BaseException:
    pass
"""


def install_hook_program(home: Home) -> None:
    """Installs or updates the program, and creates the folder for its indexes, without which the program does
    nothing. Does nothing if the installed program is current. Raises HomeError, MemoryError_ or BusyError if the
    installation fails; the program that was installed before then still works."""
    if is_hook_program_current(home):
        return
    folder = home.root / "bin"
    try:
        make_private_folder(home, folder)
        make_private_folder(home, home.root / "run" / "hooks")
        with FileLock(folder / "hook.lock", timeout=_WAIT_SECONDS, mode=0o600):
            _install(folder)
    except Timeout as error:
        todo = "Try again in a moment."
        raise BusyError("Another process is installing the hook program.", where=str(folder), todo=todo) from error
    except OSError as error:
        message = f"The hook program cannot be installed: {error_reason(error)}."
        todo = "Make the folder writable and free some space, then try again."
        raise HomeError(message, where=str(folder), todo=todo) from error


def is_hook_program_current(home: Home) -> bool:
    """Returns whether the program of this version of Lerim is installed and complete."""
    folder = home.root / "bin"
    modules = _read_modules()
    wanted = {
        folder / "hook.py": _render_starter(modules),
        folder / "hook-python": f"{sys.executable}\n".encode(),
        **{folder / _folder_name(modules) / "lerim_hook" / name: data for name, data in modules.items()},
    }
    if sys.platform != "win32":
        wanted[folder / "hook"] = _START_SCRIPT.encode()
        if not os.access(folder / "hook", os.X_OK):
            return False
    try:
        return (home.root / "run" / "hooks").is_dir() and all(
            path.read_bytes() == data for path, data in wanted.items()
        )
    except OSError:
        return False


def _install(folder: Path) -> None:
    modules = _read_modules()
    place = folder / _folder_name(modules) / "lerim_hook"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name, data in modules.items():
        replace_file(place / name, data.decode(), 0o600)
        with contextlib.suppress(py_compile.PyCompileError, OSError):  # otherwise each start compiles it
            py_compile.compile(str(place / name), doraise=True)
    replace_file(folder / "hook-python", f"{sys.executable}\n", 0o600)
    replace_file(folder / "hook.py", _render_starter(modules).decode(), 0o600)
    if sys.platform != "win32":
        replace_file(folder / "hook", _START_SCRIPT, 0o700)
        mode = stat.S_IMODE((folder / "hook").stat().st_mode)
        (folder / "hook").chmod(mode | stat.S_IRUSR | stat.S_IXUSR)
    for old in folder.glob("hook-*/lerim_hook"):
        if old != place:
            shutil.rmtree(old.parent, ignore_errors=True)


def _read_modules() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(_MODULES.glob("*.py"))}


def _folder_name(modules: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, data in modules.items():
        digest.update(f"{name} {len(data)}\n".encode() + data)
    return f"hook-{digest.hexdigest()[:12]}"


def _render_starter(modules: dict[str, bytes]) -> bytes:
    return _STARTER.format(folder=_folder_name(modules), seconds=GIVE_UP_SECONDS).encode()
