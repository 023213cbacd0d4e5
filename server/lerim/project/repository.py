"""What a git repository looks like on disk, read without starting git and without trusting what is found.

A folder can *say* that it belongs to a repository (`.git` file, symlink); it is believed only if that repository
says so too (the worktree's back link, a submodule's `core.worktree`). A folder whose claim is not answered is its own.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from lerim.files import open_buffered

POINTER_BYTES = 4096
CONFIG_BYTES = 1_000_000

_SECTION = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_SCP = re.compile(r"^(?:([^@/\s]+)@)?([^:/\s]+):(?!//)(.+)$")

LONGEST_PATH, LONGEST_NAME = 4096, 255
"""Bytes of the longest path that a system takes, and of the longest name in one."""

LONGEST_WINDOWS_PATH = 32_767
"""The same of a path of Windows, in characters."""

GitConfig = dict[tuple[str, str, str], str]
"""(section, subsection, key) -> value; section and key in lower case."""


@dataclass(frozen=True, slots=True)
class RepositoryLayout:
    """One repository seen from one folder: the worktree's `root`, the `main` worktree (None when bare), the git dir
    all worktrees share."""

    root: Path
    main: Path | None
    common_dir: Path


def find_layout(folder: Path) -> RepositoryLayout | None:
    """The repository `folder` itself is the root of, or None. `folder` must be a real path (no symlinks)."""
    link = folder / ".git"
    mode = _mode(link)
    if stat.S_ISDIR(mode):
        return _from_directory(folder, link)
    if stat.S_ISREG(mode):
        return _from_pointer(folder, link)
    if folder.name != ".git" and _is_git_dir(folder) and is_bare(read_config(folder)):
        return RepositoryLayout(folder, None, folder)
    return None


def find_innermost_layout(path: Path) -> RepositoryLayout | None:
    """The innermost repository `path` lies in, whether or not the last parts of it still exist."""
    if not can_be_folder(str(path)):
        return None
    real = real_path(path)
    for folder in (real, *real.parents):
        found = find_layout(folder)
        if found is not None:
            return found
        if _is_closed(folder / ".git"):
            return None  # an inner repository that may not be read is not the outer one's
    return None


def can_be_folder(path: str) -> bool:
    """Whether a path is short enough, in whole and in each of its names, to be one of a folder anywhere."""
    if _WINDOWS.match(path):
        return len(path) <= LONGEST_WINDOWS_PATH and all(len(name) <= LONGEST_NAME for name in re.split(r"[\\/]", path))
    if len(path) > LONGEST_PATH:  # before the costlier look at each name
        return False
    spelled = path.encode("utf-8", "surrogatepass")
    return len(spelled) <= LONGEST_PATH and all(len(name) <= LONGEST_NAME for name in spelled.split(b"/"))


def real_path(path: Path) -> Path:
    """`path` without symlinks; a symlink loop, a null byte or a folder that may not be read leaves it as written."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return Path("/") if "\0" in str(path) else path.absolute()


def _from_directory(folder: Path, link: Path) -> RepositoryLayout | None:
    git_dir = real_path(link)
    if not _is_git_dir(git_dir):
        return None
    if git_dir != link and not _works_in(git_dir, folder):
        return RepositoryLayout(folder, folder, link)
    config = read_config(git_dir)
    return RepositoryLayout(folder, None if is_bare(config) else folder, git_dir)


def _from_pointer(folder: Path, link: Path) -> RepositoryLayout | None:
    text = read_small(link)
    if not text.startswith("gitdir:"):
        return None
    git_dir = real_path(folder / text.removeprefix("gitdir:").strip())
    alone = RepositoryLayout(folder, folder, link)
    if not _is_git_dir(git_dir, linked=True):
        return alone
    common = read_small(git_dir / "commondir").strip()
    if common:
        common_dir = real_path(git_dir / common)
        back = read_small(git_dir / "gitdir").strip()
        answered = bool(back) and real_path(git_dir / back) == link and git_dir.parent == common_dir / "worktrees"
        return (
            RepositoryLayout(folder, main_worktree(common_dir), common_dir)
            if answered and _is_git_dir(common_dir)
            else alone
        )
    config = read_config(git_dir)
    if git_dir.parent == folder and is_bare(config):
        return RepositoryLayout(folder, None, git_dir)  # `.bare` beside its worktrees
    return RepositoryLayout(folder, folder, git_dir) if _works_in(git_dir, folder) else alone


def main_worktree(common_dir: Path) -> Path | None:
    """The main worktree of a git dir: where `core.worktree` says, else the folder around `.git`; None when bare."""
    config = read_config(common_dir)
    if is_bare(config):
        return None
    worktree = config.get(("core", "", "worktree"), "")
    if worktree:
        return real_path(common_dir / worktree)
    return common_dir.parent if common_dir.name == ".git" else None


def worktree_folders(common_dir: Path) -> list[Path]:
    """The folders git has linked worktrees in or, where one was deleted and not pruned, had."""
    try:
        names = sorted((common_dir / "worktrees").iterdir())
    except OSError:
        return []
    links = (read_small(name / "gitdir").strip() for name in names)
    return [Path(link).parent for link in links if link.startswith("/") or _DRIVE.match(link)]


def _works_in(git_dir: Path, folder: Path) -> bool:
    worktree = read_config(git_dir).get(("core", "", "worktree"), "")
    return bool(worktree) and real_path(git_dir / worktree) == folder


def is_bare(config: GitConfig) -> bool:
    """Whether `core.bare` is true."""
    return config.get(("core", "", "bare"), "").lower() in {"true", "yes", "on", "1"}


def read_config(git_dir: Path) -> GitConfig:
    """The last value of every key in `git_dir/config`; what cannot be read or parsed is left out. No includes."""
    return parse_config(read_small(git_dir / "config", CONFIG_BYTES))


def parse_config(text: str) -> GitConfig:
    """git's config syntax, tolerant: a line that is not understood is skipped; the last of equal keys wins."""
    found: GitConfig = {}
    section, subsection = "", ""
    for raw in text.replace("\r\n", "\n").replace("\\\n", "").split("\n"):
        line = raw.strip()
        header = _SECTION.match(line)
        if header:
            section = header[1].lower()
            subsection = (header[2] or "").replace("\\\\", "\\").replace('\\"', '"')
            line = line[header.end() :].strip()
        key, equals, value = line.partition("=")
        name = key.strip().lower()
        if name and name[0] not in "#;[" and section:
            found[section, subsection, name] = _value(value) if equals else "true"
    return found


def _value(text: str) -> str:
    out: list[str] = []
    quoted = escaped = False
    for character in text.strip():
        if escaped:
            out.append({"n": "\n", "t": "\t"}.get(character, character))
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character in "#;" and not quoted:
            break
        else:
            out.append(character)
    return "".join(out).strip()


def remote_address(config: GitConfig) -> str:
    """The address of `origin`, else of the first remote, without credentials; '' where there is none."""
    addresses = {sub: value for (section, sub, key), value in config.items() if section == "remote" and key == "url"}
    address = addresses.get("origin") or next(iter(addresses.values()), "")
    return without_credentials(address)


def without_credentials(address: str) -> str:
    """`https://name:token@host/x?key=…` -> `https://host/x`; an ssh address keeps its user name, never a password."""
    if "://" in address:
        try:
            parts = urlsplit(address)
            host = parts.netloc.rpartition("@")[2]
            user = parts.netloc.rpartition("@")[0].partition(":")[0]
        except ValueError:
            return ""
        keeps_user = user and parts.scheme in {"ssh", "git+ssh"}
        return urlunsplit((parts.scheme, f"{user}@{host}" if keeps_user else host, parts.path, "", ""))
    scp = _SCP.match(address)
    if scp and scp[1]:
        return f"{scp[1].partition(':')[0]}@{scp[2]}:{scp[3]}"
    return address


def read_small(path: Path, limit: int = POINTER_BYTES) -> str:
    """The first `limit` bytes of a regular file as text; '' where it is missing, closed, or something else."""
    try:
        with open_buffered(path) as file:
            return file.read(limit).decode("utf-8", "replace").replace("\0", "")
    except (OSError, ValueError):
        return ""


def _is_git_dir(folder: Path, *, linked: bool = False) -> bool:
    """Git's own test: `HEAD`, and `objects` and `refs` here or, for a linked worktree, in the common dir."""
    if not stat.S_ISREG(_mode(folder / "HEAD")):
        return False
    if linked and (folder / "commondir").is_file():
        return True
    return stat.S_ISDIR(_mode(folder / "objects")) and stat.S_ISDIR(_mode(folder / "refs"))


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _is_closed(path: Path) -> bool:
    try:
        path.stat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return not os.access(path, os.R_OK)
