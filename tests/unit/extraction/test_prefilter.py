"""Which turns are worth a model's look."""

import pytest

from lerim.extraction.model.windows import is_worth_asking
from lerim.extraction.transcript import show_turn
from lerim.sessions.model import Turn
from scripted import agent, asked, denied, numbered, planned, ran, you


@pytest.mark.parametrize(
    ("turns", "is_worth"),
    [
        *(
            ((you(said),), True)
            for said in ("always run it", "no, that's wrong", "I'd prefer integers here", "Don't touch it", "why so?")
        ),
        ((agent("", asked("Which?", ("a", "b"), "a")),), True),
        ((agent("", denied("npm install", "pnpm")),), True),
        ((agent("", planned("1. Read\n2. Write")),), True),
        ((agent("", ran("pytest", "E  x", 1)),), True),
        ((agent("", ran("git commit -m x", "[main abc1234] x")),), True),
        ((agent("The root cause: the port is taken."),), True),
        ((agent("a " * 100_000 + " because of it"),), True),
        ((), False),
        ((you("hello"), agent("Hello! What shall we build today? Tell me about it.")), False),
        ((you("thanks, looks good"),), False),
        ((you("show me the files"), agent("Let me look.", ran("ls", "a b"))), False),
        ((you("ok"), agent("Done.", ran("pytest", "3 passed"))), False),
        ((agent("", ran("cat log", "you must always fail because of the error: root cause")),), False),
        ((agent("a" * 3_000_000),), False),
    ],
)
def test_what_may_hold_a_rule_a_choice_or_a_reason_is_worth_asking_and_small_talk_is_not(
    turns: tuple[Turn, ...], is_worth: bool
) -> None:
    shown = (seen for turn in numbered(turns) if (seen := show_turn(turn)) is not None)
    assert is_worth_asking(shown) is is_worth
