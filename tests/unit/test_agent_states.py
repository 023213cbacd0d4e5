"""What is said of each agent is so: where its store is, what was found, read, left out and why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from claude_lines import prompt, reply, text
from desk import Desk, correction
from lerim.jobs.agent_states import AgentView, examine_agents
from lerim.sessions import platforms
from rights import bound
from stories import FIRST
from story_stores import AGENTS


def claude(desk: Desk) -> AgentView:
    [agent] = [one for one in examine_agents(desk.home, os.environ, desk.place.project) if one.platform == "claude"]
    return agent


def reasons(agent: AgentView) -> dict[str, tuple[int, str]]:
    return {one.reason: (one.count, Path(one.example).name) for one in agent.skipped}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_session_of_every_agent_is_counted_for_its_own_project_before_the_first_sync(
    desk: Desk, isolated: Path, tmp_path: Path, agent: str
) -> None:
    AGENTS[agent](isolated, desk.repo, "here", FIRST)
    if more := agent != "copilot-chat":  # it has one folder for both
        AGENTS[agent](isolated, tmp_path / "elsewhere", "elsewhere", FIRST)
    for waiting in (1, 0):
        found = [one for one in examine_agents(desk.home, os.environ, desk.place.project) if one.sessions]
        assert [(one.sessions, one.found, one.waiting) for one in found] == [(1 + more, 1, waiting)]
        desk.sync()


def test_after_a_sync_they_are_read_and_one_that_grew_waits_again(desk: Desk) -> None:
    desk.session("s1", prompt("Hello"))
    desk.session("s2", prompt("Hello again"))
    desk.session("s3", prompt("Elsewhere"), cwd=desk.repo.parent)
    desk.sync()
    agent = claude(desk)
    assert (agent.sessions, agent.found, agent.parsed, agent.waiting) == (3, 2, 2, 0)
    assert agent.last_sync.endswith("Z")
    desk.session("s1", prompt("More"))
    agent = claude(desk)
    assert (agent.found, agent.parsed, agent.waiting) == (2, 1, 1)
    platforms.remove_platform(desk.home, "claude")
    agent = claude(desk)
    assert (agent.state, agent.sessions, agent.found) == ("removed", 0, 0), "it is not even looked at"
    assert agent.stores[0].exists


def test_a_session_that_cannot_be_opened_is_left_out_with_the_reason_and_when(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    desk.sync()
    path = desk.session("s1", prompt("More"))
    path.chmod(0)
    with bound():
        desk.sync()
    agent = claude(desk)
    assert reasons(agent) == {"unreadable": (1, "s1.jsonl")}
    assert (agent.found, agent.parsed, agent.waiting) == (1, 0, 0)
    assert agent.last_error is not None
    assert agent.last_error.where == str(path)
    assert agent.last_error.time.endswith("Z")
    path.chmod(0o600)
    path.parent.chmod(0)  # a folder that cannot be listed
    with bound():
        agent = claude(desk)
    path.parent.chmod(0o700)
    assert reasons(agent)["unreadable"] == (1, path.parent.name) and agent.last_error is not None
    desk.sync()
    assert (claude(desk).skipped, claude(desk).last_error) == ([], None)


def test_a_mangled_transcript_is_one_problem_with_a_count(desk: Desk) -> None:
    path = desk.session("s1", prompt("Hello"))
    with path.open("ab") as file:
        file.write(b"\xff\x00{ no json\n" * 250)
    desk.session("s1", prompt("More"))
    [problem] = desk.sync().problems
    assert (problem.code, problem.path.startswith(str(path))) == ("bad-line", True)
    assert "250" in problem.message


def test_a_session_without_a_folder_is_of_no_project_and_told(desk: Desk) -> None:
    path = desk.session("s1", prompt("Hello"))
    path.write_bytes(path.read_bytes().replace(str(desk.repo).encode(), b""))
    desk.sync()
    assert reasons(claude(desk)) == {"no-folder": (1, "s1.jsonl")}


def test_secrets_cut_out_of_what_was_learned_are_counted_each_once(desk: Desk) -> None:
    secret = "ghp_" + "a8Kd02mXq7LzP4rT9vWb1NcYh6Se3Jf5GuQo"
    [read, *rest] = correction(desk)
    desk.session("s1", read, *rest)
    desk.sync()
    assert claude(desk).redactions == 0
    told = [
        record | {"message": {"role": "user", "content": f"No, use tomllib instead of {secret} in README.md. {secret}"}}
        if "No, use" in str(record)
        else record
        for record in correction(desk, "tomllib", "README.md")
    ]
    desk.session("s2", *told, prompt("thanks"), reply("z", text("Done.")))
    desk.sync()
    assert claude(desk).redactions == 1
    desk.session("s2", *correction(desk, "attrs", "src/other.py"))
    desk.sync()
    assert claude(desk).redactions == 1, "what was counted stays, and is not counted again"
