"""Sessions of several windows and a service in trouble: what is kept, where the next sync goes on, what is told; real
server and queue."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from chat_server import Act, Asked, Handler, fails, finds, hangs, item, marked, raw, says
from claude_lines import prompt, reply, text
from desk import Desk
from lerim.jobs.report import CandidateFound
from model_desk import codes, model, model_jobs, reported

pytestmark = pytest.mark.usefixtures("short_waits")

RULES = 6
WEATHER = "We talked about the weather and the harbour. " * 60
TITLES = [f"`Part{number}` in `src/app.py` is in cents" for number in range(RULES)]
SMALL: dict[str, Any] = {"max_window_tokens": 1_300, "window_overlap_tokens": 0}
"""A window then holds one exchange of the session."""


def long_session(desk: Desk, name: str = "s1") -> Path:
    """One rule an exchange, in words the rules do not read."""
    records = []
    for number in range(RULES):
        records += [
            prompt(f"`Part{number}` of src/app.py is in cents by agreement with billing. {WEATHER} ({name})"),
            reply(f"{name}-{number}", text(f"Noted for `Part{number}` in src/app.py. {WEATHER}")),
        ]
    return desk.session(name, *records)


def in_it(asked: Asked) -> list[int]:
    """The rules that begin in what was asked; none of a merge."""
    if "Join candidates" in asked.prompt:
        return []
    return [number for number in range(RULES) if f"`Part{number}` of src/app.py" in asked.prompt]


def answers(handler: Handler, asked: Asked) -> None:
    """One candidate for each rule in the window; a merge leaves all as they are."""
    numbers = range(RULES) if "Join candidates" in asked.prompt else in_it(asked)
    found = [item(TITLES[n], f"`Part{n}` of src/app.py is in cents by agreement with billing", 2 * n) for n in numbers]
    says(marked(found))(handler, asked)


def but(trouble: Act, *rules: int, when: threading.Event | None = None) -> Act:
    """Answers, but for windows that hold one of these rules (while `when` is not set)."""

    def act(handler: Handler, asked: Asked) -> None:
        troubled = set(rules) & set(in_it(asked)) and not (when and when.is_set())
        (trouble if troubled else answers)(handler, asked)

    return act


def kinds(report: dict) -> list[str]:
    return [step["kind"] for step in report["steps"]]


def sent(asked: list[Asked]) -> list[int]:
    return sorted(number for one in asked for number in in_it(one))


@pytest.mark.parametrize(
    "busy",
    [
        fails(429, headers={"Retry-After": "0"}),
        raw(b'{"choices": [', length=5_000),
    ],
)
def test_a_service_that_wants_no_more_or_is_away_is_gone_back_to_where_it_stopped(desk: Desk, busy: Act) -> None:
    long_session(desk)
    back = threading.Event()
    with model(desk, but(busy, 2, when=back), **SMALL) as server:
        first = reported(desk)
        assert (first["state"], codes(first)) == ("partial", ["model-silent"])
        assert [one["title"] for one in first["candidates"]] == TITLES[:2]
        assert kinds(first).count("retried") == 2
        retried = [step for step in first["steps"] if step["kind"] == "retried"]
        assert {(step["role"], step["where"], step["part"]) for step in retried} == {("extract", "claude:s1", "3 of 6")}
        assert model_jobs(desk) == {"pending": 1}
        answered = {number for number in sent(server.asked) if number > 2}
        before = len(server.asked)
        back.set()
        second = reported(desk)
    assert [one["title"] for one in second["candidates"]] == TITLES[2:]
    assert second["state"] == "done"
    assert sent(server.asked[before:]) == sorted({2, 3, 4, 5} - answered)
    assert kinds(second) == ["resumed"] * len(answered)
    assert {step["where"] for step in second["steps"]} == {"claude:s1"}
    assert desk.waiting() == TITLES[::-1] or sorted(desk.waiting()) == TITLES


def test_sessions_without_a_signal_are_not_sent_unless_the_person_wants_all(desk: Desk) -> None:
    desk.session("s1", prompt("hello"), reply("a", text("Hello! Tell me about it.")))
    with model(desk, finds()) as server:
        report = reported(desk)
        assert server.asked == []
        assert kinds(report) == ["skipped"]
        assert report["steps"][0]["tokens"] > 0
        assert (report["state"], model_jobs(desk)) == ("done", {"done": 1})
        desk.home.config.write_text(f'[extract]\ngate = "all"\n{desk.home.config.read_text()}')
        desk.session("s2", prompt("hello"), reply("b", text("Hello! Tell me about it.")))
        assert reported(desk)["steps"] == []
        assert len(server.asked) == 1


def test_no_step_repeats_what_a_service_says_for_that_may_be_the_transcript(desk: Desk) -> None:
    long_session(desk)
    bent = item(TITLES[0], "what stands nowhere is in cents", 0)

    def repeats(handler: Handler, asked: Asked) -> None:
        if "Join candidates" in asked.prompt:
            fails(402, "cannot bill for: by agreement with billing")(handler, asked)
        elif "Find for each claim" in asked.prompt:
            fails(400, "odd: by agreement with billing")(handler, asked)
        elif 5 in in_it(asked):
            fails(402, "cannot bill for: by agreement with billing")(handler, asked)
        elif 0 in in_it(asked):
            finds(bent)(handler, asked)
        else:
            answers(handler, asked)

    with model(desk, repeats, **SMALL):
        report = reported(desk)
    assert {"repaired", "stopped"} <= set(kinds(report))
    assert "agreement" in report["problems"][0]["message"]
    assert not [step for step in report["steps"] if "agreement" in step["why"]]


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ("This model's maximum context length is 8000 tokens. Your messages resulted in 9000.", {"openai:m": 8_000}),
        ("prompt is too long", None),
    ],
)
def test_what_a_model_takes_is_found_out_once_for_all_sessions_of_a_sync_and_remembered_if_it_was_told(
    desk: Desk, said: str, limits: dict[str, int] | None
) -> None:
    long_session(desk)
    long_session(desk, "s2")

    def small(handler: Handler, asked: Asked) -> None:
        (fails(400, said) if len(in_it(asked)) > 3 else answers)(handler, asked)

    with model(desk, small, max_window_tokens=100_000) as server:
        report = reported(desk)
    assert len([asked for asked in server.asked if len(in_it(asked)) > 3]) == 1
    assert set(kinds(report)) == {"halved", "limited"} if limits else kinds(report) == ["halved"]
    assert report["state"] == "done"
    assert sorted(one["title"] for one in report["candidates"]) == TITLES
    known = desk.home.models
    assert (json.loads(known.read_text())["limits"] if known.exists() else None) == limits


def test_what_was_answered_before_the_end_of_a_sync_stays_and_is_not_asked_again(desk: Desk) -> None:
    long_session(desk)
    back, first = threading.Event(), threading.Event()
    with model(desk, but(hangs, 1, 2, 3, 4, when=back), timeout=50, **SMALL) as server:
        report = desk.sync(
            emit=lambda event: first.set() if isinstance(event, CandidateFound) else None, cancelled=first.is_set
        )
        assert (report.state, model_jobs(desk)) == ("cancelled", {"pending": 1})
        back.set()
        before = len(server.asked)
        assert reported(desk)["state"] == "done"
        assert 0 not in sent(server.asked[before:])
    assert sorted(desk.waiting()) == TITLES
