"""Search measured by questions: what counts as found, what is left out, and floors on the real sessions."""

import json
from pathlib import Path
from typing import Any

import pytest

import claude_lines as lines
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.model import make_turn_id
from lerim_evals.cli import main
from lerim_evals.search_recall import index_stores, read_questions, search_questions

QUESTIONS = Path(__file__).resolve().parents[3] / "evals" / "questions.toml"
SESSION = "11111111-2222-3333-4444-555555555555"
STORE = '[[stores]]\nplatform = "claude"\npath = "claude"\n'


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions" / "claude" / "projects" / "-work-app"
    folder.mkdir(parents=True)
    (folder / f"{SESSION}.jsonl").write_bytes(
        lines.encoded(
            lines.prompt("Add httpx to the project", uuid="u1"),
            lines.reply("m1", lines.text("I will run pip install httpx."), uuid="a1"),
            lines.prompt("Retry when the server answers 503", uuid="u2"),
            lines.reply("m2", lines.text("Done: three retries, a second apart."), uuid="a2"),
        )
    )
    return tmp_path / "sessions"


def question(text: str, *natives: str) -> str:
    turns = json.dumps([make_turn_id("claude", native) for native in natives])
    told = f'platform = "claude"\nsession = "{SESSION}"\nturns = {turns}\nabout = "decision"'
    return f'[[questions]]\nquestion = "{text}"\n{told}\n'


def written(folder: Path, *parts: str) -> Path:
    path = folder / "questions.toml"
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_question_is_found_at_the_place_of_the_first_turn_that_answers_it(
    sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = written(
        tmp_path,
        STORE,
        question("which install command", "a1", "a2"),
        question("three retries 503", "a2", "u2"),
        question("colour of the header", "u1"),
    )

    code, found = run(capsys, "--questions", str(asked), "--sessions", str(sessions))

    assert code == 0
    assert [one["rank"] for one in found["answers"]] == [1, 1, 0]
    assert found["answers"][0]["first"] == make_turn_id("claude", "a1")
    assert found["total"] == {"questions": 3, "at_1": 0.6667, "at_5": 0.6667, "at_10": 0.6667, "mrr": 0.6667}
    assert found["platforms"]["claude"] == found["kinds"]["decision"] == found["total"]
    assert found["platforms"]["codex"]["questions"] == 0


def test_a_question_about_a_session_that_is_not_there_is_left_out_and_told(
    sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = written(tmp_path, STORE, question("which install command", "a1"), question("who was it", "elsewhere"))

    code = main(["--questions", str(asked), "--sessions", str(sessions)])

    told = capsys.readouterr()
    assert code == 3
    assert "“who was it”" in told.err
    assert "100.0 %" in told.out


@pytest.mark.parametrize(
    ("parts", "arguments", "named"),
    [
        ((STORE, question("which install command", "a1")), ("--sessions", "nowhere"), "--sessions"),
        ((STORE, question("which install command", "a1")), ("--out", "kept"), "--out"),
        ((STORE, question("which install command", "a1")), ("--against", "kept"), "--against"),
        (("not toml",), (), "questions.toml"),
        (('[[questions]]\nquestion = "x"',), (), "questions.toml"),
    ],
    ids=["no session is there", "figures are not kept", "nor compared", "no toml", "no questions"],
)
def test_what_cannot_be_measured_is_an_error_that_names_the_cause(
    parts: tuple[str, ...], arguments: tuple[str, ...], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = run(capsys, "--questions", str(written(tmp_path, *parts)), *arguments)
    assert code != 0
    assert named in json.dumps(found["error"])
    assert not Path("kept").exists()


def test_what_answers_100_questions_about_real_sessions_is_found_early(sessions_folder: Path, tmp_path: Path) -> None:
    asked = read_questions(QUESTIONS)
    assert len(asked.questions) == 100
    assert len({one.question for one in asked.questions}) == 100
    with Catalog.open(Home(tmp_path / "home")) as catalog:
        assert index_stores(catalog, sessions_folder, asked.stores) == []
        missing = [
            (one.question, turn) for one in asked.questions for turn in one.turns if catalog.load_turn(turn) is None
        ]
        assert missing == []
        found, absent = search_questions(catalog, asked.questions)

    assert absent == []
    assert found.total.at_1 >= 0.66
    assert found.total.at_5 >= 0.89
    assert found.total.at_10 >= 0.93
    assert found.total.mrr >= 0.76
