"""A person's message, told apart from what they pasted into it."""

from __future__ import annotations

import pytest

from lerim.sessions.readers.engine.typed_text import extract_own_words, split_message

OWN = "Always use uv here."


@pytest.mark.parametrize(
    "text",
    [
        OWN,
        f"{OWN}\nNever use pip.",
        "rename <file> to <data> and keep the rest",
        "the <html> tag is missing",
        "migrate it\nfrom: REST\nto: GraphQL\nand keep the tests",
        "Hi Claude,\nfix the build please",
        "a > b and c < d",
        "it costs\n$5 a month\n$ 20 a year",
        "about\n% of users",
        "We meet today at 10:30",
        "# Task\nfix the build",
        "see C: and D:",
        "1. do this\n2. then that",
        "",
    ],
)
def test_a_persons_own_message_stays_as_it_is(text: str) -> None:
    assert extract_own_words(text) == text


@pytest.mark.parametrize(
    "pasted",
    [
        "<document>x</document>",
        "<document_content>\nx\n</document_content>",
        '<file path="a.py">x</file>',
        "<pasted_text>x</pasted_text>",
        "<web-page>x</web-page>",
        "<DOCUMENT>x</DOCUMENT>",
        "<file>a</file> <file>b</file>",
        "```\nx\n```",
        "~~~\nx\n~~~",
        "> x\n> y",
        "2026-01-05 10:00:00 x",
        "[ERROR] x",
        "Traceback (most recent call last):",
        "[02/25/25 03:22:55] INFO x",
        '"message": "x is not a y",',
        "src/x.py:73:26: EM102 x",
        "/tmp/x.sh: line 1: x: command not found",
    ],
)
def test_what_is_pasted_is_cut_out_of_the_words_around_it(pasted: str) -> None:
    assert extract_own_words(f"{OWN}\n{pasted}\nThat is all.").split("\n")[0] == OWN
    assert "x" not in extract_own_words(f"{OWN}\n{pasted}\nThat is all.").replace(OWN, "")
    assert "That is all." in extract_own_words(f"{OWN}\n{pasted}\nThat is all.")


@pytest.mark.parametrize(
    "mail",
    [
        "From: a@b.invalid\nTo: c\n\nx",
        "**Von:** A\n**Betreff:** B\n\nx",
        "-----Original Message-----\nx",
        "Begin forwarded message:\nx",
        "On Mon, Jan 5, 2026 at 3:14 PM A <a@b.invalid> wrote:\nx",
        "Dear Ana,\nx\nKind regards,\nEve",
    ],
)
def test_an_email_lasts_to_the_end_of_the_message(mail: str) -> None:
    assert extract_own_words(f"{OWN}\n\n{mail}\nx") == OWN


def test_a_screen_in_a_fence_ends_with_it() -> None:
    assert extract_own_words(f"it says\n```\n$ npm test\n```\n{OWN}") == f"it says\n\n{OWN}"


def test_a_block_lasts_to_its_last_end_for_what_stands_in_it_may_forge_one() -> None:
    assert extract_own_words(f"{OWN}\n<document>a</document>\nb\n</document>\n") == OWN


def test_the_parts_of_a_message_are_the_message() -> None:
    text = f"{OWN}\n<file>x</file> and\n```\ny\n```\n> z\n\nFrom: a@b.invalid\nSubject: c\n\nd"
    assert "".join(part.text for part in split_message(text)) == text


@pytest.mark.parametrize(
    "piece", ["<file> ", "<document_", "<_", "</file>", "From: a\n", "```\n", "> ", "<file a", "at a.", "\n\n", "Hi "]
)
def test_a_hostile_message_is_read_in_time_that_grows_with_it_alone(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    assert "".join(part.text for part in split_message(text)) == text


def test_a_prompt_in_an_environment_begins_what_is_copied_from_a_terminal() -> None:
    assert extract_own_words(f"{OWN}\n(.venv) ana@host:~/app$ pytest\nx") == OWN


@pytest.mark.parametrize(
    "said", ["src/app.py:12 should use pathlib", 'I like "a": it is short', "see /srv/x: line it up"]
)
def test_a_sentence_that_only_looks_like_a_line_of_a_tool_is_the_persons(said: str) -> None:
    assert extract_own_words(said) == said
