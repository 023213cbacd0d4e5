"""What a call of Cursor changed: replacements it names, differences it tells, or the file before and after."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lerim.sessions.cursor_asked import Asked, Came
from lerim.sessions.cursor_records import text_of
from lerim.sessions.model import Edit
from lerim.sessions.shapes import NOTHING
from lerim.sessions.values import plain

Bodies = Callable[[str], str | None]
"""From the key of a file's body to the body; None where it is not kept."""


def wanted(asked: Sequence[Asked], path: str) -> tuple[Edit, ...]:
    """The replacement or the written file that a call asks for; none where it only describes them."""
    for one in asked:
        if one.old_string or one.new_string:
            return (Edit(path, plain(one.old_string), plain(one.new_string)),)
        for raw in (one.contents, one.content):
            if raw != NOTHING and (text := text_of(raw)):
                return (Edit(path, "", plain(text)),)
    return ()


def done(came: Came, path: str, bodies: Bodies) -> tuple[Edit, ...]:
    """What a result says was changed."""
    after = bodies(came.after_content_id) if came.after_content_id else None
    if after is not None:
        before = bodies(came.before_content_id) if came.before_content_id else ""
        return changed(path, plain(before), plain(after)) if before is not None else ()
    chunks = came.diff.chunks if came.diff is not None else None
    return tuple(_chunk(path, chunk.lines) for chunk in chunks or () if chunk.lines)


def changed(path: str, before: str, after: str) -> tuple[Edit, ...]:
    """The lines that differ between a file before and after, as one replacement; a new file is written as a whole."""
    if before == after:
        return ()
    if not before:
        return (Edit(path, "", after),)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    least = min(len(old), len(new))
    start = next((at for at in range(least) if old[at] != new[at]), least)
    end = next((at for at in range(least - start) if old[-1 - at] != new[-1 - at]), least - start)
    if start + end == len(old):  # lines were only added: one beside them says where
        start, end = (start - 1, end) if start else (start, end - 1)
    return (Edit(path, "".join(old[start : len(old) - end]), "".join(new[start : len(new) - end])),)


def _chunk(path: str, text: str) -> Edit:
    lines = text.split("\n")
    old = [line[1:] for line in lines if line[:1] in ("-", " ")]
    new = [line[1:] for line in lines if line[:1] in ("+", " ")]
    return Edit(path, plain("\n".join(old)), plain("\n".join(new)))
