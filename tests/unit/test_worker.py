"""The job process's own parts: its arguments, its lines, its ear."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path

from lerim.report import Progress
from lerim.worker import Failed, Lines, Order, listen, parse, work


def test_its_arguments_are_one_order() -> None:
    assert parse(["sync", "--repo", "/r"]) == Order(Path("/r"), explicit=False)
    assert parse(["sync", "--repo", "/r", "--explicit"]) == Order(Path("/r"), explicit=True)
    assert parse(["sync", "--explicit", "--repo", "--explicit"]) == Order(Path("--explicit"), explicit=True)
    for wrong in ([], ["sync"], ["sync", "--repo"], ["maintain", "--repo", "/r"], ["sync", "--repo", "/r", "x"]):
        assert parse(wrong) is None


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


def test_a_cancel_is_heard_noise_is_not_and_the_end_of_input_is() -> None:
    cancel, gone = threading.Event(), threading.Event()
    listen(io.BytesIO(b'nonsense\n{"event":"other"}\n'), cancel, gone.set)
    assert (cancel.is_set(), gone.is_set()) == (False, True)
    listen(io.BytesIO(b'{"event":"cancel"}\n'), cancel, gone.set)
    assert cancel.is_set()


def test_a_folder_outside_any_repository_is_an_error_line(tmp_path: Path) -> None:
    output = io.BytesIO()
    code = work(Order(tmp_path, explicit=True), Lines(output), threading.Event())
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
