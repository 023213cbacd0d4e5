"""Rollouts of Codex: where they lie, what folder each begins in, and its turns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from lerim.sessions import one_object
from lerim.sessions.codex_files import find, probe
from lerim.sessions.codex_reading import Reading
from lerim.sessions.codex_records import Record
from lerim.sessions.model import Transcript
from lerim.sessions.shapes import read as shaped
from lerim.sessions.whole import Loaded, WholeReading

if TYPE_CHECKING:
    from lerim.sessions.model import Readable

__all__ = ["find", "probe", "read"]


class _Rollout(msgspec.Struct):
    session: Record = msgspec.field(default_factory=Record)
    items: list[msgspec.Raw] | None = None


def read(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """A reading of a rollout, from where `resume` says."""
    if transcript.path.suffix == ".json":
        return WholeReading(transcript, partial(_load, brief=brief), resume)
    return Reading(transcript, resume, brief=brief)


def _load(transcript: Transcript, *, brief: bool) -> Loaded:
    """A rollout of the first Codex, written in TypeScript: one object that holds all items."""
    return one_object.load(transcript, _Rollout, _records, Reading(transcript, brief=brief))


def _records(rollout: _Rollout) -> Iterator[Record]:
    yield rollout.session
    yield from (shaped(item, Record) for item in rollout.items or ())
