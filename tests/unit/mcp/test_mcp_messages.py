"""How `lerim mcp` speaks: the handshake, messages that are none, cancellation, and where it finds the project."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import pytest

from hang import HANG
from lerim.review import ReviewPaths
from mcp_client import McpClient
from reviews import remember


def test_the_handshake_says_what_the_server_is_for_and_when_to_call_it(repo: Path) -> None:
    with McpClient(repo) as client:
        assert client.welcome["protocolVersion"] == "2025-06-18"
        assert client.welcome["serverInfo"]["name"] == "lerim"
        first = client.welcome["instructions"][:200]
        assert "Before you edit" in first and "`recall`" in first and "decided and learned" in first
        tools = client.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["recall", "why", "sessions", "propose"]
    assert [tool["annotations"]["readOnlyHint"] for tool in tools] == [True, True, True, False]
    assert not any(tool["annotations"]["openWorldHint"] or tool["annotations"]["destructiveHint"] for tool in tools)
    assert not any("outputSchema" in tool for tool in tools)  # half of the agents would drop the text for it


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("recall", {}, "needs a question, files, or both"),
        ("recall", {"question": 7}, "`question` must be a string"),
        ("recall", {"question": "x" * 1001}, "at most 1000 characters"),
        ("recall", {"files": ["x"] * 21}, "at most 20 strings"),
        ("recall", {"files": [1]}, "Each of `files`"),
        ("recall", {"question": "x", "limit": "many"}, "`limit` must be a number"),
        ("recall", {"question": "x", "include_drifted": "yes"}, "true or false"),
        ("why", {}, "`path` is missing"),
        ("why", {"path": "../elsewhere.py"}, "not in the repository"),
        ("sessions", {"question": " "}, "`question` is missing"),
        ("propose", {"kind": "rumour", "title": "x"}, "`kind` must be decision, question"),
        ("propose", {"kind": "decision"}, "`title` is missing"),
        ("propose", {"kind": "decision", "title": "\u200b …"}, "`title` is missing"),
        ("propose", {"kind": "decision", "title": "x" * 161}, "at most 160 characters"),
    ],
)
def test_wrong_arguments_are_an_error_that_the_model_can_read(
    repo: Path, tool: str, arguments: dict[str, Any], words: str
) -> None:
    with McpClient(repo) as client:
        text, is_error = client.call(tool, **arguments)
        assert is_error and words in text
        assert client.ask("ping")["result"] == {}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"not json", -32700),
        (b"[" * 100_000, -32700),
        (b"[]", -32600),
        (b'{"id": 5, "method": 3}', -32600),
        (b'{"id": {}, "method": "ping"}', -32600),
        (b'{"id": 5, "method": "ping", "params": []}', -32602),
        (b'{"id": 5, "method": "resources/list"}', -32601),
        (b'{"id": 5, "method": "server/discover"}', -32601),
        (b'{"id": 5, "method": "tools/call", "params": {"name": "shell"}}', -32602),
        (b'{"id": 5, "method": "tools/call", "params": {"name": "recall", "arguments": "x"}}', -32602),
        (b'{"id": 5, "method": "ping", "params": {"x": "' + b"y" * 1_000_001 + b'"}}', -32600),
    ],
    ids=lambda value: str(value)[:60],
)
def test_a_message_that_is_none_gets_an_error_and_the_server_goes_on(repo: Path, line: bytes, code: int) -> None:
    with McpClient(repo) as client:
        client.send(line)
        assert client.receive()["error"]["code"] == code
        assert client.ask("ping")["result"] == {}


def test_a_cancelled_call_gets_no_answer_and_the_next_one_does(place: ReviewPaths, repo: Path) -> None:
    remember(place, "Loading is lazy")
    with McpClient(repo) as client:
        ask = {"name": "recall", "arguments": {"question": "lazy"}}
        for number in range(50):  # while the first is carried out, the others wait
            client.send({"id": f"c{number}", "method": "tools/call", "params": ask})
        client.send({"method": "notifications/cancelled", "params": {"requestId": "c49"}})
        client.send({"id": "end", "method": "tools/call", "params": ask})
        answered: list[str] = []
        while not answered or answered[-1] != "end":
            answered.append(client.receive()["id"])
    assert "c49" not in answered and len(answered) == 50


def test_progress_is_told_where_the_client_asked_for_it(repo: Path) -> None:
    with McpClient(repo) as client:
        ask = {"name": "sessions", "arguments": {"question": "lazy"}}
        client.ask("tools/call", {**ask, "_meta": {"progressToken": "p"}})
        client.ask("tools/call", ask)
    assert [one["progressToken"] for one in client.notifications] == ["p", "p"]
    assert [one["progress"] for one in client.notifications] == [1, 2]


def test_the_project_is_found_by_working_directory_environment_or_the_clients_folders(
    place: ReviewPaths, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(place, "Loading is lazy")
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(repo / "src")
    with McpClient("") as client:
        assert "lazy" in client.tell("recall", question="loading")
        assert client.tell("why", path="app.py") == "No reviewed memory is about this."  # a path from where it runs
    monkeypatch.chdir(outside)
    with McpClient("") as client:
        assert client.tell("recall", question="loading") == "No reviewed memory is about this."
        for name, arguments in (("propose", {"kind": "decision", "title": "x"}), ("why", {"path": "app.py"})):
            text, is_error = client.call(name, **arguments)
            assert is_error and "No git repository was found" in text
    for nowhere in (str(outside), "~nobody-of-that-name"):
        with McpClient(nowhere) as client:
            text, is_error = client.call("recall", question="loading")
            assert is_error and "--repo names no git repository" in text
    with McpClient("", {"roots": {}}) as client:
        request = client.receive()
        assert request["method"] == "roots/list"
        client.send({"id": request["id"], "result": {"roots": [{"uri": outside.as_uri()}, {"uri": repo.as_uri()}]}})
        assert "lazy" in client.tell("recall", question="loading")
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    with McpClient("") as client:
        assert "lazy" in client.tell("recall", question="loading")


def test_the_handshake_imports_nothing_heavy(repo: Path) -> None:
    script = (
        "import sys\nfrom lerim.__main__ import main\nsys.argv = ['lerim', 'mcp']\nmain()\n"
        "print(sorted({'msgspec', 'pydantic', 'yaml', 'sqlite3', 'asyncio', 'dataclasses', 're', 'typing', 'pathlib'}"
        " & set(sys.modules)), file=sys.stderr)"
    )
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}) + "\n"
    done = subprocess.run(
        [sys.executable, "-I", "-c", script],
        cwd=repo,
        input=hello,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert json.loads(done.stdout)["id"] == 1
    heavy = json.loads(done.stderr.splitlines()[-1].replace("'", '"'))
    assert not set(heavy) & {"msgspec", "pydantic", "yaml", "sqlite3", "asyncio", "dataclasses"}, done.stderr


def test_a_project_that_becomes_known_later_is_used_from_then_on(
    place: ReviewPaths, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(place, "Loading is lazy")
    monkeypatch.chdir(tmp_path)
    with McpClient("") as client:
        assert client.tell("recall", question="loading") == "No reviewed memory is about this."
        monkeypatch.chdir(repo)
        client.tell("propose", kind="insight", title="Saving is slow")
        assert "lazy" in client.tell("recall", question="loading")


def test_a_working_directory_that_was_deleted_is_in_no_project(
    place: ReviewPaths, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(place, "Loading is lazy")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with McpClient("") as client:
        assert client.tell("recall", question="loading") == "No reviewed memory is about this."
    with McpClient(repo) as client:
        assert "lazy" in client.tell("recall", question="loading")


@pytest.mark.asyncio
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_client_of_the_protocols_authors_lists_and_calls_the_tools(
    place: ReviewPaths, repo: Path, mode: Literal["auto", "legacy"]
) -> None:
    from mcp.types import TextContent

    from mcp import Client, StdioServerParameters  # importing it takes a second, which other workers do without

    remember(place, "Loading is lazy")
    environ = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    server = StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "lerim", "mcp", "--repo", str(repo)], env=environ
    )
    shown: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        shown.append((progress, message))

    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == ["recall", "why", "sessions", "propose"]
        assert tools[0].annotations is not None and tools[0].annotations.read_only_hint
        result = await client.call_tool("recall", {"question": "loading?"}, progress_callback=on_progress)
        [content] = result.content
        assert isinstance(content, TextContent) and "Loading is lazy" in content.text
        assert not result.is_error and result.structured_content is None
        failed = await client.call_tool("recall", {})
        assert failed.is_error
    assert shown
