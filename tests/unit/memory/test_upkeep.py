"""What should become of the memories of a store: the plan, without files."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lerim.config.schema import MaintenanceRules
from lerim.maintenance.plan import PlanInputs, PlannedSuggestion, plan_maintenance
from lerim.memory.freshness.drift_summary import Drift, DriftSummary
from lerim.memory.lifecycle import ServedOutcomes, Status
from lerim.memory.record import Evidence, LearningKind, MemoryRecord, Primitive
from lerim.memory.store import StoredMemory

NOW = datetime(2026, 8, 1, tzinfo=UTC)
RULES = MaintenanceRules()


def memory(
    title: str,
    body: str = "",
    *,
    days: int = 1,
    primitive: Primitive = "decision",
    kind: LearningKind | None = None,
    confidence: float = 0.8,
    references: tuple[str, ...] = (),
    status: Status = "active",
) -> StoredMemory:
    """A memory said so many days before NOW."""
    time = NOW - timedelta(days=days)
    name = f"{time:%Y%m%d}-{'-'.join(title.lower().split())[:40]}"
    record = MemoryRecord(
        *(name, primitive, title, time, time, "claude:s#t", confidence, (), body),
        kind=kind or ("pitfall" if primitive == "learning" else None),
        references=references,
        evidence=(Evidence(f"said {title}", f"turn-{days}", "user"),),
    )
    return StoredMemory(record, Path(f"{record.id}.md"), (1, 1, 1), f"hash-{record.id}", status)


def planned(
    *memories: StoredMemory,
    drift_by_memory: Mapping[str, Drift] = {},
    moved_references: Mapping[str, Mapping[str, str]] = {},
    rules: MaintenanceRules = RULES,
    outcomes: Mapping[str, ServedOutcomes] = {},
    kept_apart: Collection[frozenset[str]] = (),
) -> list[PlannedSuggestion]:
    inputs = PlanInputs(NOW, rules, {}, DriftSummary(drift_by_memory, moved_references))
    return plan_maintenance(memories, replace(inputs, outcomes=outcomes, kept_apart=kept_apart))


def summarise(found: list[PlannedSuggestion]) -> list[tuple[str, str, list[str]]]:
    return [
        (one.category, one.suggestion.action, [target.record.title for target in one.suggestion.targets])
        for one in found
    ]


UPLOADS = "Uploads to the archive bucket are retried by `upload.py` with a pause between them."


def test_two_rules_are_not_merged_for_a_short_one_that_is_a_part_of_both() -> None:
    short = memory("Use uv to install packages", "Installs go through uv.", days=30)
    first = memory("Use uv to install packages in Docker", "Installs go through uv.", days=20)
    second = memory("Use uv to install packages in CI", "Installs go through uv.", days=10)
    for one in planned(short, first, second):
        assert len(one.suggestion.targets) == 2


def test_rules_side_by_side_and_memories_of_another_kind_stay() -> None:
    assert planned(memory("Run `make check`", UPLOADS), memory("Run `make ci`", UPLOADS)) == []
    learned = memory("Retry uploads 3 times", UPLOADS, primitive="learning")
    assert planned(memory("Retry uploads 3 times", UPLOADS), learned) == []


def test_an_open_question_is_closed_by_a_later_decision_that_answers_it() -> None:
    asked = memory("Should we use Redis or DuckDB for the cache?", primitive="question", days=20)
    decided = memory("Use DuckDB for the cache", days=4)
    [one] = planned(decided, asked)
    assert summarise([one]) == [("closed", "close", [asked.record.title, decided.record.title])]
    assert decided.record.title in one.suggestion.reason
    earlier = memory("Use DuckDB for the cache", days=30)
    assert planned(earlier, asked) == []


def test_answers_that_a_person_keeps_apart_are_not_proposed_as_one() -> None:
    titles = ("Store the cache in Redis", "Keep cached builds in SQLite", "Cache nothing at all")
    answers = [memory(title, days=9 - number) for number, title in enumerate(titles)]
    first, second, last = (
        replace(one, record=replace(one.record, resolves=("20260701-where-is-the-cache",))) for one in answers
    )
    ids = [one.record.id for one in (first, second, last)]
    latest, apart = frozenset(ids[1:]), {frozenset((ids[0], name)) for name in ids[1:]}

    def merged(*kept_apart: frozenset[str]) -> list[list[str]]:
        return [titles for _, _, titles in summarise(planned(first, second, last, kept_apart=kept_apart))]

    assert merged() == [[titles[2], titles[0], titles[1]]]
    assert merged(*apart) == [[titles[2], titles[1]]], "the first stands beside both"
    assert merged(latest) == [[titles[2], titles[0]]]
    assert merged(latest, frozenset((ids[0], ids[2]))) == [[titles[1], titles[0]]], "the last stands beside both"
    assert merged(latest, *apart) == []


def test_beyond_the_bound_those_unused_for_longest_go() -> None:
    some = [memory(f"The {name} needs a lock", primitive="learning", days=days) for days, name in enumerate(NAMES)]
    found = planned(*some, rules=replace(RULES, most_learnings=len(NAMES) - 2))
    assert summarise(found) == [
        ("bounded", "archive", [some[-1].record.title]),
        ("bounded", "archive", [some[-2].record.title]),
    ]
    assert f"There are {len(NAMES)} learnings, and {len(NAMES) - 2} are kept" in found[0].suggestion.reason


NAMES = ("bus", "cache", "driver", "engine", "feed", "gate")


def test_three_learnings_about_one_file_are_put_together_and_wait_for_a_person() -> None:
    three = [
        memory(title, "A connection of the pool hangs.", primitive="learning", days=9 - at, references=("src/db.py",))
        for at, title in enumerate(("Set a timeout for the pool", "Retry twice on reset", "Close what was opened"))
    ]
    [one] = planned(*three)
    assert (one.category, one.suggestion.action, one.suggestion.flags) == ("consolidated", "consolidate", ("plain",))
    assert one.suggestion.reason == "3 learnings are about `src/db.py` and share words."
    assert [target.record for target in one.suggestion.targets] == [memory.record for memory in three]


def test_a_place_that_moved_is_referred_to_where_it_is_now() -> None:
    here = memory("Parse dates by hand", references=("./src/old.py#parse", "src/keep.py"))
    [one] = planned(here, moved_references={here.record.id: {"src/old.py#parse": "src/new.py#parse"}})
    assert (one.category, one.suggestion.action) == ("referred", "refer")
    assert one.suggestion.record.references == ("src/new.py#parse", "src/keep.py")
    assert one.suggestion.reason == "src/old.py#parse was moved to src/new.py#parse."


def test_a_learning_whose_only_place_is_gone_for_long_is_archived_and_a_decision_is_not() -> None:
    gone = Drift("gone", "src/old.py", since="2026-06-01")
    learned = memory("The parser leaks", primitive="learning", days=70, references=("src/old.py",))
    decided = memory("Parse dates by hand", days=70, references=("src/old.py",))
    found = planned(learned, decided, drift_by_memory={learned.record.id: gone, decided.record.id: gone})
    assert summarise(found) == [("archived", "archive", ["The parser leaks"])]
    assert found[0].suggestion.reason == "src/old.py was not found, and this has not been used for 61 days."
    lately = replace(gone, since="2026-07-20")
    assert planned(learned, drift_by_memory={learned.record.id: lately}) == []
    both = replace(learned, record=replace(learned.record, references=("src/old.py", "src/app.py")))
    assert planned(both, drift_by_memory={learned.record.id: gone}) == []


def test_a_memory_is_in_one_suggestion_at_most() -> None:
    faded = memory("The pool hangs without a timeout", primitive="learning", days=300, references=("src/db.py",))
    again = memory("The pool hangs without a timeout", primitive="learning", days=290, references=("src/db.py",))
    found = planned(faded, again, moved_references={faded.record.id: {"src/db.py": "src/pool.py"}})
    assert summarise(found) == [("merged", "merge", [faded.record.title] * 2)]
