"""Every path outside a repository and every environment override, as functions of (platform, environment).

The functions here do not touch the disk, so that those for Windows and macOS can be tested on any system. Returned
paths are always absolute: a relative one would point into the working folder, which may be a hostile repository. A
relative home is an error. Any other variable with a relative path counts as not set (as the XDG specification
requires), and `relative_variables` reports it.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from lerim.errors import HomeError, Problem, error_reason

AGENT_VARIABLES = (
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "APPDATA",
    "VSCODE_PORTABLE",
)
"""The environment variables with folders in which agents store their sessions."""
STORE_VARIABLES = (*AGENT_VARIABLES, "OPENCODE_DB")
"""All environment variables that say where agents store their sessions."""


def _path_type(platform: str) -> type[PurePath]:
    return PureWindowsPath if platform == "win32" else PurePosixPath


def user_home(environ: Mapping[str, str], platform: str = sys.platform) -> PurePath:
    """Returns the person's home folder: `USERPROFILE` on Windows, `HOME` elsewhere.

    Raises HomeError if it is not set or not absolute.
    """
    name = "USERPROFILE" if platform == "win32" else "HOME"
    home = _path_type(platform)(environ.get(name, ""))
    if not environ.get(name):
        raise HomeError(f"{name} is not set, so your home folder is not known.", where=name, todo=_todo(name))
    if not home.is_absolute():
        raise HomeError(f"{name} is not an absolute path.", where=str(home), todo=_todo(name))
    return home


def lerim_home(environ: Mapping[str, str], platform: str = sys.platform) -> PurePath:
    """Lerim's own folder: `LERIM_HOME`, else `~/.lerim`. Raises HomeError if it is not absolute."""
    own = user_home(environ, platform) / ".lerim"
    override = environ.get("LERIM_HOME")
    if not override:
        return own
    home = _path_type(platform)(override)
    if not home.is_absolute():
        raise HomeError("LERIM_HOME is not an absolute path.", where=override, todo=_todo("LERIM_HOME"))
    return home


def _todo(name: str) -> str:
    return f"Set {name} to the absolute path of a folder you own."


def relative_variables(environ: Mapping[str, str], platform: str = sys.platform) -> list[Problem]:
    """Returns a problem for each agent variable that is ignored because its path is relative."""
    return [
        Problem("relative-path", name, f"{name} is ignored because {part!r} is not an absolute path.")
        for name in AGENT_VARIABLES
        for part in _split_variable(environ, name)
        if not _path_type(platform)(part).is_absolute()
    ]


def _split_variable(environ: Mapping[str, str], name: str) -> list[str]:
    value = environ.get(name, "")
    parts = value.split(",") if name == "CLAUDE_CONFIG_DIR" else [value]
    return [part.strip() for part in parts if part.strip()]


def _absolute_folders(environ: Mapping[str, str], name: str, platform: str) -> tuple[PurePath, ...]:
    """Returns the absolute paths in a variable."""
    named = map(_path_type(platform), _split_variable(environ, name))
    return tuple(folder for folder in named if folder.is_absolute())


def _first_folder(environ: Mapping[str, str], name: str, platform: str, default: PurePath) -> PurePath:
    return next(iter(_absolute_folders(environ, name, platform)), default)


def claude_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """Returns the parents of Claude Code's `projects/`: `CLAUDE_CONFIG_DIR` (comma-separated), else the defaults."""
    home = user_home(environ, platform)
    return _absolute_folders(environ, "CLAUDE_CONFIG_DIR", platform) or (home / ".claude", home / ".config" / "claude")


def codex_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """Returns the folder of Codex: `CODEX_HOME`, else `~/.codex`."""
    return (_first_folder(environ, "CODEX_HOME", platform, user_home(environ, platform) / ".codex"),)


def opencode_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """Returns the data folder of OpenCode (XDG on every system); `OPENCODE_DB` is the path of a database, absolute
    or relative to that folder."""
    base = _first_folder(environ, "XDG_DATA_HOME", platform, user_home(environ, platform) / ".local" / "share")
    database = environ.get("OPENCODE_DB", "").strip()
    own = base / "opencode"
    return (own, own / database) if database and database != ":memory:" else (own,)


def gemini_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """Returns the folder of Gemini CLI: `.gemini` in `GEMINI_CLI_HOME`, else in the person's home."""
    return (_first_folder(environ, "GEMINI_CLI_HOME", platform, user_home(environ, platform)) / ".gemini",)


CURSOR_PRODUCTS = ("Cursor", "Cursor Nightly")
"""Editions of Cursor, each with its own `User` folder."""
VSCODE_PRODUCTS = ("Code", "Code - Insiders", "VSCodium")
"""Editions of VS Code that store Copilot's chats."""


def editor_user_folders(products: Sequence[str], environ: Mapping[str, str], platform: str) -> tuple[PurePath, ...]:
    """Returns the `User` folders of editors based on VS Code, given their product names."""
    home = user_home(environ, platform)
    if platform == "win32":
        base = _first_folder(environ, "APPDATA", platform, home / "AppData" / "Roaming")
    elif platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = _first_folder(environ, "XDG_CONFIG_HOME", platform, home / ".config")
    own = tuple(folder / "user-data" / "User" for folder in _absolute_folders(environ, "VSCODE_PORTABLE", platform))
    return (*own, *(base / product / "User" for product in products))


def cursor_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """Returns the `User` folders of Cursor, and `~/.cursor` with the transcripts of its agents."""
    return (*editor_user_folders(CURSOR_PRODUCTS, environ, platform), user_home(environ, platform) / ".cursor")


def copilot_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """Returns the folder of Copilot's command line (`COPILOT_HOME`, else `~/.copilot`), VS Code's `User` folders,
    and those of its server, which may store the chats of a remote window."""
    home = user_home(environ, platform)
    own = _first_folder(environ, "COPILOT_HOME", platform, home / ".copilot")
    servers = (home / ".vscode-server" / "data" / "User", home / ".vscode-server-insiders" / "data" / "User")
    return (own, *editor_user_folders(VSCODE_PRODUCTS, environ, platform), *servers)


@dataclass(frozen=True, slots=True)
class Home:
    """`~/.lerim` (or `LERIM_HOME`): data of the person rather than of one repository. Folder mode 0700, files 0600.

    `user_home` is the person's home folder; None if it was not determined.
    """

    root: Path
    user_home: Path | None = None

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Home:
        """Returns the home set by this environment. Raises HomeError if it is not absolute or not owned by the person.

        `lerim.project.home` checks that it is outside of any repository."""
        home = cls(Path(lerim_home(environ)), Path(user_home(environ)))
        _check_owner(Path(user_home(environ)), "USERPROFILE" if sys.platform == "win32" else "HOME")
        if os.path.lexists(home.root):
            _check_owner(home.root, "LERIM_HOME" if environ.get("LERIM_HOME") else ".lerim")
        return home

    @property
    def catalog(self) -> Path:
        """The database with the catalog of sessions, of all agents and projects."""
        return self.root / "index" / "sessions.sqlite3"

    @property
    def config(self) -> Path:
        """The person's settings file."""
        return self.root / "config.toml"

    @property
    def activity_log(self) -> Path:
        """The log with one line per sync: time, operation, project, counts, cost, seconds."""
        return self.root / "activity.log"

    @property
    def spending(self) -> Path:
        """The file with the cost of each call to a paid model."""
        return self.root / "spending.sqlite3"

    @property
    def models(self) -> Path:
        """The file with the models the person consented to, and the limits that each model reported."""
        return self.root / "models.json"

    @property
    def memory(self) -> Path:
        """The folder of memories of sessions outside of any repository."""
        return self.root / "memory"

    @property
    def server(self) -> Path:
        """The files of `lerim serve`: its token, its lock, the address it listens on, and its log."""
        return self.root / "server"

    def project(self, key: str) -> Path:
        """Returns the private folder of a project: rejections, undo history, locks, and quotes kept out of git."""
        return self.root / "projects" / key


def _check_owner(folder: Path, name: str) -> None:
    """Raises HomeError if the folder does not exist or belongs to another user."""
    try:
        found = folder.stat()
    except OSError as error:
        message = f"{name} cannot be used as a home: {error_reason(error)}."
        raise HomeError(message, where=str(folder), todo=_todo(name)) from error
    if not stat.S_ISDIR(found.st_mode):
        raise HomeError(f"{name} cannot be used as a home: it is not a folder.", where=str(folder), todo=_todo(name))
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        message = f"{name} belongs to another user (id {found.st_uid}; yours is {os.geteuid()})."
        raise HomeError(message, where=str(folder), todo=_todo(name))
