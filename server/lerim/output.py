"""What the command line prints: tables for people, JSON for programs, errors that say what, where and what to do.

Text of memories and transcripts is foreign: no control or hidden character of it reaches the terminal as such.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable, Sequence

import msgspec

from lerim.errors import LerimError, Problem

_ACTING = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u08e2\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Characters of the categories `visible` writes out that JSON leaves as they are."""
WIDE = 160
"""Columns of a table that goes into a file or a pipe."""


class ErrorView(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error as `--json` prints it, under the key `error`; `diff` where a file changed meanwhile."""

    code: str
    message: str
    where: str
    todo: str
    diff: str = ""


def visible(text: str, *, lines: bool = False) -> str:
    """`text` with every control, format, surrogate and private character written out as an escape.

    `lines` keeps newlines and tabs; otherwise they become single spaces, for one-line places.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(character, lines=lines) for character in text)


def _shown(character: str, *, lines: bool) -> str:
    if character in "\n\t":
        return character if lines else " "
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        code = ord(character)
        return f"\\x{code:02x}" if code < 256 else f"\\u{{{code:x}}}"
    return character


def counted(number: int, noun: str) -> str:
    """`1 session`, `2 sessions`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def say(text: str = "") -> None:
    """One line to standard output."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """One line to standard error: remarks that are no part of the answer."""
    sys.stderr.write(text + "\n")


def show_json(answer: object) -> None:
    """The answer as one JSON object with sorted-as-declared keys, indented.

    What does not show or acts on a terminal is written as JSON's own escape: the same text to whoever reads it.
    """
    say(_ACTING.sub(_escaped, msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()))


def _escaped(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


def show_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> None:
    """A table; cells are shown as they are, without markup and without control characters."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False, soft_wrap=False)
    if not sys.stdout.isatty():
        console.width = WIDE
    table = Table(
        title=Text(title) if title else None,
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        show_header=any(columns),
    )
    for name in columns:
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console.print(table)


def show_item(head: str, lines: Iterable[str]) -> None:
    """One item of a list: its id on a line of its own, to be copied, and what there is to say below it."""
    say(visible(head))
    for line in lines:
        if line:
            say("  " + visible(line))


def warn(problems: Iterable[Problem]) -> None:
    """Each problem as one line on standard error."""
    for problem in problems:
        note(f"warning: {visible(problem.path)}: {visible(problem.message)}")


def show_error(error: LerimError, *, as_json: bool) -> None:
    """The error: as a JSON object on standard output, or in words on standard error."""
    if as_json:
        show_json({"error": ErrorView(error.code, error.message, error.where, error.todo, error.diff)})
        return
    note(f"error: {visible(error.message)}")
    if error.where:
        note(f"  where: {visible(error.where)}")
    if error.todo:
        note(f"  what to do: {visible(error.todo)}")
    show_difference(error.diff)


def show_difference(diff: str) -> None:
    """What an error says a file's change is, on standard error; nothing where there is none."""
    for line in diff.splitlines():
        note("  " + visible(line))
