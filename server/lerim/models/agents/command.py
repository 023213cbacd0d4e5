"""The person's own command as the model: it receives the prompt on standard input and prints the answer, without a
shell.

It runs in a neutral folder, without Lerim's own variables (which include stored keys) and without variables that
redirect Python. The command and everything it started are ended at a deadline, when the person cancels, or when this
process dies.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from lerim.errors import ModelGoneError, error_reason
from lerim.models.agents import guard
from lerim.models.dspy_import import lm15
from lerim.models.services import cancelled_error
from lerim.process import (
    CREATE_NEW_PROCESS_GROUP,
    CREATE_NO_WINDOW,
    FOREIGN_VARIABLES,
    ProcessLaunch,
    build_batch_line,
    find_executable,
    is_batch,
    kill_group,
)
from lerim.redaction import clean_text

MOST_BYTES = 8_000_000
MOST_ERROR_BYTES = 4_000
MOST_MESSAGE_CHARACTERS = 300
CHECK_SECONDS = 0.05
LINGER_SECONDS = 1.0
"""Seconds to wait for more output after the command has ended, which may come from a process that it left running."""
CLOSE_SECONDS = 0.2
"""Seconds to wait for each pipe at the end. If another process keeps a pipe open, its thread is left running."""
COMMAND_FAILED = "command"
"""Error code of a failed command, which is not retried."""


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """What a program printed, its exit code, and the end of its error output without secrets."""

    text: str
    code: int
    error_text: str


@dataclass(slots=True)
class _Output:
    parts: list[bytes] = field(default_factory=list)
    size: int = 0
    too_large: bool = False


def run_command(
    command: Sequence[str],
    prompt: str,
    *,
    seconds: float,
    cancelled: Callable[[], bool],
    environ: Mapping[str, str],
    folder: Path,
) -> str:
    """Runs the command with the prompt and returns what it prints.

    Raises ModelGoneError if there is no such program, ServerError with code COMMAND_FAILED if it fails or prints
    nothing, TimeoutError, InvalidRequestError if its output is too large, TransportError with code "cancelled".
    """
    program = find_executable(command[0], environ) if command else None
    if program is None:
        name = command[0] if command else ""
        todo = "Install it, or give its full path in roles.extract.command."
        raise ModelGoneError(f"The program {name!r} was not found.", todo=todo)
    argv = (program, *command[1:])
    program_output = run_program(argv, prompt, seconds=seconds, cancelled=cancelled, environ=environ, folder=folder)
    if program_output.code or not program_output.text.strip():
        what = (
            f"the command ended with code {program_output.code}"
            if program_output.code
            else "the command printed nothing"
        )
        raise lm15.ServerError(what + program_output.error_text, code=COMMAND_FAILED)
    return program_output.text


def run_program(
    argv: Sequence[str],
    prompt: str,
    *,
    seconds: float,
    cancelled: Callable[[], bool],
    environ: Mapping[str, str],
    folder: Path,
) -> ProgramOutput:
    """Runs a program, given by its full path, with the prompt on its input. When the program ends, everything it
    started is ended too.

    Raises ServerError with code COMMAND_FAILED if it cannot be started, TimeoutError, InvalidRequestError if its
    output is too large, TransportError with code "cancelled".
    """
    guard_pipe, writing_end = os.pipe()  # only this process has the writing end, which closes when the process dies
    deadline = time.monotonic() + seconds
    try:
        try:
            launch = build_command_launch(argv, environ, sys.executable, guard_pipe)
            process = subprocess.Popen(
                launch.command_line or launch.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=launch.environ,
                cwd=folder if folder.is_dir() else tempfile.gettempdir(),
                creationflags=launch.creationflags,
                start_new_session=launch.new_session,
                pass_fds=(guard_pipe,) if launch.new_session else (),
            )
        except (OSError, ValueError) as error:
            message = f"the command cannot be started: {error_reason(error)}"
            raise lm15.ServerError(message, code=COMMAND_FAILED) from error
        output, errors = _Output(), _Output()
        threads = [
            threading.Thread(target=_write_prompt, args=(process.stdin, prompt), daemon=True),
            threading.Thread(target=_read_output, args=(process.stdout, output), daemon=True),
            threading.Thread(target=_read_tail, args=(process.stderr, errors), daemon=True),
        ]
        for thread in threads:
            thread.start()
        try:
            _wait(process, threads[1], output, deadline, seconds, cancelled)
        finally:
            kill_group(process.pid, environ)  # also ends processes left by a command that has exited
            code = process.wait()
            for thread in threads:
                thread.join(CLOSE_SECONDS)
    finally:
        os.close(writing_end)
        os.close(guard_pipe)
    if output.too_large:
        raise lm15.InvalidRequestError(f"the command prints more than {MOST_BYTES // 1_000_000} MB")
    return ProgramOutput(b"".join(output.parts).decode("utf-8", "replace"), code, _format_errors(errors))


def build_command_launch(
    command: Sequence[str], environ: Mapping[str, str], executable: str, guard_pipe: int, platform: str = sys.platform
) -> ProcessLaunch:
    """Returns how to start the command: in its own process group, and on POSIX systems under the guard.

    Raises ValueError for an argument that cannot be passed to a batch file on Windows.
    """
    is_windows = platform == "win32"
    removed = ("PYTHONPATH", *FOREIGN_VARIABLES)
    kept_variables = {
        name: value
        for name, value in environ.items()
        if name.upper() not in removed and not name.upper().startswith("LERIM_")
    }
    guard_command = () if is_windows else (executable, "-I", "-S", guard.__file__, str(guard_pipe))
    flags = CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP if is_windows else 0
    command_line = build_batch_line(command, environ) if is_windows and is_batch(command[0]) else ""
    return ProcessLaunch(
        (*guard_command, *command), kept_variables, flags, new_session=not is_windows, command_line=command_line
    )


def _wait(
    process: subprocess.Popen[bytes],
    reader: threading.Thread,
    output: _Output,
    deadline: float,
    seconds: float,
    cancelled: Callable[[], bool],
) -> None:
    ended_at: float | None = None
    while True:
        reader.join(CHECK_SECONDS)
        now = time.monotonic()
        if ended_at is None and process.poll() is not None:
            ended_at = now
        if output.too_large or (ended_at is not None and (not reader.is_alive() or now > ended_at + LINGER_SECONDS)):
            return
        if cancelled():
            raise cancelled_error()
        if now > deadline:
            raise lm15.TimeoutError(f"the command did not answer within {seconds:g} seconds")
        if not reader.is_alive():
            time.sleep(CHECK_SECONDS)


def _write_prompt(stream: IO[bytes], prompt: str) -> None:
    with contextlib.suppress(OSError, ValueError), stream:  # a command may exit without reading its whole input
        stream.write(prompt.encode("utf-8", "replace"))


def _read_output(stream: IO[bytes], output: _Output) -> None:
    with contextlib.suppress(OSError), stream:
        while piece := os.read(stream.fileno(), 65_536):
            output.size += len(piece)
            if output.size > MOST_BYTES:
                output.too_large = True
                return
            output.parts.append(piece)


def _read_tail(stream: IO[bytes], output: _Output) -> None:
    with contextlib.suppress(OSError), stream:
        while piece := os.read(stream.fileno(), 65_536):
            output.parts[:] = [(b"".join(output.parts) + piece)[-MOST_ERROR_BYTES:]]


def _format_errors(errors: _Output) -> str:
    text = " ".join(clean_text(b"".join(errors.parts).decode("utf-8", "replace")).split())
    return (
        f": …{text[-MOST_MESSAGE_CHARACTERS:]}" if len(text) > MOST_MESSAGE_CHARACTERS else f": {text}" if text else ""
    )
