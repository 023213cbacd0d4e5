"""What is shown of a candidate's text beside its title and quotes."""

from __future__ import annotations

import pytest

from lerim.memory import find_replied_to, text_beyond_quotes, without_replied_to

TITLE = "Keep the ids in sessions"
SAID = "But keep the ids in sessions, they are used only there."
ASKED = "**Verdict:** Keep them in `paths`"
CHANGED = "The agent changed `a.go`."


@pytest.mark.parametrize(
    ("body", "quotes", "shown"),
    [
        ("Keep the ids in sessions.", [], ""),
        (SAID, [SAID], ""),
        (f"{SAID} In reply to: “Verdict: Keep them in `paths`” {CHANGED}", [SAID, ASKED], CHANGED),
        (f"{SAID} In reply to: “Where?” {CHANGED}", [SAID], f"{SAID} In reply to: “Where?” {CHANGED}"),
        (f"{SAID} Said after: “Where?” {CHANGED}", [SAID, "Where?"], CHANGED),
        (f"{SAID} In reply to: “Where?”", ["Where?"], SAID),
        (SAID, [f"Never {SAID[4:]}"], SAID),
        (SAID, [""], SAID),
        ("", [SAID], ""),
    ],
)
def test_a_text_is_shown_without_what_the_title_and_the_quotes_say(body: str, quotes: list[str], shown: str) -> None:
    assert text_beyond_quotes(TITLE, body, quotes) == shown


@pytest.mark.parametrize(
    ("title", "body"),
    [
        ("Set the timeout to 1", "Set the timeout to -1."),
        ("Fail if x = 5", "Fail if x != 5."),
        ("Import important", "Import `!important`."),
        ("Use tabs", "❌ Use tabs."),
        ("Use tabs", "Use tabs?"),
        ("Pass args", "Pass *args"),
    ],
)
def test_a_text_is_shown_whose_signs_say_something_else_than_the_title(title: str, body: str) -> None:
    assert text_beyond_quotes(title, body, []) == body


@pytest.mark.parametrize(
    "body", ["But **keep** the ids in `sessions`.", "- Keep the ids\nin sessions", "Keep the ids in sessions!"]
)
def test_a_text_that_differs_from_the_title_in_form_only_is_not_shown(body: str) -> None:
    assert text_beyond_quotes(TITLE, body, []) == ""


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        ("Set the variable PATH.", "Set the variable path."),
        ("Name it `a_b`.", "Name it ab."),
        ("Pass *args on.", "Pass args on."),
        ("env files are secret.", ".env files are secret."),
        ("Tabs are used here.", "Tabs are used here?"),
    ],
)
def test_a_text_is_shown_that_a_quote_does_not_have_to_the_letter(body: str, quote: str) -> None:
    assert text_beyond_quotes(TITLE, body, [quote]) == body


def test_a_person_may_write_before_and_after_of_their_own() -> None:
    body = "Name exports by day. Before: “report.md”. After: “2026-01-02-report.md”"
    assert (without_replied_to(body), find_replied_to(body)) == (body, "")


@pytest.mark.parametrize(
    ("body", "quote"),
    [
        ("Run `make test` **first**.", "please run make test first!"),
        ("Run the tests.", "can you run the tests?"),
        ("run the\ntests", "Fine. Run the tests. Thanks"),
    ],
)
def test_a_text_that_a_quote_has_in_another_form_only_is_not_shown(body: str, quote: str) -> None:
    assert text_beyond_quotes(TITLE, body, [quote]) == ""
