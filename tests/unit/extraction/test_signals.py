import pytest
from msgspec.structs import replace

from lerim.extraction.candidate import DroppedSignal
from lerim.memory import without_quotes
from lerim.sessions.model import QuestionAnswer, ToolCall, Turn
from scripted import ROOT, agent, candidates, denied, edited, outcome, planned, ran, reasons, titles, you

IMPORT_ERROR = "E   ModuleNotFoundError: No module named 'shop'"


def test_a_correction_is_proposed_word_for_word_with_what_the_agent_did_about_it() -> None:
    [found] = candidates(
        you("the totals are off by a cent"),
        agent("Adding an epsilon.", edited("src/money.py", "a * b", "a * b + 1e-9")),
        you("always use Decimal for money in `src/money.py`, never float."),
        agent("Done.", edited("src/money.py", "a * b", "Decimal(a) * b"), ran("pytest -q", "3 passed", 0)),
        you("perfect"),
    )
    assert found.title == "Always use Decimal for money in `src/money.py`, never float"
    assert found.body == f"{found.title}. The agent changed `src/money.py`; `pytest -q` then passed."
    assert found.references == ("src/money.py",)
    assert [(item.quote, item.who) for item in found.evidence] == [
        ("always use Decimal for money in `src/money.py`, never float.", "user")
    ]
    assert found.turn == found.evidence[0].turn


def test_a_rule_without_a_place_is_about_the_one_file_that_its_prompt_names() -> None:
    rule = "always print the tracking number as Code 128, never as a QR code."
    for said, places in (
        (("add the number to the label in src/labels.py.\n\n" + rule,), ("src/labels.py",)),
        (("add the number in src/labels.py or src/pages.py.\n\n" + rule,), ()),
        (("add the number to the label in src/labels.py", rule), ()),  # it may be about everything
    ):
        turns = [turn for text in said for turn in (you(text), agent("I'd print it as text."))]
        [found] = candidates(*turns, you("good"))
        assert found.references == places


@pytest.mark.parametrize(
    "calls",
    [
        (edited("src/money.py"), ran("pytest -q", "1 failed", 1)),
        (edited("src/money.py"), ran("npm test 2>&1 | tail -5", "3 failed", 0)),
        (edited("src/money.py"), ran("npm test || true", "1 failed", 0)),
        (edited("src/money.py"), ran("ls src", "money.py", 0)),
        (ran("pytest -q", "3 passed", 0), edited("src/money.py")),
    ],
)
def test_nothing_is_said_to_have_passed_that_may_have_failed_or_ran_before_the_change(
    calls: tuple[ToolCall, ...],
) -> None:
    [found] = candidates(
        you("always use Decimal for money in `src/money.py`, never float."), agent("Done.", *calls), you("perfect")
    )
    assert found.body.endswith("The agent changed `src/money.py`.")


def test_what_the_person_says_on_denying_a_call_is_theirs() -> None:
    no = agent("", denied("pip install httpx", "always use uv to install packages, never pip"))
    [found] = candidates(you("add httpx"), no, you("go on"))
    assert (found.title, found.signal) == ("Always use uv to install packages, never pip", "feedback")
    assert [item.who for item in found.evidence] == ["user"]


def test_what_the_person_says_on_rejecting_a_plan_is_theirs_and_the_plan_is_not() -> None:
    plan = "# Cache the rates\n\n## Approach\n- Always use Redis, because it is shared, in `src/rates.py`.\n"
    no = replace(planned(plan, "denied"), feedback="use SQLite instead of Redis for the rates")
    found = candidates(you("plan it"), agent("", no), agent("", edited("src/rates.py")), you("good"))
    assert [item.title for item in found if item.signal == "feedback"] == ["Use SQLite instead of Redis for the rates"]
    assert not [item for item in found if item.signal == "plan"]


def test_an_answer_is_told_with_the_question_and_what_the_agent_said_of_the_option() -> None:
    options, why = ("Never retry, always raise", "Retry twice"), ("Only the caller knows.", "Timeouts are common.")
    chosen = QuestionAnswer("How should errors of `load()` be handled?", options, options[0], why)
    asking = ToolCall("ask", "AskUserQuestion", "ask", "ok", answers=(chosen,))
    [found] = outcome(you("what is best?"), agent("", asking))
    assert isinstance(found, DroppedSignal) and found.candidate is not None  # this one ranks below the cut
    said = "Asked: “How should errors of `load()` be handled?” Answered: “Never retry, always raise”."
    assert found.candidate.body == f"{said} Only the caller knows."


@pytest.mark.parametrize(
    ("failing", "error", "passing", "title"),
    [
        (
            "pytest -q",
            "E   ModuleNotFoundError: No module named 'shop'",
            "uv run pytest -q",
            "Run `uv run pytest`, not `pytest`",
        ),
        ("npm test", 'npm ERR! Missing script: "test"', "npm run test:unit", "Run `npm run test:unit`, not `npm test`"),
        (
            "go test ./...",
            "error: DATABASE_URL is not set",
            "DATABASE_URL=x go test ./...",
            "`go test ./...` needs `DATABASE_URL` to be set",
        ),
        ("npm test", 'npm ERR! Missing script: "test"', f"cd {ROOT}/web && npm test", "Run `npm test` in `web/`"),
        ("npm install", "error: unsupported lockfile", "pnpm install", "Use `pnpm`, not `npm`: `pnpm install`"),
        (
            "ruff check",
            "sh: ruff: not found",
            "docker compose exec ruff check",
            "Run `docker compose exec ruff`, not `ruff`",
        ),
        (
            "pip install -e .",
            "error: unknown layout, flag required",
            "pip install -e . --no-deps",
            "`pip install -e .` needs `--no-deps`",
        ),
    ],
)
def test_each_kind_of_variant_says_what_to_run(failing: str, error: str, passing: str, title: str) -> None:
    turns = (agent("", ran(failing, f"Exit code 1\n{error}", 1)), agent("", ran(passing, "5 passed", 0)))
    [found] = candidates(you("run the tests"), *turns, you("ok"))
    assert (found.title, found.kind) == (title, "procedure")


@pytest.mark.parametrize(
    ("failing", "passing"),
    [
        *(("pytest", f"{other} pytest") for other in ("pip install", "uv add", "pip show", "npm i", "uv tool install")),
        ("cargo test", "go test"),
        ("go run", "golangci-lint run"),
    ],
)
def test_a_program_that_is_installed_or_looked_up_or_another_one_is_no_variant(failing: str, passing: str) -> None:
    error = f"Exit code 1\nsh: {failing}: not found"
    turns = (agent("", ran(failing, error, 1)), agent("", ran(passing, "5 passed", 0)))
    assert titles(you("run the tests"), *turns, you("ok")) == []


def test_a_fixed_source_file_is_told_in_the_past_with_its_cause() -> None:
    [found] = candidates(
        you("tests fail"),
        agent("", ran("pytest -q", "Exit code 1\nTypeError: can't compare naive and aware datetimes", 1)),
        agent("The issue is that `parse_day` returns naive datetimes.", edited("src/days.py", "now()", "now(UTC)")),
        agent("", ran("pytest -q", "9 passed in 1s", 0)),
        you("great, commit"),
    )
    assert found.title == "`pytest -q` failed with TypeError because of `src/days.py`"
    assert found.body.endswith("Said of the cause then: “The issue is that `parse_day` returns naive datetimes.”")
    told = "`pytest -q` failed. The same command passed after `src/days.py` was changed."
    assert without_quotes(found.body) == told, "both are quotes, which may have to stay on this machine"


CONFIG = "Exit code 1\nConfigError: invalid key in config.toml"
FAILED = "Exit code 1\nE  AssertionError: assert 1 == 2"
FINDING = "Exit code 1\nerror: unexpected any"
WORK: dict[str, tuple[Turn, ...]] = {
    "an assertion that holds again": (
        agent("", ran("pytest -q", FAILED, 1)),
        agent("The issue is that `f` adds one.", edited("src/f.py", "1", "2"), ran("pytest -q", "9 passed")),
    ),
    "a finding of a linter": (
        agent("", ran("npm run lint", FINDING, 1)),
        agent("The problem is the missing type.", edited("src/a.ts", "", "string"), ran("npm run lint", "passed")),
    ),
    "what the agent broke and mended itself": (
        agent("", edited("config.toml", "", "a = 1")),
        agent("", ran("pytest -q", CONFIG, 1)),
        agent("", edited("config.toml", "a = 1", "b = 1"), ran("pytest -q", "3 passed", 0)),
    ),
    "a plan handed over as a task": (
        you(
            "Implement the following plan:\n\n# Add logos\n\n## Changes\n- Add `src/Logos.tsx` with three components\n"
        ),
        agent("", edited("src/Logos.tsx")),
    ),
}


@pytest.mark.parametrize("turns", WORK.values(), ids=WORK)
def test_what_is_everyday_work_is_no_lesson(turns: tuple[Turn, ...]) -> None:
    assert candidates(you("get it green"), *turns, you("great")) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("prefer spaces over tabs in scripts", "prefer tabs over spaces in scripts"),
        ("always use pnpm here, never npm", "always use npm here, never pnpm"),
    ],
)
def test_the_later_of_two_opposite_rules_stands(first: str, second: str) -> None:
    turns = (you(first), agent("Ok."), you(second), agent("Ok."), you("fine"))
    assert [title.lower() for title in titles(*turns)] == [second]
    assert reasons(*turns) == ["refuted"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Always wait 30 seconds for the gateway of the shop", "Always wait 60 seconds for the gateway of the shop"),
        ("Always run the seed script before tests", "Never run the seed script before tests"),
        ("Remember the worker is restarted by deploys", "Remember the worker is not restarted by deploys"),
    ],
)  # fmt: skip
def test_a_rule_with_another_number_or_a_not_is_another_rule(first: str, second: str) -> None:
    assert titles(you(first), agent("Ok."), you(second), agent("Ok."), you("fine")) == [first, second]


def test_what_is_said_twice_meets_in_one_candidate() -> None:
    first, again = (
        "always use uv to install packages, never pip",
        "Please always use uv to install packages, never pip!",
    )
    [once] = candidates(you(first), agent("Ok."), you("and the docs?"))
    [found] = candidates(you(first), agent("Ok."), you(again), agent("Sorry."), you("and the docs?"))
    assert [item.quote for item in found.evidence] == [first, again]
    assert found.title == once.title
    assert found.confidence > once.confidence
