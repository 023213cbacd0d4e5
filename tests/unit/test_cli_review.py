from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

from lerim.cli.terminal.editor import split_editor_command
from lerim.memory import Evidence
from lerim.review import queue
from lerim.review.flags import FLAG_TEXTS, flag_text
from lerim.review.review_paths import ReviewPaths
from lerim.times import format_moment
from proposals import propose
from reviews import made_candidate, proposed
from terminal import answer, run
from window import write_memory

EDITOR_TEXTS = Path(__file__).parents[2] / "extension" / "src" / "views" / "shared" / "web" / "text.ts"


def memories(repo: Path) -> list[Path]:
    return sorted((repo / ".lerim" / "memory").glob("*/*.md"))


def test_candidates_are_listed_with_what_a_person_needs(place: ReviewPaths, repo: Path):
    name = propose(place)
    propose(place, "Use ruff\u202e, not\x1b[31m black", turn="bbbbbbbbbbbb")
    listed = answer("review", "list", "--repo", str(repo))
    assert (listed["blocked"], listed["problems"]) == (0, [])
    [candidate] = [one for one in listed["candidates"] if one["id"] == name]
    assert {"action", "confidence", "evidence", "references", "session", "turn"} <= set(candidate)
    shown = run("review", "list", "--repo", str(repo)).stdout
    assert "Use uv, not pip" in shown
    assert "you: “no, Use uv, not pip”" in shown
    said = f"from: Claude Code session {candidate['session']}, {format_moment(candidate['time'])}"
    assert said in shown and said in run("review", "show", name, "--repo", str(repo)).stdout
    assert name in shown.splitlines()  # on a line of its own, to be copied
    assert "\x1b" not in shown and "\u202e" not in shown


def test_a_text_that_the_quotes_say_is_not_printed_above_them(place: ReviewPaths, repo: Path):
    said, asked = Evidence("but use **uv**, not pip", "t1", "user"), Evidence("Which one?", "t2", "assistant")
    plain = made_candidate("Use uv, not pip", "But use uv, not pip. In reply to: “Which one?”", evidence=(said, asked))
    shown = run("review", "show", proposed(place, plain).id, "--repo", str(repo)).stdout
    assert "  you: “but use **uv**, not pip”\n  in reply to: “Which one?”\n" in shown
    assert "In reply to" not in shown and "But use" not in shown
    more = made_candidate("Use ruff, not black", "Use ruff, not black, because it is fast.", "t3", evidence=(said,))
    shown = run("review", "show", proposed(place, more).id, "--repo", str(repo)).stdout
    assert "  Use ruff, not black, because it is fast.\n" in shown
    said = Evidence("Do not use mocks in tests of billing.", "t4", "user")
    less = made_candidate("How tests of billing are written", "Use mocks in tests of billing.", "t4", evidence=(said,))
    shown = run("review", "show", proposed(place, less).id, "--repo", str(repo)).stdout
    assert "  Use mocks in tests of billing.\n" in shown, "a part of a quoted sentence may say the opposite"


def test_of_many_files_with_the_same_fault_three_are_named_and_the_others_counted(place: ReviewPaths, repo: Path):
    text = (place.review / f"{propose(place)}.md").read_text()
    for number in range(12):
        (place.review / f"20260101-from-elsewhere-{number:02}.md").write_text(text)
    warnings = run("review", "list", "--repo", str(repo)).stderr.splitlines()
    assert [name for name in range(12) if f"elsewhere-{name:02}.md" in "".join(warnings)] == [0, 1, 2]
    assert len(warnings) == 4
    assert warnings[3].startswith("warning: 9 more: This candidate is unknown here")


def test_a_memory_is_shown_whole_if_nobody_can_tell_whether_it_was_accepted_here(place: ReviewPaths, repo: Path):
    name = propose(place)
    run("review", "accept", name, "--repo", str(repo))
    assert "  you: “" in run("memory", "show", name, "--repo", str(repo)).stdout
    (place.private / "review.sqlite3").write_bytes(b"no database" * 100)
    shown = run("memory", "show", name, "--repo", str(repo))
    assert (shown.exit_code, "The review ledger cannot be used" in shown.stderr) == (0, True)
    assert "  the developer: “" in shown.stdout and "\nfile: " in shown.stdout


@pytest.mark.parametrize("answer", ["--same", "--changes"])
def test_a_teammates_memory_stays_the_teammates_when_it_is_updated_here(place: ReviewPaths, repo: Path, answer: str):
    theirs = write_memory(repo, id="20260801-uv", title="Use uv", body="Not pip.", references=()).stem
    name = propose(place)
    assert run("review", "accept", name, answer, theirs, "--repo", str(repo)).exit_code == 0
    own = propose(place, "Run make check before every commit", turn="bbbbbbbbbbbb")
    assert run("review", "accept", own, "--keep", "--repo", str(repo)).exit_code == 0
    shown = [run("memory", "show", one, "--repo", str(repo)).stdout for one in (theirs, own)]
    assert "  the developer: “" in shown[0] and "  you: “" not in shown[0]
    assert "  you: “" in shown[1] and "  the developer: “" not in shown[1]


def test_quotes_stay_on_this_machine_by_the_setting_or_when_asked(place: ReviewPaths, repo: Path):
    mine = Path(os.environ["LERIM_HOME"]) / "config.toml"
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("[review]\nquotes = 'local'\n", encoding="utf-8")
    name = propose(place)
    for option in ((), ("--quotes", "local")):
        done = run("review", "accept", name, *option, "--repo", str(repo))
        assert (done.exit_code, done.stderr) == (0, "")
        assert "no, Use uv" not in memories(repo)[0].read_text(encoding="utf-8")
        shown = answer("memory", "show", memories(repo)[0].stem, "--repo", str(repo))
        assert shown["evidence"][0]["quote"] == "no, Use uv, not pip"
        assert run("review", "undo", "--repo", str(repo)).exit_code == 0
        assert memories(repo) == []
        mine.unlink(missing_ok=True)


def test_several_are_accepted_at_once_and_an_unknown_one_is_partly(place: ReviewPaths, repo: Path):
    one = propose(place)
    two = propose(place, "Run make check before every commit", turn="bbbbbbbbbbbb")
    results = answer("review", "accept", one, "20260101-nothing", two, "--repo", str(repo), code=3)["results"]
    assert [(result["id"], result["ok"], result["code"]) for result in results] == [
        (one, True, "accepted"),
        ("20260101-nothing", False, "not-found"),
        (two, True, "accepted"),
    ]
    assert len(memories(repo)) == 2


def editor(tmp_path: Path, code: str) -> str:
    script = tmp_path / "my editor.py"
    script.write_text(f"import sys, pathlib\npath = pathlib.Path(sys.argv[1])\n{code}\n", encoding="utf-8")
    return f'"{sys.executable}" "{script}"'


def test_edit_opens_the_editor_on_title_tags_and_text(
    place: ReviewPaths, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    change = "path.write_text(path.read_text().replace('not pip', 'never pip').replace('tooling', 'uv, pip'))"
    monkeypatch.setenv("EDITOR", editor(tmp_path, change))
    run("review", "edit", propose(place), "--repo", str(repo))
    [candidate] = answer("review", "list", "--repo", str(repo))["candidates"]
    assert candidate["title"] == "Use uv, never pip"
    assert candidate["tags"] == ["uv", "pip"]
    assert candidate["body"] == "Use uv, never pip. It concerns `src/app.py`."


@pytest.mark.parametrize(
    ("text", "platform", "words"),
    [
        (r'"C:\Program Files\VS Code\Code.exe" --wait', "win32", [r"C:\Program Files\VS Code\Code.exe", "--wait"]),
        (r"C:\Tools\vim.exe -u NONE", "win32", [r"C:\Tools\vim.exe", "-u", "NONE"]),
        (r'code --wait --user-data-dir="C:\My Data\"', "win32", ["code", "--wait", "--user-data-dir=C:\\My Data\\"]),
        ("subl --wait 'x'", "win32", ["subl", "--wait", "'x'"]),
        (r"/opt/my\ editor/vim -c 'set tw=0'", "linux", ["/opt/my editor/vim", "-c", "set tw=0"]),
        ('"/Applications/My Editor.app/edit" -w', "darwin", ["/Applications/My Editor.app/edit", "-w"]),
    ],
)
def test_the_editor_is_split_as_each_system_writes_commands(text: str, platform: str, words: list[str]) -> None:
    assert split_editor_command(text, platform) == words


@pytest.mark.parametrize("platform", ["win32", "linux"])
def test_a_quote_without_an_end_is_no_command(platform: str) -> None:
    with pytest.raises(ValueError, match="quotation"):
        split_editor_command('"C:/Program Files/vim', platform)


def test_a_line_saved_in_a_candidate_while_its_editor_is_open_is_not_lost(
    place: ReviewPaths, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    name = propose(place)
    file = place.candidate_path(name)
    save = f"path.write_text(path.read_text() + 'More.'); open({str(file)!r}, 'a').write('A line by hand.\\n')"
    monkeypatch.setenv("EDITOR", editor(tmp_path, save))
    result = run("review", "edit", name, "--repo", str(repo))
    assert result.exit_code != 0 and "changed since it was shown" in result.stderr
    assert "A line by hand." in file.read_text()
    [kept] = re.findall(r"what you wrote was saved in (\S+)", result.stderr)
    assert Path(kept).read_text().endswith("More.")


def test_a_text_that_an_editor_saves_in_another_encoding_is_not_taken_for_an_editor_that_did_not_start(
    place: ReviewPaths, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EDITOR", editor(tmp_path, "path.write_bytes('Größe'.encode('latin-1'))"))
    result = run("review", "edit", propose(place), "--repo", str(repo))
    assert result.exit_code == 1
    assert "Save the file as UTF-8" in result.stderr and "could not be started" not in result.stderr


@pytest.mark.parametrize(("code", "kept"), [("path.write_text('Mine.'); sys.exit(3)", "Mine."), ("path.unlink()", "")])
def test_an_editor_that_fails_changes_nothing_and_what_was_written_is_kept(
    place: ReviewPaths, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, kept: str
):
    monkeypatch.setenv("EDITOR", editor(tmp_path, code))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    result = run("review", "edit", propose(place), "--repo", str(repo))
    assert result.exit_code == 1
    assert "what to do:" in result.stderr
    assert answer("review", "list", "--repo", str(repo))["candidates"][0]["edited"] is False
    assert [path.read_text() for path in (tmp_path / "temporary").rglob("*.md")] == [kept] * bool(kept)
    for command, told in (("'vim", "Check EDITOR"), ("", "--title, --body and --tag")):
        monkeypatch.setenv("EDITOR", command)
        monkeypatch.delenv("VISUAL", raising=False)
        result = run("review", "edit", *(one.id for one in queue.list_pending(place)[0]), "--repo", str(repo))
        assert (result.exit_code, told in result.stderr) == (1, True)


def test_a_memory_changed_since_is_shown_as_a_difference_and_never_as_part_of_the_message(
    place: ReviewPaths, repo: Path
):
    [done] = answer("review", "accept", propose(place), "--repo", str(repo), "--quotes", "shared")["results"]
    memories(repo)[0].write_text(memories(repo)[0].read_text() + "My own line.\n")
    error = answer("review", "undo", "--repo", str(repo), code=1)["error"]
    assert (error["code"], "+My own line." in error["diff"]) == ("stale", True)
    assert "My own line" not in error["message"] + error["where"] + error["todo"]
    said = run("review", "undo", done["action"], "--repo", str(repo))
    assert "  +My own line.\n" in said.stderr and said.exit_code == 1


def test_the_beginning_of_an_id_names_a_candidate_if_no_other_that_waits_begins_so(
    place: ReviewPaths, repo: Path
) -> None:
    first, second = propose(place), propose(place, "Use ruff for linting", turn="bbbbbbbbbbbb")
    at = ("--repo", str(repo))
    several = answer("review", "reject", "20260703-use", *at, code=2)["error"]["message"]
    assert first in several and second in several
    assert first in answer("review", "accept", "20260703-use-vu", *at, code=1)["error"]["todo"]
    assert answer("review", "edit", "20260703-use-u", "--tag", "x", *at)["results"][0]["id"] == first
    accepted = answer("review", "accept", "20260703-use-u", "--quotes", "shared", *at)["results"][0]
    assert (accepted["ok"], accepted["id"]) == (True, first)
    assert answer("review", "reject", "20260703-use", *at)["results"][0]["id"] == second
    assert [one.id for one in queue.list_pending(place)[0]] == []


def test_undo_lists_the_last_steps_and_goes_past_one_whose_file_was_changed(place: ReviewPaths, repo: Path):
    first, second = propose(place), propose(place, "Pin the port to 5433")
    for one in (first, second):
        answer("review", "accept", one, "--repo", str(repo), "--quotes", "shared")
    changed = next(path for path in memories(repo) if "Pin the port" in path.read_text())
    changed.write_text(changed.read_text() + "My own line.\n")
    steps = answer("review", "undo", "--list", "--repo", str(repo))["steps"]
    assert [(step["label"], step["state"]) for step in steps] == [
        ("Accepted: Pin the port to 5433", "changed"),
        ("Accepted: Use uv, not pip", "done"),
    ]
    stale = run("review", "undo", "--repo", str(repo))
    assert stale.exit_code == 1 and f"lerim review undo {steps[0]['action']}" in stale.stderr
    assert answer("review", "undo", "--repo", str(repo))["results"][0]["action"] == steps[1]["action"]
    said = run("review", "undo", "--list", "--repo", str(repo)).stdout
    assert "undone: Accepted: Use uv, not pip" in said and steps[0]["action"] in said
    assert "There is no such action" in run("review", "undo", "nonsense", "--repo", str(repo)).stderr
    assert run("review", "undo", "x", "--list", "--repo", str(repo)).exit_code == 2


def test_a_candidate_is_shown_with_the_memories_near_it_and_accepted_with_an_answer(place: ReviewPaths, repo: Path):
    old = propose(place, "Install packages with pip")
    answer("review", "accept", old, "--quotes", "shared", "--repo", str(repo))
    new = propose(place, "Install packages with uv instead of pip", turn="bbbbbbbbbbbb")
    shown = run("review", "show", new[:20], "--repo", str(repo)).stdout
    assert f"suggested by the session's wording: replaces {old}" in " ".join(shown.split()) and " %" in shown
    candidate = answer("review", "show", new, "--repo", str(repo))
    assert [one["id"] for one in candidate["neighbours"]] == [old]
    assert (candidate["suggested"]["answer"], candidate["suggested"]["memory"]) == ("replaces", old)
    [done] = answer("review", "accept", new, "--same", old[:20], "--repo", str(repo))["results"]
    assert done["code"] == "known" and [path.stem for path in memories(repo)] == [old]
    answer("review", "undo", "--repo", str(repo))
    [done] = answer("review", "accept", new, "--keep", "--repo", str(repo))["results"]
    assert done["code"] == "accepted" and {path.stem for path in memories(repo)} == {old, new}


def test_one_candidate_gets_one_answer(place: ReviewPaths, repo: Path):
    name = propose(place)
    for wrong in ((name, "--same", "x", "--keep"), (name, "--answers", "x", "other"), ("--all", "--keep")):
        assert run("review", "accept", *wrong, "--repo", str(repo)).exit_code == 2
    assert memories(repo) == []


def test_each_flag_is_a_sentence_in_the_command_line_as_in_the_editor() -> None:
    source = EDITOR_TEXTS.read_text(encoding="utf-8")
    table = source.split("const flagTexts", 1)[1].split("};", 1)[0]
    flags = set(re.findall(r'^  "?([a-z-]+)"?: "', table, re.MULTILINE))
    assert flags == set(FLAG_TEXTS)
    assert all(flag_text(flag).endswith(".") for flag in flags)
