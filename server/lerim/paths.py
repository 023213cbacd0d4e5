"""Every path outside a repository and every environment override, as functions of (platform, environment).

Nothing here touches the disk, so Windows and macOS are tested as data.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
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
    def memory(self) -> Path:
        """Memories of sessions outside any repository."""
        return self.root / "memory"

    def project(self, key: str) -> Path:
        """The private folder of one project: rejections, undo history, locks, quotes kept out of git."""
        return self.root / "projects" / key
