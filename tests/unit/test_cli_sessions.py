"""`lerim sessions`: list, search and show, over all agents, clean."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import terminal
from claude_lines import answer as result_of
from claude_lines import call, prompt, reply, text
from desk import Desk
from lerim.times import format_moment

run = partial(terminal.run, "sessions")
answer = partial(terminal.answer, "sessions")

KEY = "sk-" + "ant-api03-" + "Zk39dMw8Qp2LrT6vYh1XcB5nJs7FgKe4Wa0"


@pytest.fixture(autouse=True)
def inside(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are called in the repository."""
    monkeypatch.chdir(repo)


@pytest.fixture
def said(desk: Desk) -> Desk:
    """A session here on two branches with a failing command and an edit, and one elsewhere."""
    desk.session(
        "aaaa1111",
        prompt(f"Why does getUserName wait? My key is {KEY}", timestamp="2026-03-01T12:00:00Z", gitBranch="main"),
        reply(
            "m1",
            text("Backoff\u202e grows with max_attempts."),
            call("t1", "Bash", command="uv run pytest -x"),
            timestamp="2026-03-01T12:01:00Z",
            gitBranch="main",
        ),
        result_of("t1", "Exit code 1\nfailed", is_error=True, timestamp="2026-03-01T12:01:30Z"),
        prompt("Now lower it", timestamp="2026-03-02T12:00:00Z", gitBranch="fix/backoff"),
        reply(
            "m2",
            text("Lowered max_attempts."),
            call("t2", "Edit", file_path=str(desk.repo / "src" / "app.py"), old_string="5", new_string="3"),
            model="claude-haiku-4-5",
            timestamp="2026-03-02T12:01:00Z",
            gitBranch="fix/backoff",
        ),
        result_of("t2", "ok", timestamp="2026-03-02T12:01:30Z"),
    )
    desk.session("aaaa2222", prompt("max_attempts elsewhere"), cwd=desk.repo.parent / "nowhere")
    desk.sync()
    return desk


def texts(*arguments: str) -> list[str]:
    return [turn["text"] for turn in answer("search", *arguments)["turns"]]


def test_a_search_is_of_this_repository_unless_all_is_asked(said: Desk):
    assert set(texts("max_attempts")) == {"Backoff⟨U+202E⟩ grows with max_attempts.", "Lowered max_attempts."}
    assert len(texts("max_attempts", "--all")) == 3
    assert texts("lowered max_attempts", "--by", "session") == ["Lowered max_attempts."]
    found = answer("search", "lowered max_attempts", "--by", "session", "--all")["turns"]
    assert [turn["session"] for turn in found] == ["aaaa1111", "aaaa2222"]


FILTERS: tuple[tuple[list[str], int], ...] = (
    (["--branch", "main"], 1),
    (["--branch", "fix/backoff"], 1),
    (["--model", "claude-haiku"], 1),
    (["--model", "gpt"], 0),
    (["--agent", "claude"], 2),
    (["--agent", "codex"], 0),
    (["--failed"], 1),
    (["--file", "app.py"], 1),
    (["--file", "src/app.py"], 1),
    (["--file", "SRC\\app.py"], 1),
    (["--file", "rc/app.py"], 0),
    (["--file", "other.py"], 0),
    (["--since", "2026-03-02"], 1),
    (["--until", "2026-03-01T20:00"], 1),
    (["--limit", "1"], 1),
)


def test_each_filter_leaves_what_it_says(said: Desk):
    for filters, number in FILTERS:
        assert len(texts("max_attempts", *filters)) == number, filters
        if "--limit" not in filters:
            assert len(answer("list", *filters)["sessions"]) == min(number, 1), filters


def test_nothing_that_leaves_holds_a_secret_or_a_hidden_character(said: Desk):
    for arguments in (["list"], ["search", "getUserName"], ["search", "backoff"], ["show", "aaaa1111"]):
        for printed in (run(*arguments).output, run(*arguments, "--json").output):
            assert KEY not in printed
            assert "\u202e" not in printed
    assert "[redacted:" in run("show", "aaaa1111").output


def test_a_session_is_shown_by_the_beginning_of_its_id_and_a_turn_by_number_or_id(said: Desk):
    shown = answer("show", "aaaa1")
    assert [turn["number"] for turn in shown["turns"]] == [0, 1, 2, 3]
    assert (shown["session"]["prompts"], shown["session"]["files"], shown["session"]["platform"]) == (2, 1, "claude")
    (turn,) = answer("show", "aaaa1", "--turn", "2")["turns"]
    assert turn["text"] == "Now lower it"
    assert answer("show", "aaaa1", "--turn", turn["id"])["turns"] == [turn]
    assert "Now lower it" in run("show", "aaaa1", "--turn", "2").output


def test_an_empty_list_says_where_sessions_are_and_makes_no_catalog(desk: Desk):
    assert answer("list") == {"sessions": []}
    assert answer("search", "anything", "--all") == {"turns": []}
    assert run("search", "anything").stdout == "No sessions have been read yet. Run `lerim sync`.\n"
    assert run("list").stdout == "No sessions. Run `lerim sync` to read them.\n"
    assert not desk.home.catalog.exists()
    desk.session("aaaa2222", prompt("max_attempts elsewhere"), cwd=desk.repo.parent / "nowhere")
    desk.sync()
    assert "`lerim sessions list --all` lists those of all repositories" in run("list").stdout


def test_a_list_for_people_names_each_session_with_what_to_show(said: Desk):
    listed = run("list", "--all").output
    assert "aaaa1111" in listed
    assert "2 prompts, 2 calls, 1 file" in listed
    found = run("search", "lowered").output
    assert "aaaa1111 --turn 3" in found and "Lowered max_attempts" in found
    first, answered = (format_moment(f"2026-03-0{day}T12:01:00Z") for day in (1, 2))
    assert f"Claude Code, the agent, {answered}, in: Why does getUserName wait?" in found
    assert f"Claude Code, {answered}, 2 prompts" in listed
    shown = run("show", "aaaa1").output
    assert "\nClaude Code session aaaa1111, " in shown
    assert f"\n\n[1] Claude Code, {first}\nBackoff" in shown
    assert "\n  $ uv run pytest -x" in shown
    assert run("list", "--all", "--limit", "1").stderr == "The last 1; --limit shows more.\n"
    assert run("list", "--all").stderr == ""
    assert run("list", "--agent", "codex").stdout == "No session matches.\n"
    next(said.projects.rglob("aaaa1111.jsonl")).unlink()
    said.sync()
    assert ", its transcript was deleted" in run("list").stdout


@pytest.fixture
def copied(desk: Desk) -> Desk:
    """A session here, and a resumed one that holds copies of the same turns and nothing else."""
    turns = [
        prompt("Why is retry slow?", timestamp="2026-03-01T12:00:00Z", gitBranch="main"),
        reply("m1", text("It waits."), call("t1", "Bash", command="false"), timestamp="2026-03-01T12:01:00Z"),
        result_of("t1", "Exit code 1", is_error=True, timestamp="2026-03-01T12:01:30Z"),
    ]
    for name in ("aaaa1111", "aaaa2222"):
        desk.session(name, *turns)
    desk.sync()
    return desk


COPY_FILTERS: tuple[tuple[list[str], int], ...] = (
    ([], 2),
    (["--agent", "codex"], 0),
    (["--branch", "main"], 2),
    (["--branch", "mai"], 0),
    (["--model", "claude"], 2),
    (["--model", "gpt"], 0),
    (["--since", "2026-03-02"], 0),
    (["--until", "2026-02-01"], 0),
    (["--failed"], 1),
)


def test_a_session_that_only_holds_copies_of_another_one_s_turns_is_listed_too_and_says_so(copied: Desk):
    for filters, number in COPY_FILTERS:
        for everywhere in ([], ["--all"]):
            assert len(answer("list", *everywhere, *filters)["sessions"]) == number, filters
    shown = {name: run("show", name).output for name in ("aaaa1111", "aaaa2222")}
    assert sorted("It waits." in text for text in shown.values()) == [False, True]
    assert sorted("copies from" in text for text in shown.values()) == [False, True]
