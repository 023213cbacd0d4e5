from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from concept_model import ConceptModel
from hook_program import write_memory
from lerim.cli import ask
from lerim.cli.memory import commands
from lerim.memory.meaning import (
    MAX_TOKENS,
    VECTORS_DATABASE,
    is_sentence_model_installed,
    load_sentence_model,
    load_vocabulary,
    sentence_model,
    stored_vectors,
    tokenize,
)
from terminal import answer, run

REPOSITORY = Path(__file__).parents[2]
QUESTION = "which price type?"
Git = Callable[..., str]


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ConceptModel:
    model = ConceptModel()
    for command in (ask, commands):
        monkeypatch.setattr(command, "load_sentence_model", lambda: model)
    return model


def add(repo: Path, title: str, *more: str) -> Any:
    return answer("memory", "add", "--title", title, *more, "--repo", str(repo))


def find(repo: Path, *words: str) -> Any:
    return answer("memory", "search", *words, "--meaning", "--repo", str(repo))


def titles(found: Any) -> list[str]:
    return [memory["title"] for memory in found["memories"]]


def test_memories_found_by_meaning_follow_those_with_every_word(repo: Path, model: ConceptModel):
    add(repo, "Store amounts as cents")
    add(repo, "Never log a price", "--body", "Customers see our logs.")
    add(repo, "Use jitter", "--body", "Every retry needs it.")
    mine = answer("memory", "add", "--title", "Use Decimal for money", "--global")
    assert titles(answer("memory", "search", "price", "--repo", str(repo))) == ["Never log a price"]
    found = find(repo, "price")
    assert titles(found)[0] == "Never log a price"
    assert set(titles(found)[1:]) == {"Store amounts as cents", "Use Decimal for money"}
    assert mine["id"] in found["by_meaning"] and len(found["by_meaning"]) == 2
    assert len(find(repo, "price", "--limit", "2")["memories"]) == 2
    assert titles(find(repo, "price", "--kind", "theme")) == []
    add(repo, "Customers are asked first")
    shown = run("memory", "search", "price", "customers", "--meaning", "--repo", str(repo)).stdout
    places = [
        shown.index(text) for text in ("Never log", "By meaning:", "Store amounts", "By some of the", "asked first")
    ]
    assert places == sorted(places)


def test_a_question_whose_words_no_memory_has_is_answered_with_the_nearest_and_says_so(repo: Path, model: ConceptModel):
    question = ("ask", "which prices type", "--model", "none", "--repo", str(repo))
    add(repo, "Store amounts as cents", "--tag", "ledger")
    add(repo, "Use jitter")
    said = run(*question).stdout
    assert said.startswith("Nothing was found") and "`--meaning`" in said
    asked = answer(*question, "--meaning")
    [near] = asked["passages"]
    assert (near["citation"]["title"], near["detail"], near["citation"]["number"]) == (
        *("Store amounts as cents", "decision, by meaning", 1),
    )
    assert asked["known"] is False and "may mean something similar" in asked["message"]
    add(repo, "Keep each prices type in one module")
    by_words, by_meaning = answer(*question, "--meaning")["passages"]
    assert (by_words["detail"], by_meaning["detail"]) == ("decision", "decision, by meaning")
    assert (by_words["citation"]["number"], by_meaning["citation"]["number"]) == (1, 2)


def test_each_text_is_read_by_the_model_once_and_again_if_what_was_stored_of_it_is_damaged(
    repo: Path, model: ConceptModel, isolated: Path
):
    add(repo, "Store amounts as cents", "--body", "Floats drift.")
    other = add(repo, "Use Decimal for money")
    assert len(titles(find(repo, QUESTION))) == 2
    assert sorted(model.texts) == sorted([QUESTION, "Use Decimal for money", "Store amounts as cents", "Floats drift."])
    model.texts.clear()
    assert len(titles(find(repo, QUESTION))) == 2
    assert model.texts == [QUESTION]
    [vectors] = (isolated / ".lerim" / "projects").glob(f"*/{VECTORS_DATABASE}")
    Path(other["path"]).unlink()
    add(repo, "Round a price up")
    assert set(titles(find(repo, QUESTION))) == {"Round a price up", "Store amounts as cents"}
    vectors.write_bytes(b"no database" * 100)
    model.texts.clear()
    found = find(repo, QUESTION)
    assert len(found["memories"]) == 2 and {problem["path"] for problem in found["problems"]} == {str(vectors)}
    assert len(model.texts) == 4
    assert find(repo, QUESTION)["problems"] == []
    assert [path.name for path in vectors.parent.glob("*.damaged-copy")] == [f"{VECTORS_DATABASE}.damaged-copy"]


def test_two_worktrees_of_a_repository_leave_each_other_what_the_model_has_read_and_old_texts_are_forgotten(
    repo: Path, model: ConceptModel, git: Git, isolated: Path, monkeypatch: pytest.MonkeyPatch
):
    git(repo, "commit", "-q", "--allow-empty", "-m", "Begin")
    other = repo.parent / "other"
    git(repo, "worktree", "add", "-q", str(other))
    for place, title in ((repo, "Store amounts as cents"), (other, "Use Decimal for money")):
        write_memory(place / ".lerim" / "memory", title, name="20260302-money")
        assert titles(find(place, QUESTION)) == [title]
    model.texts.clear()
    for place in (repo, other, repo):
        find(place, QUESTION)
    assert set(model.texts) == {QUESTION}
    monkeypatch.setattr(stored_vectors, "MOST_OTHERS", 1)
    [vectors] = (isolated / ".lerim" / "projects").glob(f"*/{VECTORS_DATABASE}")
    for number in range(4):
        write_memory(repo / ".lerim" / "memory", f"Round a price up {number}", name="20260302-money")
        find(repo, QUESTION)
    with closing(sqlite3.connect(vectors)) as db:
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (2,)


def test_a_search_that_is_stopped_keeps_what_the_model_has_read(repo: Path, model: ConceptModel):
    model.stop_at = 34  # texts: the question, and 32 of the first batch
    for number in range(40):
        write_memory(repo / ".lerim" / "memory", f"Round a price up in part {number}", name=f"20260302-part-{number}")
    assert run("memory", "search", QUESTION, "--meaning", "--repo", str(repo)).exit_code == 130
    model.stop_at, before = None, len(model.texts)
    find(repo, QUESTION)
    assert before - 1 == 32 and len(model.texts) - before - 1 == 40 - 32


def test_without_the_extra_a_search_that_finds_nothing_says_what_to_install_and_how_large_it_is(
    repo: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(sentence_model, "MODULES", ("no_such_package",))
    add(repo, "Use Decimal for money")
    shown = run("memory", "search", "zebra", "--repo", str(repo)).stdout
    assert "No memories." in shown
    assert "pip install 'lerim[meaning]'` (65 MB to download), then `--meaning`" in shown
    assert "meaning" not in run("memory", "search", "decimal", "--repo", str(repo)).stdout
    some = run("memory", "search", "Which Decimal for the zebra crossing?", "--repo", str(repo)).stdout
    assert "Use Decimal" in some and "lerim[meaning]" in some
    refused = answer("memory", "search", "zebra", "--meaning", "--repo", str(repo), code=1)["error"]
    assert "pip install 'lerim[meaning]'" in refused["todo"]
    monkeypatch.setattr(sentence_model, "MODULES", ())
    assert "`--meaning` also finds" in run("memory", "search", "zebra", "--repo", str(repo)).stdout


def test_texts_are_split_into_the_word_pieces_that_the_model_was_trained_with():
    vocabulary = load_vocabulary()
    names = {number: piece for piece, number in vocabulary.items()}
    pieces = lambda text: [names[number] for number in tokenize(text, vocabulary, MAX_TOKENS)]  # noqa: E731
    assert pieces("") == ["[CLS]", "[SEP]"]
    assert pieces("Naïve idempotency_key\t日本\u2028o\u200b\x00k") == [
        *("[CLS]", "naive", "id", "##em", "##pot", "##ency", "_", "key", "日", "本", "ok", "[SEP]")
    ]
    assert pieces("a" * 101 + " 😀") == ["[CLS]", "[UNK]", "[UNK]", "[SEP]"]
    assert len(tokenize("word " * 1_000, vocabulary, MAX_TOKENS)) == MAX_TOKENS


@pytest.mark.skipif(not is_sentence_model_installed(), reason="lerim[meaning] is not installed (65 MB)")
def test_the_real_model_finds_most_of_sixty_paraphrases_among_the_first_three():
    pairs = json.loads((REPOSITORY / "evals" / "paraphrases.json").read_text(encoding="utf-8"))
    model = load_sentence_model()
    titles, bodies, queries = (model.embed([pair[name] for pair in pairs]) for name in ("title", "body", "query"))
    find_nearest = model.prepare_comparison(titles, bodies)
    found = sum(number in dict(find_nearest(query, 3)) for number, query in enumerate(queries))
    assert found >= 42
