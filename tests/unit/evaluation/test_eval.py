"""The evaluation on a hand-made session: what matches, what does not, and what a reader said."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import claude_lines as lines
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


EXPECTED = """
[[expected]]
primitive = "decision"
claim = "Installs go through uv"
turns = ["u2"]
terms = {}
"""
NOTHING = 'nothing = "a routine install"'


@pytest.fixture
def evaluate(sessions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any, str]]:
    """Evaluates the session with this label: the exit code, what `--json` prints, and what is told as an error."""
    labels = tmp_path / "labels"
    labels.mkdir()

    def run(label: str, *arguments: str, folder: Path = sessions, json_too: bool = True) -> tuple[int, Any, str]:
        head = f'session = "{SESSION}"\nplatform = "claude"\n{label}\n'
        (labels / "one.toml").write_text(head, encoding="utf-8")
        code = main(["--labels", str(labels), "--sessions", str(folder), *arguments, *(["--json"] if json_too else [])])
        shown = capsys.readouterr()
        return code, json.loads(shown.out) if json_too else shown.out, shown.err

    return run


def test_a_proposal_that_says_what_was_expected_counts_for_precision_and_recall(evaluate) -> None:
    code, answer, _ = evaluate(EXPECTED.format('[["uv"], ["pip"]]'))
    assert code == 0
    assert answer["figures"]["candidates"] == 1
    assert [answer["figures"][name] for name in ("precision", "recall", "faithfulness")] == [1.0, 1.0, 1.0]
    assert answer["proposals"][0]["judged"] == "expected"


def test_what_was_expected_and_did_not_come_is_listed_as_missed(evaluate) -> None:
    _, answer, _ = evaluate(EXPECTED.format('[["postgres"], ["store.py"], ["sqlite"]]'))
    assert answer["figures"]["recall"] == 0.0
    assert answer["missed"] == [{"session": SESSION, "claim": "Installs go through uv"}]
    assert answer["figures"]["precision"] == 0.0  # what no reader judged is not taken for right


def test_a_session_with_nothing_to_learn_counts_until_it_is_cut_and_a_readers_verdict_decides(
    evaluate, tmp_path: Path
) -> None:
    _, answer, _ = evaluate(NOTHING, "--out", str(tmp_path / "before.json"))
    assert answer["figures"]["negative_precision"] == 0.0
    one = answer["proposals"][0]
    assert one["turn"] == make_turn_id("claude", "u2")
    _, cut, _ = evaluate(f'{NOTHING}\nuntil = "a1"')
    assert cut["figures"]["candidates"] == 0

    verdicts = tmp_path / "verdicts.toml"
    told = f'session = "{SESSION}"\nturn = "{one["turn"]}"\ntitle = {json.dumps(one["title"])}\nright = true\n'
    verdicts.write_text(f"[[verdicts]]\n{told}", encoding="utf-8")
    _, answer, _ = evaluate(NOTHING, "--verdicts", str(verdicts))
    assert answer["proposals"][0]["judged"] == "right"
    assert answer["figures"]["precision"] == 1.0

    code, shown, _ = evaluate(NOTHING, "--against", str(tmp_path / "before.json"), json_too=False)
    assert code == 0
    assert "before: rules" in shown and "negative precision" in shown


def test_labels_and_sessions_that_cannot_be_read_are_told(evaluate, tmp_path: Path) -> None:
    code, _, told = evaluate(NOTHING, folder=tmp_path / "nowhere", json_too=False)
    assert code == 1 and "--sessions" in told
    (tmp_path / "labels" / "two.toml").write_text("session = 3", encoding="utf-8")
    code, _, told = evaluate(NOTHING, json_too=False)
    assert code == 3 and "two.toml" in told


@pytest.mark.parametrize("struct", [Evaluation, Figures, SignalFigures, Proposal, MissedMemory])
def test_every_field_of_an_evaluation_is_listed_in_its_readme(struct: Any) -> None:
    readme = Path(__file__).resolve().parents[3] / "evals" / "README.md"
    listed = readme.read_text(encoding="utf-8").split("- `Evaluation`:")[1].split("\n\n")[0]
    assert set(struct.__struct_fields__) <= set(re.findall(r"[a-z_]+", listed))
