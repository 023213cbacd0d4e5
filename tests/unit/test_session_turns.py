"""`lerim sessions facts` and `lerim sessions export`, after a sync of each agent's own store."""

from __future__ import annotations

import itertools
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from chat_server import fails, finds, says
from claude_lines import answer as result
from claude_lines import call, prompt, reply, text
from desk import Desk
from lerim.sessions import Catalog, list_facts, list_facts_between
from model_desk import model
from stories import FIRST
from story_stores import AGENTS
from terminal import answer, run

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def only_session() -> str:
    [session] = answer("sessions", "list", "--all")["sessions"]
    return session["id"]


def work(desk: Desk) -> None:
    """A session in which a command fails, is mended and passes, with a secret in its output."""
    path = str(desk.repo / "src" / "app.py")
    desk.session(
        "s1",
        prompt("Make the tests pass"),
        reply("a", call("t1", "Bash", command="pytest -q")),
        result("t1", f"Exit code 1\nValueError: bad id {SECRET}", is_error=True),
        reply("b", call("t2", "Edit", file_path=path, old_string="a", new_string="b")),
        result("t2", "The file was updated."),
        reply("c", call("t3", "Bash", command="pytest -q"), text("We decided to use uuid. See src/app.py.")),
        result("t3", "3 passed in 0.1s"),
        prompt("We don't use pip any more, always uv."),
        reply("d", text("Noted.")),
    )


def listed(*more: str) -> list[tuple[int, str, str, str]]:
    facts = answer("sessions", "facts", only_session(), *more)["facts"]
    return [(one["number"], one["entity"], one["relation"], one["value"]) for one in facts]


def test_the_facts_of_a_session_are_kept_with_their_turns_as_it_is_synced(desk: Desk) -> None:
    (desk.repo / ".lerim").mkdir()
    work(desk)
    desk.sync()
    [summary] = (desk.repo / ".lerim" / "memory" / "summaries").glob("*/*/*.md")
    assert "Decided: “We don't use pip any more, always uv.”" in summary.read_text(encoding="utf-8")
    assert listed() == [
        (1, "pytest -q", "produced_error", "ValueError: bad id [redacted:github-token]"),
        (2, "Edit", "wrote", "src/app.py"),
        (3, "pytest -q", "succeeded", "3 passed in 0.1s"),
        (3, "assistant", "decided", "We decided to use uuid."),
        (3, "assistant", "mentions", "src/app.py"),
        (4, "user", "decided", "We don't use pip any more, always uv."),
    ]
    assert listed("--relation", "wrote") == [(2, "Edit", "wrote", "src/app.py")]
    shown = run("sessions", "facts", only_session()).stdout
    assert "[2] Edit: wrote: src/app.py\n" in shown
    assert "[3] the agent: decided: We decided to use uuid." in shown
    assert "[4] you: decided: We don't use pip any more, always uv. (instead of pip)" in shown
    assert SECRET not in shown
    assert run("sessions", "facts", only_session(), "--relation", "guessed").exit_code == 2
    with Catalog.open(desk.home) as catalog:  # those of a span of time are those of its turns
        key = desk.place.project.key
        every = list_facts_between(catalog.db, key, None, None)
        middle = every[2].time
        assert [one.fact.relation for one in every][:2] == ["produced_error", "wrote"]
        assert list_facts_between(catalog.db, key, None, middle) == every[:2]
        assert list_facts_between(catalog.db, key, middle, None) == every[2:]
        assert list_facts_between(catalog.db, "another", None, None) == []


def test_a_session_that_grows_or_is_read_again_has_each_fact_once(desk: Desk) -> None:
    work(desk)
    desk.sync()
    before = listed()
    look = call("t9", "Read", file_path=str(desk.repo / "src/app.py"))
    desk.session("s1", reply("e", look, text("We decided to use uv everywhere.")), result("t9", "1\tpass"))
    desk.sync()
    after = listed()
    assert after[:6] == before
    assert sorted(after[6:]) == [
        (6, "Read", "read", "src/app.py"),
        (6, "assistant", "decided", "We decided to use uv everywhere."),
    ]
    assert "[6] read: src/app.py\n" in run("sessions", "facts", only_session()).stdout  # of reading it says so once
    desk.home.catalog.unlink()
    desk.sync()
    assert listed() == after


def test_the_facts_of_a_session_cost_the_same_however_many_others_have(desk: Desk) -> None:
    work(desk)
    desk.sync()
    with Catalog.open(desk.home) as catalog:
        [place] = catalog.find_project_places(desk.place.project.key)

        def count_steps() -> int:
            steps = itertools.count()
            catalog.db.set_progress_handler(lambda: next(steps) < 0, 1)
            assert len(list_facts(catalog.db, place)) == 6
            catalog.db.set_progress_handler(None, 0)
            return next(steps)

        alone = count_steps()
        for number in range(200):
            catalog.db.execute("INSERT INTO facts SELECT ? || turn, facts FROM facts LIMIT 4", (f"other-{number}",))
        assert count_steps() == alone


@pytest.mark.parametrize("most", [2, 5, 8, 11, 14])
def test_a_sync_that_is_stopped_keeps_all_facts_of_a_session_or_none(desk: Desk, most: int) -> None:
    work(desk)
    calls = Counter[str]()

    def stop_later() -> bool:
        calls["asked"] += 1
        return calls["asked"] > most

    desk.sync(cancelled=stop_later)
    with closing(sqlite3.connect(desk.home.catalog)) as db:
        assert db.execute("SELECT count(*) FROM facts").fetchone()[0] in (0, 4)
    desk.sync()
    assert len(listed()) == 6


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agents_session_has_facts_and_is_exported_in_the_same_form(
    desk: Desk, isolated: Path, agent: str
) -> None:
    AGENTS[agent](isolated, desk.repo, "first", FIRST)
    desk.sync()
    assert {"wrote", "decided"} <= {relation for _, _, relation, _ in listed()}
    exported = run("sessions", "export", only_session(), "--format", "jsonl").stdout
    assert exported == run("sessions", "export", only_session()).stdout
    turns: list[dict[str, Any]] = [json.loads(line) for line in exported.splitlines()]
    assert [one["number"] for one in turns] == sorted(one["number"] for one in turns)
    assert {tuple(one) for one in turns} == {tuple(turns[0])}
    assert {(one["platform"], one["format"]) for one in turns} == {(agent.partition("-")[0], 1)}
    assert turns[0]["role"] == "user" and turns[0]["text"] == FIRST[0].text  # type: ignore[union-attr]
    assert {call["kind"] for one in turns for call in one["calls"]} >= {"shell"}


def test_an_export_has_no_secrets_and_says_what_it_left_out(desk: Desk) -> None:
    work(desk)
    path = desk.session("s1")
    with path.open("ab") as file:
        file.write(b"not json\n")
    desk.sync()
    exported = run("sessions", "export", only_session())
    assert SECRET not in exported.output and "[redacted:github-token]" in exported.stdout
    assert "warning" in exported.stderr
    path.unlink()
    desk.sync()
    gone = run("sessions", "export", "s1")
    assert gone.exit_code == 1 and "lerim sessions show" in gone.stderr
    assert run("sessions", "export", "nobody").exit_code == 1


FOUND = '[{"entity": "web", "relation": "depends_on", "value": "uuid", "confidence": 0.9}]'


def test_a_chosen_model_finds_facts_in_turns_that_are_worth_it_and_is_asked_once(desk: Desk) -> None:
    work(desk)
    with model(desk, finds()) as service:
        service.facts = says(FOUND)
        assert desk.sync().problems == []
        [asked] = service.asked_for_facts
        assert "We decided to use uuid." in asked.prompt and SECRET not in str(asked.body)
        desk.session("s1", reply("e", text("Anything else?")))
        desk.sync()
        assert len(service.asked_for_facts) == 1
    assert (3, "web", "depends_on", "uuid") in listed()
    [fact] = answer("sessions", "facts", only_session(), "--relation", "depends_on")["facts"]
    assert fact["confidence"] == 0.8
    assert "[3] web: needs: uuid\n" in run("sessions", "facts", only_session()).stdout


def test_turns_wait_for_facts_while_the_model_does_not_answer(desk: Desk) -> None:
    work(desk)
    with model(desk, finds(), timeout=2) as service:
        service.facts = fails(400)
        desk.sync()
        assert len(service.asked_for_facts) == 1
        assert all(relation != "depends_on" for _, _, relation, _ in listed())
        service.facts = says(FOUND)
        desk.sync()
    assert (3, "web", "depends_on", "uuid") in listed()
