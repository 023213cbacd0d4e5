"""What holds of a reader of JSON lines, whatever the lines: however the file grew, was left, or was damaged.

A reader is given as `opened`: a reading of the file at a path, from a resume on.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from lerim.errors import UnfinishedError
from lerim.sessions.model import Platform, Readable, Session, Transcript, Turn
from lerim.sessions.tables.turn_text import render_calls

SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])

CHANGES = st.lists(st.tuples(st.integers(0, 1 << 16), st.binary(max_size=4), st.integers(0, 40)), max_size=6)
"""Changes to bytes: a place, what is put there, and how many bytes that takes the place of."""


class Opened(Protocol):
    """A reader of the files of one agent."""

    def __call__(self, path: Path, resume: bytes | None = None) -> Any: ...


def moment(number: int, day: str = "2026-03-01") -> str:
    """A time a record may have: that many seconds after midnight."""
    return f"{day}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"


def json_lines(*records: Any) -> bytes:
    """A line of JSON a record; a list stands for all its records."""
    flat = [one for record in records for one in (record if isinstance(record, list) else [record])]
    return b"".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for one in flat)


def transcript_of(platform: Platform, path: Path, native: str = "", **fields: Any) -> Transcript:
    """The transcript in a file as it is now; its session's id is the name of the file unless it is given."""
    known = path.stat()
    size, written, inode = known.st_size, known.st_mtime_ns, known.st_ino
    return Transcript(platform, path, native or path.stem, size, written, inode, **fields)


def taken(
    open_session: Callable[..., Readable], transcript: Transcript, resume: bytes | None = None
) -> tuple[list[Turn], Any]:
    """A pass over a transcript: its turns, and the reading after it. A brief one of the whole file loses nothing."""
    is_brief_without_loss(open_session(transcript, brief=True), open_session(transcript))
    reading = open_session(transcript, resume)
    return list(reading), reading


def junk(*names: str) -> st.SearchStrategy[Any]:
    """A value of any type; its dictionaries have these names for keys."""
    atoms = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from("\ud83d\0")
    return st.recursive(
        atoms,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(names)), inner, max_size=3),
        max_leaves=6,
    )


def changed(whole: bytes, changes: Iterable[tuple[int, bytes, int]]) -> bytes:
    """These bytes after CHANGES."""
    for place, put, taken in changes:
        at = place % (len(whole) + 1)
        whole = whole[:at] + put + whole[at + taken :]
    return whole


def kept(turn: Turn) -> tuple[Any, ...]:
    """What the catalog keeps of a turn."""
    place = turn.id, turn.ordinal, turn.role, turn.kind, turn.time, turn.cwd, turn.branch, turn.model, turn.tokens
    return *place, turn.text, render_calls(turn.tool_calls)


def is_brief_without_loss(brief: Any, whole: Any) -> None:
    """A brief reading gives all that the catalog keeps of a whole one of the same file."""
    turns = list(brief)
    assert [kept(turn) for turn in turns] == [kept(turn) for turn in whole]
    assert not any(turn.reasoning for turn in turns)
    assert (brief.session, brief.problems) == (whole.session, whole.problems)


def adds_up(turns: Sequence[Turn], session: Session) -> None:
    """The totals of a session are the sums over its turns."""
    calls = [call for turn in turns for call in turn.tool_calls]
    assert [turn.ordinal for turn in turns] == list(range(len(turns)))
    assert session.turns == len(turns) == len({turn.id for turn in turns})
    assert session.tool_calls == len(calls)
    assert session.tool_errors == sum(call.status == "error" for call in calls)
    assert session.prompts == sum(turn.kind == "prompt" for turn in turns)


COUNTS = ("prompts", "tool_calls", "tool_errors", "denials")


def grows_to_the_same(opened: Opened, folder: Path, whole: bytes, cuts: Sequence[int]) -> Any:
    """A file read whenever it has grown to a cut gives what it gives when it is read at once: the reading at once."""
    path = folder / "whole.jsonl"
    path.write_bytes(whole)
    at_once = opened(path)
    expected = list(at_once)
    grown = folder / "grown.jsonl"
    turns: dict[str, Turn] = {}
    resume = None
    for cut in [*sorted(cuts), len(whole)]:
        grown.write_bytes(whole[:cut])
        done = opened(grown, resume)
        turns.update((turn.id, turn) for turn in done)
        assert not done.restarted
        assert not done.problems or at_once.problems
        resume = done.resume
    assert sorted(turns.values(), key=lambda turn: turn.ordinal) == expected
    assert len({turn.id for turn in expected}) == len(expected) == at_once.session.turns
    ours, theirs = done.session, at_once.session
    fields = [field for field in ours.__dataclass_fields__ if field not in ("id", "path")]
    assert [getattr(ours, field) for field in fields] == [getattr(theirs, field) for field in fields]
    return at_once


def is_taken_up_after_any_turn(opened: Opened, path: Path) -> None:
    """A reading left after any turn and taken up there gives what a reading at once gives."""
    at_once = opened(path)
    expected = list(at_once)
    for left_after in range(1, len(expected) + 1):
        first = opened(path)
        open_ = iter(first)
        turns = {turn.id: turn for turn in itertools.islice(open_, left_after)}
        if not first.checkpoint():
            break
        second = opened(path, first.resume)
        rest = list(second)
        assert not second.restarted
        assert list((turns | {turn.id: turn for turn in rest}).values()) == expected
        assert (second.session, second.resume) == (at_once.session, at_once.resume)


def stands(opened: Opened, path: Path, resume: bytes | None = None) -> Any:
    """Whatever the file holds, its turns are texts that can be kept, and it can be read on: the reading."""
    done = opened(path, resume)
    for turn in done:
        turn.text.encode()
        assert "\0" not in turn.text
    list(opened(path, done.resume))
    return done


def told(turns: Iterable[Turn]) -> list[tuple[str, str, int]]:
    """What a damaged file must not change in the turns that the damage did not touch."""
    return [(turn.id, turn.text, len(turn.tool_calls)) for turn in turns]


def with_byte(parts: Sequence[bytes], hit: int, at: int, byte: int) -> bytes:
    """These lines with one byte of one of them changed."""
    line = parts[hit]
    return b"".join([*parts[:hit], line[:at] + bytes([byte]) + line[at + 1 :], *parts[hit + 1 :]])


def appends_give_the_same(
    read: Callable[..., tuple[list[Turn], Any]], path: Path, written: bytes, cuts: Sequence[int]
) -> list[Turn]:
    """A file read whenever it has grown to a cut, by a reader that names the turns that still stand, gives what it
    gives when it is read at once: the turns."""
    path.write_bytes(written)
    expected, _ = read(path)
    standing: dict[str, Turn] = {}
    resume = None
    for cut in [*sorted(cuts), len(written)]:
        path.write_bytes(written[:cut])
        try:
            some, done = read(path, resume)
        except UnfinishedError:
            continue
        resume = done.resume
        standing = {one.id: one for one in (*standing.values(), *some) if one.id in done.ids}
    assert sorted(standing.values(), key=lambda one: one.ordinal) == expected
    return expected
