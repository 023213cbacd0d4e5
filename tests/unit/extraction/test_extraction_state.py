from lerim.extraction.candidate import Candidate, DroppedSignal, Withdrawal
from scripted import agent, edited, extraction, numbered, passes, ran, you

RULE = (you("always use uv, never pip"), agent("Ok."))
TITLE = "Always use uv, never pip"


def test_the_last_exchange_of_an_unsettled_session_waits_and_a_settled_one_is_judged_once() -> None:
    more = (you("next thing"), agent("Ok."))
    for settled, counts in ((False, [0, 1, 0]), (True, [1, 0, 0])):
        found = passes(RULE, more, (), settled=settled)
        assert [len(one) for one in found] == counts
        assert [item.title for one in found for item in one] == [TITLE]


def test_turns_met_again_change_nothing() -> None:
    turns = numbered([*RULE, you("next"), agent("Ok.")])
    reading = extraction()
    for turn in [*turns, *turns, *turns[1:]]:
        reading.feed(turn)
    assert [item.title for item in reading.finish(True)] == [TITLE]


def test_the_opposite_said_in_a_later_pass_withdraws_the_first() -> None:
    first, second = passes(
        (you("let's use redis instead of sqlite"), agent("Ok.")),
        (you("let's use sqlite instead of redis"), agent("Ok.")),
    )
    assert [type(item) for item in second] == [Withdrawal, Candidate]
    assert second[0].refuted_turn == first[0].turn


def test_a_failure_of_one_pass_is_mended_in_the_next() -> None:
    error = "ModuleNotFoundError: No module named 'shop'"
    first, second = passes(
        (you("run it"), agent("", ran("pytest -q", f"Exit code 2\nE   {error}", 2))),
        (
            agent("", edited("pyproject.toml", "", 'pythonpath = ["src"]')),
            agent("", ran("pytest -q", "3 passed in 1s", 0)),
        ),
    )
    assert first == []
    assert [item.title for item in second] == ["`pytest -q` needs `pythonpath` in `pyproject.toml`"]
    assert [(item.who, item.quote == error) for item in second[0].evidence] == [("tool", True), ("tool", False)]
    assert (second[0].kind, second[0].references, error in second[0].body) == ("pitfall", ("pyproject.toml",), True)


def test_the_same_rule_in_a_later_pass_is_the_same_claim_with_the_new_quote() -> None:
    again = ("Please always use uv, never pip!", "ok, always use uv, never pip")
    [first], [second] = passes(RULE, [turn for said in again for turn in (you(said), agent("Ok."))])
    assert (second.title, second.body) == (first.title, first.body)
    assert tuple(item.quote for item in second.evidence) == again
    assert second.turn != first.turn


def test_a_state_that_cannot_be_read_is_a_fresh_start() -> None:
    for broken in (b"", b"{", b"\xff\xfe", b'{"version": 99}', b'{"version": 1}', b"[1]"):
        assert extraction(broken).finish(True) == []


def test_the_state_of_a_huge_exchange_stays_bounded() -> None:
    reading = extraction()
    for turn in numbered([you("go"), *(agent("x" * 50_000, ran(f"pytest t{n}.py", "y" * 50_000)) for n in range(20))]):
        reading.feed(turn)
    reading.finish(False)
    assert len(reading.state()) < 300_000


def test_what_was_dropped_or_withdrawn_shows_what_is_hidden_and_no_secret() -> None:
    token = "ghp_" + "abcdefghij\u2060klmnopqrstuvwxyz0123456789"
    back = f"actually, forget what I said, scrap that: \u202e\x1b[31m{token}"
    first, second = passes(RULE, (you(back), agent("Ok.")))
    [withdrawn] = [item for item in second if isinstance(item, Withdrawal)]
    assert withdrawn.refuted_turn == first[0].turn
    assert "scrap that" in withdrawn.reason
    assert "⟨U+202E⟩" in withdrawn.reason and "⟨U+001B⟩" in withdrawn.reason
    assert "abcdefghij" not in withdrawn.reason

    rule = f"always use `tabs\u200b.json` with password: hunter22 for {token}"
    [dropped] = passes((you(rule), agent("Done."), you("on second thought, scrap that")))
    assert [item.reason for item in dropped if isinstance(item, DroppedSignal)]
    for item in dropped:
        told = f"{item.title} {getattr(item, 'detail', '')}"
        assert not any(part in told for part in ("\u200b", "abcdefghij", "hunter22"))
