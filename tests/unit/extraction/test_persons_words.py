"""What people say in the middle of a session: it is proposed as they said it; what they hand over is not theirs."""

import pytest

from lerim.extraction.candidate import Candidate
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
    """What is proposed of the person's words."""
    return [one for one in candidates(*BEFORE, you(said), *AFTER) if one.evidence[0].who == "user"]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("always use pathlib in this repo", "Always use pathlib in this repo"),
        ("remember: tests must not touch the network", "Remember: tests must not touch the network"),
        ("No, use pathlib instead of os.path in src/app.py.", "Use pathlib instead of os.path in src/app.py"),
        ("don't ever use mocks in tests of billing", "Don't ever use mocks in tests of billing"),
        ("so, always run the linter before a commit", "Always run the linter before a commit"),
        ("Please don't mock the database in tests", "Don't mock the database in tests"),
        ("prices are in cents, not in dollars", "Prices are in cents, not in dollars"),
        ("we prefer named exports to default exports", "We prefer named exports to default exports"),
        ("use `tabs` over spaces in Makefiles", "Use `tabs` over spaces in Makefiles"),
        ("from now on, write docstrings in the imperative", "From now on, write docstrings in the imperative"),
        ("we use snake_case by default for JSON keys", "We use snake_case by default for JSON keys"),
        ("I don’t want any mocks of the database", "I don’t want any mocks of the database"),
        ("That is likely flaky, so always rerun it", "That is likely flaky, so always rerun it"),
    ],
)
def test_a_rule_said_outright_is_proposed_as_it_was_said(said: str, title: str) -> None:
    [found] = heard(said)
    assert found.title == title
    assert found.evidence[0].quote == said


def test_a_quote_of_200_characters_ends_with_the_whole_word_that_fits() -> None:
    start = "Always use pathlib in this repo because " + "paths of the other kind break on Windows and " * 3
    start = f"{start}{'x' * (199 - len(start))}y"
    [found] = heard(f"{start} and then nobody can say why it did not work")
    assert found.evidence[0].quote == start


@pytest.mark.parametrize(
    "said",
    [
        "Benutze immer pathlib, niemals os.path",
        "Usa siempre pathlib en este repositorio",
        "A partir de agora os preços ficam em centavos",
        "Utilise pathlib au lieu de os.path",
        "N'utilise jamais os.path dans ce projet",
        "Toujours utiliser pathlib dans ce projet",
        "Всегда запускай линтер перед коммитом",
        "Используем httpx вместо requests",
        "以后都用 pnpm，不要用 npm",
        "我们决定汇率每30秒刷新一次",
        "价格默认保留六位小数",
        "今後は requests の代わりに httpx を使う",
        "앞으로는 npm 대신 pnpm을 쓰자",
    ],
)
def test_a_rule_said_outright_in_another_language_is_proposed(said: str) -> None:
    [found] = heard(said)
    assert found.evidence[0].quote == said


@pytest.mark.parametrize(
    "said",
    [
        "der Test ist immer noch rot, schau nochmal nach",
        "我们是不是应该默认保留六位小数呢",
        "le bouton ne marche jamais sur mobile",
        "почему здесь requests вместо httpx?",
    ],
)
def test_a_question_or_a_report_in_another_language_is_no_rule(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "My colleague says: always use npm instead of yarn",
        "> always use tabs, not spaces\nwhat do you make of this?",
        "Review feedback:\n1. Always use pathlib instead of os.path in src/app.py\n2. Never log tokens in src/app.py",
        'Traceback (most recent call last):\n  File "src/app.py", line 3\nValueError: use utf-8 instead of latin-1',
        "Write in the README:\nalways use uv instead of pip",
        "User: always use npm\nAgent: ok\nUser: never use yarn",
        "would it be better to always use httpx rather than requests?",
        "```\nnever use pip\n```\n2026-01-01T10:00 INFO always use uv",
    ],
)
def test_what_a_person_hands_over_or_asks_is_no_rule_of_theirs(said: str) -> None:
    assert heard(said) == []


@pytest.mark.parametrize(
    ("rule", "report"),
    [
        ("Never pass a token to `run` on the command line.", "The first page is fine, the rest never loads."),
        ("Never cache the prices in the client.", "I started it and the prices were never cached in the client."),
        ("Never embed the fonts in the client.", "It never embeds the fonts in the client."),
        ("Never alias the columns in the client.", "The client never loads the columns in it."),
        ("Never this way with the client again.", "The prices were never this high in the client."),
        ("We never need the raw client here.", "It is declared, but `client` is never read here."),
        ("Never use the raw client in the shop.", "'client' is defined but never used in the shop."),
        ("Always round the prices in the client.", "The prices in the client can always be rounded."),
        ("Keep to the policy of one client here.", "We also need a privacy policy for the client here."),
        ("Use Decimal for all the prices here.", "I wanna use Decimal for the prices in here."),
        ("Use Decimal in all of the shop.", "Use the chrome mcp to open the shop."),
        ("Use Decimal in all of the client.", "Use /review to look at the client."),
        ("Don't add any caches to the client.", "Don't change any other files of the client."),
        ("Use /api/v2 for all the new endpoints.", "Use the /review skill to look at the client."),
        ("Use tool calls for all structured answers.", "Use the fetch tool and look at the client."),
        ("We want to use Decimal for the client.", "I want to use Decimal for the client."),
        ("Use skill-based routing for the client.", "Use your own tools to look at the client."),
        ("Use Decimal for prices in the client.", "Use Decimal for prices in the client for now."),
        ("The tests must always fail without the client.", "The test of the client always fails in here."),
        ("The client always rounds the prices.", "It always crashes when I open the client."),
        ("We don't mock the client in tests.", "We don't know why the client is slow."),
        ("Stop adding mocks of the client here.", "Stop the client here and start it again."),
        ("Don't change anything in `vendor/` here.", "Don't change anything else in the client."),
        ("I don't want a second cache here.", "I dont think we have anything else here."),
    ],
)
def test_a_rule_says_what_is_to_be_and_a_report_of_what_is_or_was_is_none(rule: str, report: str) -> None:
    [found] = heard(rule)
    assert found.evidence[0].quote == rule
    assert heard(report) == []


def test_a_rule_stands_without_the_next_task_and_is_not_taken_for_one_in_a_document() -> None:
    rule = "Never log the `Authorization` header."
    [found] = heard(f"{rule} Now fix the failing test in src/app.py.")
    assert "fix" not in found.title + found.body
    assert [one.quote for one in found.evidence] == [rule]
    long = "Look at the request once more and tell me what it holds. " * 90
    assert heard(f"{long}\n\n{rule}") == []


@pytest.mark.parametrize("heading", ["## Rules", "## Never do this", "### Always do this before pushing"])
def test_a_heading_is_proposed_only_if_it_states_something_by_itself(heading: str) -> None:
    after = agent("Done."), you("ok thanks"), agent("You're welcome.")
    assert candidates(you(f"Please refactor the parser.\n\n{heading}\n\n```\nmake lint\n```"), *after) == []
    [found] = candidates(you("Please refactor it.\n\n## Never commit to main\n\nThe branch is protected."), *after)
    assert found.title == "Never commit to main"


@pytest.mark.parametrize(
    ("again", "count"),
    [
        ("The bug was that `ListOrders()` only used `order.CustomerID`, ignoring the `order.CustomerIDs` array.", 1),
        ("So the root cause is: `ListOrders()` used `order.CustomerID` only and ignored `order.CustomerIDs`.", 1),
        ("Root cause: `ListOrders()` does not use `order.CustomerID`, and never the `order.CustomerIDs` array.", 2),
        ("Root cause: `ListInvoices()` only used `order.CustomerID`, and ignored the `order.CustomerIDs` array.", 2),
        ("Root cause: the cache of `OrderStore` is never emptied, as only `OrderStore.close()` calls `flush()`.", 2),
    ],
)
def test_what_the_agent_says_again_in_other_words_is_one_candidate_unless_a_name_or_its_sense_differs(
    again: str, count: int
) -> None:
    first = (
        "Root cause: `ListOrders()` only used `order.CustomerID`, and ignored the `order.CustomerIDs` array completely."
    )
    before = you("Why are orders missing?"), agent(first), you("ok, go on")
    [known] = candidates(*before, agent("Done."))
    found = candidates(*before, agent(again), you("fine"), agent("Done."))
    assert (len(found), known.title in [one.title for one in found]) == (count, True)
