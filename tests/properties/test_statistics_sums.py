"""The groups of the statistics add up to the sessions, whichever way they are grouped; what is not known is blank."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from catalog_dump import add
from lerim.models.money.prices import PRICES
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog
from lerim.sessions.catalog.session_parts import PAUSE_SECONDS
from lerim.sessions.model import NO_TOKENS, Platform, Session, Tokens, ToolCall, Transcript, Turn
from lerim.sessions.readers.engine.whole_session import sum_session
from lerim.statistics.figures import Figures, Statistics, compute_statistics

START = datetime(2026, 3, 1, 20, tzinfo=UTC)
SPENT = ("input", "output", "cache_read", "cache_write")

counts = st.integers(0, 10**9)
tokens = st.builds(Tokens, counts, counts, counts, counts)
calls = st.lists(st.sampled_from(["ok", "error", "denied", "pending"]), max_size=3)
models = st.sampled_from(["", "claude-sonnet-4-5-20250929", "gpt-5.4", "house-made"])


@st.composite
def turns(draw: st.DrawFn, name: str) -> list[Turn]:
    """Prompts and replies in order; some without a time, with long pauses, in two folders, of several models."""
    now = START + timedelta(minutes=draw(st.integers(0, 5000)))
    made = []
    for number in range(draw(st.integers(0, 6))):
        now += timedelta(seconds=draw(st.sampled_from([0, 5, 600, PAUSE_SECONDS, PAUSE_SECONDS + 1, 90_000])))
        person = draw(st.booleans())
        made.append(
            Turn(
                id=f"{name}{number}",
                ordinal=number,
                role="user" if person else "assistant",
                kind="prompt" if person else "reply",
                text=f"Turn {number}",
                time=now if draw(st.integers(0, 5)) else None,
                cwd=draw(st.sampled_from(["/home/ana/app", "/home/ana/other", ""])),
                model="" if person else draw(models),
                tokens=NO_TOKENS if person else draw(st.one_of(st.just(NO_TOKENS), tokens)),
                tool_calls=()
                if person
                else tuple(ToolCall(f"{n}", "Bash", "shell", status) for n, status in enumerate(draw(calls))),  # type: ignore[arg-type]
            )
        )
    return made


@st.composite
def sessions(draw: st.DrawFn) -> list[tuple[Session, list[Turn]]]:
    made = []
    for number in range(draw(st.integers(0, 5))):
        own = draw(turns(f"s{number}-"))
        platform: Platform = draw(st.sampled_from(["claude", "codex", "copilot"]))
        transcript = Transcript(platform, Path(f"/s/{number}"), f"s{number}", 1, 1, 1)
        spent = sum((turn.tokens for turn in own), start=NO_TOKENS)
        told = st.one_of(st.just(spent), tokens.map(partial(Tokens.__add__, spent)))
        if spent == NO_TOKENS:
            told = st.one_of(told, st.none())
        whole = sum_session(
            transcript, own, tokens=draw(told), parent=draw(st.sampled_from(["", "", "p", *(["s0"] if number else [])]))
        )
        made.append((replace(whole, cost=draw(st.one_of(st.none(), st.floats(0.01, 100)))), own))
    return made


def all_statistics(given_: list[tuple[Session, list[Turn]]], folder: str) -> tuple[list[Statistics], Statistics]:
    """By each of the four ways, and of the project `app` alone."""
    with Catalog.open(Home(Path(folder))) as catalog:
        for session, own in given_:
            add(catalog, session, own)
        four = [compute_statistics(catalog, by) for by in ("day", "agent", "model", "repo")]
        return four, compute_statistics(catalog, "day", "app")


def added(groups: list[Figures], name: str) -> float:
    return sum(getattr(one, name) or 0 for one in groups)


@given(sessions())
def test_groups_add_up_to_the_sessions_a_project_has_its_folders_and_what_is_not_known_is_blank(
    given_: list[tuple[Session, list[Turn]]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        four, own = all_statistics(given_, folder)
    main = [session for session, own in given_ if is_main(session, given_) and not is_empty(session, own)]
    expected = {
        "prompts": sum(session.prompts for session in main),
        "tool_calls": sum(session.tool_calls for session, _ in given_),
        "errors": sum(session.tool_errors for session, _ in given_),
        **{name: sum(getattr(one.tokens or NO_TOKENS, name) for one, _ in given_) for name in SPENT},
    }
    for shown in four:
        assert shown.total == four[0].total
        assert shown.total.sessions == len(main)
        assert shown.total.untold == sum(session.tokens is None for session in main)
        for name, number in expected.items():
            assert added(shown.groups, name) == (getattr(shown.total, name) or 0) == number, name
        assert round(added(shown.groups, "seconds"), 6) == shown.total.seconds == duration(given_)
        assert abs(added(shown.groups, "cost") - (shown.total.cost or 0)) < 1e-6 * max(1, shown.total.cost or 0)
        if not any(session.tokens for session, _ in given_):
            assert all(getattr(one, name) is None for one in (*shown.groups, shown.total) for name in SPENT)
    [repo] = [one for one in four[3].groups if one.key == "app"] or [own.total]
    assert msgspec.structs.replace(repo, key=None) == own.total
    check_costs(given_, four[0].total)


@given(sessions(), st.integers(0, 400_000), st.sampled_from([None, "app"]))
def test_what_was_said_before_and_after_any_moment_adds_up_and_each_day_alone_has_the_figures_of_its_group(
    given_: list[tuple[Session, list[Turn]]], seconds: int, project: str | None
) -> None:
    moment, start = START + timedelta(seconds=seconds), START - timedelta(days=1)
    with tempfile.TemporaryDirectory() as folder, Catalog.open(Home(Path(folder))) as catalog:
        for session, own in given_:
            add(catalog, session, own)
        all_ = compute_statistics(catalog, "day", project, start)
        halves = [
            compute_statistics(catalog, "day", project, start, moment),
            compute_statistics(catalog, "day", project, moment),
        ]
        days = [(day, compute_statistics(catalog, "day", project, *span(day))) for day in all_.groups]
    for name in ("prompts", "tool_calls", "errors", "seconds", "cost", *SPENT):
        difference = added([half.total for half in halves], name) - (getattr(all_.total, name) or 0)
        assert abs(difference) < 1e-6, name
    assert max(half.total.sessions for half in halves) <= all_.total.sessions
    assert all(alone.groups == [day] for day, alone in days)


def span(day: Figures) -> tuple[datetime, datetime]:
    begin = datetime.fromisoformat(day.key or "")
    return begin.astimezone(), (begin + timedelta(days=1)).astimezone()


@given(sessions(), st.integers(0, 6))
def test_sessions_that_grew_after_they_were_counted_have_the_figures_of_sessions_read_at_once(
    given_: list[tuple[Session, list[Turn]]], first: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with Catalog.open(Home(Path(folder) / "grown")) as catalog:
            for session, own in given_:
                begun = Transcript(session.platform, session.path, session.id, 1, 1, 1, parent=session.parent)
                add(catalog, sum_session(begun, own[:first], parent=session.parent), own[:first])
            compute_statistics(catalog, "model")
            for session, own in given_:
                add(catalog, session, own)
            grown = [compute_statistics(catalog, by) for by in ("day", "agent", "model", "repo")]
        at_once, _ = all_statistics(given_, f"{folder}/at-once")
    assert grown == at_once


def test_turns_that_moved_from_a_vanished_session_count_for_the_one_that_has_them_now(tmp_path: Path) -> None:
    def make(name: str, texts: list[str]) -> tuple[Session, list[Turn]]:
        own = [Turn(text, at, "user", "prompt", text, START, "/home/ana/app") for at, text in enumerate(texts)]
        return sum_session(Transcript("claude", Path(f"/s/{name}"), name, 1, 1, 1), own), own

    with Catalog.open(Home(tmp_path)) as catalog:
        add(catalog, *make("first", ["one", "two"]))
        assert compute_statistics(catalog, "day").total.prompts == 2
        catalog.mark_vanished(["/s/first"])
        add(catalog, *make("second", ["one", "two", "three"]))
        assert compute_statistics(catalog, "day").total.prompts == 3


def check_costs(given_: list[tuple[Session, list[Turn]]], total: Figures) -> None:
    """A cost is the store's own or of the price list, and else blank."""
    unknown = known = 0
    for session, own in given_:
        used = {turn.model for turn in own if turn.tokens != NO_TOKENS}
        if session.cost:
            known += 1
        elif session.tokens is None or (used and used <= {"house-made"}):
            unknown += not session.parent and not is_empty(session, own)
    assert total.unpriced >= unknown
    assert (total.cost or 0) >= sum(session.cost or 0 for session, _ in given_) - 1e-9
    if not given_ or (not known and all(session.tokens is None for session, _ in given_)):
        assert total.cost is None


def is_empty(session: Session, own: list[Turn]) -> bool:
    """Somebody opened the agent and closed it again."""
    return not own and session.tokens in (None, NO_TOKENS) and not session.cost


def is_main(session: Session, given_: list[tuple[Session, list[Turn]]]) -> bool:
    """A subagent's session is part of its parent's, if something was said in that one."""
    return (session.platform, session.parent) not in {(one.platform, one.id) for one, own in given_ if own}


def duration(given_: list[tuple[Session, list[Turn]]]) -> float:
    seconds = 0.0
    for session, own in given_:
        times = [turn.time for turn in own if turn.time]
        if is_main(session, given_):
            pauses = [(after - before).total_seconds() for before, after in pairwise(times)]
            seconds += sum(pause for pause in pauses if pause <= PAUSE_SECONDS)
    return seconds


def test_the_price_list_is_of_prices() -> None:
    for name, price in PRICES.items():
        assert name == name.lower()
        free = price.input == price.output == price.cache_read == price.cache_write == 0
        assert free or 0 < price.cache_read <= price.input <= price.cache_write <= price.output, name
