import pytest

from lerim.extraction.facts.commands import command_outcome, parse_command
from lerim.extraction.facts.output_lines import error_line, error_name
from lerim.sessions.model import ToolCall


def test_the_command_is_found_behind_its_dressing() -> None:
    command = parse_command('cd "/repo/web" && NODE_ENV=test timeout 60 npm test 2>&1 | tail -20')
    assert (command.text, command.folder, command.variables, command.filtered) == (
        "npm test",
        "/repo/web",
        ("NODE_ENV=test",),
        True,
    )


@pytest.mark.parametrize(
    "text", ["git push", "grep -r x .", "python -c 'x'", "npm test\nnpm run build", "cat <<EOF | sh"]
)
def test_only_one_project_command_on_one_line_teaches(text: str) -> None:
    assert not parse_command(text).is_project_command


@pytest.mark.parametrize(
    ("command", "code", "output", "wanted"),
    [
        ("pytest | tail -3", 0, "3 passed", "passed"),
        ("pytest | tail -3", 0, "1 failed, 2 passed", "failed"),
        ("pytest | tail -3", 0, "some text", "unknown"),
        ("pytest", 0, "", "passed"),
        ("pytest", 2, "", "failed"),
        ("pytest", None, "building the wheel", "unknown"),
        ("pytest", None, "3 passed in 0.1s", "passed"),
        ("pytest", None, "1 failed, 2 passed", "failed"),
    ],
)
def test_the_output_decides_where_a_filter_hides_the_exit_code_or_nobody_told_it(
    command: str, code: int | None, output: str, wanted: str
) -> None:
    call = ToolCall("1", "Bash", "shell", "ok", command=command, output=output, exit_code=code)
    assert command_outcome(call, parse_command(command)) == wanted


def test_what_a_shell_tool_puts_around_the_output_is_no_error() -> None:
    output = "Command: npm test\nDirectory: (root)\nOutput: Error: connect ECONNREFUSED\nError: (none)\nExit Code: 1"
    assert error_line(output) == "connect ECONNREFUSED"
    assert error_line("Output: (empty)\nError: (none)\nExit Code: 1\nProcess Group PGID: 7") == ""


def test_the_line_that_says_most_is_taken() -> None:
    output = "ImportError while importing\nHint: x\nE   ModuleNotFoundError: No module named 'shop'\n1 error"
    assert error_line(output) == "ModuleNotFoundError: No module named 'shop'"
    assert error_name(error_line(output)) == "ModuleNotFoundError"
