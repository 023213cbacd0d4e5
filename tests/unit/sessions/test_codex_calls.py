"""Calls of Codex in the forms of every era: commands, exit codes, patches, plans, questions."""

from __future__ import annotations

import json

import pytest

import codex_lines as lines
from lerim.sessions.model import FileEdit, QuestionAnswer

UPDATE = (
    "*** Begin Patch\n*** Update File: src/a.py\n@@ def f():\n     x = 1\n-    return 1\n+    return 2\n*** End Patch"
)
ADD = "*** Begin Patch\n*** Add File: b.py\n+print(1)\n+print(2)\n*** End Patch"


WALL = "Wall time: 0.1 seconds\nOutput:\n"


def one_call(folder, *records):
    turns, done = lines.turns_of(folder, lines.meta(), *records)
    (call,) = (call for turn in turns for call in turn.tool_calls)
    return call, done.session


def script(text):
    return lines.item("custom_tool_call", call_id="c1", name="exec", input=text)


@pytest.mark.parametrize(
    ("record", "command"),
    [
        (lines.call("c1", "shell", command=["bash", "-lc", "rg -n 'a b' | head"]), "rg -n 'a b' | head"),
        (lines.call("c1", "shell", command=["git", "commit", "-m", "a b"]), "git commit -m 'a b'"),
        (lines.call("c1", "shell", command=["bash", "run.sh"]), "bash run.sh"),
        (lines.call("c1", "shell", command=["bash", "-l", "run.sh"]), "bash -l run.sh"),
        (lines.call("c1", "shell", command=["bash", "-l", "-c", "ls"]), "ls"),
        (lines.call("c1", "shell", command=["powershell.exe", "-NoProfile", "-Command", "dir"]), "dir"),
        (lines.call("c1", "container.exec", cmd=["/bin/zsh", "-lc", "ls"]), "ls"),
        (lines.call("c1", "exec_command", cmd="make test", tty=True), "make test"),
        (lines.item("local_shell_call", call_id="c1", action={"command": ["bash", "-lc", "ls"]}), "ls"),
        (script('const r = await tools.exec_command({cmd: "make \\"x\\"", workdir: "/w"}); text(r)'), 'make "x"'),
        (script("await Promise.all([tools.exec_command({'cmd': 'ls'}), tools.exec_command({cmd: `pwd`})])"), "ls\npwd"),
    ],
)
def test_a_command_is_what_one_would_type(tmp_path, record, command):
    call, _ = one_call(tmp_path, record)
    assert (call.kind, call.command, call.status) == ("shell", command, "pending")


REJECTED = '`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }'


@pytest.mark.parametrize(
    ("output", "status", "code", "shown"),
    [
        ('{"output":"no","metadata":{"exit_code":127,"duration_seconds":0.1}}', "error", 127, "no"),
        ('{"output":"2 passed","exit_code":0,"wall_time_seconds":0.2}', "ok", 0, "2 passed"),
        ("Exit code: 0\nWall time: 0.1 seconds\nOutput:\na\n", "ok", 0, "a\n"),
        ("Exit code: 124\nWall time: 1 seconds\nOutput:\ntimed out\n", "error", 124, "timed out\n"),
        ("Chunk ID: 1a\nProcess exited with code 0\nOutput:\nExit code: 3", "ok", 0, "Exit code: 3"),
        ("Script completed\nOutput:\nProcess exited with code 3", "ok", None, "Process exited with code 3"),
        ("Wall time: 0.1 seconds\nProcess exited with code -9\nOutput:\n", "error", -9, ""),
        ("failed in sandbox X with execution error: denied, exit code: 2, stdout: a, stderr: b", "error", 2, None),
        ("exec_command failed for `x`: CreateProcess { message: no }", "error", None, None),
        ("aborted by user after 3.2s", "interrupted", None, None),
        ("Wall time: 3.2 seconds\naborted by user", "interrupted", None, None),
        ("exec command rejected by user", "denied", None, None),
        ("exec_command failed for `make " + "x" * 3000 + REJECTED, "denied", None, None),
        ("exec_command failed for `x" + REJECTED.replace("by user", "by policy"), "error", None, None),
        ('err: "user rejected MCP tool call"', "denied", None, None),
        ('err: "tool call error: no such server"', "error", None, None),
        ("patch rejected: writing outside of the project; rejected by user approval settings", "error", None, None),
        ([{"type": "input_text", "text": "Exit code: 1\nOutput:\nno"}], "error", 1, "no"),
        ({"content": "no", "success": False}, "error", None, "no"),
        ("anything else", "ok", None, "anything else"),
    ],
)
def test_a_result_tells_how_the_command_ended(tmp_path, output, status, code, shown):
    call, session = one_call(tmp_path, lines.run("c1", "make"), lines.output("c1", output))
    assert (call.status, call.exit_code) == (status, code)
    assert shown is None or call.output == shown
    assert (session.tool_errors, session.denials) == (status == "error", status == "denied")


def test_a_result_that_is_told_again_is_counted_once_wherever_a_reading_ended(tmp_path):
    path = tmp_path / "rollout-x.jsonl"
    first = lines.encoded(lines.meta(), lines.run("c1", "make"), lines.ran("c1", 0), *lines.said("A"), *lines.said("B"))
    more = [lines.prompt(text) for text in "abcd"]
    path.write_bytes(first + lines.encoded(*more))
    _, done = lines.reading(path)
    path.write_bytes(first + lines.encoded(*more, lines.ran("c1", 1)))
    assert lines.reading(path)[1].session.tool_errors == 0
    assert lines.reading(path, done.resume)[1].session.tool_errors == 0


def test_a_command_or_script_that_ran_on_gets_the_exit_code_told_later(tmp_path):
    turns, done = lines.turns_of(
        tmp_path,
        lines.meta(),
        lines.run("c1", "make test"),
        lines.runs_on("c1", 47, "one\n"),
        lines.call("c2", "write_stdin", session_id=47, chars=""),
        lines.runs_on("c2", 47, "two\n"),
        lines.call("c3", "write_stdin", session_id=47, chars="y\n"),
        lines.ran("c3", 1, "failed\n"),
    )
    first, second, third = (call for turn in turns for call in turn.tool_calls)
    assert (first.status, first.exit_code, first.output) == ("error", 1, "one\nfailed\n")
    assert [(call.status, call.exit_code) for call in (second, third)] == [("ok", None), ("ok", None)]
    assert third.command == "y"
    assert done.session.tool_errors == 1
    script = [
        lines.output("c1", "Script running with cell ID cell-1\nOutput:\n"),
        lines.call("c2", "wait", cell_id="cell-1"),
        lines.output("c2", [{"type": "input_text", "text": '{"output":"2 passed","exit_code":0}'}]),
    ]
    turns, _ = lines.turns_of(tmp_path, lines.meta(), lines.run("c1", "pytest -q"), *script)
    first, _ = (call for turn in turns for call in turn.tool_calls)
    assert (first.status, first.exit_code, first.output) == ("ok", 0, "2 passed")


@pytest.mark.parametrize(
    ("records", "status"),
    [
        ([lines.runs_on("c1", 47), lines.event("task_complete")], "ok"),
        ([lines.event("turn_aborted", reason="interrupted")], "interrupted"),
    ],
)
def test_a_call_is_waited_for_no_longer_than_its_task(tmp_path, records, status):
    call, _ = one_call(tmp_path, lines.run("c1", "make"), *records)
    assert (call.status, call.exit_code) == (status, None)


@pytest.mark.parametrize(
    ("asked", "ended", "output", "status", "code"),
    [
        (lines.run("c1", "make"), lines.event("exec_command_end", call_id="c1", exit_code=2), "no", "error", 2),
        (lines.patch("c1", UPDATE), lines.event("patch_apply_end", call_id="c1", success=False), "no", "error", None),
        *(
            (
                lines.call("c1", "mcp__x__y"),
                lines.event("mcp_tool_call_end", call_id="c1", result=result),
                f"{WALL}what it said",
                status,
                None,
            )
            for result, status in (
                ({"Err": "tool call error: no server"}, "error"),
                ({"Ok": {"content": [], "isError": True}}, "error"),
                ({"Ok": {"content": []}}, "ok"),
                ({"Err": "user rejected MCP tool call"}, "denied"),
            )
        ),
    ],
)
def test_an_event_tells_how_a_call_ended_where_the_output_does_not(tmp_path, asked, ended, output, status, code):
    call, session = one_call(tmp_path, asked, ended, lines.output("c1", output))
    assert (call.status, call.exit_code) == (status, code)
    assert (session.tool_errors, session.denials) == (status == "error", status == "denied")


@pytest.mark.parametrize(
    "record",
    [
        lines.patch("c1", UPDATE),
        lines.call("c1", "apply_patch", input=UPDATE),
        lines.call("c1", "shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{UPDATE}\nEOF"]),
        lines.run("c1", f"cd src && apply_patch <<'EOF'\n{UPDATE}\nEOF\n"),
        script(f"await tools.apply_patch({json.dumps(UPDATE)})"),
    ],
)
def test_a_patch_is_an_edit_in_every_form(tmp_path, record):
    call, _ = one_call(tmp_path, record, lines.patch_output("c1", f"Exit code: 0\n{WALL}Success."))
    assert (call.kind, call.status, call.paths, call.command) == ("edit", "ok", ("src/a.py",), "")
    assert call.edits == (FileEdit("src/a.py", "    x = 1\n    return 1", "    x = 1\n    return 2"),)


SEVERAL = (
    "*** Begin Patch\n*** Update File: a.py\n*** Move to: c.py\n@@\n-a\n+b\n@@\n-c\n+d\n"
    "*** Delete File: e.py\n*** Add File: f.py\n+g\n*** End Patch"
)
AMID = f"git pull\napply_patch <<'EOF'\n{UPDATE}\nEOF\nmake"
NOT_FOUND = "apply_patch verification failed: Failed to find expected lines in a.py"
CHANGES = {"/home/ana/app/src/a.py": {"type": "update"}}
FULL = "/home/ana/app/src/a.py"
STEPS = [{"step": "Look", "status": "completed"}, {"step": "Fix", "status": "pending"}]
QUESTIONS = [
    {"id": "tool", "header": "Tool", "question": "Which?", "options": [{"label": "uv", "description": "fast"}]},
    {"id": "why", "question": "Why?", "options": None},
]
GIVEN = {"answers": {"tool": {"answers": ["uv"]}, "why": {"answers": ["user_note: it is fast"]}}}


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([lines.run("c1", AMID)], {"kind": "shell", "paths": ("src/a.py",), "command": AMID}),
        (
            [lines.patch("c1", ADD), lines.patch_output("c1", NOT_FOUND)],
            {"kind": "write", "edits": (FileEdit("b.py", "", "print(1)\nprint(2)"),), "status": "error"},
        ),
        (
            [lines.patch("c1", SEVERAL)],
            {
                "paths": ("a.py", "c.py", "e.py", "f.py"),
                "edits": (FileEdit("a.py", "a", "b"), FileEdit("a.py", "c", "d"), FileEdit("f.py", "", "g")),
            },
        ),
        (
            [
                lines.patch("c1", UPDATE),
                lines.event("patch_apply_end", call_id="c1", success=True, changes=CHANGES),
                lines.patch_output("c1", "Success."),
            ],
            {"paths": (FULL,), "edits": (FileEdit(FULL, "    x = 1\n    return 1", "    x = 1\n    return 2"),)},
        ),
        (
            [lines.call("c1", "update_plan", explanation="First", plan=STEPS), lines.output("c1", "Plan updated")],
            {"kind": "plan", "plan": "First\n[x] Look\n[ ] Fix", "output": "Plan updated"},
        ),
        (
            [lines.call("c1", "request_user_input", questions=QUESTIONS), lines.output("c1", json.dumps(GIVEN))],
            {
                "kind": "ask",
                "answers": (
                    QuestionAnswer("Which?", ("uv",), "uv", ("fast",)),
                    QuestionAnswer("Why?", (), "it is fast"),
                ),
            },
        ),
        (
            [lines.item("web_search_call", id="ws_1", action={"type": "search", "query": "uv lock"})],
            {"kind": "web", "command": "uv lock", "status": "ok"},
        ),
        ([lines.item("tool_search_call", call_id="c1", arguments={"query": "pr"})], {"kind": "other", "command": "pr"}),
        ([script("await tools.web__run({q: 1})")], {"kind": "web"}),
        ([lines.call("c1", "mcp__github__create_issue", title="x")], {"kind": "other", "command": ""}),
        ([lines.call("c1", "spawn_agent", message="Look")], {"kind": "agent", "command": "Look"}),
        ([lines.call("c1", "view_image", path="/a.png")], {"kind": "read", "command": "", "paths": ("/a.png",)}),
    ],
)
def test_a_call_has_its_kind_input_and_result(tmp_path, records, expected):
    call, session = one_call(tmp_path, *records)
    assert {name: getattr(call, name) for name in expected} == expected
    assert session.tool_errors == (expected.get("status") == "error")


def test_calls_of_one_message_are_one_turn_and_the_next_message_is_another(tmp_path):
    two = [lines.run("c1", "a"), lines.run("c2", "b"), lines.ran("c1", 0), lines.ran("c2", 0)]
    said = [lines.prompt("Fix it"), lines.said("Looking"), *two, lines.run("c3", "c"), lines.ran("c3", 0)]
    turns, _ = lines.turns_of(tmp_path, lines.meta(), *said, lines.said("Done"))
    found = [(turn.text, len(turn.tool_calls)) for turn in turns]
    assert found == [("Fix it", 0), ("Looking", 2), ("", 1), ("Done", 0)]
