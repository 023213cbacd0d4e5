"""Every path outside a repository and every environment override, as functions of (platform, environment).

Nothing here touches the disk, so Windows and macOS are tested as data.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath, PureWindowsPath


def _pure(platform: str) -> type[PurePath]:
    return PureWindowsPath if platform == "win32" else PurePosixPath


def user_home(environ: Mapping[str, str], platform: str = sys.platform) -> PurePath:
    """The person's home folder: `USERPROFILE` on Windows, `HOME` elsewhere; `.` where neither is set."""
    name = "USERPROFILE" if platform == "win32" else "HOME"
    return _pure(platform)(environ.get(name) or ".")


def lerim_home(environ: Mapping[str, str], platform: str = sys.platform) -> PurePath:
    """Lerim's own folder: `LERIM_HOME`, else `~/.lerim`."""
    override = environ.get("LERIM_HOME")
    return _pure(platform)(override) if override else user_home(environ, platform) / ".lerim"


def claude_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The folders holding Claude Code's `projects/`: `CLAUDE_CONFIG_DIR` (a comma list), else the known defaults."""
    override = environ.get("CLAUDE_CONFIG_DIR", "")
    if override.strip():
        return tuple(_pure(platform)(part.strip()) for part in override.split(",") if part.strip())
    home = user_home(environ, platform)
    return (home / ".claude", home / ".config" / "claude")


def codex_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The folder of Codex: `CODEX_HOME`, else `~/.codex`."""
    override = environ.get("CODEX_HOME", "").strip()
    return (_pure(platform)(override) if override else user_home(environ, platform) / ".codex",)


def opencode_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The data folder of OpenCode (XDG on every system); `OPENCODE_DB` names a database, there or anywhere."""
    data = environ.get("XDG_DATA_HOME", "").strip()
    base = _pure(platform)(data) if data else user_home(environ, platform) / ".local" / "share"
    database = environ.get("OPENCODE_DB", "").strip()
    own = base / "opencode"
    return (own, own / database) if database and database != ":memory:" else (own,)


def gemini_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The folder of Gemini CLI: `.gemini` in `GEMINI_CLI_HOME`, else in the person's home."""
    override = environ.get("GEMINI_CLI_HOME", "").strip()
    home = _pure(platform)(override) if override else user_home(environ, platform)
    return (home / ".gemini",)


CURSORS = ("Cursor", "Cursor Nightly")
"""Products of Cursor, each with a `User` folder of its own."""
CODES = ("Code", "Code - Insiders", "VSCodium")
"""Products of VS Code that hold Copilot's chats."""


def user_folders(products: Sequence[str], environ: Mapping[str, str], platform: str) -> tuple[PurePath, ...]:
    """The `User` folders of editors made from VS Code, by the name of the product."""
    home = user_home(environ, platform)
    if platform == "win32":
        roaming = environ.get("APPDATA", "").strip()
        base = PureWindowsPath(roaming) if roaming else home / "AppData" / "Roaming"
    elif platform == "darwin":
        base = home / "Library" / "Application Support"
    else:
        config = environ.get("XDG_CONFIG_HOME", "").strip()
        base = PurePosixPath(config) if config else home / ".config"
    portable = environ.get("VSCODE_PORTABLE", "").strip()
    own = (_pure(platform)(portable) / "user-data" / "User",) if portable else ()
    return (*own, *(base / product / "User" for product in products))


def cursor_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The `User` folders of Cursor, and `~/.cursor` with the transcripts of its agents."""
    return (*user_folders(CURSORS, environ, platform), user_home(environ, platform) / ".cursor")


def copilot_roots(environ: Mapping[str, str], platform: str = sys.platform) -> tuple[PurePath, ...]:
    """The folder of Copilot's command line (`COPILOT_HOME`, else `~/.copilot`), VS Code's `User` folders, and those of
    its server, where a remote window's chats may be."""
    override = environ.get("COPILOT_HOME", "").strip()
    home = user_home(environ, platform)
    own = _pure(platform)(override) if override else home / ".copilot"
    servers = (home / ".vscode-server" / "data" / "User", home / ".vscode-server-insiders" / "data" / "User")
    return (own, *user_folders(CODES, environ, platform), *servers)


@dataclass(frozen=True, slots=True)
class Home:
    """`~/.lerim` (or `LERIM_HOME`): what belongs to the person and not to one repository. Folder 0700, files 0600."""

    root: Path

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> Home:
        """The home this environment names."""
        return cls(Path(lerim_home(environ)))

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
