"""Lists the commits and tags of a repository by time, with the files each commit changed.

A commit counts for the time at which it was made (the committer's date), because it did not exist before. Messages and
paths are untrusted: nothing here interprets them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lerim.project.git import ask_git

MAX_MESSAGE_CHARS = 20_000
"""How many characters of a commit message are kept."""
LISTING_SECONDS = 60.0
"""How long git may take to list commits: in a large repository it reads much more than for one commit."""
_CLOCK_SKEW = timedelta(days=7)
"""How much earlier than needed a listing begins. Git stops at the first commits that are older than `--since`, but
with wrong clocks later ones may follow."""
_HEADER = "%H%x1f%ct%x1f%P%x1f%B"
_STATUS = re.compile(r"([ACDMRTUXB])\d{0,3}\Z")
_TAG_FORMAT = "%(refname:strip=2)%1f%(objectname)%1f%(*objectname)%1f%(creatordate:unix)"
_TAG_NAME = re.compile(r"[^\s:?*\[\\~^]{1,200}")


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that a commit added (`A`), changed (`M`), deleted (`D`) or renamed (`R`). `old` is its path before a
    rename, "" otherwise. Paths are repo-relative, with forward slashes."""

    status: str
    path: str
    old: str = ""


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit; `subject` is the first line of its message, `body` the rest. A merge has no `files`."""

    hash: str
    time: datetime
    parents: tuple[str, ...]
    subject: str
    body: str
    files: tuple[ChangedFile, ...]


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag, the commit it names, and when it was made (for a lightweight tag, when its commit was made)."""

    name: str
    commit: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Addition:
    """The commit that added a file, its author, and when they wrote it."""

    commit: str
    author: str
    time: datetime


class History:
    """The history of one worktree, as git describes it. The answers are None if git fails, takes too long or prints
    too much."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = environ

    def list_commits(self, since: datetime, until: datetime) -> list[Commit] | None:
        """Returns the commits of all local branches, tags and HEAD that were made from `since` to before `until`,
        oldest first; those of the same second in git's order."""
        span = (
            f"--since={int((since - _CLOCK_SKEW).timestamp())}",
            f"--until={int((until + _CLOCK_SKEW).timestamp())}",
        )
        options = ("-z", "-M", "--name-status", "--no-show-signature", "--no-ext-diff", "--no-textconv")
        output = self._run(
            "log", f"--format={_HEADER}", "--topo-order", "--reverse", *span, *options, *self._tips(), "--"
        )
        if output is None:
            return None
        commits = _parse_log(output.decode("utf-8", "surrogateescape"))
        return sorted((one for one in commits if since <= one.time < until), key=lambda one: one.time)

    def list_commit_times(self) -> list[datetime] | None:
        """Returns when each commit of all local branches, tags and HEAD was made."""
        output = self._run("log", "--format=%ct", *self._tips(), "--")
        return None if output is None else [_parse_time(line) for line in output.decode("ascii", "replace").split()]

    def list_tags(self) -> list[Tag] | None:
        """Returns all tags, in the order of their time."""
        output = self._run("for-each-ref", "refs/tags", f"--format={_TAG_FORMAT}")
        if output is None:
            return None
        tags = []
        for line in output.decode("utf-8", "replace").splitlines():
            name, object_hash, commit, made = [*line.split("\x1f"), "", "", "", ""][:4]
            if name and made.isdigit():
                tags.append(Tag(name, commit or object_hash, _parse_time(made)))
        return sorted(tags, key=lambda tag: (tag.time, tag.name))

    def list_release(self, first: str, last: str) -> list[str] | None:
        """Returns the hashes of the commits that are in tag `last`, or in `HEAD`, and not in tag `first`."""
        if not (_TAG_NAME.fullmatch(first) and _TAG_NAME.fullmatch(last)):
            return None
        end = last if last == "HEAD" else f"refs/tags/{last}"
        output = self._run("rev-list", end, f"^refs/tags/{first}", "--")
        return None if output is None else output.decode("ascii", "replace").split()

    def find_additions(self, folder: str) -> dict[str, Addition] | None:
        """Returns the commit that last added each file below a folder of HEAD. A file that a merge added is left out.

        Also returns None for a shallow clone, whose oldest commit seems to add every file.
        """
        shallow = self._run("rev-parse", "--is-shallow-repository")
        if shallow is None or shallow.strip() != b"false":
            return None
        options = ("-z", "--name-only", "--diff-filter=A", "--no-renames", "--no-show-signature", "--no-ext-diff")
        output = self._run("log", "--format=%x1f%H %at %aN", *options, "HEAD", "--", folder)
        return None if output is None else _parse_additions(output.decode("utf-8", "surrogateescape"))

    def _tips(self) -> tuple[str, ...]:
        """Returns the options that select the commits with which a listing starts; a repository without a commit has
        no HEAD."""
        has_head = self._run("rev-parse", "--verify", "-q", "HEAD") is not None
        return ("--branches", "--tags", *(("HEAD",) if has_head else ()))

    def _run(self, *arguments: str) -> bytes | None:
        return ask_git(self._root, self._environ, *arguments, seconds=LISTING_SECONDS)


def _parse_log(output: str) -> Iterator[Commit]:
    """Parses `git log -z --name-status`. Every part ends with a zero byte, which neither a message nor a path can
    contain: a header, then for each file its status and its path, or its two paths."""
    parts = iter(output.split("\0"))
    header = ""
    files: list[ChangedFile] = []
    for part in parts:
        status = _STATUS.match(part.lstrip("\n"))
        if status is None:
            if header:
                yield _make_commit(header, files)
            header, files = part.lstrip("\n"), []
        elif status[1] in "RC":
            old = next(parts, "")
            files.append(ChangedFile(status[1], next(parts, ""), old))
        else:
            files.append(ChangedFile(status[1], next(parts, "")))
    if header:
        yield _make_commit(header, files)


def _parse_additions(output: str) -> dict[str, Addition]:
    """Parses `git log -z --name-only`, newest first: a header that begins with a mark, then the path of each file."""
    found: dict[str, Addition] = {}
    addition: Addition | None = None
    for part in output.split("\0"):
        text = part.removeprefix("\n")
        if text.startswith("\x1f"):
            commit, seconds, author = text[1:].split(" ", 2)
            addition = Addition(commit, author.encode("utf-8", "replace").decode().strip(), _parse_time(seconds))
        elif text and addition is not None:
            found.setdefault(text, addition)
    return found


def _make_commit(header: str, files: list[ChangedFile]) -> Commit:
    name, made, parents, message = header.split("\x1f", 3)
    subject, _, body = message[:MAX_MESSAGE_CHARS].encode("utf-8", "replace").decode().strip().partition("\n")
    return Commit(name, _parse_time(made), tuple(parents.split()), subject.strip(), body.strip(), tuple(files))


def _parse_time(seconds: str) -> datetime:
    """Converts git's seconds. A hostile commit can have a time outside the calendar."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC)
