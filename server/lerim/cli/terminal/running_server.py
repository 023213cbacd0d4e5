"""Sends the requests of commands to the running server, so that one process does the work, and the terminal, the
dashboard and the editor show the same.

If the server cannot do something, the command does it itself.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from lerim import __version__
from lerim.cli.terminal import output
from lerim.errors import LerimError, NoAnswerError, NotTakenError, ProjectError
from lerim.paths import Home
from lerim.project import Project, registry
from lerim.views import RunningServer, find_running_server

Answer = TypeVar("Answer")
Event = TypeVar("Event")
CHECK_SECONDS = 5.0
"""Maximum number of seconds that the server may take to say that it is usable."""
ALL = {"all": True}
"""The query for a whole list instead of a page."""
LOOK_SECONDS = 0.2
"""Seconds between checks for Ctrl-C and for the end of a killed server."""
_silent: set[RunningServer] = set()
"""Servers that did not answer this command in time. They are not asked again, so that the command waits only once."""


class _ServerState(msgspec.Struct, frozen=True):
    version: str
    environment: str


def get_from_server(
    home: Home,
    path: Sequence[str],
    kind: type[Answer],
    query: Mapping[str, object] = {},
    *,
    project: Project | None = None,
) -> Answer | None:
    """Returns the running server's answer to `GET /api/v1/…`, in the `project` if one is given. Returns None if the
    command has to find it itself, because no usable server runs or because it does not answer. Raises the server's
    error."""
    try:
        return _request(home, project, "GET", path, query, None, kind)
    except NoAnswerError as error:
        _note_silence(error)
        return None


def post_to_server(
    home: Home, path: Sequence[str], body: Mapping[str, object], kind: type[Answer], *, project: Project | None = None
) -> Answer | None:
    """Returns the running server's answer to `POST /api/v1/…`, like `get_from_server`; None if the server has done
    nothing.

    Raises the server's error, and NoAnswerError if the server may have done it, in which case the command must not
    do it a second time.
    """
    try:
        return _request(home, project, "POST", path, {}, body, kind)
    except NoAnswerError as error:
        message = f"The running server did not say whether it was done. {error.message}"
        todo = "Look whether it was done, for example with `lerim review undo --list`, and repeat the command if not."
        raise NoAnswerError(message, where=error.where, todo=todo) from error


def find_usable_server(home: Home) -> RunningServer | None:
    """Returns the running server if it would do the same as this command. Returns None if no server runs, if it is
    another version, if its environment has other keys or folders, or if it did not answer this command before."""
    running = find_running_server(home)
    if running is None or running in _silent:
        return None
    from lerim.web import mark_environment, request_server  # imported late: few commands have a server

    try:
        answer = request_server(home, running, "GET", "/api/v1/server", seconds=CHECK_SECONDS)
        state = msgspec.json.decode(answer, type=_ServerState)
    except NoAnswerError as error:
        _silent.add(running)
        _note_silence(error)
        return None
    except (LerimError, msgspec.MsgspecError):
        return None
    return running if (state.version, state.environment) == (__version__, mark_environment(home, os.environ)) else None


def follow_events(events: Iterator[Event], cancelled: Callable[[], bool]) -> Iterator[Event | None]:
    """Yields the events of a stream of the server, and None, once, as soon as `cancelled` returns true. Raises the
    stream's error."""
    received: queue.SimpleQueue[tuple[Event] | Exception | None] = queue.SimpleQueue()

    def receive() -> None:
        try:
            for event in events:
                received.put((event,))
            received.put(None)
        except Exception as error:
            received.put(error)

    threading.Thread(target=receive, daemon=True).start()
    was_cancelled = False
    while True:
        if cancelled() and not was_cancelled:
            was_cancelled = True
            yield None
        try:
            got = received.get(timeout=LOOK_SECONDS)
        except queue.Empty:
            continue
        if got is None:
            return
        if isinstance(got, Exception):
            raise got
        yield got[0]


def stream_from_running_server(
    home: Home, path: Sequence[str], body: Mapping[str, object], decoder: msgspec.json.Decoder[Event], project: Project
) -> Iterator[Event] | None:
    """Returns the events with which the running server answers `POST /api/v1/…` in a project; None if the command
    has to do the work itself. Reading the events raises the same errors as `request_server`."""
    prepared = _prepare(home, project, path, {}, body)
    if prepared is None:
        return None
    from lerim.web import stream_from_server

    running, target, content = prepared
    return stream_from_server(home, running, target, decoder, method="POST", body=content)


def _request(
    home: Home,
    project: Project | None,
    method: Literal["GET", "POST"],
    path: Sequence[str],
    query: Mapping[str, object],
    body: Mapping[str, object] | None,
    kind: type[Answer],
) -> Answer | None:
    prepared = _prepare(home, project, path, query, body)
    if prepared is None:
        return None
    from lerim.web import request_server

    running, target, content = prepared
    try:
        return msgspec.json.decode(request_server(home, running, method, target, content), type=kind)
    except NotTakenError:
        return None
    except NoAnswerError:
        _silent.add(running)
        raise


def _prepare(
    home: Home,
    project: Project | None,
    path: Sequence[str],
    query: Mapping[str, object],
    body: Mapping[str, object] | None,
) -> tuple[RunningServer, str, msgspec.Raw | None] | None:
    """Returns the server that can be asked, and the path and the body of the request; None if there is no such server,
    it does not know the project, or what was typed is not UTF-8."""
    running = find_usable_server(home)
    if running is None or not (project is None or _is_known(project, home)):
        return None
    place = () if project is None else ("projects", project.key)
    given = {name: "true" if value is True else value for name, value in query.items() if _is_given(value)}
    try:
        target = "/".join(("/api/v1", *(quote(part, safe="") for part in (*place, *path))))
        content = None if body is None else msgspec.Raw(msgspec.json.encode(body))
        return running, f"{target}?{urlencode(given, doseq=True)}", content
    except UnicodeEncodeError:
        return None


def _is_given(value: object) -> bool:
    return value is not None and value is not False and value != ""


def _is_known(project: Project, home: Home) -> bool:
    """Returns whether the server finds the project in the same state as this command: registered, in this folder,
    with these aliases."""
    if project.is_personal:
        return True
    try:
        entry = registry.read_entry(home, project.key)
    except ProjectError:
        return False
    return entry is not None and (entry.root, entry.aliases) == (str(project.root), project.aliases)


def _note_silence(error: NoAnswerError) -> None:
    """Prints a note if the server hangs. For one that has just ended, nothing is printed."""
    if isinstance(error.__cause__, TimeoutError):
        output.print_note(f"note: {error.message} The command goes on without it. {error.todo}")
