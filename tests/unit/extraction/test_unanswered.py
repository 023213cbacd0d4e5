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


WORK = (
    you("add retries to src/app.py"),
    agent("I added retries to `load` in src/app.py.", edited("src/app.py", "def load(): pass", "def load(): retry()")),
)


def questions(*turns: object) -> list[Candidate]:
    return [item for item in candidates(*turns) if item.primitive == "question"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("last", "title"),
    [
        (
            "Done. Should `load` in src/app.py retry on timeouts only, or on every error?",
            "Should `load` in src/app.py retry on timeouts only, or on every error?",
        ),
        (
            "All tests pass.\n\nWhere should the retry limit of `load` be configured? Let me know.",
            "Where should the retry limit of `load` be configured?",
        ),
        (
            "One open question: should we keep the `legacy_load` shim?",
            "Should the project keep the `legacy_load` shim?",
        ),
        ("I stopped there. Which errors should `load` retry?", "Which errors should `load` retry?"),
    ],
)
def test_what_the_agent_asks_as_the_last_words_of_a_session_is_open(last: str, title: str) -> None:
    [found] = questions(*WORK, agent(last))
    assert (found.title, found.evidence[0].who, found.confidence) == (title, "assistant", 0.6)
    assert {reference.partition("#")[0] for reference in found.references} <= {"src/app.py"}


def test_what_the_agent_asked_is_taken_back_once_the_person_goes_on() -> None:
    turns = numbered((*WORK, agent("Should `load` in src/app.py retry on every error?")))
    first = extraction()
    for turn in turns:
        list(first.feed(turn))
    [found] = [item for item in first.finish(True) if isinstance(item, Candidate)]
    second = extraction(first.state())
    for turn in numbered((you("on timeouts only"), agent("Fine.")), len(turns)):
        list(second.feed(turn))
    gone = [item for item in second.finish(True) if isinstance(item, Withdrawn)]
    assert [item.refuted_turn for item in gone] == [found.turn]


@pytest.mark.parametrize(
    "last",
    [
        "Done. Should I also update the tests of `load`?",
        "Shall I go on with `load` in src/app.py?",
        "Do you want `load` to retry on every error?",
        "Which of these would you like for `load`?",
        "Is there anything else in src/app.py to look at?",
        "Does that look right for `load`?",
        "Should we look at src/app.py next?",
        "Should it retry on every error?",
        "Should `load` retry on every error? I took that to be so, and all tests pass.",
        "What should be done?",
        "Should `load` be committed now?",
        "Ready. What should we do next in src/app.py?",
    ],
)
def test_what_the_agent_asks_about_its_own_next_step_is_no_question(last: str) -> None:
    assert questions(*WORK, agent(last)) == []


@pytest.mark.parametrize(
    "later",
    [
        "Let's decide that later.",
        "We'll settle this another time.",
        "I'll think about it tomorrow.",
        "Let's leave that open for now.",
        "We can decide that in a follow-up PR.",
        "Not now though, we decide that next week.",
    ],
)
def test_a_question_the_person_puts_off_in_the_next_sentence_is_open(later: str) -> None:
    asked = "Should the upload queue in src/app.py be persistent or in memory?"
    [found] = questions(*WORK, you(f"Good. {asked} {later}"), agent("Fine."), you("ok"), agent("Done."))
    assert (found.title, found.evidence[0].who) == (asked, "user")


def test_a_question_of_the_agent_that_the_person_puts_off_is_open() -> None:
    asked = "Should `load` in src/app.py retry on every error?"
    [found] = questions(*WORK, agent(asked), you("Let's decide that later."), agent("Fine."), you("ok"), agent("Done."))
    assert (found.title, [item.who for item in found.evidence]) == (asked, ["assistant", "user"])


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            "thanks. We still have to handle expired tokens in src/app.py, but not today.",
            "Handle expired tokens in src/app.py: put off, still to be done?",
        ),
        (
            "We need to rename `load_all` at some point, just not in this PR.",
            "Rename `load_all`: put off, still to be done?",
        ),
        ("Let's not split `load` in src/app.py today.", "Split `load` in src/app.py: put off, still to be done?"),
        ("The `retry` option can wait.", "`retry` option: put off, still to be done?"),
        ("Skip the docs of `load` for now.", "Docs of `load`: put off, still to be done?"),
    ],
)
def test_work_the_person_puts_off_is_open_in_its_usual_words(said: str, title: str) -> None:
    found = questions(*WORK, you(said), agent("Fine."), you("ok"), agent("Done."))
    assert [item.title for item in found] == [title]


@pytest.mark.parametrize(
    "said",
    [
        "Let's decide that later.",
        "We still have to handle expired tokens in src/app.py.",
        "Not today.",
        "That can wait.",
        "Let's not do that today.",
        "Should `load` retry? Yes. Let's decide the rest later.",
        "Should `load` in src/app.py retry on every error?",
        "How do I run `load`? I'll look at it later.",
        "The tests can wait for the server in src/app.py.",
    ],
)
def test_what_is_asked_or_put_off_without_saying_what_is_no_question(said: str) -> None:
    assert questions(*WORK, you(said), agent("Fine."), you("ok"), agent("Done.")) == []


def test_a_question_of_a_settled_session_that_is_then_put_off_stays_open() -> None:
    turns = numbered((*WORK, agent("Should `load` in src/app.py retry on every error?")))
    first = extraction()
    for turn in turns:
        list(first.feed(turn))
    [early] = [item for item in first.finish(True) if isinstance(item, Candidate)]
    second = extraction(first.state())
    for turn in numbered((you("Let's decide that later."), agent("Fine."), you("ok"), agent("Done.")), len(turns)):
        list(second.feed(turn))
    found = list(second.finish(True))
    assert [item for item in found if isinstance(item, Withdrawn)] == []
    assert [item.title for item in found if isinstance(item, Candidate)] == [early.title]
