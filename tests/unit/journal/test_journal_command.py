"""`lerim journal` as a person runs it, and the files it writes."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

import terminal
from desk import Desk
from journal_days import NOW, commit, exchange, memory, read, scope
from lerim.errors import MemoryError_
from lerim.journal import build_entry, write_entry
from lerim.memory.record import examine_record

DAY = "2026-03-02"


def run(desk: Desk, *arguments: str, code: int = 0) -> str:
    done = terminal.run("journal", "--repo", str(desk.repo), *arguments)
    assert done.exit_code == code, done.output
    return done.stdout


def answer(desk: Desk, *arguments: str) -> dict:
    return terminal.answer("journal", "--repo", str(desk.repo), *arguments)


@pytest.fixture
def written(desk: Desk) -> Path:
    """A day with a commit, and its written entry."""
    commit(desk, "Add notes", f"{DAY}T11:00:00Z", notes_DOT_txt="one")
    run(desk, "--day", DAY, "--write")
    path = desk.repo / ".lerim/memory/journal/2026/03/02.md"
    assert path.is_file()
    return path


def test_a_day_is_shown_as_markdown_or_json_and_nothing_is_written(desk: Desk) -> None:
    commit(desk, "Add notes", f"{DAY}T11:00:00Z", notes_DOT_txt="one")
    note, arguments = "No session has been read yet", ("journal", "--repo", str(desk.repo), "--day", DAY)
    assert note in terminal.run(*arguments).stderr
    read(desk)
    shown = terminal.run(*arguments)
    assert note not in shown.stderr and shown.stdout.startswith("# Journal of 2 Mar 2026\n\n## Done\n")
    assert "- Committed “Add notes”, which changed `notes.txt`. [1]\n" in shown.stdout
    told = answer(desk, "--day", DAY)
    assert told["sentences"][0]["sources"] == [told["sources"][0]["number"]]
    assert terminal.run(*arguments, "--format", "json").stdout.startswith("{")
    assert "there is nothing to write" in run(desk, "--day", "2026-02-01", "--write")
    assert not (desk.repo / ".lerim").exists()


def test_a_week_and_a_span_are_the_entries_of_their_days(desk: Desk) -> None:
    commit(desk, "Monday's work", "2026-03-02T11:00:00Z", notes_DOT_txt="one")
    commit(desk, "Sunday's work", "2026-03-08T11:00:00Z", notes_DOT_txt="two")
    commit(desk, "Next week's work", "2026-03-09T11:00:00Z", notes_DOT_txt="three")
    week = answer(desk, "--week", "--day", "2026-03-05")
    assert [entry["day"] for entry in week["entries"]] == ["2026-03-02", "2026-03-08"]
    assert week["entries"][0] == answer(desk, "--day", "2026-03-02")
    assert "## 8 Mar 2026" in run(desk, "--since", "2026-03-08", "--until", "2026-03-09")
    assert "Next week" not in run(desk, "--week", "--day", "2026-03-05")


def test_release_notes_tell_what_lies_between_two_tags(desk: Desk, git: object) -> None:
    for number, day in enumerate(("02", "03", "04")):
        commit(desk, f"Change {number}", f"2026-03-{day}T11:00:00Z", notes_DOT_txt=str(number))
        git(desk.repo, "tag", f"v{number}")  # type: ignore[operator]
    git(desk.repo, "checkout", "-q", "-b", "other", "v1")  # type: ignore[operator]
    commit(desk, "Not released", "2026-03-04T09:00:00Z", other_DOT_txt="x")
    said = "From now on always count in cents."
    desk.session("s1", *exchange(said, "Good. I read the notes.", "2026-03-03T12:00:00Z"))
    read(desk)
    assert said in run(desk, "--day", "2026-03-03")
    memory(desk, "decision", "Prices are Decimal", "2026-03-03T12:30:00+00:00")
    notes = run(desk, "--release", "v0..v2")
    assert notes.startswith("# v0..v2\n\n## Done\n- Committed “Change 1”")
    assert "Change 2" in notes
    assert "Change 0" not in notes
    assert "Not released" not in notes
    assert notes.count("Prices are Decimal") == 1 and said not in notes and "I read" not in notes
    assert "Not released" in run(desk, "--release", "v1..HEAD")
    run(desk, "--release", "HEAD..v2", code=1)
    run(desk, "--release", "v0..v9", code=1)
    run(desk, "--release", "v2..v0", code=1)
    run(desk, "--release", "v0..v2", "--write", code=2)


def test_wrong_days_are_usage_errors(desk: Desk) -> None:
    for arguments in (
        ("--day", "soon"),
        ("--day", "0001-01-01"),
        ("--since", "2026-03-05", "--until", "2026-03-01"),
        ("--day", DAY, "--release", "a..b"),
    ):
        run(desk, *arguments, code=2)
    assert "value for --until" in terminal.run("journal", "--until", "soon", "--repo", str(desk.repo)).stderr


def test_a_written_entry_has_a_header_like_a_memory_and_is_none(desk: Desk, written: Path) -> None:
    record, problems = examine_record(written.read_text("utf-8"), Path("summaries/20260302/000000/journal.md"))
    assert record.title == "Journal of 2 Mar 2026"
    assert [problem.message for problem in problems if "id" not in problem.message] == []
    store = desk.place.store()
    assert store.load_all(archived=True) == ([], [])
    assert terminal.answer("memory", "list", "--repo", str(desk.repo))["problems"] == []


def test_an_entry_is_written_again_only_while_nobody_edited_it(desk: Desk, written: Path) -> None:
    assert "Unchanged: " in run(desk, "--day", DAY, "--write")
    written.write_bytes(written.read_bytes().replace(b"\n", b"\r\n"))  # as git may check it out
    assert "Unchanged: " in run(desk, "--day", DAY, "--write")
    commit(desk, "Add more notes", f"{DAY}T12:00:00Z", notes_DOT_txt="two")
    assert "Updated: " in run(desk, "--day", DAY, "--write")
    text = written.read_text("utf-8")
    assert "Add more notes" in text
    for edited in (text + "\nMy own words.\n", text.replace("source: journal", "source: me"), "only mine"):
        written.write_text(edited, encoding="utf-8")
        done = terminal.run("journal", "--repo", str(desk.repo), "--day", DAY, "--write")
        assert done.exit_code == 3
        assert "You edited" in done.stderr
        assert written.read_text("utf-8") == edited
    assert "-only mine" in done.stderr


def test_a_folder_that_cannot_be_used_is_an_error_and_nothing_is_lost(desk: Desk) -> None:
    commit(desk, "Add notes", f"{DAY}T11:00:00Z", notes_DOT_txt="one")
    (desk.repo / ".lerim/memory").mkdir(parents=True)
    (desk.repo / ".lerim/memory/journal").write_text("a file of mine", encoding="utf-8")
    entry = build_entry(scope(desk), date.fromisoformat(DAY), NOW)
    with pytest.raises(MemoryError_):
        write_entry(desk.place.project, desk.home, entry)
    assert (desk.repo / ".lerim/memory/journal").read_text("utf-8") == "a file of mine"
