"""Suggestions: what maintain, or the lead, proposes to do with memories there are, waiting among the candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from lerim.errors import StaleError
from lerim.memory import files, slug
from lerim.memory.record import MemoryRecord
from lerim.memory.store import Stored
from lerim.review import actions
from lerim.review.candidates import Proposal, ProposedAction, Target, of_text, one_line, suggested_text
from lerim.review.fingerprints import Fingerprint
from lerim.review.ledger import Known, Ledger, opened
from lerim.review.outcome import AlreadyKnown, Blocked, Proposed
from lerim.review.place import Place

SUGGESTION = "suggestion:"
"""How the source of a suggestion begins in the ledger, where that of a candidate names its session."""
SuggestedAction = Literal["merge", "archive", "consolidate", "refer", "close"]
_NO_CLAIM = Fingerprint(b"", frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Something to be done with these memories, and why, as a sentence.

    `record` is what would be written: the kept memory's new words (merge), the new learning (consolidate), the memory
    with its new references (refer); else the memory it is about (archive, close). `targets` in the order of the action
    (`effects.py`). One with `flags` always waits for a person.
    """

    action: SuggestedAction
    record: MemoryRecord
    targets: tuple[Stored, ...]
    reason: str
    maker: Literal["lead", "maintain"] = "maintain"
    flags: tuple[str, ...] = ()


def suggest(place: Place, suggestion: Suggestion) -> Proposed | Blocked | AlreadyKnown:
    """Put a suggestion before the person, unless it waits or was rejected, and its memories' texts are the same still.

    Raises MemoryError_ where the review folder cannot be written, BusyError.
    """
    with actions.ledger(place) as book:
        return put(place, book, suggestion)


def met(place: Place, suggestion: Suggestion) -> Blocked | AlreadyKnown | None:
    """What `suggest` would say of a suggestion that waits already or was rejected; writes nothing."""
    return met_before(place)(suggestion)


def met_before(place: Place) -> Callable[[Suggestion], Blocked | AlreadyKnown | None]:
    """`met` for many suggestions: the ledger is read once."""
    if files.is_absent(place.private / "review.sqlite3"):
        return lambda _: None
    known: dict[str, list[Known]] = defaultdict(list)
    with opened(place.private, place.moves) as book:
        for one in book.claims("pending", "rejected"):
            known[one.source].append(one)

    def met(suggestion: Suggestion) -> Blocked | AlreadyKnown | None:
        source = _source(suggestion)
        return _met(place, known.get(source, ()), source)

    return met


def preview(place: Place, suggestion: Suggestion) -> Proposal:
    """The proposal a suggestion would be; writes nothing. Its id may be another once it is written."""
    name = slug.new_id(_title(suggestion), datetime.now(UTC).date(), lambda _: False)
    return of_text(_text(suggestion, name), place.review / f"{name}.md", place.store())


def put(place: Place, book: Ledger, suggestion: Suggestion) -> Proposed | Blocked | AlreadyKnown:
    """`suggest` for who holds the ledger already."""
    source = _source(suggestion)
    known = _met(place, book.claims("pending", "rejected"), source)
    if isinstance(known, Blocked):
        return replace(known, times=book.count_block(known.rejected))
    if known is not None:
        return known
    _drop_older(place, book, suggestion)
    return Proposed(_write(place, book, suggestion, source))


def _source(suggestion: Suggestion) -> str:
    about = ",".join(f"{one.id}@{one.hash}" for one in _targets(suggestion))
    places = "\n".join(places_of(suggestion.action, suggestion.record))
    return f"{SUGGESTION}{suggestion.action}:{about}{f'>{files.text_hash(places)}' if places else ''}"


def places_of(action: ProposedAction, memory: MemoryRecord) -> tuple[str, ...]:
    """What a suggestion is about besides its memories: the places they are to refer to."""
    return memory.references if action == "refer" else ()


def _targets(suggestion: Suggestion) -> list[Target]:
    return [Target(one.record.id, one.hash) for one in suggestion.targets]


def _met(place: Place, claims: Iterable[Known], source: str) -> Blocked | AlreadyKnown | None:
    for known in claims:
        if known.source == source and known.state == "rejected":
            return Blocked(known.id, known.blocked)
        if known.source == source and known.state == "pending" and not files.is_absent(place.candidate_path(known.id)):
            return AlreadyKnown(known.id, "It is waiting for review already.")
    return None


def _drop_older(place: Place, book: Ledger, suggestion: Suggestion) -> None:
    """The same suggestion of an earlier day waits no more: it was of texts that changed since."""
    about = {stored.record.id for stored in suggestion.targets}
    prefix = f"{SUGGESTION}{suggestion.action}:"
    for known in book.claims("pending"):
        if not known.source.startswith(prefix):
            continue
        if {one.partition("@")[0] for one in known.source.removeprefix(prefix).split(",")} != about:
            continue
        path = place.candidate_path(known.id)
        if files.is_absent(path):
            continue
        text = files.read_text(path, actions.MAX_ANY_FILE, place.state_anchor)
        if files.text_hash(text) == known.written:
            with suppress(StaleError):  # a person saved it at this very moment: it stays
                files.remove(path, anchor=place.state_anchor, before=text)
                book.set_state(known.id, "withdrawn", note="its memories changed")


def _write(place: Place, book: Ledger, suggestion: Suggestion, source: str) -> Proposal:
    store = place.store()

    def taken(name: str) -> bool:
        return (
            book.known(name) is not None
            or store.path_of(name) is not None
            or not files.is_absent(place.candidate_path(name))
        )

    name = slug.new_id(_title(suggestion), datetime.now(UTC).date(), taken)
    text = _text(suggestion, name)
    book.register(name, source, _NO_CLAIM, "pending", written=files.text_hash(text))
    book.commit()
    place.make_state()
    path = place.candidate_path(name)
    files.make_folder(path.parent, anchor=place.state_anchor)
    files.create(path, text, anchor=place.state_anchor)
    return of_text(text, path, store)


def _title(suggestion: Suggestion) -> str:
    return f"{suggestion.action} {one_line(suggestion.record.title)}"


def _text(suggestion: Suggestion, name: str) -> str:
    now = datetime.now(UTC).replace(microsecond=0)
    memory = replace(suggestion.record, id=name)
    reason = one_line(suggestion.reason)
    return suggested_text(
        memory, suggestion.action, _targets(suggestion), reason, suggestion.maker, now, suggestion.flags
    )
