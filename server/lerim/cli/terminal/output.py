"""Prints the output of the command line: tables for people, JSON for programs, and errors that say what happened,
where, and what to do.

Text of memories and transcripts is untrusted: its control and hidden characters are escaped before they are printed.
"""

from __future__ import annotations

import io
import os
import re
import select
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

import msgspec

from lerim.errors import LerimError, Problem, error_reason
from lerim.files import encode_writable_json
from lerim.views import make_error_output

_INVISIBLE_CHARACTERS = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters that `escape_controls` escapes but JSON does not."""
MAX_TABLE_WIDTH = 160
"""Width in columns of a table that goes to a file or a pipe."""
MOST_EQUAL_WARNINGS = 3
"""Maximum number of warnings with the same message that are printed with their paths."""
MIN_COLUMN_WIDTH = 10
"""Minimum width in columns of a text cell, however narrow the terminal is."""
_closed_pipes: list[TextIO] = []
"""Contains standard output once nobody reads it any more."""
_NUMBER = re.compile(r"(?:[0-9][0-9,.]*[kMG]?)?")
"""Matches the cells of a column that is right-aligned and never broken. Ids are not broken either."""


class OutputError(LerimError):
    """The output of a command could not be written."""

    code = "output"


def escape_controls(text: str, *, lines: bool = False) -> str:
    """Returns `text` with every control, format, surrogate and private character written out as an escape.

    `lines` keeps newlines and tabs; otherwise they become single spaces, for one-line places.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape_character(character, lines=lines) for character in text)


def _escape_character(character: str, *, lines: bool) -> str:
    if character in "\n\t":
        return character if lines else " "
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        code = ord(character)
        return f"\\x{code:02x}" if code < 256 else f"\\u{{{code:x}}}"
    return character


def pluralize(number: int, noun: str) -> str:
    """Formats a number with its noun: `1 session`, `2 sessions`, `2 memories`."""
    plural = f"{noun[:-1]}ies" if noun.endswith(("mory", "mary", "try")) else f"{noun}s"
    return f"{number:,} {noun if number == 1 else plural}"


def format_duration(seconds: float) -> str:
    """Formats a duration in the largest unit of which there are at least two: `1 second`, `90 seconds`, `5 minutes`,
    `36 hours`, `3 days`."""
    for unit, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= 2 * length:
            return pluralize(round(seconds / length), unit)
    return pluralize(max(1, round(seconds)), "second")


def format_percent(share: float) -> str:
    """Formats a share as a percentage: `72 %` for 0.72."""
    return f"{share * 100:.0f} %"


def redact_output(text: str) -> str:
    """Removes secrets: the last step before anything is printed."""
    if not text:
        return text
    from lerim.redaction import redact_secrets

    return redact_secrets(text).text


def print_line(text: str = "") -> None:
    """Prints a line to standard output, with secrets removed. Raises OutputError."""
    _print(redact_output(text))


def print_secret(text: str) -> None:
    """Prints a line that is a secret by itself, such as a link that signs somebody in. Raises OutputError."""
    _print(text)


def _print(text: str) -> None:
    with ignore_closed_pipe():
        sys.stdout.write(text + "\n")


def flush_output() -> bool:
    """Flushes standard output; returns `is_output_read`. Raises OutputError."""
    with ignore_closed_pipe():
        sys.stdout.flush()
    return is_output_read()


def is_output_read() -> bool:
    """Returns whether standard output can still be read. It cannot once the other end of its pipe was closed (`… |
    head`) or its terminal is gone. On Windows, this is only noticed when writing has failed."""
    if _closed_pipes or not hasattr(select, "poll"):
        return not _closed_pipes
    try:
        poller = select.poll()
        poller.register(sys.stdout.fileno(), 0)
        return not any(event & (select.POLLERR | select.POLLHUP) for _, event in poller.poll(0))
    except (OSError, ValueError):  # a stream without a file descriptor
        return True


@contextmanager
def ignore_closed_pipe() -> Iterator[None]:
    """Ignores a closed pipe (`… | head`): the command continues without output.

    Raises OutputError if writing fails for any other reason.
    """
    try:
        yield
    except BrokenPipeError:
        _closed_pipes.append(sys.stdout)
        _discard(sys.stdout)
    except OSError as error:
        _discard(sys.stdout)
        todo = "Write it where there is space, or to a terminal. The command itself has finished."
        raise OutputError(f"The output could not be written: {error_reason(error)}.", todo=todo) from error


def _discard(stream: TextIO) -> None:
    """Discards the text that the stream still holds and all later output. Otherwise, Python would fail again when it
    exits."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    with suppress(OSError, ValueError):  # a stream without a file descriptor cannot fail
        os.dup2(devnull, stream.fileno())
    os.close(devnull)


def ask_question(question: str) -> str:
    """Asks a question on standard error and returns the line that the person types, "" for none."""
    sys.stderr.write(escape_controls(question))
    sys.stderr.flush()
    return sys.stdin.readline().strip()


def can_ask() -> bool:
    """Returns whether there is a person at a terminal who sees a question and can answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask_consent(question: str) -> bool:
    """Asks a question on standard error and returns whether the answer is yes."""
    return ask_question(f"{question} [y/N] ").lower() in ("y", "yes")


def confirm(question: str) -> bool:
    """Asks whether to continue with what was printed; returns False if standard output or input is not a terminal."""
    import typer  # a server and `--version` print without it

    return sys.stdin.isatty() and sys.stdout.isatty() and typer.confirm(question)


def print_note(text: str) -> None:
    """Prints a line to standard error: remarks that are not part of the output."""
    try:
        sys.stderr.write(redact_output(text) + "\n")
        sys.stderr.flush()
    except OSError:  # there is nowhere left to print it
        _discard(sys.stderr)


def show_json(answer: object) -> None:
    """Prints the output as one indented JSON object, with keys in the order of declaration.

    Invisible characters are written as JSON escapes, which decode to the same text.
    """
    _show_json(msgspec.json.format(encode_writable_json(answer), indent=2))


def show_json_line(answer: object) -> None:
    """Prints the output as one JSON object on one line, otherwise like `show_json`."""
    _show_json(encode_writable_json(answer))


def _show_json(encoded: bytes) -> None:
    from lerim.redaction import redact_json

    _print(_INVISIBLE_CHARACTERS.sub(_escape_match, redact_json(encoded.decode())))


def _escape_match(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> None:
    """Prints a table; cells are printed literally, without markup and with control characters escaped."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    terminal = Console(file=sys.stdout)
    # Drawn in memory: rich itself would end the process if the pipe is closed.
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=terminal.width if sys.stdout.isatty() else MAX_TABLE_WIDTH,
        force_terminal=terminal.is_terminal and not terminal.legacy_windows,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=False,
    )
    table = Table(
        title=Text(title) if title else None,
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_header=any(columns),
    )
    min_table_width = 2
    escaped_rows = [[escape_controls(redact_output(cell)) for cell in row] for row in rows]
    for index, name in enumerate(columns):
        is_numeric = bool(name) and all(_NUMBER.fullmatch(row[index]) for row in escaped_rows)
        is_unbroken = is_numeric or name == "id"
        required_width = (
            max(len(word) for word in (*name.split(), *(row[index] for row in escaped_rows))) if is_unbroken else 0
        )
        min_table_width += 1 + (required_width or MIN_COLUMN_WIDTH)
        table.add_column(
            Text(name), overflow="fold", justify="right" if is_numeric else "left", min_width=required_width or None
        )
    for row in escaped_rows:
        table.add_row(*map(Text, row))
    if console.measure(table, options=console.options.update(width=10_000)).maximum > console.width:
        table.padding = (0, 0)
        console.width = max(console.width, min_table_width)  # the terminal may break lines, but no number is left out
    console.print(table)
    with ignore_closed_pipe():
        sys.stdout.write(buffer.getvalue())


def show_item(head: str, lines: Iterable[str]) -> None:
    """Prints an item of a list: its id on a line of its own, so that it can be copied, and indented lines below it."""
    print_line(escape_controls(head))
    for line in lines:
        if line:
            print_line("  " + escape_controls(line))


def print_problems(problems: Iterable[Problem]) -> None:
    """Prints each problem as one line on standard error. If more than three have the same message, only the first
    three are printed with their paths, followed by the number of the others."""
    by_message: dict[str, list[Problem]] = {}
    for problem in problems:
        by_message.setdefault(problem.message, []).append(problem)
    for message, equal in by_message.items():
        for problem in equal[:MOST_EQUAL_WARNINGS]:
            print_note(f"warning: {escape_controls(problem.path)}: {escape_controls(message)}")
        if (more := len(equal) - MOST_EQUAL_WARNINGS) > 0:
            print_note(f"warning: {more} more: {escape_controls(message)}")


def show_error(error: LerimError, *, as_json: bool) -> None:
    """Prints an error: as a JSON object on standard output, or as text on standard error."""
    if as_json:
        show_json(make_error_output(error))
        return
    print_note(f"error: {escape_controls(error.message)}")
    if error.where:
        print_note(f"  where: {escape_controls(error.where)}")
    if error.todo:
        print_note(f"  what to do: {escape_controls(error.todo)}")
    show_difference(error.diff)


def show_difference(diff: str) -> None:
    """Prints a diff, if any, on standard error."""
    for line in diff.splitlines():
        print_note("  " + escape_controls(line))
