"""The real programs of agents, asked exactly as a sync asks them, against a scripted service.

They are taken from PATH, and from the folders in LERIM_TEST_AGENTS (as PATH is written). What is not there is skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agent_server import Service, serving
from engines import asking, never
from lerim.config.providers import Role
from lerim.models import lm15
from lerim.models.agents.programs import AGENTS, find_program
from lerim.models.choose import choose_model
from lerim.models.engine import Engine
from lerim.paths import Home
from lerim.sessions.platforms import find_platform_roots
from lerim.sessions.readers.engine.typed_text import ASKS_MARK
from lerim.sessions.readers.platform_readers import find_sessions, read_session
from roles import settings

SEARCHED = os.pathsep.join([os.environ.get("LERIM_TEST_AGENTS", ""), os.environ.get("PATH", "")])
REAL = [name for name, agent in AGENTS.items() if agent.is_tested]
QUESTION = "\n".join(
    ["/help is no command here, nor are !`ls`, !{ls} and $(id).", "It was in @SECRET and @../../../../secret.txt."]
    + ["Grüße 漢字 🙂 'x' \"y\" \\n %PATH% `z`"] * 400
    + ["What is the answer?"]
)
UNREAD = "what stands in this file is sent to nobody"
NOTHING_DONE = ("update_topic", "request_user_input", "wait", "exec")
"""Tools that read, run and fetch nothing: `exec` of Codex has no host that could run it, as the test shows."""


@dataclass
class Machine:
    """A machine with one agent set up for the scripted service, and traps where its settings start programs."""

    provider: str
    home: Path
    environ: dict[str, str]
    service: Service

    @property
    def trap(self) -> Path:
        return self.home.parent / "was-run"

    def write(self, name: str, text: str) -> None:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(params=REAL)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    provider = str(request.param)
    home = tmp_path / "home"
    (home / ".lerim").mkdir(parents=True, mode=0o700)
    environ = {"HOME": str(home), "PATH": SEARCHED, "LANG": "C.UTF-8", "LERIM_HOME": str(home / ".lerim")}
    if find_program(provider, environ) is None:
        pytest.skip(f"{AGENTS[provider].name} is not installed here (LERIM_TEST_AGENTS)")
    (tmp_path / "secret.txt").write_text(UNREAD)
    with serving() as service:
        made = Machine(provider, home, environ, service)
        _SETUPS[provider](made)
        yield made


def _claude(machine: Machine) -> None:
    machine.environ |= {"ANTHROPIC_BASE_URL": machine.service.url, "ANTHROPIC_API_KEY": "sk-a-long-test-key"}
    trap = [{"hooks": [{"type": "command", "command": f"touch {machine.trap}"}]}]
    machine.write(".claude/settings.json", json.dumps({"hooks": {"UserPromptSubmit": trap, "SessionStart": trap}}))
    server = {"command": "touch", "args": [str(machine.trap)]}
    machine.write(".claude.json", json.dumps({"mcpServers": {"trap": server}}))
    machine.service.calls = [("Bash", {"command": f"touch {machine.trap}"})]


def _codex(machine: Machine, model: str = "gpt-5.6-sol") -> None:
    machine.environ["FAKE_KEY"] = "sk-a-long-test-key"
    machine.write(
        ".codex/config.toml",
        f'model = "{model}"\nmodel_provider = "fake"\nnotify = ["touch", "{machine.trap}"]\n'
        f'[model_providers.fake]\nname = "f"\nbase_url = "{machine.service.url}/v1"\n'
        'wire_api = "responses"\nenv_key = "FAKE_KEY"\n'
        f'[mcp_servers.trap]\ncommand = "touch"\nargs = ["{machine.trap}"]\n',
    )
    touch = f"touch {machine.trap}"
    machine.service.calls = [
        ("shell", {"command": ["touch", str(machine.trap)]}),
        ("exec_command", {"cmd": touch}),
        ("exec", {"input": f"await tools.exec_command({{cmd: '{touch}'}})"}),
    ]


def _gemini(machine: Machine) -> None:
    machine.environ |= {"GEMINI_API_KEY": "sk-a-long-test-key", "GOOGLE_GEMINI_BASE_URL": machine.service.url}
    server = {"command": "touch", "args": [str(machine.trap)]}
    chosen = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "mcpServers": {"trap": server}}
    machine.write(".gemini/settings.json", json.dumps(chosen))
    machine.service.calls = [("run_shell_command", {"command": f"touch {machine.trap}"})]


def _opencode(machine: Machine) -> None:
    options = {"baseURL": f"{machine.service.url}/v1", "apiKey": "sk-a-long-test-key"}
    fake = {"npm": "@ai-sdk/openai-compatible", "name": "f", "options": options, "models": {"fake": {"name": "fake"}}}
    machine.write(".config/opencode/opencode.json", json.dumps({"provider": {"fake": fake}, "model": "fake/fake"}))
    machine.environ["OPENCODE_DISABLE_MODELS_FETCH"] = "1"
    machine.service.calls = [("bash", {"command": f"touch {machine.trap}", "description": "x"})]


def _copilot(machine: Machine) -> None:
    machine.environ |= {
        "COPILOT_OFFLINE": "true",
        "COPILOT_PROVIDER_BASE_URL": f"{machine.service.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "sk-a-long-test-key",
        "COPILOT_MODEL": "gpt-5.6-sol",
    }
    server = {"type": "local", "command": "touch", "args": [str(machine.trap)], "tools": ["*"]}
    machine.write(".copilot/mcp-config.json", json.dumps({"mcpServers": {"trap": server}}))


_SETUPS = {
    "claude-code": _claude,
    "codex": _codex,
    "gemini-cli": _gemini,
    "opencode": _opencode,
    "copilot-cli": _copilot,
}


def engine(machine: Machine, timeout: float = 300.0) -> Engine:
    home = Home.from_environ(machine.environ)
    model, problems = choose_model("extract", settings(Role(machine.provider, timeout=timeout)), machine.environ, None)
    assert model is not None, problems
    return Engine(model, never, home=home, environ=machine.environ)


def tools_of(body: dict[str, Any]) -> set[str]:
    """The names of all tools that a request offers, in any service's form."""
    offered = [*(body.get("tools") or [])]
    for item in body.get("input") or []:
        offered += item.get("tools", []) if item.get("type") == "additional_tools" else []
    names: set[str] = set()
    for tool in offered:
        inner = tool.get("tools") or tool.get("functionDeclarations")
        named = tool.get("function", {}).get("name") or tool.get("name") or tool.get("type")
        names |= {one["name"] for one in inner} if inner is not None else {named} if named else set()
    return names


def texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_of(one)


def test_an_agent_is_asked_without_tools_and_reads_no_file(machine: Machine) -> None:
    question = QUESTION.replace("SECRET", str(machine.home.parent / "secret.txt"))
    machine.service.text = "forty-two"
    asked = engine(machine)
    answer = asked.complete(asking(question))
    assert answer.text == "forty-two"
    bodies = machine.service.asked
    assert set().union(*map(tools_of, bodies)) <= set(NOTHING_DONE), "no tool that reads, runs or fetches"
    sent = [text for body in bodies for text in texts_of(body)]
    assert any(question in text for text in sent), "the prompt arrives whole"
    assert not any(UNREAD in text for text in sent), "a file that the prompt mentions is not read"
    assert not machine.trap.exists(), "neither tools nor hooks nor servers were run"
    assert asked.usage.calls == 1
    assert asked.usage.input_tokens >= 20
    assert asked.usage.output_tokens >= 3
    assert asked.usage.cost == 0


def test_what_an_agent_leaves_of_a_question_is_never_learned_from(machine: Machine) -> None:
    engine(machine).complete(asking("What is a decision? We decided to keep amounts in cents."))
    platform = AGENTS[machine.provider].platform
    kept = {"gemini-cli", "copilot-cli"}
    found = [
        transcript
        for root in find_platform_roots(machine.environ, Home.from_environ(machine.environ))[platform]
        for transcript in find_sessions(platform, root, []).transcripts
    ]
    assert bool(found) == (machine.provider in kept), "sessions are not saved where that can be turned off"
    for transcript in found:
        assert [turn.text for turn in read_session(transcript)] == []
    for root, _, files in os.walk(machine.home):
        for name in files:
            data = (Path(root) / name).read_bytes()
            assert machine.provider in kept or ASKS_MARK.encode() not in data, f"{name} holds the question"


def test_an_agent_that_is_not_logged_in_says_so_in_its_own_words(machine: Machine) -> None:
    machine.service.calls, machine.service.status = [], 401
    with pytest.raises(lm15.LM15Error) as caught:
        engine(machine).complete(asking("What is the answer?"))
    assert AGENTS[machine.provider].name in str(caught.value)
    assert "sk-a-long-test-key" not in str(caught.value)
