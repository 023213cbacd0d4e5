"""The title of a sentence: its own words, in their order."""

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
        ("please use uv, not pip", "Use uv, not pip"),
        ("Can you please keep the changelog sorted?", "Keep the changelog sorted"),
        ("ok so we never squash merges", "We never squash merges"),
        ("okay, thanks! could you use tabs in Makefiles", "Use tabs in Makefiles"),
        ("- X by default", "X by default"),
        ("Thanks to the cache the second build takes a second", "Thanks to the cache the second build takes a second"),
        ("ok so far the import is slow", "Ok so far the import is slow"),
        ("but in the end the ids are states", "In the end the ids are states"),
        ("You're absolutely right - ids are names", "Ids are names"),
        ("You're right about ids", "You're right about ids"),
        ("✅ Sessions keep their ids", "Sessions keep their ids"),
        ("❌ use pip for scripts", "❌ use pip for scripts"),
        ("- 🚫 Commit to main", "🚫 Commit to main"),
        ("≥ 90 % of the lines are covered", "≥ 90 % of the lines are covered"),
        ("No, don't round before the sum", "Don't round before the sum"),
        ("no keep /v1 until the end of the year", "Keep /v1 until the end of the year"),
        ("no use the lock file", "Use the lock file"),
        ("no don't add a lock", "Don't add a lock"),
        ("nope keep tabs", "Keep tabs"),
        ("Nein, immer in Cent", "Immer in Cent"),
        ("não, guarde em centavos", "Guarde em centavos"),
        ("não guarde em centavos", "Não guarde em centavos"),
        ("no keep alive in the client", "No keep alive in the client"),
        ("no mocks in tests", "No mocks in tests"),
        ("no call the user makes may block", "No call the user makes may block"),
        ("No tests without a name", "No tests without a name"),
        ("so the cache is shared", "So the cache is shared"),
        ("please", "Please"),
    ],
)
def test_only_politeness_before_the_sentence_is_cut(sentence: str, title: str) -> None:
    assert make_title(sentence) == title


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        (
            "The importer reads the whole file into memory before it writes anything; that is why files over two "
            "gigabytes fail on the small runners, and nobody noticed for a year",
            "The importer reads the whole file into memory before it writes anything",
        ),
        (  # a clause is not kept without the one that turns it round
            "Always run the full migration on the staging database, and push to production on the same day, unless the "
            "owner of the release has said that the window is closed",
            "Always run the full migration on the staging database…",
        ),
        (  # nor does a title end inside code
            "Run the migration of the order with `python manage.py migrate orders, payments, refunds, invoices, "
            "goods` before the release",
            "Run the migration of the order with `python manage.py migrate orders, payments, refunds, invoices, "
            "goods`…",
        ),
        (
            "The new code could have one for yesterday and one for today and then should reuse the one from today, "
            "not the one from yesterday",
            "The new code could have one for yesterday and one for today…",
        ),
        (  # nor after the number of a point
            "The plan looks good to me as it is. Go on with these points: 1. The check of the address at signup. 2. "
            "The check of the title, with its length",
            "The plan looks good to me as it is. Go on with these points: 1. The check of the address at signup",
        ),
        (  # without one it says that it goes on
            "The nightly export of the finance department reads every row of the ledger twice from the slow replica in "
            "the other region of the world",
            "The nightly export of the finance department reads every row of the ledger twice from the slow replica in "
            "the…",
        ),
        (  # a condition is not kept without what it is about
            "If the worker is restarted while a job runs, the job is taken up again by the next worker from its last "
            "checkpoint, and nothing is sent twice",
            "If the worker is restarted while a job runs, the job is taken up again by the next worker from its last…",
        ),
        (  # a word that alone is too long is cut, not left out
            f"Use the https://models.example/{'a' * 100} endpoint",
            f"Use the https://models.example/{'a' * 78}…",
        ),
    ],
)
def test_a_long_sentence_ends_at_a_clause(sentence: str, title: str) -> None:
    assert make_title(sentence) == title


@given(st.one_of(st.lists(WORDS, max_size=60).map(" ".join), st.text(max_size=400)))
def test_a_title_is_a_contiguous_part_of_its_sentence_but_for_the_case_of_one_letter(sentence: str) -> None:
    title, whole = make_title(sentence), " ".join(sentence.split())
    assert len(title) <= MAX_TITLE_CHARS
    title = title.removesuffix("…")
    assert title[1:] in whole
    assert any(head + title[1:] in whole for head in {title[:1], title[:1].lower()}) or not title
    assert bool(title) == bool(whole.strip(" .,;:!"))
