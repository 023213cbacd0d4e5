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


@pytest.mark.parametrize("name", ["Bash", "PowerShell"])
def test_a_command_that_worked_has_exit_code_zero(tmp_path, name):
    asked = call("t1", name, command="pytest -q", description="Run the tests")
    done = one(tmp_path, asked, answer("t1", "3 passed", outcome={"stdout": "3 passed", "interrupted": False}))
    assert (done.kind, done.command, done.description) == ("shell", "pytest -q", "Run the tests")
    assert (done.status, done.exit_code, done.output) == ("ok", 0, "3 passed")


def test_a_command_that_failed_has_the_exit_code_its_output_begins_with(tmp_path):
    result = answer("t1", "Exit code 127\ncommand not found", is_error=True, outcome="Error: Exit code 127")
    done = one(tmp_path, call("t1", "Bash", command="uvx"), result)
    assert (done.status, done.exit_code) == ("error", 127)


def test_the_exit_code_of_an_old_failure_and_of_a_tool_error_is_not_known(tmp_path):
    for said in ("fatal: not a repository", "<tool_use_error>No such tool</tool_use_error>", "It said Exit code 3"):
        done = one(tmp_path, call("t1", "Bash", command="git x"), answer("t1", said, is_error=True))
        assert (done.status, done.exit_code) == ("error", None)


def test_an_exit_code_in_the_text_of_another_tool_means_nothing(tmp_path):
    done = one(tmp_path, call("t1", "Read", file_path="/a"), answer("t1", "Exit code 3", is_error=True))
    assert done.exit_code is None


def test_a_command_in_the_background_has_no_exit_code_yet(tmp_path):
    outcome = {"stdout": "", "backgroundTaskId": "b1", "interrupted": False}
    started = answer("t1", "Command running in background with ID: b1", outcome=outcome)
    done = one(tmp_path, call("t1", "Bash", command="npm run dev", run_in_background=True), started)
    assert (done.status, done.exit_code) == ("ok", None)


def test_an_interrupted_command_has_no_exit_code(tmp_path):
    stopped = answer("t1", "", outcome={"stdout": "", "interrupted": True})
    done = one(tmp_path, call("t1", "Bash", command="sleep 99"), stopped)
    assert (done.status, done.exit_code) == ("interrupted", None)


def test_the_status_of_a_background_shell_carries_its_exit_code(tmp_path):
    done = one(tmp_path, call("t1", "BashOutput", bash_id="b1"), answer("t1", "…", outcome={"exitCode": 2}))
    assert (done.kind, done.exit_code) == ("other", 2)


def test_a_long_result_keeps_its_head_and_its_tail(tmp_path):
    done = one(tmp_path, call("t1", "Bash", command="x"), answer("t1", "a " * 2500 + "b " * 5000 + " c" * 2500))
    assert done.output.startswith("a " * 2000 + "\n")
    assert done.output.endswith("\n" + " c" * 2000)
    assert done.output_cut == 12_000


def test_a_long_result_is_not_cut_within_a_word_that_may_be_a_secret(tmp_path):
    key = "ghp_" + "k3Y9" * 9
    log = "x" * 3_970 + " " + key + " y" * 10_000 + " " + key + "z " * 1_990
    done = one(tmp_path, call("t1", "Bash", command="x"), answer("t1", log))
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


def test_a_multi_edit_is_several_edits(tmp_path):
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    done = one(tmp_path, call("t1", "MultiEdit", file_path="/a.py", edits=edits))
    assert [(edit.old, edit.new) for edit in done.edits] == [("a", "b"), ("c", "d")]


def test_a_written_file_and_a_notebook_cell_are_edits_too(tmp_path):
    written = one(tmp_path, call("t1", "Write", file_path="/a.py", content="x = 1\r\n"))
    assert (written.kind, written.edits[0].old, written.edits[0].new) == ("write", "", "x = 1\r\n")
    cell = one(tmp_path, call("t1", "NotebookEdit", notebook_path="/a.ipynb", new_source="y"))
    assert (cell.kind, cell.paths, cell.edits[0].new) == ("edit", ("/a.ipynb",), "y")


def test_searches_reads_and_the_web_say_what_was_looked_for(tmp_path):
    grep = one(tmp_path, call("t1", "Grep", pattern="def load", path="src"))
    assert (grep.kind, grep.command, grep.paths) == ("search", "def load", ("src",))
    assert one(tmp_path, call("t1", "Read", file_path="/a.py")).paths == ("/a.py",)
    assert one(tmp_path, call("t1", "WebFetch", url="https://example.org", prompt="?")).command == "https://example.org"


def test_a_tool_name_is_the_models_words_and_kept_as_data(tmp_path):
    odd = call("t1", 'Task" >\n<parameter name="description', __unparsedToolInput="{")
    assert one(tmp_path, odd).kind == "other"


def test_an_input_of_the_wrong_shape_leaves_out_only_what_does_not_fit(tmp_path):
    asked = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": ["ls"], "description": "List"}}
    done = one(tmp_path, asked)
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


@pytest.mark.parametrize("name", ["Bash", "WebFetch", "Task", "Read", "Unheard"])
def test_what_only_the_text_of_a_result_ascribes_to_the_person_is_the_tools(tmp_path, name):
    done = one(tmp_path, call("t1", name, command="x"), answer("t1", SAID + "use uv, not pip", is_error=True))
    assert (done.status, done.feedback, done.output) == ("denied", "", SAID + "use uv, not pip")


@pytest.mark.parametrize("fields", [{}, {"toolDenialKind": "user-rejected", "userFeedback": "use uv"}])
def test_a_servers_tool_never_tells_what_the_person_said(tmp_path, fields):
    refused = answer("t1", SAID + "use uv, not pip", is_error=True, **fields)
    done = one(tmp_path, call("t1", "mcp__docs__search", query="x"), refused)
    assert (done.status, done.feedback) == ("denied" if fields else "error", "")


@pytest.mark.parametrize("kind", ["hook", "rule", "interrupted"])
def test_a_denial_by_a_rule_or_a_hook_is_not_the_persons(tmp_path, kind):
    refused = answer("t1", SAID + "use uv", is_error=True, toolDenialKind=kind)
    assert one(tmp_path, call("t1", "Edit", file_path="/a.py"), refused).feedback == ""


def test_a_result_that_only_speaks_of_a_denial_is_none(tmp_path):
    assert one(tmp_path, call("t1", "Read", file_path="/a"), answer("t1", STOP)).status == "ok"


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("[Request interrupted by user for tool use]", {}),
        ("The user doesn't want to take this action right now. STOP what you are doing", {}),
        ("Stopped", {"toolDenialKind": "interrupted"}),
    ],
)
def test_an_interrupted_call_is_no_denial(tmp_path, content, fields):
    stopped = answer("t1", content, is_error=True, **fields)
    assert one(tmp_path, call("t1", "Bash", command="x"), stopped).status == "interrupted"


def test_calls_that_ran_when_the_person_stopped_the_agent_are_interrupted(tmp_path):
    stop = prompt([text("[Request interrupted by user]")])
    assert one(tmp_path, call("t1", "Bash", command="x"), stop).status == "interrupted"


def test_a_call_without_a_result_is_pending(tmp_path):
    assert one(tmp_path, call("t1", "Bash", command="x")).status == "pending"


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
    options = one(tmp_path, call("t1", "AskUserQuestion", questions=QUESTIONS)).answers[0].options
    assert options == ("uv", "pip")


@pytest.mark.parametrize("name", ["ExitPlanMode", "exit_plan_mode"])
def test_an_approved_plan_comes_with_its_text(tmp_path, name):
    asked = call("t1", name, plan="# Use uv")
    approved = one(tmp_path, asked, answer("t1", "User has approved your plan. You can now start coding."))
    assert (approved.kind, approved.status, approved.plan) == ("plan", "ok", "# Use uv")


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
    assert (done.kind, done.status, done.subagent, done.description) == ("agent", "ok", "a0eb", "Review")


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


@pytest.mark.parametrize(
    ("said", "fields"),
    [
        ([], {"userFeedback": "keep the old endpoint"}),
        ([text("keep the old endpoint")], {}),
        ([text("keep the old endpoint")], {"userFeedback": "keep the old endpoint"}),
        ([text("<system-reminder>x</system-reminder>"), text("keep the old endpoint")], {}),
    ],
)
def test_what_the_person_said_on_approving_a_plan_is_kept(tmp_path, said, fields):
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "User has approved your plan."}
    asked = call("t1", "ExitPlanMode", plan="Add a cache")
    done = one(tmp_path, asked, prompt([result, *said], **fields))
    assert (done.status, done.feedback, done.plan) == ("ok", "keep the old endpoint", "Add a cache")


def test_text_beside_the_result_of_any_other_call_is_not_the_persons(tmp_path):
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}
    assert one(tmp_path, call("t1", "Skill"), prompt([result, text("Do this")])).feedback == ""


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
