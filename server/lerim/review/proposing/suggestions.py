"""Suggestions: changes to existing memories that maintain proposes. They wait among the candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import combinations
from typing import Literal

from lerim import files
from lerim.errors import StaleError
from lerim.memory import MemoryRecord, StoredMemory, slug
from lerim.review import actions
from lerim.review.candidates import (
    Proposal,
    ProposedAction,
    Target,
    free_candidate_id,
    join_lines,
    parse_candidate,
    suggestion_text,
)
from lerim.review.compare import Fingerprint
from lerim.review.ledger import Ledger, LedgerClaim
from lerim.review.results import AlreadyKnown, CandidateProposed, ClaimBlocked
from lerim.review.review_paths import ReviewPaths

SUGGESTION_PREFIX = "suggestion:"
"""The prefix of a suggestion's source in the ledger. The source of a session's candidate is the session instead."""
SuggestedAction = Literal["merge", "archive", "consolidate", "refer", "close"]
_EMPTY_FINGERPRINT = Fingerprint(b"", frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A proposed action on existing memories, with its reason as a sentence.

    `record` is the memory that would be written: the remaining memory with its new words (merge), the new learning
    (consolidate), or the memory with its new references (refer). For archive and close, it is the memory concerned.
    `targets` are in the order that the action expects (`accepting/effects.py`). A suggestion with `flags` always
    waits for a person.
    """

    action: SuggestedAction
    record: MemoryRecord
    targets: tuple[StoredMemory, ...]
    reason: str
    flags: tuple[str, ...] = ()


def propose_suggestion(paths: ReviewPaths, suggestion: Suggestion) -> CandidateProposed | ClaimBlocked | AlreadyKnown:
    """Proposes a suggestion, unless the same one, for the same texts of its memories, already waits or was rejected.

    Raises MemoryError_ if the review folder cannot be written, BusyError.
    """
    source = _source(suggestion)
    with actions.locked_ledger(paths) as ledger:
        known = _find_earlier_claim(paths, ledger.claims("pending", "rejected"), source)
        if isinstance(known, ClaimBlocked):
            return replace(known, times=ledger.record_blocked(known.rejected))
        if known is not None:
            return known
        _withdraw_older(paths, ledger, suggestion)
        return CandidateProposed(_write(paths, ledger, suggestion, source))


def make_earlier_result_lookup(paths: ReviewPaths) -> Callable[[Suggestion], ClaimBlocked | AlreadyKnown | None]:
    """Returns a function that maps a suggestion to the result that `propose_suggestion` would have if the suggestion
    already waits or was rejected, and to None otherwise. The function reads the ledger only once and writes nothing."""
    claims_by_source: dict[str, list[LedgerClaim]] = defaultdict(list)
    with paths.open_ledger_if_any() as ledger:
        for one in ledger.claims("pending", "rejected") if ledger is not None else ():
            claims_by_source[one.source].append(one)

    def find_result(suggestion: Suggestion) -> ClaimBlocked | AlreadyKnown | None:
        source = _source(suggestion)
        return _find_earlier_claim(paths, claims_by_source.get(source, ()), source)

    return find_result


def rejected_merges(ledger: Ledger) -> set[frozenset[str]]:
    """Returns the pairs of memories, by their ids, that the person did not want to merge."""
    prefix = f"{SUGGESTION_PREFIX}merge:"
    merges = [one.source.removeprefix(prefix) for one in ledger.claims("rejected") if one.source.startswith(prefix)]
    members = ([target.partition("@")[0] for target in merge.split(",")] for merge in merges)
    return {frozenset(pair) for merged in members for pair in combinations(merged, 2)}


def preview_suggestion(paths: ReviewPaths, suggestion: Suggestion) -> Proposal:
    """Returns the proposal that a suggestion would become. Writes nothing; when the proposal is written, it may get
    another id."""
    name = slug.new_id(_name_title(suggestion), datetime.now(UTC).date(), lambda _: False)
    return parse_candidate(_candidate_text(suggestion, name), paths.review / f"{name}.md", paths.store())


def _source(suggestion: Suggestion) -> str:
    target_list = ",".join(f"{one.id}@{one.hash}" for one in _targets(suggestion))
    places = "\n".join(suggested_places(suggestion.action, suggestion.record))
    return f"{SUGGESTION_PREFIX}{suggestion.action}:{target_list}{f'>{files.hash_text(places)}' if places else ''}"


def suggested_places(action: ProposedAction, memory: MemoryRecord) -> tuple[str, ...]:
    """Returns the references that, together with its memories, identify a suggestion: those that "refer" would set."""
    return memory.references if action == "refer" else ()


def _targets(suggestion: Suggestion) -> list[Target]:
    return [Target(one.record.id, one.text_hash) for one in suggestion.targets]


def _find_earlier_claim(
    paths: ReviewPaths, claims: Iterable[LedgerClaim], source: str
) -> ClaimBlocked | AlreadyKnown | None:
    for known in claims:
        if known.source == source and known.state == "rejected":
            return ClaimBlocked(known.id, known.blocked)
        if known.source == source and known.state == "pending" and not files.is_absent(paths.candidate_path(known.id)):
            return AlreadyKnown(known.id, "It already waits for review.")
    return None


def _withdraw_older(paths: ReviewPaths, ledger: Ledger, suggestion: Suggestion) -> None:
    """Withdraws earlier waiting suggestions of the same action for the same memories, because the texts of the
    memories have changed since. A suggestion that a person edited stays."""
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
            with suppress(StaleError):  # a person saved the file just now: it stays
                files.remove_file(path, anchor=paths.state_anchor, before=text)
                ledger.set_state(known.id, "withdrawn", note="its memories changed")


def _write(paths: ReviewPaths, ledger: Ledger, suggestion: Suggestion, source: str) -> Proposal:
    day = datetime.now(UTC).date()
    name = free_candidate_id(paths, paths.store(), _name_title(suggestion), day, ledger.states())
    text = _candidate_text(suggestion, name)
    ledger.register(name, source, _EMPTY_FINGERPRINT, "pending", written=files.hash_text(text))
    return actions.write_candidate(paths, ledger, name, text)


def _name_title(suggestion: Suggestion) -> str:
    return f"{suggestion.action} {join_lines(suggestion.record.title)}"


def _candidate_text(suggestion: Suggestion, name: str) -> str:
    now = datetime.now(UTC).replace(microsecond=0)
    memory = replace(suggestion.record, id=name)
    reason = join_lines(suggestion.reason)
    return suggestion_text(memory, suggestion.action, _targets(suggestion), reason, "maintain", now, suggestion.flags)
