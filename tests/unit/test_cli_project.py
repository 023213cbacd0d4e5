from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from terminal import answer, run


def test_a_repository_is_added_listed_and_removed(repo: Path):
    added = answer("project", "add", "--repo", str(repo))["project"]
    assert added["name"] == "repo"
    assert added["root"] == str(repo)
    assert answer("project", "list") == {"projects": [added], "problems": []}
    assert answer("project", "remove", "--repo", str(repo)) == {"project": added, "removed": True}
    assert answer("project", "remove", "--repo", str(repo))["removed"] is False
    assert answer("project", "list")["projects"] == []


def test_an_alias_is_kept_with_the_repository(repo: Path):
    run("project", "list")
    run("config", "show", "--repo", str(repo))
    assert not Path(os.environ["LERIM_HOME"]).exists(), "a look creates nothing"
    refused = run("project", "alias", "old/app", "--repo", str(repo))
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "what to do: Give the absolute folder" in refused.stderr
    answer("project", "alias", "/mnt/old/app", "--repo", str(repo))
    known = answer("project", "alias", "C:\\work\\app", "--repo", str(repo / "src"))["project"]
    assert known["aliases"] == ["/mnt/old/app", "C:\\work\\app"]
    assert "/mnt/old/app" in run("project", "list").stdout


def test_outside_any_repository_the_error_says_where_and_what_to_do(tmp_path: Path):
    result = run("project", "add", "--repo", str(tmp_path))
    assert result.exit_code == 1
    assert "error: This folder is not in a git repository." in result.stderr
    assert str(tmp_path) in result.stderr
    assert "--repo" in result.stderr

    error = json.loads(run("project", "add", "--repo", str(tmp_path), "--json").stdout)["error"]
    assert set(error) == {"code", "message", "where", "todo"}
    assert (error["code"], error["where"]) == ("project", str(tmp_path))


def test_settings_are_shown_with_their_origin_and_problems(repo: Path, monkeypatch: pytest.MonkeyPatch):
    mine = Path(os.environ["LERIM_HOME"]) / "config.toml"
    mine.parent.mkdir(parents=True)
    command = '[roles.extract]\nprovider = "command"\ncommand = ["claude", "-p"]\n'
    mine.write_text(f"[search]\nlimit = 7\nlimits = 8\n{command}", encoding="utf-8")
    monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": {"budget.per_day_usd": 3}}))
    shown = answer("config", "show", "--repo", str(repo))
    by_name = {setting["name"]: setting for setting in shown["settings"]}
    assert by_name["search.limit"] == {"name": "search.limit", "value": 7, "origin": str(mine)}
    assert by_name["sync.accept_above"]["origin"] == "default"
    assert by_name["roles.extract.command"]["value"] == ["claude", "-p"]
    assert (by_name["budget.per_day_usd"]["value"], by_name["budget.per_day_usd"]["origin"]) == (
        3.0,
        "VS Code settings",
    )
    assert [problem["code"] for problem in shown["problems"]] == ["settings"]

    table = run("config", "show", "--repo", str(repo))
    assert "search.limit" in table.stdout
    assert '["claude", "-p"]' in table.stdout
    assert re.search(r"agents\.deny_once +false ", table.stdout)  # as the file has it
    assert "did you mean 'search.limit'?" in table.stderr


def test_a_settings_file_that_is_named_but_missing_stops(repo: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LERIM_CONFIG", str(repo / "gone.toml"))
    result = run("config", "show", "--repo", str(repo), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["error"]["code"] == "settings"
