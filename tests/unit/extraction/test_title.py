"""The title of a sentence: its own words, in their order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.extraction.facts.title import MAX_TITLE_CHARS, make_title

TEXT = (
    "please can you ok, so we should use `pnpm` not npm because the lock file (in `src/a b.ts`) says so; never push to "
    "main, unless asked. I think it is oh-my-zsh — thanks, don't"
)
WORDS = st.sampled_from(TEXT.split())


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        ("Deploy to us-east-1 only", "Deploy to us-east-1 only"),
        ("oh-my-zsh plugins load last.", "oh-my-zsh plugins load last"),
        ("Each package has its own tsconfig", "Each package has its own tsconfig"),
        ("please use uv, not pip", "Use uv, not pip"),
        ("Can you please keep the changelog sorted?", "Keep the changelog sorted"),
        ("ok so we never squash merges", "We never squash merges"),
        ("okay, thanks! could you use tabs in Makefiles", "Use tabs in Makefiles"),
        ("- X by default", "X by default"),
        ("I think we should drop Python 3.9", "I think we should drop Python 3.9"),
        ("Thanks to the cache the second build takes a second", "Thanks to the cache the second build takes a second"),
        ("OK buttons are green", "OK buttons are green"),
        ("ok so far the import is slow", "Ok so far the import is slow"),
        ("no, use ruff", "No, use ruff"),
        ("Why does the port change?", "Why does the port change?"),
        ("please", "Please"),
    ],
)
def test_only_politeness_before_the_sentence_is_cut(sentence: str, title: str) -> None:
    assert make_title(sentence) == title


def test_a_long_sentence_ends_at_a_clause() -> None:
    sentence = (
        "The importer reads the whole file into memory before it writes anything; that is why files over two gigabytes "
        "fail on the small runners, and nobody noticed for a year"
    )
    assert make_title(sentence) == "The importer reads the whole file into memory before it writes anything"


def test_a_clause_is_not_kept_without_the_one_that_turns_it_round() -> None:
    sentence = (
        "Always run the full migration on the staging database, and push to production on the same day, unless the "
        "owner of the release has said that the window is closed"
    )
    assert make_title(sentence) == "Always run the full migration on the staging database"


def test_a_title_does_not_end_inside_code_or_brackets() -> None:
    sentence = (
        "Run the migration of the orders with `python manage.py migrate orders, payments, refunds, invoices, shipping, "
        "customers, addresses` before the release"
    )
    assert make_title(sentence) in sentence
    assert "payments" in make_title(sentence)


def test_a_condition_is_not_kept_without_what_it_is_about() -> None:
    sentence = (
        "If the worker is restarted while a job runs, the job is taken up again by the next worker from its last "
        "checkpoint, and nothing is sent twice"
    )
    assert make_title(sentence).startswith("If the worker is restarted while a job runs, the job is taken up again")


@given(st.one_of(st.lists(WORDS, max_size=60).map(" ".join), st.text(max_size=400)))
def test_a_title_is_a_contiguous_part_of_its_sentence_but_for_the_case_of_one_letter(sentence: str) -> None:
    title, whole = make_title(sentence), " ".join(sentence.split())
    assert len(title) <= MAX_TITLE_CHARS
    assert title[1:] in whole
    assert any(head + title[1:] in whole for head in {title[:1], title[:1].lower()}) or not title
    assert bool(title) == bool(whole.strip(" .,;:!"))
