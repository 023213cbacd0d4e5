"""What was left out, listed; and proposed anyway, because a person wants it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from lerim import files
from lerim.errors import NotFoundError
from lerim.extraction import Candidate, DroppedSignal
from lerim.memory import new_id
from lerim.review import actions
from lerim.review.candidates import candidate_text, new_record
from lerim.review.ledger import (
    DROP_REASON_FLAGS,
    DROP_REASON_TEXTS,
    MAX_LEFT_OUT,
    ClaimState,
    FileChange,
    Ledger,
    LeftOut,
    open_ledger,
)
from lerim.review.results import ReviewResult
from lerim.review.review_paths import ReviewPaths


def keep_left_out(place: ReviewPaths, items: Sequence[DroppedSignal], now: datetime | None = None) -> None:
    """Keep what a sync did not propose. What has no words is only counted. Raises MemoryError_."""
    told = [item for item in items if item.title.strip()]
    if not told:
        return
    place.make_private()
    with open_ledger(place.private, place.moves) as book:
        book.left_out.keep(told, now or datetime.now(UTC))


def list_left_out(place: ReviewPaths, session: str = "", most: int = MAX_LEFT_OUT) -> tuple[list[LeftOut], int]:
    """What was left out and is not proposed, what was said last first, and how much there is; of one `session`, by the
    beginning of its id, or of all. Writes nothing."""
    if files.is_absent(place.private / "review.sqlite3"):
        return [], 0
    with open_ledger(place.private, place.moves) as book:
        return book.left_out.listed(session, most), book.left_out.count(session)


def propose_anyway(place: ReviewPaths, given: str) -> ReviewResult:
    """Make a candidate of what was left out, by its id or a beginning of it; it waits like any other.

    It is an addition, whatever says the same already: the person has read that it was left out for it. What is doubtful
    is flagged, so that nothing accepts it unseen. Raises NotFoundError, UsageError, MemoryError_, BusyError.
    """
    with actions.locked_ledger(place) as book:
        item = book.left_out.named(given)
        if item.candidate is None:
            raise NotFoundError(
                f"“{item.title}” cannot be proposed: {DROP_REASON_TEXTS[item.reason]}.",
                todo="Write it yourself with `lerim memory add`.",
            )
        known = book.known(item.proposed) if item.proposed else None
        if known is not None and known.state != "withdrawn":
            return ReviewResult(True, "already", "It was proposed before.", path=str(place.candidate_path(known.id)))
        return _propose(place, book, item, item.candidate)


def _propose(place: ReviewPaths, book: Ledger, item: LeftOut, candidate: Candidate) -> ReviewResult:
    flag = DROP_REASON_FLAGS.get(item.reason)
    flags = tuple(dict.fromkeys((*candidate.flags, *((flag,) if flag else ()))))
    candidate = replace(candidate, flags=flags)
    candidate_id = _new_id(place, book, candidate)
    reason = f"You proposed it; it had been left out because {DROP_REASON_TEXTS[item.reason]}."
    record = new_record(candidate, candidate_id)
    text = candidate_text(candidate, record, "add", (), reason=reason, maker="person")
    mark = book.fingerprint(candidate.title, candidate.body)
    states: tuple[ClaimState, ClaimState] = ("withdrawn", "pending")
    # `perform` commits this with its own first step: a kill leaves all of it or nothing
    book.register(
        *(candidate_id, candidate.source, mark, states[0]),
        written=files.hash_text(text),
        said=candidate.time,
        told=candidate,
    )
    book.left_out.set_proposed(item.id, candidate_id)
    path = place.candidate_path(candidate_id)
    change = FileChange("review", str(place.state_anchor), str(path), None, text)
    label = f"Proposed: {record.title}"
    done = actions.perform_action(place, book, "propose", label, candidate_id, states, [change], judged="wanted")
    return ReviewResult(True, "proposed", label, done.id, str(path))


def _new_id(place: ReviewPaths, book: Ledger, candidate: Candidate) -> str:
    store, known = place.store(), book.states()

    def taken(name: str) -> bool:
        return store.path_of(name) is not None or name in known or not files.is_absent(place.candidate_path(name))

    return new_id(candidate.title, candidate.time.date(), taken)
