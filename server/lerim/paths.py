"""Every path outside a repository and every environment override, as functions of (platform, environment).

The functions here do not touch the disk, so Windows and macOS are tested as data. A path is never relative: it would
lead into the working folder, which may be a hostile repository. A relative home is an error; any other variable that
holds a relative path counts as not set (as the XDG specification says), and `relative_variables` names it.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath

from lerim.errors import HomeError, Problem, reason_of

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
"""The variables that say where agents keep their sessions."""


def _pure(platform: str) -> type[PurePath]:
    return PureWindowsPath if platform == "win32" else PurePosixPath


def user_home(environ: Mapping[str, str], platform: str = sys.platform) -> PurePath:
    """The person's home folder: `USERPROFILE` on Windows, `HOME` elsewhere.

    Raises HomeError where it is not set or not absolute.
    """
    name = "USERPROFILE" if platform == "win32" else "HOME"
    home = _pure(platform)(environ.get(name, ""))
    if not environ.get(name):
        raise HomeError(f"{name} is not set, so your home folder is not known.", where=name, todo=_todo(name))
    if not home.is_absolute():
        raise HomeError(f"{name} is not an absolute path.", where=str(home), todo=_todo(name))
    return home


def lerim_home(environ: Mapping[str, str], platform: str = sys.platform) -> PurePath:
    """Lerim's own folder: `LERIM_HOME`, else `~/.lerim`. Raises HomeError where it is not absolute."""
    own = user_home(environ, platform) / ".lerim"
    override = environ.get("LERIM_HOME")
    if not override:
        return own
    home = _pure(platform)(override)
    if not home.is_absolute():
        raise HomeError("LERIM_HOME is not an absolute path.", where=override, todo=_todo("LERIM_HOME"))
    return home


def _todo(name: str) -> str:
    return f"Set {name} to the whole path of a folder of your own."


def relative_variables(environ: Mapping[str, str], platform: str = sys.platform) -> list[Problem]:
    """A problem for each variable of an agent that was ignored because the path in it is relative."""
    return [
        Problem("relative-path", name, f"{name} is ignored because {part!r} is not an absolute path.")
        for name in AGENT_VARIABLES
        for part in _parts(environ, name)
        if not _pure(platform)(part).is_absolute()
    ]


def _parts(environ: Mapping[str, str], name: str) -> list[str]:
    value = environ.get(name, "")
    parts = value.split(",") if name == "CLAUDE_CONFIG_DIR" else [value]
    return [part.strip() for part in parts if part.strip()]


def _folders(environ: Mapping[str, str], name: str, platform: str) -> tuple[PurePath, ...]:
    """The absolute paths a variable holds."""
    named = map(_pure(platform), _parts(environ, name))
    return tuple(folder for folder in named if folder.is_absolute())


def _folder(environ: Mapping[str, str], name: str, platform: str, default: PurePath) -> PurePath:
    return next(iter(_folders(environ, name, platform)), default)


def claude_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The folders holding Claude Code's `projects/`: `CLAUDE_CONFIG_DIR` (a comma list), else the known defaults."""
    home = user_home(environ, platform)
    return _folders(environ, "CLAUDE_CONFIG_DIR", platform) or (home / ".claude", home / ".config" / "claude")


def codex_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The folder of Codex: `CODEX_HOME`, else `~/.codex`."""
    return (_folder(environ, "CODEX_HOME", platform, user_home(environ, platform) / ".codex"),)


def opencode_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The data folder of OpenCode (XDG on every system); `OPENCODE_DB` names a database, there or anywhere."""
    base = _folder(environ, "XDG_DATA_HOME", platform, user_home(environ, platform) / ".local" / "share")
    database = environ.get("OPENCODE_DB", "").strip()
    own = base / "opencode"
    return (own, own / database) if database and database != ":memory:" else (own,)


def gemini_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The folder of Gemini CLI: `.gemini` in `GEMINI_CLI_HOME`, else in the person's home."""
    return (_folder(environ, "GEMINI_CLI_HOME", platform, user_home(environ, platform)) / ".gemini",)


CURSOR_PRODUCTS = ("Cursor", "Cursor Nightly")
"""Products of Cursor, each with a `User` folder of its own."""
VSCODE_PRODUCTS = ("Code", "Code - Insiders", "VSCodium")
"""Products of VS Code that hold Copilot's chats."""


def editor_user_folders(products: Sequence[str], environ: Mapping[str, str], platform: str) -> tuple[PurePath, ...]:
    """The `User` folders of editors made from VS Code, by the name of the product."""
    home = user_home(environ, platform)
    if platform == "win32":
        base = _folder(environ, "APPDATA", platform, home / "AppData" / "Roaming")
    elif platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        base = _folder(environ, "XDG_CONFIG_HOME", platform, home / ".config")
    own = tuple(folder / "user-data" / "User" for folder in _folders(environ, "VSCODE_PORTABLE", platform))
    return (*own, *(base / product / "User" for product in products))


def cursor_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The `User` folders of Cursor, and `~/.cursor` with the transcripts of its agents."""
    return (*editor_user_folders(CURSOR_PRODUCTS, environ, platform), user_home(environ, platform) / ".cursor")


def copilot_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The folder of Copilot's command line (`COPILOT_HOME`, else `~/.copilot`), VS Code's `User` folders, and those of
    its server, where a remote window's chats may be."""
    home = user_home(environ, platform)
    own = _folder(environ, "COPILOT_HOME", platform, home / ".copilot")
    servers = (home / ".vscode-server" / "data" / "User", home / ".vscode-server-insiders" / "data" / "User")
    return (own, *editor_user_folders(VSCODE_PRODUCTS, environ, platform), *servers)


@dataclass(frozen=True, slots=True)
class Home:
    """`~/.lerim` (or `LERIM_HOME`): what belongs to the person and not to one repository. Folder 0700, files 0600.

    `person` is the home folder itself; None where it was not asked for.
    """

    root: Path
    person: Path | None = None

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Home:
        """The home this environment names. Raises HomeError where it is not absolute, or not the person's own.

        Whether it lies in a repository is for `lerim.project.home` to say."""
        home = cls(Path(lerim_home(environ)), Path(user_home(environ)))
        _check_owner(Path(user_home(environ)), "USERPROFILE" if sys.platform == "win32" else "HOME")
        if os.path.lexists(home.root):
            _check_owner(home.root, "LERIM_HOME" if environ.get("LERIM_HOME") else ".lerim")
        return home

    @property
    def catalog(self) -> Path:
        """The catalog of sessions of every agent and project."""
        return self.root / "index" / "sessions.sqlite3"

    @property
    def config(self) -> Path:
        """The person's settings."""
        return self.root / "config.toml"

    @property
    def activity_log(self) -> Path:
        """One line a sync: time, operation, project, counts, cost, seconds."""
        return self.root / "activity.log"

    @property
    def spending(self) -> Path:
        """What each call of a model that is paid for cost."""
        return self.root / "spending.sqlite3"

    @property
    def models(self) -> Path:
        """Which models the person agreed to, and what each told of its limits."""
        return self.root / "models.json"

    @property
    def memory(self) -> Path:
        """Memories of sessions outside any repository."""
        return self.root / "memory"

    def project(self, key: str) -> Path:
        """The private folder of one project: rejections, undo history, locks, quotes kept out of git."""
        return self.root / "projects" / key


def _check_owner(folder: Path, name: str) -> None:
    """Raises HomeError where a folder is not there, or belongs to somebody else."""
    try:
        found = folder.stat()
    except OSError as error:
        message = f"{name} cannot be used as a home: {reason_of(error)}."
        raise HomeError(message, where=str(folder), todo=_todo(name)) from error
    if not stat.S_ISDIR(found.st_mode):
        raise HomeError(f"{name} cannot be used as a home: it is not a folder.", where=str(folder), todo=_todo(name))
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        message = f"{name} belongs to another user (id {found.st_uid}; yours is {os.geteuid()})."
        raise HomeError(message, where=str(folder), todo=_todo(name))
