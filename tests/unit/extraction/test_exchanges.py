"""Whole exchanges: options picked, plans approved or rejected, calls denied, commands mended; and their lookalikes."""

import pytest
from msgspec.structs import replace

from lerim.facts.outcome import went_through
from lerim.sessions.model import ToolCall
from scripted import agent, candidates, denied, edited, planned, ran, titles, you

OPTIONS = (
    "Two options:\n1. **SQLite file** - simple\n2. **Postgres** - scalable\n\nWhich do you prefer for `src/db.py`?"
)
WHERE = (
    "## Where should `find_session()` live?\n\n**Option 1: `session/` package** ✅ **BEST FIT**\n- owns it\n\n"
    "**Option 2: `paths/` package**\n- only paths\n\n**Recommendation:** `session/`, it owns them."
)


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("option 1", "Use an SQLite file"),
        ("1", "Use an SQLite file"),
        ("the first one", "Use an SQLite file"),
        ("yes do option 1", "Use an SQLite file"),
        ("go with the first option, thanks", "Use an SQLite file"),
        ("2 please", "Use Postgres"),
        ("let's go with the second one because it scales", "Use Postgres"),
    ],
)
def test_a_picked_option_is_asserted_and_names_what_was_rejected(said: str, title: str) -> None:
    [found] = candidates(
        you("How to store?"),
        agent(OPTIONS),
        you(said),
        agent("ok", edited("src/db.py", "", "import sqlite3")),
        you("ty"),
    )
    other = "Postgres" if "SQLite" in title else "SQLite file"
    assert found.title == title
    assert f"Rejected: “{other}”." in found.body
    assert [item.quote for item in found.evidence][1] == (
        "1. **SQLite file** - simple" if "SQLite" in title else "2. **Postgres** - scalable"
    )
    assert "*" not in found.title + found.body


def test_a_pick_answers_the_question_over_the_options() -> None:
    [found] = candidates(
        you("where does it belong"), agent(WHERE), you("yes do option 1"), agent("", edited("a.go")), you("ok")
    )
    assert found.title == "Put `find_session()` in the `session/` package"
    assert "Rejected: “`paths/` package”." in found.body


@pytest.mark.parametrize(
    "said",
    [
        "a test fails",
        "2 tests fail now",
        "first fix the tests",
        "1 more thing: rename it",
        "do a commit",
        "neither",
        "option 7",
        "what is the difference between 1 and 2?",
    ],
)
def test_what_only_begins_like_a_pick_is_none(said: str) -> None:
    turns = (you("How to store?"), agent(OPTIONS), you(said), agent("ok", edited("src/db.py", "", "import sqlite3")))
    assert candidates(*turns, you("go on")) == []


def test_a_pick_taken_back_is_refuted() -> None:
    turns = (you("How to store?"), agent(OPTIONS), you("option 1"), agent("ok", edited("src/db.py", "", "x")))
    assert candidates(*turns, you("no, that was a bad idea, revert that")) == []


PLAN = (
    "# Plan: Cache the rates in SQLite\n\n## Context\nThe API is slow.\n\n## Approach\n"
    "Store rates in a `rates` table in `src/rates.py`, one row per day.\n\n## Steps\n1. Write the tests\n"
)


def approved(plan: str, output: str = "") -> ToolCall:
    return replace(planned(plan), output=output)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "User has approved your plan. You can now start coding. Start with updating your todo list if applicable",
        "User has approved exiting plan mode. You can now proceed.",
        f"User has approved the plan.\n\n## Approved Plan:\n{PLAN}",
        "Your plan was approved. Start coding.",
        "Plan approved. Switching to Default mode.",
        "Exited plan mode.\n\nYou are now in interactive mode. Proceed with implementing the plan.",
    ],
)
def test_an_approved_plan_says_what_was_decided_and_why(output: str) -> None:
    [found] = candidates(
        you("Plan the cache"), agent("", approved(PLAN, output)), agent("", edited("src/rates.py")), you("thanks")
    )
    assert (found.title, found.primitive, found.references) == (
        "Cache the rates in SQLite",
        "decision",
        ("src/rates.py",),
    )
    assert "one row per day" in found.body
    assert "The reason: the API is slow." in found.body


@pytest.mark.parametrize(
    "output", ["Your plan has been submitted to the team lead for approval.", "Plan mode: waiting for the user."]
)
def test_a_plan_nobody_approved_yet_gives_nothing(output: str) -> None:
    assert candidates(you("Plan"), agent("", approved(PLAN, output)), you("thanks")) == []


@pytest.mark.parametrize(
    ("plan", "title"),
    [
        (
            "# Add a response cache with Redis\n\n## Design\n- Keys hold the locale, because prices differ.\n",
            "Use Redis for the response cache",
        ),
        ("# Plan: Migrate the queue to Postgres\n\n## Steps\n1. Edit `queue.py`\n", "Migrate the queue to Postgres"),
        (
            "# Rework the parser\n\n## Approach\n- Use `msgspec` instead of `json` because it validates\n",
            "Use `msgspec`, not `json`",
        ),
    ],
)
def test_a_plan_named_after_its_task_still_says_what_it_decides(plan: str, title: str) -> None:
    assert titles(you("Plan it"), agent("", approved(plan)), agent("", edited("src/a.py")), you("thanks")) == [title]


@pytest.mark.parametrize(
    "plan",
    [
        "# Fix the login bug\n\n## Steps\n1. Read `login.py`\n2. Fix it\n3. Run the tests\n",
        "# Move the sidebar to the left\n\n## Approach\n- Edit the stylesheet\n- Check the screenshots\n",
        "# Add tests for the parser\n\n## Approach\n- Add `test_parser.py`\n- Cover the edge cases\n",
        "# Update dependencies\n\n1. Run `npm update`\n2. Run the tests\n",
        "Just do it in small steps and run the tests after each of them.",
        "",
    ],
)
def test_a_list_of_tasks_is_no_decision_though_it_was_approved(plan: str) -> None:
    assert titles(you("Plan it"), agent("", approved(plan)), agent("", edited("src/a.py")), you("thanks")) == []


def test_a_plan_rejected_with_a_reason_gives_the_correction() -> None:
    call = replace(planned(PLAN, "denied"), feedback="use Redis instead of SQLite, the workers share it")
    [found] = candidates(you("Plan it"), agent("", call), you("go on"))
    assert found.title == "Use Redis, not SQLite"
    assert "rejecting the agent's plan" in found.body


def test_what_was_added_on_approving_a_plan_is_heard() -> None:
    call = approved("Do it in steps.", "User has approved your plan.\nThe user added: use Redis, not SQLite\n")
    [found] = candidates(you("Plan it"), agent("", call), you("go on"))
    assert (found.title, found.evidence[0].quote) == ("Use Redis, not SQLite", "use Redis, not SQLite")


@pytest.mark.parametrize(
    ("command", "feedback", "title"),
    [
        ("pip install requests", "use uv add, we don't use pip here", "Use uv, not pip"),
        ("pip install requests", "we don't use pip here, use uv add", "Use uv, not pip"),
        ("cd web && npm install zod", "pnpm please", "Use pnpm, not npm"),
        ("npm test", "use pnpm test", "Use pnpm, not npm"),
        ("git push origin main", "never push to main directly", "Never push to main directly"),
    ],
)
def test_feedback_on_a_denied_call_is_a_rule_in_any_of_its_forms(command: str, feedback: str, title: str) -> None:
    assert titles(you("go"), agent("", denied(command, feedback)), agent("", ran("ls")), you("fine")) == [title]


@pytest.mark.parametrize(
    ("command", "feedback"),
    [
        ("npm test", "not now"),
        ("npm test", "i'll take it from here."),
        ("npm test", "really? Can't we use vitest?"),
        ("git push", "wait, I want to look first"),
        ("rm -rf build", "use the other folder"),
        ("cat LICENSE", "Entire Inc."),
    ],
)
def test_feedback_of_the_moment_is_no_rule(command: str, feedback: str) -> None:
    assert titles(you("go"), agent("", denied(command, feedback)), you("fine")) == []


def mended(command: str, error: str, *between: ToolCall, said: str = "Let me see.") -> list[str]:
    return titles(
        you("get it green"),
        agent("", ran(command, f"Exit code 1\n{error}", 1)),
        agent(said, *between),
        agent("", ran(command, "5 passed", 0)),
        you("great"),
    )


@pytest.mark.parametrize(
    ("command", "error", "install", "title"),
    [
        (
            "go build ./...",
            "main.go:2:2: no required module provides package github.com/spf13/cobra; to add it:",
            "go get github.com/spf13/cobra",
            "`go build ./...` needs `github.com/spf13/cobra`",
        ),
        ("npm test", "Error: Cannot find module 'zod'", "npm install zod", "`npm test` needs `zod`"),
        ("pytest -q", "E   ModuleNotFoundError: No module named 'yaml'", "uv sync", "Run `uv sync` before `pytest -q`"),
        ("npm test", "sh: vitest: command not found", "npm ci", "Run `npm ci` before `npm test`"),
    ],
)
def test_what_was_missing_and_got_installed_is_told(command: str, error: str, install: str, title: str) -> None:
    assert mended(command, error, ran(install, "ok", 0)) == [title]


@pytest.mark.parametrize(
    "between",
    [
        (ran("npm install lodash", "ok", 0),),
        (ran("npm install zod", "Exit code 1\nnetwork", 1),),
        (edited("src/a.ts", "x", "y"), ran("npm install zod", "ok", 0)),
        (),
    ],
)
def test_an_install_that_explains_nothing_gives_nothing(between: tuple[ToolCall, ...]) -> None:
    assert mended("npm test", "Error: Cannot find module 'zod'", *between) == []


def test_an_assertion_that_fails_no_more_is_no_lesson_after_an_install_either() -> None:
    assert mended("pytest -q", "E  AssertionError: assert 1 == 2", ran("uv add zod", "ok", 0)) == []


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


def test_only_words_that_name_the_cause_are_quoted() -> None:
    edits = edited("pyproject.toml", "[tool.pytest]", '[tool.pytest]\npythonpath = ["src"]')
    turns = (
        you("run it"),
        agent("", ran("pytest -q", "Exit code 2\nE   ModuleNotFoundError: No module named 'shop'", 2)),
        agent("The problem is that pytest does not look into `src`.", edits),
        agent("", ran("pytest -q", "3 passed", 0)),
    )
    [found] = candidates(*turns, you("great"))
    assert [item.quote for item in found.evidence if item.who == "assistant"] == [
        "The problem is that pytest does not look into `src`."
    ]


def test_a_subagents_rules_and_picks_are_not_the_persons() -> None:
    turns = [agent(OPTIONS), you("option 1"), you("always use uv, not pip"), agent("ok", edited("src/db.py"))]
    assert candidates(*(replace(turn, sidechain=True) for turn in turns)) == []


@pytest.mark.parametrize(
    ("output", "wanted"),
    [
        ("[main 1a2b3c4] Keep WAL mode\n 1 file changed", True),
        ("   1a2b3c4..5d6e7f8  main -> main", True),
        ("", False),
        ("nothing to commit, working tree clean", False),
        ("error: failed to push some refs", False),
    ],
)
def test_a_commit_whose_exit_code_nobody_told_was_made_if_git_says_so(output: str, wanted: bool) -> None:
    call = ToolCall("c", "run_in_terminal", "shell", "ok", command="git commit -am wal && git push", output=output)
    assert went_through(call) is wanted
