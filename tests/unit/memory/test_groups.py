"""Which learnings belong together, and the insight made of them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from lerim.maintenance.groups import LearningGroup, find_groups
from lerim.memory.claims.claim_words import claim_words
from lerim.memory.record import Evidence, LearningKind, MemoryRecord

START = datetime(2026, 3, 1, tzinfo=UTC)


def learning(
    number: int,
    title: str,
    body: str = "",
    *,
    references: tuple[str, ...] = ("src/db.py#connect",),
    tags: tuple[str, ...] = (),
    kind: LearningKind = "pitfall",
) -> MemoryRecord:
    time = START + timedelta(days=number)
    name, turn = f"{time:%Y%m%d}-learning-{number}", f"{number:012x}"
    return MemoryRecord(
        *(name, "learning", title, time, time, f"claude:one#{turn}", 0.8, tags, body, kind, references),
        evidence=(Evidence(f"quote {number}", turn, "user"),),
    )


POOL = [
    learning(0, "The pool needs a timeout of 30 seconds", "A connection of the pool without a timeout hangs."),
    learning(1, "A connection of the pool is retried twice", "`RETRIES` is 2. Then the pool gives the connection up."),
    learning(2, "Close each connection of the pool", "Never call `pool.drop()` with a connection open."),
]


def found(*learnings: MemoryRecord) -> list[LearningGroup]:
    return list(find_groups(learnings, {one.id: claim_words(one.title, one.body) for one in learnings}))


def test_two_are_no_group_nor_are_learnings_about_one_file_that_share_no_words() -> None:
    titles = ("Fixtures live beside tests", "Migrations run at night", "Ask Anna")
    assert found(*POOL[:2]) == found(*(learning(at, title) for at, title in enumerate(titles, 3))) == []


def test_learnings_without_a_place_belong_together_by_two_tags() -> None:
    tagged = [replace(one, references=(), tags=("Pool", "database")) for one in POOL]
    assert [group.subject for group in found(*tagged)] == ["database and pool"]
    assert found(*(replace(one, tags=("pool",)) for one in tagged)) == []


def test_no_learning_is_in_two_groups_and_none_has_more_than_eight() -> None:
    many = [learning(at, f"The pool connection {at} hangs", "A connection of the pool hangs.") for at in range(30)]
    sizes = [len(group.sources) for group in found(*many)]
    names = [one.id for group in found(*many) for one in group.sources]
    assert sizes and max(sizes) <= 8 and min(sizes) >= 3
    assert len(names) == len(set(names))


def test_long_learnings_are_put_together_only_as_far_as_the_insight_can_be_read() -> None:
    long = [replace(one, body=f"{one.body} " + "The pool waits for a connection. " * 100) for one in POOL]
    assert found(*long) == []
