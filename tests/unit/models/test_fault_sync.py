"""Every fault of a service, in both forms it can be told in, and of a command: real server, queue and job process."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from chat_server import KEY, Act, Asked, Handler, fails, finds, huge, marked, raw, says, too_long
from claude_lines import prompt, reply, text
from desk import Desk
from hang import HANG
from model_desk import CENTS, codes, environ, model, model_jobs, reported, story

pytestmark = pytest.mark.usefixtures("short_waits")

AT_ONCE = {"retry-after": "0"}
FORMS = ("openai", "anthropic")


@pytest.fixture(params=FORMS)
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    return str(request.param)


def steps(report: dict) -> list[tuple[str, str]]:
    return [(step["kind"], step["why"].partition(";")[0]) for step in report["steps"]]


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (fails(429, headers=AT_ONCE), "too many requests"),
        (fails(429, headers={"retry-after-ms": "1"}), "too many requests"),
        (fails(529, headers=AT_ONCE), "the service failed (529)"),
        (fails(500, headers=AT_ONCE), "the service failed (500)"),
        (raw(b"{", length=99), "the connection failed"),
        (raw(b"<html>"), "the answer broke off"),
    ],
)
def test_what_passes_is_waited_for_and_told(desk: Desk, form: str, act: Act, why: str) -> None:
    story(desk)
    with model(desk, act, finds(CENTS), provider=form) as server:
        report = reported(desk)
    assert len(server.asked) == 2
    assert (len(report["candidates"]), report["state"], report["problems"]) == (1, "done", [])
    assert steps(report) == [("retried", why)]


def test_a_model_that_is_busy_or_not_there_is_left_for_the_next(desk: Desk, form: str) -> None:
    def act(handler: Handler, asked: Asked) -> None:
        busy = {"m": fails(429, headers={"retry-after": "7200"}), "second": fails(404, "no such model")}
        busy.get(asked.body["model"], finds(CENTS))(handler, asked)

    story(desk)
    with model(desk, act, provider=form, fallback_models=["second", "third"]) as server:
        report = reported(desk)
    assert [asked.body["model"] for asked in server.asked] == ["m", "second", "third"]
    assert len(report["candidates"]) == 1
    assert steps(report) == [("fallback", "too many requests"), ("fallback", "there is no such model")]
    assert [one["model"] for one in report["spent"]] == [f"{form}:third"]


@pytest.mark.parametrize(
    ("act", "code", "left"),
    [
        (fails(401, f"bad key {KEY}"), "model-key", "pending"),
        (fails(403, f"bad key {KEY}"), "model-key", "pending"),
        (fails(400, "Your credit balance is too low"), "model-key", "pending"),
        (fails(402), "model-key", "pending"),
        (fails(400, "odd"), "model", "failed"),
        (fails(404, "no such model"), "model-gone", "pending"),
        (fails(504), "model-silent", "failed"),
        (huge, "model", "failed"),
        (raw(b"", headers={"Location": "http://127.0.0.1:9/"}, status=307), "model", "failed"),
    ],
)
def test_what_does_not_pass_is_asked_once_and_told(desk: Desk, form: str, act: Act, code: str, left: str) -> None:
    story(desk)
    with model(desk, act, provider=form) as server:
        report = reported(desk)
    assert len(server.asked) == 1
    assert (codes(report), report["state"]) == ([code], "partial")
    assert "To fix" not in report["problems"][0]["message"]
    assert model_jobs(desk) == {left: 1}
    assert report["usage"]["calls"] == 0


def test_a_model_that_is_not_there_uses_up_no_session_and_the_right_one_is_asked_of_all(desk: Desk) -> None:
    for name in ("s1", "s2", "s3"):
        story(desk, name, f"cents{name}")
    with model(desk, fails(404, "no such model")) as server:
        report = reported(desk)
    assert (len(server.asked), model_jobs(desk)) == (1, {"pending": 3})
    assert (codes(report), report["waits"]["why"], report["waits"]["sessions"]) == (["model-gone"], "gone", 3)
    assert "Choose another model" in report["problems"][0]["message"]
    with model(desk, says(marked([]))) as server:
        assert reported(desk)["state"] == "done"
    assert (len(server.asked), model_jobs(desk)) == (3, {"done": 3})


@pytest.mark.parametrize(
    "act", [fails(400, "odd"), raw(b"", headers={"Location": "http://127.0.0.1:9/"}, status=307)], ids=["400", "307"]
)
def test_what_two_sessions_in_a_row_are_refused_ends_the_pass_and_uses_up_none(desk: Desk, act: Act) -> None:
    for name in ("s1", "s2", "s3", "s4"):
        story(desk, name, f"cents{name}")
    with model(desk, act) as server:
        report = reported(desk)
    assert (len(server.asked), model_jobs(desk)) == (2, {"pending": 4})
    assert (codes(report), report["state"]) == (["model", "model"], "partial")
    assert steps(report) == [("stopped", "two questions in a row got no answer")]


def test_what_the_service_has_against_a_text_is_that_sessions_alone(desk: Desk) -> None:
    for name in ("s1", "s2", "s3"):
        story(desk, name, f"cents{name}")
    flagged = fails(403, "the input was flagged")
    with model(desk, flagged, flagged, says(marked([]))) as server:
        assert codes(reported(desk)) == ["model", "model"]
    assert (len(server.asked), model_jobs(desk)) == (3, {"failed": 2, "done": 1})


@pytest.mark.parametrize("vendor", ["anthropic", "z.ai", "llama.cpp"])
def test_a_window_too_large_in_each_form_is_halved(desk: Desk, form: str, vendor: str) -> None:
    long = "We talked about the weather and the harbour. " * 60
    desk.session(
        "s1",
        prompt("In src/app.py amounts of `Money` are cents by agreement with billing, whatever the form says"),
        reply("a", text(f"Noted: `Money` holds integers in src/app.py. {long}")),
        prompt(f"ok {long}"),
        reply("b", text(f"Anything else? {long}")),
    )

    def act(handler: Handler, asked: Asked) -> None:
        whole = "`Money` are cents" in asked.prompt and "Anything else?" in asked.prompt
        (too_long(vendor) if whole else finds(CENTS))(handler, asked)

    with model(desk, act, provider=form) as server:
        report = reported(desk)
    assert len(report["candidates"]) == 1
    assert "halved" in [step["kind"] for step in report["steps"]]
    assert len(server.asked) >= 3


def test_a_command_that_fails_is_told_with_its_last_words(desk: Desk) -> None:
    story(desk)
    command = [sys.executable, "-c", "import sys; sys.exit('not logged in')"]
    with model(desk, provider="command", model="mine", base_url="", command=command):
        report = reported(desk)
    assert codes(report) == ["model-silent"]
    assert "not logged in" in report["problems"][0]["message"]


def test_a_command_that_is_not_there_stops_at_once_and_says_what_to_do(desk: Desk) -> None:
    for name in ("s1", "s2"):
        story(desk, name, f"cents{name}")
    with model(desk, provider="command", model="mine", base_url="", command=["no-such-agent", "-p"]):
        report = reported(desk)
    assert codes(report) == ["model-gone"]
    assert "full path" in report["problems"][0]["message"]
    assert model_jobs(desk) == {"pending": 2}


@pytest.mark.skipif(sys.platform == "win32", reason="groups of processes")
@pytest.mark.parametrize("way", ["cancel", "kill"])
def test_a_command_ends_with_its_job(desk: Desk, tmp_path: Path, way: str) -> None:
    story(desk)
    mark = tmp_path / "pid"
    program = f"import os, time; open({str(mark)!r} + '.part', 'w').write(str(os.getpid()))\n"
    program += f"os.rename({str(mark)!r} + '.part', {str(mark)!r}); time.sleep(600)"
    with model(desk, provider="command", model="mine", base_url="", command=[sys.executable, "-c", program]):
        arguments = [sys.executable, "-P", "-m", "lerim", "worker", "sync", "--repo", str(desk.repo), "--explicit"]
        with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ()) as process:
            assert process.stdin
            assert process.stdout
            assert until(mark.exists)
            pid = int(mark.read_text())
            if way == "kill":
                process.kill()
            else:
                process.stdin.write(b'{"event":"cancel"}\n')
                process.stdin.flush()
                assert json.loads(process.stdout.read().splitlines()[-1])["report"]["state"] == "cancelled"
        assert until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def until(true: object) -> bool:
    deadline = time.monotonic() + HANG
    while not true():  # type: ignore[operator]
        if time.monotonic() > deadline:
            return False
        threading.Event().wait(0.02)
    return True


def test_what_a_service_kept_back_is_an_answer_that_cannot_be_read(desk: Desk, form: str) -> None:
    story(desk)
    with model(desk, says("", "refusal" if form == "anthropic" else "content_filter"), provider=form):
        report = reported(desk)
    assert codes(report) == ["model-answer"]
