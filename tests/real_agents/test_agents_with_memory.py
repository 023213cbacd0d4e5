"""What the real programs of agents send to their model once Lerim has given them memories: each text once, whatever
becomes of the hook program; and nothing of it is learned from afterwards."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import ALL_AGENTS, HANG_SECONDS, AgentMachine  # type: ignore[attr-defined] # of this folder

TITLE = "Amounts in the ledger are integer cents"
BODY = "Floats lost a cent in every hundredth invoice."
PROMPT = "Add a tip to the amounts in the ledger, and keep them integer cents as they are"
PITFALL = "The migration fails unless LEDGER_LOCALE is set"
NAMES = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini-cli": "gemini",
    "opencode": "opencode",
    "copilot-cli": "copilot",
}
RECALL = {
    "claude-code": ("mcp__lerim__recall", {"question": "How are amounts kept?"}),
    "codex": ("mcp__lerim/recall", {"question": "How are amounts kept?"}),
    "gemini-cli": ("mcp_lerim_recall", {"question": "How are amounts kept?"}),
    "opencode": ("lerim_recall", {"question": "How are amounts kept?"}),
    "copilot-cli": ("lerim-recall", {"question": "How are amounts kept?"}),
}
READ_PITFALL = "`load` leaves its file open"
FAILING = "echo 'migration failed: LEDGER_LOCALE is not set' >&2; exit 3"
READ = {
    "claude-code": ("Read", {"file_path": "{repo}/src/app.py"}),
    "codex": ("exec_command", {"cmd": "cat src/app.py"}),
    "gemini-cli": ("read_file", {"file_path": "{repo}/src/app.py"}),
    "opencode": ("read", {"filePath": "{repo}/src/app.py"}),
    "copilot-cli": ("view", {"path": "{repo}/src/app.py"}),
}
FAIL = {
    "claude-code": ("Bash", {"command": FAILING, "description": "Migrate"}),
    "codex": ("exec_command", {"cmd": FAILING}),
    "gemini-cli": ("run_shell_command", {"command": FAILING}),
    "opencode": ("bash", {"command": FAILING, "description": "Migrate"}),
    "copilot-cli": ("bash", {"command": FAILING, "description": "Migrate"}),
}
every_agent = pytest.mark.parametrize("agent_machine", ALL_AGENTS, indirect=True)


def texts_of(value: object) -> Iterator[str]:
    """All texts in a request."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from texts_of(one)


def count_in_request(body: dict[str, Any], words: str) -> int:
    """How often words are in one request to the model."""
    return sum(text.count(words) for text in texts_of(body))


def most_in_a_request(machine: AgentMachine, words: str) -> int:
    """How often words are in the request that has them most often; a later request repeats the earlier conversation."""
    return max((count_in_request(body, words) for body in machine.service.asked), default=0)


def remember(machine: AgentMachine) -> None:
    """Writes the memories by hand, as a person does."""
    machine.lerim("memory", "add", "--title", TITLE, "--body", BODY, "--reference", "src/app.py")
    pitfall = ("memory", "add", "--kind", "pitfall", "--title")
    machine.lerim(*pitfall, PITFALL)
    machine.lerim(*pitfall, READ_PITFALL, "--reference", "src/app.py")


def call_tool(machine: AgentMachine, calls: dict[str, tuple[str, dict[str, str]]]) -> None:
    """Has the model call this agent's tool once."""
    name, values = calls[machine.provider]
    root = str(machine.repo)
    machine.service.calls = [(name, {key: value.replace("{repo}", root) for key, value in values.items()})]


def install(machine: AgentMachine, channel: str) -> None:
    """Installs a channel in the person's own files, and waits for the hooks' index. Codex trusts the hooks."""
    machine.lerim("agents", "install", NAMES[machine.provider], "--channel", channel, "--user", "--yes")
    if channel != "hooks":
        return
    deadline = time.monotonic() + HANG_SECONDS
    while not list((machine.home / ".lerim" / "run" / "hooks").glob("*.sqlite3")):
        assert time.monotonic() < deadline, "the hooks' index was not made"
        time.sleep(0.1)
    if machine.provider == "codex":
        trust_hooks(machine)


def trust_hooks(machine: AgentMachine) -> None:
    """Does what a person does with `/hooks` in Codex, over the same interface of its program."""
    listed = ask_app_server(machine, [("hooks/list", {"cwds": [str(machine.repo)]})])
    hooks = [hook for entry in listed["data"] for hook in entry["hooks"]]
    assert hooks and all(hook["trustStatus"] != "trusted" for hook in hooks)
    config = machine.home / ".codex" / "config.toml"
    states = "".join(
        f"\n[hooks.state.{json.dumps(hook['key'])}]\ntrusted_hash = {json.dumps(hook['currentHash'])}\n"
        for hook in hooks
    )
    config.write_text(config.read_text(encoding="utf-8") + states, encoding="utf-8")


def ask_app_server(machine: AgentMachine, requests: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """What Codex's own program answers to the last of these requests."""
    hello = {"clientInfo": {"name": "test", "title": "test", "version": "1"}}
    messages = [{"id": 0, "method": "initialize", "params": hello}, {"method": "initialized"}]
    messages += [{"id": at, "method": method, "params": params} for at, (method, params) in enumerate(requests, 1)]
    return machine.talk(["app-server"], messages, len(requests))


@every_agent
def test_a_matching_prompt_brings_the_memory_to_the_model_once(agent_machine: AgentMachine) -> None:
    remember(agent_machine)
    install(agent_machine, "hooks")
    agent_machine.ask(PROMPT)
    assert most_in_a_request(agent_machine, TITLE) == 1
    assert agent_machine.service.asked


@every_agent
def test_a_session_begins_with_what_was_decided_once(agent_machine: AgentMachine) -> None:
    remember(agent_machine)
    install(agent_machine, "hooks")
    agent_machine.ask("hi")
    assert most_in_a_request(agent_machine, TITLE) == 1
    assert most_in_a_request(agent_machine, PITFALL) == 0


@every_agent
def test_reading_a_file_brings_its_pitfall_to_the_model_once(agent_machine: AgentMachine) -> None:
    remember(agent_machine)
    install(agent_machine, "hooks")
    call_tool(agent_machine, READ)
    agent_machine.ask("hi")
    assert most_in_a_request(agent_machine, READ_PITFALL) == 1


@every_agent
def test_a_failed_command_brings_its_known_cause_to_the_model_once(agent_machine: AgentMachine) -> None:
    remember(agent_machine)
    install(agent_machine, "hooks")
    call_tool(agent_machine, FAIL)
    agent_machine.ask("hi")
    assert most_in_a_request(agent_machine, PITFALL) == 1


@every_agent
def test_a_recall_over_mcp_brings_the_memory_to_the_model_once(agent_machine: AgentMachine) -> None:
    remember(agent_machine)
    install(agent_machine, "mcp")
    call_tool(agent_machine, RECALL)
    agent_machine.ask("How are amounts kept?")
    assert most_in_a_request(agent_machine, BODY) == 1


@every_agent
def test_the_block_in_the_start_file_reaches_the_model_once(agent_machine: AgentMachine) -> None:
    remember(agent_machine)
    if agent_machine.provider == "gemini-cli":
        (agent_machine.repo / "GEMINI.md").write_text("# Rules\n", encoding="utf-8")
    agent_machine.lerim("export", "--yes")
    agent_machine.ask("hi")
    assert most_in_a_request(agent_machine, PITFALL) == 1


@pytest.mark.parametrize("agent_machine", ["claude-code", "copilot-cli"], indirect=True)
def test_the_rules_of_a_folder_reach_the_model_once_when_a_file_of_it_is_read(agent_machine: AgentMachine) -> None:
    remember(agent_machine)
    (agent_machine.repo / ".claude").mkdir()
    agent_machine.lerim("export", "--yes")
    assert list((agent_machine.repo / ".claude" / "rules").glob("lerim-*.md"))
    call_tool(agent_machine, READ)
    agent_machine.ask("hi")
    assert most_in_a_request(agent_machine, TITLE) == 1


@every_agent
@pytest.mark.parametrize("state", ["missing", "exits with 3", "is killed", "hangs"])
def test_a_hook_program_that_fails_blocks_nothing(agent_machine: AgentMachine, state: str) -> None:
    remember(agent_machine)
    install(agent_machine, "hooks")
    program = agent_machine.home / ".lerim" / "bin" / "hook"
    program.unlink()
    scripts = {"exits with 3": "exit 3", "is killed": "kill -SEGV $$", "hangs": "exec sleep 600"}
    if state in scripts:
        program.write_text(f"#!/bin/sh\necho boom >&2\n{scripts[state]}\n", encoding="utf-8")
        program.chmod(0o755)
    agent_machine.service.text = "the answer is there"
    assert "the answer is there" in agent_machine.ask(PROMPT)
    assert most_in_a_request(agent_machine, TITLE) == 0


@every_agent
def test_a_second_installation_changes_nothing_and_removal_restores_every_byte(agent_machine: AgentMachine) -> None:
    before = files_of(agent_machine)
    for channel in ("mcp", "hooks", "skill"):
        agent_machine.lerim("agents", "install", NAMES[agent_machine.provider], "--channel", channel, "--user", "--yes")
    installed = files_of(agent_machine)
    assert installed != before
    again = ("agents", "install", NAMES[agent_machine.provider], "--user", "--yes")
    agent_machine.lerim(*again)
    assert files_of(agent_machine) == installed
    agent_machine.lerim("agents", "remove", NAMES[agent_machine.provider], "--user", "--yes")
    assert files_of(agent_machine) == before


def files_of(machine: AgentMachine) -> dict[str, bytes]:
    """The files of the home and the repository, without Lerim's own and git's."""
    found: dict[str, bytes] = {}
    for root in (machine.home, machine.repo):
        for folder, _, names in os.walk(root):
            for name in names:
                path = Path(folder) / name
                if not {".lerim", ".git"} & set(path.relative_to(root).parts):
                    found[str(path)] = path.read_bytes()
    return found


@every_agent
def test_a_session_with_memories_in_it_proposes_nothing_of_them(agent_machine: AgentMachine) -> None:
    remember(agent_machine)
    install(agent_machine, "hooks")
    install(agent_machine, "mcp")
    call_tool(agent_machine, RECALL)
    agent_machine.service.text = f"As the project has it: {TITLE}. {BODY}"
    agent_machine.ask(PROMPT)
    assert most_in_a_request(agent_machine, TITLE) >= 1
    agent_machine.lerim("sync")
    sessions = json.loads(agent_machine.lerim("sessions", "list", "--json"))
    assert sessions["sessions"], "the session was found"
    waiting = json.loads(agent_machine.lerim("review", "list", "--json"))
    assert waiting["candidates"] == []
    for name, memory in memories_of(agent_machine).items():
        assert memory.count("turn:") <= 1, name


def memories_of(machine: AgentMachine) -> dict[str, str]:
    folder = machine.repo / ".lerim" / "memory"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.md")}
