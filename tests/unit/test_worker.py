"""The job process's own parts: its arguments, its lines, its ear."""

from __future__ import annotations

import io
import json
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from chat_server import chat, says
from lerim.assistant.answers import Question
from lerim.jobs.maintain import MaintainProgress
from lerim.jobs.report import SyncProgress
from lerim.jobs.sync_context import SyncOptions
from lerim.jobs.worker import LineWriter, Order, listen_to_parent, parse_order, run_order
from lerim.models.editor import EditorBridge, EditorCancellation, EditorQuestion, EditorRefusedError


def order(*arguments: str, said: bytes = b"") -> Order | None:
    return parse_order(arguments, io.BytesIO(said))


def test_its_arguments_are_one_order() -> None:
    assert order("sync", "--repo", "/r") == Order("sync", Path("/r"))
    assert order("sync", "--repo", "/r", "--explicit") == Order("sync", Path("/r"), explicit=True)
    chosen = SyncOptions(since=datetime(2026, 3, 1, tzinfo=UTC), accept_above=0.0, quotes="local", model="none")
    assert order("sync", "--repo", "/r", "--options", msgspec.json.encode(chosen).decode()) == Order(
        "sync", Path("/r"), options=chosen
    )
    assert order("maintain", "--repo", "/r") == Order("maintain", Path("/r"))
    both = Order("maintain", Path("/r"), explicit=True, dry_run=True)
    assert order("maintain", "--repo", "/r", "--dry-run", "--explicit") == both
    assert order("model") == Order("model")
    assert order("try", "--repo", "/r") == Order("try", Path("/r"))
    assert order("benefit", "--repo", "/r") == Order("benefit", Path("/r"))
    asked = b'{"text": "why uv?"}\nmore'
    assert order("ask", "--repo", "/r", said=asked) == Order("ask", Path("/r"), question=Question("why uv?"))
    assert order("ask", "--repo", "/r", said=b"why uv?\n") is None
    for wrong in ("", "model x", "sync", "sync --repo", "maintain --repo", "maintain --repo /r x", "sync --repo /r x"):
        assert order(*wrong.split()) is None


def test_a_cancel_is_heard_noise_is_not_and_the_end_of_input_is() -> None:
    cancel, gone, bridge = threading.Event(), threading.Event(), EditorBridge(lambda _line: None)
    listen_to_parent(io.BytesIO(b'nonsense\n{"event":"other"}\n'), cancel, bridge, gone.set)
    assert (cancel.is_set(), gone.is_set()) == (False, True)
    listen_to_parent(io.BytesIO(b'{"event":"cancel"}\n'), cancel, bridge, gone.set)
    assert cancel.is_set()


@pytest.mark.parametrize(
    "line",
    [
        b'{"event":"answer","id":1,"text":"pnpm"}\n',
        b'{"event":"answer","id":1}\n{"event":"answer","id":1,"text":"pnpm","more":2}\n',
        b'{"event":"refused","id":1,"why":"whim"}\n{"event":"refused","id":7,"why":"quota"}\n'
        b'{"event":"answer","id":1,"text":"pnpm"}\n',
        b'{"event":"refused","id":1,"why":"quota","message":"monthly"}\n',
    ],
)
def test_answers_of_the_editors_model_reach_who_asked(line: bytes) -> None:
    output = io.BytesIO()
    lines = LineWriter(output)

    def parent(ask: EditorQuestion | EditorCancellation) -> None:
        lines.send(ask)
        listen_to_parent(io.BytesIO(line), threading.Event(), bridge, lambda: None)

    bridge = EditorBridge(parent)
    try:
        assert bridge.ask("a/b", "", "p", max_tokens=None, seconds=30, cancelled=lambda: False) == "pnpm"
    except EditorRefusedError as error:
        assert (error.why, error.message) == ("quota", "monthly")
    asked = {"event": "ask", "id": 1, "model": "a/b", "system": "", "prompt": "p", "max_tokens": None, "stream": False}
    assert json.loads(output.getvalue()) == asked


def tried(bridge: EditorBridge | None = None) -> dict:
    """The last line of a job that tries the model the settings name."""
    output = io.BytesIO()
    lines = LineWriter(output)
    run_order(Order("model"), lines, threading.Event(), bridge or EditorBridge(lines.send))
    return json.loads(output.getvalue().splitlines()[-1])


def test_a_model_is_tried_and_what_it_took_or_which_part_is_missing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (tried()["event"], tried()["code"]) == ("error", "settings")
    with chat(says("ready")) as server:
        chosen = {"provider": "openai", "model": "m", "base_url": server.url}
        settings = {f"roles.extract.{key}": value for key, value in chosen.items()}
        monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": settings}))
        told = tried()
    trial = told["result"]
    assert (told["event"], trial["model"], trial["answer"], trial["usage"]["calls"]) == (
        "result",
        "openai:m",
        "ready",
        1,
    )
    monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": {"roles.extract.provider": "zai"}}))
    told = tried()
    assert (told["event"], told["code"]) == ("error", "model-key")
    assert "ZAI_API_KEY" in told["message"]
    monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": {"roles.extract.provider": "editor"}}))
    assert tried()["code"] == "model-gone"


@pytest.mark.parametrize(
    "kind",
    [lambda stage, done: SyncProgress(stage, done, 100, 0), lambda stage, done: MaintainProgress(stage, done, 100)],
)
def test_progress_of_one_stage_is_thinned_and_the_last_of_it_is_kept(kind: Any) -> None:
    output = io.BytesIO()
    lines = LineWriter(output, clock=lambda: 0.0)
    for done in range(101):
        lines.send(kind("reading", done))
    lines.send(kind("learning", 0))
    told = [json.loads(line) for line in output.getvalue().splitlines()]
    kept = [(line["stage"], line.get("sessions_done", line.get("done"))) for line in told]
    assert kept == [("reading", 0), ("reading", 100), ("learning", 0)]


def test_a_folder_outside_any_repository_is_an_error_line_that_says_what_to_do(tmp_path: Path) -> None:
    output = io.BytesIO()
    lines = LineWriter(output)
    code = run_order(Order("sync", tmp_path), lines, threading.Event(), EditorBridge(lines.send))
    assert code == 1
    told = json.loads(output.getvalue())
    assert (told["event"], told["code"], "git init" in told["todo"]) == ("error", "project", True)
    assert str(tmp_path) in told["message"]
