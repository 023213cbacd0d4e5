"""Reads the layout of a git repository from disk, without starting git and without trusting what it finds.

A folder can *claim* to belong to a repository (`.git` file, symlink). The claim counts only if that repository confirms
it (the worktree's back link, a submodule's `core.worktree`); otherwise the folder is a repository of its own.
"""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from lerim.files import open_buffered

MOST_POINTER_BYTES = 4096
MOST_CONFIG_BYTES = 1_000_000

_SECTION_HEADER = re.compile(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_CONTINUATION = re.compile(r"(\\\\)|\\\n")  # a backslash at the end of a line, unless another one escapes it
WINDOWS_PATH = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_SCP_ADDRESS = re.compile(r"^(?:([^@/\s]+)@)?([^:/\s]+):(?!//)(.+)$")

LONGEST_PATH, LONGEST_NAME = 4096, 255
"""The longest path a POSIX system accepts, and the longest name in one, in bytes."""

LONGEST_WINDOWS_PATH = 32_767
"""The longest Windows path, in characters."""

GitConfig = dict[tuple[str, str, str], str]
"""(section, subsection, key) -> value; section and key in lower case."""
SHORT_HASH_LENGTH = 10
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_MOST_PACKED_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class RepositoryLayout:
    """One repository seen from one folder: the worktree's `root`, `main_worktree` (None if bare), and the git
    folder that all worktrees share."""

    root: Path
    main_worktree: Path | None
    common_dir: Path


def find_layout(folder: Path) -> RepositoryLayout | None:
    """Returns the repository whose root is `folder`, or None. `folder` must be a real path (no symlinks)."""
    link = folder / ".git"
    mode = _read_mode(link)
    if stat.S_ISDIR(mode):
        return _read_directory_layout(folder, link)
    if stat.S_ISREG(mode):
        return _read_pointer_layout(folder, link)
    if folder.name != ".git" and _is_git_dir(folder) and is_bare(read_config(folder)):
        return RepositoryLayout(folder, None, folder)
    return None


def find_innermost_layout(path: Path) -> RepositoryLayout | None:
    """Returns the innermost repository around `path`, even if the last parts of the path no longer exist."""
    if not can_be_folder(str(path)):
        return None
    real = resolve_path(path)
    for folder in (real, *real.parents):
        found = find_layout(folder)
        if found is not None:
            return found
        if _is_unreadable(folder / ".git"):
            return None  # an unreadable inner repository is not part of the outer one
    return None


def can_be_folder(path: str) -> bool:
    """Returns whether a path, and each name in it, is short enough to be that of a folder on some system."""
    if len(path) <= LONGEST_NAME and path.isascii():
        return True  # most paths
    if WINDOWS_PATH.match(path):
        return len(path) <= LONGEST_WINDOWS_PATH and all(len(name) <= LONGEST_NAME for name in re.split(r"[\\/]", path))
    if len(path) > LONGEST_PATH:  # checked first, because checking each name is slower
        return False
    encoded = path.encode("utf-8", "surrogatepass")
    return len(encoded) <= LONGEST_PATH and all(len(name) <= LONGEST_NAME for name in encoded.split(b"/"))


def resolve_path(path: Path) -> Path:
    """Resolves the symlinks of `path`. A path with a symlink loop or an unreadable folder stays as written."""
    try:
        return Path(os.path.realpath(path))
    except (OSError, ValueError):
        return Path("/") if "\0" in str(path) else path.absolute()


def _read_directory_layout(folder: Path, link: Path) -> RepositoryLayout | None:
    git_dir = resolve_path(link)
    if not _is_git_dir(git_dir):
        return None
    if git_dir != link and not _is_worktree_of(git_dir, folder):
        return RepositoryLayout(folder, folder, link)
    config = read_config(git_dir)
    return RepositoryLayout(folder, None if is_bare(config) else folder, git_dir)


def _read_pointer_layout(folder: Path, link: Path) -> RepositoryLayout | None:
    text = read_small_file(link)
    if not text.startswith("gitdir:"):
        return None
    git_dir = resolve_path(folder / text.removeprefix("gitdir:").strip())
    own_layout = RepositoryLayout(folder, folder, link)
    if not _is_git_dir(git_dir, linked=True):
        return own_layout
    common = read_small_file(git_dir / "commondir").strip()
    if common:
        common_dir = resolve_path(git_dir / common)
        back_link = read_small_file(git_dir / "gitdir").strip()
        is_confirmed = (
            bool(back_link) and resolve_path(git_dir / back_link) == link and git_dir.parent == common_dir / "worktrees"
        )
        return (
            RepositoryLayout(folder, find_main_worktree(common_dir), common_dir)
            if is_confirmed and _is_git_dir(common_dir)
            else own_layout
        )
    config = read_config(git_dir)
    if git_dir.parent == folder and is_bare(config):
        return RepositoryLayout(folder, None, git_dir)  # `.bare` next to its worktrees
    return RepositoryLayout(folder, folder, git_dir) if _is_worktree_of(git_dir, folder) else own_layout


def find_main_worktree(common_dir: Path) -> Path | None:
    """Returns the main worktree of a git dir: `core.worktree`, or else the folder around `.git`; None if bare."""
    config = read_config(common_dir)
    if is_bare(config):
        return None
    worktree = config.get(("core", "", "worktree"), "")
    if worktree:
        return resolve_path(common_dir / worktree)
    return common_dir.parent if common_dir.name == ".git" else None


def list_worktree_folders(common_dir: Path) -> list[Path]:
    """Returns the folders of the worktrees linked to a repository, including deleted ones that were not pruned."""
    try:
        folders = sorted((common_dir / "worktrees").iterdir())
    except OSError:
        return []
    found = [(at, link) for at in folders if (link := read_small_file(at / "gitdir").strip())]
    # a link is relative with git's setting `worktree.useRelativePaths`
    return [Path(link if WINDOWS_PATH.match(link) else os.path.normpath(at / link)).parent for at, link in found]


def _is_worktree_of(git_dir: Path, folder: Path) -> bool:
    worktree = read_config(git_dir).get(("core", "", "worktree"), "")
    return bool(worktree) and resolve_path(git_dir / worktree) == folder


def is_bare(config: GitConfig) -> bool:
    """Returns whether `core.bare` is true."""
    return _is_true(config, "core", "bare")


def _is_true(config: GitConfig, section: str, key: str) -> bool:
    return config.get((section, "", key), "").lower() in {"true", "yes", "on", "1"}


def read_config(git_dir: Path) -> GitConfig:
    """Returns the last value of every key in `git_dir/config`, and in the file to which `git sparse-checkout` moves
    some of the keys. Skips what cannot be parsed; does not follow includes."""
    config = parse_config(read_small_file(git_dir / "config", MOST_CONFIG_BYTES))
    if _is_true(config, "extensions", "worktreeconfig"):
        config |= parse_config(read_small_file(git_dir / "config.worktree", MOST_CONFIG_BYTES))
    return config


def parse_config(text: str) -> GitConfig:
    """Parses git's config syntax leniently: a line that is not understood is skipped; the last of equal keys wins."""
    found: GitConfig = {}
    section, subsection = "", ""
    for raw in _CONTINUATION.sub(r"\1", text.replace("\r\n", "\n")).split("\n"):
        line = raw.strip()
        header = _SECTION_HEADER.match(line)
        if header:
            section = header[1].lower()
            subsection = (header[2] or "").replace("\\\\", "\\").replace('\\"', '"')
            line = line[header.end() :].strip()
        key, equals, value = line.partition("=")
        name = key.strip().lower()
        if name and name[0] not in "#;[" and section:
            found[section, subsection, name] = _parse_value(value) if equals else "true"
    return found


def _parse_value(text: str) -> str:
    characters: list[str] = []
    quoted = escaped = False
    for character in text.strip():
        if escaped:
            characters.append({"n": "\n", "t": "\t"}.get(character, character))
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character in "#;" and not quoted:
            break
        else:
            characters.append(character)
    return "".join(characters).strip()


def find_remote_address(config: GitConfig) -> str:
    """Returns the address of `origin`, or else of the first remote, without credentials; '' if there is none."""
    addresses = {sub: value for (section, sub, key), value in config.items() if section == "remote" and key == "url"}
    address = addresses.get("origin") or next(iter(addresses.values()), "")
    return strip_credentials(address)


def strip_credentials(address: str) -> str:
    """Returns the address without credentials: `https://name:token@host/x?key=…` becomes `https://host/x`. An ssh
    address keeps its user name, never a password. Returns '' for an invalid address."""
    if "://" in address:
        try:
            parts = urlsplit(address)
            host = parts.netloc.rpartition("@")[2]
            user = parts.netloc.rpartition("@")[0].partition(":")[0]
        except ValueError:
            return ""
        keeps_user = user and parts.scheme in {"ssh", "git+ssh"}
        return urlunsplit((parts.scheme, f"{user}@{host}" if keeps_user else host, parts.path, "", ""))
    scp = _SCP_ADDRESS.match(address)
    if scp and scp[1]:
        return f"{scp[1].partition(':')[0]}@{scp[2]}:{scp[3]}"
    return address


def read_small_file(path: Path, limit: int = MOST_POINTER_BYTES) -> str:
    """Returns the first `limit` bytes of a regular file as text; '' if it is missing, unreadable or not a regular
    file."""
    try:
        with open_buffered(path) as file:
            return file.read(limit).decode("utf-8", "replace").replace("\0", "")
    except (OSError, ValueError):
        return ""


def _is_git_dir(folder: Path, *, linked: bool = False) -> bool:
    """Returns whether a folder passes git's own test: it contains `HEAD`, and `objects` and `refs` are there or, for
    a linked worktree, in the common dir."""
    if not stat.S_ISREG(_read_mode(folder / "HEAD")):
        return False
    if linked and (folder / "commondir").is_file():
        return True
    return stat.S_ISDIR(_read_mode(folder / "objects")) and stat.S_ISDIR(_read_mode(folder / "refs"))


def _read_mode(path: Path) -> int:
    try:
        return path.stat().st_mode
    except (OSError, ValueError):
        return 0


def _is_unreadable(path: Path) -> bool:
    try:
        path.stat()
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return not os.access(path, os.R_OK)


def read_head_commit(root: Path, common_dir: Path) -> str:
    """Returns the full hash of the commit checked out at `root`; "" if there is none or the files do not say."""
    text = read_small_file(find_git_dir(root) / "HEAD").strip()
    if not text.startswith("ref:"):
        return text if _HASH.fullmatch(text) else ""
    name = text.removeprefix("ref:").strip()
    if ".." in name or not name.startswith("refs/"):
        return ""
    loose = read_small_file(common_dir / name).strip()
    if _HASH.fullmatch(loose):
        return loose
    packed = read_small_file(common_dir / "packed-refs", _MOST_PACKED_BYTES)
    found = (line.split(" ", 1) for line in packed.splitlines() if line.endswith(f" {name}"))
    return next((sha for sha, ref in found if ref == name and _HASH.fullmatch(sha)), "")


def find_git_dir(root: Path) -> Path:
    """Returns the worktree's git folder: `.git`, or the folder that a file of that name points to."""
    git = root / ".git"
    pointer = read_small_file(git)
    return (root / pointer.removeprefix("gitdir:").strip()) if pointer.startswith("gitdir:") else git
