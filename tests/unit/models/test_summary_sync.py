"""Summaries with a model in a whole sync."""

from __future__ import annotations

import json

from chat_server import KEY, Act, fails, says
from claude_lines import answer, call, prompt, reply, text
from desk import Desk
from model_desk import model, reported


def tells(text_: str, turn: int = 0, title: str = "Money in cents") -> Act:
    statements = [{"about": about, "text": text_, "turns": [turn]} for about in ("intent", "happened", "outcome")]
    value = json.dumps({"title": title, "description": "", "tags": ["money"], "statements": statements})
    return says(f"[[ ## summary ## ]]\n{value}\n\n[[ ## completed ## ]]\n")


def session(desk: Desk, words: str = "Always keep amounts in cents in src/app.py, because of billing") -> None:
    (desk.repo / ".lerim").mkdir(exist_ok=True)
    path = str(desk.repo / "src/app.py")
    desk.session(
        "s1",
        prompt(words),
        reply(f"a-{words[:6]}", text("I've changed it."), call(f"c-{words[:6]}", "Edit", file_path=path)),
        answer(f"c-{words[:6]}", "The file was updated."),
        prompt("thanks"),
        reply(f"b-{words[:6]}", text("You're welcome.")),
    )


def written(desk: Desk) -> str:
    [path] = (desk.repo / ".lerim" / "memory" / "summaries").rglob("*.md")
    return path.read_text(encoding="utf-8")


def test_a_model_writes_the_summary_and_the_report_says_what_it_took(desk: Desk) -> None:
    session(desk)
    with model(desk, tells("The person keeps amounts in cents"), summaries=True) as server:
        report = reported(desk)
    assert len(server.asked) == 1
    assert "The person keeps amounts in cents. [" in written(desk)
    assert "title: Money in cents" in written(desk)
    assert "\n- `src/app.py`: 1 change [" in written(desk)
    assert [(one["role"], one["model"], one["usage"]["calls"]) for one in report["spent"]] == [
        ("summarize", "openai:m", 1)
    ]
    assert report["state"] == "done"
    runs = sorted((desk.repo / ".lerim" / "workspace").iterdir())
    makers = [one["maker"] for run in runs for one in json.loads((run / "summary.json").read_text(encoding="utf-8"))]
    assert sorted(makers) == ["openai:m", "rules"]


def test_a_session_that_grew_is_told_anew_by_the_model(desk: Desk) -> None:
    session(desk)
    with model(desk, tells("The person keeps amounts in cents"), summaries=True, window_overlap_tokens=0):
        reported(desk)
    session(desk, "Never round in src/app.py, because of taxes")
    with model(desk, tells("Nothing is rounded", 5), tells("No rounding of cents", 5), summaries=True) as server:
        reported(desk)
    assert len(server.asked) == 2
    assert "No rounding of cents. [" in written(desk)


def test_an_edited_summary_costs_nothing(desk: Desk) -> None:
    session(desk)
    reported(desk)
    [path] = (desk.repo / ".lerim" / "memory" / "summaries").rglob("*.md")
    path.write_text(written(desk).replace("## Outcome", "Mine.\n\n## Outcome"), encoding="utf-8")
    with model(desk, tells("The person keeps amounts in cents"), summaries=True) as server:
        reported(desk)
    assert server.asked == []
    assert "Mine." in written(desk)


def test_a_request_that_is_refused_uses_no_session_up(desk: Desk) -> None:
    session(desk)
    for _ in range(4):
        with model(desk, fails(400, "no such parameter"), summaries=True):
            assert reported(desk)["state"] == "partial"
    with model(desk, tells("The person keeps amounts in cents"), summaries=True):
        assert reported(desk)["state"] == "done"
    assert "The person keeps amounts in cents. [" in written(desk)


def test_no_secret_and_no_key_reaches_the_model_or_the_file(desk: Desk) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    session(desk, f"Always deploy src/app.py with {token}, because of billing")
    with model(desk, tells(f"The person deploys with {token}"), summaries=True) as server:
        reported(desk)
    assert token not in json.dumps([asked.body for asked in server.asked])
    everything = [path for folder in (desk.repo, desk.home.root) for path in folder.rglob("*") if path.is_file()]
    kept = [path for path in everything if token.encode() in path.read_bytes() and "index" not in path.parts]
    assert kept == []
    assert KEY not in written(desk)
