"""Claims that were left out: saving them, listing them, and proposing one because a person wants it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lerim import files
from lerim.errors import NotFoundError
from lerim.extraction import Candidate, DroppedSignal
from lerim.review import actions
from lerim.review.candidates import candidate_text, free_candidate_id, new_record
from lerim.review.ledger import (
    DROP_REASON_FLAGS,
    DROP_REASON_TEXTS,
    MAX_LEFT_OUT,
    ClaimState,
    FileChange,
    Ledger,
    LeftOut,
)
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def keep_left_out(paths: ReviewPaths, items: Sequence[DroppedSignal], now: datetime | None = None) -> None:
    """Saves the claims that a sync did not propose, except those without a title. Raises MemoryError_."""
    titled_items = [item for item in items if item.title.strip()]
    if not titled_items:
        return
    paths.make_private_folder()
    with paths.open_ledger() as ledger:
        ledger.left_out.save(titled_items, now or datetime.now(UTC))


def list_left_out(paths: ReviewPaths, session: str = "", most: int = MAX_LEFT_OUT) -> tuple[list[LeftOut], int]:
    """Returns the claims that were left out and have not been proposed since, the latest turn first, and their total
    number. `session` limits both to sessions whose id has this prefix. Writes nothing."""
    with paths.open_ledger_if_any() as ledger:
        if ledger is None:
            return [], 0
        return ledger.left_out.list_open(session, most), ledger.left_out.count(session)


def propose_anyway(paths: ReviewPaths, given: str) -> ReviewResult:
    """Makes a waiting candidate from a left-out claim, given by its id or a unique prefix of it.

    The candidate is an addition even if a memory says the same, because the person has seen that this was the
    reason. If the reason makes the claim doubtful, the candidate is flagged, so that it is not accepted
    automatically. Raises NotFoundError, UsageError, MemoryError_, BusyError.
    """
    with actions.locked_ledger(paths) as ledger:
        item = ledger.left_out.find_by_prefix(given)
        if item.candidate is None:
            raise NotFoundError(
                f"“{item.title}” cannot be proposed: {DROP_REASON_TEXTS[item.reason]}.",
                todo="Add it as a memory yourself.",
            )
        known = ledger.find_claim(item.proposed) if item.proposed else None
        if known is not None and known.state != "withdrawn":
            waiting = (known.id,) if known.state == "pending" else ()
            path = str(paths.candidate_path(known.id))
            return ReviewResult(True, "already", "It was proposed before.", path=path, waiting=waiting)
        return _propose(paths, ledger, item, item.candidate)


def _propose(paths: ReviewPaths, ledger: Ledger, item: LeftOut, candidate: Candidate) -> ReviewResult:
    flag = DROP_REASON_FLAGS.get(item.reason)
    flags = tuple(dict.fromkeys((*candidate.flags, *((flag,) if flag else ()))))
    candidate = replace(candidate, flags=flags)
    day = candidate.time.date()
    candidate_id = free_candidate_id(paths, paths.store(), candidate.title, day, ledger.states())
    reason = f"You proposed it; it had been left out because {DROP_REASON_TEXTS[item.reason]}."
    record = new_record(candidate, candidate_id)
    text = candidate_text(candidate, record, "add", (), reason=reason, maker="person")
    mark = ledger.fingerprint(candidate.title, candidate.body)
    states: tuple[ClaimState, ClaimState] = ("withdrawn", "pending")
    # `perform_action` commits this in its first transaction, so a kill leaves all of it or nothing.
    ledger.register(
        *(candidate_id, candidate.source, mark, states[0]),
        written=files.hash_text(text),
        last_said=candidate.time,
        proposed=candidate,
    )
    ledger.left_out.set_proposed(item.id, candidate_id)
    path = paths.candidate_path(candidate_id)
    change = FileChange("review", str(paths.state_anchor), str(path), None, text)
    label = f"Proposed: {record.title}"
    done = actions.perform_action(paths, ledger, "propose", label, candidate_id, states, [change], judged="wanted")
    return ReviewResult(True, "proposed", label, done.id, str(path), waiting=(candidate_id,))
