"""From what a session leaves open to the decision that answers it, through syncs and reviews."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_lines import Fields, answer, call, prompt, reply, text
from desk import Desk
from lerim.paths import Home
from lerim.review import queue

ASKED = "00000000-0000-4000-8000-000000000001"
DECIDED = "00000000-0000-4000-8000-000000000002"


@pytest.fixture
def desk(repo: Path, isolated: Path) -> Desk:
    return Desk(repo, Home(isolated / ".lerim"), isolated / ".claude" / "projects")


def edit(desk: Desk, name: str, old: str, new: str) -> list[Fields]:
    path = str(desk.repo / "src/app.py")
    return [
        reply(f"r-{name}", text("Done."), call(f"e-{name}", "Edit", file_path=path, old_string=old, new_string=new)),
        answer(f"e-{name}", "The file was updated."),
    ]


def test_a_choice_that_was_left_open_is_resolved_by_the_correction_that_makes_it(desk: Desk) -> None:
    desk.session(
        ASKED,
        prompt("Read src/app.py"),
        reply("a", text("Read.")),
        prompt("We haven't decided yet whether to use Redis or Postgres for the job queue."),
        reply("b", text("Noted.")),
    )
    desk.sync()
    [question] = queue.pending(desk.place)[0]
    assert question.record.title == "Undecided: whether to use Redis or Postgres for the job queue?"
    assert queue.accept(desk.place, question.id, quotes="shared").ok

    desk.session(
        DECIDED,
        prompt("Set up the job queue in src/app.py"),
        reply("c", text("I will use Redis in src/app.py.")),
        prompt("No, use Postgres instead of Redis for the job queue."),
        *edit(desk, "queue", "redis", "postgres"),
        prompt("perfect, commit it"),
        reply("d", text("Committed.")),
    )
    desk.sync()
    [decision] = queue.pending(desk.place)[0]
    assert (decision.action, decision.record.title) == ("resolve", "Use Postgres, not Redis, for the job queue")
    assert queue.accept(desk.place, decision.id, quotes="shared").ok
    assert desk.memories() == ["Use Postgres, not Redis, for the job queue"]


def test_a_question_the_agent_ended_with_waits_until_it_is_put_off_and_then_still(desk: Desk) -> None:
    asked = "Should `load` in src/app.py retry on timeouts only, or on every error?"
    desk.session(ASKED, prompt("Add retries to src/app.py"), *edit(desk, "retry", "load()", "retry(load)"))
    desk.session(ASKED, reply("q", text(f"Done. {asked}")))
    desk.sync()
    assert desk.waiting() == [asked]
    desk.session(ASKED, prompt("Let's decide that later."), reply("l", text("Fine.")), prompt("ok, commit it"))
    desk.sync()
    assert desk.waiting() == [asked]
