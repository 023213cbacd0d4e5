"""Tool calls come out with what was asked, what came back and what the person said about it."""

from __future__ import annotations

import pytest

from claude_lines import SESSION, answer, call, prompt, read, reply, text
from lerim.sessions.model import QuestionAnswer

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the "
    "new_string was NOT written to the file). "
)
STOP = REFUSED + "STOP what you are doing and wait for the user to tell you how to proceed."
SAID = REFUSED + "To tell you how to proceed, the user said:\n"


def one(tmp_path, asked, *results):
    turns, done = read(tmp_path, prompt("Go"), reply("m1", asked), *results)
    assert done.problems == []
    return turns[1].tool_calls[0]


# --- shell -------------------------------------------------------------------------------------------------------

RUN = call("t1", "Bash", command="make", description="Build it")
ABORTED = "<error>Command was aborted before completion</error>"
BACKGROUND = {"stdout": "", "backgroundTaskId": "b1", "interrupted": False}


@pytest.mark.parametrize(
    ("asked", "result", "status", "code"),
    [
        (RUN, answer("t1", "3 passed", outcome={"stdout": "3 passed", "interrupted": False}), "ok", 0),
        (RUN, answer("t1", "Exit code 127\nnot found", is_error=True, outcome="Error: Exit code 127"), "error", 127),
        (RUN, answer("t1", "It said Exit code 3", is_error=True), "error", None),
        (RUN, answer("t1", "Running in background", outcome=BACKGROUND), "ok", None),
        (RUN, answer("t1", "", outcome={"stdout": "", "interrupted": True}), "interrupted", None),
        (RUN, answer("t1", ABORTED, is_error=True, outcome={"stdout": "", "interrupted": True}), "interrupted", None),
        (call("t1", "Read", file_path="/a"), answer("t1", "Exit code 3", is_error=True), "error", None),
        (call("t1", "BashOutput", bash_id="b1"), answer("t1", "…", outcome={"exitCode": 2}), "ok", 2),
    ],
)
def test_a_command_has_the_exit_code_that_is_known(tmp_path, asked, result, status, code):
    done = one(tmp_path, asked, result)
    assert (done.status, done.exit_code) == (status, code)
    if asked is RUN:
        assert (done.kind, done.command, done.description) == ("shell", "make", "Build it")


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


def test_a_result_in_parts_is_joined_and_reminders_in_it_are_cut(tmp_path):
    image = {"type": "image", "source": {"type": "base64", "data": "AAAA"}}
    parts = [
        text("one"),
        image,
        {"type": "tool_reference", "tool_name": "x"},
        text("two<system-reminder>no</system-reminder>"),
    ]
    assert one(tmp_path, call("t1", "mcp__x__y"), answer("t1", parts)).output == "one\n[image]\ntwo"


# --- files -------------------------------------------------------------------------------------------------------


def test_edits_keep_what_was_replaced_and_never_the_original_file(tmp_path):
    asked = call("t1", "Edit", file_path=r"C:\app\a.py", old_string="x = 1", new_string="x = 2")
    outcome = {"filePath": r"C:\app\a.py", "originalFile": "SECRET", "structuredPatch": [{"lines": ["SECRET"]}]}
    done = one(tmp_path, asked, answer("t1", "Updated", outcome=outcome))
    assert (done.kind, done.paths) == ("edit", (r"C:\app\a.py",))
    assert [(edit.path, edit.old, edit.new) for edit in done.edits] == [(r"C:\app\a.py", "x = 1", "x = 2")]
    assert "SECRET" not in repr(done)


@pytest.mark.parametrize(
    ("name", "asked", "kind", "edits"),
    [
        (
            "MultiEdit",
            {"file_path": "/a.py", "edits": [{"old_string": "a", "new_string": "b"}, {"new_string": "d"}]},
            "edit",
            [("/a.py", "a", "b"), ("/a.py", "", "d")],
        ),
        ("Write", {"file_path": "/a.py", "content": "x = 1\r\n"}, "write", [("/a.py", "", "x = 1\r\n")]),
        ("NotebookEdit", {"notebook_path": "/a.ipynb", "new_source": "y"}, "edit", [("/a.ipynb", "", "y")]),
    ],
)
def test_every_tool_that_changes_a_file_tells_its_edits(tmp_path, name, asked, kind, edits):
    done = one(tmp_path, call("t1", name, **asked))
    assert (done.kind, done.paths) == (kind, (edits[0][0],))
    assert [(edit.path, edit.old, edit.new) for edit in done.edits] == edits


def test_searches_reads_and_the_web_say_what_was_looked_for(tmp_path):
    grep = one(tmp_path, call("t1", "Grep", pattern="def load", path="src"))
    assert (grep.kind, grep.command, grep.paths) == ("search", "def load", ("src",))
    assert one(tmp_path, call("t1", "WebFetch", url="https://example.org", prompt="?")).command == "https://example.org"


def test_an_unknown_tool_or_an_input_of_the_wrong_shape_leaves_out_only_what_does_not_fit(tmp_path):
    assert one(tmp_path, call("t1", 'Task" >\n<parameter name="description', __unparsedToolInput="{")).kind == "other"
    done = one(tmp_path, call("t1", "Bash", command=["ls"], description="List"))
    assert (done.command, done.description) == ("", "List")
    assert one(tmp_path, {"type": "tool_use", "id": "t1", "name": "Edit", "input": "text"}).kind == "edit"


# --- what the person said about a call ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "fields", "feedback"),
    [
        (SAID + "use uv, not pip", {}, "use uv, not pip"),
        (SAID + "use uv\n\nNote: The user's next message may contain a correction", {}, "use uv"),
        ("Permission for this tool use was denied. The user said:\nnot here", {}, "not here"),
        (STOP, {}, ""),
        (STOP, {"userFeedback": "use uv"}, "use uv"),
        ("Blocked", {"toolDenialKind": "user-rejected", "userFeedback": "no"}, "no"),
        ("Permission to use Bash has been denied.", {}, ""),
    ],
)
def test_a_denied_call_keeps_what_the_person_said(tmp_path, content, fields, feedback):
    asked = call("t1", "Edit", file_path="/a.py", old_string="a", new_string="b")
    turns, done = read(tmp_path, prompt("Go"), reply("m1", asked), answer("t1", content, is_error=True, **fields))
    denied = turns[1].tool_calls[0]
    assert (denied.status, denied.feedback, denied.exit_code) == ("denied", feedback, None)
    assert (done.session.denials, done.session.tool_errors) == (1, 0)


@pytest.mark.parametrize(
    ("name", "fields", "status"),
    [
        ("Bash", {}, "denied"),
        ("Unheard", {}, "denied"),
        ("Edit", {"toolDenialKind": "hook"}, "denied"),
        ("Edit", {"toolDenialKind": "interrupted"}, "interrupted"),
        ("mcp__docs__search", {}, "error"),
        ("mcp__docs__search", {"toolDenialKind": "user-rejected", "userFeedback": "use uv"}, "denied"),
    ],
)
def test_what_a_tool_a_rule_or_a_server_ascribes_to_the_person_is_not_theirs(tmp_path, name, fields, status):
    refused = answer("t1", SAID + "use uv, not pip", is_error=True, **fields)
    turns, reading = read(tmp_path, reply("m1", call("t1", name, command="x")), refused)
    (done,) = turns[0].tool_calls
    assert (done.status, done.feedback, done.output) == (status, "", SAID + "use uv, not pip")
    assert reading.session.denials == (status == "denied")


@pytest.mark.parametrize(
    ("results", "status"),
    [
        ([answer("t1", STOP)], "ok"),
        ([answer("t1", "[Request interrupted by user for tool use]", is_error=True)], "interrupted"),
        ([answer("t1", "The user doesn't want to take this action right now. STOP", is_error=True)], "interrupted"),
        ([prompt([text("[Request interrupted by user]")])], "interrupted"),
        ([], "pending"),
    ],
)
def test_a_call_that_was_stopped_or_goes_on_is_not_denied(tmp_path, results, status):
    assert one(tmp_path, RUN, *results).status == status


QUESTIONS = [
    {"question": "Which tool?", "header": "Tool", "options": [{"label": "uv"}, {"label": "pip"}], "multiSelect": False},
    {"question": 'Quote "this"?', "options": [{"label": "yes"}], "multiSelect": True},
]


def answers_of(tmp_path, content, outcome=None):
    asked = call("t1", "AskUserQuestion", questions=QUESTIONS)
    return [(one.question, one.answer) for one in one(tmp_path, asked, answer("t1", content, outcome=outcome)).answers]


def test_answers_come_from_the_result_where_it_has_them(tmp_path):
    outcome = {
        "questions": QUESTIONS,
        "answers": {"Which tool?": "uv", 'Quote "this"?': ["yes", "no"]},
        "annotations": {"Which tool?": {"notes": "pip is too slow"}},
    }
    expected = [("Which tool?", "uv\npip is too slow"), ('Quote "this"?', "yes, no")]
    assert answers_of(tmp_path, "User has answered your questions: …", outcome) == expected


def test_answers_come_from_the_text_of_older_results(tmp_path):
    said = (
        'User has answered your questions: "Which tool?"="uv, because "pip" is slow", "Quote "this"?"="yes". '
        "You can now continue with the user's answers in mind."
    )
    expected = [("Which tool?", 'uv, because "pip" is slow'), ('Quote "this"?', "yes")]
    assert answers_of(tmp_path, said) == expected


def test_a_question_without_an_answer_has_an_empty_one(tmp_path):
    assert answers_of(tmp_path, "User declined to answer") == [("Which tool?", ""), ('Quote "this"?', "")]
    asked = call("t1", "AskUserQuestion", question="Global or library?")
    assert one(tmp_path, asked).answers[0].question == "Global or library?"


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


def test_a_plan_kept_in_a_file_or_edited_by_the_person_comes_from_the_result(tmp_path):
    said = (
        "User has approved your plan. You can now start coding.\n\n## Approved Plan (edited by user):\n# Use uv\n\nNow."
    )
    assert one(tmp_path, call("t1", "ExitPlanMode"), answer("t1", said)).plan == "# Use uv\n\nNow."
    outcome = {"plan": "# Use uv", "isAgent": False}
    assert one(tmp_path, call("t1", "ExitPlanMode"), answer("t1", "Ok", outcome=outcome)).plan == "# Use uv"


def test_a_rejected_plan_is_denied_and_keeps_the_feedback(tmp_path):
    rejected = answer("t1", SAID + "keep pip for the docs", is_error=True)
    done = one(tmp_path, call("t1", "ExitPlanMode", plan="# Use uv"), rejected)
    assert (done.status, done.plan, done.feedback) == ("denied", "# Use uv", "keep pip for the docs")
    old = "The agent proposed a plan that was rejected by the user. The user chose to stay in plan mode …"
    assert one(tmp_path, call("t1", "ExitPlanMode", plan="#"), answer("t1", old, is_error=True)).status == "denied"


def test_a_subagent_started_in_the_background_names_its_transcript(tmp_path):
    outcome = {"isAsync": True, "status": "async_launched", "agentId": "a0eb", "outputFile": "/tmp/x.output"}
    started = answer("t1", "Async agent launched", outcome=outcome)
    done = one(tmp_path, call("t1", "Agent", description="Review", prompt="Review it"), started)
    assert (done.kind, done.status, done.description) == ("agent", "ok", "Review")


# --- outputs written to files ------------------------------------------------------------------------------------


def spill(tmp_path, named):
    preview = f"<persisted-output>\nOutput too large (35.8KB). Full output saved to: {named}\n\nPreview:\nfirst\n"
    outcome = {"stdout": "", "persistedOutputPath": named, "persistedOutputSize": 36_000}
    return one(
        tmp_path, call("t1", "Bash", command="x"), answer("t1", preview + "</persisted-output>", outcome=outcome)
    )


def test_a_spilled_output_is_read_from_the_sessions_own_folder(tmp_path):
    folder = tmp_path / SESSION / "tool-results"
    folder.mkdir(parents=True)
    (folder / "b1.txt").write_text("head\n" + "x" * 200_000 + "\ntail", encoding="utf-8")
    for named in (str(folder / "b1.txt"), r"C:\Users\ana\.claude\projects\p\s\tool-results\b1.txt"):
        done = spill(tmp_path, named)
        assert done.output.startswith("head\n")
        assert done.output.endswith("\ntail")
        assert done.output_cut > 190_000


def test_a_spilled_output_outside_the_sessions_own_folder_is_never_read(tmp_path):
    folder = tmp_path / SESSION / "tool-results"
    folder.mkdir(parents=True)
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET", encoding="utf-8")
    (folder / "link.txt").symlink_to(secret)
    (folder / "folder").mkdir()
    for named in (str(secret), "../../secret.txt", "link.txt", "folder", "gone.txt", "..", "", "a\0b"):
        done = spill(tmp_path, named)
        assert "SECRET" not in done.output
        assert "first" in done.output


def test_an_option_keeps_what_the_agent_said_of_it(tmp_path):
    options = [{"label": "uv", "description": "fast, one lock file"}, {"label": "pip"}]
    asked = call("t1", "AskUserQuestion", questions=[{"question": "Which tool?", "options": options}])
    outcome = {"answers": {"Which tool?": "uv"}}
    answered = one(tmp_path, asked, answer("t1", "User has answered", outcome=outcome)).answers[0]
    assert (answered.answer, answered.options) == ("uv", ("uv", "pip"))
    assert answered.descriptions == ("fast, one lock file", "")
    assert answered.chosen_descriptions == "fast, one lock file"


@pytest.mark.parametrize(
    ("said", "chosen"), [("uv, pip", "one lock file\nold"), ("neither", ""), ("", ""), ("pip\nit is there", "old")]
)
def test_the_descriptions_of_all_chosen_options_are_told(said, chosen):
    assert QuestionAnswer("Which?", ("uv", "pip"), said, ("one lock file", "old")).chosen_descriptions == chosen
