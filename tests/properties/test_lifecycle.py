"""Every rule of memories' lives (memory/lifecycle.py), for any age, confidence and use."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from lerim.config.schema import MaintenanceRules
from lerim.memory.lifecycle import (
    NO_OUTCOMES,
    Feedback,
    ServedOutcomes,
    Status,
    ThemeActivity,
    confidence_after_feedback,
    confidence_after_outcomes,
    effective_confidence,
    ended_status,
    find_archive_reason,
    is_transition_allowed,
    learnings_over_limit,
)
from lerim.memory.record import LearningKind, MemoryRecord, Primitive

BORN = datetime(2025, 1, 1, tzinfo=UTC)
PRIMITIVES = get_args(Primitive)
STATUSES: tuple[Status, ...] = get_args(Status)
shares = st.floats(0, 1, allow_nan=False)
days = st.integers(0, 5000)
rules = st.builds(
    MaintenanceRules,
    decay_days=st.integers(1, 1000),
    floor=shares,
    archive_below=shares,
    grace_days=st.integers(0, 400),
    most_learnings=st.integers(10, 30),
    theme_days=st.integers(1, 400),
)
grounds = st.none() | st.builds(
    ThemeActivity, st.booleans(), st.none() | days.map(lambda age: BORN + timedelta(days=age))
)


def day(number: float) -> datetime:
    return BORN + timedelta(days=number)


def memory(primitive: Primitive, confidence: float = 0.8, number: int = 0, updated: int = 0) -> MemoryRecord:
    kind: LearningKind | None = "pitfall" if primitive == "learning" else None
    when = day(updated)
    return MemoryRecord(f"20250101-m{number}", primitive, "T", when, when, "manual", confidence, (), "", kind=kind)


@given(shares, days, days, rules)
def test_what_a_learning_counts_only_falls_with_disuse_and_never_below_its_floor(
    confidence: float, sooner: int, more: int, rules: MaintenanceRules
) -> None:
    first = effective_confidence(confidence, BORN, day(sooner), rules)
    later = effective_confidence(confidence, BORN, day(sooner + more), rules)
    assert confidence * rules.floor <= later <= first <= confidence
    assert effective_confidence(confidence, BORN, BORN, rules) == confidence
    assert effective_confidence(confidence, BORN, day(rules.decay_days + more), rules) == confidence * rules.floor


@given(shares, days, days, rules)
def test_a_use_renews_a_learning(confidence: float, age: int, since: int, rules: MaintenanceRules) -> None:
    used, now = day(age), day(age + since)
    assert effective_confidence(confidence, used, now, rules) >= effective_confidence(confidence, BORN, now, rules)
    assert effective_confidence(confidence, now, now, rules) == confidence
    assert find_archive_reason(memory("learning", confidence), now, None, now, rules) is None
    if find_archive_reason(memory("learning", confidence), used, None, now, rules) is not None:
        assert find_archive_reason(memory("learning", confidence), None, None, now, rules) is not None


@given(st.sampled_from(["decision", "question", "summary"]), shares, st.none() | days, grounds, days, rules)
def test_no_decision_question_or_summary_ends_by_age(
    primitive: Primitive,
    confidence: float,
    used: int | None,
    ground: ThemeActivity | None,
    age: int,
    rules: MaintenanceRules,
) -> None:
    last = None if used is None else day(used)
    assert find_archive_reason(memory(primitive, confidence), last, ground, day(age), rules) is None


@given(shares, days, rules)
def test_a_learning_is_due_exactly_below_the_threshold_outside_the_grace(
    confidence: float, unused: int, rules: MaintenanceRules
) -> None:
    now = day(unused)
    faded = effective_confidence(confidence, BORN, now, rules) < rules.archive_below
    assert (find_archive_reason(memory("learning", confidence), None, None, now, rules) is not None) == (
        faded and unused > rules.grace_days
    )


@given(days, st.booleans(), st.none() | days, st.none() | days, rules)
def test_a_theme_lives_exactly_while_its_ground_is_worked_on_or_a_person_keeps_it(
    age: int, alive: bool, worked: int | None, kept: int | None, rules: MaintenanceRules
) -> None:
    ground = ThemeActivity(alive, None if worked is None else day(worked))
    idle = age - max(0, worked or 0, kept or 0)
    least = rules.theme_days if alive else min(rules.theme_days, rules.grace_days)
    found = find_archive_reason(memory("theme"), None if kept is None else day(kept), ground, day(age), rules)
    assert (found is not None) == (idle > least)
    assert find_archive_reason(memory("theme"), None, None, day(age), rules) is None


counts = st.integers(0, 9)


@given(shares, counts, counts, counts)
def test_repeating_a_memory_confirms_it_and_acting_against_it_casts_doubt_both_only_a_little(
    confidence: float, repeated: int, followed: int, contradicted: int
) -> None:
    after = confidence_after_outcomes(confidence, ServedOutcomes(repeated, followed, contradicted))
    assert 0.7 * confidence <= after <= 1
    assert confidence_after_outcomes(confidence, ServedOutcomes(repeated + 1, followed, contradicted)) >= after
    assert confidence_after_outcomes(confidence, ServedOutcomes(repeated, followed + 1, contradicted)) >= after
    assert confidence_after_outcomes(confidence, ServedOutcomes(repeated, followed, contradicted + 1)) <= after
    assert confidence_after_outcomes(confidence, ServedOutcomes(0, followed, followed)) == confidence


@given(st.lists(st.tuples(st.sampled_from(PRIMITIVES), shares, st.integers(0, 400)), max_size=60), st.randoms(), rules)
def test_the_bound_takes_the_learnings_unused_for_longest_and_nothing_else(
    stored: list[tuple[Primitive, float, int]], draw: object, rules: MaintenanceRules
) -> None:
    given_ = [(memory(kind, sure, at), day(used), NO_OUTCOMES) for at, (kind, sure, used) in enumerate(stored)]
    learnings = {record.id: used for record, used, _ in given_ if record.primitive == "learning"}
    gone = learnings_over_limit(given_, day(500), rules)
    assert len(gone) == max(0, len(learnings) - rules.most_learnings)
    ids = {record.id for record in gone}
    assert ids <= learnings.keys()
    kept = [used for id_, used in learnings.items() if id_ not in ids]
    assert all(learnings[id_] <= used for id_ in ids for used in kept)
    draw.shuffle(given_)  # type: ignore[attr-defined]
    assert learnings_over_limit(given_, day(500), rules) == gone


@given(shares, st.sampled_from(get_args(Feedback)))
def test_feedback_moves_the_confidence_its_way_and_stays_a_share(confidence: float, feedback: Feedback) -> None:
    moved = confidence_after_feedback(confidence, feedback)
    assert 0 <= moved <= 1
    assert moved >= confidence - 1e-4 if feedback == "useful" else moved <= confidence + 1e-4
    assert confidence_after_feedback(confidence, "wrong") <= confidence_after_feedback(confidence, "outdated") + 1e-4


def test_every_way_a_memory_may_end_is_one_it_may_go_and_come_back_from() -> None:
    ends = {
        primitive: {status for status in STATUSES if is_transition_allowed("active", status, primitive)}
        for primitive in PRIMITIVES
    }
    assert ends == {
        "decision": {"superseded", "archived"},
        "learning": {"superseded", "archived"},
        "question": {"superseded", "resolved", "archived"},
        "theme": {"superseded", "archived"},
        "summary": set(),
    }
    for primitive in PRIMITIVES:
        for status, other in product(STATUSES, STATUSES):
            # what ended goes nowhere but back, and back only from where it can have gone
            allowed = (status == "active" and other in ends[primitive]) or (
                other == "active" and status in ends[primitive]
            )
            assert is_transition_allowed(status, other, primitive) == allowed
        assert ended_status("superseded", primitive) == "superseded"
        assert ended_status("resolved", primitive) == ("resolved" if primitive == "question" else "superseded")


def test_each_reason_has_its_figures() -> None:
    rules, late = MaintenanceRules(), day(1000)
    assert find_archive_reason(memory("learning", 0.8), None, None, late, rules) == (
        "It has not been used for 1000 days, so its confidence of 80 % now counts as 8 %."
    )
    assert find_archive_reason(memory("theme"), None, ThemeActivity(False, None), day(31), rules) == (
        "None of its files exist any more, and no session worked on them for 31 days."
    )
    assert find_archive_reason(memory("theme"), None, ThemeActivity(True, None), day(46), rules) == (
        "No session worked on its files for 46 days."
    )
