"""The same fact, said twice in one session in other words, is one candidate."""

from __future__ import annotations

import pytest

from scripted import agent, candidates, you

FIRST = "Root cause: `ListOrders()` only used `order.CustomerID`, and ignored the `order.CustomerIDs` array completely."


def titles(*turns: object) -> list[str]:
    return [one.title for one in candidates(*turns)]  # type: ignore[arg-type]


@pytest.fixture
def known() -> list[str]:
    found = titles(you("Why are orders missing?"), agent(FIRST), you("ok, go on"), agent("Done."))
    assert len(found) == 1
    return found


@pytest.mark.parametrize(
    "again",
    [
        "The bug was that `ListOrders()` only used `order.CustomerID`, ignoring the `order.CustomerIDs` array.",
        "So the root cause is: `ListOrders()` used `order.CustomerID` only and ignored `order.CustomerIDs`.",
    ],
)
def test_what_the_agent_says_again_in_other_words_is_not_proposed_again(known: list[str], again: str) -> None:
    said = (you("Why are orders missing?"), agent(FIRST), you("ok, go on"), agent(again), you("fine"), agent("Done."))
    assert titles(*said) == known


@pytest.mark.parametrize(
    "other",
    [
        "Root cause: `ListOrders()` does not use `order.CustomerID`, and never the `order.CustomerIDs` array.",
        "Root cause: `ListInvoices()` only used `order.CustomerID`, and ignored the `order.CustomerIDs` array.",
        "Root cause: the cache of `OrderStore` is never emptied, because only `OrderStore.close()` calls `flush()`.",
    ],
)
def test_what_differs_in_a_name_or_in_its_sense_is_proposed(known: list[str], other: str) -> None:
    said = (you("Why are orders missing?"), agent(FIRST), you("ok, go on"), agent(other), you("fine"), agent("Done."))
    assert len(titles(*said)) == 2
