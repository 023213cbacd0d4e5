"""Which turns are worth a model's look."""

import pytest

from lerim.extraction.model.windows import is_worth_asking
from lerim.extraction.transcript import show_turn
from lerim.sessions.model import Turn
from scripted import agent, asked, denied, numbered, planned, ran, you


def worth(*turns: Turn) -> bool:
    return is_worth_asking(seen for turn in numbered(turns) if (seen := show_turn(turn)) is not None)


def test_what_may_hold_a_rule_a_correction_a_choice_or_a_reason_is_a_signal() -> None:
    for said in (
        "always run the formatter",
        "no, that's wrong",
        "I'd prefer integers here",
        "Don't touch it",
        "why so?",
    ):
        assert worth(you(said)), said
    assert worth(agent("", asked("Which?", ("a", "b"), "a")))
    assert worth(agent("", denied("npm install", "pnpm")))
    assert worth(agent("", planned("1. Read\n2. Write")))
    assert worth(agent("", ran("pytest", "E  x", 1)))
    assert worth(agent("", ran("git commit -m x", "[main abc1234] x")))
    assert worth(agent("The root cause: the port is taken."))


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
