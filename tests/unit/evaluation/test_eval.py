"""The evaluation on a hand-made session: what matches, what does not, and what a reader said."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests import claude_lines as lines

from lerim.sessions.model import make_turn_id
from lerim_evals.cli import main
from lerim_evals.score import Evaluation, Figures, MissedMemory, Proposal, SignalFigures

SESSION = "11111111-2222-3333-4444-555555555555"
SAID = "No, always use uv for installs in pyproject.toml, never pip."


@pytest.fixture
def sessions(tmp_path: Path) -> Path:
    folder = tmp_path / "sessions" / "-work-app"
    folder.mkdir(parents=True)
    path = folder / f"{SESSION}.jsonl"
    path.write_bytes(
        lines.encoded(
            lines.prompt("Add httpx to the project", uuid="u1"),
            lines.reply("m1", lines.text("I will run pip install httpx."), uuid="a1"),
            lines.prompt(SAID, uuid="u2"),
            lines.reply("m2", lines.text("Done with uv."), uuid="a2"),
            lines.prompt("thanks", uuid="u3"),
        )
    )
    return tmp_path / "sessions"


def label(folder: Path, **more: str) -> Path:
    folder.mkdir(exist_ok=True)
    head = "\n".join(f"{name} = {value}" for name, value in more.items())
    (folder / "one.toml").write_text(f'session = "{SESSION}"\nplatform = "claude"\n{head}\n', encoding="utf-8")
    return folder


def expected(terms: str) -> str:
    return f"""
[[expected]]
primitive = "decision"
claim = "Installs go through uv"
turns = ["u2"]
terms = {terms}
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_proposal_that_says_what_was_expected_counts_for_precision_and_recall(
    sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = label(tmp_path / "labels")
    with (folder / "one.toml").open("a", encoding="utf-8") as file:
        file.write(expected('[["uv"], ["pip"]]'))

    code, answer = run(capsys, "--labels", str(folder), "--sessions", str(sessions))

    assert code == 0
    assert answer["figures"]["candidates"] == 1
    assert [answer["figures"][name] for name in ("precision", "recall", "faithfulness")] == [1.0, 1.0, 1.0]
    assert answer["proposals"][0]["judged"] == "expected"


def test_what_was_expected_and_did_not_come_is_listed_as_missed(
    sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = label(tmp_path / "labels")
    with (folder / "one.toml").open("a", encoding="utf-8") as file:
        file.write(expected('[["postgres"], ["store.py"], ["sqlite"]]'))

    _, answer = run(capsys, "--labels", str(folder), "--sessions", str(sessions))

    assert answer["figures"]["recall"] == 0.0
    assert answer["missed"] == [{"session": SESSION, "claim": "Installs go through uv"}]
    assert answer["figures"]["precision"] == 0.0  # what no reader judged is not taken for right


def test_a_proposal_from_a_session_with_nothing_to_learn_costs_negative_precision(
    sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = label(tmp_path / "labels", nothing='"a routine install"')

    _, answer = run(capsys, "--labels", str(folder), "--sessions", str(sessions))

    assert answer["figures"]["negative_precision"] == 0.0


def test_a_session_cut_at_a_record_is_read_no_further(
    sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = label(tmp_path / "labels", until='"a1"', nothing='"cut before the correction"')

    _, answer = run(capsys, "--labels", str(folder), "--sessions", str(sessions))

    assert answer["figures"]["candidates"] == 0


def test_a_readers_verdict_decides_over_the_labels(
    sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = label(tmp_path / "labels", nothing='"a routine install"')
    _, answer = run(capsys, "--labels", str(folder), "--sessions", str(sessions))
    one = answer["proposals"][0]
    assert one["turn"] == make_turn_id("claude", "u2")
    verdicts = tmp_path / "verdicts.toml"
    verdicts.write_text(
        "[[verdicts]]\n"
        f'session = "{SESSION}"\nturn = "{one["turn"]}"\ntitle = {json.dumps(one["title"])}\nright = true\n',
        encoding="utf-8",
    )

    arguments = ("--labels", str(folder), "--sessions", str(sessions), "--verdicts", str(verdicts))
    _, answer = run(capsys, *arguments)

    assert answer["proposals"][0]["judged"] == "right"
    assert answer["figures"]["precision"] == 1.0


def test_two_runs_are_compared_side_by_side(sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = label(tmp_path / "labels", nothing='"a routine install"')
    before = tmp_path / "before.json"
    run(capsys, "--labels", str(folder), "--sessions", str(sessions), "--out", str(before))

    assert main(["--labels", str(folder), "--sessions", str(sessions), "--against", str(before)]) == 0

    shown = capsys.readouterr().out
    assert "before: rules" in shown
    assert "negative precision" in shown


def test_a_label_that_cannot_be_read_is_told_and_the_others_count(
    sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = label(tmp_path / "labels", nothing='"a routine install"')
    (folder / "two.toml").write_text("session = 3", encoding="utf-8")

    assert main(["--labels", str(folder), "--sessions", str(sessions)]) == 3

    assert "two.toml" in capsys.readouterr().err


def test_labelled_sessions_that_are_all_missing_are_an_error_that_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = label(tmp_path / "labels", nothing='"a routine install"')

    assert main(["--labels", str(folder), "--sessions", str(tmp_path / "nowhere")]) == 1

    assert "--sessions" in capsys.readouterr().err


@pytest.mark.parametrize("struct", [Evaluation, Figures, SignalFigures, Proposal, MissedMemory])
def test_every_field_of_an_evaluation_is_listed_in_its_readme(struct: Any) -> None:
    readme = Path(__file__).resolve().parents[3] / "evals" / "README.md"
    listed = readme.read_text(encoding="utf-8").split("- `Evaluation`:")[1].split("\n\n")[0]
    assert set(struct.__struct_fields__) <= set(re.findall(r"[a-z_]+", listed))
