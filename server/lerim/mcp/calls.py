"""Carries out tool calls: checks the arguments, finds the project, and returns the answer as text for a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from lerim.errors import LerimError, StoppedError, UsageError
from lerim.mcp.answers import describe_recalled, describe_sessions
from lerim.mcp.propose import MAX_REASON_CHARS, MAX_REFERENCES, MAX_TITLE_CHARS, propose_memory
from lerim.memory import AgentMemories, ServedMemory, StoredMemory
from lerim.paths import Home
from lerim.project import Project, locate_project, open_git
from lerim.review import ReviewPaths, was_text_approved

if TYPE_CHECKING:
    from lerim.mcp.messages import Json

MAX_QUESTION_CHARS, MAX_FILES, MAX_PATH_CHARS = 1_000, 20, 1_000
DEFAULT_LIMIT, MAX_LIMIT = 5, 10
ReportProgress: TypeAlias = Callable[[str], None]


class ToolCalls:
    """The calls of one client. The project is found at the first call and kept as long as its folder is."""

    def __init__(self, repo: str, list_roots: Callable[[], Sequence[str]], get_client: Callable[[], str]) -> None:
        self._repo = repo
        self._list_roots = list_roots
        self._client = get_client
        self._memories: AgentMemories | None = None
        self._project: Project | None = None
        self._served: Sequence[ServedMemory] = ()

    def __enter__(self) -> ToolCalls:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._memories is not None:
            self._memories.close()

    def call(
        self,
        name: str,
        arguments: Mapping[str, Json],
        report_progress: ReportProgress,
        is_cancelled: Callable[[], bool],
    ) -> tuple[str, bool]:
        """Carries out one call. Returns the answer and whether it is an error, which the model then sees."""

        def raise_if_cancelled() -> None:
            if is_cancelled():
                raise StoppedError

        try:
            values = _Arguments(arguments)
            report_progress("Opening the project's memory.")
            home = Home.from_environ(os.environ)
            raise_if_cancelled()
            if name == "recall":
                return self._recall(home, values), False
            if name == "why":
                return self._why(home, values), False
            if name == "sessions":
                question, limit = values.text("question", MAX_QUESTION_CHARS, required=True), values.limit()
                report_progress("Searching the sessions.")
                return describe_sessions(self._require_project(home), home, question, limit, raise_if_cancelled), False
            return self._propose(home, values), False
        except StoppedError:
            return "Cancelled.", True
        except LerimError as error:
            return str(error), True

    def record_served(self) -> None:
        """Counts the memories of the last answer as served. Called once the agent has it, which need not wait."""
        if self._memories is not None:
            self._memories.note_served(self._served)
        self._served = ()

    def _recall(self, home: Home, values: _Arguments) -> str:
        question = values.text("question", MAX_QUESTION_CHARS)
        wanted = values.texts("files", MAX_FILES, MAX_PATH_CHARS)
        if not question and not wanted:
            raise UsageError("`recall` needs a question, files, or both.", todo="Say what you want to know.")
        memories = self._open_memories(home)
        files = [path for one in wanted if (path := self._relative_path(one))]
        outside = len(wanted) - len(files)
        found = memories.recall(question, files, values.limit(), include_drifted=values.flag("include_drifted"))
        self._served = found.memories
        return describe_recalled(found, memories.problems, outside)

    def _why(self, home: Home, values: _Arguments) -> str:
        path, symbol = values.text("path", MAX_PATH_CHARS, required=True), values.text("symbol", 200)
        memories = self._open_memories(home)
        place = self._relative_path(path)
        if not place:
            raise UsageError("This path is not in the repository.", where=path[:200], todo="Name a file in it.")
        drifted = values.flag("include_drifted")
        found = memories.recall("", [f"{place}#{symbol}"], MAX_LIMIT, include_drifted=drifted) if symbol else None
        if found is None or not (found.memories or found.drifted):
            found = memories.recall("", [place.partition("#")[0]], MAX_LIMIT, include_drifted=drifted)
        self._served = found.memories
        return describe_recalled(found, memories.problems, 0)

    def _propose(self, home: Home, values: _Arguments) -> str:
        self._project = self._require_project(home)
        places = [
            path for one in values.texts("files", MAX_REFERENCES, MAX_PATH_CHARS) if (path := self._relative_path(one))
        ]
        return propose_memory(
            self._project,
            home,
            self._client(),
            values.text("kind", 40, required=True),
            values.text("title", MAX_TITLE_CHARS, required=True),
            values.text("why", MAX_REASON_CHARS),
            places,
        )

    def _open_memories(self, home: Home) -> AgentMemories:
        """Returns the memories of the project, opened at the first call."""
        project = self._find_project(home)
        if self._memories is None or project != self._project:
            if self._memories is not None:
                self._memories.close()
            self._project = project
            git = open_git(project.root, os.environ) if project is not None else None
            self._memories = AgentMemories(project, home, _make_approval_test(project, home), git)
        return self._memories

    def _require_project(self, home: Home) -> Project:
        project = self._find_project(home)
        if project is None:
            raise UsageError(
                "No git repository was found.", where=str(Path.cwd()), todo="Start the server in one, or with --repo."
            )
        return project

    def _find_project(self, home: Home) -> Project | None:
        """Returns the project of `--repo`, else of the working directory, of `CLAUDE_PROJECT_DIR`, or of the client's
        first root that is in one."""
        if self._repo:
            return locate_project(Path(self._repo).expanduser().absolute(), home)
        places = [Path.cwd(), *(Path(one) for one in (os.environ.get("CLAUDE_PROJECT_DIR", ""),) if one)]
        places += [path for uri in self._list_roots() if (path := _path_of_uri(uri))]
        return next((found for place in places if (found := locate_project(place, home)) is not None), None)

    def _relative_path(self, text: str) -> str:
        """Returns a path as references write it, `#symbol` kept; "" if it is outside the repository."""
        if self._project is None:
            return ""
        path, mark, symbol = text.replace("\\", "/").partition("#")
        root = self._project.root
        given = Path(path)
        full = given if given.is_absolute() else (Path.cwd() if _is_inside(Path.cwd(), root) else root) / given
        normal = Path(os.path.normpath(full))
        for base in (root, root.resolve()):
            if _is_inside(normal, base) and normal != base:
                return f"{PurePosixPath(normal.relative_to(base).as_posix())}{mark}{symbol}"
        return ""


class _Arguments:
    """The arguments of a call. Each getter checks one and raises UsageError, in words for the model."""

    def __init__(self, values: Mapping[str, Json]) -> None:
        self._values = values

    def text(self, name: str, most: int, *, required: bool = False) -> str:
        """Returns a text without surrounding space; "" if it is missing and need not be there."""
        value = self._values.get(name)
        if value is None:
            value = ""
        if not isinstance(value, str):
            raise UsageError(f"`{name}` must be a text.", todo="Call the tool again.")
        if len(value) > most:
            raise UsageError(f"`{name}` may have at most {most} characters.", todo="Shorten it.")
        if required and not value.strip():
            raise UsageError(f"`{name}` is missing.", todo="Call the tool again with it.")
        return value.strip()

    def texts(self, name: str, most: int, most_chars: int) -> list[str]:
        """Returns a list of texts; a single text counts as a list of one."""
        value = self._values.get(name)
        values = [value] if isinstance(value, str) else [] if value is None else value
        if not isinstance(values, list) or len(values) > most:
            raise UsageError(f"`{name}` must be a list of at most {most} texts.", todo="Call the tool again.")
        texts = [one for one in values if isinstance(one, str) and len(one) <= most_chars and "\0" not in one]
        if len(texts) < len(values):
            raise UsageError(f"Each of `{name}` must be a text of at most {most_chars} characters.", todo="Try again.")
        return [one.strip() for one in texts if one.strip()]

    def flag(self, name: str) -> bool:
        """Returns whether a switch is on."""
        value = self._values.get(name, False)
        if not isinstance(value, bool | None):
            raise UsageError(f"`{name}` must be true or false.", todo="Call the tool again.")
        return bool(value)

    def limit(self) -> int:
        """Returns how many items are wanted, within the limits."""
        value = self._values.get("limit")
        if value is None:
            return DEFAULT_LIMIT
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise UsageError(f"`limit` must be a number from 1 to {MAX_LIMIT}.", todo="Call the tool again.")
        return int(max(1, min(value, MAX_LIMIT)))


def _make_approval_test(project: Project | None, home: Home) -> Callable[[StoredMemory, str], bool]:
    def is_approved(stored: StoredMemory, scope: str) -> bool:
        paths = ReviewPaths(project, home) if project is not None else None
        if scope == "global" or paths is None:
            from lerim.project import make_personal_project

            paths = ReviewPaths(make_personal_project(home), home)
        try:
            return was_text_approved(paths, stored)
        except LerimError:
            return False  # the ledger cannot be read: nothing vouches for the text

    return is_approved


def _is_inside(path: Path, folder: Path) -> bool:
    return path == folder or path.is_relative_to(folder)


def _path_of_uri(uri: str) -> Path | None:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file":
        return None
    path = Path(url2pathname(unquote(parts.path)) if os.name == "nt" else unquote(parts.path))
    return path if path.is_absolute() and "\0" not in str(path) else None
