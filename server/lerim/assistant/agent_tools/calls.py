"""Carries out tool calls: checks the arguments, finds the project, and returns the answer as text for a model."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TypeAlias

from lerim.assistant.agent_tools.answers import describe_recalled, describe_sessions
from lerim.assistant.agent_tools.propose import MAX_REASON_CHARS, MAX_REFERENCES, MAX_TITLE_CHARS, propose_memory
from lerim.errors import LerimError, StoppedError, UsageError
from lerim.memory import AgentMemories, Channel, ServedMemory
from lerim.paths import Home
from lerim.project import Project, locate_project, open_git
from lerim.review import make_approval_test
from lerim.sessions import vscode_uri_to_path

MAX_QUESTION_CHARS, MAX_FILES, MAX_PATH_CHARS = 1_000, 20, 1_000
DEFAULT_LIMIT, MAX_LIMIT = 5, 10
ReportProgress: TypeAlias = Callable[[str], None]


class ToolCalls:
    """The calls of one client.

    The project is found at the first call and kept as long as its folder exists. `repo` is a folder in the project;
    if it is "", the project is found from the working directory and the client's roots. `channel` is the way in
    which the memories reach the agent.
    """

    def __init__(
        self,
        repo: str,
        list_roots: Callable[[], Sequence[str]],
        get_client: Callable[[], str],
        channel: Channel = "mcp",
    ) -> None:
        self._channel: Channel = channel
        self._repo = repo
        self._list_roots = list_roots
        self._client = get_client
        self._memories: AgentMemories | None = None
        self._project: Project | None = None
        self._served: Sequence[ServedMemory] = ()
        self._event = ""

    def __enter__(self) -> ToolCalls:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._memories is not None:
            self._memories.close()

    def call(
        self,
        name: str,
        arguments: Mapping[str, object],
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
        """Counts the memories of the last answer as served. Called once the agent has the answer, so that it need
        not wait for this."""
        if self._memories is not None:
            self._memories.note_served(self._served, self._channel, self._client(), self._event)
        self._served = ()

    def _recall(self, home: Home, values: _Arguments) -> str:
        question = values.text("question", MAX_QUESTION_CHARS)
        wanted = values.texts("files", MAX_FILES, MAX_PATH_CHARS)
        if not question and not wanted:
            raise UsageError("`recall` needs a question, files, or both.", todo="Say what you want to know.")
        project = self._find_project(home)
        memories = self._open_memories(project, home)
        files = [path for one in wanted if (path := _relative_path(project, one))]
        outside = len(wanted) - len(files)
        found = memories.recall(question, files, values.limit(), include_drifted=values.flag("include_drifted"))
        self._served, self._event = found.memories, "recall"
        return describe_recalled(found, memories.problems, outside)

    def _why(self, home: Home, values: _Arguments) -> str:
        path, symbol = values.text("path", MAX_PATH_CHARS, required=True), values.text("symbol", 200)
        project = self._require_project(home)
        memories = self._open_memories(project, home)
        place = _relative_path(project, path)
        if not place:
            raise UsageError("This path is not in the repository.", where=path[:200], todo="Name a file in it.")
        drifted = values.flag("include_drifted")
        found = memories.recall("", [f"{place}#{symbol}"], MAX_LIMIT, include_drifted=drifted) if symbol else None
        if found is None or not (found.memories or found.drifted):
            found = memories.recall("", [place.partition("#")[0]], MAX_LIMIT, include_drifted=drifted)
        self._served, self._event = found.memories, "why"
        return describe_recalled(found, memories.problems, 0)

    def _propose(self, home: Home, values: _Arguments) -> str:
        project = self._require_project(home)
        places = [
            path
            for one in values.texts("files", MAX_REFERENCES, MAX_PATH_CHARS)
            if (path := _relative_path(project, one))
        ]
        return propose_memory(
            project,
            home,
            self._client(),
            values.text("kind", 40, required=True),
            values.text("title", MAX_TITLE_CHARS, required=True),
            values.text("why", MAX_REASON_CHARS),
            places,
        )

    def _open_memories(self, project: Project | None, home: Home) -> AgentMemories:
        """Returns the memories of the project. They stay open until another project is asked for."""
        if self._memories is None or project != self._project:
            if self._memories is not None:
                self._memories.close()
            self._project = project
            git = open_git(project.root, os.environ) if project is not None else None
            self._memories = AgentMemories(project, home, make_approval_test(project, home), git)
        return self._memories

    def _require_project(self, home: Home) -> Project:
        project = self._find_project(home)
        if project is None:
            raise UsageError("No git repository was found.", todo="Start the server in a repository, or with --repo.")
        return project

    def _find_project(self, home: Home) -> Project | None:
        """Returns the project of `--repo`, or else the first project found from the working directory, from
        `CLAUDE_PROJECT_DIR` and from the client's roots, in this order; None if there is none. Raises UsageError if
        `--repo` is in no project."""
        if self._repo:
            project = locate_project(Path(os.path.expanduser(self._repo)).absolute(), home)  # noqa: PTH111 - never raises
            if project is None:
                raise UsageError("--repo names no git repository.", where=self._repo, todo="Correct it.")
            return project
        named = (os.environ.get("CLAUDE_PROJECT_DIR", ""), *map(vscode_uri_to_path, self._list_roots()))
        places = [*_working_folder(), *(Path(one) for one in named if one)]
        found = (locate_project(place, home) for place in places if place.is_absolute())
        return next((project for project in found if project is not None), None)


class _Arguments:
    """The arguments of a call. Each getter checks one and raises UsageError, in words for the model."""

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    def text(self, name: str, most: int, *, required: bool = False) -> str:
        """Returns a text argument without surrounding space; "" if it is missing and not required."""
        value = self._values.get(name)
        if value is None:
            value = ""
        if not isinstance(value, str):
            raise UsageError(f"`{name}` must be a string.", todo="Call the tool again.")
        if len(value) > most:
            raise UsageError(f"`{name}` may have at most {most} characters.", todo="Shorten it.")
        if required and not _storable(value):
            raise UsageError(f"`{name}` is missing.", todo="Call the tool again with it.")
        return _storable(value)

    def texts(self, name: str, most: int, most_chars: int) -> list[str]:
        """Returns a list of texts; a single text counts as a list of one."""
        value = self._values.get(name)
        values = [value] if isinstance(value, str) else [] if value is None else value
        if not isinstance(values, list) or len(values) > most:
            raise UsageError(f"`{name}` must be a list of at most {most} strings.", todo="Call the tool again.")
        texts = [one for one in values if isinstance(one, str) and len(one) <= most_chars]
        if len(texts) < len(values):
            raise UsageError(
                f"Each of `{name}` must be a string of at most {most_chars} characters.", todo="Try again."
            )
        return [text for one in texts if (text := _storable(one))]

    def flag(self, name: str) -> bool:
        """Returns the value of a boolean argument."""
        value = self._values.get(name, False)
        if not isinstance(value, bool | None):
            raise UsageError(f"`{name}` must be true or false.", todo="Call the tool again.")
        return bool(value)

    def limit(self) -> int:
        """Returns the number of items asked for, within the limits."""
        value = self._values.get("limit")
        if value is None:
            return DEFAULT_LIMIT
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
            raise UsageError(f"`limit` must be a number from 1 to {MAX_LIMIT}.", todo="Call the tool again.")
        return int(max(1, min(value, MAX_LIMIT)))


def _storable(text: str) -> str:
    """Returns a text without surrounding space and without characters that JSON can hold but files, paths and
    databases cannot."""
    return text.replace("\0", "").encode("utf-8", "replace").decode().strip()


def _working_folder() -> list[Path]:
    """Returns the working directory; nothing if it was deleted."""
    try:
        return [Path.cwd()]
    except OSError:
        return []


def _relative_path(project: Project | None, text: str) -> str:
    """Returns a path in the form that references use, with its `#symbol`; "" if it is outside the repository. A
    relative path is resolved from the working directory if that is in the repository, otherwise from the
    repository's root."""
    if project is None:
        return ""
    path, mark, symbol = text.replace("\\", "/").partition("#")
    root = project.root
    start = next((here for here in _working_folder() if here.is_relative_to(root)), root)
    written = os.path.normpath(start / path)
    normal = next((one for one in (Path(written), Path(os.path.realpath(written))) if one.is_relative_to(root)), root)
    if normal == root:
        return ""
    return f"{normal.relative_to(root).as_posix()}{mark}{symbol}"
