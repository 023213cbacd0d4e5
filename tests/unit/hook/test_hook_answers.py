"""What each agent is answered at each of its events. The inputs in tests/fixtures/hooks were recorded from the agents
(Claude Code, Codex, Copilot CLI, Gemini CLI) or follow their documentation (VS Code, Cursor) and ours (OpenCode).

LERIM_RECORD=1 writes the answers anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hook_program import HookProgram
from lerim.hook.program import answers, payloads
from lerim.memory.serving import FENCE_TAG

FIXTURES = Path(__file__).parents[2] / "fixtures" / "hooks"
NAMES = sorted(path.stem for path in FIXTURES.glob("*.json"))


@pytest.mark.parametrize("agent", sorted({name.split("-")[0] for name in NAMES}))
def test_each_event_of_an_agent_has_its_recorded_answer(program: HookProgram, agent: str) -> None:
    program.home.config.write_text("[agents]\ndeny_once = true\n")
    program.refresh()
    for name in (one for one in NAMES if one.split("-")[0] == agent):
        path = FIXTURES / f"{name}.json"
        case = json.loads(path.read_text("utf-8"))
        given = json.loads(json.dumps(case).replace("{repo}", str(program.project.root)))
        given["input"] |= {key: f"{name}" for key in payloads._SESSION_KEYS if key in given["input"]}
        out = program.call(given["input"], given["argument"], given["environment"])
        answer = json.loads(out) if out else None
        if os.environ.get("LERIM_RECORD"):
            path.write_text(json.dumps(case | {"answer": answer}, indent=2, ensure_ascii=False) + "\n", "utf-8")
            given["answer"] = answer
        assert answer is not None, name
        assert answer == given["answer"], name
    assert program.log() == ""


def test_the_marks_are_those_that_readers_of_sessions_cut_out() -> None:
    assert answers.TAG == FENCE_TAG


def test_the_payload_says_who_runs_the_hook_before_the_environment_does() -> None:
    inherited = {"CLAUDECODE": "1", "COPILOT_CLI": "1", "GEMINI_SESSION_ID": "x"}
    for name in NAMES:
        case = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
        has_no_sign = name.startswith("vscode") or "claude-file" in name
        environ = case["environment"] if has_no_sign else inherited
        assert payloads.find_caller(case["input"], environ, case["argument"]) == name.split("-")[0], name


def test_paths_are_found_in_what_agents_call_their_tools_with() -> None:
    assert payloads.find_patch_paths("*** Add File: a b.py\n*** Move to: c.py\n*** Delete File: d\n") == [
        *("a b.py", "c.py", "d"),
    ]
    assert payloads.find_edited_paths({"edits": [{"filePath": "x.py"}], "path": "y.py"}) == ["y.py", "x.py"]
    assert payloads.find_read_paths("cd src && cat -n 'a.py' | head -5; rg word b.py && rm c.py") == [
        *("src/a.py", "src/word", "src/b.py"),
    ]


def test_a_command_failed_if_its_exit_code_or_without_one_its_words_say_so() -> None:
    assert payloads.has_command_failed("done\n<shellId: 0 completed with exit code 1>", "copilot")
    assert not payloads.has_command_failed("error in a log\nExit Code: 0", "gemini")
    assert payloads.has_command_failed("bash: uvx: command not found", "codex")
    assert not payloads.has_command_failed("12 passed", "codex")
    assert not payloads.has_command_failed("error: bad", "claude")  # it has an event of its own for that
