"""Whatever changes in a store, its index equals one made anew and a search without one; filters find what they say."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lerim.memory.links import with_current_status
from lerim.memory.record import FOLDERS, KINDS, MemoryRecord, Primitive, render_record
from lerim.memory.search.filters import SEARCHED_PRIMITIVES, STATUSES, MemoryFilters, is_match
from lerim.memory.search.memory_search import MemorySearch
from lerim.memory.store import Store
from lerim.paths import Home
from lerim.project.project import Project

NOW = datetime(2026, 8, 1, tzinfo=UTC)
WORDS = ("alpha", "beta", "getUser", "max_size", "用户", "alphas")
IDS = [f"20260801-m{number}" for number in range(5)]
PLACES = ("src/a.py", "src/a.py#load", "src/lib/b.py", "docs")
FILES = (*PLACES, "src", "src/lib", "", "other.py", "../x")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
records = st.builds(
    MemoryRecord,
    id=st.sampled_from(IDS),
    primitive=st.sampled_from(SEARCHED_PRIMITIVES),
    title=texts,
    created=st.just(NOW),
    updated=st.integers(-2, 2).map(lambda days: NOW + timedelta(days=days)),
    source=st.sampled_from(["manual", "claude:5e1f#aa", "claude:5e2f#bb"]),
    confidence=st.sampled_from([0.2, 0.9]),
    tags=st.lists(st.sampled_from(["x", "Y"]), max_size=2).map(tuple),
    body=texts,
    kind=st.sampled_from([None, *KINDS]),
    references=st.lists(st.sampled_from(PLACES), max_size=2).map(tuple),
    supersedes=st.lists(st.sampled_from(IDS), max_size=2).map(tuple),
    resolves=st.lists(st.sampled_from(IDS), max_size=1).map(tuple),
    superseded_by=st.sampled_from(["", "", "", IDS[0]]),
)


def mostly(default: object, other: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Narrowed by one or two things at a time: by all of them little is left."""
    return st.integers(0, 3).flatmap(lambda draw: other if draw == 3 else st.just(default))


filters = st.builds(
    MemoryFilters,
    primitives=mostly((), st.lists(st.sampled_from(SEARCHED_PRIMITIVES), max_size=2).map(tuple)),
    kinds=mostly((), st.lists(st.sampled_from(KINDS), max_size=2).map(tuple)),
    tags=mostly((), st.sampled_from([("X",), ("y",), ("z",), ("x", "y")])),
    files=mostly((), st.lists(st.sampled_from(FILES), min_size=1, max_size=2).map(tuple)),
    statuses=st.one_of(
        st.just(("active",)), st.just(STATUSES), st.lists(st.sampled_from(STATUSES), unique=True).map(tuple)
    ),
    since=mostly(None, st.sampled_from([NOW, NOW + timedelta(hours=30)])),
    until=mostly(None, st.sampled_from([NOW, NOW + timedelta(hours=30)])),
    session_prefix=mostly("", st.sampled_from(["5e", "5e2f", "a"])),
)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("write"), records, st.booleans()),
        st.tuples(st.just("remove"), st.sampled_from(IDS), st.booleans()),
        st.tuples(st.just("break"), st.sampled_from(IDS), st.booleans()),
    ),
    min_size=2,
    max_size=12,
)
SETTINGS = settings(suppress_health_check=[HealthCheck.too_slow])
ticks = itertools.count(1)


@contextmanager
def place() -> Iterator[tuple[Project, Home]]:
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary).resolve() / "repo"
        (root / ".lerim" / "memory").mkdir(parents=True)
        yield Project("0" * 16, root, root, root / ".git", "", "repo"), Home(Path(temporary).resolve() / "home")


def file_of(project: Project, primitive: Primitive, memory_id: str, archived: bool) -> Path:
    folder = project.memory_dir / "archived" if archived else project.memory_dir
    path = folder / FOLDERS[primitive] / f"{memory_id}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def do(project: Project, step: tuple[str, MemoryRecord | str, bool]) -> list[Path]:
    """One change of the files; those it touched."""
    what, subject, archived = step
    if isinstance(subject, MemoryRecord):
        others = remove(project, subject.id)  # an id has one file
        path = file_of(project, subject.primitive, subject.id, archived)
        # no two files are written at one instant with one size here: a stamp is what tells them apart
        path.write_text(render_record(replace(subject, body=f"{subject.body}{' ' * next(ticks)}")), encoding="utf-8")
        return [*others, path]
    if what == "remove":
        return remove(project, subject)
    found = list(project.memory_dir.rglob(f"{subject}.md"))
    for path in found:
        path.write_text(f"---\n[{'x' * next(ticks)}\n---\n", encoding="utf-8")
    return found


def remove(project: Project, memory_id: str) -> list[Path]:
    found = list(project.memory_dir.rglob(f"{memory_id}.md"))
    for path in found:
        path.unlink()
    return found


def told(search: MemorySearch, query: str, narrowed: MemoryFilters) -> list[tuple[str, str, object]]:
    return [(hit.record.id, hit.stored.status, hit.rank) for hit in search.search(query, 50, narrowed, NOW)]


@given(steps, st.lists(st.tuples(st.one_of(st.just(""), texts), filters), min_size=1, max_size=4), st.booleans())
@SETTINGS
def test_an_index_that_followed_every_change_equals_one_made_anew_and_none(
    changes: list[tuple[str, MemoryRecord | str, bool]], asked: list[tuple[str, MemoryFilters]], applies: bool
) -> None:
    with place() as (project, home), MemorySearch(project, home) as followed:
        for step in changes:
            touched = do(project, step)
            for path in touched:
                followed.update_file(path)
            if not applies:
                followed.refresh()
        with MemorySearch(project, home, scan=True) as scanned, MemorySearch(project, Home(home.root / "x")) as anew:
            for query, narrowed in asked:
                found = told(followed, query, narrowed)
                assert found == told(scanned, query, narrowed) == told(anew, query, narrowed)


@given(steps, filters)
@SETTINGS
def test_filters_find_exactly_what_they_say(
    changes: list[tuple[str, MemoryRecord | str, bool]], narrowed: MemoryFilters
) -> None:
    with place() as (project, home):
        for step in changes:
            do(project, step)
        stored = with_current_status(Store(project.memory_dir, home.project(project.key)).load_all(archived=True)[0])
        wanted = {one.record.id: one.status for one in stored if is_match(one.record, one.status, narrowed)}
        with MemorySearch(project, home, scan=True) as search:
            hits = search.search("", 50, narrowed, NOW)
            assert {hit.record.id: hit.stored.status for hit in hits} == wanted
            assert [hit.record.updated for hit in hits] == sorted((hit.record.updated for hit in hits), reverse=True)
            found = {hit.record.id for word in WORDS for hit in search.search(word, 50, narrowed, NOW)}
            assert found == set(wanted)


TYPED = st.text(max_size=80) | st.sampled_from(["C++", "what's", 'world-foo "x', '"', "NEAR(", "a AND", "*", "-", "?"])


@given(TYPED, filters, st.booleans())
@SETTINGS
def test_any_text_with_any_filters_is_a_safe_query(query: str, narrowed: MemoryFilters, scan: bool) -> None:
    with place() as (project, home):
        file_of(project, "decision", IDS[0], False).write_text(
            render_record(MemoryRecord(IDS[0], "decision", "alpha", NOW, NOW, "manual", 0.9, (), "beta")),
            encoding="utf-8",
        )
        with MemorySearch(project, home, scan=scan) as search:
            assert len(search.search(query, 5, narrowed, NOW)) <= 1
            assert search.problems == []
