"""Rollouts of Codex: finds them, the folder each one begins in, and its turns."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from lerim.sessions.model import Transcript
from lerim.sessions.readers.codex.files import scan_root
from lerim.sessions.readers.codex.records import CodexRecord
from lerim.sessions.readers.codex.rollout import CodexReading
from lerim.sessions.readers.engine import LoadedSession, WholeReading, decode_leniently, load_single_object

if TYPE_CHECKING:
    from lerim.sessions.model import Readable

__all__ = ["open_session", "scan_root"]


class _SingleObjectRollout(msgspec.Struct):
    session: CodexRecord = msgspec.field(default_factory=CodexRecord)
    items: list[msgspec.Raw] | None = None


def open_session(transcript: Transcript, resume: bytes | None = None, *, brief: bool = False) -> Readable:
    """Returns a reading of a rollout that starts where `resume` says."""
    if transcript.path.suffix == ".json":
        return WholeReading(transcript, partial(_load, brief=brief), resume)
    return CodexReading(transcript, resume, brief=brief)


def _load(transcript: Transcript, *, brief: bool) -> LoadedSession:
    """Loads a rollout of the first Codex, written in TypeScript: one object that contains all items."""
    return load_single_object(transcript, _SingleObjectRollout, _list_records, CodexReading(transcript, brief=brief))


def _list_records(rollout: _SingleObjectRollout) -> Iterator[CodexRecord]:
    yield rollout.session
    yield from (decode_leniently(item, CodexRecord) for item in rollout.items or ())
