"""Quotes that stay on this machine, in the project's private folder.

If the person chose `local`, a memory's file names the turn and the speaker, and the quote itself is stored here.
Evidence that a later session added to a memory without changing it is stored here, too. Both are joined to the record
when it is read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import msgspec

from lerim import files
from lerim.errors import MemoryError_, NotFoundError, Problem
from lerim.memory.record import Evidence, MemoryRecord

QuoteChoice = Literal["shared", "local"]
MAX_EVIDENCE = 3
_MAX_FILE = 64 * 1024
_MAX_REMOVED_QUOTES = 9  # quotes of entries that updates removed; an undo may need them again


class _Choice(msgspec.Struct, frozen=True):
    quotes: QuoteChoice


class _QuotesFile(msgspec.Struct, frozen=True):
    """`quotes` belong to evidence entries in the memory's file; `gained` are additional entries."""

    quotes: list[Evidence] = []
    gained: list[Evidence] = []


class Quotes:
    """The private quotes of one project. `private` is the project's folder under `~/.lerim`."""

    def __init__(self, private: Path) -> None:
        self.private = private
        self.folder = private / "quotes"

    def read_choice(self) -> QuoteChoice | None:
        """Returns whether quotes are shared in git; None if the person was not asked yet. Raises MemoryError_."""
        path = self.private / "quotes.json"
        if files.is_absent(path):
            return None
        try:
            return msgspec.json.decode(files.read_text(path, _MAX_FILE), type=_Choice).quotes
        except msgspec.MsgspecError as error:
            todo = "Delete it; you will be asked again at the next accept."
            raise MemoryError_("The choice about quotes cannot be read.", where=str(path), todo=todo) from error

    def write_choice(self, choice: QuoteChoice) -> None:
        """Stores the person's choice."""
        files.make_folder(self.private, 0o700)
        files.replace_file(self.private / "quotes.json", msgspec.json.encode(_Choice(choice)).decode() + "\n", 0o600)

    def path_for(self, memory_id: str) -> Path:
        """Returns the file of one memory's private quotes."""
        return self.folder / f"{memory_id}.json"

    def copy_quotes(self, old_id: str, new_id: str) -> None:
        """Gives a memory whose id was changed the private quotes of its old id, unless it has some. The old ones
        stay, in case the change is undone. Raises MemoryError_."""
        old, new = self.path_for(old_id), self.path_for(new_id)
        if not files.is_absent(old) and files.is_absent(new):
            files.replace_file(new, files.read_text(old, _MAX_FILE), 0o600)

    def change_times(self) -> dict[str, int]:
        """Returns when the private quotes of each memory were last changed, in whole milliseconds, by memory id."""
        try:
            with os.scandir(self.folder) as entries:
                return {
                    entry.name.removesuffix(".json"): entry.stat(follow_symlinks=False).st_mtime_ns // 1_000_000
                    for entry in entries
                }
        except OSError:
            return {}

    def change_time(self, memory_id: str) -> int:
        """Returns when the private quotes of one memory were last changed, as `change_times`; 0 if it has none."""
        try:
            return os.lstat(f"{self.folder}/{memory_id}.json").st_mtime_ns // 1_000_000
        except OSError:
            return 0

    def join_quotes(self, record: MemoryRecord) -> tuple[MemoryRecord, list[Problem]]:
        """Returns the record with its private quotes and gained evidence, at most three entries, and any problems."""
        if files.is_absent(f"{self.folder}/{record.id}.json"):  # most have none, and thousands are read in a row
            return record, []
        path = self.path_for(record.id)
        try:
            kept = self._read(path)
        except MemoryError_ as error:
            return record, [error.problem(str(path), code="quotes-unreadable")]
        if not (kept.quotes or kept.gained):
            return record, []
        left = [item for item in (*kept.quotes, *kept.gained) if item not in record.evidence]
        joined: list[Evidence] = []
        for item in record.evidence:
            words = item if item.quote else next((one for one in left if _may_be_quote_of(item, one)), item)
            if words is not item:
                left.remove(words)
            joined.append(words)
        gained = [item for item in kept.gained if item in left]
        return replace(record, evidence=merge_evidence(joined, gained)), []

    def text_with_quotes(self, memory_id: str, evidence: Sequence[Evidence]) -> str:
        """Returns the private file's text after the quotes of these entries are stored in it."""
        kept = self._read(self.path_for(memory_id))
        entries = [item for item in evidence if item.quote]
        older = [item for item in kept.quotes if item not in entries][:_MAX_REMOVED_QUOTES]
        return _encode(_QuotesFile([*entries, *older], kept.gained))

    def text_with_evidence(self, record: MemoryRecord, evidence: Sequence[Evidence]) -> str | None:
        """Returns the private file's text after a memory, as `join_quotes` returned it, gains this evidence; None if it
        gains nothing.

        A memory has room for three entries, and for the quotes of entries that have none on this machine.
        """
        quoteless = [item for item in record.evidence if not item.quote]
        room = MAX_EVIDENCE - len(record.evidence)
        new: list[Evidence] = []
        for item in dict.fromkeys(evidence):
            if not item.quote or item in record.evidence:
                continue
            filled = next((one for one in quoteless if _may_be_quote_of(one, item)), None)
            if filled is not None:
                quoteless.remove(filled)
            elif room > 0:
                room -= 1
            else:
                continue
            new.append(item)
        if not new:
            return None
        kept = self._read(self.path_for(record.id))
        return _encode(_QuotesFile(kept.quotes, [*kept.gained, *new]))

    def _read(self, path: Path) -> _QuotesFile:
        try:
            return msgspec.json.decode(files.read_text(path, _MAX_FILE), type=_QuotesFile)
        except NotFoundError:
            return _QuotesFile()
        except msgspec.MsgspecError as error:
            todo = "Delete it if you do not need these quotes."
            raise MemoryError_("The quotes kept on this machine cannot be read.", where=str(path), todo=todo) from error


def merge_evidence(first: Sequence[Evidence], second: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Returns both lists, the first one first, without repeated quotes (same words, speaker and turn). At most three
    entries, or as many as the first has.

    An entry of the second without a quote is dropped if the first has an entry of the same turn and speaker.
    """
    found: list[Evidence] = []
    for item in first:
        if not item.quote or item not in found:
            found.append(item)
    for item in second:
        if item not in found and (item.quote or not any(_may_be_quote_of(item, one) for one in first)):
            found.append(item)
    return tuple(found)[: max(MAX_EVIDENCE, len(first))]


def _may_be_quote_of(quoteless: Evidence, item: Evidence) -> bool:
    return (quoteless.turn, quoteless.who) == (item.turn, item.who)


def strip_quotes(evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """Returns the entries as written to a file whose quotes stay private."""
    return tuple(replace(item, quote="") for item in evidence)


def _encode(content: _QuotesFile) -> str:
    return msgspec.json.format(msgspec.json.encode(content)).decode() + "\n"
