"""Asks git where files of a repository were moved, and which files contain a word or have a name.

Git is run without a shell, for a limited time, and in such a way that a repository's settings cannot start anything.
If a person is waiting for an answer, a thread of the sidecar runs git; everything else runs in jobs. Without git on
the machine this information is missing.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from lerim.process import CREATE_NO_WINDOW, ProcessLaunch, find_executable

COMMIT_PATTERN = re.compile(r"[0-9a-f]{7,64}")
REVISION_PATTERN = re.compile(r"[\w.@/+][\w.@/+#{}-]{0,199}")
TIMEOUT_SECONDS = 10.0
FIRST_COMMIT_SECONDS = 3.0
MOST_OUTPUT_BYTES = 32_000_000
MOST_RENAMES = 400
"""The most deleted and added files git compares pairwise; beyond that it only finds files that were moved unchanged."""
BATCH_OBJECTS = 200
_SAFE_OPTIONS = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=", "-c", "core.pager=", "-c", "diff.external="),
    *("-c", "color.ui=false", "-c", "color.grep=false", "-c", "grep.lineNumber=false", "-c", "grep.column=false"),
    *("-c", "log.showRoot=true", "-c", "i18n.logOutputEncoding=UTF-8"),
    *("--no-pager", "--no-replace-objects", "--literal-pathspecs"),
)
"""Options that keep a repository's settings from starting anything, and the person's settings from changing the
format of the output."""
_SAFE_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
_KEPT_VARIABLES = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")

BATCH_WORDS = 50
_WORD_SEARCH = ("-z", "-w", "-F", "-I", "--untracked", "--no-textconv", "--no-recurse-submodules", "--full-name")
_ASCII_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PATH_AND_WORD = re.compile(rb"([^\0]+)\0([A-Za-z0-9_]+)\n")
SEARCH_SECONDS = 3.0
"""How long a search may take: a person waits for it."""


class Git:
    """Git in one worktree, which is only asked about commits."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self._root = root
        self._environ = environ
        self._moves: dict[tuple[str, str], dict[str, str]] = {}

    def find_moves(self, old: str, new: str) -> dict[str, str]:
        """Returns the new path of each file that was renamed between `old` and `new`; empty if git cannot tell."""
        if (old, new) not in self._moves:
            self._moves[old, new] = self._compare_commits(old, new)
        return self._moves[old, new]

    def read_texts(self, wanted: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
        """Returns the committed texts by (commit, path), without those git does not have."""
        objects = [pair for pair in dict.fromkeys(wanted) if COMMIT_PATTERN.fullmatch(pair[0]) and "\n" not in pair[1]]
        texts: dict[tuple[str, str], str | None] = {}
        for at in range(0, len(objects), BATCH_OBJECTS):
            batch = objects[at : at + BATCH_OBJECTS]
            lines = "".join(f"{commit}:{path}\n" for commit, path in batch).encode("utf-8", "surrogatepass")
            output = self._run("cat-file", "--batch", stdin=lines) or b""
            texts.update(zip(batch, _parse_blobs(output, len(batch)), strict=False))
        return {pair: text for pair, text in texts.items() if text is not None}

    def list_files(self, commit: str, folder: str) -> list[str] | None:
        """Returns the paths of the files that a commit has below a folder; None if git cannot tell."""
        if not COMMIT_PATTERN.fullmatch(commit):
            return None
        output = self._run("ls-tree", "-r", "-z", "--name-only", "--full-tree", commit, "--", f"{folder}/")
        return None if output is None else list(filter(None, output.decode("utf-8", "surrogateescape").split("\0")))

    def list_changing_commits(self, path: str, since: str, until: str) -> list[str]:
        """Returns the commits after `since`, up to `until`, that changed a file, oldest first; empty if git cannot
        tell."""
        if not COMMIT_PATTERN.fullmatch(since) or not COMMIT_PATTERN.fullmatch(until):
            return []
        output = self._run("rev-list", "--reverse", f"{since}..{until}", "--", path) or b""
        return output.decode("ascii", "replace").split()

    def find_fork_point(self, revision: str) -> str:
        """Returns the commit at which HEAD left a branch, tag or commit; "" if git cannot tell."""
        if not REVISION_PATTERN.fullmatch(revision):
            return ""
        output = self._run("merge-base", "--end-of-options", revision, "HEAD") or b""
        return output.decode("ascii", "replace").strip()

    def list_changed_paths(self, since: str) -> set[str] | None:
        """Returns the paths of the files that differ between a commit and HEAD, both paths of a renamed file; None
        if git cannot tell."""
        if not COMMIT_PATTERN.fullmatch(since):
            return None
        options = ("-r", "--no-renames", "--name-only", "--no-ext-diff", "--no-textconv", "-z")
        output = self._run("diff-tree", *options, since, "HEAD", "--")
        return None if output is None else set(filter(None, output.decode("utf-8", "surrogateescape").split("\0")))

    def find_renamed_file(self, path: str) -> str:
        """Returns the present path of a file that no longer exists, if the index, or the commit that removed it,
        says that it was renamed. Returns "" if neither does, or if git cannot tell within a few seconds."""
        seen: set[str] = set()
        while path and path not in seen:
            seen.add(path)
            path = self._find_next_name(path)
            if path and (self._root / path).is_file():
                return path
        return ""

    def find_first_commit(self) -> str:
        """Returns the oldest commit without a parent in the history of HEAD; "" if git cannot tell within a few
        seconds."""
        output = self._run("rev-list", "--max-parents=0", "HEAD", seconds=FIRST_COMMIT_SECONDS) or b""
        return output.decode("ascii", "replace").split()[-1] if output.strip() else ""

    def _find_next_name(self, path: str) -> str:
        """Returns the name that a file got in the index, or in the last commit of HEAD that removed it; "" if none."""
        if name := self._list_renames("diff-index", "--cached", "HEAD", seconds=SEARCH_SECONDS).get(path):
            return name
        options = ("-1", "--no-renames", "--diff-filter=D", "--format=%P %H")
        output = self._run("log", *options, "--end-of-options", "HEAD", "--", path, seconds=SEARCH_SECONDS) or b""
        commits = output.decode("ascii", "replace").split()
        return self.find_moves(*commits).get(path, "") if len(commits) == 2 else ""

    def _compare_commits(self, old: str, new: str) -> dict[str, str]:
        if not COMMIT_PATTERN.fullmatch(old) or not COMMIT_PATTERN.fullmatch(new) or new.startswith(old):
            return {}
        return self._list_renames("diff-tree", old, new)

    def _list_renames(self, command: str, *compared: str, seconds: float = TIMEOUT_SECONDS) -> dict[str, str]:
        options = ("-r", "-M", f"-l{MOST_RENAMES}", "--diff-filter=AR", "--raw", "-z")
        output = self._run(command, "--no-ext-diff", "--no-textconv", *options, *compared, "--", seconds=seconds)
        return _select_unambiguous_renames(_parse_changes((output or b"").decode("utf-8", "surrogateescape")))

    def _run(self, *arguments: str, stdin: bytes = b"", seconds: float = TIMEOUT_SECONDS) -> bytes | None:
        return ask_git(self._root, self._environ, *arguments, stdin=stdin, seconds=seconds)


@dataclass(frozen=True, slots=True)
class _Change:
    """A file in the new commit that the old one did not have: its path, its blob, and its old path ("" if added)."""

    path: str
    blob: str
    old: str


def _parse_changes(output: str) -> list[_Change]:
    """Parses `:<modes> <old> <new> A`, path; or `… R<score>`, old path, path; each ended by a zero byte."""
    found: list[_Change] = []
    parts = iter(output.split("\0"))
    for head in parts:
        words = head.split(" ")
        if len(words) == 5:
            old = next(parts, "") if words[4].startswith("R") else ""
            found.append(_Change(next(parts, ""), words[3], old))
    return found


def _select_unambiguous_renames(changes: Sequence[_Change]) -> dict[str, str]:
    """Returns the unambiguous renames. Among identical files git picks any, unless exactly one has the old name."""
    by_blob: dict[str, list[_Change]] = {}
    for one in changes:
        by_blob.setdefault(one.blob, []).append(one)

    def is_guessed(one: _Change) -> bool:
        name = PurePosixPath(one.old).name
        others = [other.path for other in by_blob[one.blob] if other is not one and not other.old]
        have_old_name = [PurePosixPath(path).name == name for path in (one.path, *others)]
        return bool(others) and not (have_old_name[0] and not any(have_old_name[1:]))

    return {one.old: one.path for one in changes if one.old and not is_guessed(one)}


def ask_git(
    root: Path,
    environ: Mapping[str, str],
    *arguments: str,
    stdin: bytes = b"",
    seconds: float = TIMEOUT_SECONDS,
) -> bytes | None:
    """Returns what git prints in a folder. Returns None if the machine has no git, or in the cases that `run_git`
    names."""
    program = find_executable("git", environ)
    return run_git(make_git_launch(program, arguments, environ), root, stdin, seconds=seconds) if program else None


def open_git(root: Path, environ: Mapping[str, str]) -> Git | None:
    """Returns the git of a worktree, or None if the machine has no git."""
    return Git(root, environ) if find_executable("git", environ) else None


def make_git_launch(
    program: str, arguments: Iterable[str], environ: Mapping[str, str], platform: str = sys.platform
) -> ProcessLaunch:
    """Returns how to start git in such a way that the environment cannot redirect it and a repository's settings
    cannot start anything."""
    environment = {
        name: value
        for name, value in environ.items()
        if not name.upper().startswith("GIT_") or name.upper() in _KEPT_VARIABLES
    }
    flags = CREATE_NO_WINDOW if platform == "win32" else 0
    return ProcessLaunch(
        (program, *_SAFE_OPTIONS, *arguments),
        {**environment, **_SAFE_ENVIRONMENT, "LC_ALL": "C"},
        flags,
        new_session=False,
    )


def run_git(
    launch: ProcessLaunch,
    folder: Path,
    stdin: bytes = b"",
    *,
    seconds: float = TIMEOUT_SECONDS,
    most_bytes: int = MOST_OUTPUT_BYTES,
) -> bytes | None:
    """Returns the output of a command. Returns None if it fails, takes too long or prints more than `most_bytes`, or
    if the system has no temporary folder for `stdin`."""
    with contextlib.ExitStack() as stack:
        try:
            stdin_file = stack.enter_context(tempfile.TemporaryFile()) if stdin else None
            if stdin_file is not None:
                stdin_file.write(stdin)
                stdin_file.seek(0)
            process = subprocess.Popen(
                launch.argv,
                stdin=subprocess.DEVNULL if stdin_file is None else stdin_file,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=launch.environ,
                cwd=folder,
                creationflags=launch.creationflags,
            )
        except (OSError, ValueError):
            return None
        timer = threading.Timer(seconds, process.kill)
        timer.start()
        try:
            assert process.stdout
            with process.stdout as stream:
                output = stream.read(most_bytes + 1)
            if len(output) > most_bytes:
                process.kill()
            return output if process.wait() == 0 and len(output) <= most_bytes else None
        finally:
            timer.cancel()
            process.kill()
            process.wait()


def _parse_blobs(output: bytes, count: int) -> list[str | None]:
    """Parses the output of `cat-file --batch`, in order: `<name> blob <size>`, the bytes and a line end, or a single
    line."""
    texts: list[str | None] = []
    offset = 0
    while len(texts) < count and (end := output.find(b"\n", offset)) >= 0:
        header = output[offset:end].rsplit(b" ", 2)
        offset = end + 1
        if len(header) == 3 and header[1] == b"blob" and header[2].isdigit():
            size = int(header[2])
            data = output[offset : offset + size]
            texts.append(None if b"\0" in data[:8192] else data.decode("utf-8", "replace"))
            offset += size + 1
        elif len(header) == 3 and header[2].isdigit():
            texts.append(None)  # a folder
            offset += int(header[2]) + 1
        else:
            texts.append(None)
    return texts


def find_word(root: Path, word: str, environ: Mapping[str, str]) -> list[str]:
    """Returns the files that contain `word` as a whole word, sorted; empty if git cannot tell in time. Paths are
    relative to the root, with forward slashes. Ignored files are not searched."""
    return _list_paths(root, environ, "grep", "-l", *_WORD_SEARCH, "-e", word, "--", ".")


def find_words(root: Path, words: Iterable[str], environ: Mapping[str, str]) -> dict[str, list[str]]:
    """Returns the files that contain each of these words, as `find_word` does, with one search for many words."""
    found: dict[str, set[str]] = {word: set() for word in words}
    searched_together = [word for word in found if _ASCII_WORD.fullmatch(word)]
    for at in range(0, len(searched_together), BATCH_WORDS):
        given = "\n".join(searched_together[at : at + BATCH_WORDS]).encode()
        output = ask_git(
            root, environ, "grep", "-o", *_WORD_SEARCH, "-f", "-", "--", ".", stdin=given, seconds=SEARCH_SECONDS
        )
        for path, word in _PATH_AND_WORD.findall(output or b""):
            found[word.decode()].add(path.decode("utf-8", "surrogateescape"))
    return {
        word: sorted(paths) if _ASCII_WORD.fullmatch(word) else find_word(root, word, environ)
        for word, paths in found.items()
    }


def find_named_files(root: Path, name: str, environ: Mapping[str, str]) -> list[str]:
    """Returns the files with this name in any folder, as `find_word` does."""
    paths = _list_paths(root, environ, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ".")
    return [path for path in paths if path.rpartition("/")[2] == name]


def _list_paths(root: Path, environ: Mapping[str, str], *arguments: str) -> list[str]:
    names = (ask_git(root, environ, *arguments, seconds=SEARCH_SECONDS) or b"").split(b"\0")
    return sorted({name.decode("utf-8", "surrogateescape") for name in names if name})
