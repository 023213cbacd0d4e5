"""How long memories live: all lifecycle rules in one place, without access to files or clocks.

- A decision does not age; it ends when a later one on the same subject supersedes it.
- A learning fades with disuse: effective confidence = confidence × max(floor, 1 − days since its last use /
  decay_days). It is archived when that is below `archive_below` and it was unused for more than `grace_days`;
  superseded by the memory it was merged or consolidated into; and archived, longest unused first, when there are more
  than `most_learnings`.
- A question lives until a decision or learning resolves it.
- A theme lives while sessions work on its paths; it is superseded by a newer one, or archived when no session worked on
  any of its paths and no person kept it for `theme_days`, or for `grace_days` if none of them exists any more.
- A summary lives forever and never fades.
- A memory that a person called wrong or outdated is archived, whatever its primitive, unless they kept it later.

A person can restore any memory that ended. A use renews a learning but never makes it truer: only feedback changes the
confidence in its file. What became of a memory in the sessions of agents that were given it (`ServedOutcomes`) changes
what that confidence counts as.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from lerim.config import MaintenanceRules
from lerim.memory.record import MemoryRecord, Primitive

Status = Literal["active", "superseded", "resolved", "archived"]
Feedback = Literal["useful", "wrong", "outdated"]

_DAY = timedelta(days=1)
_END_STATUSES: dict[Primitive, frozenset[Status]] = {
    "decision": frozenset({"superseded", "archived"}),
    "learning": frozenset({"superseded", "archived"}),
    "question": frozenset({"superseded", "resolved", "archived"}),
    "theme": frozenset({"superseded", "archived"}),
    "summary": frozenset(),
}
"""How a memory may end. Rules archive only learnings and themes; a person, or their feedback,
archives the rest."""


@dataclass(frozen=True, slots=True)
class ThemeActivity:
    """Whether any path of a theme exists, and when a session last worked on one."""

    has_existing_paths: bool
    last_worked_on: datetime | None


@dataclass(frozen=True, slots=True)
class ServedOutcomes:
    """In how many sessions since agents were given a memory you repeated it, an agent followed it, and an agent did the
    opposite."""

    repeated: int = 0
    followed: int = 0
    contradicted: int = 0


NO_OUTCOMES = ServedOutcomes()
_MAX_COUNTED_OUTCOMES = 3
_OUTCOME_STEP = 0.1


def confidence_after_outcomes(confidence: float, outcomes: ServedOutcomes) -> float:
    """Returns what a confidence counts as after these outcomes, 0..1.

    Each session in which you repeated the memory, and so confirmed it, moves it a tenth of the way to 1. Each in which
    agents did the opposite and you said nothing, beyond those in which they followed it, takes a tenth of it. At most
    three sessions count, because they are weak evidence.
    """
    confirmed = min(outcomes.repeated, _MAX_COUNTED_OUTCOMES)
    doubted = min(max(0, outcomes.contradicted - outcomes.followed), _MAX_COUNTED_OUTCOMES)
    return (confidence + (1 - confidence) * _OUTCOME_STEP * confirmed) * (1 - _OUTCOME_STEP * doubted)


def effective_confidence(confidence: float, last_use: datetime, now: datetime, rules: MaintenanceRules) -> float:
    """Returns a learning's confidence reduced by disuse, 0..1; at least `floor` times the confidence."""
    unused = max(0.0, (now - last_use) / _DAY)
    return confidence * max(rules.floor, 1 - unused / rules.decay_days)


def find_archive_reason(
    record: MemoryRecord,
    last_use: datetime | None,
    activity: ThemeActivity | None,
    now: datetime,
    rules: MaintenanceRules,
    outcomes: ServedOutcomes = NO_OUTCOMES,
) -> str | None:
    """Returns why a memory should be archived, as a sentence; None while it lives. `activity` is needed for a theme,
    whose `last_use` is when a person last kept it."""
    if record.primitive == "learning":
        return _disuse_reason(record, last_use, now, rules, outcomes)
    if record.primitive == "theme" and activity is not None:
        return _inactive_theme_reason(record, last_use, activity, now, rules)
    return None


def learnings_over_limit(
    learnings: Iterable[tuple[MemoryRecord, datetime, ServedOutcomes]], now: datetime, rules: MaintenanceRules
) -> list[MemoryRecord]:
    """Returns the learnings to archive so that `most_learnings` remain, in the order they go: longest unused first,
    then the lowest effective confidence. Each is passed with the time of its last use and its outcomes; other
    primitives are ignored."""
    found = [
        (used, effective_confidence(confidence_after_outcomes(record.confidence, outcomes), used, now, rules), record)
        for record, used, outcomes in learnings
        if record.primitive == "learning"
    ]
    found.sort(key=lambda one: (*one[:2], one[2].id))
    return [record for *_, record in found[: max(0, len(found) - rules.most_learnings)]]


def confidence_after_feedback(confidence: float, feedback: Feedback) -> float:
    """Returns the confidence after feedback: useful moves it a third of the way to 1, wrong leaves 1/5, outdated
    half."""
    moved = {"useful": confidence + (1 - confidence) / 3, "wrong": confidence / 5, "outdated": confidence / 2}
    return round(moved[feedback], 4)


_FEEDBACK_REASON_PREFIX = "It was called "


def find_unwanted_reason(feedback: Feedback, given_at: datetime, kept_at: datetime | None) -> str | None:
    """Returns why a memory should be archived after this last feedback, as a sentence; None if the person called it
    useful, or did something at `kept_at`, later, to keep it (changed, restored or verified it)."""
    if feedback == "useful" or (kept_at is not None and kept_at > given_at):
        return None
    return f"{_FEEDBACK_REASON_PREFIX}{feedback} on {given_at:%Y-%m-%d}."


def is_feedback_reason(reason: str) -> bool:
    """Returns whether a reason comes from `find_unwanted_reason`."""
    return reason.startswith(_FEEDBACK_REASON_PREFIX)


def is_transition_allowed(status_from: Status, status_to: Status, primitive: Primitive) -> bool:
    """Returns whether a memory can change between two statuses: it ends once, and only a restore reactivates it."""
    if status_from == "active":
        return status_to in _END_STATUSES[primitive]
    return status_from in _END_STATUSES[primitive] and status_to == "active"


def ended_status(how: Literal["superseded", "resolved"], primitive: Primitive) -> Status:
    """Returns the status of a memory that another one says it ended this way: only a question can be resolved."""
    return how if is_transition_allowed("active", how, primitive) else "superseded"


def _disuse_reason(
    record: MemoryRecord,
    last_use: datetime | None,
    now: datetime,
    rules: MaintenanceRules,
    outcomes: ServedOutcomes,
) -> str | None:
    used = max(record.updated, last_use or record.updated)
    unused = now - used
    if unused <= rules.grace_days * _DAY:
        return None
    confidence = confidence_after_outcomes(record.confidence, outcomes)
    left = effective_confidence(confidence, used, now, rules)
    if left >= rules.archive_below:
        return None
    doubt = " and agents that were given it did the opposite" if confidence < record.confidence else ""
    return (
        f"It has not been used for {unused.days} days{doubt}, so its confidence of "
        f"{record.confidence * 100:.0f} % now counts as {left * 100:.0f} %."
    )


def _inactive_theme_reason(
    record: MemoryRecord, kept: datetime | None, activity: ThemeActivity, now: datetime, rules: MaintenanceRules
) -> str | None:
    unworked = now - max(record.updated, kept or record.updated, activity.last_worked_on or record.updated)
    if not activity.has_existing_paths and unworked > rules.grace_days * _DAY:
        return f"None of its files exist any more, and no session worked on them for {unworked.days} days."
    if unworked > rules.theme_days * _DAY:
        return f"No session worked on its files for {unworked.days} days."
    return None
