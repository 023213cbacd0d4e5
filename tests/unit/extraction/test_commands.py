"""Shell commands: what was run, how it ended, which line names the error, and which files it shows."""

import pytest

from lerim.extraction.facts.commands import command_outcome, find_shown_files, parse_command
from lerim.extraction.facts.output_lines import error_line, error_name
from lerim.extraction.transcript import find_instruction_files, show_turn
from lerim.sessions.model import ToolCall
from scripted import agent, numbered, outcome, ran, you


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


def test_the_line_that_says_most_is_taken() -> None:
    output = "ImportError while importing\nHint: x\nE   ModuleNotFoundError: No module named 'shop'\n1 error"
    assert error_line(output) == "ModuleNotFoundError: No module named 'shop'"
    assert error_name(error_line(output)) == "ModuleNotFoundError"
    framed = "Command: npm test\nDirectory: (root)\nOutput: Error: connect ECONNREFUSED\nError: (none)\nExit Code: 1"
    assert error_line(framed) == "connect ECONNREFUSED"  # what a shell tool puts around the output is no error
    assert error_line("Output: (empty)\nError: (none)\nExit Code: 1\nProcess Group PGID: 7") == ""


# --- the files a shell command shows, for agents that read with the shell


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        ("sed -n '1,200p' src/app.py", ("src/app.py",)),
        ("cd web && head -n 40 package.json | cat", ("package.json",)),
        ("cat a.md && tail -5 'my notes/b.md'; wc -l c.md", ("a.md", "my notes/b.md")),
        ("Get-Content .\\docs\\x.md", (".\\docs\\x.md",)),
        ("cat > made.py <<'EOF'\nx = 1\nEOF", ()),
        ("sed -i s/a/b/ src/app.py", ()),
    ],
)
def test_what_is_only_shown_is_known_by_its_path(command: str, wanted: tuple[str, ...]) -> None:
    assert find_shown_files(command) == wanted


def test_a_file_of_rules_read_with_the_shell_is_not_learned_from() -> None:
    text, more = "Always run `make check` before a commit.", "Read this line of the rules as well.\n" * 80
    [reading] = numbered([agent("", ran("cat .cursor/rules/build.mdc", f"{more}{text}\n{more}"))])
    assert find_instruction_files(reading.tool_calls[0]) == (".cursor/rules/build.mdc",)
    assert text not in (seen.body() if (seen := show_turn(reading)) else "")
    items = outcome(you("look around"), reading, you(text), agent("Understood."), you("go"))
    assert [getattr(item, "reason", "") for item in items] == ["already-known"]


def test_a_name_defined_in_a_file_read_with_the_shell_is_found_there() -> None:
    call = ran("sed -n '1,80p' src/wire.py", "class WireClient:\n    pass\n")
    [found] = outcome(you("look"), agent("", call), you("Always use WireClient for requests."), agent("ok"), you("go"))
    assert getattr(found, "references", ()) == ("src/wire.py#WireClient",)
