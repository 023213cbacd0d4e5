"""From what a session leaves open to the decision that answers it, through syncs and reviews."""

from __future__ import annotations

from by_hand import DECISION, put
from claude_lines import Fields, answer, call, prompt, reply, text
from desk import Desk
from lerim.review import queue

DECIDED = "00000000-0000-4000-8000-000000000002"


def edit(desk: Desk, name: str, old: str, new: str) -> list[Fields]:
    path = str(desk.repo / "src/app.py")
    return [
        reply(f"r-{name}", text("Done."), call(f"e-{name}", "Edit", file_path=path, old_string=old, new_string=new)),
        answer(f"e-{name}", "The file was updated."),
    ]


def test_a_question_that_was_left_open_is_resolved_by_the_correction_that_answers_it(desk: Desk) -> None:
    asked = DECISION.replace("Use uv", "Should the job queue use Redis or Postgres?").replace(
        "2026-08-01", "2026-01-01"
    )
    put(desk.place, asked, "questions")
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
    [decision] = queue.list_pending(desk.place)[0]
    title = "Use Postgres instead of Redis for the job queue"
    assert (decision.action, decision.record.title) == ("resolve", title)
    assert queue.accept_candidate(desk.place, decision.id, quotes="shared").ok
    assert desk.memories() == [title]
