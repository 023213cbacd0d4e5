"""What a service or a command does wrong, and what a sync makes of it; real server and queue."""

from __future__ import annotations

import sys

import pytest

from chat_server import KEY, Act, drops, fails, hangs, huge, marked, raw, says
from desk import Desk, correction
from model_desk import codes, model, model_jobs, reported, story
from terminal import answer

pytestmark = pytest.mark.usefixtures("short_waits")

REDIRECT = raw(b"", headers={"Location": "http://127.0.0.1:9/"}, status=307)
NOTHING = says(marked([]))


def stories(desk: Desk, count: int) -> None:
    for number in range(count):
        story(desk, f"s{number}", f"cents{number}")


@pytest.mark.parametrize(
    ("act", "code", "asked", "left"),
    [
        (fails(402), "model-key", 1, "pending"),
        (fails(400, "odd"), "model", 1, "failed"),
        (fails(504), "model-silent", 1, "failed"),
        (huge, "model", 1, "failed"),
        (REDIRECT, "model", 1, "failed"),
        (raw(b"{", length=99), "model-silent", 3, "pending"),
        (raw(b"<html>"), "model-silent", 3, "failed"),
        (says("I cannot help with that."), "model-answer", 2, "done"),
        (says("", "content_filter"), "model-answer", 2, "done"),
    ],
)
def test_what_is_no_answer_is_a_problem(desk: Desk, act: Act, code: str, asked: int, left: str) -> None:
    story(desk)
    with model(desk, act) as server:
        report = reported(desk)
        assert (codes(report), report["state"]) == ([code], "partial")
        assert (len(server.asked), model_jobs(desk)) == (asked, {left: 1})
        assert "To fix" not in report["problems"][0]["message"]
        if code == "model-answer":
            assert "could not be read" in server.asked[1].prompt
            assert reported(desk)["usage"]["calls"] == 0, "it is not paid for again"
        else:
            assert report["usage"]["calls"] == 0


@pytest.mark.parametrize(("status", "code"), [(401, "model-key"), (404, "model-gone")])
def test_a_key_or_model_that_is_refused_uses_up_no_session_and_the_right_one_is_asked_of_all(
    desk: Desk, status: int, code: str
) -> None:
    stories(desk, 3)
    with model(desk, fails(status, f"no such thing as {KEY}"), NOTHING) as server:
        report = reported(desk)
        assert (codes(report), report["state"], len(server.asked)) == ([code], "partial", 1)
        assert model_jobs(desk) == {"pending": 3}
        if status == 401:
            assert "LERIM_MODEL_KEY" in report["problems"][0]["path"]
        else:
            assert (report["waits"]["why"], report["waits"]["sessions"]) == ("gone", 3)
            assert "Choose another model" in report["problems"][0]["message"]
        assert reported(desk)["state"] == "done"
        assert (len(server.asked), model_jobs(desk)) == (4, {"done": 3})


def asked_about(number: int, bad: Act) -> Act:
    """Does `bad` when the story of this number is asked about, else finds nothing."""
    return lambda handler, asked: (bad if f"cents{number}" in asked.prompt else NOTHING)(handler, asked)


@pytest.mark.parametrize("bad", [raw(b"{", length=99), fails(500)], ids=["breaks off", "500"])
def test_a_session_at_which_the_service_fails_while_it_answers_others_is_given_up_after_three_tries(
    desk: Desk, bad: Act
) -> None:
    stories(desk, 2)
    with model(desk, asked_about(1, bad)):
        states = []
        for number in range(3, 6):
            reported(desk)
            states.append(dict(model_jobs(desk)))
            story(desk, f"s{number}", f"cents{number}")
    assert states == [{"failed": 1, "done": 1}, {"failed": 1, "done": 2}, {"dead": 1, "done": 3}]
    [job] = answer("queue", "list", "--repo", str(desk.repo))["jobs"]
    assert (job["state"], job["tries"], job["session"]) == ("dead", 3, "s1")
    assert "did not answer" in job["reason"]


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("outage", [raw(b"{", length=99), drops, fails(503), fails(529)])
def test_an_outage_gives_up_no_session_however_long_it_lasts(desk: Desk, outage: Act, count: int) -> None:
    stories(desk, count)
    with model(desk, outage):
        states = [reported(desk) and dict(model_jobs(desk)) for _ in range(4)]
    assert states == [{"pending": count}] * 4
    with model(desk, NOTHING):
        reported(desk)
    assert model_jobs(desk) == {"done": count}


def test_sessions_that_are_refused_one_after_another_hold_up_no_other_and_are_given_up(desk: Desk) -> None:
    stories(desk, 2)
    with model(desk, fails(400, "odd"), fails(400, "odd"), NOTHING, fails(400, "odd")) as server:
        assert reported(desk)["state"] == "partial"
        assert model_jobs(desk) == {"pending": 2}, "the settings may be the cause"
        story(desk, "s2", "cents2")
        reported(desk)
        assert "cents2" in server.asked[2].prompt
        assert model_jobs(desk) == {"failed": 2, "done": 1}, "it was not the settings"


@pytest.mark.parametrize("refused", [[fails(400, "odd")], [fails(403, "the input was flagged")] * 2])
def test_what_the_service_has_against_a_text_is_that_sessions_alone(desk: Desk, refused: list[Act]) -> None:
    stories(desk, len(refused) + 1)
    with model(desk, *refused, NOTHING) as server:
        assert codes(reported(desk)) == ["model"] * len(refused)
    assert len(server.asked) == len(refused) + 1
    assert model_jobs(desk) == {"failed": len(refused), "done": 1}


@pytest.mark.parametrize(
    ("command", "code", "told", "left"),
    [
        ([sys.executable, "-c", "import sys; sys.exit('not logged in')"], "model-silent", "not logged in", "failed"),
        (["no-such-agent", "-p"], "model-gone", "full path", "pending"),
    ],
)
def test_a_command_that_fails_or_is_not_there_is_told(
    desk: Desk, command: list[str], code: str, told: str, left: str
) -> None:
    story(desk)
    with model(desk, provider="command", model="mine", base_url="", command=command):
        report = reported(desk)
    assert codes(report) == [code]
    assert told in report["problems"][0]["message"]
    assert model_jobs(desk) == {left: 1}


def test_a_cancel_within_a_call_ends_it_at_once_and_nothing_is_lost(desk: Desk) -> None:
    desk.session("s1", *correction(desk))
    with model(desk, hangs, NOTHING, timeout=50) as server:
        report = desk.sync(cancelled=server.came.is_set)
        assert (report.state, len(report.candidates), model_jobs(desk)) == ("cancelled", 1, {"pending": 1})
        assert desk.sync().state == "done"
    assert len(server.asked) == 2
