"""Makes a branch with one commit, without touching the person's files, index or HEAD, and without running a hook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from lerim.project.git import COMMIT_PATTERN, ask_git

_GIVEN_BY_GITHUB = re.compile(r"(?:\d+\+)?([\w-]+)@users\.noreply\.github\.com")
_BRANCH = re.compile(r"[a-z][\w/-]{0,100}")


def read_identity(root: Path, environ: Mapping[str, str]) -> list[str]:
    """Returns the names that git's settings give the person: their e-mail address, and `@name` for their name at
    GitHub; [] if there are none."""
    output = ask_git(root, environ, "config", "-z", "--get-regexp", r"^(user\.email|github\.user)$") or b""
    names: dict[str, None] = {}
    for entry in output.decode("utf-8", "replace").split("\0"):
        key, _, value = entry.partition("\n")
        given = _GIVEN_BY_GITHUB.fullmatch(value)
        handle = given[1] if given else value if key.lower() == "github.user" else ""
        names |= {f"@{handle.removeprefix('@')}": None} if handle else {}
        names |= {value: None} if key.lower() == "user.email" and value else {}
    return list(names)


def find_branch(root: Path, environ: Mapping[str, str], branch: str) -> tuple[str, str]:
    """Returns the commit of a local branch, and that commit's parent; "" for one that does not exist."""
    output = ask_git(root, environ, "rev-list", "--max-count=1", "--parents", f"refs/heads/{branch}", "--") or b""
    commit, parent = (*output.decode("ascii", "replace").split(), "", "")[:2]
    return commit, parent


def create_branch(
    root: Path,
    environ: Mapping[str, str],
    branch: str,
    parent: str,
    message: str,
    changes: Mapping[str, bytes | None],
) -> str:
    """Makes a local branch of one commit on `parent` that changes these files (None: removes them), and returns the
    commit; "" if git knows no author, or refuses because the branch exists by now or its name collides with that of
    another branch.

    The branch is created completely or not at all. `changes` has paths in the repository, with forward slashes.
    """
    ident = ask_git(root, environ, "var", "GIT_AUTHOR_IDENT")
    if ident is None or not _BRANCH.fullmatch(branch) or not COMMIT_PATTERN.fullmatch(parent):
        return ""
    who = ident.strip()
    lines = [f"commit refs/heads/{branch}".encode(), b"author " + who, b"committer " + who]
    lines += [*_data(message.encode()), f"from {parent}".encode()]
    for path, content in changes.items():
        quoted = _quote(path)
        lines += [b"D " + quoted] if content is None else [b"M 100644 inline " + quoted, *_data(content)]
    stream = b"\n".join([*lines, b"done", b""])
    # git waits for a lock on the branch: the git of a killed process may still be making it
    waiting = ("-c", "core.filesRefLockTimeout=5000")
    if ask_git(root, environ, *waiting, "fast-import", "--quiet", "--done", stdin=stream) is None:
        return ""
    return find_branch(root, environ, branch)[0]


def _data(content: bytes) -> list[bytes]:
    return [b"data %d" % len(content), content]


def _quote(path: str) -> bytes:
    """Returns a path in the form that `git fast-import` reads, whatever characters it contains."""
    encoded = path.encode("utf-8", "surrogateescape")
    return b'"' + encoded.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n") + b'"'
