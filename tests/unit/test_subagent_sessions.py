"""Sessions of subagents: part of their parent's where that is there, sessions of their own where it is not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import gemini_files
from claude_lines import encoded, prompt, reply, text
from opencode_store import Store
from opencode_store import text as words
from terminal import answer, run

PARENT = "019f1de1-ca1d-7261-9e32-4d51380144e6"
CHILD = "119f1de1-ca1d-7261-9e32-4d51380144e7"


def claude(repo: Path) -> tuple[Path, bytes]:
    """Writes a subagent's transcript where Claude Code does; its parent's, to be written."""
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / "-app"
    own = folder / PARENT / "subagents" / "agent-a1.jsonl"
    own.parent.mkdir(parents=True)
    fields: Any = {"cwd": str(repo), "sessionId": PARENT, "isSidechain": True, "agentId": "a1"}
    own.write_bytes(encoded(prompt("Look around", **fields), reply("m1", text("It is a shop."), **fields)))
    return folder / f"{PARENT}.jsonl", encoded(prompt("Describe the app", cwd=str(repo), sessionId=PARENT))


def opencode(repo: Path) -> tuple[Path, bytes]:
    folder = Path(os.environ["XDG_DATA_HOME"]) / "opencode" / "export"
    folder.mkdir(parents=True)
    child = Store(CHILD, directory=str(repo), parentID=PARENT)
    child.say("user", words("Look around"), path={"cwd": str(repo)})
    child.say("assistant", words("It is a shop."), path={"cwd": str(repo)})
    child.export(folder / "child.json")
    parent = Store(PARENT, directory=str(repo))
    parent.mark = "p"
    parent.say("user", words("Describe the app"))
    return folder / "parent.json", json.dumps({"info": parent.info, "messages": parent.messages}).encode()


def codex(repo: Path) -> tuple[Path, bytes]:
    folder = Path(os.environ["CODEX_HOME"]) / "sessions" / "2026" / "07" / "01"
    folder.mkdir(parents=True)

    def rollout(native: str, source: object, said: str) -> bytes:
        message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": said}]}
        lines = [
            {"type": "session_meta", "payload": {"id": native, "cwd": str(repo), "source": source}},
            {"type": "response_item", "payload": message},
        ]
        timed = ({"timestamp": f"2026-07-01T13:32:{number:02}Z", **line} for number, line in enumerate(lines))
        return "".join(f"{json.dumps(line)}\n" for line in timed).encode()

    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    path = folder / f"rollout-2026-07-01T13-32-44-{CHILD}.jsonl"
    path.write_bytes(rollout(CHILD, spawned, "It is a shop."))
    return folder / f"rollout-2026-07-01T13-30-00-{PARENT}.jsonl", rollout(PARENT, "cli", "I look around.")


def gemini(repo: Path) -> tuple[Path, bytes]:
    chats = Path(os.environ["GEMINI_CLI_HOME"]) / ".gemini" / "tmp" / "app" / "chats"
    (chats / PARENT).mkdir(parents=True)
    (chats.parent / ".project_root").write_text(str(repo), encoding="utf-8")
    told = gemini_files.prompt("Look around"), gemini_files.reply("It is a shop.")
    gemini_files.log(chats / PARENT / f"{CHILD}.jsonl", *told, sessionId=CHILD, kind="subagent")
    path = chats / f"session-2026-05-01T00-00-{PARENT[:8]}.jsonl"
    gemini_files.log(path, gemini_files.prompt("Describe the app"), sessionId=PARENT)
    written = path.read_bytes()
    path.unlink()
    return path, written


AGENTS = pytest.mark.parametrize("agent", [claude, opencode, codex, gemini])


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


@pytest.fixture(autouse=True)
def stores(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "gemini"))


@AGENTS
def test_a_subagent_s_session_is_listed_and_counted_until_its_parent_s_is_there(repo: Path, agent: Any):
    path, parent = agent(repo)
    before = answer("connect", "list", "--repo", str(repo))["agents"]
    assert sum(one["sessions"] for one in before) == 1
    assert set(numbers(repo).values()) == {1}
    [one] = answer("sessions", "list", "--repo", str(repo))["sessions"]
    assert (one["parent"], one["parent_missing"]) == (PARENT, True)
    assert "a subagent's, whose parent session is missing" in run("sessions", "list", "--repo", str(repo)).stdout
    path.write_bytes(parent)
    assert set(numbers(repo).values()) == {1}
    [one] = answer("sessions", "list", "--repo", str(repo))["sessions"]
    assert (one["id"], one["parent"], one["parent_missing"]) == (PARENT, "", False)


@AGENTS
def test_before_anything_is_read_it_counts_as_part_of_its_parent_s(repo: Path, agent: Any):
    path, parent = agent(repo)
    path.write_bytes(parent)
    found = answer("connect", "list", "--repo", str(repo))["agents"]
    counted = sum(one["sessions"] for one in found)
    assert counted == (2 if agent is codex else 1)  # only inside the rollout does Codex say whose subagent it is of
    assert set(numbers(repo).values()) == {1}


def test_a_parent_in_which_nothing_was_said_hides_no_subagent(repo: Path):
    path, _ = claude(repo)
    path.write_bytes(encoded({"type": "summary", "summary": "Nothing yet", "leafUuid": "x"}))
    assert numbers(repo)["list"] == 1
    [one] = answer("sessions", "list", "--repo", str(repo))["sessions"]
    assert (one["id"], one["parent_missing"]) == ("agent-a1", True)


def test_a_subagent_of_a_subagent_whose_parent_is_missing_is_part_of_it(repo: Path):
    path, _ = opencode(repo)
    store = Store("ses_grandchild", directory=str(repo), parentID=CHILD)
    store.mark = "g"
    store.say("assistant", words("The shop sells tea."), path={"cwd": str(repo)})
    store.export(path)
    assert set(numbers(repo).values()) == {1}
    assert [one["id"] for one in answer("sessions", "list", "--all")["sessions"]] == [CHILD]
