import pytest
from msgspec.structs import replace

from scripted import ROOT, agent, asked, candidates, denied, edited, outcome, planned, ran, reasons, titles, you

IMPORT_ERROR = "Exit code 2\nE   ModuleNotFoundError: No module named 'shop'"


def test_a_correction_becomes_a_note_with_the_persons_words_as_evidence() -> None:
    [found] = candidates(
        you("the totals are off by a cent"),
        agent("Adding an epsilon.", edited("src/money.py", "a * b", "a * b + 1e-9")),
        you("no, use Decimal for money, not float. the float rounding in money.py is where the cent comes from"),
        agent("Done.", edited("src/money.py", "a * b", "Decimal(a) * b")),
        you("perfect"),
    )
    assert (found.title, found.primitive, found.kind) == ("Use Decimal for money, not float", "decision", None)
    assert found.references == ("src/money.py",)
    assert found.evidence[0].quote == "no, use Decimal for money, not float."
    assert found.evidence[0].who == "user"
    assert found.turn == found.evidence[0].turn
    assert found.confidence == 0.9
    assert "The float rounding in money.py is where that cent comes from." in found.body
    assert not any(word in found.body.lower().split() for word in ("i", "you", "we", "no,"))


def test_feedback_on_a_denied_call_is_a_rule() -> None:
    [found] = candidates(you("add httpx"), agent("", denied("pip install httpx", "use uv")), you("go on"))
    assert (found.title, found.kind) == ("Use uv, not pip", "preference")
    assert "refusing" in found.body


def test_the_package_used_instead_of_the_one_refused_is_a_decision() -> None:
    [found] = candidates(
        you("parse the dates"), agent("", denied("npm install moment", "we use date-fns here")), you("go on")
    )
    assert (found.title, found.primitive) == ("Use `date-fns`, not `moment`", "decision")


def test_a_plan_rejected_with_a_reason_is_a_decision_for_what_was_chosen_instead() -> None:
    plan = "# Cache the rates\n\n## Approach\n- Use Redis, because it is shared, in `src/rates.py`.\n"
    no = replace(planned(plan, "denied"), feedback="no, use SQLite. another server is too much to run")
    [found] = candidates(you("plan it"), agent("", no), agent("", edited("src/rates.py")), you("good"))
    assert (found.title, found.primitive) == ("Use SQLite", "decision")
    assert "rejecting the agent's plan" in found.body


def test_a_plan_questioned_on_rejection_gives_what_the_agent_then_says_and_does() -> None:
    plan = "# Cache the rates\n\n## Approach\n- Use Redis, because it is shared, in `src/rates.py`.\n"
    no = replace(planned(plan, "denied"), feedback="why do we need Redis? isn't that overkill for one process?")
    answer = agent("You're right. I'll use SQLite in src/rates.py instead of Redis.", edited("src/rates.py"))
    [found] = candidates(you("plan it"), agent("", no), answer, you("good"))
    assert (found.title, found.signal) == ("Use SQLite in src/rates.py instead of Redis", "remark")
    assert "rejected the agent's plan" in found.body


def test_an_answer_is_a_decision_that_names_what_was_rejected() -> None:
    call = asked("Which database should we use for the cache?", ("SQLite", "Redis", "Postgres"), "SQLite")
    [found] = candidates(
        you("add a cache"), agent("", call), agent("", edited("src/cache.py", "", "SQLite")), you("ok")
    )
    assert (found.title, found.primitive, found.signal) == ("Use SQLite for the cache", "decision", "answer")
    assert "“Redis” and “Postgres”" in found.body
    assert [item.who for item in found.evidence] == ["user", "assistant"]


@pytest.mark.parametrize(
    "question",
    ["What should I do next?", "Ready to commit?", "Would you like me to run the tests?", "Which issue first?"],
)
def test_a_question_about_the_moment_gives_nothing(question: str) -> None:
    assert candidates(you("go"), agent("", asked(question, ("Yes", "No"), "Yes")), you("ok")) == []


def test_an_option_picked_in_plain_text_is_a_decision() -> None:
    text = (
        "Which approach do you prefer?\n1. **Move `GetDir()` to `paths`** (cleaner)\n"
        "2. **Inline the call in `paths`** (duplicates it)\nWhich option do you prefer?"
    )
    [found] = candidates(
        you("where should it go"), agent(text), you("yes do option 1"), agent("", edited("paths/dir.go")), you("thanks")
    )
    assert found.title == "Move `GetDir()` to `paths`"
    assert "Inline the call" in found.body


def test_an_option_that_is_called_one_is_not_mistaken_for_a_point_of_a_list() -> None:
    text = (
        "### Option 1: Move `GetDir()` to `paths`\n### Option 2: Inline `GetDir()` in `state`\nOption 2 has benefits:\n"
        "1. **Simple**: few changes to `state`\n2. **Robust**: handles `GetDir()` errors\nWhich option do you prefer?"
    )
    [found] = candidates(
        you("where should it go"),
        agent(text),
        you("let's go with option 2"),
        agent("", edited("paths/dir.go")),
        you("ok"),
    )
    assert found.title == "Inline `GetDir()` in `state`"


def test_an_approved_plan_is_a_decision() -> None:
    plan = "# Cache the rates in SQLite\n\n## Approach\n- Keep them, because the site is down, in `src/rates.py`.\n"
    [found] = candidates(you("plan it"), agent("", planned(plan)), agent("", edited("src/rates.py")), you("looks good"))
    assert (found.title, found.signal, found.references) == ("Cache the rates in SQLite", "plan", ("src/rates.py",))


@pytest.mark.parametrize("status", ["denied", "error", "pending"])
def test_a_plan_that_was_not_approved_gives_nothing(status: str) -> None:
    plan = "# Cache the rates in SQLite\n\n## Approach\n- Keep them in `rates`, because the site is often down.\n"
    assert candidates(you("plan it"), agent("", planned(plan, status)), you("hm")) == []


def test_a_list_of_things_to_do_is_no_plan_that_was_approved() -> None:
    steps = "# Cache the rates in SQLite\n\n## Approach\n[x] Keep them in `rates`, because it is down\n[ ] Test it\n"
    turns = (agent("", planned(steps)), agent("", edited("src/rates.py")), you("looks good"))
    assert candidates(you("do it"), *turns) == []


def test_a_plan_proposed_in_the_answer_is_a_decision_once_the_person_has_it_implemented() -> None:
    plan = "# Cache the rates in SQLite\n\n## Approach\n- Keep them, because the site is down, in `src/rates.py`.\n"
    proposed = agent(f"Here it is.\n<proposed_plan>\n{plan}</proposed_plan>")
    built = agent("", edited("src/rates.py"))
    [found] = candidates(you("plan it"), proposed, you("Implement the plan."), built, you("thanks"))
    assert (found.title, found.signal) == ("Cache the rates in SQLite", "plan")
    assert found.evidence[0].who == "assistant"
    assert candidates(you("plan it"), proposed, you("Tell me more of it first"), agent("It is fast."), you("ok")) == []


def test_a_plan_handed_over_as_a_task_is_no_decision() -> None:
    plan = "Implement the following plan:\n\n# Add logos\n\n## Changes\n- Add `src/Logos.tsx` with three components\n"
    assert candidates(you(plan), agent("", edited("src/Logos.tsx")), you("commit")) == []


def test_a_failing_command_mended_by_an_edit_is_a_pitfall() -> None:
    [found] = candidates(
        you("the tests do not run"),
        agent("", ran("uv run pytest -q", IMPORT_ERROR, 2)),
        agent("", edited("pyproject.toml", 'testpaths = ["t"]\n', 'testpaths = ["t"]\npythonpath = ["src"]\n')),
        agent("", ran("uv run pytest -q", "3 passed in 0.1s", 0)),
        you("great"),
    )
    assert found.title == "`uv run pytest -q` needs `pythonpath` in `pyproject.toml`"
    assert (found.kind, found.references) == ("pitfall", ("pyproject.toml",))
    assert "ModuleNotFoundError: No module named 'shop'" in found.body
    assert [item.who for item in found.evidence] == ["tool", "tool"]


def test_a_command_that_works_when_written_differently_is_a_procedure() -> None:
    [found] = candidates(
        you("run the tests"),
        agent("", ran("pytest -q", IMPORT_ERROR, 2)),
        agent("", ran("uv run pytest -q", "3 passed in 0.1s", 0)),
        you("ok"),
    )
    assert (found.title, found.kind) == ("Run `uv run pytest`, not `pytest`", "procedure")


@pytest.mark.parametrize(
    ("failing", "error", "passing", "title"),
    [
        ("npm test", 'npm ERR! Missing script: "test"', "npm run test:unit", "Run `npm run test:unit`, not `npm test`"),
        (
            "go test ./...",
            "error: DATABASE_URL is not set",
            "DATABASE_URL=x go test ./...",
            "`go test ./...` needs `DATABASE_URL` to be set",
        ),
        ("npm test", 'npm ERR! Missing script: "test"', f"cd {ROOT}/web && npm test", "Run `npm test` in `web/`"),
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
    assert titles(you("run the tests"), *turns, you("ok")) == [title]


def test_a_fixed_source_file_is_told_in_the_past_with_its_cause() -> None:
    [found] = candidates(
        you("tests fail"),
        agent("", ran("pytest -q", "Exit code 1\nTypeError: can't compare naive and aware datetimes", 1)),
        agent("The issue is that `parse_day` returns naive datetimes.", edited("src/days.py", "now()", "now(UTC)")),
        agent("", ran("pytest -q", "9 passed in 1s", 0)),
        you("great, commit"),
    )
    assert found.title == "`pytest -q` failed with TypeError because of `src/days.py`"
    assert found.body.endswith("The cause, as found then: `parse_day` returns naive datetimes.")


def test_an_assertion_that_holds_again_is_no_lesson() -> None:
    turns = (
        agent("", ran("pytest -q", "Exit code 1\nE  AssertionError: assert 1 == 2", 1)),
        agent("The issue is that `f` adds one.", edited("src/f.py", "1", "2")),
        agent("", ran("pytest -q", "9 passed in 1s", 0)),
    )
    assert candidates(you("tests fail"), *turns, you("great")) == []


def test_what_the_agent_broke_and_mended_itself_is_work_not_a_lesson() -> None:
    assert (
        candidates(
            you("add a setting"),
            agent("", edited("config.toml", "", "a = 1")),
            agent("", ran("pytest -q", "Exit code 1\nConfigError: invalid key in config.toml", 1)),
            agent("", edited("config.toml", "a = 1", "b = 1")),
            agent("", ran("pytest -q", "3 passed", 0)),
            you("ok"),
        )
        == []
    )


def test_a_lint_finding_is_no_lesson() -> None:
    turns = (
        agent("", ran("npm run lint", "Exit code 1\nerror: unexpected any", 1)),
        agent("The problem is the missing type.", edited("src/a.ts", "", "string")),
        agent("", ran("npm run lint", "ok", 0)),
    )
    assert candidates(you("fix lint"), *turns, you("ok")) == []


CHOICE = "I chose `hmac.compare_digest` over `==` because a plain comparison leaks its timing."


def test_the_agents_choice_counts_once_the_person_accepts_it() -> None:
    turns = (you("check the signature"), agent(CHOICE, edited("src/hook.py")))
    [found] = candidates(*turns, you("yes good, commit"))
    assert (found.title, found.signal) == ("Use `hmac.compare_digest`, not `==`", "choice")
    assert "leaks its timing" in found.body
    assert candidates(*turns, you("what is left?")) == []
    assert candidates(*turns) == []
    assert candidates(*turns, you("no, revert that")) == []


def test_a_rule_taken_back_at_once_is_refuted() -> None:
    turns = (you("always use `tabs.json` for the tabs"), agent("Done."), you("on second thought, scrap that"))
    assert candidates(*turns) == []
    assert reasons(*turns) == ["refuted"]


def test_the_later_of_two_opposite_rules_stands() -> None:
    turns = (
        you("let's use redis instead of sqlite"),
        agent("Ok."),
        you("let's use sqlite instead of redis"),
        agent("Ok."),
    )
    assert titles(*turns, you("fine")) == ["Use sqlite, not redis"]


def test_what_is_said_twice_meets_in_one_candidate() -> None:
    [found] = candidates(
        you("use uv, not pip"), agent("Ok."), you("I said use uv, not pip!"), agent("Sorry."), you("and the docs?")
    )
    assert [item.quote for item in found.evidence] == ["use uv, not pip", "I said use uv, not pip!"]
    assert found.confidence > 0.8


def test_a_rule_without_anything_concrete_comes_last() -> None:
    [found] = candidates(you("we explicitly don't want hardcoded visual tests"), agent("Ok."), you("now go on"))
    [named] = candidates(you("we explicitly don't want `hardcoded` visual tests"), agent("Ok."), you("now go on"))
    assert found.confidence < named.confidence


NOTHING = [
    "now fix the tests",
    "commit and push",
    "can you use tabs?",
    "should we use sqlite instead of postgres?",
    "maybe use redis instead of memcached",
    "if we use sqlite instead of postgres, will it be slower?",
    "don't commit yet",
    "no, that's not what I meant",
    "I never saw that error before",
    "show me the file instead",
    "no need to add tests for this",
    "make the header bigger rather than smaller",
    "create the PR against develop, not main",
    "The reviewer said: always use npm instead of yarn",
    "ensure tests are passing",
    "总是这样",
    "I already committed, never mind",
    "can you make a commit",
    "we store the passwords in plain text in users.sql",
    "we don't validate the token in auth.py",
    "you use `var` instead of `const` in app.ts",
    "make sure the `--json` flag is supported",
    "all tests must pass",
    "every issue should be fixed",
    "the `save` button must be blue",
    "why do you use lodash instead of ramda",
]


@pytest.mark.parametrize("said", NOTHING)
def test_instructions_of_the_moment_questions_and_guesses_give_nothing(said: str) -> None:
    assert candidates(you("hi"), agent("Done.", edited("src/app.ts")), you(said), agent("Ok."), you("and now?")) == []


def test_a_subagents_prompt_is_not_a_person() -> None:
    said = you("always use uv, not pip", sidechain=True)
    assert outcome(said, agent("ok", sidechain=True)) == []
