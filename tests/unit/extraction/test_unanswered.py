"""What a session leaves open: a question stands only at its end, and goes once the person goes on."""

import pytest

from lerim.extraction.candidate import Candidate, DroppedSignal, Withdrawal
from lerim.sessions.model import QuestionAnswer, ToolCall, ToolStatus, Turn
from scripted import agent, edited, outcome, passes, ran, you

BEFORE = (
    you("always keep the api of src/app.py stable"),
    agent("Ok."),
    you("make the cache faster"),
    agent("I keep one cache for each client now.", edited("src/app.py")),
)
AFTER = (
    agent("You're right. I changed it.", edited("src/app.py"), ran("pytest -q", "Exit code 1\nE  assert 1 == 2", 1)),
    *[agent("Next.", edited("src/app.py"), ran("pytest -q", "3 passed", 0))] * 6,
)
QUESTIONS = (
    "But we should not need that if the cache is not shared, no?",
    "But why is that not in the settings, we have no default there?",
    "Isn't this still wrong because we don't have the lock there?",
)
OF_THE_AGENT = "Should `load` in src/app.py retry on timeouts only, or on every error?"


def questions(*turns: Turn) -> list[Candidate]:
    """The questions that were proposed, or would have been with more room."""
    found = [item.candidate if isinstance(item, DroppedSignal) else item for item in outcome(*turns)]
    return [item for item in found if isinstance(item, Candidate) and item.primitive == "question"]


@pytest.fixture(scope="module")
def left_open() -> tuple[str, list[Turn]]:
    """A question that is proposed of a settled session, and the session's turns."""
    for asked in QUESTIONS:
        turns = [*BEFORE, you(asked), *AFTER]
        if [item for item in outcome(*turns) if isinstance(item, Candidate) and item.title == asked]:
            return asked, turns
    raise AssertionError("none of the questions ranks high enough to be proposed")


def test_what_is_asked_last_is_a_question_word_for_word(left_open) -> None:
    asked, turns = left_open
    [found] = [item for item in questions(*turns) if item.title == asked]
    assert (found.kind, found.evidence[0].quote, found.evidence[0].who) == (None, asked, "user")
    for theirs in questions(*BEFORE, agent(OF_THE_AGENT)):
        assert (theirs.title, theirs.evidence[0].who) == (OF_THE_AGENT, "assistant")


def test_a_question_after_which_the_person_goes_on_is_none_and_taken_back_where_it_was_proposed(left_open) -> None:
    asked, turns = left_open
    on = (you("on timeouts only"), agent("Fine."))
    assert questions(*turns, *on) == questions(*BEFORE, agent(OF_THE_AGENT), *on) == []
    early, late = passes(turns, on)
    [found] = [item for item in early if isinstance(item, Candidate) and item.title == asked]
    assert [item.refuted_turn for item in late if isinstance(item, Withdrawal)] == [found.turn]


@pytest.mark.parametrize("later", ["Let's decide that later.", "Not now though, we decide that next week."])
def test_a_question_that_is_only_put_off_is_not_taken_back(left_open, later: str) -> None:
    _, turns = left_open
    _, late = passes(turns, (you(later), agent("Fine."), you("ok"), agent("Done.")))
    assert [item for item in late if isinstance(item, Withdrawal)] == []


@pytest.mark.parametrize("status", ["denied", "interrupted", "pending"])
def test_a_question_of_the_agents_tool_that_nobody_answered_says_nothing_of_the_person(status: ToolStatus) -> None:
    answer = QuestionAnswer("Should we always store the session ids?", ("Always in `state.json`", "Never"), "")
    call = ToolCall("ask", "AskUserQuestion", "ask", status, answers=(answer,))
    found = [item for item in outcome(you("store them"), agent("", call)) if isinstance(item, Candidate)]
    assert not [item for item in found if any(quote.who == "user" for quote in item.evidence)]
