"""Wrong usage: words for people, and one JSON object for programs, wherever `--json` stands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from terminal import answer, run

CLONE = Path(__file__).resolve().parents[2]


WRONG = (
    ["nonsense"],
    ["sync", "--nonsense"],
    ["sync", "--accept-above", "two"],
    ["sync", "--since", "banana"],
    ["sync", "--model", "gpt"],
    ["ask", "x", "--model", "gpt"],
    ["sync", "--until", "some day"],
    ["status", "more"],
    ["memory", "list", "--kind", "opinion"],
    ["memory", "search", "--limit", "0", "x"],
    ["project", "alias"],
)


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_wrong_usage_is_words_on_standard_error_and_with_json_anywhere_one_object(arguments: list[str]):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: " in result.stderr
    for place in (0, len(arguments)):
        result = run(*arguments[:place], "--json", *arguments[place:])
        assert (result.exit_code, result.stderr) == (2, "")
        error = json.loads(result.stdout)["error"]
        assert set(error) == {"code", "message", "where", "todo"}
        assert error["code"] == "usage"
        assert error["where"].startswith("lerim")
        assert "--help" in error["todo"]


def test_an_option_without_its_value_is_one_object_too():
    result = run("memory", "add", "--json", "--title")
    assert result.exit_code == 2
    assert "requires an argument" in json.loads(result.stdout)["error"]["message"]


def test_a_time_that_cannot_be_read_says_what_is_accepted():
    message = answer("sync", "--since", "some day", code=2)["error"]["message"]
    assert "--since" in message and "36h" in message


def test_a_group_without_a_command_is_wrong_usage_for_a_program():
    for group in ([], ["review"]):
        assert answer(*group, code=2)["error"]["code"] == "usage"


def test_the_program_itself_prints_the_object():
    command = [sys.executable, "-m", "lerim", "sync", "--json", "--nonsense"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=CLONE / "server", check=False)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"]["message"] == "No such option: --nonsense"


COMMANDS = (
    *(("sync",), ("status",), ("config", "show")),
    *(("review", name) for name in ("list", "accept", "edit", "reject", "undo")),
    *(("memory", name) for name in ("list", "search", "show", "add")),
    *(("project", name) for name in ("list", "add", "remove", "alias")),
)


def test_every_command_can_be_given_a_repository_and_asked_for_json():
    for command in COMMANDS:
        shown = run(*command, "--help").stdout
        assert "--json" in shown and "--repo" in shown, command


def test_what_is_wrong_with_the_settings_files_is_in_the_report_and_said_once(repo: Path):
    mine = Path(os.environ["LERIM_HOME"]) / "config.toml"
    mine.parent.mkdir(parents=True)
    mine.write_text("[search]\nlimits = 8\n", encoding="utf-8")
    its = repo / ".lerim" / "config.toml"
    its.parent.mkdir()
    its.write_text("[sync]\naccept_above = 0.1\n", encoding="utf-8")
    for command in ("sync", "status"):
        told = run(command, "--repo", str(repo), "--json")
        problems = json.loads(told.stdout)["problems"]
        assert [(one["code"], one["path"]) for one in problems] == [("settings", str(mine)), ("settings", str(its))]
        assert "did you mean 'search.limit'?" in problems[0]["message"]
        assert "can only be restricted by a repository" in problems[1]["message"]
        shown = run(command, "--repo", str(repo))
        for stderr in (told.stderr, shown.stderr):
            assert (stderr.count(str(mine)), stderr.count(str(its))) == (1, 1)
    mine.write_text("[search\n", encoding="utf-8")
    problems = json.loads(run("sync", "--repo", str(repo), "--json").stdout)["problems"]
    assert ["its settings are ignored" in one["message"] for one in problems] == [True, False]


def test_a_value_that_is_none_of_the_choices_is_answered_with_them():
    for more in ([], ["--json"]):
        told = run("sessions", "list", "--agent", "codx", *more).output
        assert "'codx' is not one of" in told
        assert "Value error" not in told


def test_what_may_be_given_several_times_is_shown_so_once():
    for command in (["sessions", "search"], ["memory", "search"], ["review", "accept"], ["queue", "retry"]):
        usage = run(*command, "--help").stdout.splitlines()[0]
        assert usage.count("...") == 1


@pytest.mark.parametrize("command", ["memory search", "memory show", "memory feedback", "review accept", "ask"])
def test_the_help_of_a_command_names_no_types_of_python(command: str):
    arguments = run(*command.split(), "--help").stdout.partition("Arguments:")[2].partition("Options:")[0]
    assert arguments.strip() and "str>" not in arguments and "[str]" not in arguments


def test_the_help_of_a_group_shows_what_each_command_does_without_cutting_it_off():
    for option in ("-h", "--help"):
        shown = " ".join(run(option).stdout.split())
        assert "Read this repository's new sessions and propose the decisions and learnings in them." in shown
        assert "..." not in shown.partition("Commands:")[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("memory", "search", "x", "--limit", "two"), "Invalid value for '--limit': must be a whole number"),
        (("memory", "search", "x", "--limit", "0"), "Invalid value for '--limit': must be greater than or equal to 1"),
        (("sync", "--accept-above", "two"), "Invalid value for '--accept-above': must be a number"),
        (
            ("search", "x"),
            "No such command 'search'. Did you mean lerim memory search, lerim sessions search or lerim org search?",
        ),
        (("accept",), "No such command 'accept'. Did you mean lerim review accept?"),
        (("memoy",), "No such command 'memoy'. Did you mean 'memory'?"),
        (
            ("model", "use", "openai", "m", "--base-url", "x"),
            "Invalid value for --base-url: must begin with https:// and name a host.",
        ),
        (("ask", " "), "Invalid value for QUESTION: Ask something."),
        (("review", "accept"), "Name candidates, or use --all."),
    ],
)
def test_wrong_usage_is_explained_in_words(arguments: tuple[str, ...], message: str):
    assert answer(*arguments, code=2)["error"]["message"] == message
    assert message in " ".join(run(*arguments).stderr.split())


def test_a_provider_that_does_not_exist_is_answered_with_those_that_do():
    message = answer("model", "use", "banana", code=2)["error"]["message"]
    assert "must be one of none, auto, " in message and "quotes" not in message


def test_a_trial_without_a_model_says_only_what_to_do(repo: Path):
    result = run("model", "try", "--repo", str(repo))
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: No model is chosen") and "lerim model use" in result.stderr
