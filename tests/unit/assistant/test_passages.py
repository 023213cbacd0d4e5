"""What speaks of a question: enough of its telling words, in any script, and nothing by chance."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from asker import asked, known
from claude_lines import encoded, prompt, reply, text
from desk import Desk, desk_in
from finished import finish
from isolation import isolate
from lerim.review import queue


def texts(answer: dict) -> str:
    return "\n".join(one["text"] for one in answer["passages"])


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory, small_repository: Path) -> Iterator[Desk]:
    """Sessions in which common words are said again and again; they are only read."""
    folder = tmp_path_factory.mktemp("busy")
    with pytest.MonkeyPatch.context() as patch:
        isolate(patch, folder)
        repo = Path(shutil.copytree(small_repository, folder / "repo")).resolve()
        desk = desk_in(folder, repo)
        write_busy_sessions(desk)
        yield desk


def write_busy_sessions(desk: Desk) -> None:
    known(desk)
    for number in range(12):
        desk.session(
            f"b{number}",
            prompt(f"Use the file lock {number} to make the window work, and use the cache"),
            reply(
                f"b{number}",
                text(f"I use the lock file now; window {number} works. Let me use the other constant too."),
            ),
        )
    desk.sync()


@pytest.mark.parametrize(
    "question",
    [
        "which database do we use",
        "do we use docker or podman?",
        "How does the seal tool work?",
        "what did we make of the quarterly budget report of the finance team",
    ],
)
def test_a_chance_word_is_no_knowledge(busy: Desk, question: str) -> None:
    answer = asked(busy, question, model="none")
    assert (answer["known"], answer["passages"]) == (False, [])
    assert (
        "no active memory and no session of this project contains enough of the question's words" in answer["message"]
    )


@pytest.mark.parametrize(
    ("question", "holds"),
    [
        ("how often does the importer retry", "retries 5 times"),
        ("how many times does the importer retry when the network fails?", "retries 5 times"),
        ("Money", "`Money`"),
        ("are amounts floats or cents?", "integer cents"),
        ("what about uv?", "uv pip sync"),
        ("which tool do we use for installs", "uv pip sync"),
    ],
)
def test_what_says_enough_of_it_is_found_first(busy: Desk, question: str, holds: str) -> None:
    answer = asked(busy, question, model="none")
    assert holds in answer["passages"][0]["text"], texts(answer)


def test_a_memory_with_too_few_of_the_words_is_shown_as_the_nearest_and_is_no_knowledge(desk: Desk) -> None:
    write_busy_sessions(desk)
    desk.session("w", *(prompt(f"Print weights on page {number}.") for number in range(4)))
    desk.sync()
    queue.add_memory(desk.place, "decision", "Weights are whole grams everywhere, never kilograms", "As an int.")
    answer = asked(desk, "Which unit does the carrier choose for weights?", model="none")
    assert (answer["known"], [one["detail"] for one in answer["passages"]]) == (False, ["decision, nearest"])
    assert "Weights are whole grams" in answer["passages"][0]["text"]
    assert "Nothing contains enough of the question's words. These memories may mean" in answer["message"]


def test_what_the_person_refused_is_shown_with_the_refusal(desk: Desk) -> None:
    desk.session(
        "r",
        prompt("How shall the gateway handle a failed payment?"),
        reply("a", text("A failed payment in the gateway is retried three times, then the order is cancelled.")),
        prompt("No, never retry a card without asking. ghp_" + "q8Zr3Tn1Xw6Kc0Vb5Ym9" + "Lf2Hd7Js4Pg8Ra1E"),
        reply("b", text("Understood. The gateway now asks before a failed payment is tried again.")),
        prompt("great, thanks"),
    )
    desk.sync()
    found = asked(desk, "What happens in the gateway after a failed payment?", model="none")["passages"]
    replies = [one["text"].partition("\n\nThe next prompt was: ") for one in found if one["role"] == "assistant"]
    assert {said: answer for said, _, answer in replies} == {
        "A failed payment in the gateway is retried three times, then the order is cancelled.": (
            "“No, never retry a card without asking. [redacted:github-token]”"
        ),
        "Understood. The gateway now asks before a failed payment is tried again.": "",
    }


def test_a_prompt_of_another_project_is_not_shown_as_a_refusal(desk: Desk) -> None:
    path = desk.session(
        "r",
        prompt("How shall the gateway handle a failed payment?"),
        reply("a", text("A failed payment in the gateway is retried three times, then the order is cancelled.")),
    )
    with path.open("ab") as file:
        file.write(encoded(prompt("No, this customer pays in advance", cwd="/work/another-project", sessionId="r")))
    finish(path)
    desk.sync()
    found = asked(desk, "What happens in the gateway after a failed payment?", model="none")["passages"]
    assert [one["role"] for one in found] == ["assistant", "user"]
    assert "pays in advance" not in texts({"passages": found})


JAPANESE = (
    ("依存関係はuvで管理する", "pipではなく`uv pip sync`を使う。"),
    ("設定ファイルは起動時に一度だけ読み込む", "毎回読むと遅いため。"),
)
CHINESE = (("数据库统一使用 Postgres", "不要使用 MySQL。"), ("部署采用蓝绿方式", "回滚时切换流量。"))


def test_an_excerpt_of_a_long_text_without_spaces_is_where_it_is_said(desk: Desk) -> None:
    filler = "これは関係のない長い文章です。" * 200
    desk.session(
        "s", prompt(f"{filler}\n設定ファイルは起動時に一度だけ読み込む。\n{filler}"), reply("a", text("はい。"))
    )
    desk.sync()
    assert "一度だけ読み込む" in asked(desk, "設定ファイルはいつ読み込みますか", model="none")["passages"][0]["text"]


UNSPACED = {
    "なぜuvで依存関係を管理するのですか?": JAPANESE[0][0],
    "設定ファイルはいつ読み込みますか": JAPANESE[1][0],
    "我们用什么数据库？": CHINESE[0][0],
    "为什么部署要用蓝绿": CHINESE[1][0],
    "設定ファイル": JAPANESE[1][0],
    "データベースは何を使う?": "",
    "我们的日志格式是什么": "",
    "テストはどう実行しますか": "",
}


@pytest.mark.parametrize("where", ["memories", "sessions"])
def test_a_question_in_a_script_without_spaces_finds_what_stands_in_it(desk: Desk, where: str) -> None:
    for number, (title, body) in enumerate((*JAPANESE, *CHINESE)):
        if where == "memories":
            queue.add_memory(desk.place, "decision", title, body)
        else:
            desk.session(f"s{number}", prompt(f"{title}。{body}"), reply(f"a{number}", text("好的。")))
    desk.sync()
    for question, found in UNSPACED.items():
        answer = asked(desk, question, model="none")
        assert answer["known"] is bool(found), (question, texts(answer))
        assert not found or found in answer["passages"][0]["text"], question
