"""What a person has written down, says of those who rely on it, or picks in their own words; and their lookalikes."""

import pytest

from lerim.sessions.model import Turn
from scripted import agent, candidates, edited, titles, you

LEARNED = "# Prerelease values\n\n## Guidance\n\nLook at the channel:\n\n- A stable release needs a migration.\n"
KEPT = edited("docs/solutions/prerelease-values.md", "", LEARNED)


def test_what_was_said_and_is_to_be_written_down_is_a_rule_in_the_persons_words() -> None:
    [found] = candidates(
        you("drop the old value"),
        agent("It was published as a prerelease, so I kept it."),
        you("anything in a prerelease can be removed outright, maybe document this as a learning in the repo."),
        agent("", KEPT),
        you("ok"),
    )
    assert (found.title, found.signal) == ("Anything in a prerelease can be removed outright", "correction")
    assert found.references == ("docs/solutions/prerelease-values.md",)
    assert [quote.who for quote in found.evidence] == ["user"]


@pytest.mark.parametrize(
    "said",
    [
        "maybe the old value can be removed, what do you think",
        "can you look at the parser, and document it in the docs",
        "add the flag, document it in the docs",
        "write it in the notes",
    ],
)
def test_a_task_to_write_something_is_no_rule(said: str) -> None:
    assert candidates(you("go"), agent("ok"), you(said), agent("", edited("docs/x.md", "a", "b")), you("ok")) == []


def test_a_lesson_that_opens_a_list_is_told_by_the_first_point() -> None:
    lesson = LEARNED.replace("# Prerelease values", "# Values of a `prerelease.toml` are never migrated")
    [found] = candidates(
        you("why did it fail"), agent("", edited("docs/solutions/values.md", "", lesson)), you("perfect, thanks")
    )
    assert "Look at the channel" not in found.body
    assert "A stable release needs a migration" in found.body


INSTRUCTED = you("update the commit command to not name any agent as co-author in the commit message")


def test_how_an_agent_is_to_work_is_a_rule_where_what_instructs_it_was_changed() -> None:
    changed = agent("", edited(".cursor/commands/commit.md", "a", "No agent is a co-author."))
    [found] = candidates(you("commit"), agent("ok"), INSTRUCTED, changed, you("thanks"))
    assert found.title == "Do not name any agent as co-author in the commit message"
    assert found.references == (".cursor/commands/commit.md",)


def test_a_command_of_the_program_is_no_agents_instruction() -> None:
    changed = agent("", edited("src/commit.py", "a", "b"))
    assert candidates(you("commit"), agent("ok"), INSTRUCTED, changed, you("thanks")) == []


@pytest.mark.parametrize(
    "said",
    [
        "`backup_policy` should be hard deprecated",
        "The icons must be pngs",
        "`retry_limit` must be optional",
        "`user_id` has to be backwards compatible",
    ],
)
def test_what_something_is_to_all_who_rely_on_it_is_a_decision(said: str) -> None:
    [found] = candidates(you("go"), agent("Done."), you(said), agent("", edited("src/a.py")), you("ok"))
    assert (found.title.lower(), found.primitive) == (said.lower(), "decision")


@pytest.mark.parametrize(
    "said",
    [
        "the button should be red",
        "it must be optional",
        "this should be deprecated",
        "the bug must be in the json",
        "maybe `retry_limit` should be optional",
        "should `retry_limit` be optional?",
    ],
)
def test_what_merely_sounds_like_it_gives_nothing(said: str) -> None:
    assert titles(you("go"), agent("Done."), you(said), agent("", edited("src/a.py")), you("ok")) == []


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("we are going to adopt the `promptfoo` contract. see the docs", "Adopt the `promptfoo` contract"),
        ("we've decided to stop using webpack", "Stop using webpack"),
        (
            "A change needs to be discussed before submitting a PR",
            "A change needs to be discussed before submitting a PR",
        ),
    ],
)
def test_what_was_settled_for_all_is_a_decision(said: str, title: str) -> None:
    [found] = candidates(you("go"), agent("Done."), you(said), agent("", edited("src/a.py")), you("ok"))
    assert (found.title, found.primitive) == (title, "decision")


@pytest.mark.parametrize(
    "said",
    [
        "we are going to switch to the next task",
        "we are going to adopt it",
        "are we going to adopt `promptfoo`?",
        "we might be going to adopt `promptfoo`",
        "the test needs to be fixed before merging",
    ],
)
def test_what_is_about_to_be_done_is_no_decision(said: str) -> None:
    assert titles(you("go"), agent("Done."), you(said), agent("", edited("src/a.py")), you("ok")) == []


LAID = (
    "One decision needed:\n- Recommended: keep the default of Biome and run `lint:fix` once.\n"
    "- Alternative: enforce multiline formatting for `package.json` via config (`expand`).\n\nWhich do you prefer?"
)


def picked(said: str) -> list[Turn]:
    return [you("fix the lint"), agent(LAID), you(said), agent("", edited("biome.json")), you("ok")]


@pytest.mark.parametrize("said", ["Enfore multiline for package.json", "enforce multiline formatting in package.json"])
def test_an_alternative_named_in_the_persons_own_words_is_the_decision(said: str) -> None:
    [found] = candidates(*picked(said))
    assert (found.title, found.signal) == ("Enforce multiline formatting for `package.json` via config", "answer")
    assert [quote.who for quote in found.evidence] == ["user", "assistant"]
    assert "keep the default of Biome" in found.body


@pytest.mark.parametrize(
    "said", ["ok", "what is multiline formatting for package.json?", "run the formatting for now", "default config"]
)
def test_words_that_name_no_one_alternative_pick_nothing(said: str) -> None:
    assert candidates(*picked(said)) == []


def test_what_somebody_is_trying_to_do_is_no_rule_against_it() -> None:
    cause = "The root cause is that `mycli` is trying to show a consent prompt without a TTY."
    built = agent(cause, edited("hooks/run.json", "mycli run", "mycli run --quiet # no prompt"))
    found = candidates(
        you("why does the hook crash again and again?"), agent("Looking."), you("go"), built, you("great")
    )
    assert [one.title for one in found if "must not try" in one.title] == []
