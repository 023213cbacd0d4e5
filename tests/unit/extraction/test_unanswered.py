"""What a session leaves open."""

import pytest

from lerim.extraction.candidate import Candidate, Withdrawn
from lerim.sessions.model import Answer, ToolCall
from scripted import agent, candidates, edited, extraction, numbered, you

OPTIONS = (
    "### Option 1: One helper in `checks.py`\n...\n### Option 2: Keep both\n...\n\n"
    "Would you like Option 1, or is Option 2 better?"
)
LAST = (
    you("fix the check in src/checks.py"),
    agent("Fixed.", edited("src/checks.py", "limit of the quota check", "shared quota check")),
    you("could you see if it is easy to extract the quota check so both `api` and `cli` share it?"),
    agent(OPTIONS),
)


def test_a_choice_put_to_the_person_last_is_a_question_with_its_options() -> None:
    [found] = candidates(*LAST)
    assert (found.title, found.primitive, found.kind) == (
        "Extract the quota check: “One helper in checks.py” or “Keep both”?",
        "question",
        None,
    )
    assert "“One helper in checks.py” and “Keep both”" in found.body
    assert found.references == ("src/checks.py",)
    assert found.confidence == 0.6


def test_of_options_that_do_not_fit_into_a_title_the_beginnings_stand_there() -> None:
    said = "refactor the concurrent session logic so that less code is replicated in `claude` and `gemini`"
    offered = (
        "### Option 1: Extract Shared State & Message Builder\n...\n### Option 2: Full Unification with Callback\n...\n"
        "### Option 3: Keep As-Is\n...\n\nWould you like me to implement Option 1, or is Option 3 better?"
    )
    [found] = candidates(*LAST[:2], you(said), agent(offered))
    begun = "Refactor the concurrent session logic: “Extract Shared…”, “Full Unification…” or “Keep As-Is”?"
    assert found.title == begun and "“Full Unification with Callback”" in found.body


def test_options_without_room_leave_what_was_asked_and_why() -> None:
    said = "could you extract the check of the monthly quota of the accounts of a region so that `api` caches?"
    [found] = candidates(
        *LAST[:2], you(said), agent(OPTIONS.replace("Keep both", "Keep the check of each where it is"))
    )
    wanted = "Extract the check of the monthly quota of the accounts of a region so that `api` caches, or not?"
    assert found.title == wanted


def test_a_choice_the_person_answered_is_no_question() -> None:
    assert [item for item in candidates(*LAST, you("leave both as they are")) if item.primitive == "question"] == []


def test_a_question_is_taken_back_once_the_person_goes_on() -> None:
    turns = numbered(LAST)
    first = extraction()
    for turn in turns:
        list(first.feed(turn))
    [found] = [item for item in first.finish(True) if isinstance(item, Candidate)]
    second = extraction(first.state())
    for turn in numbered((you("keep both"), agent("Fine.")), len(turns)):
        list(second.feed(turn))
    gone = [item for item in second.finish(True) if isinstance(item, Withdrawn)]
    assert [item.refuted_turn for item in gone] == [found.turn]


@pytest.mark.parametrize("status", ["denied", "interrupted", "pending"])
def test_a_question_of_the_agents_tool_nobody_answered_is_one(status: str) -> None:
    answer = Answer("Where should we store the session ids?", ("In `state.json`", "In the database"), "")
    call = ToolCall("ask", "AskUserQuestion", "ask", status, answers=(answer,))
    [found] = candidates(you("store them"), agent("", call))
    assert found.title == "Where should the project store the session ids?"
    assert "“In `state.json`” and “In the database”" in found.body


def test_what_the_person_puts_off_is_a_question() -> None:
    [found] = candidates(*LAST[:2], you("let's leave the `retry` option for a follow-up PR"), agent("Fine."), you("ok"))
    assert (found.title, found.primitive) == ("`retry` option: put off, still to be done?", "question")


@pytest.mark.parametrize(
    "last",
    [
        "Done. Would you like me to run the tests?",
        "### Option 1: a\n### Option 2: b\n\nI took option 1.",
        "Should I commit this, or do you want to look first?",
    ],
)
def test_the_agents_closing_courtesies_are_no_questions(last: str) -> None:
    assert candidates(*LAST[:3], agent(last)) == []


@pytest.mark.parametrize("said", ["let's do it later", "we'll handle that in a follow-up PR", "fix the tests later"])
def test_what_is_put_off_without_a_name_gives_nothing(said: str) -> None:
    assert candidates(you("go"), agent("ok"), you(said), agent("Fine."), you("ok")) == []
