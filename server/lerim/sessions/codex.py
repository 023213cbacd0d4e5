"""Rollouts of Codex: where they lie, what folder each begins in, and its turns."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import msgspec

from lerim.errors import Problem
from lerim.sessions.claude_records import loose
from lerim.sessions.claude_records import read as shaped
from lerim.sessions.codex_files import find, probe
from lerim.sessions.codex_reading import Reading
from lerim.sessions.codex_records import Record
from lerim.sessions.gemini_records import contents
from lerim.sessions.model import Transcript
from lerim.sessions.regular import unreadable
from lerim.sessions.whole import Loaded, WholeReading

if TYPE_CHECKING:
    from lerim.sessions.indexing import Readable

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
    try:
        data = contents(transcript.path)
    except OSError as error:
        raise unreadable(transcript.path, error) from error
    rollout = shaped(data, _Rollout)
    folded = Reading(transcript, brief=brief)
    turns = folded.fold([rollout.session, *(shaped(item, Record) for item in rollout.items or ())])
    prompts = [turn.ordinal for turn in turns if turn.role == "user"]
    if rollout.items is None and loose(data) is None:
        folded.problems.append(
            Problem("bad-line", str(transcript.path), "This transcript could not be read: it is no whole JSON")
        )
    return Loaded(folded.session, turns, prompts[-1] if prompts else 0, folded.problems)
