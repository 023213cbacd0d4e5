"""Suggestions: what maintain, or the lead, proposes to do with memories there are, waiting among the candidates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Literal

from lerim.memory import files, slug
from lerim.memory.record import MemoryRecord
from lerim.memory.store import Stored
from lerim.review import actions
from lerim.review.candidates import Proposal, Target, of_text, one_line, suggested_text
from lerim.review.ledger import Fingerprint, Known, Ledger
from lerim.review.outcome import AlreadyKnown, Blocked, Proposed
from lerim.review.place import Place

SUGGESTION = "suggestion:"
"""How the source of a suggestion begins in the ledger, where that of a candidate names its session."""
SuggestedAction = Literal["merge", "archive", "consolidate", "refer", "close"]
_NO_CLAIM = Fingerprint(frozenset(), frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to be done with these memories, and why, as a sentence.

    `record` is what would be written: the kept memory's new words (merge), the new learning (consolidate), the memory
    with its new references (refer); else the memory it is about (archive, close). `targets` in the order of the action
    (`effects.py`).
    """

    action: SuggestedAction
    record: MemoryRecord
    targets: tuple[Stored, ...]
    reason: str
    maker: Literal["lead", "maintain"] = "maintain"


def suggest(place: Place, suggestion: Suggestion) -> Proposed | Blocked | AlreadyKnown:
    """Put a suggestion before the person, unless it waits or was rejected, and its memories' texts are the same still.

    Raises MemoryError_ where the review folder cannot be written, BusyError.
    """
    with actions.ledger(place) as book:
        return put(place, book, suggestion)


def put(place: Place, book: Ledger, suggestion: Suggestion) -> Proposed | Blocked | AlreadyKnown:
    """`suggest` for who holds the ledger already."""
    targets = [Target(one.record.id, one.hash) for one in suggestion.targets]
    source = f"{SUGGESTION}{suggestion.action}:{','.join(f'{one.id}@{one.hash}' for one in targets)}"
    claims = book.claims()
    for known in claims:
        if known.source != source:
            continue
        if known.state == "rejected":
            return Blocked(known.id, book.count_block(known.id))
        if known.state == "pending" and not files.is_absent(place.candidate_path(known.id)):
            return AlreadyKnown(known.id, "It is waiting for review already.")
    _drop_older(place, book, claims, suggestion)
    return Proposed(_write(place, book, claims, suggestion, targets, source))


def _drop_older(place: Place, book: Ledger, claims: Iterable[Known], suggestion: Suggestion) -> None:
    """The same suggestion of an earlier day waits no more: it was of texts that changed since."""
    about = {stored.record.id for stored in suggestion.targets}
    prefix = f"{SUGGESTION}{suggestion.action}:"
    for known in claims:
        if known.state != "pending" or not known.source.startswith(prefix):
            continue
        if {one.partition("@")[0] for one in known.source.removeprefix(prefix).split(",")} != about:
            continue
        path = place.candidate_path(known.id)
        if not files.is_absent(path) and files.text_hash(files.read_text(path, actions.MAX_ANY_FILE)) == known.written:
            files.remove(path)
            book.set_state(known.id, "withdrawn", note="its memories changed")


def _write(
    place: Place,
    book: Ledger,
    claims: Iterable[Known],
    suggestion: Suggestion,
    targets: list[Target],
    source: str,
) -> Proposal:
    store = place.store()
    now = datetime.now(UTC).replace(microsecond=0)
    others = {known.id for known in claims}

    def taken(name: str) -> bool:
        return name in others or store.path_of(name) is not None or not files.is_absent(place.candidate_path(name))

    day: date = now.date()
    name = slug.new_id(f"{suggestion.action} {one_line(suggestion.record.title)}", day, taken)
    memory = replace(suggestion.record, id=name)
    text = suggested_text(memory, suggestion.action, targets, one_line(suggestion.reason), suggestion.maker, now)
    book.register(name, source, _NO_CLAIM, "pending", written=files.text_hash(text))
    book.commit()
    place.make_state()
    path = place.candidate_path(name)
    files.make_folder(path.parent)
    files.create(path, text)
    return of_text(text, path, store)
