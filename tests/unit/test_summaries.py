"""Summaries on disk: where they lie, that they follow their session, and that a person's own are left alone."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from claude_lines import Fields, answer, call, prompt, reply, text
from desk import Desk, correction
from lerim.extraction.summaries.summary import split_sections
from lerim.jobs.report import SyncReport
from lerim.jobs.sync_context import SyncOptions
from lerim.memory.record import MemoryRecord, examine_record
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.queue.jobs import SUMMARY_JOB, SUMMARY_MODEL_JOB
from terminal import answer as shown
from terminal import run


def sync(desk: Desk) -> SyncReport:
    return desk.sync(SyncOptions(model="none"))


def files(desk: Desk) -> list[Path]:
    return sorted((desk.repo / ".lerim" / "memory" / "summaries").rglob("*.md"))


def summary(desk: Desk) -> MemoryRecord:
    [path] = files(desk)
    record, problems = examine_record(path.read_text(encoding="utf-8"), path)
    assert problems == []
    return record


def asked(words: str, path: str) -> list[Fields]:
    return [
        prompt(words),
        reply(f"m-{words[:9]}", text("I've done that in this file."), call(f"c-{words[:9]}", "Edit", file_path=path)),
        answer(f"c-{words[:9]}", "The file was updated."),
        prompt("thanks"),
        reply(f"n-{words[:9]}", text("You're welcome.")),
    ]


def ask(desk: Desk, words: str = "Add a docstring to the module") -> Path:
    """The person asks for something in session `s1`."""
    return desk.session("s1", *asked(words, str(desk.repo / "src/app.py")))


@pytest.fixture
def began(desk: Desk) -> Desk:
    """A project that has a `.lerim/`, with one session that no sync has read."""
    (desk.repo / ".lerim").mkdir()
    ask(desk)
    return desk


@pytest.fixture
def summarized(began: Desk) -> Desk:
    """The same after a sync."""
    assert sync(began).run
    return began


def grow(desk: Desk) -> SyncReport:
    """The session goes on, and is synced again."""
    ask(desk, "Now sort the imports of it")
    return sync(desk)


def test_a_sync_writes_a_summary_of_each_session_beside_the_candidates_that_git_and_lists_of_memories_ignore(
    desk: Desk,
) -> None:
    desk.session("s1", *correction(desk))
    assert sync(desk).candidates
    record, [path] = summary(desk), files(desk)
    memory = desk.repo / ".lerim" / "memory"
    where = path.relative_to(memory).as_posix()
    assert re.fullmatch(r"summaries/\d{8}/\d{6}/[a-z0-9-]+\.md", where)
    assert where.split("/")[1:3] == [f"{record.created:%Y%m%d}", f"{record.created:%H%M%S}"]
    assert record.primitive == "summary"
    assert record.id == f"{record.created:%Y%m%d-%H%M%S}-{path.stem}"
    assert record.source.startswith("claude:s1#")
    assert record.references == ("src/app.py",)
    assert list(split_sections(record.body)) == ["", "User intent", "What happened", "Outcome", "Files"]
    with Catalog.open(desk.home) as catalog:
        for turn in re.findall(r"[0-9a-f]{12}", record.body):
            assert catalog.load_turn(turn) is not None
    ignored = subprocess.run(["git", "check-ignore", str(path)], cwd=desk.repo, capture_output=True, check=False)
    assert ignored.returncode == 0
    assert desk.place.store().load_all() == ([], [])


def test_nothing_is_written_again_where_nothing_changed_and_a_session_that_grew_keeps_its_file(
    summarized: Desk,
) -> None:
    desk, before, [place] = summarized, summary(summarized), files(summarized)
    with Catalog.open(desk.home) as catalog:  # what is summarized waits for a model from then on
        assert catalog.count_jobs_by_state(desk.place.project.key, SUMMARY_JOB) == {"done": 1}
        assert catalog.count_jobs_by_state(desk.place.project.key, SUMMARY_MODEL_JOB) == {"pending": 1}
    stamp = place.stat().st_mtime_ns
    assert sync(desk).run == ""
    assert place.stat().st_mtime_ns == stamp
    grow(desk)
    after = summary(desk)
    assert files(desk) == [place]
    assert (after.id, after.created, after.source) == (before.id, before.created, before.source)
    assert "sort the imports" in after.body
    assert after.updated > before.updated
    renamed = place.rename(place.with_name("mine.md"))
    ask(desk, "And run the tests of it")
    sync(desk)
    assert files(desk) == [renamed]


MINE = "My own words.\n\n## Outcome"


@pytest.mark.parametrize("text", [MINE, "no header", "---\nid: x\n", ""])
def test_a_summary_that_a_person_wrote_stays_theirs_and_one_that_a_power_cut_left_empty_is_written_again(
    summarized: Desk, text: str
) -> None:
    [place] = files(summarized)
    mine = place.read_text(encoding="utf-8").replace("## Outcome", MINE) if text == MINE else text
    place.write_text(mine, encoding="utf-8")
    report = grow(summarized)
    if not text:
        assert "sort the imports" in summary(summarized).body
        return
    assert place.read_text(encoding="utf-8") == mine
    [told] = json.loads((Path(report.run) / "summary.json").read_text(encoding="utf-8"))
    assert (told["action"], told["session"]) == ("theirs", "s1")


def test_a_folder_that_cannot_be_written_or_is_a_link_is_a_problem_and_the_summary_comes_later(
    began: Desk, tmp_path: Path
) -> None:
    memory, elsewhere = began.repo / ".lerim" / "memory", tmp_path / "elsewhere"
    memory.write_text("in the way", encoding="utf-8")
    assert "memory" in [problem.code for problem in sync(began).problems]
    memory.unlink()
    for folder in (memory, elsewhere):
        folder.mkdir()
    (memory / "summaries").symlink_to(elsewhere)
    assert [problem.code for problem in sync(began).problems] == ["boundary"]
    assert list(elsewhere.rglob("*")) == []
    (memory / "summaries").unlink()
    assert sync(began).problems == []
    assert len(files(began)) == 1


def test_turns_said_in_another_project_are_not_in_it(began: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    secret = prompt("Rename the merger files for the board")
    path = next(began.projects.rglob("s1.jsonl"))
    line = json.dumps({**secret, "cwd": str(other), "sessionId": "s1"})
    path.write_text(f"{path.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    sync(began)
    assert "merger" not in files(began)[0].read_text(encoding="utf-8")


def test_a_session_is_shown_with_its_summary_first_and_without_secrets_that_were_written_into_it(
    summarized: Desk,
) -> None:
    out = run("sessions", "show", "s1").stdout
    assert out.index("You wrote: “Add a docstring to the module”") < out.index("[0] you")
    told = shown("sessions", "show", "s1")["summary"]
    assert told["title"] == "Add a docstring to the module"
    assert told["files"] == ["src/app.py"]
    assert told["path"] == str(files(summarized)[0])
    assert re.search(r"\[[0-9a-f]{12}", told["user_intent"])
    assert shown("sessions", "show", "s1", "--turn", "0")["summary"] is None

    token, [place] = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", files(summarized)
    place.write_text(place.read_text("utf-8").replace("## Outcome", f"{token}\n\n## Outcome"), encoding="utf-8")
    assert token not in run("sessions", "show", "s1").stdout
    place.unlink()
    assert shown("sessions", "show", "s1")["summary"] is None
    assert "User intent" not in run("sessions", "show", "s1").stdout
