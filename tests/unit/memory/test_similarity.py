"""How similar two claims are, which memories are neighbours of a claim, and when two texts say the same."""

import pytest

from hook_program import write_memory
from lerim.memory.search.memory_search import MemorySearch
from lerim.memory.similarity import (
    MIN_SIMILARITY,
    claim_vector,
    cosine,
    normalize_claim,
    text_words,
)
from lerim.paths import Home
from lerim.project.project import Project


def similarity(one: tuple[str, str], other: tuple[str, str]) -> float:
    vectors = [claim_vector(text_words(title), text_words(body), lambda _: 1.0) for title, body in (one, other)]
    return cosine(vectors[0], vectors[1])


@pytest.mark.parametrize(
    "text", ["x" * 200_000, "東" * 200_000, "a_" * 100_000, "* `" * 60_000, "", " \n", "\x00\ud800"]
)
def test_hostile_text_has_few_words_and_is_compared_safely(text: str, project: Project, home: Home) -> None:
    write_memory(project.memory_dir, "Use uv", "x" * 200_000, name="20260801-uv")
    assert len(text_words(text)) <= 2_000
    assert normalize_claim(text, text) == normalize_claim(text, text)
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
    assert normalize_claim(one, "") == normalize_claim(other, "")
    assert normalize_claim("Title", one) == normalize_claim("Title", other)


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
    assert normalize_claim(one, "") != normalize_claim(other, "")


@pytest.mark.parametrize("scan", [False, True])
def test_the_most_similar_active_memories_come_first(project: Project, home: Home, scan: bool) -> None:
    write_memory(project.memory_dir, "Retry failed uploads twice", "The nightly job needs it.", name="20260801-a")
    write_memory(project.memory_dir, "Uploads go to the archive bucket", name="20260801-b")
    write_memory(project.memory_dir, "Retry failed uploads once", superseded_by="20260801-a", name="20260801-c")
    write_memory(project.memory_dir, "Build wheels with uv", name="20260801-d")
    write_memory(project.memory_dir, "Failed uploads are told to nobody", name="20260801-e")
    write_memory(home.memory, "Failed uploads are retried three times", name="20260801-f")
    with MemorySearch(project, home, scan=scan) as search:
        found = search.nearest("Failed uploads are retried three times", "")
        assert [one.id for one in found] == ["20260801-a", "20260801-e"]
        assert [one.similarity for one in found] == sorted((one.similarity for one in found), reverse=True)
        assert all(MIN_SIMILARITY <= one.similarity <= 1 for one in found)
        assert [one.id for one in search.nearest("Failed uploads are retried", "", 1, {"20260801-a"})] == ["20260801-e"]
        assert search.nearest("Build wheels with uv", "")[0].similarity == 1
