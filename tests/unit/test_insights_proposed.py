"""Related learnings put together: by a model whose words lose nothing, else as a list."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from test_maintain import AUTO, run, said, settings

from chat_server import KEY, Chat, chat, says
from desk import Desk
from lerim.paths import Home
from lerim.review import queue

POOL = (
    ("The pool needs a timeout of 30 seconds", "A connection of the pool without a timeout hangs."),
    ("A connection of the pool is retried twice", "`RETRIES` is 2. Then the pool gives the connection up."),
    ("Close each connection of the pool", "Never call `pool.drop()` with a connection open."),
)
WHOLE = (
    "A connection of the pool without a timeout hangs, so the pool needs one of 30 seconds. A connection is retried "
    "twice (`RETRIES` is 2), then the pool gives the connection up. Close each connection of the pool; never call "
    "`pool.drop()` with a connection open."
)


@pytest.fixture
def desk(repo: Path, isolated: Path) -> Desk:
    return Desk(repo, Home(isolated / ".lerim"), isolated / ".claude" / "projects")


def insight(title: str, body: str) -> str:
    told = json.dumps({"title": title, "body": body, "tags": []})
    return f"[[ ## reasoning ## ]]\nx\n\n[[ ## insight ## ]]\n{told}\n\n[[ ## completed ## ]]\n"


@pytest.fixture
def pool(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Chat]]:
    """Three related learnings, and a lead that answers with these texts, one a call."""
    monkeypatch.setenv("LERIM_MODEL_KEY", KEY)
    for day, (title, body) in enumerate(POOL):
        said(desk, title, body, days=9 - day, primitive="learning", references=("src/db.py",))
    opened = []

    def lead(*texts: str) -> Chat:
        server = chat(*(says(text) for text in texts))
        opened.append(server)
        made = server.__enter__()
        settings(desk, f'{AUTO}[roles.lead]\nprovider = "openai"\nmodel = "m"\nbase_url = "{made.url}"\n')
        return made

    yield lead
    for server in opened:
        server.__exit__(None, None, None)


def test_related_learnings_are_proposed_as_a_list_that_waits_for_a_person(
    desk: Desk, pool: Callable[..., Chat]
) -> None:
    settings(desk, AUTO)
    [one] = run(desk, model="auto").proposals
    assert (one.action, one.title) == ("consolidate", "What was learned about `src/db.py`")
    assert all(title in one.body and body in one.body for title, body in POOL)
    assert one.reason == "3 learnings are about `src/db.py` and share words."


def test_a_models_words_that_keep_everything_are_taken(desk: Desk, pool: Callable[..., Chat]) -> None:
    asked = pool(insight("Connections of the pool: a timeout, two retries, then close", WHOLE))
    report = run(desk, model="auto")
    assert [one.action for one in report.done] == ["accepted-consolidate"]
    [left] = [one.record for one in desk.place.store().load_all()[0] if one.status == "active"]
    assert (left.kind, left.body, len(left.supersedes)) == ("insight", WHOLE, 3)
    assert left.references == ("src/db.py",)
    assert len(left.evidence) == 3
    assert (report.model, report.spent[0].usage.calls) == ("openai:m", 1)
    assert len(asked.asked) == 1
    assert run(desk, model="auto").done == []


def test_a_models_words_that_lose_or_make_up_something_twice_are_not_taken(
    desk: Desk, pool: Callable[..., Chat]
) -> None:
    asked = pool(insight("The pool", WHOLE.replace("30", "60")), insight("The pool", "Mind the pool."))
    report = run(desk, model="auto")
    [one] = report.proposals
    assert one.title == "What was learned about `src/db.py`"
    assert "it makes up 60" in asked.asked[1].prompt
    assert [step.kind for step in report.steps] == ["lost"]


def test_a_sentence_that_no_learning_says_or_that_says_the_contrary_is_not_taken(
    desk: Desk, pool: Callable[..., Chat]
) -> None:
    invented = f"{WHOLE} Passwords are stored in plain text."
    turned = WHOLE.replace("Close each connection of the pool;", "Never close each connection of the pool;")
    asked = pool(insight("The pool", invented), insight("The pool", turned))
    report = run(desk, model="auto")
    assert [one.action for one in report.done] == ["proposed-consolidate"]
    assert "it makes up “Passwords are stored in plain text.”" in asked.asked[1].prompt
    assert [step.kind for step in report.steps] == ["lost"]


def test_a_models_own_words_wait_for_a_person_though_they_keep_everything(
    desk: Desk, pool: Callable[..., Chat]
) -> None:
    pool(insight("The pool", f"{WHOLE} A connection of the pool without a timeout blocks each writer."))
    report = run(desk, model="auto")
    assert [one.action for one in report.done] == ["proposed-consolidate"]
    assert [one.flags for one in report.proposals] == [["own-words"]]


def test_what_waits_or_was_rejected_is_not_asked_of_a_model_again(desk: Desk, pool: Callable[..., Chat]) -> None:
    asked = pool(insight("The pool", "Mind the pool."))
    [one] = run(desk, model="auto").proposals
    calls = len(asked.asked)
    run(desk, model="auto")
    queue.reject_candidate(desk.place, one.id)
    run(desk, model="auto")
    assert len(asked.asked) == calls


def test_a_model_that_is_away_leaves_the_list_of_the_rules(desk: Desk, pool: Callable[..., Chat]) -> None:
    pool("no JSON at all")
    report = run(desk, model="auto")
    assert [one.title for one in report.proposals] == ["What was learned about `src/db.py`"]
    assert [step.kind for step in report.steps] == ["unread"]
