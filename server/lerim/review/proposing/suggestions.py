"""Suggestions: what maintain, or the lead, proposes to do with memories there are, waiting among the candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from lerim import files
from lerim.errors import StaleError
from lerim.memory import MemoryRecord, StoredMemory, slug
from lerim.review import actions
from lerim.review.candidates import Proposal, ProposedAction, Target, join_lines, parse_candidate, suggestion_text
from lerim.review.comparing import Fingerprint
from lerim.review.ledger import Ledger, LedgerClaim, open_ledger
from lerim.review.results import AlreadyKnown, CandidateProposed, ClaimBlocked
from lerim.review.review_paths import ReviewPaths

SUGGESTION_PREFIX = "suggestion:"
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
    targets: tuple[StoredMemory, ...]
    reason: str
    maker: Literal["lead", "maintain"] = "maintain"
    flags: tuple[str, ...] = ()


def propose_suggestion(paths: ReviewPaths, suggestion: Suggestion) -> CandidateProposed | ClaimBlocked | AlreadyKnown:
    """Put a suggestion before the person, unless it waits or was rejected, and its memories' texts are the same still.

    Raises MemoryError_ where the review folder cannot be written, BusyError.
    """
    with actions.locked_ledger(paths) as ledger:
        return put_suggestion(paths, ledger, suggestion)


def find_earlier_result(paths: ReviewPaths, suggestion: Suggestion) -> ClaimBlocked | AlreadyKnown | None:
    """What `propose_suggestion` would say of a suggestion that waits already or was rejected; writes nothing."""
    return make_earlier_result_lookup(paths)(suggestion)


def make_earlier_result_lookup(paths: ReviewPaths) -> Callable[[Suggestion], ClaimBlocked | AlreadyKnown | None]:
    """`find_earlier_result` for many suggestions: the ledger is read once."""
    if files.is_absent(paths.private / "review.sqlite3"):
        return lambda _: None
    known: dict[str, list[LedgerClaim]] = defaultdict(list)
    with open_ledger(paths.private, paths.moves) as ledger:
        for one in ledger.claims("pending", "rejected"):
            known[one.source].append(one)

    def met(suggestion: Suggestion) -> ClaimBlocked | AlreadyKnown | None:
        source = _source(suggestion)
        return _met(paths, known.get(source, ()), source)

    return met


def preview_suggestion(paths: ReviewPaths, suggestion: Suggestion) -> Proposal:
    """The proposal a suggestion would be; writes nothing. Its id may be another once it is written."""
    name = slug.new_id(_title(suggestion), datetime.now(UTC).date(), lambda _: False)
    return parse_candidate(_text(suggestion, name), paths.review / f"{name}.md", paths.store())


def put_suggestion(
    paths: ReviewPaths, ledger: Ledger, suggestion: Suggestion
) -> CandidateProposed | ClaimBlocked | AlreadyKnown:
    """`propose_suggestion` for who holds the ledger already."""
    source = _source(suggestion)
    known = _met(paths, ledger.claims("pending", "rejected"), source)
    if isinstance(known, ClaimBlocked):
        return replace(known, times=ledger.record_blocked(known.rejected))
    if known is not None:
        return known
    _drop_older(paths, ledger, suggestion)
    return CandidateProposed(_write(paths, ledger, suggestion, source))


def _source(suggestion: Suggestion) -> str:
    target_list = ",".join(f"{one.id}@{one.hash}" for one in _targets(suggestion))
    places = "\n".join(suggested_places(suggestion.action, suggestion.record))
    return f"{SUGGESTION_PREFIX}{suggestion.action}:{target_list}{f'>{files.hash_text(places)}' if places else ''}"


def suggested_places(action: ProposedAction, memory: MemoryRecord) -> tuple[str, ...]:
    """What a suggestion is about besides its memories: the places they are to refer to."""
    return memory.references if action == "refer" else ()


def _targets(suggestion: Suggestion) -> list[Target]:
    return [Target(one.record.id, one.text_hash) for one in suggestion.targets]


def _met(paths: ReviewPaths, claims: Iterable[LedgerClaim], source: str) -> ClaimBlocked | AlreadyKnown | None:
    for known in claims:
        if known.source == source and known.state == "rejected":
            return ClaimBlocked(known.id, known.blocked)
        if known.source == source and known.state == "pending" and not files.is_absent(paths.candidate_path(known.id)):
            return AlreadyKnown(known.id, "It already waits for review.")
    return None


def _drop_older(paths: ReviewPaths, ledger: Ledger, suggestion: Suggestion) -> None:
    """The same suggestion of an earlier day waits no more: it was of texts that changed since."""
    memory_ids = {stored.record.id for stored in suggestion.targets}
    prefix = f"{SUGGESTION_PREFIX}{suggestion.action}:"
    for known in ledger.claims("pending"):
        if not known.source.startswith(prefix):
            continue
        if {one.partition("@")[0] for one in known.source.removeprefix(prefix).split(",")} != memory_ids:
            continue
        path = paths.candidate_path(known.id)
        if files.is_absent(path):
            continue
        text = files.read_text(path, actions.MAX_ANY_FILE, paths.state_anchor)
        if files.hash_text(text) == known.written:
            with suppress(StaleError):  # a person saved it at this very moment: it stays
                files.remove_file(path, anchor=paths.state_anchor, before=text)
                ledger.set_state(known.id, "withdrawn", note="its memories changed")


def _write(paths: ReviewPaths, ledger: Ledger, suggestion: Suggestion, source: str) -> Proposal:
    store = paths.store()

    def taken(name: str) -> bool:
        return (
            ledger.find_claim(name) is not None
            or store.path_of(name) is not None
            or not files.is_absent(paths.candidate_path(name))
        )

    name = slug.new_id(_title(suggestion), datetime.now(UTC).date(), taken)
    text = _text(suggestion, name)
    ledger.register(name, source, _NO_CLAIM, "pending", written=files.hash_text(text))
    ledger.commit()
    paths.make_state_folder()
    path = paths.candidate_path(name)
    files.make_folder(path.parent, anchor=paths.state_anchor)
    files.create_file(path, text, anchor=paths.state_anchor)
    return parse_candidate(text, path, store)


def _title(suggestion: Suggestion) -> str:
    return f"{suggestion.action} {join_lines(suggestion.record.title)}"


def _text(suggestion: Suggestion, name: str) -> str:
    now = datetime.now(UTC).replace(microsecond=0)
    memory = replace(suggestion.record, id=name)
    reason = join_lines(suggestion.reason)
    return suggestion_text(
        memory, suggestion.action, _targets(suggestion), reason, suggestion.maker, now, suggestion.flags
    )
