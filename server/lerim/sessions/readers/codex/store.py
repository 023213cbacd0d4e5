"""Finds the rollouts of Codex and opens them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from lerim.sessions.model import StoreContents, Transcript
from lerim.sessions.readers.codex.records import CodexRecord
from lerim.sessions.readers.codex.thread_names import ROLLOUT_FOLDERS, parse_thread_id
from lerim.sessions.readers.codex.turns import CodexReading
from lerim.sessions.readers.engine import (
    COMPRESSED_SUFFIX,
    LoadedSession,
    WholeReading,
    add_transcript,
    decode_leniently,
    list_folder,
    load_single_object,
)

if TYPE_CHECKING:
    from lerim.sessions.model import Readable

_DEPTH_LIMIT = 4
_ENDINGS = (".jsonl", ".json", ".jsonl" + COMPRESSED_SUFFIX)


class _SingleObjectRollout(msgspec.Struct):
    session: CodexRecord = msgspec.field(default_factory=CodexRecord)
    items: list[msgspec.Raw] | None = None


def scan_root(root: Path, _folders: Sequence[str] = ()) -> StoreContents:
    """Lists, from stat alone, the rollouts under a folder of Codex, and the problems found. If a rollout exists both
    packed and unpacked, only the unpacked one is listed.

    A folder that does not exist contains none.
    """
    contents = StoreContents()
    for name in ROLLOUT_FOLDERS:
        _scan_folder(root / name, _DEPTH_LIMIT, contents)
    return contents


def _scan_folder(folder: Path, depth: int, contents: StoreContents) -> None:
    entries = list_folder(folder, contents.problems, unpacked=COMPRESSED_SUFFIX)
    names = {entry.name for entry in entries}
    for entry in entries:
        if entry.name.startswith("rollout-") and entry.name.endswith(_ENDINGS):
            if entry.name.removesuffix(COMPRESSED_SUFFIX) not in names or not entry.name.endswith(COMPRESSED_SUFFIX):
                add_transcript(contents, "codex", entry, parse_thread_id(entry.name))
        elif depth and entry.is_dir(follow_symlinks=False):
            _scan_folder(Path(entry.path), depth - 1, contents)


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
