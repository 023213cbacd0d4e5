"""Looking for servers of models on this machine."""

from __future__ import annotations

import json
from contextlib import ExitStack

import pytest

from lerim.models.services.local_servers import LocalServer, find_local_servers
from models_server import body, drips, hangs, listing, serving

ENOUGH = 30.0
"""Seconds that a server which answers is given here; those that never do are given little."""
LITTLE = 0.3


def test_servers_that_answer_are_listed_in_the_order_they_were_asked_for() -> None:
    asked: list[str] = []
    with serving(listing("b", "a"), asked) as first, serving(listing()) as second:
        assert find_local_servers([second, "http://127.0.0.1:9/v1", first], ENOUGH) == [
            LocalServer(second, ()),
            LocalServer(first, ("b", "a")),
        ]
    assert [request.split("\n")[0] for request in asked] == ["/v1/models"]
    assert "uthorization" not in asked[0]


@pytest.mark.parametrize(
    "answer",
    [
        body(b"<html>hello</html>"),
        body(b""),
        body(b"[]"),
        body(b'{"data": "x"}'),
        body(b'{"data": [{"id": 5}]}'),
        body(b"\xff\xfe"),
        body(b"[" * 100_000),
        body(b'{"data": []}', status=404),
        body(b"", status=302, headers={"Location": "https://models.example/v1/models"}),
        body(json.dumps({"data": [], "x": "y" * 1_000_000}).encode()),
    ],
)
def test_what_is_no_server_of_models_is_passed_over(answer) -> None:
    with serving(answer) as url:
        assert find_local_servers([url], ENOUGH) == []


def test_those_that_never_answer_hold_nobody_up() -> None:
    with ExitStack() as stack:
        urls = [stack.enter_context(serving(act)) for act in (hangs, drips, hangs)]
        assert find_local_servers(urls, LITTLE) == []


def test_no_other_machine_is_asked() -> None:
    urls = ["https://models.example/v1", "http://192.0.2.1/v1", "http://localhost.example/v1", "file:///etc/passwd"]
    assert find_local_servers(urls, LITTLE) == []


def test_names_that_are_none_and_models_that_only_embed_are_left_out() -> None:
    names = ["text-embedding-nomic", "a\nb", "", "x" * 300, "qwen"]
    with serving(listing(*names)) as url:
        assert find_local_servers([url], ENOUGH) == [LocalServer(url, ("qwen",))]
