"""What was said and did not stand is not proposed, and goes where it was."""

import pytest

from lerim.extraction.candidate import Candidate, DroppedSignal, Withdrawal
from lerim.extraction.signals.next_words import is_retraction, judge_next_words
from lerim.sessions.model import Turn
from scripted import agent, edited, outcome, passes, ran, titles, you

RULE = "Always keep the rates of `src/rates.py` in one file"
STATEMENTS = (
    "The contract is that the reader never writes: `load()` returns a copy, and callers must not mutate it.",
    "The root cause is that `parse_day` in `src/days.py` drops the zone of every date.",
    "The worker must never share a database connection between threads because SQLite locks the whole file.",
    "The config is read only once at startup, so changes to `settings.toml` need a restart of the server.",
)
"""Of the agent; which of them ranks is the ranker's business, one does."""
WRONG = "the agent found later that it was wrong"


def refuted(*turns: Turn) -> dict[str, str]:
    """The titles of what was taken back within a pass, with the reason."""
    return {
        one.title: one.detail for one in outcome(*turns) if isinstance(one, DroppedSignal) and one.reason == "refuted"
    }


@pytest.fixture(scope="module")
def stated() -> tuple[str, tuple[Turn, ...]]:
    """The title of what an agent stated and is proposed, and its session, in which a person states a rule."""
    for statement in STATEMENTS:
        turns = (
            *(you(RULE), agent("Ok.")),
            you("why does the report shift by a day on the servers in Tokyo?"),
            agent("", ran("pytest -q", "E  assert 1 == 2", 1)),
            agent(f"## Root cause\n\n{statement}\n", edited("src/days.py")),
        )
        for one in outcome(*turns):
            if isinstance(one, Candidate) and one.signal == "reply" and one.evidence[0].quote == statement:
                return one.title, turns
    raise AssertionError("none of the agent's statements ranks high enough to be proposed")


def correction(turns: tuple[Turn, ...], opening: str) -> str:
    """What the agent says when it finds that the statement at the end of these turns was wrong."""
    statement = turns[-1].text.partition("\n\n")[2].strip()
    return f"{opening} {statement[:1].lower()}{statement[1:]} That does not hold; it is the cache."


@pytest.mark.parametrize(
    "back",
    ["That must not be done.", "Ignore that for now please.", "On second thought it is fine.",
     "Sorry, forget the above please.", "Actually, let's not do it.", "That’s not needed any more."],
)  # fmt: skip
def test_a_rule_called_off_in_the_next_sentence_is_not_proposed(back: str) -> None:
    turns = (you(f"{RULE}. {back}"), agent("Ok."), you("what is next?"))
    assert titles(*turns) == []
    assert refuted(*turns) == {RULE: "you call it off right after it"}


@pytest.mark.parametrize(
    ("said", "takes_back"),
    [("Please revert that.", True), ("I want to undo this.", True), ("I'd like you to revert the last commit.", True),
     ("Let's go back to sqlite.", True), ("Try to undo that.", True), ("Make sure to revert this.", True),
     ("We had to revert that.", True), ("I'm going to put it back.", True), ("Don't forget to undo this.", True),
     ("Write a script to revert that migration.", False),
     ("Add a button to undo the last change.", False), ("Is there a way to put it back?", False)],
)  # fmt: skip
def test_a_wish_to_take_back_is_told_from_a_thing_that_takes_back(said: str, takes_back: bool) -> None:
    assert is_retraction(you(said)) == takes_back
    assert (judge_next_words(you(said)) == "refuted") == takes_back


@pytest.mark.parametrize("mark", ["- ", "1. "])
def test_a_list_that_is_pasted_and_then_refused_is_not_proposed_in_any_point(mark: str) -> None:
    turns = (you(f"{mark}Tabs are used by default\n{mark}{RULE}\n\nThis should not be changed"), agent("Ok."))
    assert titles(*turns) == []
    assert set(refuted(*turns)) == {"Tabs are used by default", RULE}


@pytest.mark.parametrize(
    ("beside", "after"),
    [
        ("This should be the same in the tests.", "what is next?"),
        ("Ignore the file of the old rates.", "what is next?"),
        ("", "great, thanks"),
        ("", "no problem, go on"),
        ("", "now the docs"),
        ("", "now add a link to go back to the list of rates"),
    ],
)
def test_what_only_sounds_like_calling_it_off_leaves_the_rule(beside: str, after: str) -> None:
    assert RULE in titles(you(f"{RULE}. {beside}".strip(" .")), agent("Done."), you(after))


def test_a_rule_called_off_after_another_sentence_leaves_the_first_and_takes_the_second() -> None:
    said = "Never delete rates by default. Always log them over printing. Actually, no logging of them."
    turns = (you(said), agent("Ok."), you("what is next?"))
    assert "Never delete rates by default" in titles(*turns)
    assert "Always log them over printing" in refuted(*turns)


@pytest.mark.parametrize(
    "back",
    ["on second thought, scrap that", "I changed my mind about it", "please revert that", "I want to go back to two"],
)
def test_the_persons_next_words_take_a_rule_back(back: str) -> None:
    turns = (you(RULE), agent("Done."), you(back))
    assert titles(*turns) == []
    assert refuted(*turns) == {RULE: "your next message takes it back"}


def test_the_persons_next_words_that_say_no_take_back_the_agents_words_and_not_the_persons(stated) -> None:
    title, turns = stated
    later = (you("no, that's wrong"), agent("I see."))
    assert title not in titles(*turns, *later)
    assert title in refuted(*turns, *later)
    assert RULE in titles(*turns, *later)


@pytest.mark.parametrize(
    "opening",
    ["Actually, it is not so that", "I was wrong that", "Correction: it is not so that", "Wait, no:",
     "My earlier assumption was wrong that"],
)  # fmt: skip
def test_what_the_agent_finds_wrong_is_not_proposed_and_what_the_person_said_stays(stated, opening: str) -> None:
    title, turns = stated
    wrong = agent(correction(turns, opening))
    for later in ((wrong,), (you("and on the other servers?"), wrong, you("ok"), agent("Yes."))):
        assert title not in titles(*turns, *later)
        assert refuted(*turns, *later)[title] == WRONG
    other = agent("Actually, the linter does not complain about unused imports in the tests any more.")
    assert title in titles(*turns, other)
    theirs = agent(f"{opening} {RULE.lower()}. That does not hold.")
    assert RULE in titles(you(RULE), agent("Ok."), you("and now?"), theirs, you("what is next?"))


def test_what_an_earlier_pass_proposed_is_withdrawn_when_the_agent_finds_it_wrong(stated) -> None:
    title, turns = stated
    wrong = agent(correction(turns, "Actually, it is not so that"))
    first, second = passes(turns, (you("and on the other servers?"), wrong, you("ok")))
    [found] = [one for one in first if isinstance(one, Candidate) and one.title == title]
    gone = [one for one in second if isinstance(one, Withdrawal)]
    assert [(one.refuted_turn, one.title, one.reason) for one in gone] == [(found.turn, title, WRONG)]
