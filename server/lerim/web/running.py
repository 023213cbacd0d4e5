"""The server that runs for a home: one at a time, held by a lock; where it listens; and requests to it."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import os
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TypeVar
from urllib.parse import urlsplit

import filelock
import msgspec

from lerim.errors import (
    LerimError,
    NoAnswerError,
    NotTakenError,
    ServerError,
    error_reason,
    find_error_type,
)
from lerim.models import AGENTS, find_program
from lerim.paths import STORE_VARIABLES, Home
from lerim.project import make_private_folder, replace_private_file
from lerim.views import SERVER_ADDRESS_FILE, SERVER_LOCK_FILE, ErrorOutput, RunningServer, read_server_address
from lerim.web.token import load_token

Event = TypeVar("Event")
REQUEST_SECONDS = 30.0
"""How long an answer may take; a stream of events says more often that it is alive."""
REFUSALS = ("http", "project-unknown", "request", "too-large")
"""The codes of answers to a request that has no operation, not in this form, or not for this project."""
COMMAND_HEADER = "X-Lerim-Command"
"""Sent with the requests of commands."""
LOOK_SECONDS = 2.0
"""How long to wait for the lock; a process that checks whether a server runs holds it only for a moment."""


@contextmanager
def hold_server_lock(home: Home) -> Iterator[None]:
    """Holds the home's server lock for the block. Raises ServerError if a server runs already, or the lock cannot be
    used."""
    lock = filelock.FileLock(home.server / SERVER_LOCK_FILE, timeout=LOOK_SECONDS, thread_local=False, mode=0o600)
    try:
        make_private_folder(home, home.server)
        lock.acquire()
    except filelock.Timeout as error:
        running = read_server_address(home)
        where = f"process {running.pid}, {running.origin}" if running else str(home.server)
        todo = "Use it, or stop it with `lerim down`."
        raise ServerError("A server is already running for this Lerim home.", where=where, todo=todo) from error
    except OSError as error:
        todo = "Make the folder writable, or set LERIM_HOME to another one."
        message = f"The server cannot be locked: {error_reason(error)}."
        raise ServerError(message, where=str(home.server), todo=todo) from error
    try:
        yield
    finally:
        lock.release()


@contextmanager
def announce_server(home: Home, running: RunningServer) -> Iterator[None]:
    """Lets other processes find the server for the block. Raises ServerError if that is not possible."""
    path = home.server / SERVER_ADDRESS_FILE
    try:
        replace_private_file(path, msgspec.json.encode(running), flush=False)
    except OSError as error:
        message = f"The server's address cannot be saved: {error_reason(error)}."
        raise ServerError(message, where=str(path), todo="Free some space, or make the folder writable.") from error
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)


def request_server(
    home: Home,
    running: RunningServer,
    method: str,
    path: str,
    body: object = None,
    *,
    seconds: float = REQUEST_SECONDS,
) -> bytes:
    """Sends a request to the running server and returns the body of its answer, which may take these seconds.

    Raises NotTakenError, NoAnswerError, and the error that the server answered with.
    """
    with _open_answer(home, running, method, path, body, seconds) as response:
        return response.read()


def stream_from_server(
    home: Home,
    running: RunningServer,
    path: str,
    decoder: msgspec.json.Decoder[Event],
    *,
    method: str = "GET",
    body: object = None,
) -> Iterator[Event]:
    """Yields the events of a stream of the running server. Raises as `request_server`, also for an error that ends
    it."""
    with _open_answer(home, running, method, path, body) as response:
        for line in _read_lines(response):
            if not line.startswith(b"data: "):
                continue
            try:
                yield decoder.decode(line[6:])
            except msgspec.ValidationError:
                raise _make_error(line[6:], response.status, running) from None


def _read_lines(response: http.client.HTTPResponse) -> Iterator[bytes]:
    """Yields the lines of a body. Raises HTTPException if it breaks off, which `readline` takes for its end."""
    rest = b""
    while part := response.read1(65_536):
        *lines, rest = (rest + part).split(b"\n")
        yield from lines


@contextmanager
def _open_answer(
    home: Home, running: RunningServer, method: str, path: str, body: object, seconds: float = REQUEST_SECONDS
) -> Iterator[http.client.HTTPResponse]:
    """Sends a request and yields the answer, to be read in the block. Raises as `request_server`, also while it is
    read."""
    parts = urlsplit(running.address)
    connection = _make_connection(parts.scheme, parts.hostname or "", parts.port, seconds)
    headers = {"Authorization": f"Bearer {load_token(home)}", "Host": running.host, COMMAND_HEADER: "1"}
    content = None if body is None else msgspec.json.encode(body)
    if content is not None:
        headers["Content-Type"] = "application/json"
    kind: type[ServerError] = NotTakenError
    try:
        connection.connect()
        kind = NoAnswerError
        connection.request(method, path, content, headers)
        response = connection.getresponse()
        if response.status >= 300:  # a path without a name leads elsewhere
            raise _make_error(response.read(), response.status, running)
        yield response
    except (OSError, http.client.HTTPException) as error:
        message = f"The running server does not answer: {error_reason(error)}."
        raise kind(message, where=running.address, todo="Restart it with `lerim down` and `lerim up`.") from error
    finally:
        connection.close()


def mark_environment(home: Home, environ: Mapping[str, str]) -> str:
    """Returns a mark of the variables that decide what is read and which models can be asked and how, of the programs
    of agents found, of the time zone, and of the permissions of new files: two processes with the same mark do the
    same. It reveals nothing of the variables. As for `read_umask`, no thread may write files meanwhile. Raises
    ServerError."""
    names = sorted(name for name in environ if _is_deciding(name))
    programs = [find_program(provider, environ) for provider in AGENTS]
    zone = (time.timezone, time.tzname)
    values = msgspec.json.encode([*((name, environ[name]) for name in names), programs, zone, read_umask()])
    return hmac.new(load_token(home).encode(), values, hashlib.sha256).hexdigest()


def read_umask() -> int:
    """Returns which permissions new files of this process do not get. It can only be read by setting it, so no thread
    may write files meanwhile."""
    os.umask(umask := os.umask(0o077))
    return umask


def _is_deciding(name: str) -> bool:
    return (
        name in ("HOME", "USERPROFILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", *STORE_VARIABLES)
        or name.startswith("LERIM_")
        or name.upper().endswith(("_API_KEY", "_AUTH_TOKEN", "_PROXY"))
    )


def _make_connection(scheme: str, host: str, port: int | None, seconds: float) -> http.client.HTTPConnection:
    if scheme == "http":
        return http.client.HTTPConnection(host, port, timeout=seconds)
    # The address is this machine's own, and the certificate names the one that other machines use.
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return http.client.HTTPSConnection(host, port, timeout=seconds, context=context)


def _make_error(answer: bytes, status: int, running: RunningServer) -> LerimError:
    """Returns the error that the server answered with: that of the command, or that it does not take this request."""
    try:
        failure = msgspec.json.decode(answer, type=ErrorOutput).error
    except msgspec.MsgspecError:
        text = answer[:200].decode("utf-8", "replace").strip()
        message = f"The running server refused the request ({status}): {text}"
        # a server that fails while it answers may have done what it was asked
        return (NoAnswerError if status >= 500 else NotTakenError)(message, where=running.address)
    kind = NotTakenError if failure.code in REFUSALS else find_error_type(failure.code)
    error = kind(failure.message, where=failure.where, todo=failure.todo)
    error.code, error.diff = failure.code, failure.diff
    return error
