"""Installed agents as models: found by looking, asked as data says, their answers as the real programs printed them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from engines import asking, never
from lerim.config.providers import Role
from lerim.errors import ModelGoneError
from lerim.models import lm15
from lerim.models.agents.answers import ANSWER_PARSERS, FailureError
from lerim.models.agents.call import working_folder
from lerim.models.agents.command import build_command_launch
from lerim.models.agents.programs import AGENTS, build_invocation, find_program
from lerim.models.available import find_installed_agents
from lerim.models.choose import choose_model
from lerim.models.engine import Engine
from lerim.paths import Home
from lerim.process import build_batch_line
from lerim.sessions.readers.engine.typed_text import ASKS_MARK
from roles import settings

RECORDED = Path(__file__).resolve().parents[2] / "recorded" / "agents"
SECRET = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"


def program(folder: Path, name: str, source: str) -> Path:
    """A program of this name, in Python."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{source}")
    path.chmod(0o755)
    return path


def fake(tmp_path: Path, source: str, timeout: float = 60.0, **environ: str) -> Engine:
    """An engine that asks a Claude Code made of `source`."""
    program(tmp_path / "bin", "claude", source)
    home = tmp_path / "home"
    (home / ".lerim").mkdir(parents=True, mode=0o700, exist_ok=True)
    own = {"HOME": str(home), "LERIM_HOME": str(home / ".lerim"), "PATH": str(tmp_path / "bin"), **environ}
    model, problems = choose_model("extract", settings(Role("claude-code", timeout=timeout)), own, None)
    assert model is not None, problems
    return Engine(model, never, home=Home.from_environ(own), environ=own)


USED = {"input_tokens": 7, "cache_read_input_tokens": 5, "output_tokens": 2}
RESULT = f'print(json.dumps({{"type": "result", "is_error": False, "result": "ready", "usage": {USED}}}))'


def test_an_agent_gets_the_prompt_on_its_input_and_its_usage_is_read_back(tmp_path: Path) -> None:
    seen = tmp_path / "seen.json"
    told = "[sys.argv[1:], sys.stdin.read(), os.getcwd(), dict(os.environ)]"
    source = f"import json, os, sys\nopen({str(seen)!r}, 'w').write(json.dumps({told}))\n{RESULT}"
    engine = fake(tmp_path, source, LERIM_KEY_X="k", CLAUDECODE="1")
    prompt = "a session\n" * 10_000
    assert engine.complete(asking(prompt)).text == "ready"
    argv, given, folder, environ = json.loads(seen.read_text())
    assert given == f"{ASKS_MARK}\n{prompt.strip()}"
    assert len(json.dumps(argv)) < 2_000
    assert folder == str(tmp_path / "home" / ".lerim" / "agents" / "claude-code")
    assert os.listdir(folder) == []  # noqa: PTH208
    assert environ["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"
    assert not {"LERIM_KEY_X", "CLAUDECODE", "LERIM_HOME"} & environ.keys()
    assert (engine.usage.calls, engine.usage.input_tokens, engine.usage.cached_tokens) == (1, 12, 5)
    assert engine.usage.output_tokens == 2
    assert engine.role_usage[0].model == "claude-code:sonnet"


def test_an_agent_is_asked_in_an_empty_folder_with_what_takes_its_tools_away(tmp_path: Path) -> None:
    home = Home(tmp_path / ".lerim")
    assert os.listdir(working_folder(home, "gemini-cli")) == []  # noqa: PTH208
    assert 'decision = "deny"' in (home.root / "agents" / "gemini-cli.toml").read_text()
    policy = working_folder(home, "cursor-agent") / ".cursor" / "cli.json"
    policy.write_bytes(b"\xff\xfe")  # it is written again
    working_folder(home, "cursor-agent")
    assert "Shell(*)" in json.loads(policy.read_text())["permissions"]["deny"]
    (working_folder(home, "codex") / "AGENTS.md").write_text("Read ~/.ssh")
    with pytest.raises(ModelGoneError, match="not empty"):
        working_folder(home, "codex")


# --- recorded exchanges ---------------------------------------------------------------------------------------------


def recorded(name: str) -> Any:
    return json.loads((RECORDED / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("provider", sorted(AGENTS))
def test_an_answer_is_read_as_the_real_program_printed_it(provider: str) -> None:
    answer = ANSWER_PARSERS[provider](recorded(provider)["printed"])
    assert (answer.text, answer.finish, answer.usage.calls) == ("forty-two", "stop", 1)
    if provider != "copilot-cli":  # of a service of one's own it does not tell
        assert (answer.usage.input_tokens, answer.usage.output_tokens) == (20, 3)


@pytest.mark.parametrize("provider", sorted(one for one in AGENTS if AGENTS[one].is_tested))
def test_a_refusal_is_told_as_one_to_log_in(provider: str, tmp_path: Path) -> None:
    told = recorded(f"{provider}-refused")
    printed, complaint = told["printed"], told["complaint"] + SECRET
    source = f"import sys\nsys.stdout.write({printed!r})\nsys.stderr.write({complaint!r})\nsys.exit(1)"
    program(tmp_path / "bin", AGENTS[provider].program, source)
    (tmp_path / ".lerim").mkdir(mode=0o700)
    own = {"HOME": str(tmp_path), "LERIM_HOME": str(tmp_path / ".lerim"), "PATH": str(tmp_path / "bin")}
    model, _ = choose_model("extract", settings(Role(provider)), own, None)
    assert model is not None
    with pytest.raises(lm15.AuthError, match="is not logged in") as caught:
        Engine(model, never, home=Home.from_environ(own), environ=own).complete(asking("x"))
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("provider", sorted(AGENTS))
def test_what_makes_no_sense_is_no_answer(provider: str) -> None:
    deep = ("{" * 5_000, '{"a":' + "[" * 5_000)
    for printed in ("", "null", "[]", '{"type": "result"}', '{"type": 3}', *deep, "\ud800"):
        try:
            assert ANSWER_PARSERS[provider](printed).text == ""
        except FailureError as error:
            assert error.message


# --- how they are found and started, as data ------------------------------------------------------------------------


def test_programs_are_found_on_path_and_where_installers_put_them() -> None:
    def look(*there: str, platform: str = "linux", **environ: str) -> str | None:
        return find_program("claude-code", environ, platform, lambda path: path in there)

    assert look("/opt/bin/claude", HOME="/home/ana", PATH="/bin:/opt/bin") == "/opt/bin/claude"
    assert look("/home/ana/.local/bin/claude", HOME="/home/ana", PATH="/bin") == "/home/ana/.local/bin/claude"
    assert look("/opt/homebrew/bin/claude", platform="darwin", HOME="/Users/a", PATH="") == "/opt/homebrew/bin/claude"
    assert look("bin/claude", HOME="/home/ana", PATH="bin:.") is None
    npm = "C:\\Users\\Ana B\\AppData\\Roaming\\npm"
    both = (f"{npm}\\claude", f"{npm}\\claude.CMD")
    of_windows = {"USERPROFILE": "C:\\Users\\Ana B", "APPDATA": "C:\\Users\\Ana B\\AppData\\Roaming"}
    assert look(*both, platform="win32", **of_windows) == f"{npm}\\claude.CMD"
    assert look(*both, platform="win32", Path=npm, USERPROFILE="C:\\Users\\Ana B") == f"{npm}\\claude.CMD"


def test_a_batch_file_of_windows_is_started_by_a_line_that_its_processor_reads_as_it_is() -> None:
    environ = {"SystemRoot": "C:\\Windows"}
    argv = ("C:\\Users\\Ana B\\claude.cmd", "--tools", "", "--system-prompt", "Answer & stop | > x")
    launch = build_command_launch(argv, environ, "C:\\py.exe", 7, "win32")
    assert launch.command_line == (
        '"C:\\Windows\\System32\\cmd.exe" /d /v:off /s /c '
        '""C:\\Users\\Ana B\\claude.cmd" "--tools" "" "--system-prompt" "Answer & stop | > x""'
    )
    assert build_command_launch(("C:\\claude.exe", "-p"), environ, "C:\\py.exe", 7, "win32").command_line == ""
    for sign in '"%!\n':
        with pytest.raises(ValueError, match="cannot hand"):
            build_batch_line(("C:\\claude.cmd", f"a{sign}b"), environ)


@pytest.mark.parametrize("provider", sorted(AGENTS))
def test_every_agent_can_be_started_from_a_batch_file_and_has_no_prompt_in_its_arguments(provider: str) -> None:
    asked = build_invocation(provider, "some/model:1.5", {"HOME": "/home/ana"})
    assert build_batch_line(("C:\\agent.cmd", *asked.arguments), {})
    assert "some/model:1.5" in asked.arguments
    assert not [name for name in asked.arguments if "yolo" in name or "allow-all" in name or "bypass" in name]


def test_tool_servers_of_the_persons_own_settings_are_turned_off(tmp_path: Path) -> None:
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".copilot").mkdir()
    environ = {"HOME": str(tmp_path)}
    (tmp_path / ".codex" / "config.toml").write_text('[mcp_servers.files]\ncommand = "x"\n')
    (tmp_path / ".copilot" / "mcp-config.json").write_text('{"mcpServers": {"web": {}}}')
    assert "mcp_servers.files.enabled=false" in build_invocation("codex", "default", environ).arguments
    assert "web" in build_invocation("copilot-cli", "default", environ).arguments
    (tmp_path / ".codex" / "config.toml").write_text('[mcp_servers."a b"]\ncommand = "x"\n')
    with pytest.raises(ModelGoneError, match="cannot be turned off"):
        build_invocation("codex", "default", environ)


def test_a_models_name_is_never_read_as_an_option() -> None:
    with pytest.raises(ModelGoneError, match="does not offer"):
        build_invocation("claude-code", "--dangerously-skip-permissions", {"HOME": "/home/ana"})


def test_agents_are_found_without_being_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    program(tmp_path / "bin", "opencode", f"open({str(started)!r}, 'w')")
    (tmp_path / ".codex").mkdir()
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path / "bin")}
    found = {one.provider: one.program for one in find_installed_agents(environ)}
    assert found["opencode"] == str(tmp_path / "bin" / "opencode")
    if find_program("codex", environ) is None:
        assert found["codex"] == "", "its sessions tell of it"
    assert not started.exists()


def test_an_agent_is_asked_only_where_it_is_chosen(tmp_path: Path) -> None:
    program(tmp_path / "bin", "claude", "raise SystemExit(1)")
    environ = {"HOME": str(tmp_path), "LERIM_HOME": str(tmp_path / ".lerim"), "PATH": str(tmp_path / "bin")}
    assert choose_model("extract", settings(Role("none")), environ, None, {}) == (None, [])
    assert choose_model("extract", settings(Role("auto")), environ, None, {}) == (None, [])
    model, [problem] = choose_model("extract", settings(Role("codex")), {**environ, "PATH": ""}, None, {})
    if find_program("codex", environ) is None:
        assert model is None
        assert "codex" in problem.message
