"""Memories are found by words, with and without an index."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lerim.errors import Problem
from lerim.memory.freshness import baselines
from lerim.memory.record import Evidence, MemoryRecord, render_record
from lerim.memory.reference import Reference
from lerim.memory.search.filters import EVERY_STATUS, MemoryFilters
from lerim.memory.search.index import MAX_RANKED
from lerim.memory.search.memory_search import MemorySearch, search_memories
from lerim.memory.uses import Uses
from lerim.paths import Home
from lerim.project.project import Project

NOW = datetime(2026, 8, 1, tzinfo=UTC)


def write(folder: Path, title: str, body: str = "", **more: object) -> Path:
    name = f"20260801-{'-'.join(title.lower().split())[:40]}".replace("/", "-")
    record = MemoryRecord(name, "decision", title, NOW, NOW, "manual", 0.9, (), body)
    path = folder / "decisions" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_record(replace(record, **more)), encoding="utf-8")  # type: ignore[arg-type]
    return path


def titles(project: Project | None, home: Home, query: str, **more: object) -> list[str]:
    problems: list[Problem] = []
    found = [hit.record.title for hit in search_memories(project, home, query, problems=problems, **more)]  # type: ignore[arg-type]
    assert problems == []
    return found


def test_a_name_finds_the_other_names_that_memories_give_to_the_thing(project: Project, home: Home) -> None:
    folder = project.memory_dir
    giving = write(
        folder, "Run continuous integration (CI) on every push", "Money is in the ledger, also called `tally`."
    )
    write(folder, "Clear the CI cache weekly", "It fills up.")
    write(folder, "Continuous integration needs Docker", "The runners have none.")
    write(folder, "Never write to tally by hand", "It is derived.")
    write(folder, "Ledger entries are never deleted", "Auditors read them.")
    write(folder, "Integration tests run at night", "They are slow and continuous.")
    assert set(titles(project, home, "CI")) == {
        "Run continuous integration (CI) on every push",
        "Clear the CI cache weekly",
        "Continuous integration needs Docker",
        "Integration tests run at night",
    }
    assert "Clear the CI cache weekly" in titles(project, home, "how is the continuous integration cache cleared?")
    named = {giving.stem, "20260801-never-write-to-tally-by-hand", "20260801-ledger-entries-are-never-deleted"}
    for name in ("tally", "ledger"):
        assert {hit.record.id for hit in search_memories(project, home, name)} == named
    giving.unlink()
    assert titles(project, home, "CI") == ["Clear the CI cache weekly"], "the name is forgotten with the memory"


def test_the_words_that_a_memory_replies_to_do_not_find_it(project: Project, home: Home) -> None:
    said, before = "It must stay off.", "The “smart” uploader retries twice."
    quotes = (Evidence(said, "t1", "user"), Evidence(before, "t1", "assistant"))
    body = f"{said} In reply to: “{before}” The agent changed `a.py`."
    write(project.memory_dir, "It must stay off", body, evidence=quotes)
    assert titles(project, home, "uploader") == titles(project, home, "smart") == []
    assert titles(project, home, "stay off") == titles(project, home, "agent changed") == ["It must stay off"]


def test_a_word_typed_twice_stands_for_no_other_word(project: Project, home: Home) -> None:
    write(project.memory_dir, "Never retry twice", "A second retry hides the failure.")
    write(project.memory_dir, "Kafka consumers retry once", "The broker keeps the offset.")
    assert titles(project, home, "retry kafka retry") == titles(project, home, "kafka retry")
    hits = search_memories(project, home, "retry kafka retry", problems=[])
    assert [(hit.record.title, hit.has_every_word) for hit in hits][1:] == [("Never retry twice", False)]


@pytest.mark.parametrize("scan", [False, True])
def test_words_names_and_their_parts_are_found(project: Project, home: Home, scan: bool) -> None:
    folder = project.memory_dir
    write(folder, "Read users once", "`getUserName` caches; see max_attempts.")
    write(folder, "Write C++ bindings by hand", "Not C, not C#.")
    write(folder, "Installs", "They are installed by uv.", references=("src/tools/setup_env.py#main",))
    write(folder, "Größe zählt", "用户登录失败时重试")
    cases = {
        "getUserName": "Read users once",
        "getusername": "Read users once",
        "user name": "Read users once",
        "attempts": "Read users once",
        "max_attempts": "Read users once",
        "C++": "Write C++ bindings by hand",
        "installing": "Installs",
        "setup_env.py": "Installs",
        "src/tools": "Installs",
        "grosse": "Größe zählt",
        "groß": "Größe zählt",
        "登录": "Größe zählt",
        "how are things installed with uv?": "Installs",
        "bind": "Write C++ bindings by hand",
        "attem": "Read users once",
    }
    found = {query: titles(project, home, query, scan=scan)[:1] for query in cases}
    assert found == {query: [title] if title else [] for query, title in cases.items()}
    assert (project.lerim_dir / "index").exists() != scan


def test_a_word_with_one_typing_error_is_found_if_no_memory_has_it_as_typed(project: Project, home: Home) -> None:
    write(project.memory_dir, "Retry uploads three times")
    write(project.memory_dir, "Use Decimal for money")
    write(project.memory_dir, "Prices are integers")
    cases = {
        "decimel": "Use Decimal for money",
        "deicmals": "Use Decimal for money",
        "uplads": "Retry uploads three times",
        "retry uploaads": "Retry uploads three times",
        "uploads": "Retry uploads three times",
        "mony": "Use Decimal for money",
        "demical": "",
        "uxe": "",
    }
    found = {query: titles(project, home, query)[:1] for query in cases}
    assert found == {query: [title] if title else [] for query, title in cases.items()}


def test_titles_weigh_more_than_bodies_and_all_words_more_than_some_or_certainty(project: Project, home: Home) -> None:
    write(project.memory_dir, "Retry uploads", confidence=0.1, updated=NOW - timedelta(days=900))
    write(project.memory_dir, "Something else", "We retry here. Nothing about them.")
    write(project.memory_dir, "Uploads", "Once they fail, retry. " + "Filler words stand here. " * 20)
    assert titles(project, home, "retry") == ["Retry uploads", "Something else", "Uploads"]
    assert titles(project, home, "retry uploads") == ["Retry uploads", "Uploads", "Something else"]


def test_of_thousands_that_match_the_best_come_first_however_old(project: Project, home: Home) -> None:
    write(project.memory_dir, "Alpha beta")
    write(project.memory_dir, "Alpha rules", "beta")
    write(project.memory_dir, "Alpha beta gone")
    folder = project.memory_dir / "decisions"
    (project.memory_dir / "archived/decisions").mkdir(parents=True)
    for path in folder.glob("*-gone.md"):
        path.rename(project.memory_dir / "archived/decisions" / path.name)
    text = next(folder.glob("*-rules.md")).read_text().replace("Alpha rules", "Other things").rstrip()
    for number in range(MAX_RANKED + 100):
        rare = " zanzibar" if number % 2 else ""
        (folder / f"20260802-other-{number}.md").write_text(f"{text} alpha {number}{rare}\n", encoding="utf-8")
    with MemorySearch(project, home) as one:
        for query in ("alpha beta", "why alpha beta?"):
            found = one.search(query)
            assert [hit.record.title for hit in found[:3]] == ["Alpha beta", "Alpha rules", "Other things"]
            assert len(found) == 20
        assert [hit.record.title for hit in one.search("alpha 7")][:1] == ["Other things"]
        assert one.search("beta 7")[0].record.id == "20260802-other-7"
        assert one.search("alpha")[0].record.title in ("Alpha beta", "Alpha rules")
        assert one.search("alpha beta", filters=EVERY_STATUS)[0].record.title in ("Alpha beta", "Alpha beta gone")


def test_of_thousands_with_its_parts_those_that_write_a_name_come_first_however_old(
    project: Project, home: Home
) -> None:
    for title, body in (("Callers", "They call getUserName twice."), ("User rules", "Every name that they get.")):
        write(project.memory_dir, title, body, updated=NOW - timedelta(days=400))
    text = write(project.memory_dir, "Other things", "Names of users that they get.").read_text("utf-8").rstrip()
    folder = project.memory_dir / "decisions"
    for number in range(MAX_RANKED + 100):
        (folder / f"20260802-other-{number}.md").write_text(f"{text} user {number}\n", encoding="utf-8")
    with MemorySearch(project, home) as one:
        for query in ("getUserName", "why getUserName?", "name getUserName"):
            found = one.search(query)
            assert sorted(hit.record.title for hit in found[:2]) == ["Callers", "User rules"]
            assert len(found) == 20


@pytest.mark.parametrize("scan", [False, True])
def test_between_equals_the_surer_the_later_and_the_used_come_first(project: Project, home: Home, scan: bool) -> None:
    folder = project.memory_dir
    write(folder, "Alpha unsure", confidence=0.3)
    write(folder, "Alpha certain", confidence=0.9)
    write(folder, "Alpha old", confidence=0.9, updated=NOW - timedelta(days=400))
    for name in ("idle", "used"):
        write(folder, f"Beta {name}", updated=NOW - timedelta(days=400)).rename(folder / "decisions" / "moved")
        (folder / "learnings").mkdir(exist_ok=True)
        (folder / "decisions" / "moved").rename(folder / "learnings" / f"20260801-beta-{name}.md")
    Uses(home.project(project.key)).record_use(["20260801-beta-used"], "opened", NOW)
    with MemorySearch(project, home, scan=scan) as one:
        assert [hit.record.title for hit in one.search("alpha", now=NOW)] == [
            "Alpha certain",
            "Alpha old",
            "Alpha unsure",
        ]
        assert [hit.record.title for hit in one.search("beta", now=NOW)] == ["Beta used", "Beta idle"]


def test_what_became_of_its_places_decides_between_equals_and_can_be_asked_for(project: Project, home: Home) -> None:
    for name in ("gone", "drifted", "fresh"):
        write(project.memory_dir, f"Alpha {name}", references=("src/a.py",), confidence=0.5 if name == "fresh" else 0.9)
    with baselines.open_baselines(home.project(project.key), project.root) as kept:
        for state in ("gone", "drifted"):
            found = baselines.DriftRecord(f"20260801-alpha-{state}", Reference("src/a.py"), "", "src/a.py", (), state)
            kept.store_drift(found)
    assert titles(project, home, "alpha") == ["Alpha fresh", "Alpha drifted", "Alpha gone"]
    assert titles(project, home, "alpha", filters=MemoryFilters(drift_states=("drifted", "gone"))) == [
        "Alpha drifted",
        "Alpha gone",
    ]
    assert titles(project, home, "alpha", filters=MemoryFilters(drift_states=("fresh",))) == ["Alpha fresh"]


def test_on_equal_ground_the_projects_come_before_the_persons_own_and_a_copy_is_shown_once(
    project: Project, home: Home
) -> None:
    write(home.memory, "Alpha mine", "Some words.")
    write(project.memory_dir, "Alpha ours", "Some words.", confidence=0.2)
    write(home.memory, "Alpha both", "Some words.")
    write(project.memory_dir, "Alpha both", "Some words.")
    found = [(hit.record.title, hit.scope) for hit in search_memories(project, home, "alpha")]
    assert found == [("Alpha both", "project"), ("Alpha ours", "project"), ("Alpha mine", "global")]


@pytest.mark.parametrize("scan", [False, True])
def test_a_copy_of_what_is_over_in_the_project_is_not_found_there_as_current(
    project: Project, home: Home, scan: bool
) -> None:
    old = write(project.memory_dir, "Alpha old", "Some words.")
    write(home.memory, "Alpha old", "Some words.")
    renamed = write(home.memory, "Alpha old", "Some words.", id="20260801-alpha-old-2")
    renamed.rename(renamed.with_name("20260801-alpha-old-2.md"))
    write(home.memory, "Alpha old", "Worded otherwise since.")
    write(home.memory, "Alpha mine")

    def found(**more: object) -> set[tuple[str, str]]:
        hits = search_memories(project, home, "alpha", scan=scan, **more)  # type: ignore[arg-type]
        return {(hit.record.title, hit.scope) for hit in hits}

    everywhere = {("Alpha old", "project"), ("Alpha mine", "global")}
    assert found() == everywhere
    write(project.memory_dir, "Alpha new", supersedes=("20260801-alpha-old",))
    assert found() == {("Alpha new", "project"), ("Alpha mine", "global")}
    assert found(filters=MemoryFilters(statuses=("superseded",))) == {("Alpha old", "project")}
    write(project.memory_dir, "Alpha new")
    assert found() == everywhere | {("Alpha new", "project")}
    archive = project.memory_dir / "archived" / "decisions"
    archive.mkdir(parents=True)
    old.rename(archive / old.name)
    assert found() == {("Alpha new", "project"), ("Alpha mine", "global")}
    assert {hit.record.title for hit in search_memories(None, home, "alpha", scan=scan)} == {"Alpha old", "Alpha mine"}


@pytest.mark.parametrize("scan", [False, True])
def test_of_comparable_matches_the_projects_come_first(project: Project, home: Home, scan: bool) -> None:
    write(home.memory, "Use ruff", "ruff everywhere: `ruff check`, `ruff format`.")
    write(
        project.memory_dir, "Format code with black and lint with ruff", "It alone did not sort our imports as we like."
    )
    write(project.memory_dir, "Run the checks before a commit", "They are make, mypy and ruff.")
    own = ["Format code with black and lint with ruff", "Run the checks before a commit"]
    assert titles(project, home, "ruff", scan=scan) == [*own, "Use ruff"]
    write(home.memory, "Upload coverage of the nightly build to the bucket")
    write(project.memory_dir, "Nightly jobs run at two")
    best = titles(project, home, "where is the coverage of the nightly build uploaded?", scan=scan)[0]
    assert best == "Upload coverage of the nightly build to the bucket"
