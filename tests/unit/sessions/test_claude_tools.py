"""Tool calls come out with what was asked, what came back and what the person said about it."""

from __future__ import annotations

import pytest

from claude_lines import SESSION, answer, call, prompt, read, reply, text
from lerim.sessions.model import FileEdit, QuestionAnswer

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
STOP = REFUSED + "STOP what you are doing and wait for the user to tell you how to proceed."
SAID = REFUSED + "To tell you how to proceed, the user said:\n"


def one(tmp_path, asked, *results):
    turns, done = read(tmp_path, prompt("Go"), reply("m1", asked), *results)
    [made] = turns[1].tool_calls
    assert (done.problems, done.session.tool_errors) == ([], made.status == "error")
    return made


RUN = call("t1", "Bash", command="make", description="Build it")
BUILT = {"kind": "shell", "command": "make", "description": "Build it"}
ABORTED = "<error>Command was aborted before completion</error>"
BACKGROUND = {"stdout": "", "backgroundTaskId": "b1", "interrupted": False}
NOTHING_FOUND = {"stdout": "", "returnCodeInterpretation": "No matches found", "interrupted": False}
PARTS = [
    text("one"),
    {"type": "image", "source": {"type": "base64", "data": "AAAA"}},
    {"type": "tool_reference", "tool_name": "x"},
    text("two<system-reminder>no</system-reminder>"),
]
EDIT = call("t1", "Edit", file_path=r"C:\app\a.py", old_string="x = 1", new_string="x = 2")
TWO_EDITS = [{"old_string": "a", "new_string": "b"}, {"new_string": "d"}]
APPROVED = (
    "User has approved your plan. You can now start coding.\n\n## Approved Plan (edited by user):\n# Use uv\n\nNow."
)
OLD_REJECTED = "The agent proposed a plan that was rejected by the user. The user chose to stay in plan mode …"
STARTED = {"isAsync": True, "status": "async_launched", "agentId": "a0eb", "outputFile": "/tmp/x.output"}
UNPARSED = call("t1", 'Task" >\n<parameter name="description', __unparsedToolInput="{")


def ended(content, outcome=None, **fields):
    return answer("t1", content, outcome=outcome, **fields)


def failed(content, outcome=None, **fields):
    return answer("t1", content, is_error=True, outcome=outcome, **fields)


@pytest.mark.parametrize(
    ("asked", "result", "expected"),
    [
        (
            RUN,
            ended("3 passed", {"stdout": "3 passed", "interrupted": False}),
            BUILT | {"status": "ok", "exit_code": 0},
        ),
        (RUN, failed("Exit code 127\nnot found", "Error: Exit code 127"), {"status": "error", "exit_code": 127}),
        (RUN, failed("It said Exit code 3"), {"status": "error", "exit_code": None}),
        (RUN, ended("Running in background", BACKGROUND), {"status": "ok", "exit_code": None}),
        (RUN, ended("", NOTHING_FOUND), {"status": "ok", "exit_code": None}),
        (RUN, ended("", {"stdout": "", "interrupted": True}), {"status": "interrupted", "exit_code": None}),
        (RUN, failed(ABORTED, {"stdout": "", "interrupted": True}), {"status": "interrupted", "exit_code": None}),
        (call("t1", "Read", file_path="/a"), failed("Exit code 3"), {"status": "error", "exit_code": None}),
        (call("t1", "BashOutput", bash_id="b1"), ended("…", {"exitCode": 2}), {"status": "ok", "exit_code": 2}),
        (RUN, ended(STOP), {"status": "ok"}),
        (RUN, ended("[Request interrupted by user] is what the log says"), {"status": "ok"}),
        (RUN, failed("[Request interrupted by user for tool use]"), {"status": "interrupted"}),
        (RUN, failed("The user doesn't want to take this action right now. STOP"), {"status": "interrupted"}),
        (RUN, prompt([text("[Request interrupted by user]")]), {"status": "interrupted"}),
        (RUN, None, {"status": "pending"}),
        (call("t1", "mcp__x__y"), ended(PARTS), {"description": "", "output": "one\n[image]\ntwo"}),
        (call("t1", "mcp__docs__search", words="cents", limit=5), None, {"description": "cents"}),
        (call("t1", "mcp__docs__ask", repo="a/b", most=3, q="Why?"), None, {"description": "repo: a/b, q: Why?"}),
        (call("t1", "TodoWrite", todos=[{"content": "Round", "status": "pending"}]), None, {"description": "Round"}),
        (
            call("t1", "Grep", pattern="round(", path="src"),
            None,
            {"kind": "search", "command": "round(", "paths": ("src",), "description": ""},
        ),
        (call("t1", "mcp__vault__unlock", password="blue4horse"), None, {"description": "[redacted:password]"}),
        (
            call("t1", "mcp__db__open", retries=2, login={"DB_PASSWORD": "blue4horse"}),
            None,
            {"description": "[redacted:password]"},
        ),
        (
            call("t1", "mcp__http__get", headers=[{"Authorization": "Basic Ym9iOmJsdWU0aG9yc2U="}]),
            None,
            {"description": "Basic [redacted:authorization]"},
        ),
        (call("t1", "mcp__vault__put", secret={"value": "Zx9Kq2Lm7Pw4"}), None, {"description": "[redacted:token]"}),
        (
            EDIT,
            ended("Updated", {"filePath": r"C:\app\a.py", "originalFile": "SECRET", "structuredPatch": ["SECRET"]}),
            {
                "kind": "edit",
                "paths": (r"C:\app\a.py",),
                "edits": (FileEdit(r"C:\app\a.py", "x = 1", "x = 2"),),
                "output": "Updated",
            },
        ),
        (
            call("t1", "MultiEdit", file_path="/a.py", edits=TWO_EDITS),
            None,
            {"kind": "edit", "edits": (FileEdit("/a.py", "a", "b"), FileEdit("/a.py", "", "d")), "paths": ("/a.py",)},
        ),
        (
            call("t1", "Write", file_path="/a.py", content="x = 1\r\n"),
            None,
            {"kind": "write", "edits": (FileEdit("/a.py", "", "x = 1\r\n"),), "paths": ("/a.py",)},
        ),
        (
            call("t1", "NotebookEdit", notebook_path="/a.ipynb", new_source="y"),
            None,
            {"kind": "edit", "edits": (FileEdit("/a.ipynb", "", "y"),), "paths": ("/a.ipynb",)},
        ),
        (call("t1", "WebFetch", url="https://a.test", prompt="?"), None, {"kind": "web", "command": "https://a.test"}),
        (UNPARSED, None, {"kind": "other"}),
        (call("t1", "Bash", command=["ls"], description="List"), None, {"command": "", "description": "List"}),
        (call("t1", "Skill", skill="review", args="the parser"), None, {"kind": "other", "description": "review"}),
        (call("t1", "SendMessage", to="ana", summary="Done", message={"type": "x"}), None, {"description": "Done"}),
        (call("t1", "SendMessage", to="ana", message="It is done."), None, {"description": "It is done."}),
        ({"type": "tool_use", "id": "t1", "name": "Edit", "input": "text"}, None, {"kind": "edit", "edits": ()}),
        (call("t1", "ExitPlanMode"), ended(APPROVED), {"status": "ok", "plan": "# Use uv\n\nNow."}),
        (call("t1", "ExitPlanMode"), ended("Ok", {"plan": "# Use uv", "isAgent": False}), {"plan": "# Use uv"}),
        (call("t1", "ExitPlanMode", plan="#"), failed(OLD_REJECTED), {"status": "denied"}),
        (
            call("t1", "ExitPlanMode", plan="# Use uv"),
            failed(SAID + "keep pip for the docs"),
            {"status": "denied", "plan": "# Use uv", "feedback": "keep pip for the docs"},
        ),
        (
            call("t1", "Agent", description="Review", prompt="Review it"),
            ended("Async agent launched", STARTED),
            {"kind": "agent", "status": "ok", "description": "Review"},
        ),
    ],
)
def test_a_call_has_its_kind_input_result_and_end(tmp_path, asked, result, expected):
    done = one(tmp_path, asked, *([result] if result else []))
    assert {name: getattr(done, name) for name in expected} == expected


def test_a_long_result_keeps_its_ends_and_no_part_of_a_word_that_may_be_a_secret(tmp_path):
    done = one(tmp_path, RUN, answer("t1", "a " * 2500 + "b " * 5000 + " c" * 2500))
    assert (done.output[:4001], done.output[-4001:]) == ("a " * 2000 + "\n", "\n" + " c" * 2000)
    assert done.output_cut == 12_000
    key = "ghp_" + "k3Y9" * 9
    log = "x" * 3_970 + " " + key + " y" * 10_000 + " " + key + "z " * 1_990
    done = one(tmp_path, RUN, answer("t1", log))
    assert "ghp_" not in done.output
    assert "k3Y9" not in done.output
    assert len(done.output) - len("\n…\n") + done.output_cut == len(log)


# --- what the person said about a call ---------------------------------------------------------------------------


NOTED = SAID + "use uv\n\nNote: The user's next message may contain a correction"


@pytest.mark.parametrize(
    ("name", "content", "fields", "status", "feedback"),
    [
        ("Edit", SAID + "use uv, not pip", {}, "denied", "use uv, not pip"),
        ("Edit", NOTED, {}, "denied", "use uv"),
        ("Edit", "Permission for this tool use was denied. The user said:\nnot here", {}, "denied", "not here"),
        ("Edit", STOP, {}, "denied", ""),
        ("Edit", STOP, {"userFeedback": "use uv"}, "denied", "use uv"),
        ("Edit", "Blocked", {"toolDenialKind": "user-rejected", "userFeedback": "no"}, "denied", "no"),
        ("Edit", "Permission to use Bash has been denied.", {}, "denied", ""),
        # what a tool, a rule or a server ascribes to the person is not theirs
        ("Bash", SAID + "use uv", {}, "denied", ""),
        ("Unheard", SAID + "use uv", {}, "denied", ""),
        ("Edit", SAID + "use uv", {"toolDenialKind": "hook"}, "denied", ""),
        ("Edit", SAID + "use uv", {"toolDenialKind": "interrupted"}, "interrupted", ""),
        ("mcp__docs__search", SAID + "use uv", {}, "error", ""),
        ("mcp__docs__search", SAID + "use uv", {"toolDenialKind": "user-rejected", "userFeedback": "no"}, "denied", ""),
    ],
)
def test_a_denied_call_keeps_what_the_person_said(tmp_path, name, content, fields, status, feedback):
    refused = answer("t1", content, is_error=True, **fields)
    turns, reading = read(tmp_path, prompt("Go"), reply("m1", call("t1", name, file_path="/a.py")), refused)
    [done] = turns[1].tool_calls
    assert (done.status, done.feedback, done.exit_code) == (status, feedback, None)
    assert feedback or done.output == content
    assert (reading.session.denials, reading.session.tool_errors) == (status == "denied", status == "error")


QUESTIONS = [
    {"question": "Which tool?", "options": [{"label": "uv", "description": "one lock file"}, {"label": "pip"}]},
    {"question": 'Quote "this"?', "options": [{"label": "yes"}], "multiSelect": True},
]
ANSWERED = {
    "answers": {"Which tool?": "uv", 'Quote "this"?': ["yes", "no"]},
    "annotations": {"Which tool?": {"notes": "pip is too slow"}},
}
TOLD = (
    'User has answered your questions: "Which tool?"="uv, because "pip" is slow", "Quote "this"?"="yes". '
    "You can now continue with the user's answers in mind."
)


@pytest.mark.parametrize(
    ("said", "outcome", "answers"),
    [
        ("User has answered your questions: …", ANSWERED, ["uv\npip is too slow", "yes, no"]),
        (TOLD, None, ['uv, because "pip" is slow', "yes"]),
        ("User declined to answer", None, ["", ""]),
    ],
)
def test_questions_come_with_their_options_and_with_answers_from_the_result_or_its_text(
    tmp_path, said, outcome, answers
):
    first, second = one(tmp_path, call("t1", "AskUserQuestion", questions=QUESTIONS), ended(said, outcome)).answers
    assert (first.question, first.options, first.descriptions) == ("Which tool?", ("uv", "pip"), ("one lock file", ""))
    assert (second.question, [first.answer, second.answer]) == ('Quote "this"?', answers)
    asked = call("t1", "AskUserQuestion", question="Global or library?")
    assert one(tmp_path, asked).answers[0].question == "Global or library?"


@pytest.mark.parametrize(
    ("said", "chosen"), [("uv, pip", "one lock file\nold"), ("neither", ""), ("", ""), ("pip\nit is there", "old")]
)
def test_the_descriptions_of_all_chosen_options_are_told(said, chosen):
    assert QuestionAnswer("Which?", ("uv", "pip"), said, ("one lock file", "old")).chosen_descriptions == chosen


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ([], {"userFeedback": "keep the old endpoint"}),
        ([text("<system-reminder>x</system-reminder>"), text("keep the old endpoint")], {}),
    ],
)
def test_what_the_person_said_on_approving_a_plan_is_kept(tmp_path, said, fields):
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "User has approved your plan."}
    done = one(tmp_path, call("t1", "exit_plan_mode", plan="Add a cache"), prompt([result, *said], **fields))
    assert (done.kind, done.status, done.feedback) == ("plan", "ok", "keep the old endpoint")
    assert done.plan == "Add a cache"
    assert one(tmp_path, call("t1", "Skill"), prompt([result, *said])).feedback == ""


# --- outputs written to files ------------------------------------------------------------------------------------


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / SESSION / "tool-results"
    (folder / "folder").mkdir(parents=True)
    (folder / "b1.txt").write_text("head\n" + "x" * 200_000 + "\ntail", encoding="utf-8")
    (tmp_path / "secret.txt").write_text("SECRET", encoding="utf-8")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    return folder


def spill(tmp_path, named):
    preview = f"<persisted-output>\nOutput too large (35.8KB). Full output saved to: {named}\n\nPreview:\nfirst\n"
    outcome = {"stdout": "", "persistedOutputPath": named, "persistedOutputSize": 36_000}
    return one(tmp_path, RUN, ended(preview + "</persisted-output>", outcome))


def test_a_spilled_output_is_read_from_the_sessions_own_folder(tmp_path, results):
    for named in (str(results / "b1.txt"), r"C:\Users\ana\.claude\projects\p\s\tool-results\b1.txt"):
        done = spill(tmp_path, named)
        assert (done.output[:5], done.output[-5:]) == ("head\n", "\ntail")
        assert done.output_cut > 190_000


def test_a_spilled_output_outside_the_sessions_own_folder_is_never_read(tmp_path, results):
    secret = str(results.parents[1] / "secret.txt")
    for named in (secret, "../../secret.txt", "link.txt", "folder", "gone.txt", "..", "", "a\0b"):
        done = spill(tmp_path, named)
        assert "SECRET" not in done.output
        assert "first" in done.output
