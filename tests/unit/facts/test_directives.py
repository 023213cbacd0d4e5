import pytest
from lerim.facts.directives import directive

from lerim.facts.wording import clean, fit, title_fault

RULES = [
    ("no, use uv not pip", "Use uv, not pip"),
    ("don't use pip, use uv", "Use uv, not pip"),
    ("ok so please use the `Result` type rather than exceptions", "Use the `Result` type, not exceptions"),
    ("actually we use pnpm here, not npm", "Use pnpm, not npm"),
    ("Instead of axios, use fetch", "Use fetch, not axios"),
    ("pnpm, not npm", "Use pnpm, not npm"),
    ("i'd prefer composition over inheritance", "Prefer composition over inheritance"),
    ("please always run `cargo fmt` before committing", "Always run `cargo fmt` before committing"),
    ("don't ever commit the .env file", "Never commit the .env file"),
    ("From now on, write commit messages in the imperative", "Write commit messages in the imperative"),
    ("The rule is: no network calls in unit tests", "No network calls in unit tests"),
    ("we don't ship playwright with the code", "Do not ship playwright with the code"),
    ("Stop adding comments to every function", "Do not add comments to every function"),
    ("every new file needs to have a comment citing the ticket", "Every new file needs a comment citing the ticket"),
    ("`schema.sql` should be the source of truth for the tables", "`schema.sql` is the source of truth for the tables"),
    ("this project uses yarn, not npm", "Use yarn, not npm"),
    ("I asked you not to touch package.json", "Do not touch package.json"),
    ("we're on python 3.11", "The project is on python 3.11"),
]


@pytest.mark.parametrize(("said", "title"), RULES)
def test_what_a_person_insists_on_becomes_an_assertion(said: str, title: str) -> None:
    rule = directive(said)
    assert rule is not None
    assert fit(rule.claim) == title
    assert title_fault(title) == ""


@pytest.mark.parametrize("said", ["now look at the logs", "thanks", "it broke again", "we run out of memory", "hello"])
def test_talk_states_no_rule(said: str) -> None:
    assert directive(said) is None


def test_a_leading_no_that_belongs_to_the_claim_is_not_filler() -> None:
    assert clean("no network calls in tests") == "no network calls in tests"
    assert clean("No, ok so please use uv") == "use uv"


def test_the_reason_is_told_from_the_claim() -> None:
    rule = directive("let's go with sqlite instead of postgres since it is a single user app")
    assert rule is not None
    assert (rule.claim, rule.reason) == ("Use sqlite, not postgres", "it is a single user app")
    assert (rule.prefer, rule.over, rule.decides) == ("sqlite", "postgres", True)


@pytest.mark.parametrize(
    ("title", "fault"),
    [
        ("Use it everywhere", "refers to something not named"),
        ("Use my server", "speaks of I, you or we"),
        ("x" * 101, "too long for a title"),
        ("Is it uv?", "asks instead of asserting"),
        ("Run `make", "cut in the middle"),
        ("Uv", "too short to say anything"),
    ],
)
def test_what_is_no_title_is_told_why(title: str, fault: str) -> None:
    assert title_fault(title) == fault
