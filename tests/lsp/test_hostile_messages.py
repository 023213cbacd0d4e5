"""Messages that break the rules: the protocol's own errors, and the sidecar answers the next good one."""

from __future__ import annotations

import contextlib
import json
import queue
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lerim.lsp.protocol import core
from long import times
from window import server_environ, write_memory

SECONDS = 60
"""For hangs only."""
ROUNDS = 40


class Raw:
    """A client that sends bytes, and reads what is answered."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lerim", "lsp"],
            cwd=repo,
            env=server_environ(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self.reading = threading.Thread(target=self._read, daemon=True)
        self.reading.start()
        self.number = 1000

    def _read(self) -> None:
        out = self.process.stdout
        assert out
        while header := out.readline():
            if header.lower().startswith(b"content-length:"):
                length = int(header.partition(b":")[2])
                while out.readline().strip():
                    pass
                self.answers.put(json.loads(out.read(length)))

    def raw(self, data: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def body(self, data: bytes) -> None:
        self.raw(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

    def send(self, message: object) -> None:
        self.body(json.dumps(message).encode())

    def answer(self) -> dict[str, Any]:
        """The next answer to a request; what the sidecar says or asks of itself is passed over."""
        while True:
            found = self.answers.get(timeout=SECONDS)
            if "method" not in found:
                return found

    def request(self, method: str, params: object) -> dict[str, Any]:
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while (found := self.answer()).get("id") != self.number:
            pass
        return found

    def start(self) -> None:
        folders = [{"uri": self.repo.as_uri(), "name": "repo"}]
        params = {"processId": None, "rootUri": None, "capabilities": {}, "workspaceFolders": folders}
        options = {"trusted": True, "settings": {"idleSeconds": 0}}
        assert "result" in self.request("initialize", {**params, "initializationOptions": options})
        self.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})

    def lives(self) -> None:
        """It answers a good request."""
        assert self.request(core.DEBUG, {})["result"]["version"]
        assert self.process.poll() is None

    def end(self) -> None:
        self.process.kill()
        self.reading.join(SECONDS)
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(BrokenPipeError):
                assert stream
                stream.close()
        self.process.wait()


@pytest.fixture
def raw(repo: Path, isolated: Path) -> Iterator[Raw]:
    """A sidecar of the test's own, to which nothing was said."""
    client = Raw(repo)
    yield client
    client.end()


@pytest.fixture(scope="module")
def sidecars() -> Iterator[list[Raw]]:
    """The sidecar that the tests of this module share, once one of them has started it."""
    started: list[Raw] = []
    yield started
    for client in started:
        client.end()


@pytest.fixture
def shared(sidecars: list[Raw], repo: Path, isolated: Path) -> Raw:
    """A sidecar that was initialized, and had the messages of other tests."""
    if not sidecars or sidecars[-1].process.poll() is not None:
        sidecars.append(Raw(repo))
        sidecars[-1].start()
    return sidecars[-1]


def hover(**changes: object) -> dict[str, object]:
    where = {"textDocument": {"uri": "file:///a.py"}, "position": {"line": 0, "character": 0}}
    return {"jsonrpc": "2.0", "id": 1, "method": "textDocument/hover", "params": where, **changes}


WRONG: tuple[tuple[dict[str, object], int], ...] = (
    (hover(method=5), -32600),
    (hover(jsonrpc="1.0"), -32600),
    ({"id": 1, "method": "textDocument/hover"}, -32600),
    ({"jsonrpc": "2.0", "id": 1}, -32600),
    (hover(method="textDocument/unheardOf"), -32601),
    (hover(params="text"), -32602),
    (hover(params=[1, 2]), -32602),
    (hover(params={"textDocument": 5}), -32602),
    (hover(method="initialize", params={}), -32600),
    (hover(method=core.MEMORY_SHOW, params=[1]), -32602),
    (hover(method=core.SYNC, params={}), -32602),
    (hover(method=core.REVIEW_ACT, params={"root": "file:///", "id": "x", "action": "explode"}), -32602),
)


def test_a_request_of_a_wrong_form_is_answered_with_the_protocols_error(shared: Raw) -> None:
    for message, code in WRONG:
        shared.send(message)
        answer = shared.answer()
        assert (answer["id"], answer["error"]["code"]) == (1, code), message
    for bad in ({"a": 1}, None, True, 1.5):
        shared.send(hover(id=bad))
        answer = shared.answer()
        assert (answer["id"], answer["error"]["code"]) == (None, -32600), bad
    shared.lives()


def test_a_number_that_no_database_can_hold_is_a_bad_parameter(shared: Raw) -> None:
    number = 2**63
    for method, params in (
        (core.SESSIONS_LIST, {"day": "2026-08-01", "start": number}),
        (core.SESSIONS_SEARCH, {"query": "x", "limit": number}),
        (core.SESSION_TURNS, {"id": "claude:s1", "start": number}),
        (core.SESSION_TURNS, {"id": "claude:s1", "count": number}),
        (core.QUEUE_ACT, {"job": number, "action": "retry"}),
        (core.MEMORY_SEARCH, {"query": "x", "limit": number}),
        (core.MEMORY_TITLES, {"start": number}),
        (core.MEMORY_TREE, {"start": number}),
    ):
        assert shared.request(method, params)["error"]["code"] == -32602, method
    shared.lives()


NO_MESSAGES = (
    (b"", -32700),
    (b"{", -32700),
    (b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}', -32700),
    (b"[" * 100_000, -32700),
    (b"[]", -32600),
    (b'[{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}]', -32600),
    (b'"text"', -32600),
    (b"null", -32600),
)


def test_a_body_that_is_no_message_is_answered_with_the_protocols_error(shared: Raw) -> None:
    for body, code in NO_MESSAGES:
        shared.body(body)
        answer = shared.answer()
        assert (answer["id"], answer["error"]["code"]) == (None, code), body[:50]
    shared.lives()


def test_after_a_broken_header_the_next_message_is_found(shared: Raw) -> None:
    for header in (b"Content-Length: x", b"Content-Length: -5", b"Content-Length: 99999999999", b"Content-Type: a"):
        shared.raw(header + b"\r\n\r\n" + json.dumps(hover()).encode())
        shared.lives()


@pytest.mark.parametrize("by", [-3, 3])
def test_a_length_that_is_wrong_costs_the_messages_it_spoils_and_no_more(shared: Raw, by: int) -> None:
    raw = shared
    body = json.dumps(hover()).encode()
    raw.raw(b"Content-Length: %d\r\n\r\n%b" % (len(body) + by, body))
    raw.send(hover(id=2))  # this one is spoilt where the length was too large
    assert raw.answer()["error"]["code"] == -32700
    raw.lives()


def test_before_it_is_initialized_and_after_shutdown_requests_are_refused_and_it_leaves_when_told(raw: Raw) -> None:
    raw.send({"jsonrpc": "2.0", "method": "textDocument/didSave", "params": {"textDocument": {"uri": "file:///a"}}})
    raw.send({"jsonrpc": "2.0", "method": "initialized", "params": {}})
    raw.send(hover())
    assert raw.answer()["error"]["code"] == -32002
    assert raw.request("shutdown", None)["error"]["code"] == -32002
    assert raw.request("initialize", {"processId": "x", "capabilities": 5})["error"]["code"] == -32602
    raw.start()
    raw.lives()
    assert raw.request("shutdown", None)["result"] is None
    assert raw.request(core.DEBUG, {})["error"]["code"] == -32600
    raw.send({"jsonrpc": "2.0", "method": "exit"})
    assert raw.process.wait(SECONDS) == 0


def test_a_lone_surrogate_in_an_address_or_a_text_is_taken_as_unknown(shared: Raw) -> None:
    write_memory(shared.repo)
    for uri in ("file:///tmp/\ud800.py", "\udfff", f"{shared.repo.as_uri()}/src/app.py"):
        item = {"uri": uri, "languageId": "python", "version": 1, "text": "def load\udc00(): ...\n\ud83d"}
        shared.send({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}})
        where = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 5}}
        assert "id" in shared.request("textDocument/hover", where)
        assert "id" in shared.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
        shared.request(core.MEMORY_FOR_FILE, {"uri": uri})
        shared.request(core.SYNC, {"root": uri if uri.startswith("\udfff") else "file:///\ud800"})
    shared.request(core.MEMORY_SEARCH, {"query": "load \ud800"})
    shared.lives()


def test_answers_to_questions_nobody_asked_and_odd_cancellations_are_passed_over(shared: Raw) -> None:
    for bad in (
        {"id": {"a": 1}, "result": 1},
        {"id": 7, "result": None},
        {"id": [1], "error": 5},
        {"id": 7, "error": 5},
    ):
        shared.send({"jsonrpc": "2.0", **bad})
    for number in ({"a": 1}, None, 99, [1]):
        shared.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": number}})
    shared.send({"jsonrpc": "2.0", "method": "$/cancelRequest"})
    shared.lives()


def _mutated(chance: random.Random, repo: Path) -> bytes:
    """A message that something was done to."""
    uri = f"{repo.as_uri()}/src/app.py"
    values: list[Any] = [None, True, -1, 2**70, 1.5, "", "\ud800", [], {}, [[]], uri, "x" * 70_000]
    params: dict[str, Any] = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 5}, "root": uri}
    params[chance.choice([*params, "id", "query", "uri"])] = chance.choice(values)
    methods = ["textDocument/hover", "textDocument/codeLens", "textDocument/didOpen", "textDocument/didChange"]
    methods += ["workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles", "$/setTrace", "unheardOf"]
    methods += [
        core.MEMORY_SEARCH,
        core.REVIEW_LIST,
        core.MEMORY_SHOW,
        core.MODEL_STATUS,
        core.TURN,
    ]
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": 5, "method": chance.choice(methods), "params": params}
    if chance.random() < 0.5:
        message[chance.choice([*message])] = chance.choice(values)
    if chance.random() < 0.3:
        del message[chance.choice([*message])]
    body = bytearray(json.dumps(message).encode())
    for _ in range(chance.choice([0, 0, 1, 5])):
        body[chance.randrange(len(body))] = chance.randrange(256)
    header = chance.choice([b"Content-Length: %d", b"content-length:%d", b"Content-Length: %d\r\nContent-Type: x"])
    if chance.random() < 0.1:
        header = chance.choice([b"Content-Length: %dx", b"Content-Length: -%d", b"Length: %d", b"Content-Length: 00%d"])
    return header % len(body) + b"\r\n\r\n" + bytes(body)


def test_it_answers_after_whatever_was_sent_and_ends_in_the_middle_of_a_message(raw: Raw) -> None:
    write_memory(raw.repo)
    raw.start()
    chance = random.Random(8)
    for number in range(times(ROUNDS)):
        raw.raw(_mutated(chance, raw.repo))
        if number % 10 == 9:
            raw.lives()
    raw.lives()
    raw.raw(b'Content-Length: 500\r\n\r\n{"jsonrpc"')
    assert raw.process.stdin
    raw.process.stdin.close()
    assert raw.process.wait(SECONDS) == 0
