"""What people say in the middle of a session: what is kept of it, and what is not."""

import pytest

from lerim.extraction.candidate import Candidate
from lerim.sessions.model import Turn
from scripted import agent, candidates, edited, ran, you

BEFORE = (
    you("Read the config in src/app.py"),
    agent(
        "I will use os.path in src/app.py and pip.",
        edited("src/app.py", "import os.path\n", "import pathlib\nimport structlog\n"),
        ran("pytest -q", "3 passed", 0),
    ),
)
AFTER = (agent("Done, changed it.", edited("src/app.py", "a", "b")), you("what is next?"), agent("Nothing."))


def heard(said: str) -> list[Candidate]:
    return candidates(*BEFORE, you(said), *AFTER)


KEPT = [
    ("don't use os.system in src/app.py", "Do not use os.system in src/app.py"),
    ("always use pathlib in this repo", "Always use pathlib"),
    ("never commit directly to main", "Never commit directly to main"),
    ("remember: tests must not touch the network", "Tests must not touch the network"),
    ("no, tests must never read the real clock", "Tests must never read the real clock"),
    ("I told you to use uv, not pip!", "Use uv, not pip"),
    ("we don't use default exports in this codebase, use named exports", "Use named exports, not default exports"),
    ("use named exports, we don't use default exports here", "Use named exports, not default exports"),
    ("Please always run `make lint` before committing.", "Always run `make lint` before committing"),
    ("Run `make check` before every commit. CI failed twice.", "Run `make check` before every commit"),
    (
        "that's wrong, the retry limit is MAX_ATTEMPTS in config.py, not 3",
        "The retry limit is MAX_ATTEMPTS in config.py, not 3",
    ),
    ("no, the entry point is src/app.py, not main.py", "The entry point is src/app.py, not main.py"),
    ("no no, config goes in pyproject.toml, not setup.cfg", "Config goes in pyproject.toml, not setup.cfg"),
    (
        "The timeout in client.py must stay at 30 seconds because the gateway cuts at 35.",
        "The timeout in client.py must stay at 30 seconds",
    ),
    (
        "Use structlog for logging because the standard logger loses the request id in src/app.py",
        "Use structlog for logging",
    ),
    ("No, use `Decimal`. Floats lose cents in src/app.py.", "Use `Decimal`"),
    ("Stick to the standard library in `cli.py` because it starts faster", "Stick to the standard library in `cli.py`"),
    (
        "I'd rather have the parser return None than raise ParseError",
        "Have the parser return None rather than raise ParseError",
    ),
    ("I'd rather use httpx than requests", "Use httpx, not requests"),
    (
        "and remember that I'd rather do it as click,type,drag tools than low-level browser-specific playwright tools",
        "Prefer click, type, drag tools over low-level browser-specific playwright tools",
    ),
    ("Don't edit schema.sql by hand because it is generated from models.py", "Do not edit schema.sql by hand"),
    ("No, don't use os.path in src/app.py, use pathlib.", "Use pathlib, not os.path, in src/app.py"),
    ("no, put the helper in src/util/paths.py, not in app.py", "Put the helper in src/util/paths.py, not app.py"),
    ("from now on, write docstrings in the imperative", "Write docstrings in the imperative"),
    ("never log the `Authorization` header", "Never log the `Authorization` header"),
    ("we use snake_case for JSON keys, not camelCase", "Use snake_case for JSON keys, not camelCase"),
    ("All timestamps must be in UTC because the reports join them", "All timestamps must be in UTC"),
    ("commit messages must be in the imperative", "Commit messages must be in the imperative"),
    ("our convention is: one migration per pull request", "One migration per pull request"),
    (
        "don't mock the database in tests, use a real SQLite file",
        "Do not mock the database in tests; use a real SQLite file",
    ),
    ("stop using print statements, use structlog", "Use structlog, not print statements"),
    (
        "you must not call `requests` directly; use the `http_client` wrapper",
        "Do not call `requests` directly; use the `http_client` wrapper",
    ),
    ("please never use global variables in this project", "Never use global variables"),
    ("avoid global variables in src/app.py because they leak between tests", "Avoid global variables in src/app.py"),
    ("we never squash merge commits here", "Never squash merge commits"),
    ("no, use uv in src/app.py.", "Use uv in src/app.py"),
    ("no, I said postgres, not sqlite, in src/store.py", "Use postgres, not sqlite, in src/store.py"),
    ("always keep `load` in src/app.py pure, never do io there", "Always keep `load` in src/app.py pure"),
    ("no, never `npm link` the plugin", "Never `npm link` the plugin"),
    ("when parsing json output, never use grep", "When parsing json output, never use grep"),
    (
        "the version must be bumped using `cargo release`, not by hand",
        "The version must be bumped using `cargo release`, not by hand",
    ),
    (
        "We dont need backward compatibility for src/store.py, just migrate the rows",
        "Do without backward compatibility for src/store.py",
    ),
    ("We want a single lock file for the monorepo", "Keep a single lock file for the monorepo"),
    (
        "That's not correct. The worker needs the parsed rows from src/app.py, not the raw file.",
        "The worker needs the parsed rows from src/app.py, not the raw file",
    ),
    ("change the script to use uv instead of poetry", "Use uv, not poetry"),
    ("add to AGENTS.md that we only use pnpm", "Use only pnpm"),
    ("mention that specs MUST always live in the `specs` directory", "Specs must always live in the `specs` directory"),
    ("keep only one `.env.example` in apps/api and that's it", "Keep a single `.env.example` in apps/api"),
    (
        "add a rule that when fixing a bug to first always create a failing test that covers it",
        "When fixing a bug, first always create a failing test",
    ),
    ("why are you using npm instead of pnpm?", "Use pnpm, not npm"),
    ("you're still running `jest`, not vitest", "Run vitest, not `jest`"),
    ("you imported moment rather than date_fns", "Import date_fns, not moment"),
    ("no emojis in commit messages", "No emojis in commit messages"),
    ("No, let's not backfill the comments in src/app.py.", "Do not backfill the comments in src/app.py"),
    ("no, the diffs come from biome, not from generate", "The diffs come from biome, not from generate"),
    ("(the python client should be source of truth)", "The python client is the source of truth for `app.py`"),
    (
        "ok. Pydantic is a good choice, well known and fast. approved unless you object.",
        "Use Pydantic",
    ),
    ("let's use msgspec because pydantic is too slow for the stream", "Use msgspec"),
]


@pytest.mark.parametrize(("said", "title"), KEPT)
def test_what_is_meant_to_last_is_kept_with_an_asserting_title(said: str, title: str) -> None:
    assert [item.title for item in heard(said)] == [title]


PASSED_OVER = [
    "no, fix the tests first and then use the new parser instead of the old one for this run",
    "Use the staging database instead of prod for this test run",
    "run pytest instead of make test this time",
    "would it be better to use httpx rather than requests?",
    "what if we used redis instead of sqlite",
    "if we used redis instead of sqlite, deploys would get harder",
    "suppose we always use httpx",
    "I wonder whether we should always use structlog",
    "My colleague says: always use npm instead of yarn",
    "The docs say to always use httpx instead of requests",
    "my boss said we must use Java instead of Python",
    "> always use tabs, not spaces\nwhat do you make of this?",
    '"always use tabs, not spaces" is what the linter says',
    "oh great, let's use eval instead of a parser",
    "yeah right, use eval instead of json.loads",
    "sure, use global variables instead of arguments, what could go wrong",
    "no, open the other file instead",
    "no, use grep",
    "tasks.md should always use that normal format",
    "why are you using the old file instead of the new one?",
    "why did you use so many words instead of few?",
    "you used the wrong folder, not mine",
    "Pydantic remains source of truth.",
    "no buttons on the page in src/app.py",
    "no data in src/app.py",
    "add an eslint rule that forbids console.log in src/app.py",
    "when the row of src/app.py is clicked, use the modal",
    "the button in src/app.py should be blue instead of red",
    "no changes in src/app.py since yesterday",
    "we didnt commit since the pydantic change, we should consider that",
    "put the address into a variable in case we want to use structlog in the future",
    "no, use it in src/app.py",
    "Pydantic is a good choice, well known and fast",
    "this should be the source of truth",
    "when I run pytest, it never stops",
    "no, revert src/app.py to what it was",
    "don't touch src/app.py right now, I'm editing it",
    "don't run pytest because the database is down",
    "use the debugger because the logs tell nothing",
    "use grep because find is slow",
    "log the token in src/app.py because I cannot see it",
    "keep src/app.py open because I need it",
    "rename `foo` to `bar` because it is clearer",
    "add a test for `parse_day` because it broke twice",
    "it always fails in src/app.py when I run pytest",
    "why does src/app.py always use os.path instead of pathlib?",
    "I always use vim",
    "we used pip instead of uv back then and it was fine",
    "they use pnpm instead of npm in the other repo",
    "you used os.path instead of pathlib",
    "the value in src/app.py must be cached somewhere because it does not change",
    "the bug must be in src/app.py because the log names it",
    "src/app.py should return 200 now",
    "WARNING: use `uv sync` instead of `pip install`",
    "npm WARN deprecated request: use fetch instead of request",
    'Traceback (most recent call last):\n  File "src/app.py", line 3\nValueError: use utf-8 instead of latin-1',
    "- const a = always\n+ use X instead of Y",
    "Review feedback:\n1. Use pathlib instead of os.path in src/app.py\n2. Never log tokens in src/app.py",
    "here's the log:\nuse pathlib instead of os.path",
    "Implement the following plan:\n\n# Add logging\n\n1. Add `log.py`\n2. Use it in src/app.py\n3. Run the tests",
    "Implement the following:\n- always show the header in src/app.py\n- the list must be sorted",
    "create the branch from develop, not main",
    "let's use httpx instead of requests for now",
    "just this once use pip instead of uv",
    "remember to commit src/app.py",
    "tests must not fail",
    "I'd rather fix the tests than add more",
    'translate: "use uv, not pip"',
    "Write in the README: always use uv instead of pip",
    'the error message should say "use uv, not pip"',
    "thanks, that fixed it because src/app.py is imported now",
    "the problem is src/app.py, not the tests",
    "never mind the docstrings",
    "use the new src/app.py because the old one is stale",
    "avoid src/app.py because Bob edits it",
    "stop the server because it blocks src/app.py",
    "use port 3000 in src/app.py. It fails otherwise.",
    "according to the README, we use uv, not pip",
    "when you are done, use pnpm instead of npm to build",
    "push to main, the release is blocked",
    "run the tests after every change you make in this session",
    'the comment in src/app.py says "never call this directly"',
]


@pytest.mark.parametrize("said", PASSED_OVER)
def test_what_belongs_to_the_moment_or_to_others_gives_nothing(said: str) -> None:
    assert [item.title for item in heard(said)] == []


def test_the_reason_may_be_the_next_sentence() -> None:
    [found] = heard("Run `make check` before every commit. CI failed twice this week only because of formatting.")
    assert "CI failed twice this week only owing to formatting." in found.body
    assert [item.quote for item in found.evidence][1].startswith("CI failed twice")


def test_the_next_sentence_is_no_reason_where_it_is_the_next_task() -> None:
    [found] = heard("Never log the `Authorization` header. Now fix the failing test in src/app.py.")
    assert "fix" not in found.body
    assert len(found.evidence) == 1


def test_how_things_are_is_an_insight_and_how_they_shall_be_a_decision() -> None:
    [fact] = heard("that's wrong, the retry limit is MAX_ATTEMPTS in config.py, not 3")
    [rule] = heard("The timeout in client.py must stay at 30 seconds because the gateway cuts at 35.")
    assert (fact.primitive, fact.kind) == ("learning", "insight")
    assert (rule.primitive, rule.kind) == ("decision", None)
    assert "The reason: the gateway cuts at 35." in rule.body


def test_a_rule_about_tests_is_surer_in_a_session_that_has_some() -> None:
    said = you("remember: tests must not touch the network")
    [found] = candidates(you("hello"), agent("Hi."), said, agent("Ok."), you("and now?"))
    [surer] = candidates(you("hello"), agent("", edited("tests/test_a.py")), said, agent("Ok."), you("and now?"))
    assert found.confidence < surer.confidence


def test_a_name_counts_as_such_where_the_session_imports_or_installs_it() -> None:
    said = (you("always use frobnicate for dates"), agent("Ok."), you("and now?"))

    def figure(*before: Turn) -> float:
        [found] = candidates(you("hello"), *before, *said)
        return found.confidence

    unknown = figure(agent("Hi."))
    assert figure(agent("", ran("npm install frobnicate@2", "ok", 0))) > unknown
    assert figure(agent("", edited("a.ts", "", "import f from 'frobnicate'\n"))) > unknown
    assert figure(agent("", edited("a.md", "", "use frobnicate\n"))) == unknown


@pytest.mark.parametrize(
    ("said", "title", "why"),
    [
        (
            "never delete orders from `orders.db`, they must stay searchable",
            "Never delete orders from `orders.db`",
            "they must stay searchable",
        ),
        (
            "Never use print statements in src/app.py, we log with structlog",
            "Never use print statements in src/app.py",
            "the project logs with structlog",
        ),
        ("always use `Decimal` for money because floats round", "Always use `Decimal` for money", "floats round"),
    ],
)
def test_the_reason_in_the_sentence_reaches_the_body_without_filler(said: str, title: str, why: str) -> None:
    [found] = heard(said)
    assert found.title == title
    assert f"The reason: {why}." in found.body
    assert "all further work" not in found.body


def test_always_and_never_are_meant_whatever_form_the_rule_takes() -> None:
    [firm] = heard("Always use the private Key type for context values in src/app.py, never string keys")
    [stated] = heard("Use the private Key type for context values in src/app.py, not string keys")
    assert firm.title.lower().startswith(("use", "always use"))
    assert firm.confidence > stated.confidence
