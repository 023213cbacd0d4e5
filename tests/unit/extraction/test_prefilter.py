"""Which turns are worth a model's look."""

from __future__ import annotations

import pytest

from lerim.extraction.model.prefilter import is_worth_asking
from lerim.extraction.transcript import show_turn
from lerim.sessions.model import Turn
from scripted import agent, asked, denied, numbered, planned, ran, you


def worth(*turns: Turn) -> bool:
    return is_worth_asking(seen for turn in numbered(turns) if (seen := show_turn(turn)) is not None)


@pytest.mark.parametrize(
    "said",
    [
        "always run the formatter before a commit",
        "no, that's wrong",
        "use pnpm",
        "I'd prefer integers here",
        "Don't touch the generated files",
        "why did you rename it?",
        "we keep money in cents",
        "as the lockfile is pnpm's, npm breaks it because of hoisting",
    ],
)
def test_a_rule_a_correction_a_choice_or_a_reason_of_the_person_is_a_signal(said: str) -> None:
    assert worth(you(said))


def test_what_the_person_did_to_the_agent_s_steps_is_a_signal() -> None:
    assert worth(agent("", asked("Which?", ("a", "b"), "a")))
    assert worth(agent("", denied("npm install", "pnpm")))
    assert worth(agent("", planned("1. Read\n2. Write")))


def test_a_command_that_failed_a_commit_and_a_cause_are_signals() -> None:
    assert worth(agent("", ran("pytest", "E  x", 1)))
    assert worth(agent("", ran("git commit -m x", "[main abc1234] x")))
    assert worth(agent("The root cause: the port is taken."))
    assert worth(agent("It works now, for the cache was stale."))


@pytest.mark.parametrize(
    "turns",
    [
        (),
        (you("hello"), agent("Hello! What shall we build today? Tell me about it.")),
        (you("thanks, looks good"),),
        (you("show me the files"), agent("Let me look.", ran("ls", "a b"))),
        (you("ok"), agent("Done.", ran("pytest", "3 passed"))),
        (agent("", ran("cat log", "you must always fail because of the error: root cause")),),
    ],
)
def test_small_talk_plain_orders_and_what_a_tool_printed_are_none(turns: tuple[Turn, ...]) -> None:
    assert not worth(*turns)


def test_a_long_text_takes_no_longer_than_its_ends() -> None:
    assert not worth(agent("a" * 3_000_000))
    assert worth(agent("a " * 100_000 + " because of it"))
