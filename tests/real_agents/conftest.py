"""Agents' real programs on a machine of their own, set up for a scripted model service.

They are taken from the folders in LERIM_TEST_AGENTS (as PATH is written) and from PATH; `make test-agents` installs
them. A test of one that is not there is skipped.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent_server import Service, serving
from lerim.models.agents.programs import AGENTS, find_program

SEARCHED = os.pathsep.join([os.environ.get("LERIM_TEST_AGENTS", ""), os.environ.get("PATH", "")])
HANG_SECONDS = 300
"""How long anything may take; only against hangs."""


@dataclass
class AgentMachine:
    """A home with one agent set up for the scripted service, and a repository that the agent may work in."""

    provider: str
    home: Path
    repo: Path
    service: Service
    environ: dict[str, str] = field(default_factory=dict)

    def write(self, name: str, text: str) -> None:
        """Writes a file of the home."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def lerim(self, *arguments: str, code: int = 0) -> str:
        """What the `lerim` command prints in the repository."""
        command = [sys.executable, "-m", "lerim", *arguments]
        done = self._run(command)
        assert done.returncode == code, (arguments, done.stdout, done.stderr)
        return done.stdout

    def ask(self, prompt: str) -> str:
        """What the agent prints in answer to a prompt without a terminal. The requests are in `service.asked`."""
        done = self._run([str(_require_program(self)), *_ARGUMENTS[self.provider](prompt)])
        assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
        return done.stdout

    def talk(self, arguments: list[str], messages: list[dict[str, Any]], last: int) -> dict[str, Any]:
        """What the agent's program answers to the message with the id `last`, over JSON lines on its streams."""
        pipe = subprocess.PIPE
        with subprocess.Popen(
            [str(_require_program(self)), *arguments],
            cwd=self.repo,
            env=self.environ,
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process:
            assert process.stdin and process.stdout
            ending = threading.Timer(HANG_SECONDS, process.kill)
            ending.start()
            try:
                process.stdin.write("".join(f"{json.dumps(message)}\n" for message in messages))
                process.stdin.flush()
                for line in process.stdout:
                    answer = json.loads(line)
                    if answer.get("id") == last:
                        result: dict[str, Any] = answer["result"]
                        return result
            finally:
                ending.cancel()
                process.kill()
        raise AssertionError(f"{arguments} ended without an answer")

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.repo,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )


def _require_program(machine: AgentMachine) -> Path:
    found = find_program(machine.provider, machine.environ)
    assert found is not None
    return Path(found)


@pytest.fixture
def agent_machine(request: pytest.FixtureRequest, repo: Path, tmp_path: Path) -> Iterator[AgentMachine]:
    """The machine of the agent that the test is parametrized with."""
    provider = str(request.param)
    home = tmp_path / "home"
    home.mkdir()
    environ = {"HOME": str(home), "PATH": SEARCHED, "LANG": "C.UTF-8", "TMPDIR": str(tmp_path), "CI": "true"}
    if find_program(provider, environ) is None:
        pytest.skip(f"{AGENTS[provider].name} is not installed here (make test-agents)")
    with serving() as service:
        service.asks_for_tools = True
        made = AgentMachine(provider, home, repo, service, environ)
        _SETUPS[provider](made)
        yield made


def _set_up_claude(machine: AgentMachine) -> None:
    machine.environ |= {
        "ANTHROPIC_BASE_URL": machine.service.url,
        "ANTHROPIC_API_KEY": "sk-a-long-test-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    trusted = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    machine.write(".claude.json", json.dumps({"projects": {str(machine.repo): trusted}}, indent=2))


def _set_up_codex(machine: AgentMachine) -> None:
    machine.environ["FAKE_KEY"] = "sk-a-long-test-key"
    machine.write(
        ".codex/config.toml",
        'model = "fake-model"\nmodel_provider = "fake"\n\n'
        f'[model_providers.fake]\nname = "f"\nbase_url = "{machine.service.url}/v1"\n'
        'wire_api = "responses"\nenv_key = "FAKE_KEY"\n\n'
        f'[projects."{machine.repo}"]\ntrust_level = "trusted"\n',
    )


def _set_up_gemini(machine: AgentMachine) -> None:
    machine.environ |= {"GEMINI_API_KEY": "sk-a-long-test-key", "GOOGLE_GEMINI_BASE_URL": machine.service.url}
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}}
    machine.write(".gemini/settings.json", json.dumps(chosen, indent=2))


def _set_up_opencode(machine: AgentMachine) -> None:
    options = {"baseURL": f"{machine.service.url}/v1", "apiKey": "sk-a-long-test-key"}
    fake = {"npm": "@ai-sdk/openai-compatible", "name": "f", "options": options, "models": {"fake": {"name": "fake"}}}
    chosen = {"provider": {"fake": fake}, "model": "fake/fake", "small_model": "fake/fake"}
    machine.write(".config/opencode/opencode.json", json.dumps(chosen, indent=2))
    machine.environ["OPENCODE_DISABLE_MODELS_FETCH"] = "1"


def _set_up_copilot(machine: AgentMachine) -> None:
    machine.environ |= {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{machine.service.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "sk-a-long-test-key",
        "COPILOT_MODEL": "gpt-5.6-sol",
    }
    machine.write(".copilot/config.json", json.dumps({"trusted_folders": [str(machine.repo)]}))


_SETUPS: dict[str, Callable[[AgentMachine], None]] = {
    "claude-code": _set_up_claude,
    "codex": _set_up_codex,
    "gemini-cli": _set_up_gemini,
    "opencode": _set_up_opencode,
    "copilot-cli": _set_up_copilot,
}
_ARGUMENTS: dict[str, Callable[[str], list[str]]] = {
    "claude-code": lambda prompt: ["-p", prompt, "--output-format", "json", "--allowedTools", "mcp__lerim,Read,Bash"],
    "codex": lambda prompt: ["exec", "--json", "--dangerously-bypass-approvals-and-sandbox", prompt],
    "gemini-cli": lambda prompt: ["-p", prompt, "--yolo", "-m", "gemini-3-pro-preview"],
    "opencode": lambda prompt: ["run", prompt],
    "copilot-cli": lambda prompt: ["-p", prompt, "--allow-all-tools", "--output-format", "json"],
}
ALL_AGENTS = tuple(_SETUPS)
