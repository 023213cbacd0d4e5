"""What a candidate is to a memory: the later of two contradicting claims wins in either order, what is the same is
nothing new, and what differs in a number, a name or a denial is never taken for the same."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st

from lerim.extraction.candidate import Candidate
from lerim.memory.reconcile import SAID_LATER, Decision, Neighbour, decide
from lerim.memory.record import Evidence, MemoryRecord

NOW = datetime(2026, 8, 1, tzinfo=UTC)
VERBS = ("Retry", "Log", "Cache", "Validate", "Sign", "Compress", "Rotate", "Encrypt")
OBJECTS = ("uploads", "archived sessions", "`max_size` headers", "incoming webhooks", "invoices of a customer")
PLACES = ("in `src/app.py`", "on the release branch", "for the nightly build", "with `--strict`", "in the gateway")
NAMES = ("Redis", "Postgres", "Kafka", "`httpx`", "`aiohttp`", "Terraform", "Ansible")
BODIES = ("", "The archive bucket is slow.", "A customer asked for it in `INC-41`; nobody objected.")

claims = st.builds(
    lambda verb, what, where: f"{verb} {what} {where}",
    st.sampled_from(VERBS),
    st.sampled_from(OBJECTS),
    st.sampled_from(PLACES),
)
numbers = st.integers(2, 5000)


def memory(title: str, body: str, at: datetime) -> MemoryRecord:
    return MemoryRecord("20260801-x", "decision", title, at, at, "claude:s#t", 0.8, (), body)


def said(title: str, body: str, at: datetime) -> Candidate:
    return Candidate(
        primitive="decision",
        kind=None,
        title=title,
        body=body,
        confidence=0.8,
        tags=(),
        references=(),
        evidence=(Evidence("q", "t2", "user"),),
        platform="claude",
        session="s",
        turn="t2",
        time=at,
        signal="reply",
    )


def met(first: tuple[str, str], second: tuple[str, str], days: int) -> Decision:
    """The second claim, said `days` after the first (or before), decided with the first in the store."""
    return decide(said(*second, NOW + timedelta(days=days)), [Neighbour(memory(*first, NOW), NOW)])


@given(claims, st.sampled_from(BODIES), st.integers(-50, 50))
def test_an_identical_claim_is_nothing_new_whenever_it_was_said(title: str, body: str, days: int) -> None:
    found = met((title, body), (title, body), days)
    assert (found.action, found.sure, found.reason) == ("noop", True, "")
    assert met((title, body), (f"Always {title.lower()}", body), days).action in ("noop", "update")


@given(claims, st.sampled_from(BODIES), numbers, numbers, st.integers(1, 50))
def test_of_two_values_of_one_rule_the_later_wins(title: str, body: str, one: int, other: int, days: int) -> None:
    assume(one != other)
    old, new = (f"{title} {one} times", body), (f"{title} {other} times", body)
    assert met(old, new, days).action == "update"
    earlier = met(new, old, -days)
    assert (earlier.action, earlier.reason) == ("noop", SAID_LATER)


@given(claims, st.sampled_from(BODIES), st.integers(1, 50))
def test_of_a_rule_and_its_denial_the_later_wins(title: str, body: str, days: int) -> None:
    rule, denial = (title, body), (f"Never {title[0].lower()}{title[1:]}", body)
    for old, new in ((rule, denial), (denial, rule)):
        assert met(old, new, days).action == "supersede"
        earlier = met(new, old, -days)
        assert (earlier.action, earlier.reason) == ("noop", SAID_LATER)


@given(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(PLACES), st.integers(1, 50))
def test_of_two_choices_turned_round_the_later_wins(one: str, other: str, where: str, days: int) -> None:
    assume(one != other)
    for form in ("Use {}, not {}, {}", "Use {} instead of {} {}", "Keep state {2} in {0} rather than in {1}"):
        old, new = (form.format(one, other, where), ""), (form.format(other, one, where), "")
        assert met(old, new, days).action == "supersede"
        assert met(new, old, -days).reason == SAID_LATER


@given(claims, numbers, numbers, st.sampled_from(BODIES), st.booleans(), st.integers(-50, 50))
def test_another_number_is_never_nothing_new(
    title: str, one: int, other: int, body: str, in_body: bool, days: int
) -> None:
    assume(one != other)
    told = [(title, f"{body} It takes {n} ms.") if in_body else (f"{title} in {n} ms", body) for n in (one, other)]
    found = met(told[0], told[1], days)
    assert found.action != "noop" or found.reason == SAID_LATER


@given(claims, st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(BODIES), st.booleans())
def test_another_name_is_never_nothing_new(title: str, one: str, other: str, body: str, in_body: bool) -> None:
    assume(one != other)
    told = [(title, f"{body} We asked {name}.") if in_body else (f"{title} by {name}", body) for name in (one, other)]
    assert met(told[0], told[1], 1).action != "noop"


@given(claims, claims, st.sampled_from(BODIES), st.integers(1, 50))
def test_rules_of_other_things_stand_side_by_side_in_either_order(one: str, other: str, body: str, days: int) -> None:
    assume(one != other)
    for span in (days, -days):
        found = met((one, body), (other, body), span)
        assert found.action == "add" or found.reason == SAID_LATER


@given(claims, claims, st.sampled_from(BODIES), st.integers(-9, 9))
def test_what_is_not_sure_names_the_memory_it_may_belong_to(one: str, other: str, body: str, days: int) -> None:
    found = met((one, body), (other, body), days)
    assert found.sure == (found.band == ())
