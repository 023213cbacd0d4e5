"""How long memories live: the one place where the rules of their lives are, without files or clocks.

- A decision lives for ever, whatever its age; it ends superseded by a later one on the same ground.
- A learning fades with disuse: effective = confidence × max(floor, 1 − days since its last use / decay_days). It is
  archived where that is below `archive_below` and it was unused for `grace_days`; superseded by what it was merged or
  consolidated into; and archived, the longest unused first, where there are more than `most_learnings`.
- A question lives until a decision or learning resolves it.
- A theme lives while its ground is worked on; superseded by a newer one, or archived once no session worked on any of
  its places for `theme_days`, or for `grace_days` where none of them is there any more.
- A summary lives for ever and never fades.
- A memory that a person called wrong or outdated, and did nothing since to keep, is archived, whatever it is.

What ended can be restored by a person. A use renews a learning and never makes it truer: only feedback moves the
confidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from lerim.config import Rules
from lerim.memory.record import MemoryRecord, Primitive

Status = Literal["active", "superseded", "resolved", "archived"]
Feedback = Literal["useful", "wrong", "outdated"]

_DAY = timedelta(days=1)
_ENDS: dict[Primitive, frozenset[Status]] = {
    "decision": frozenset({"superseded", "archived"}),
    "learning": frozenset({"superseded", "archived"}),
    "question": frozenset({"superseded", "resolved", "archived"}),
    "theme": frozenset({"superseded", "archived"}),
    "summary": frozenset(),
}
"""How a memory may end; archived by a rule only if it is a learning or a theme, else by a person or on their word."""


@dataclass(frozen=True, slots=True)
class ThemeGround:
    """What a theme is about: whether any of its places is in the tree, and when sessions last worked on one."""

    paths_alive: bool
    worked_on: datetime | None


def effective_confidence(confidence: float, last_use: datetime, now: datetime, rules: Rules) -> float:
    """How much a learning counts now, 0..1: its confidence less what disuse took, at least `floor` of it."""
    unused = max(0.0, (now - last_use) / _DAY)
    return confidence * max(rules.floor, 1 - unused / rules.decay_days)


def find_archive_reason(
    record: MemoryRecord, last_use: datetime | None, ground: ThemeGround | None, now: datetime, rules: Rules
) -> str | None:
    """Why a memory should be archived, as a sentence; None while it lives. `ground` is that of a theme."""
    if record.primitive == "learning":
        return _unused(record, last_use, now, rules)
    if record.primitive == "theme" and ground is not None:
        return _stale(record, ground, now, rules)
    return None


def learnings_over_limit(
    learnings: Iterable[tuple[MemoryRecord, datetime]], now: datetime, rules: Rules
) -> list[MemoryRecord]:
    """The learnings to archive so that `most_learnings` stay, in the order they go: those unused for longest first, of
    those used at one time the least sure. Each is given with the time of its last use; other primitives never go."""
    found = [
        (used, effective_confidence(record.confidence, used, now, rules), record.id, record)
        for record, used in learnings
        if record.primitive == "learning"
    ]
    found.sort(key=lambda one: one[:3])
    return [record for *_, record in found[: max(0, len(found) - rules.most_learnings)]]


def confidence_after_feedback(confidence: float, feedback: Feedback) -> float:
    """The confidence after a person's word: useful takes it a third of the way to 1, wrong to a fifth of it, outdated
    to a half."""
    moved = {"useful": confidence + (1 - confidence) / 3, "wrong": confidence / 5, "outdated": confidence / 2}
    return round(moved[feedback], 4)


_CALLED = "It was called "


def find_unwanted_reason(said: Feedback, at: datetime, kept: datetime | None) -> str | None:
    """Why a memory should be archived of which a person said this last, as a sentence; None where they called it
    useful, or `kept` it later: changed, restored or verified it."""
    if said == "useful" or (kept is not None and kept > at):
        return None
    return f"{_CALLED}{said} on {at:%Y-%m-%d}."


def is_feedback_reason(reason: str) -> bool:
    """Whether this is such a reason."""
    return reason.startswith(_CALLED)


def is_transition_allowed(status_from: Status, status_to: Status, primitive: Primitive) -> bool:
    """Whether a memory can go from one status to the other: it ends once, and comes back only by being restored."""
    if status_from == "active":
        return status_to in _ENDS[primitive]
    return status_from in _ENDS[primitive] and status_to == "active"


def ended_status(how: Literal["superseded", "resolved"], primitive: Primitive) -> Status:
    """The status of a memory that another one says it ended so: nothing but a question is ever resolved."""
    return how if is_transition_allowed("active", how, primitive) else "superseded"


def _unused(record: MemoryRecord, last_use: datetime | None, now: datetime, rules: Rules) -> str | None:
    used = max(record.updated, last_use or record.updated)
    unused = now - used
    if unused <= rules.grace_days * _DAY:
        return None
    left = effective_confidence(record.confidence, used, now, rules)
    if left >= rules.archive_below:
        return None
    return (
        f"It was not used for {unused.days} days, so its confidence of "
        f"{record.confidence:.2f} counts as {left:.2f} now."
    )


def _stale(record: MemoryRecord, ground: ThemeGround, now: datetime, rules: Rules) -> str | None:
    unworked = now - max(record.updated, ground.worked_on or record.updated)
    if not ground.paths_alive and unworked > rules.grace_days * _DAY:
        return f"None of its files exist any more, and no session worked on them for {unworked.days} days."
    if unworked > rules.theme_days * _DAY:
        return f"No session worked on its files for {unworked.days} days."
    return None
