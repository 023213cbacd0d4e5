"""Links between memories: what says it ends another is the truth, and the other side follows."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from lerim.memory.links import find_memories_to_repair, plan_link_repairs
from lerim.memory.record import MemoryRecord, parse_record, render_record, update_record_text
from lerim.memory.search.index_location import IndexLocation
from lerim.memory.search.indexed_folder import IndexedFolder
from lerim.memory.store import Store, StoredMemory

START = datetime(2026, 8, 1, tzinfo=UTC)
NAMES = [f"2026080{number}-m" for number in range(1, 6)]


def record(name: str, minutes: int = 0, **more: object) -> MemoryRecord:
    when = START + timedelta(minutes=minutes)
    return MemoryRecord(name, "decision", name, when, when, "manual", 0.8, (), "Text.", **more)  # type: ignore[arg-type]


def write(store: Store, records: Iterable[MemoryRecord], archived: Iterable[str] = ()) -> None:
    for one in records:
        path = store.path_for(one, archived=one.id in archived)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(render_record(one), encoding="utf-8")


def stored(tmp_path: Path) -> Store:
    return Store(tmp_path / ".lerim" / "memory", tmp_path / "private")


def all_of(store: Store) -> dict[str, StoredMemory]:
    return {one.record.id: one for one in store.load_all(archived=True)[0]}


def test_what_was_ended_before_its_links_made_a_circle_still_says_by_what(tmp_path: Path) -> None:
    store = stored(tmp_path)
    question = replace(record(NAMES[0], supersedes=(NAMES[1],)), primitive="question", resolved_by=NAMES[1])
    write(store, [record(NAMES[1], resolves=(NAMES[0],))])
    write(store, [question], archived=[NAMES[0]])
    assert plan_link_repairs(store.load_all(archived=True)[0]) == []
    assert all_of(store)[NAMES[0]].status == "resolved"


LINKED = st.builds(
    lambda minutes, supersedes, resolves, by, other: (minutes, tuple(supersedes), tuple(resolves), by, other),
    *(st.integers(0, 3), st.sets(st.sampled_from(NAMES), max_size=2), st.sets(st.sampled_from(NAMES), max_size=1)),
    *(st.sampled_from(["", *NAMES]), st.sampled_from(["", *NAMES])),
)


@given(st.lists(LINKED, min_size=1, max_size=5))
def test_after_one_repair_all_links_agree_and_the_next_finds_nothing(links: list[tuple[int, ...]]) -> None:
    found = {
        name: record(name, minutes, supersedes=ends, resolves=answers, superseded_by=by, resolved_by=other)
        for name, (minutes, ends, answers, by, other) in zip(NAMES, links, strict=False)
    }
    here = {
        name: StoredMemory(one, Path(f"/m/decisions/{name}.md"), (0, 0, 0), "", "active") for name, one in found.items()
    }
    for repair in plan_link_repairs(list(here.values())):
        name = repair.stored.record.id
        text = update_record_text(render_record(found[name]), repair.changes)
        place = Path(f"/m/archived/decisions/{name}.md") if repair.should_archive else repair.stored.path
        here[name] = StoredMemory(parse_record(text, place), place, (0, 0, 0), "", "active")
    assert plan_link_repairs(list(here.values())) == []
    alive = set(here)
    for name, one in here.items():
        for end in one.record.supersedes:
            if end in here and not leads_back(end, name, here):
                assert here[end].record.superseded_by and name in alive
                assert "archived" in here[end].path.parts
        by = one.record.superseded_by
        assert by not in here or name in here[by].record.supersedes
        by = one.record.resolved_by
        assert by not in here or name in here[by].record.resolves
    assert [one for one in here.values() if "archived" not in one.path.parts], "somebody is left"


def leads_back(start: str, goal: str, here: dict[str, StoredMemory]) -> bool:
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name in here and name not in seen:
            seen.add(name)
            waiting += (*here[name].record.supersedes, *here[name].record.resolves)
    return goal in seen


FIELDS = ("supersedes", "resolves", "superseded_by", "resolved_by")
FEW = st.tuples(
    st.integers(0, 4),
    st.sampled_from(["", "", "archived", "archived", "both", "broken"]),
    st.dictionaries(st.sampled_from(FIELDS), st.sampled_from(NAMES), max_size=1),
)


@given(st.lists(FEW, min_size=2, max_size=12), st.integers(1, 6))
def test_an_index_that_followed_the_files_says_of_the_links_what_the_files_say(
    changes: list[tuple[int, str, dict[str, str]]], every: int
) -> None:
    with TemporaryDirectory() as temporary:
        root = Path(temporary).resolve()
        store = stored(root)
        store.memory_dir.mkdir(parents=True)
        shelf = IndexedFolder(
            "project", store, IndexLocation(root / ".lerim" / "index" / "m.sqlite3", root, root / "private")
        )
        with closing(shelf):
            for number, (at, how, links) in enumerate(changes):
                name = NAMES[at]
                for path in store.paths_of(name):
                    path.unlink()
                text = f"Text.{' ' * number}"  # no two files are of one size: a stamp is what tells them apart
                ends = {key: end if key.endswith("_by") else (end,) for key, end in links.items()}
                one = replace(record(name, number, **ends), body=text)
                write(store, [one], archived=[name] if how == "archived" else [])
                if how == "both":
                    write(store, [one], archived=[name])
                if how == "broken":
                    store.path_for(one).write_text(f"---\n[{text}\n---\n", encoding="utf-8")
                if number % every == 0 or number == len(changes) - 1:
                    known = shelf.load_links()
                    assert known is not None
                    assert find_memories_to_repair(known) == {
                        repair.stored.record.id for repair in plan_link_repairs(store.load_all(archived=True)[0])
                    }
