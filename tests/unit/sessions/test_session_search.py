"""What a search finds: names whole and in parts, answers by their questions, nothing by its neighbours alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from lerim.paths import Home
from lerim.sessions.catalog import Catalog

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

import search as bench
from lerim.sessions.model import ToolCall, Turn


def said(*texts: str, calls: tuple[ToolCall, ...] = ()) -> list[Turn]:
    return [
        Turn(f"t{at}", at, "assistant" if at % 2 else "user", "reply" if at % 2 else "prompt", text, None, "/w/c0",
             tool_calls=calls if at == len(texts) - 1 else ())
        for at, text in enumerate(texts)
    ]  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def found(home: Home, turns: list[Turn], *queries: str) -> list[list[str]]:
    bench.index(home, [bench.told("one", turns)])
    with Catalog.open(home) as catalog:
        return [[turn.text for turn in catalog.search(query)] for query in queries]


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("it calls getUserName twice", ["getUserName", "get user name", "getusername", "get_user_name", "user"]),
        ("set max_attempts to 3", ["max_attempts", "max attempts", "maxAttempts", "attempts"]),
        ("the XMLHttpRequest fails", ["XMLHttpRequest", "http request", "xmlhttprequest"]),
        ("see docs/api-v2/read.me.md", ["docs/api-v2/read.me.md", "read.me.md", "api-v2", "api"]),
        ("rewritten in C++ today", ["C++", "c++ rewritten", '"C++"', "C++\0", "(C++) AND NOT", "C++ *"]),
        ("設定は環境変数から読みます", ["環境変数", "設定 環境変数"]),
        ("the painted walls", ["painting", "wall", "Paints!"]),
        ("don't use it", ["don't", "use"]),
    ],
)
def test_a_name_is_found_whole_and_in_parts(home, text, queries):
    assert found(home, said(text, "nothing of it"), *queries) == [[text]] * len(queries)


def test_the_answer_that_follows_a_question_comes_before_one_elsewhere(home):
    filler = ["unrelated words"] * 6
    turns = said("Which database does billing use?", "Postgres, it said so.", *filler, "Nothing new, it said so.")
    (hits,) = found(home, turns, "billing database postgres said")
    assert hits[:2] == ["Postgres, it said so.", "Which database does billing use?"]


def test_a_turn_is_not_found_by_what_stands_beside_it_alone(home):
    assert found(home, said("about quicksilver", "yes"), "quicksilver") == [["about quicksilver"]]


def test_a_command_is_found_with_its_turn(home):
    calls = (ToolCall("c", "Bash", "shell", "error", command="uv run pytest -x", exit_code=1),)
    assert found(home, said("go", "done", calls=calls), "pytest", "uv run") == [["done"], ["done"]]


def test_a_filter_without_words_gives_the_newest_and_no_words_without_a_filter_nothing(home):
    assert found(home, said("one"), "", "?!", "\0") == [[], [], []]


def test_evidence_of_questions_is_recalled_on_conversations_the_search_was_not_tuned_on(home):
    if not bench.LOCOMO.exists():
        pytest.skip(f"no LoCoMo at {bench.LOCOMO}; it lies beside the folder LERIM_TEST_SESSIONS names, in data/")
    samples = bench.loaded()
    bench.index(home, bench.conversations(samples))
    with Catalog.open(home) as catalog:
        asked = [one for one in bench.questions(samples) if one.conversation in bench.HELD]
        recall = bench.recalled(catalog, asked)
    assert recall.questions == 985
    assert recall.turns[5] >= 0.68
    assert recall.turns[10] >= 0.76
    assert recall.sessions[5] >= 0.87
    assert recall.sessions[10] >= 0.93
