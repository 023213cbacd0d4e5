"""Sessions of subagents: part of their parent's where that is there, sessions of their own where it is not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from claude_lines import encoded, prompt, reply, text
from opencode_store import Store
from opencode_store import text as words
from terminal import answer, run


def claude(repo: Path, parent: str) -> Path:
    """A folder of Claude Code's with the transcript of a subagent; where its parent's would be."""
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "-app"
    own = folder / parent / "subagents" / "agent-a1.jsonl"
    own.parent.mkdir(parents=True)
    fields: Any = {"cwd": str(repo), "sessionId": parent, "isSidechain": True, "agentId": "a1"}
    own.write_bytes(encoded(prompt("Look around", **fields), reply("m1", text("It is a shop."), **fields)))
    return folder / f"{parent}.jsonl"


def opencode(repo: Path, parent: str) -> Path:
    folder = Path(os.environ["XDG_DATA_HOME"]) / "opencode" / "export"
    folder.mkdir(parents=True)
    store = Store("ses_child", directory=str(repo), parentID=parent)
    store.say("user", words("Look around"), path={"cwd": str(repo)})
    store.say("assistant", words("It is a shop."), path={"cwd": str(repo)})
    store.export(folder / "child.json")
    return folder / "parent.json"


def codex(repo: Path, parent: str) -> Path:
    folder = Path(os.environ["CODEX_HOME"]) / "sessions" / "2026" / "07" / "01"
    folder.mkdir(parents=True)
    child = "019f1de1-ca1d-7261-9e32-4d51380144e7"
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": parent, "depth": 1}}}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "It is a shop."}]}
    lines = [
        {"type": "session_meta", "payload": {"id": child, "cwd": str(repo), "source": spawned}},
        {"type": "response_item", "payload": said},
    ]
    timed = ({"timestamp": f"2026-07-01T13:32:{number:02}Z", **line} for number, line in enumerate(lines))
    path = folder / f"rollout-2026-07-01T13-32-44-{child}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in timed), encoding="utf-8")
    return folder / f"rollout-2026-07-01T13-30-00-{parent}.jsonl"


def numbers(repo: Path) -> dict[str, int]:
    """How many sessions each command counts."""
    here = ("--repo", str(repo))
    return {
        "sync": answer("sync", *here)["sessions"]["found"],
        "status": answer("status", *here)["sessions"],
        "list": len(answer("sessions", "list", *here)["sessions"]),
        "list --all": len(answer("sessions", "list", "--all")["sessions"]),
        "connect": sum(agent["found"] for agent in answer("connect", "list", *here)["agents"]),
        "stats": answer("stats", *here)["total"]["sessions"],
    }


PARENT = "019f1de1-ca1d-7261-9e32-4d51380144e6"


@pytest.fixture(autouse=True)
def stores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))


@pytest.mark.parametrize("agent", [claude, opencode, codex])
def test_a_subagent_s_session_whose_parent_is_missing_is_listed_and_counted(repo: Path, agent: Any):
    agent(repo, PARENT)
    before = answer("connect", "list", "--repo", str(repo))["agents"]
    assert sum(one["sessions"] for one in before) == 1
    assert set(numbers(repo).values()) == {1}
    [one] = answer("sessions", "list", "--repo", str(repo))["sessions"]
    assert (one["parent"], one["parent_missing"]) == (PARENT, True)
    assert "a subagent's, whose parent session is missing" in run("sessions", "list", "--repo", str(repo)).stdout


def test_it_is_part_of_its_parent_s_as_soon_as_that_is_there(repo: Path):
    parent = claude(repo, "aaaa1111")
    assert set(numbers(repo).values()) == {1}
    parent.write_bytes(encoded(prompt("Describe the app", cwd=str(repo), sessionId="aaaa1111")))
    assert set(numbers(repo).values()) == {1}
    [one] = answer("sessions", "list", "--repo", str(repo))["sessions"]
    assert (one["id"], one["parent"], one["parent_missing"]) == ("aaaa1111", "", False)
    assert answer("sessions", "show", "agent-a1")["session"]["parent"] == "aaaa1111"


def test_a_parent_in_which_nothing_was_said_hides_no_subagent(repo: Path):
    parent = claude(repo, "aaaa1111")
    parent.write_bytes(encoded({"type": "summary", "summary": "Nothing yet", "leafUuid": "x"}))
    assert numbers(repo)["list"] == 1
    [one] = answer("sessions", "list", "--repo", str(repo))["sessions"]
    assert (one["id"], one["parent_missing"]) == ("agent-a1", True)


def test_a_subagent_of_a_subagent_whose_parent_is_missing_is_part_of_it(repo: Path):
    opencode(repo, PARENT)
    folder = Path(os.environ["XDG_DATA_HOME"]) / "opencode" / "export"
    store = Store("ses_grandchild", directory=str(repo), parentID="ses_child")
    store.mark = "g"
    store.say("assistant", words("The shop sells tea."), path={"cwd": str(repo)})
    store.export(folder / "grandchild.json")
    assert set(numbers(repo).values()) == {1}
    assert [one["id"] for one in answer("sessions", "list", "--all")["sessions"]] == ["ses_child"]
