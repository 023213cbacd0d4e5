"""What is said to be undecided, doubted or left undone is an open question."""

import pytest

from lerim.extraction.candidate import Candidate, Withdrawn
from scripted import agent, candidates, edited, extraction, numbered, you


def questions(*turns: object) -> list[Candidate]:
    return [item for item in candidates(*turns) if item.primitive == "question"]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            "We still need to decide whether `sessions.json` moves into the database.",
            "Undecided: whether `sessions.json` moves into the database?",
        ),
        (
            "Open question: retries of the `upload_part` call after a timeout",
            "Undecided: retries of the `upload_part` call after a timeout?",
        ),
        (
            "we have not decided yet how `config.toml` overrides are merged",
            "Undecided: how `config.toml` overrides are merged?",
        ),
    ],
)
def test_what_the_person_says_is_undecided_is_a_question_wherever_it_is_said(said: str, title: str) -> None:
    [found] = questions(you(f"Read src/app.py. {said}"), agent("Read."), you("now run the tests"), agent("They pass."))
    assert found.title == title
    assert found.evidence[0].who == "user"


def test_a_doubt_as_the_sessions_last_word_is_a_question_until_the_session_goes_on() -> None:
    turns = numbered((you("I'm not sure whether `parse_header` should accept CRLF"), agent("It accepts both today.")))
    first = extraction()
    for turn in turns:
        list(first.feed(turn))
    [found] = [item for item in first.finish(True) if isinstance(item, Candidate)]
    assert found.title == "In doubt: whether `parse_header` should accept CRLF?"
    second = extraction(first.state())
    for turn in numbered((you("accept both"), agent("Fine.")), len(turns)):
        list(second.feed(turn))
    gone = [item for item in second.finish(True) if isinstance(item, Withdrawn)]
    assert [item.refuted_turn for item in gone] == [found.turn]


def test_a_doubt_the_agent_acted_on_or_the_person_went_on_from_is_none() -> None:
    doubt = you("I'm not sure whether `parse_header` should accept CRLF")
    assert questions(doubt, agent("Changed.", edited("src/parse.py", "a", "b"))) == []
    assert questions(doubt, agent("It accepts both today."), you("ok, go on with the docs"), agent("Done.")) == []


def test_what_the_agent_says_it_left_undone_is_a_question() -> None:
    [found] = questions(
        you("migrate the store in src/store.py"),
        agent("Migrated the store.", edited("src/store.py", "a", "b")),
        agent("All tests pass. I left the `legacy_import` path for a follow-up PR."),
    )
    assert found.title == "`legacy_import` path: left undone, still to be done?"
    assert (found.evidence[0].who, found.confidence) == ("assistant", 0.6)


@pytest.mark.parametrize(
    "said",
    [
        "I'm not sure what you mean",
        "not sure if that works",
        "we need to decide this later",
        "I wonder if we can do better here",
        "can you decide whether to use `mypy`?",
    ],
)
def test_a_doubt_that_names_nothing_or_is_a_request_is_none(said: str) -> None:
    assert questions(you(said), agent("Fine.")) == []


@pytest.mark.parametrize(
    ("said", "title"),
    [
        (
            "We haven't decided yet whether to use Redis or Postgres for the job queue.",
            "Undecided: whether to use Redis or Postgres for the job queue?",
        ),
        ("Open question: do we keep `load` synchronous?", "Undecided: whether to keep `load` synchronous?"),
        ("open question: which port should we use for `serve`?", "Undecided: which port to use for `serve`?"),
        ("It isn’t settled yet whether `export` writes CSV", "Undecided: whether `export` writes CSV?"),
        ("We don't know yet which runner `make check` uses in CI", "Undecided: which runner `make check` uses in CI?"),
        ("Whether `import_rows` skips duplicates is still open.", "Undecided: whether `import_rows` skips duplicates?"),
        ("Still open: how `cache.toml` is merged", "Undecided: how `cache.toml` is merged?"),
    ],
)
def test_what_is_undecided_is_found_in_its_usual_words(said: str, title: str) -> None:
    found = questions(you(f"Read src/app.py. {said}"), agent("Read."), you("now run the tests"), agent("They pass."))
    assert [item.title for item in found] == [title]


@pytest.mark.parametrize(
    "said",
    [
        "We haven't decided anything",
        "we haven't decided yet whether it works",
        "I don't know which file `load` is in",
        "Open question: what do you think?",
        "Whether that is open I cannot say",
        "do you know whether `load` is open?",
    ],
)
def test_what_is_unknown_of_the_moment_is_no_open_question(said: str) -> None:
    assert questions(you(f"Read src/app.py. {said}"), agent("Read."), you("now run the tests"), agent("Done.")) == []
