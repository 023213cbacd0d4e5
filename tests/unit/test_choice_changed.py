"""A person changes a choice: what their words give up ends what was said for it, from the session to the review."""

from __future__ import annotations

from pathlib import Path

import pytest

from claude_lines import Fields, answer, call, prompt, reply, text
from desk import Desk
from lerim.review import queue

YARN = "From now on use yarn for installs in this repo."


def said(desk: Desk, name: str, *words: str) -> list[Fields]:
    """A session in which the person says this, and the agent does as told."""
    path = str(desk.repo / "src/app.py")
    lines = [prompt("Read src/app.py"), reply(f"{name}-a", text("I read it."))]
    for number, one in enumerate(words):
        mark = f"{name}-{number}"
        lines += [
            prompt(one),
            reply(f"{mark}-b", text("Done."), call(mark, "Edit", file_path=path, old_string="a", new_string=mark)),
            answer(mark, "The file was updated."),
        ]
    return [*lines, prompt("perfect, commit it"), reply(f"{name}-c", text("Committed."))]


CHANGES = pytest.mark.parametrize(
    "words",
    [
        "From now on use pnpm for installs, we don't use yarn any more.",
        "Always use pnpm for installs, it replaces yarn.",
        "Drop yarn, from now on use pnpm for installs.",
        "No, use pnpm for installs instead of yarn.",
    ],
)


@CHANGES
def test_a_memory_of_the_choice_that_was_given_up_is_superseded(desk: Desk, words: str) -> None:
    desk.session("s1", *said(desk, "s1", YARN))
    desk.sync()
    [first] = queue.list_pending(desk.place)[0]
    done = queue.accept_candidate(desk.place, first.id, quotes="shared")
    old = Path(done.path or "").stem
    desk.session("s2", *said(desk, "s2", words))
    desk.sync()
    [proposal] = queue.list_pending(desk.place)[0]
    assert (proposal.action, [one.id for one in proposal.targets]) == ("supersede", [old])
    assert queue.accept_candidate(desk.place, proposal.id).ok
    ended = desk.place.store().load_by_id(old)
    assert ended.status == "superseded" and ended.record.superseded_by


def test_what_is_named_otherwise_replaces_nothing(desk: Desk) -> None:
    desk.session("s1", *said(desk, "s1", YARN))
    desk.sync()
    queue.accept_candidate(desk.place, queue.list_pending(desk.place)[0][0].id, quotes="shared")
    desk.session("s2", *said(desk, "s2", "Always use pnpm for scripts in ci, and do not drop yarn."))
    desk.sync()
    assert all(one.action != "supersede" for one in queue.list_pending(desk.place)[0])
