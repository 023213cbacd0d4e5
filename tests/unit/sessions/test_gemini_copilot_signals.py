"""The same session as Claude Code, Gemini CLI and Copilot would have written it gives the same candidates."""

from __future__ import annotations

import json
from pathlib import Path

import claude_lines
import copilot_chats
import gemini_files
from lerim.extraction.candidate import Candidate, Dropped
from lerim.extraction.pipeline import Extraction
from lerim.sessions.model import Turn

RULE = "Always use uv to install packages, never pip."
PLAN = "# Keep parsed sessions\n\n## Decisions\n- Store parsed sessions in SQLite instead of JSON files.\n"
QUESTION = "Which database should we use for parsed sessions?"
PRINTED = "ModuleNotFoundError: No module named 'httpx'"
FAILED, FIXED = "pytest tests/test_wire.py", "uv run pytest tests/test_wire.py"
OLD, NEW = "import requests", "import httpx"
FILE = "/home/ana/app/wire.py"


def claude(folder: Path) -> list[Turn]:
    call, answer, reply = claude_lines.call, claude_lines.answer, claude_lines.reply
    option = [{"label": "SQLite", "description": "one file"}, {"label": "Redis", "description": "a server"}]
    records = [
        claude_lines.prompt(RULE),
        reply("m1", claude_lines.text("Understood."), call("t1", "Bash", command=FAILED)),
        answer("t1", f"Exit code 1\n{PRINTED}", is_error=True),
        reply("m2", call("t2", "Edit", file_path=FILE, old_string=OLD, new_string=NEW)),
        answer("t2", "The file was updated."),
        reply("m3", call("t3", "Bash", command=FIXED)),
        answer("t3", "3 passed in 0.10s"),
        reply("m4", call("t4", "AskUserQuestion", questions=[{"question": QUESTION, "options": option}])),
        answer("t4", "answered", outcome={"answers": {QUESTION: "SQLite"}}),
        reply("m5", call("t5", "ExitPlanMode", plan=PLAN)),
        answer("t5", "User has approved your plan."),
        claude_lines.prompt("Thanks, that works."),
        reply("m6", claude_lines.text("Good.")),
    ]
    path = folder / "claude.jsonl"
    path.write_bytes(claude_lines.encoded(*records))
    return claude_lines.reading(path)[0]


def gemini(folder: Path) -> list[Turn]:
    call, reply = gemini_files.call, gemini_files.reply
    option = [{"label": "SQLite", "description": "one file"}, {"label": "Redis", "description": "a server"}]
    answered = json.dumps({"answers": {"0": "SQLite"}})
    path = gemini_files.log(
        folder / "gemini.jsonl",
        gemini_files.prompt(RULE),
        reply("Understood.", call("run_shell_command", f"Output: {PRINTED}\nExit Code: 1", command=FAILED)),
        reply("", call("replace", "Successfully modified file", file_path=FILE, old_string=OLD, new_string=NEW)),
        reply("", call("run_shell_command", "Output: 3 passed in 0.10s\nProcess Group PGID: 1", command=FIXED)),
        reply("", call("ask_user", answered, questions=[{"question": QUESTION, "options": option}])),
        reply("", call("write_file", "Written", file_path="/tmp/plans/cache.md", content=PLAN)),
        reply("", call("exit_plan_mode", "Plan approved. Switching to Default mode.", plan_filename="cache.md")),
        gemini_files.prompt("Thanks, that works."),
        reply("Good."),
    )
    return gemini_files.reading(path, cwd="/home/ana/app")[0]


def copilot(folder: Path) -> list[Turn]:
    asked, tool, markdown = copilot_chats.asked, copilot_chats.tool, copilot_chats.markdown
    option = [{"label": "SQLite", "description": "one file"}, {"label": "Redis", "description": "a server"}]
    calls = copilot_chats.metadata(
        asked("run_in_terminal", "t1", command=FAILED),
        asked("replace_string_in_file", "t2", filePath=FILE, oldString=OLD, newString=NEW),
        asked("run_in_terminal", "t3", command=FIXED),
        asked("vscode_askQuestions", "t4", questions=[{"header": "Store", "question": QUESTION, "options": option}]),
        results={
            "t1": f"{PRINTED}\n\nCommand exited with code 1",
            "t2": "The following files were successfully edited:",
            "t3": "3 passed in 0.10s",
            "t4": json.dumps({"answers": {"Store": {"selected": ["SQLite"], "freeText": None, "skipped": False}}}),
        },
    )
    shown = [
        markdown("Understood."),
        copilot_chats.terminal(FAILED, 1),
        tool("copilot_replaceString"),
        copilot_chats.terminal(FIXED, 0),
        tool("vscode_askQuestions"),
    ]
    thanks = copilot_chats.request("Thanks, that works.", markdown("Good."))
    path = copilot_chats.whole(folder / "copilot.json", copilot_chats.request(RULE, *shown, calls=calls), thanks)
    return copilot_chats.reading(path, cwd="/home/ana/app")[0]


def outcome(turns: list[Turn], platform: str) -> set[tuple[str, str]]:
    """What is proposed, by its signal, and what was left out, by its reason; each with its title."""
    extraction = Extraction(None, "s", platform)
    for turn in turns:
        list(extraction.feed(turn))
    found = list(extraction.finish(True))
    proposed = {(one.signal, one.title) for one in found if isinstance(one, Candidate)}
    return proposed | {(one.reason, one.title) for one in found if isinstance(one, Dropped)}


def test_the_same_session_gives_the_same_candidates_whichever_agent_wrote_it(tmp_path):
    expected = outcome(claude(tmp_path), "claude")
    assert {"correction", "answer", "plan"} <= {signal for signal, _ in expected}
    assert outcome(gemini(tmp_path), "gemini") == expected
    assert outcome(copilot(tmp_path), "copilot") == {one for one in expected if one[0] != "plan"}
