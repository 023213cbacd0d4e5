"""`lerim connect`: what a person says of the agents, and what becomes of their sessions then."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import terminal
from claude_lines import prompt
from desk import Desk, correction
from lerim.sessions.platforms import PLATFORMS_FILE

run = partial(terminal.run, "connect")
answer = partial(terminal.answer, "connect")


def state(platform: str) -> str:
    [agent] = [one for one in answer("list")["agents"] if one["platform"] == platform]
    return str(agent["state"])


def test_the_list_says_of_each_agent_whether_it_is_read_where_and_what_was_found(desk: Desk) -> None:
    desk.session("s1", prompt("Hello"))
    shown = answer("list", "--repo", str(desk.repo))
    assert shown["project"] == str(desk.repo)
    claude = next(one for one in shown["agents"] if one["platform"] == "claude")
    assert (claude["state"], claude["sessions"], claude["found"]) == ("connected", 1, 1)
    table = run("--repo", str(desk.repo)).stdout
    assert "Claude Code" in table
    assert "1 found, 0 read, 1 waiting" in table
    assert not Path(os.environ["LERIM_HOME"]).exists()
    shown = answer("list", "--repo", str(desk.repo.parent))  # outside any repository
    assert shown["project"] == ""
    claude = next(one for one in shown["agents"] if one["platform"] == "claude")
    assert (claude["sessions"], claude["found"]) == (1, 0)


def test_a_removed_agent_is_read_no_more_and_what_was_learned_stays(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    desk.sync()
    learned = desk.waiting()
    assert learned
    assert "what was learned" in run("remove", "claude").stdout
    assert state("claude") == "removed"
    desk.session("s2", *correction(desk, "tomllib", "README.md"))
    report = desk.sync()
    assert (report.candidates, report.problems) == ([], [])
    assert desk.waiting() == learned
    run("claude")
    assert len(desk.sync().candidates) == 1


def test_what_waited_when_an_agent_was_removed_is_not_learned_from_until_it_is_back(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    desk.sync(cancelled=stopping_after_indexing(desk))
    run("remove", "claude")
    [job] = json.loads(terminal.run("queue", "list", "--repo", str(desk.repo), "--json").stdout)["jobs"]
    assert job["state"] == "skipped"
    assert "no longer connected" in job["reason"]
    terminal.run("queue", "retry", str(job["id"]), "--repo", str(desk.repo))
    assert desk.sync().candidates == []
    run("claude")
    assert len(desk.sync().candidates) == 1


def stopping_after_indexing(desk: Desk) -> Any:
    """Cancels a sync as soon as the catalog has a job."""
    from lerim.sessions.catalog.catalog import Catalog

    def cancelled() -> bool:
        if not desk.home.catalog.exists():
            return False
        with Catalog.open(desk.home) as catalog:
            return bool(catalog.list_open_jobs(desk.place.project.key))

    return cancelled


def test_auto_connects_what_is_there_and_leaves_what_was_removed(desk: Desk, isolated: Path) -> None:
    desk.session("s1", prompt("Hello"))
    (isolated / ".codex").mkdir()
    run("remove", "codex")
    said = run("auto").stdout
    assert "Claude Code is read: 1 session in" in said
    assert "Codex was removed earlier and stays removed" in said
    assert (state("claude"), state("codex"), state("gemini")) == ("connected", "removed", "not-found")
    assert [one["platform"] for one in answer("auto")["agents"]] == ["claude"]


def test_a_store_elsewhere_is_read(desk: Desk, tmp_path: Path) -> None:
    desk.session("s1", *correction(desk))
    elsewhere = tmp_path / "moved"
    desk.projects.parent.rename(elsewhere)
    assert desk.sync().sessions.found == 0
    assert f"1 session in {elsewhere}" in run("claude", "--path", str(elsewhere)).stdout
    assert len(desk.sync().candidates) == 1


def test_a_place_that_cannot_be_is_refused_with_what_to_do() -> None:
    for path in ("relative", "/no/such/place"):
        error = answer("codex", "--path", path, code=1)["error"]
        assert (error["code"], error["where"]) == ("settings", path)
        assert error["todo"]


def test_a_folder_without_anything_of_the_agent_is_kept_and_said_to_hold_nothing(desk: Desk) -> None:
    desk.session("s1", prompt("Hello"))
    folder = desk.projects.parent
    said = run("codex", "--path", str(folder))
    assert said.exit_code == 0
    assert f"no Codex sessions were found in {folder}" in said.stderr
    assert "is read" not in said.stdout
    [codex] = answer("codex", "--path", str(folder))["agents"]
    assert [store["path"] for store in codex["stores"]] == [str(folder)]


def test_a_file_that_can_be_no_store_is_refused_and_nothing_is_kept(desk: Desk, tmp_path: Path) -> None:
    for platform, name in (("codex", "notes.txt"), ("opencode", "opencode.db"), ("cursor", "x.db")):
        (tmp_path / name).write_text("random words\n" * 100)
        error = answer(platform, "--path", str(tmp_path / name), code=1)["error"]
        assert (error["code"], error["where"]) == ("settings", str(tmp_path / name))
    assert not (desk.home.root / PLATFORMS_FILE).exists()


def test_every_store_that_is_there_is_listed(desk: Desk) -> None:
    [cursor] = [one for one in answer("list")["agents"] if one["platform"] == "cursor"]
    places = [Path(store["path"]) for store in cursor["stores"]]
    assert len(places) > 1
    for place in places:
        (place / "chats").mkdir(parents=True)
    table = run("list").stdout.replace("\n", "")
    assert all(str(place)[-20:] in table for place in places)


def test_an_unknown_agent_is_wrong_usage() -> None:
    assert run("netscape").exit_code == 2
    result = run("remove", "netscape", "--json")
    assert result.exit_code == 2
    assert "claude, codex" in json.loads(result.stdout)["error"]["todo"]


def test_a_broken_file_stops_a_sync_with_a_message_and_is_left_alone(desk: Desk) -> None:
    desk.session("s1", prompt("Hello"))
    desk.home.root.mkdir()
    broken = desk.home.root / PLATFORMS_FILE
    broken.write_text('{"platforms": ')
    result = terminal.run("sync", "--repo", str(desk.repo))
    assert result.exit_code == 1
    assert str(broken) in result.stderr
    assert "Correct the file" in result.stderr
    assert run("list").exit_code == run("remove", "claude").exit_code == 1
    assert broken.read_text() == '{"platforms": '


def test_an_option_before_the_command_is_refused_not_forgotten(desk: Desk) -> None:
    for wrong in (["--repo", str(desk.repo), "list"], ["--repo", str(desk.repo), "remove", "codex"]):
        result = run(*wrong)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "These options go after the command." in result.stderr
    refused = run("--json", "list")
    assert (refused.exit_code, json.loads(refused.stdout)["error"]["code"]) == (2, "usage")
    assert state("codex") != "removed"
