"""`lerim agents list` and `status`: which agents there are, what each gets, and what keeps it from working."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import terminal
from agent_files import write
from claude_lines import prompt
from desk import Desk
from lerim.memory import Serving, record_serving
from lerim.review.review_paths import ReviewPaths

Lerim = Callable[..., str]


@pytest.fixture(autouse=True)
def programs(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on the PATH: it has git, and no agent of this machine."""
    folder = tmp_path_factory.mktemp("programs")
    if git := shutil.which("git"):
        (folder / "git").symlink_to(git)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def status(repo: Path, agent: str) -> Any:
    answer = terminal.answer("agents", "status", "--repo", str(repo))
    return next(one for one in answer["agents"] if one["agent"] == agent)


def states(repo: Path, agent: str, level: str = "user") -> dict[str, str]:
    return {one["channel"]: one["state"] for one in status(repo, agent)["channels"] if one["level"] == level}


def test_before_the_first_sync_the_list_says_that_no_session_has_been_read(desk: Desk) -> None:
    desk.session("s1", prompt("Hello"))
    assert "No session has been read yet. Run `lerim sync`." in terminal.run("agents", "list").stdout
    desk.sync()
    assert "No session has been read yet" not in terminal.run("agents", "list").stdout


def test_an_agent_is_known_by_its_sessions_and_folders_and_is_never_started(
    desk: Desk, isolated: Path, programs: Path
) -> None:
    desk.session("s1", prompt("Hello"))
    desk.sync()
    write(isolated / ".codex" / "config.toml", "")
    write(desk.repo / "GEMINI.md", "# Notes\n")
    for name in ("claude", "codex", "opencode"):
        write(programs / name, f"#!/bin/sh\necho > {programs / 'started'}\n").chmod(0o755)
    claude, codex, gemini, opencode = (status(desk.repo, name) for name in ("claude", "codex", "gemini", "opencode"))
    assert (claude["is_here"], claude["is_used"], claude["sessions"], claude["project_sessions"]) == (True, True, 1, 1)
    assert (codex["is_here"], codex["is_used"], codex["sessions"]) == (True, False, 0)
    assert gemini["is_used"]
    assert opencode["is_here"]  # its program is on the PATH
    assert not (programs / "started").exists()


def test_the_list_shows_the_channels_of_each_agent(lerim: Lerim, repo: Path, isolated: Path) -> None:
    write(isolated / ".gemini" / "settings.json", "{}")
    assert set(states(repo, "gemini").values()) == {"missing"}
    lerim("install", "gemini", "--user", "--channel", "mcp", "--yes")
    assert states(repo, "gemini") == {"mcp": "installed", "hooks": "missing", "skill": "missing"}
    assert states(repo, "vscode")["mcp"] == "extension"
    table = lerim("list")
    assert "Gemini CLI" in table
    assert "by the extension" in table
    told = lerim("status")
    assert str(isolated / ".gemini" / "settings.json") in told
    assert "not installed: hooks, skill; `lerim agents install gemini` installs them" in told


def test_an_entry_that_was_changed_by_hand_and_a_file_that_cannot_be_read_are_told(
    lerim: Lerim, repo: Path, isolated: Path
) -> None:
    path = isolated / ".gemini" / "settings.json"
    lerim("install", "gemini", "--user", "--yes")
    path.write_text(path.read_text().replace("BeforeAgent", "AfterAgent"))
    assert states(repo, "gemini") == {"mcp": "installed", "hooks": "changed", "skill": "installed"}
    path.write_bytes(b"\xff")
    assert states(repo, "gemini")["mcp"] == "unreadable"
    assert "not UTF-8" in lerim("status")


def test_codex_hooks_are_untrusted_until_codex_has_stored_trust_for_each(
    lerim: Lerim, repo: Path, isolated: Path
) -> None:
    config = write(isolated / ".codex" / "config.toml", 'model = "gpt"\n')
    hooks = write(
        isolated / ".codex" / "hooks.json",
        json.dumps({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "mine"}]}]}}),
    )
    assert "run /hooks in Codex" in lerim("install", "codex", "--user", "--channel", "hooks", "--yes")
    assert states(repo, "codex")["hooks"] == "untrusted"
    assert "run /hooks" in " ".join(status(repo, "codex")["findings"])
    keys = [
        f"{hooks}:{name}:{group}:0"
        for name, group in (("session_start", 1), ("user_prompt_submit", 0), ("post_tool_use", 0))
    ]
    trust(config, keys[:2])
    assert states(repo, "codex")["hooks"] == "untrusted"
    trust(config, keys)
    assert states(repo, "codex")["hooks"] == "installed"
    trust(config, [f"{hooks}:session_start:0:0", *keys[1:]])  # the person's own hook is trusted, ours is not
    assert states(repo, "codex")["hooks"] == "untrusted"


def trust(config: Path, keys: list[str]) -> None:
    config.write_text(
        'model = "gpt"\n' + "".join(f'\n[hooks.state."{key}"]\ntrusted_hash = "sha256:1"\n' for key in keys)
    )


def test_the_last_call_and_the_time_of_the_hooks_are_shown(lerim: Lerim, repo: Path, isolated: Path) -> None:
    lerim("install", "claude", "--user", "--yes")
    write_calls(isolated, "claude", 1_790_000_000.0, [*range(1, 100), 500])
    shown = status(repo, "claude")
    assert (shown["last_call"], shown["p95_ms"]) == ("2026-09-21T14:13:20Z", 95)
    assert "95 ms" in lerim("status")
    write(isolated / ".lerim" / "run" / "hooks" / "last-claude", "{torn")
    assert status(repo, "claude")["last_call"] == ""


def write_calls(home: Path, agent: str, time: float, durations: list[float]) -> None:
    write(home / ".lerim" / "run" / "hooks" / f"last-{agent}", json.dumps({"at": time, "durations": durations}))


def test_memories_given_over_mcp_count_as_a_call_of_that_agent(place: ReviewPaths, repo: Path) -> None:
    for agent in ("gemini-cli-mcp-client", "unknown"):
        record_serving(place.private, Serving(1_790_000_000.0, "mcp", agent, "recall", ("a",)))
    assert status(repo, "gemini")["last_call"] == "2026-09-21T14:13:20Z"
    assert status(repo, "claude")["last_call"] == ""


def test_hooks_that_ten_sessions_did_not_call_are_a_finding(
    lerim: Lerim, desk: Desk, repo: Path, isolated: Path
) -> None:
    for number in range(10):
        desk.session(f"s{number}", prompt(f"Hello {number}"))
    desk.sync()
    lerim("install", "claude", "--user", "--channel", "hooks", "--yes")
    assert "never called" not in " ".join(status(repo, "claude")["findings"])  # those sessions were before it
    end_sessions_now(desk)
    assert "never called in the last 10 sessions" in " ".join(status(repo, "claude")["findings"])
    write_calls(isolated, "claude", datetime.now(UTC).timestamp() + 7200, [20])
    assert "called in the last" not in " ".join(status(repo, "claude")["findings"])


def end_sessions_now(desk: Desk) -> None:
    """The sessions of the catalog end an hour from now, after everything that was installed."""
    with sqlite3.connect(desk.home.catalog) as catalog:
        catalog.execute("UPDATE sessions SET ended = ?", (datetime.now(UTC).timestamp() + 3600,))
    catalog.close()


def test_a_program_that_starts_another_lerim_is_a_finding_and_is_mended_by_an_installation(
    lerim: Lerim, repo: Path, isolated: Path
) -> None:
    lerim("install", "cursor", "--user", "--channel", "mcp", "--yes")
    launcher = isolated / ".lerim" / "bin" / "lerim"
    launcher.write_text("#!/bin/sh\nexec /gone/python -m lerim\n")
    assert "another installation" in " ".join(status(repo, "cursor")["findings"])
    lerim("install", "cursor", "--user", "--channel", "mcp", "--yes")
    assert status(repo, "cursor")["findings"] == []


def test_without_anything_installed_the_status_says_so_and_writes_nothing(lerim: Lerim, isolated: Path) -> None:
    assert "No agent gets memories yet" in lerim("status")
    lerim("list")
    assert not (isolated / ".lerim").exists()
