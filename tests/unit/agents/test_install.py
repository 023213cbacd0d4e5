"""`lerim agents install` and `remove`: what is shown, asked, written, and given back to the byte."""

from __future__ import annotations

import json
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import terminal
from agent_files import State, write
from lerim.agents import AGENTS

Lerim = Callable[..., str]
Files = Callable[[], State]
EVERYTHING = ("--user", "--project", "--yes")

OWN_SETTINGS = """{
    "theme" : "dark",
    "hooks": {
        "PostToolUse": [
            {"matcher": "Write", "hooks": [{"type": "command", "command": "prettier --write"}]}
        ]
    }
}"""


@pytest.fixture
def used(isolated: Path, repo: Path) -> None:
    """A home with settings of several agents, each in another state, and a repository with some."""
    write(isolated / ".claude" / "settings.json", OWN_SETTINGS)
    write(isolated / ".claude" / ".claude.json", '{"mcpServers":{"other":{"command":"x"}},"numStartups":3}\n')
    write(isolated / ".codex" / "config.toml", '# mine\r\nmodel = "gpt"\r\n\r\n[mcp_servers.other]\r\ncommand = "x"')
    write(isolated / ".gemini" / "settings.json", '\ufeff{\r\n\t"ui": {}\r\n}\r\n')
    write(isolated / ".copilot" / "config.json", "{}")
    write(isolated / ".config" / "opencode" / "opencode.json", '{ "$schema": "https://opencode.ai/config.json" }')
    write(isolated / ".cursor" / "mcp.json", "{}\n")
    write(repo / ".mcp.json", '{\n  "mcpServers": {}\n}\n')
    write(repo / ".gemini" / "settings.json", "{}")


@pytest.mark.usefixtures("used")
def test_installing_twice_changes_nothing_and_removing_restores_every_byte(lerim: Lerim, files: Files) -> None:
    before = files()
    lerim("install", *AGENTS, *EVERYTHING)
    installed = files()
    assert installed != before
    assert "everything is installed" in lerim("install", *AGENTS, *EVERYTHING)
    assert files() == installed
    lerim("remove", *EVERYTHING)
    assert files() == before
    assert "nothing is installed" in lerim("remove", *EVERYTHING)
    assert files() == before


@pytest.mark.usefixtures("used")
def test_what_is_written_is_what_was_shown(lerim: Lerim, files: Files, isolated: Path, repo: Path) -> None:
    before = files()
    shown = lerim("install", *AGENTS, "--dry-run")
    assert files() == before
    assert not (isolated / ".lerim").exists()
    lerim("install", *AGENTS, *EVERYTHING)
    after = files()
    changed = [path for path, content in after.items() if before.get(path) != content and content != b"<folder>"]
    assert changed
    for path in changed:
        assert path in shown


@pytest.mark.usefixtures("used")
def test_your_files_and_the_repository_s_are_asked_apart_and_nothing_is_written_without_a_yes(
    lerim: Lerim, files: Files, isolated: Path, repo: Path
) -> None:
    before = files()
    for typed in ("", "n\nn\n", "maybe\n\n"):
        assert "Nothing was written" in lerim("install", "claude", typed=typed)
        assert files() == before
    shown = lerim("install", "claude", typed="n\ny\n")
    assert "your own files" in shown
    assert "files of this repository" in shown
    changed = {path for path, content in files().items() if before.get(path) != content}
    assert changed
    assert all(path.startswith(str(repo)) for path in changed)
    assert "does not say which files" in lerim("install", "claude", "--yes", code=2)


@pytest.mark.usefixtures("used")
def test_a_person_s_own_hooks_and_servers_stay_in_their_place(lerim: Lerim, isolated: Path) -> None:
    lerim("install", *AGENTS, "--user", "--yes")
    text = (isolated / ".claude" / "settings.json").read_text()
    assert text.startswith(OWN_SETTINGS[: OWN_SETTINGS.index("\n        ]")])
    hooks = json.loads(text)["hooks"]
    assert [group["hooks"][0]["command"] for group in hooks["PostToolUse"]] == [
        "prettier --write",
        str(isolated / ".lerim" / "bin" / "hook"),
    ]
    servers = json.loads((isolated / ".claude" / ".claude.json").read_text())["mcpServers"]
    assert list(servers) == ["other", "lerim"]
    toml = (isolated / ".codex" / "config.toml").read_bytes()
    assert toml.startswith(b'# mine\r\nmodel = "gpt"\r\n\r\n[mcp_servers.other]\r\ncommand = "x"\r\n')


@pytest.mark.usefixtures("used")
def test_of_a_file_that_was_changed_since_only_our_entries_are_removed(lerim: Lerim, isolated: Path) -> None:
    lerim("install", *AGENTS, "--user", "--yes")
    settings = isolated / ".claude" / "settings.json"
    value = json.loads(settings.read_text())
    value["hooks"]["Stop"] = [{"hooks": [{"type": "command", "command": "say done"}]}]
    settings.write_text(json.dumps(value, indent=4))
    config = isolated / ".codex" / "config.toml"
    with config.open("ab") as file:
        file.write(b'\r\n[history]\r\npersistence = "none"\r\n')
    lerim("remove", "--user", "--yes")
    left = json.loads(settings.read_text())
    assert list(left["hooks"]) == ["PostToolUse", "Stop"]
    assert left["hooks"]["PostToolUse"] == json.loads(OWN_SETTINGS)["hooks"]["PostToolUse"]
    assert config.read_bytes().endswith(b'command = "x"\r\n\r\n[history]\r\npersistence = "none"\r\n')


def test_a_hook_of_ours_in_a_group_of_the_person_is_removed_and_the_group_stays(lerim: Lerim, isolated: Path) -> None:
    own = {"type": "command", "command": f"{isolated}/.lerim/bin/hook", "args": ["claude"]}
    mine = {"type": "command", "command": "say started"}
    value = {"hooks": {"SessionStart": [{"hooks": [mine, own]}]}}
    path = write(isolated / ".claude" / "settings.json", json.dumps(value, indent=2))
    lerim("remove", "claude", "--user", "--yes")
    assert json.loads(path.read_text()) == {"hooks": {"SessionStart": [{"hooks": [mine]}]}}


def test_hooks_of_ours_that_occur_twice_become_one_and_those_of_the_person_stay(lerim: Lerim, isolated: Path) -> None:
    own, mine = ({"hooks": [{"type": "command", "command": one}]} for one in (f"{isolated}/.lerim/bin/hook", "say hi"))
    for groups, left in (([own, own, mine], [mine]), ([own, mine, own, mine, own], [mine, mine])):
        value = {"hooks": {"SessionStart": groups}}
        path = write(isolated / ".claude" / "settings.json", json.dumps(value, indent=2))
        lerim("install", "claude", "--user", "--channel", "hooks", "--yes")
        after = json.loads(path.read_text())["hooks"]["SessionStart"]
        assert [one for one in after if one == mine] == left
        assert len(after) == len(left) + 1


def test_an_entry_changed_by_hand_is_shown_as_a_change_and_keeps_what_the_person_added(
    lerim: Lerim, isolated: Path
) -> None:
    path = write(
        isolated / ".cursor" / "mcp.json", '{"mcpServers": {"lerim": {"command": "/old/lerim", "env": {"A": "1"}}}}'
    )
    shown = lerim("install", "cursor", "--user", "--channel", "mcp", "--yes")
    assert "/old/lerim" in shown
    server = json.loads(path.read_text())["mcpServers"]["lerim"]
    assert server == {"command": str(isolated / ".lerim/bin/lerim"), "env": {"A": "1"}, "args": ["mcp"]}
    lerim("remove", "cursor", "--user", "--yes")
    assert not path.exists() or "lerim" not in path.read_text()


BROKEN: dict[str, str | bytes] = {
    "comments": '{\n  // my theme\n  "theme": "dark",\n}\n',
    "not valid JSON": '{"theme": }',
    "not valid JSON (line 1)": '{"' + '\\"' * 300_000,  # of which each quote may begin a string
    "occurs twice": '{"hooks": {}, "hooks": {}, "mcpServers": {}, "mcpServers": {}}',
    "not UTF-8": b"\xff\xfe{\x00}\x00",
    "a plain value where an object is expected": '{"hooks": 3, "mcpServers": 3}',
    "a plain value": "3",
}


@pytest.mark.parametrize("reason", BROKEN)
def test_a_file_that_cannot_be_edited_safely_is_left_alone_and_the_person_sees_what_to_add(
    reason: str, lerim: Lerim, isolated: Path
) -> None:
    content = BROKEN[reason]
    path = write(isolated / ".gemini" / "settings.json", "")
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = path.read_bytes()
    shown = lerim("install", "gemini", "cursor", "--user", "--yes", code=3)
    assert path.read_bytes() == before
    assert reason in shown
    assert "Add this yourself" in shown
    assert '"command": "' in shown
    assert (isolated / ".cursor" / "mcp.json").exists()  # one bad file stops none of the others
    lerim("remove", "--user", "--yes", code=0 if b"lerim" not in before else 3)
    assert path.read_bytes() == before


def test_tables_in_braces_are_left_alone_and_not_called_invalid(lerim: Lerim, isolated: Path) -> None:
    text = 'mcp_servers = { other = { command = "x" } }\n'
    path = write(isolated / ".codex" / "config.toml", text)
    shown = lerim("install", "codex", "--user", "--channel", "mcp", "--yes", code=3)
    assert "because [mcp_servers.lerim] cannot be added to it" in shown and "\n  [mcp_servers.lerim]\n" in shown
    assert path.read_text() == text


def test_an_entry_pasted_into_a_file_with_comments_counts_and_is_shown_when_it_is_to_go(
    lerim: Lerim, isolated: Path
) -> None:
    folder = isolated / ".config" / "opencode"
    launcher = isolated / ".lerim" / "bin" / "lerim"
    text = f"""{{
  // servers
  "mcp": {{ "lerim": {{ "type": "local", "command": ["{launcher}", "mcp"], "enabled": true }} }},
}}"""
    path = write(folder / "opencode.jsonc", text)
    assert "everything is installed" in lerim("install", "opencode", "--user", "--channel", "mcp", "--yes")
    assert not (folder / "opencode.json").exists()
    assert "Take out this yourself" in lerim("remove", "opencode", "--user", "--yes", code=3)
    assert path.read_text() == text


def test_a_linked_dotfile_is_changed_where_it_leads_and_stays_a_link(lerim: Lerim, isolated: Path) -> None:
    kept = write(isolated / "dotfiles" / "gemini.json", "{}\n")
    link = isolated / ".gemini" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(kept)
    kept.chmod(0o640)
    lerim("install", "gemini", "--user", "--yes")
    assert link.is_symlink()
    assert "lerim" in kept.read_text()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o640
    lerim("remove", "gemini", "--user", "--yes")
    assert link.is_symlink()
    assert kept.read_text() == "{}\n"


def test_a_link_in_a_repository_is_not_followed(lerim: Lerim, repo: Path, isolated: Path) -> None:
    outside = write(isolated / "outside.json", "{}")
    (repo / ".mcp.json").symlink_to(outside)
    shown = lerim("install", "claude", "--project", "--channel", "mcp", "--yes", code=3)
    assert "link" in shown
    assert outside.read_text() == "{}"


def test_an_entry_that_two_agents_read_stays_until_both_are_removed(lerim: Lerim, repo: Path) -> None:
    lerim("install", "claude", "--project", "--channel", "mcp", "--yes")
    lerim("install", "copilot", "--project", "--channel", "mcp", "--yes")
    lerim("remove", "claude", "--project", "--yes")
    assert "lerim" in (repo / ".mcp.json").read_text()
    lerim("remove", "copilot", "--project", "--yes")
    assert not (repo / ".mcp.json").exists()


def test_what_a_file_was_before_the_first_installation_is_kept_through_later_ones(lerim: Lerim, isolated: Path) -> None:
    path = write(isolated / ".gemini" / "settings.json", '{"a":1}')
    lerim("install", "gemini", "--user", "--channel", "mcp", "--yes")
    lerim("install", "gemini", "--user", "--channel", "hooks", "--yes")
    lerim("remove", "gemini", "--user", "--yes")
    assert path.read_text() == '{"a":1}'
    lerim("install", "gemini", "--user", "--channel", "mcp", "--yes")
    path.write_text(path.read_text() + "\n")  # the person saves it
    lerim("install", "gemini", "--user", "--channel", "hooks", "--yes")
    lerim("remove", "gemini", "--user", "--yes")
    assert path.read_text() == '{"a":1}\n'


def test_every_text_that_was_replaced_is_kept_and_the_records_are_private(lerim: Lerim, isolated: Path) -> None:
    path = write(isolated / ".gemini" / "settings.json", '{"a":1}')
    lerim("install", "gemini", "--user", "--yes")
    home = isolated / ".lerim"
    record = json.loads((home / "integrations.json").read_text())["files"][str(path)]
    backup = Path(record["backup"])
    assert backup.is_relative_to(home / "backups")
    assert backup.name == f"{record['before']}-settings.json"
    assert backup.read_text() == '{"a":1}'
    for private in (home / "integrations.json", backup):
        assert stat.S_IMODE(private.stat().st_mode) == 0o600


@pytest.mark.parametrize("lost", ["backups", "integrations.json"])
def test_without_the_backup_or_the_record_only_our_entries_go(lost: str, lerim: Lerim, isolated: Path) -> None:
    path = write(isolated / ".gemini" / "settings.json", '{\n  "a": 1\n}\n')
    lerim("install", "gemini", "--user", "--yes")
    target = isolated / ".lerim" / lost
    if lost == "backups":
        for backup in target.rglob("*-*.json"):
            backup.write_text("{}")
    else:
        target.unlink()
    lerim("remove", "gemini", "--user", "--yes")
    assert path.read_text() == '{\n  "a": 1\n}\n'


def test_damaged_records_are_reported_and_nothing_is_written(lerim: Lerim, isolated: Path, files: Files) -> None:
    write(isolated / ".lerim" / "integrations.json", "{")
    before = files()
    assert "damaged" in lerim("install", "gemini", "--user", "--yes", code=1)
    assert files() == before


def test_outside_a_repository_only_your_own_files_are_written(
    isolated: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = terminal.run("agents", "install", "cursor", typed="y\n")
    assert result.exit_code == 0
    assert "files of this repository" not in result.output
    assert (isolated / ".cursor" / "mcp.json").exists()
    assert terminal.run("agents", "install", "cursor", "--project", "--yes").exit_code == 1


def test_as_json_the_plan_is_printed_and_only_a_yes_writes(isolated: Path, repo: Path) -> None:
    def run(*arguments: str) -> Any:
        return terminal.answer("agents", *arguments, "--repo", str(repo))

    plan = run("install", "cursor", "--user")
    assert [change["channels"] for change in plan["changes"]] == [["mcp"], ["hooks"], ["skill"]]
    assert plan["changes"][0]["diff"].startswith("--- /dev/null\n+++ ")
    assert plan["written"] == []
    assert not (isolated / ".cursor").exists()
    done = run("install", "cursor", "--user", "--yes")
    assert done["written"] == [change["path"] for change in plan["changes"]]


def test_an_unknown_agent_or_channel_is_a_wrong_usage(lerim: Lerim) -> None:
    assert "claude, codex, copilot" in lerim("install", "emacs", "--user", code=2)
    assert "mcp, hooks, skill" in lerim("install", "claude", "--channel", "fax", code=2)


def test_without_names_the_agents_that_are_here_are_meant(
    lerim: Lerim, isolated: Path, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    write(isolated / ".gemini" / "settings.json", "{}")
    write(repo / "CLAUDE.md", "# Notes\n")
    assert ".codex" not in lerim("install", "--dry-run")
    lerim("install", *EVERYTHING)
    assert "lerim" in (isolated / ".gemini" / "settings.json").read_text()
    assert not (repo / ".gemini").exists()
    assert (repo / ".mcp.json").exists()


def test_the_command_of_the_server_runs_this_lerim(lerim: Lerim, isolated: Path) -> None:
    lerim("install", "cursor", "--user", "--channel", "mcp", "--yes")
    server = json.loads((isolated / ".cursor" / "mcp.json").read_text())["mcpServers"]["lerim"]
    assert server["args"] == ["mcp"]
    done = subprocess.run([server["command"], "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("lerim ")
