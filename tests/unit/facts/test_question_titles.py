import pytest
from lerim.facts.questions import title_of


@pytest.mark.parametrize(
    ("question", "answer", "title"),
    [
        ("Which database should we use for the cache?", "SQLite", "Use SQLite for the cache"),
        ("What should the command be called?", "sync", "Name the command `sync`"),
        ("Where should the config live?", "~/.config/tally", "Put the config in ~/.config/tally"),
        ("Should the API return 404 for unknown ids?", "Yes", "The API returns 404 for unknown ids"),
        ("Should the CLI support Windows?", "No", "The CLI does not support Windows"),
        ("Should we keep backwards compatibility?", "No", "Do not keep backwards compatibility"),
        ("How would you like to handle duplicates?", "Skip silently", "Handle duplicates: skip silently"),
        ("What format should the export use?", "CSV", "The export uses CSV as its format"),
        ("How should the retry logic behave?", "Exponential backoff", "The retry logic behaves: exponential backoff"),
        ("Which approach do you prefer?", "Keep both parsers side by side", "Keep both parsers side by side"),
    ],
)
def test_a_question_and_its_answer_become_one_assertion(question: str, answer: str, title: str) -> None:
    assert title_of(question, answer) == title


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which approach do you prefer?", "The second"),
        ("Do you want the cleanup included?", "Yes"),
        ("Ok", "Yes"),
        ("?", "?"),
    ],
)
def test_where_no_assertion_comes_out_there_is_no_title(question: str, answer: str) -> None:
    assert title_of(question, answer) == ""
