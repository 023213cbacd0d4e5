"""What extraction without a model finds in a chat of Cursor: the same as in any other agent's session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cursor_store import Editor, only, prompt, reply, tool
from lerim.extraction.candidate import Candidate
from lerim.extraction.pipeline import Extraction
from lerim.sessions.model import Turn


def proposed(root: Path, bubbles: list[dict[str, Any]]) -> dict[str, list[Candidate]]:
    """The candidates of a chat by signal; each quote stands in its turn."""
    Editor(root).chat(bubbles, workspaceIdentifier={"id": "w", "uri": {"fsPath": "/srv/app", "scheme": "file"}})
    turns, session, _ = only(root)
    extraction = Extraction(None, session.id, "cursor")
    for turn in turns:
        extraction.feed(turn)
    found: dict[str, list[Candidate]] = {}
    for item in extraction.finish(True):
        if isinstance(item, Candidate):
            found.setdefault(item.signal, []).append(item)
            assert item.evidence
            assert all(quote.quote in whole(turns, quote.turn) for quote in item.evidence)
    return found


def whole(turns: list[Turn], native: str) -> str:
    (turn,) = [turn for turn in turns if turn.id == native]
    told = [f"{c.command}\n{c.output}\n{c.plan}\n{c.feedback}" for c in turn.tool_calls]
    told += [f"{a.question}\n{a.answer}" for c in turn.tool_calls for a in c.answers]
    return "\n".join([turn.text, *told])


def shell(command: str, output: str, code: int, native: str) -> dict[str, Any]:
    result = {"output": output, "exitCodeV2": code, "rejected": False}
    return tool("run_terminal_command_v2", {"command": command, "cwd": ""}, result, native)


def test_a_rule_a_person_states_is_proposed(tmp_path: Path):
    rule = "Always use uv for Python packages in this repo, never pip, because the lockfile is uv's."
    found = proposed(tmp_path, [prompt(rule), reply("Understood, I will use uv.", "a1"), prompt("Thanks", "u2")])
    assert [item.evidence[0].who for items in found.values() for item in items] == ["user"]


BEFORE = '[tool.pytest.ini_options]\ntestpaths = ["t"]\n'
AFTER = BEFORE + 'pythonpath = ["src"]\n'
IMPORT_ERROR = (
    "ImportError while importing test module 't/test_shop.py'.\nE   ModuleNotFoundError: No module named 'shop'\n"
    "ERROR t/test_shop.py\n1 error in 0.10s"
)


def test_a_command_that_failed_and_passes_after_an_edit_is_proposed(tmp_path: Path):
    editor = Editor(tmp_path)
    editor.put("composer.content.aa", BEFORE)
    editor.put("composer.content.bb", AFTER)
    bodies = {"beforeContentId": "composer.content.aa", "afterContentId": "composer.content.bb"}
    found = proposed(
        tmp_path,
        [
            prompt("the tests do not run"),
            shell("uv run pytest -q", IMPORT_ERROR, 2, "t1"),
            reply("The package is not found.", "a1"),
            tool("edit_file_v2", {"relativeWorkspacePath": "pyproject.toml"}, bodies, "t2"),
            reply("Again.", "a2"),
            shell("uv run pytest -q", "3 passed in 0.1s", 0, "t3"),
            prompt("great", "u2"),
        ],
    )
    titles = [item.title for items in found.values() for item in items]
    assert titles == ["`uv run pytest -q` needs `pythonpath` in `pyproject.toml`"]


def test_what_a_person_chose_is_ranked_with_the_question_and_never_the_agents_words(tmp_path: Path):
    options = [{"id": one[0], "label": one} for one in ("SQLite", "Redis", "Postgres")]
    asked = {"questions": [{"id": "q", "prompt": "Which database should we use for the cache?", "options": options}]}
    answered = {"answers": [{"questionId": "q", "selectedOptionIds": ["S"]}]}
    written = tool("write", {"file_path": "src/cache.py", "contents": "import sqlite3  # SQLite\n"}, {}, "t2")
    rule = prompt("Always keep the cache in one file, never in a server.", "u2")
    found = proposed(tmp_path, [prompt("add a cache"), tool("ask_question", asked, answered, "t1"), written, rule])
    assert [one.title for one in found["prompt"]] == ["Always keep the cache in one file, never in a server"]
    for one in found.get("answer", []):
        assert one.title == "Which database should we use for the cache? SQLite"
        assert [quote.who for quote in one.evidence] == ["user"]


PLAN = """# Cache the rates

## Approach
- Always use Redis instead of a file for the rates, because it is shared, in `src/rates.py`.
"""


def test_a_plan_is_never_the_persons_words(tmp_path: Path):
    plan = tool("create_plan", {"name": "Cache", "plan": PLAN}, {}, "t1")
    written = tool("write", {"file_path": "src/rates.py", "contents": "import redis\n"}, {}, "t2")
    said = [prompt("plan it"), reply("Here is the plan.", "a1"), plan]
    handed = prompt("Implement the plan as specified", "u2", isSimulatedMsg=True)
    assert proposed(tmp_path / "left", [*said, prompt("Tell me a joke first", "u2")]) == {}
    found = proposed(tmp_path / "built", [*said, handed, written, prompt("good", "u3")])
    assert {quote.who for items in found.values() for one in items for quote in one.evidence} <= {"assistant"}
