"""The API over a real repository: the same objects as `--json`, and the same acts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest

import many_memories
from desk import Desk, correction
from lerim.project import project, registry
from proposals import propose
from terminal import answer
from web_server import WebServer, web_server


@pytest.fixture
def server(desk: Desk) -> Iterator[WebServer]:
    """A server of the desk's home, which knows its repository."""
    project.add_project(desk.place.project, desk.home)
    with web_server(desk.home) as running:
        yield running


def at(desk: Desk, path: str = "") -> str:
    return f"/projects/{desk.place.project.key}{path}"


def events(response: httpx2.Response) -> list[dict[str, Any]]:
    """The objects of a stream of server-sent events."""
    assert response.headers["content-type"].startswith("text/event-stream")
    return [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line.startswith("data: ")]


def without(answered: Any, *names: str) -> Any:
    return {name: value for name, value in answered.items() if name not in names}


def test_reading_returns_what_the_command_line_prints(desk: Desk, server: WebServer) -> None:
    desk.session("s1", *correction(desk))
    desk.sync()
    answer("memory", "add", "--repo", str(desk.repo), "--title", "Use uv", "--reference", "src/app.py")
    repo = ("--repo", str(desk.repo))
    pairs: list[tuple[str, dict[str, str], tuple[str, ...]]] = [
        ("/projects", {}, ("project", "list")),
        (at(desk, "/status"), {}, ("status", *repo)),
        (at(desk, "/memories"), {}, ("memory", "list", *repo)),
        (at(desk, "/memories/search"), {"q": "uv"}, ("memory", "search", "uv", *repo)),
        (at(desk, "/candidates"), {}, ("review", "list", *repo)),
        (at(desk, "/left-out"), {}, ("review", "left-out", *repo)),
        (at(desk, "/actions"), {}, ("review", "undo", "--list", *repo)),
        (at(desk, "/queue"), {}, ("queue", "list", *repo)),
        (at(desk, "/configuration"), {}, ("config", "show", *repo)),
        ("/sessions", {"project": desk.place.project.key}, ("sessions", "list", *repo)),
        ("/sessions/search", {"q": "pathlib"}, ("sessions", "search", "pathlib", "--all")),
        ("/sessions/s1", {}, ("sessions", "show", "s1")),
        ("/statistics", {}, ("stats",)),
        ("/statistics/signals", {}, ("stats", "--by", "signal")),
    ]
    for path, query, command in pairs:
        assert server.get(path, **query) == answer(*command), path
    [memory] = server.get(at(desk, "/memories"))["memories"]
    assert server.get(at(desk, f"/memories/{memory['id']}")) == answer("memory", "show", memory["id"], *repo)
    [candidate] = server.get(at(desk, "/candidates"))["candidates"]
    shown = server.get(at(desk, f"/candidates/{candidate['id']}"))
    assert shown == answer("review", "show", candidate["id"], *repo)


def test_a_candidate_is_edited_accepted_undone_and_rejected(desk: Desk, server: WebServer) -> None:
    own = propose(desk.place.personal(), "Answers are short")
    assert server.get(f"/projects/global/candidates/{own}")["scope"] == "global"
    assert [one["scope"] for one in server.get("/projects/global/candidates")["candidates"]] == ["global"]
    name = propose(desk.place)
    path = at(desk, f"/candidates/{name}")
    assert server.post(f"{path}/edit", {"title": "Use uv for everything"})["code"] == "edited"
    assert server.post(f"{path}/accept", {})["ask_quotes"]
    accepted = server.post(f"{path}/accept", {"quotes": "local"})
    assert accepted["ok"]
    assert desk.memories() == ["Use uv for everything"]
    assert server.post(at(desk, "/actions/undo"), {"action": accepted["action"]})["code"] == "undone"
    assert desk.memories() == []
    assert server.post(f"{path}/reject", {})["ok"]
    assert server.get(at(desk, "/candidates"))["candidates"] == []


def test_memories_are_added_and_changed(desk: Desk, server: WebServer) -> None:
    body = {"title": "Who pays?", "primitive": "question", "references": ["src/app.py"], "tags": ["money"]}
    added = server.post(at(desk, "/memories"), body)
    path = at(desk, f"/memories/{added['id']}")
    assert server.post(f"{path}/edit", {"title": "Who pays for it?"})["ok"]
    assert server.post(f"{path}/verify")["ok"]
    assert server.post(f"{path}/feedback", {"feedback": "useful"})["ok"]
    assert server.post(f"{path}/promote", {"title": "The customer pays"})["ok"]
    assert server.get(path)["status"] == "resolved"
    [decision] = server.get(at(desk, "/memories"))["memories"]
    decision_path = at(desk, f"/memories/{decision['id']}")
    assert server.post(f"{decision_path}/globalize")["ok"]
    assert server.post(f"{decision_path}/kind", {"primitive": "learning", "kind": "pitfall"})["ok"]
    assert server.post(f"{decision_path}/archive", {"reason": "old"})["ok"]
    assert server.get(decision_path)["why"] == "old"
    assert server.post(f"{decision_path}/restore")["ok"]
    assert server.get("/projects/global/memories")["memories"][0]["title"] == "The customer pays"
    refused = server.post(f"{decision_path}/delete", None, 422)
    assert refused["error"]["message"] == "Only themes are deleted."


def test_pages_of_memories_make_up_the_list_of_the_command_line(desk: Desk, server: WebServer) -> None:
    records = many_memories.memories(7, "a number")
    records[5] = replace(records[5], supersedes=(records[2].id,))  # only the newer file says so
    many_memories.write(desk.repo, records)
    repo = ("--repo", str(desk.repo))
    for status in ("active", "any"):
        listed = answer("memory", "list", "--status", status, *repo)["memories"]
        pages = [
            server.get(at(desk, "/memories"), status=status, limit="3", offset=str(offset))["memories"]
            for offset in (0, 3, 6)
        ]
        assert [one for page in pages for one in page] == listed
    shown = server.get(at(desk, f"/memories/{records[2].id}"))
    assert shown["status"] == "superseded"
    assert shown == answer("memory", "show", records[2].id, *repo)
    (desk.repo / ".lerim" / "memory" / "decisions" / f"{records[5].id}.md").unlink()
    assert server.get(at(desk, f"/memories/{records[2].id}"))["status"] == "active"


def test_a_sync_starts_once_reports_its_progress_and_ends_with_its_report(desk: Desk, server: WebServer) -> None:
    desk.session("s1", *correction(desk))
    assert server.post(at(desk, "/sync")) == {"started": True}
    followed = events(server.client.get(f"/api/v1{at(desk, '/sync/events')}"))
    assert followed[-1]["event"] == "report"
    assert followed[-1]["report"]["state"] == "done"
    assert len(followed[-1]["report"]["candidates"]) == 1
    assert {"progress"} <= {event["event"] for event in followed}
    assert server.post(at(desk, "/sync/cancel")) == {"cancelled": False}
    assert len(server.get(at(desk, "/candidates"))["candidates"]) == 1


def test_the_status_sees_what_became_of_the_code_and_the_memories_at_once(desk: Desk, server: WebServer) -> None:
    code = desk.repo / "src" / "app.py"
    code.parent.mkdir(exist_ok=True)
    code.write_text("def load():\n    return 1\n", "utf-8")
    for title, reference in (("Use uv", "src/app.py#load"), ("Use pathlib", "./src/app.py#load"), ("Use ruff", "")):
        named = ("--reference", reference) if reference else ()
        answer("memory", "add", "--repo", str(desk.repo), "--title", title, *named)

    def counts() -> tuple[Any, Any, Any]:
        status, again = (server.get(at(desk, "/status")) for _ in range(2))
        assert without(status, "server") == without(again, "server")
        return status["memories"], status["drift"], [one["code"] for one in status["problems"]]

    assert counts() == ({"decision": 3}, {}, [])
    code.write_text("def load():\n    return 2\n", "utf-8")
    assert counts() == ({"decision": 3}, {"drifted": 2}, [])
    code.unlink()
    assert counts() == ({"decision": 3}, {"gone": 2}, [])
    code.write_text("def load():\n    return 1\n", "utf-8")
    assert counts() == ({"decision": 3}, {}, [])
    code.unlink()
    assert counts() == ({"decision": 3}, {"gone": 2}, [])
    first, second, _ = sorted((desk.repo / ".lerim" / "memory" / "decisions").iterdir())
    first.unlink()
    second.rename(second.with_name("broken.md"))
    second.with_name("broken.md").write_text("no memory", "utf-8")
    assert counts() == ({"decision": 1}, {"gone": 1}, ["memory-unreadable"])


def test_the_status_counts_a_session_as_soon_as_it_was_read(desk: Desk, server: WebServer) -> None:
    def sessions() -> tuple[int, int]:
        status = server.get(at(desk, "/status"))
        return status["sessions"], status["waiting"]

    assert sessions() == sessions() == (0, 0)
    desk.session("s1", *correction(desk))
    desk.sync()
    assert sessions() == sessions() == (1, 0)


def test_a_sync_takes_the_options_of_the_command(desk: Desk, server: WebServer) -> None:
    desk.session("s1", *correction(desk))

    def sync(**options: object) -> Any:
        assert server.post(at(desk, "/sync"), options) == {"started": True}
        return events(server.client.get(f"/api/v1{at(desk, '/sync/events')}"))[-1]["report"]

    assert sync(until="2020-01-01")["left_out"] == 1
    report = sync(since="36500d", accept_above=0, quotes="local", model="none", guidance="only about paths")
    assert (report["model"], report["accepted"]) == ("none", [one["id"] for one in report["candidates"]])
    [memory] = server.get(at(desk, "/memories"))["memories"]
    assert memory["id"] in report["accepted"][0]
    for wrong in ({"since": "soon"}, {"accept_above": 2}, {"model": "best"}, {"guidance": "\0"}, {"agents": "all"}):
        assert server.post(at(desk, "/sync"), wrong, status=400)["error"]["where"] in (*wrong, "body")


def test_maintenance_runs_and_reports(desk: Desk, server: WebServer) -> None:
    answer("memory", "add", "--repo", str(desk.repo), "--title", "Use uv")
    assert server.post(at(desk, "/maintain"), {"dry_run": True}) == {"started": True}
    followed = events(server.client.get(f"/api/v1{at(desk, '/maintain/events')}"))
    assert followed[-1]["event"] == "maintained"
    assert followed[-1]["report"]["dry_run"]


def test_an_answer_arrives_as_events_and_ends_with_its_sources(desk: Desk, server: WebServer) -> None:
    answer("memory", "add", "--repo", str(desk.repo), "--title", "Use uv for packages")
    asked = server.client.post(f"/api/v1{at(desk, '/ask')}", json={"text": "which packages?", "use_model": False})
    [last] = events(asked)
    assert last["event"] == "answered"
    assert last["answer"]["passages"][0]["citation"]["title"] == "Use uv for packages"


def test_a_project_is_named_by_its_key_and_must_be_registered(desk: Desk, server: WebServer, tmp_path: Path) -> None:
    for key in ("0123456789abcdef", str(desk.repo), "..", "%2e%2e", "%2Fetc"):
        response = server.client.get(f"/api/v1/projects/{key}/memories")
        assert response.status_code in (404, 405), key
    registry.remove_entry(desk.home, desk.place.project.key)
    assert server.client.get(f"/api/v1{at(desk, '/memories')}").status_code == 404


@pytest.mark.parametrize(
    ("path", "query", "code"),
    [
        ("/memories", {"limit": "0"}, "request"),
        ("/memories", {"nothing": "1"}, "request"),
        ("/memories", {"since": "soon"}, "usage"),
    ],
)
def test_a_wrong_query_says_what_is_wrong(
    desk: Desk, server: WebServer, path: str, query: dict[str, str], code: str
) -> None:
    response = server.client.get(f"/api/v1{at(desk, path)}", params=query)
    assert (response.status_code, response.json()["error"]["code"]) == (400, code)


def test_secrets_leave_no_answer(desk: Desk, server: WebServer) -> None:
    secret = "ghp_" + "a1B2" * 9
    name = Path(answer("memory", "add", "--repo", str(desk.repo), "--title", "Deploying")["path"])
    name.write_text(name.read_text(encoding="utf-8") + f"\nThe token is {secret}.\n", encoding="utf-8")
    response = server.client.get(f"/api/v1{at(desk, '/memories')}")
    assert "Deploying" in response.text
    assert secret not in response.text
