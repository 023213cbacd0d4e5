"""How similar two claims are, which memories are neighbours of a claim, and when two texts say the same."""

import math
import random
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.memory.record import MemoryRecord, render_record
from lerim.memory.search.memory_search import MemorySearch
from lerim.memory.similarity import (
    MIN_SIMILARITY,
    claim_vector,
    cosine,
    normalise_claim,
    text_words,
)
from lerim.paths import Home
from lerim.project.project import Project

NOW = datetime(2026, 8, 1, tzinfo=UTC)
TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(st.sampled_from(["retry", "uploads", "the", "getUserName", "c++", "東京タワー", "stale_cache", "7"])).map(
        " ".join
    ),
)


def write(folder: Path, name: str, title: str, body: str = "", **more: object) -> Path:
    record = replace(MemoryRecord(name, "decision", title, NOW, NOW, "manual", 0.9, (), body), **more)  # type: ignore[arg-type]
    path = folder / "decisions" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(render_record(record), encoding="utf-8")
    return path


def similarity(one: tuple[str, str], other: tuple[str, str]) -> float:
    vectors = [claim_vector(text_words(title), text_words(body), lambda _: 1.0) for title, body in (one, other)]
    return cosine(vectors[0], vectors[1])


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_similarity_is_symmetric_and_from_0_to_1(title: str, body: str, other_title: str, other_body: str) -> None:
    one, other = (title, body), (other_title, other_body)
    assert 0 <= similarity(one, other) <= 1
    assert math.isclose(similarity(one, other), similarity(other, one), abs_tol=1e-12)
    has_words = bool(claim_vector(text_words(title), text_words(body), lambda _: 1.0))
    assert math.isclose(similarity(one, one), 1.0 if has_words else 0.0, abs_tol=1e-9)


@given(TEXTS, st.randoms(use_true_random=False))
def test_the_order_of_words_does_not_matter(text: str, draw: random.Random) -> None:
    words = text_words(text)
    mixed = draw.sample(words, len(words))
    first, second = (claim_vector(order, [], lambda _: 1.0) for order in (words, mixed))
    assert math.isclose(cosine(first, second), 1.0 if first else 0.0, abs_tol=1e-9)


def test_endings_and_filler_words_do_not_matter_and_parts_of_names_count() -> None:
    assert similarity(("Retry the uploads", ""), ("Retrying an upload", "")) == pytest.approx(1)
    assert similarity(("The `getUserName` call", ""), ("A user without a name", "")) > 0.2
    assert similarity(("Retry uploads", ""), ("Build with uv", "")) == 0


def test_a_shared_title_counts_more_than_a_shared_body() -> None:
    claim = ("Retry uploads", "Nightly builds")
    assert similarity(claim, ("Retry uploads", "Other words")) > similarity(claim, ("Other words", "Nightly builds"))


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "東" * 200_000, "a_" * 100_000, "* `" * 60_000, "", " \n", "\x00\ud800"]
)
def test_hostile_text_has_few_words_and_is_compared_safely(text: str, project: Project, home: Home) -> None:
    write(project.memory_dir, "20260801-uv", "Use uv", "x" * 200_000)
    assert len(text_words(text)) <= 2_000
    assert normalise_claim(text, text) == normalise_claim(text, text)
    with MemorySearch(project, home) as search:
        assert all(MIN_SIMILARITY <= one.similarity <= 1 for one in search.nearest(text, text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use uv.", "use  **uv**"),
        ("Run `make check`, then push!", "run make check then push"),
        ("Don’t “guess”", "don't guess"),
        ("# Retry\n\n- Uploads\n- Downloads", "retry uploads downloads"),
    ],
)
def test_texts_that_differ_in_case_space_punctuation_and_markdown_say_the_same(one: str, other: str) -> None:
    assert normalise_claim(one, "") == normalise_claim(other, "")
    assert normalise_claim("Title", one) == normalise_claim("Title", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pass `-v`", "Pass `-V`"),
        ("Use C++", "Use C"),
        ("Match *.py", "Match .py"),
        ("Name it __init__.py", "Name it init.py"),
        ("Lint with `eslint .`", "Lint with `eslint`"),
        ("At most 1.5 s", "At most 15 s"),
        ("Keep a < b", "Keep a > b"),
        ("Use uv", "Use uv?"),
    ],
)
def test_signs_that_carry_meaning_are_kept(one: str, other: str) -> None:
    assert normalise_claim(one, "") != normalise_claim(other, "")


@pytest.mark.parametrize("scan", [False, True])
def test_the_most_similar_active_memories_come_first(project: Project, home: Home, scan: bool) -> None:
    write(project.memory_dir, "20260801-a", "Retry failed uploads twice", "The nightly job needs it.")
    write(project.memory_dir, "20260801-b", "Uploads go to the archive bucket")
    write(project.memory_dir, "20260801-c", "Retry failed uploads once", superseded_by="20260801-a")
    write(project.memory_dir, "20260801-d", "Build wheels with uv")
    write(home.memory, "20260801-e", "Failed uploads are told to nobody")
    with MemorySearch(project, home, scan=scan) as search:
        found = search.nearest("Failed uploads are retried three times", "")
        assert [one.id for one in found] == ["20260801-a", "20260801-e"]
        assert [one.similarity for one in found] == sorted((one.similarity for one in found), reverse=True)
        assert all(MIN_SIMILARITY <= one.similarity <= 1 for one in found)
        assert [one.id for one in search.nearest("Failed uploads are retried", "", 1, {"20260801-a"})] == ["20260801-e"]
        assert search.nearest("Build wheels with uv", "")[0].similarity == 1


def test_skipped_memories_make_room_for_others_however_many_they_are(project: Project, home: Home) -> None:
    names = [f"20260801-{number}" for number in range(60)]
    for name in names:
        write(project.memory_dir, name, "Retry failed uploads twice")
    with MemorySearch(project, home) as search:
        assert [one.id for one in search.nearest("Retry uploads", "", 3, set(names[1:]))] == names[:1]
