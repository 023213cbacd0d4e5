"""Commands that failed and were mended: by a setting, or by words that name the cause; an install tells nothing."""

import pytest
from msgspec.structs import replace

from lerim.extraction.signals.next_words import is_commit_made
from lerim.sessions.model import ToolCall
from scripted import agent, candidates, edited, ran, titles, you


def mended(command: str, error: str, *between: ToolCall, said: str = "Let me see.") -> list[str]:
    return titles(
        you("get it green"),
        agent("", ran(command, f"Exit code 1\n{error}", 1)),
        agent(said, *between),
        agent("", ran(command, "5 passed", 0)),
        you("great"),
    )


@pytest.mark.parametrize(
    "between",
    [
        (ran("npm install lodash", "ok", 0),),
        (ran("npm install zod", "ok", 0),),
        (ran("npm install zod", "Exit code 1\nnetwork", 1),),
        (edited("src/a.ts", "x", "y"), ran("npm install zod", "ok", 0)),
        (),
    ],
)
def test_an_install_gives_nothing(between: tuple[ToolCall, ...]) -> None:
    assert mended("npm test", "Error: Cannot find module 'zod'", *between) == []


def test_the_setting_that_was_added_is_named_though_the_line_before_it_gained_a_comma() -> None:
    added = edited("tsconfig.json", '"strict": true', '"strict": true,\n "esModuleInterop": true')
    [found] = candidates(
        you("build it"),
        agent("", ran("npm run build", "Exit code 2\nsrc/a.ts(4,8): error TS1259: needs 'esModuleInterop'", 2)),
        agent("The cause is clear, I will fix it.", added),
        agent("", ran("npm run build", "compiled", 0)),
        you("great"),
    )
    assert found.title == "`npm run build` needs `esModuleInterop` in `tsconfig.json`"
    assert '`"esModuleInterop": true`' in found.body
    assert [item.who for item in found.evidence] == ["tool", "tool"]
    named = "The problem is that pytest does not look into `src`."  # only words that name the cause are quoted
    [found] = candidates(
        you("run it"),
        agent("", ran("pytest -q", "Exit code 2\nE   ModuleNotFoundError: No module named 'shop'", 2)),
        agent(named, edited("pyproject.toml", "[tool.pytest]", '[tool.pytest]\npythonpath = ["src"]')),
        agent("", ran("pytest -q", "3 passed", 0)),
        you("great"),
    )
    assert [item.quote for item in found.evidence if item.who == "assistant"] == [named]


@pytest.mark.parametrize(
    ("line", "how"),
    [("Error: lint.........................failed", " with “lint failed”"), ("x" * 60 + ": not found", "")],
)
def test_the_error_in_a_title_has_no_dots_that_fill_its_line_and_is_left_out_if_it_is_too_long(line, how) -> None:
    added = edited("biome.json", "1", "a\nb")
    assert mended("make check", line, added) == [f"`make check` fails{how} unless `biome.json` is right"]


def test_a_subagents_rules_and_answers_are_not_the_persons() -> None:
    turns = [you("always use uv, not pip"), agent("ok", edited("src/db.py")), you("never use pip")]
    found = candidates(*(replace(turn, sidechain=True) for turn in turns))
    assert not [item for item in found if any(quote.who == "user" for quote in item.evidence)]


@pytest.mark.parametrize(
    ("command", "code", "output", "wanted"),
    [
        ("git commit -am wal && git push", None, "[main 1a2b3c4] Keep WAL mode\n 1 file changed", True),
        ("git commit -am wal && git push", None, "   1a2b3c4..5d6e7f8  main -> main", True),
        ("git commit -am wal && git push", None, "nothing to commit, working tree clean", False),
        ("git commit -am wal && git push", None, "error: failed to push some refs", False),
        ('grep -rn "run git push" docs', 0, "", False),
        ("git -c commit.gpgsign=false commit -m x", 0, "", True),
    ],
)
def test_a_commit_was_made_if_its_exit_code_or_git_says_so(
    command: str, code: int | None, output: str, wanted: bool
) -> None:
    call = ToolCall("c", "run_in_terminal", "shell", "ok", command=command, exit_code=code, output=output)
    assert is_commit_made(call) is wanted
