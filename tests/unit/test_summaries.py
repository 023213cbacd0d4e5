"""Summaries on disk: where they lie, that they follow their session, and that a person's own are left alone."""

from __future__ import annotations

import json
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_lines import Fields, answer, call, prompt, reply, text
from desk import Desk, correction
from lerim.cli.app import main
from lerim.extraction.summaries.summary import split_sections
from lerim.jobs.report import SyncReport
from lerim.jobs.sync_context import SyncOptions
from lerim.memory.record import MemoryRecord, examine_record
from lerim.memory.summaries import find_summary
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.queue.jobs import SUMMARY_JOB, SUMMARY_MODEL_JOB


@pytest.fixture
def desk(repo: Path, isolated: Path) -> Desk:
    return Desk(repo, Home(isolated / ".lerim"), isolated / ".claude" / "projects")


def sync(desk: Desk) -> SyncReport:
    return desk.sync(SyncOptions(model="none"))


def files(desk: Desk) -> list[Path]:
    return sorted((desk.repo / ".lerim" / "memory" / "summaries").rglob("*.md"))


def summary(desk: Desk) -> MemoryRecord:
    [path] = files(desk)
    record, problems = examine_record(path.read_text(encoding="utf-8"), path)
    assert problems == []
    return record


def began(desk: Desk) -> None:
    """The project has a `.lerim/`."""
    (desk.repo / ".lerim").mkdir()


def asked(words: str, path: str) -> list[Fields]:
    return [
        prompt(words),
        reply(f"m-{words[:9]}", text("I've done that in this file."), call(f"c-{words[:9]}", "Edit", file_path=path)),
        answer(f"c-{words[:9]}", "The file was updated."),
        prompt("thanks"),
        reply(f"n-{words[:9]}", text("You're welcome.")),
    ]


def test_a_sync_writes_a_summary_of_each_session_beside_the_candidates(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    report = sync(desk)
    assert report.candidates
    record = summary(desk)
    [path] = files(desk)
    where = path.relative_to(desk.repo / ".lerim" / "memory").as_posix()
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


def test_summaries_are_ignored_by_git_and_seen_by_no_list_of_memories(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    sync(desk)
    [path] = files(desk)
    ignored = subprocess.run(["git", "check-ignore", str(path)], cwd=desk.repo, capture_output=True, check=False)
    assert ignored.returncode == 0
    found, problems = desk.place.store().load_all()
    assert found == []
    assert problems == []


def test_a_summary_alone_makes_no_folder_and_is_written_once_there_is_one(desk: Desk) -> None:
    desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    assert sync(desk).candidates == []
    assert not (desk.repo / ".lerim").exists()
    began(desk)
    sync(desk)
    assert summary(desk).title == "Add a docstring to the module"
    assert (desk.repo / ".lerim" / ".gitignore").exists()


def test_a_session_that_grew_keeps_its_file_and_tells_what_came(desk: Desk) -> None:
    began(desk)
    path = str(desk.repo / "src/app.py")
    desk.session("s1", *asked("Add a docstring to the module", path))
    sync(desk)
    before, [place] = summary(desk), files(desk)
    desk.session("s1", *asked("Now sort the imports of it", path))
    sync(desk)
    after = summary(desk)
    assert files(desk) == [place]
    assert (after.id, after.created, after.source) == (before.id, before.created, before.source)
    assert "sort the imports" in after.body
    assert after.updated > before.updated


def test_a_summary_that_a_person_edited_stays_theirs_and_the_run_says_so(desk: Desk) -> None:
    began(desk)
    path = str(desk.repo / "src/app.py")
    desk.session("s1", *asked("Add a docstring to the module", path))
    sync(desk)
    [place] = files(desk)
    mine = place.read_text(encoding="utf-8").replace("## Outcome", "My own words.\n\n## Outcome")
    place.write_text(mine, encoding="utf-8")
    desk.session("s1", *asked("Now sort the imports of it", path))
    report = sync(desk)
    assert place.read_text(encoding="utf-8") == mine
    [told] = json.loads((Path(report.run) / "summary.json").read_text(encoding="utf-8"))
    assert (told["action"], told["session"]) == ("theirs", "s1")


def test_a_summary_renamed_by_hand_is_found_by_its_source(desk: Desk) -> None:
    began(desk)
    path = str(desk.repo / "src/app.py")
    desk.session("s1", *asked("Add a docstring to the module", path))
    sync(desk)
    [place] = files(desk)
    renamed = place.rename(place.with_name("mine.md"))
    desk.session("s1", *asked("Now sort the imports of it", path))
    sync(desk)
    assert files(desk) == [renamed]


def test_two_sessions_of_one_second_and_one_title_have_two_files(desk: Desk) -> None:
    began(desk)
    path = str(desk.repo / "src/app.py")
    for name in ("s1", "s2"):
        records = asked("Add a docstring to the module", path)
        desk.session(
            name,
            *(
                {**one, "timestamp": "2026-03-01T10:00:00.000Z", "uuid": f"{name}-{number}"}
                for number, one in enumerate(records)
            ),
        )
    sync(desk)
    assert [one.name for one in files(desk)] == [
        "add-a-docstring-to-the-module-2.md",
        "add-a-docstring-to-the-module.md",
    ]


def test_nothing_is_written_again_where_nothing_changed(desk: Desk) -> None:
    began(desk)
    desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    first = sync(desk)
    [place] = files(desk)
    stamp = place.stat().st_mtime_ns
    again = sync(desk)
    assert place.stat().st_mtime_ns == stamp
    assert first.run
    assert again.run == ""


def test_a_session_still_being_written_waits_unless_the_person_syncs(desk: Desk) -> None:
    began(desk)
    path = desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    now = datetime.fromtimestamp(path.stat().st_mtime + 60, UTC)
    desk.sync(SyncOptions(explicit=False, model="none"), clock=lambda: now)
    assert files(desk) == []
    desk.sync(SyncOptions(model="none"), clock=lambda: now)
    assert len(files(desk)) == 1


def test_a_session_without_a_request_has_none(desk: Desk) -> None:
    began(desk)
    desk.session("s1", prompt("hello"), reply("a", text("Hi! How can I help?")))
    sync(desk)
    assert files(desk) == []


def test_a_folder_that_cannot_be_written_is_a_problem_and_the_summary_comes_later(desk: Desk) -> None:
    began(desk)
    (desk.repo / ".lerim" / "memory").write_text("in the way", encoding="utf-8")
    desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    report = sync(desk)
    assert [problem.code for problem in report.problems if problem.code == "memory"] == ["memory"]
    (desk.repo / ".lerim" / "memory").unlink()
    assert sync(desk).problems == []
    assert len(files(desk)) == 1


def test_a_link_in_the_way_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    began(desk)
    (desk.repo / ".lerim" / "memory").mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (desk.repo / ".lerim" / "memory" / "summaries").symlink_to(elsewhere)
    desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    assert [problem.code for problem in sync(desk).problems] == ["boundary"]
    assert list(elsewhere.rglob("*")) == []


def test_what_is_summarized_waits_for_a_model_from_then_on(desk: Desk) -> None:
    began(desk)
    desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    sync(desk)
    with Catalog.open(desk.home) as catalog:
        key = desk.place.project.key
        assert catalog.count_jobs_by_state(key, SUMMARY_JOB) == {"done": 1}
        assert catalog.count_jobs_by_state(key, SUMMARY_MODEL_JOB) == {"pending": 1}


def test_turns_said_in_another_project_are_not_in_it(desk: Desk, tmp_path: Path) -> None:
    began(desk)
    other = tmp_path / "other"
    subprocess.run(["git", "init", "-q", str(other)], check=True)
    records = asked("Add a docstring to the module", str(desk.repo / "src/app.py"))
    secret = prompt("Rename the merger files for the board")
    desk.session("s1", *records)
    path = next(desk.projects.rglob("s1.jsonl"))
    line = json.dumps({**secret, "cwd": str(other), "sessionId": "s1"})
    path.write_text(f"{path.read_text(encoding='utf-8')}{line}\n", encoding="utf-8")
    sync(desk)
    assert "merger" not in files(desk)[0].read_text(encoding="utf-8")


def test_a_summary_is_found_by_the_start_and_source_of_its_session(desk: Desk) -> None:
    began(desk)
    desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    sync(desk)
    record = summary(desk)
    memory = desk.repo / ".lerim" / "memory"
    assert find_summary(memory, desk.repo, "claude:s1", record.created) == files(desk)[0]
    assert find_summary(memory, desk.repo, "claude:s2", record.created) is None


@pytest.mark.parametrize("text", ["no header", "---\nid: x\n"])
def test_a_file_that_cannot_be_read_is_a_persons(desk: Desk, text: str) -> None:
    began(desk)
    path = str(desk.repo / "src/app.py")
    desk.session("s1", *asked("Add a docstring to the module", path))
    sync(desk)
    [place] = files(desk)
    place.write_text(text, encoding="utf-8")
    desk.session("s1", *asked("Now sort the imports of it", path))
    sync(desk)
    assert place.read_text(encoding="utf-8") == text


def test_a_file_that_a_power_cut_left_empty_is_written_again(desk: Desk) -> None:
    began(desk)
    path = str(desk.repo / "src/app.py")
    desk.session("s1", *asked("Add a docstring to the module", path))
    sync(desk)
    [place] = files(desk)
    place.write_text("", encoding="utf-8")
    desk.session("s1", *asked("Now sort the imports of it", path))
    sync(desk)
    assert "sort the imports" in summary(desk).body


def test_a_session_is_shown_with_its_summary_first(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    began(desk)
    desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    sync(desk)
    assert main(["sessions", "show", "s1"]) == 0
    out = capsys.readouterr().out
    assert out.index("The user asked: “Add a docstring to the module”") < out.index("[0] user")
    assert main(["sessions", "show", "s1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["summary"]
    assert told["title"] == "Add a docstring to the module"
    assert told["files"] == ["src/app.py"]
    assert told["path"] == str(files(desk)[0])
    assert re.search(r"\[[0-9a-f]{12}", told["user_intent"])
    assert main(["sessions", "show", "s1", "--turn", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"] is None


def test_a_session_without_a_summary_is_shown_as_before(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    sync(desk)
    assert main(["sessions", "show", "s1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["summary"] is None
    assert main(["sessions", "show", "s1"]) == 0
    assert "User intent" not in capsys.readouterr().out


def test_a_secret_in_a_summary_that_was_edited_is_not_shown(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    began(desk)
    desk.session("s1", *asked("Add a docstring to the module", str(desk.repo / "src/app.py")))
    sync(desk)
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    [place] = files(desk)
    place.write_text(
        place.read_text(encoding="utf-8").replace("## Outcome", f"{token}\n\n## Outcome"), encoding="utf-8"
    )
    assert main(["sessions", "show", "s1"]) == 0
    assert token not in capsys.readouterr().out
