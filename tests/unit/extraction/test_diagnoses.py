import pytest

from lerim.extraction.candidate import Candidate
from scripted import agent, candidates, edited, extraction, numbered, ran, titles, you

CAUSE = "Found it! The issue is that `parse_day` drops the zone of every date, so reports shift by a day."
MENDED = edited("src/days.py", "def parse_day(text)", "def parse_day(text, zone)")
LOOK = ran("rg -n parse_day src", "src/days.py:3: def parse_day(text)", 0)
GREEN = ran("pytest -q", "9 passed in 1s", 0)
RED = ran("pytest -q", "Exit code 1\nE   AssertionError: assert 1 == 2", 1)


def test_a_cause_that_an_edit_and_a_passing_command_bore_out_is_a_pitfall() -> None:
    [found] = candidates(you("why are reports off"), agent("", LOOK, LOOK), agent(CAUSE, MENDED), agent("", GREEN))
    assert (found.title, found.signal, found.kind) == (
        "`parse_day` drops the zone of every date, so reports shift by a day",
        "diagnosis",
        "pitfall",
    )
    assert found.references == ("src/days.py#parse_day",)
    assert found.evidence[0].quote == CAUSE.partition("! ")[2]
    assert found.evidence[0].who == "assistant"
    assert "`pytest -q` passed afterwards." in found.body
    assert found.confidence == 0.65


def test_the_numbers_of_lines_are_told_nowhere() -> None:
    cause = (
        "Found it! The issue is that `parse_day` drops the zone of every date (line 242), so reports shift by a day."
    )
    fix = "The fix: keep the zone in `parse_day` at line 12 of the module."
    [found] = candidates(
        you("why are reports off"), agent("", LOOK, LOOK), agent(f"{cause} {fix}", MENDED), agent("", GREEN)
    )
    assert "line " not in found.title + found.body
    assert "(line 242)" in found.evidence[0].quote


def test_a_commit_or_the_persons_agreement_bears_a_cause_out_too() -> None:
    commit = ran("git commit -m 'keep the zone'", "[main 1a2b3c] keep the zone", 0)
    assert (
        len(titles(you("why"), agent("", LOOK, LOOK), agent(CAUSE, MENDED), agent("", commit), you("what is next?")))
        == 1
    )
    assert len(titles(you("why"), agent("", LOOK, LOOK), agent(CAUSE, MENDED), you("perfect, thanks"))) == 1


def test_a_person_who_goes_on_with_other_work_has_not_objected() -> None:
    turns = (you("why are reports off"), agent("", LOOK, LOOK), agent(CAUSE, MENDED))
    [found] = candidates(*turns, you("add a column for the currency"))
    assert "The person went on without objecting." in found.body
    assert titles(*turns, you("the reports are still off by a day")) == []
    assert titles(*turns, you("TypeError: can't compare naive and aware datetimes")) == []


@pytest.mark.parametrize(
    "turns",
    [
        (agent(CAUSE), agent("", GREEN)),
        (agent(CAUSE, edited("docs/other.md")), agent("", GREEN)),
        (agent(CAUSE, MENDED), agent("", RED)),
        (agent(CAUSE, MENDED),),
    ],
    ids=["nothing was changed", "something else was changed", "it failed again", "nothing ran"],
)
def test_a_cause_that_nothing_bore_out_gives_nothing(turns: tuple) -> None:
    assert titles(you("why are reports off"), agent("", LOOK, LOOK), *turns, you("and now?")) == []


def test_a_cause_the_person_refutes_is_dropped() -> None:
    assert (
        titles(you("why"), agent("", LOOK, LOOK), agent(CAUSE, MENDED), agent("", GREEN), you("no, that is wrong"))
        == []
    )


def test_a_cause_after_which_it_still_failed_gives_way_to_the_one_that_held() -> None:
    second = "Root cause: `load_day` reads the cache before `parse_day` ran.\n"
    assert titles(
        you("why"),
        agent("", LOOK, LOOK),
        agent(CAUSE, MENDED),
        agent("", RED),
        agent(second, edited("src/days.py", "parse_day", "load_day(parse_day)")),
        agent("", GREEN),
        you("ok"),
    ) == ["`load_day` reads the cache before `parse_day` ran"]


def test_the_cause_given_as_an_answer_counts_when_the_next_exchange_mends_it() -> None:
    assert titles(
        you("why"), agent("", LOOK, LOOK), agent(CAUSE), you("fix it"), agent("", MENDED), agent("", GREEN), you("ok")
    ) == ["`parse_day` drops the zone of every date, so reports shift by a day"]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("The sync fails because `load` opens `cart.db` without a lock.", "`load` opens `cart.db` without a lock"),
        ("Turns out `cart.db` is only made by `make seed`.", "`cart.db` is only made by `make seed`"),
        (
            "The reason it works on one machine and not in CI is that `TZ` is only set in `cart.db`.",
            "`TZ` is only set in `cart.db`",
        ),
        (
            "The bug is in `cart.db`: it keeps the last row when the table is empty.",
            "`cart.db` keeps the last row when the table is empty",
        ),
        (
            "Now I see the problem! A row of `cart.db` was written, but `CsvReader` was **never told** so.",
            "A row of `cart.db` was written, but `CsvReader` was never told so",
        ),
        (
            "**Root cause found:** line 18 in `cart.db` has a rule that blocks every write",
            "`cart.db` has a rule which blocks every write",
        ),
        ("Ah, the problem: the same `cart.db` is opened twice (line 7).", "One `cart.db` is opened twice"),
        ("I also discovered that `cart.db` never closes the handle.", "`cart.db` never closes the handle"),
    ],
)
def test_causes_are_told_in_many_ways(text: str, title: str) -> None:
    change = edited("src/cart.py", "open('cart.db')", "open('shop/cart.db')")
    assert titles(you("why"), agent("", LOOK, LOOK), agent(text, change), agent("", GREEN), you("ok")) == [title]


@pytest.mark.parametrize(
    "text",
    [
        "The issue might be that `parse_day` drops the zone of every date.",
        "The problem is a missing `datetime` import in `src/days.py` here.",
        "The issue is that it drops the zone when it reads `parse_day`.",
        "The tests failed because `parse_day` is broken in some way.",
        "The issue is that I forgot to pass the zone to `parse_day`.",
        "Let me find the root cause of the shift in `parse_day`.",
        "The issue is that reports are shifted by a day after every import.",
        "I found that `src/days.py` has three functions and a table.",
        "CI fails because the linter is reporting two errors in `parse_day`.",
    ],
    ids=[
        "guess",
        "slip",
        "no referent",
        "symptom",
        "speaks of itself",
        "only announced",
        "names nothing",
        "told by the way",
        "what a check reports",
    ],
)
def test_what_is_no_cause_a_colleague_would_keep_gives_nothing(text: str) -> None:
    assert titles(you("why"), agent("", LOOK, LOOK), agent(text, MENDED), agent("", GREEN), you("ok")) == []


def test_a_list_under_a_heading_is_as_many_causes() -> None:
    text = (
        "All green.\n\n## Root causes\n1. `parse_day` drops the zone of every date\n"
        "2. `CsvReader` was skipping rows without a total\n\n## Changes\n- `x.py`: tidied"
    )
    change = edited("src/days.py", "def parse_day", "class CsvReader")
    assert titles(you("why"), agent("", LOOK, LOOK), agent("", change), agent("", GREEN), agent(text), you("ok")) == [
        "`parse_day` drops the zone of every date",
        "`CsvReader` must not skip rows without a total",
    ]


def test_what_was_going_on_is_told_in_the_past() -> None:
    text = "The root cause is that `CsvReader` is skipping rows, but the importer is counting them."
    [found] = candidates(
        you("why"),
        agent("", LOOK, LOOK),
        agent(text, edited("src/csv.py", "CsvReader", "")),
        agent("", GREEN),
        you("ok"),
    )
    assert found.title == "`CsvReader` must not skip rows"
    assert found.body.startswith("`CsvReader` was skipping rows, but the importer was counting them.")


def test_a_finding_said_again_in_the_summary_meets_in_one_candidate() -> None:
    again = "Done.\n\n**Root cause:** `parse_day` drops the zone of every date\n"
    [found] = candidates(
        you("why"), agent("", LOOK, LOOK), agent(CAUSE, MENDED), agent("", GREEN), agent(again), you("ok")
    )
    assert [item.turn for item in found.evidence[:2]] == [f"{2:012x}", f"{4:012x}"]


def test_a_finding_said_again_in_a_later_sync_adds_its_quote_only() -> None:
    first = extraction()
    turns = numbered(
        [
            *(you("why"), agent("", LOOK, LOOK), agent(CAUSE, MENDED), agent("", GREEN), you("ok")),
            agent("", LOOK, LOOK),
            agent(CAUSE, MENDED, GREEN),
        ]
    )
    [one] = [item for turn in turns[:5] for item in first.feed(turn)] + list(first.finish(False))
    later = extraction(first.state())
    [two] = [item for turn in turns[5:] for item in later.feed(turn)] + list(later.finish(True))
    assert isinstance(one, Candidate)
    assert isinstance(two, Candidate)
    assert (two.title, two.body, two.turn) == (one.title, one.body, turns[6].id)


def test_a_mended_command_and_its_cause_are_one_finding_with_the_error_as_evidence() -> None:
    [found] = candidates(
        you("tests fail"),
        agent("", ran("pytest -q", "Exit code 1\nTypeError: can't compare naive and aware datetimes", 1), LOOK),
        agent("The issue is that `parse_day` returns naive datetimes.", MENDED),
        agent("", GREEN),
        you("great, commit"),
    )
    assert found.title == "`parse_day` returns naive datetimes"
    assert "“TypeError: can't compare naive and aware datetimes”" in found.body
    assert [item.who for item in found.evidence] == ["assistant", "tool", "tool"]


def test_code_tables_and_quotes_of_an_answer_name_no_cause() -> None:
    text = "```\nThe issue is that `parse_day` drops the zone\n```\n> The issue is that `parse_day` drops the zone."
    assert titles(you("why"), agent("", LOOK, LOOK), agent(text, MENDED), agent("", GREEN), you("ok")) == []


def test_a_slip_that_was_seen_and_mended_at_once_is_told_by_the_code() -> None:
    assert titles(you("why are reports off"), agent(CAUSE, MENDED), agent("", GREEN), you("ok")) == []


@pytest.mark.parametrize(
    "text",
    [
        "The issue is that the `Chart` component doesn't accept a `size` prop.",
        "The test is failing because the snapshot in `days.snap` is outdated.",
        "The issue is with the regex in `parse_day`.",
        "The edit failed because the string `def parse_day` appears twice in `src/days.py`.",
        "The issue is that `src/days.py` was modified in between.",
        "The issue is that port 3000 is already in use by `next dev`.",
        "I found that the tests for `parse_day` are in `days_test.py`.",
        "I confirmed that `parse_day` never fails on that file.",
        "The problem is `src/days.py`: the closing bracket is missing.",
    ],
)
def test_slips_of_the_moment_are_no_findings(text: str) -> None:
    change = edited("src/days.py", "Chart days.snap parse_day next dev", "def parse_day(text, zone) days_test.py")
    assert titles(you("why"), agent("", LOOK, LOOK), agent(text, change), agent("", GREEN), you("ok")) == []


def test_a_fault_that_is_gone_and_leaves_no_rule_is_less_sure() -> None:
    text = "The issue is that `parse_day` checked the `utc` flag and dropped the zone of every date."
    [found] = candidates(you("why are reports off"), agent("", LOOK, LOOK), agent(text, MENDED), agent("", GREEN))
    assert (found.title, found.confidence) == (
        "`parse_day` checked the `utc` flag and dropped the zone of every date",
        0.55,
    )
    [fixed] = candidates(
        you("why are reports off"),
        agent("", LOOK, LOOK),
        agent(f"{text} The fix is to keep the zone in `parse_day`.", MENDED),
        agent("", GREEN),
    )
    assert fixed.confidence == 0.65
    assert "The fix: keep the zone in `parse_day`." in fixed.body


def test_a_fix_after_which_a_command_failed_once_more_is_not_told_as_the_fix() -> None:
    told = f"{CAUSE} The fix is to keep the zone in `parse_day`."
    steps = (you("why are reports off"), agent("", LOOK, LOOK), agent(told, MENDED))
    [held] = candidates(*steps, agent("", GREEN), you("ok"))
    [failed_once] = candidates(*steps, agent("", RED), agent("", MENDED), agent("", GREEN), you("ok"))
    assert "The fix: " in held.body
    assert "The fix: " not in failed_once.body
