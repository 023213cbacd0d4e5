"""Claims that a coding agent submits itself. They always wait for a person, whatever the review setting is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from lerim import files
from lerim.errors import BusyError
from lerim.memory import MemoryRecord, MemorySearch, StoredMemory, claim_text
from lerim.review import actions
from lerim.review.candidates import ProposedAction, Target, free_candidate_id, join_lines, suggestion_text
from lerim.review.compare import MAX_SEARCHED_NEIGHBOURS, Fingerprint, find_neighbours
from lerim.review.ledger import Ledger
from lerim.review.proposing.claims import open_memory_search
from lerim.review.results import AlreadyKnown, CandidateProposed, ClaimBlocked
from lerim.review.review_paths import ReviewPaths

AGENT_PREFIX = "agent:"
"""The prefix of the source of a claim that an agent submitted; the agent's name follows."""
SAID_BY_AGENT = "said-by-an-agent"
"""The flag of such a candidate."""
MAX_CLAIMS_PER_HOUR = 10


def propose_from_agent(
    paths: ReviewPaths, memory: MemoryRecord, now: datetime
) -> CandidateProposed | ClaimBlocked | AlreadyKnown:
    """Makes a waiting candidate from a claim that an agent submits, unless the claim was rejected, already waits, or a
    memory says the same. `memory.source` consists of AGENT_PREFIX and the agent's name.

    Raises BusyError after MAX_CLAIMS_PER_HOUR claims in the last hour, or if another process holds the review;
    MemoryError_ if the review folder cannot be written.
    """
    with actions.locked_ledger(paths) as ledger:
        fingerprint = ledger.fingerprint(memory.title, memory.body)
        with open_memory_search(paths, None) as search:
            known = find_known_claim(paths, ledger, memory, fingerprint, search)
        if known is not None:
            return known
        recent = [one for one in ledger.claims() if one.source.startswith(AGENT_PREFIX)]
        if sum(one.last_said > now - timedelta(hours=1) for one in recent) >= MAX_CLAIMS_PER_HOUR:
            raise BusyError(
                f"Agents have proposed {MAX_CLAIMS_PER_HOUR} memories here in the last hour, which is the limit.",
                todo="Propose the most useful ones later.",
            )
        return propose_claim(paths, ledger, memory, fingerprint, now, "agent", (SAID_BY_AGENT,))


def propose_claim(
    paths: ReviewPaths,
    ledger: Ledger,
    memory: MemoryRecord,
    fingerprint: Fingerprint,
    now: datetime,
    maker: Literal["agent", "file"],
    flags: Sequence[str],
    reason: str = "",
    changed: StoredMemory | None = None,
) -> CandidateProposed:
    """Makes a waiting candidate from a claim that comes from no session. If `changed` is given, accepting the
    candidate changes that memory. Raises MemoryError_."""
    name = free_candidate_id(paths, paths.store(), join_lines(memory.title), now.date(), ledger.states())
    action: ProposedAction = "add" if changed is None else "update"
    targets = () if changed is None else (Target(changed.record.id, changed.text_hash),)
    text = suggestion_text(replace(memory, id=name), action, targets, reason, maker, now, flags)
    ledger.register(name, memory.source, fingerprint, "pending", written=files.hash_text(text), last_said=now)
    return CandidateProposed(actions.write_candidate(paths, ledger, name, text))


def find_known_claim(
    paths: ReviewPaths,
    ledger: Ledger,
    memory: MemoryRecord,
    fingerprint: Fingerprint,
    search: MemorySearch,
    *,
    count: bool = True,
    by_title: bool = False,
) -> ClaimBlocked | AlreadyKnown | None:
    """Returns why a claim is not proposed: it was rejected (with `count`, this is counted), it already waits, or a
    memory says the same. Returns None if the claim is new. With `by_title`, a memory of any kind with the same title
    also says the same."""
    for one in ledger.claims_like(memory.source, fingerprint):
        if one.fingerprint.text != fingerprint.text:
            continue
        if one.state == "rejected":
            return ClaimBlocked(one.id, ledger.record_blocked(one.id) if count else one.blocked)
        if one.state == "pending" and not files.is_absent(paths.candidate_path(one.id)):
            return AlreadyKnown(one.id, "It already waits for review.")
    said = claim_text(memory.title, memory.body)
    for found in find_neighbours(search, paths.store(), memory.title, memory.body, MAX_SEARCHED_NEIGHBOURS):
        record = found.stored.record
        is_same = record.primitive == memory.primitive and claim_text(record.title, record.body) == said
        if is_same or (by_title and claim_text(record.title, "") == claim_text(memory.title, "")):
            return AlreadyKnown(record.id, f"“{record.title}” says the same already.")
    return None
