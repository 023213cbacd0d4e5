"""The job process's own parts: its arguments, its lines, its ear."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

import pytest

from chat_server import chat, says
from lerim.lead.cited import Question
from lerim.maintained import MaintainProgress
from lerim.models.editor import Ask, Bridge, RefusedError, Unask
from lerim.report import Progress
from lerim.worker import AnyOrder, AskAbout, Failed, Lines, Maintain, Order, TryModel, listen, parse, work


def order(*arguments: str, said: bytes = b"") -> AnyOrder | None:
    return parse(arguments, io.BytesIO(said))


def test_its_arguments_are_one_order() -> None:
    assert order("sync", "--repo", "/r") == Order(Path("/r"), explicit=False)
    assert order("sync", "--repo", "/r", "--explicit") == Order(Path("/r"), explicit=True)
    assert order("sync", "--explicit", "--repo", "--explicit") == Order(Path("--explicit"), explicit=True)
    assert order("maintain", "--repo", "/r") == Maintain(Path("/r"), explicit=False, dry_run=False)
    both = Maintain(Path("/r"), explicit=True, dry_run=True)
    assert order("maintain", "--repo", "/r", "--dry-run", "--explicit") == both
    assert order("model") == TryModel()
    asked = b'{"text": "why uv?"}\nmore'
    assert order("ask", "--repo", "/r", said=asked) == AskAbout(Path("/r"), Question("why uv?"))
    assert order("ask", "--repo", "/r", said=b"why uv?\n") is None
    for wrong in (
        [],
        ["model", "x"],
        ["sync"],
        ["sync", "--repo"],
        ["maintain", "--repo"],
        ["maintain", "--repo", "/r", "x"],
        ["sync", "--repo", "/r", "x"],
    ):
        assert order(*wrong) is None


def test_progress_of_one_stage_is_thinned_and_the_last_of_it_is_kept() -> None:
    output = io.BytesIO()
    lines = Lines(output, clock=lambda: 0.0)
    for done in range(101):
        lines.send(Progress("reading", done, 100, 0))
    lines.send(Progress("learning", 0, 100, 0))
    told = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [(line["stage"], line["sessions_done"]) for line in told] == [
        ("reading", 0),
        ("reading", 100),
        ("learning", 0),
    ]


def test_progress_of_a_maintaining_is_thinned_too() -> None:
    output = io.BytesIO()
    lines = Lines(output, clock=lambda: 0.0)
    for done in range(3_000):
        lines.send(MaintainProgress("proposing", done, 3_000))
    lines.send(MaintainProgress("done"))
    told = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [(line["stage"], line["done"]) for line in told] == [("proposing", 0), ("done", 0)]


def test_a_cancel_is_heard_noise_is_not_and_the_end_of_input_is() -> None:
    cancel, gone, bridge = threading.Event(), threading.Event(), Bridge(lambda _line: None)
    listen(io.BytesIO(b'nonsense\n{"event":"other"}\n'), cancel, bridge, gone.set)
    assert (cancel.is_set(), gone.is_set()) == (False, True)
    listen(io.BytesIO(b'{"event":"cancel"}\n'), cancel, bridge, gone.set)
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
    lines = Lines(output)

    def parent(ask: Ask | Unask) -> None:
        lines.send(ask)
        listen(io.BytesIO(line), threading.Event(), bridge, lambda: None)

    bridge = Bridge(parent)
    try:
        assert bridge.ask("a/b", "", "p", max_tokens=None, seconds=30, cancelled=lambda: False) == "pnpm"
    except RefusedError as error:
        assert (error.why, error.message) == ("quota", "monthly")
    asked = {"event": "ask", "id": 1, "model": "a/b", "system": "", "prompt": "p", "max_tokens": None, "stream": False}
    assert json.loads(output.getvalue()) == asked


def test_a_folder_outside_any_repository_is_an_error_line(tmp_path: Path) -> None:
    output = io.BytesIO()
    lines = Lines(output)
    code = work(Order(tmp_path, explicit=True), lines, threading.Event(), Bridge(lines.send))
    assert code == 1
    told = json.loads(output.getvalue())
    assert (told["event"], told["code"]) == ("error", "project")
    assert str(tmp_path) in told["message"]


def test_an_error_line_has_code_message_and_what_to_do() -> None:
    output = io.BytesIO()
    Lines(output).send(Failed("busy", "process 7 is syncing", "Try again."))
    assert json.loads(output.getvalue()) == {
        "event": "error",
        "code": "busy",
        "message": "process 7 is syncing",
        "todo": "Try again.",
    }


def tried(bridge: Bridge | None = None) -> dict:
    """The last line of a job that tries the model the settings name."""
    output = io.BytesIO()
    lines = Lines(output)
    work(TryModel(), lines, threading.Event(), bridge or Bridge(lines.send))
    return json.loads(output.getvalue().splitlines()[-1])


def test_a_model_is_tried_and_what_it_took_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with chat(says("ready")) as server:
        settings = {
            "roles.extract.provider": "openai",
            "roles.extract.model": "m",
            "roles.extract.base_url": server.url,
        }
        monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": settings}))
        told = tried()
    assert (told["event"], told["model"], told["answer"], told["usage"]["calls"]) == ("tried", "openai:m", "ready", 1)


def test_a_trial_without_a_model_or_a_key_says_which_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (tried()["event"], tried()["code"]) == ("error", "settings")
    monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": {"roles.extract.provider": "zai"}}))
    told = tried()
    assert (told["event"], told["code"]) == ("error", "model-key")
    assert "ZAI_API_KEY" in told["message"]
    monkeypatch.setenv("LERIM_EDITOR", json.dumps({"settings": {"roles.extract.provider": "editor"}}))
    assert tried()["code"] == "model-gone"
