from lerim.extraction.candidate import Candidate, DroppedSignal, Withdrawal
from scripted import agent, edited, extraction, numbered, ran, you

RULE = (you("always use uv, never pip"), agent("Ok."))


def passes(*parts, settled=True):
    """What each part of one session yields when the state goes from one pass to the next as bytes."""
    state, start, out = None, 0, []
    for part in parts:
        reading = extraction(state)
        for turn in numbered(part, start):
            reading.feed(turn)
        out.append(reading.finish(settled))
        state, start = reading.state(), start + len(part)
        assert isinstance(state, bytes)
    return out


def test_the_last_exchange_of_an_unsettled_session_waits() -> None:
    first, second = passes(RULE, (you("next thing"),), settled=False)
    assert first == []
    assert [item.title for item in second] == ["Always use uv, never pip"]


def test_a_settled_session_is_judged_and_a_second_pass_proposes_nothing_new() -> None:
    first, second, third = passes(RULE, (), (you("next thing"), agent("Ok.")))
    assert len(first) == 1
    assert second == []
    assert third == []


def test_turns_met_again_change_nothing() -> None:
    turns = numbered([*RULE, you("next"), agent("Ok.")])
    reading = extraction()
    for turn in [*turns, *turns, *turns[1:]]:
        reading.feed(turn)
    assert [item.title for item in reading.finish(True)] == ["Always use uv, never pip"]


def test_a_later_turn_withdraws_what_an_earlier_pass_proposed() -> None:
    first, second = passes((*RULE,), (you("actually, forget what I said, scrap that"), agent("Ok.")))
    assert isinstance(first[0], Candidate)
    [back] = [item for item in second if isinstance(item, Withdrawal)]
    assert back.refuted_turn == first[0].turn
    assert "scrap that" in back.reason


def test_the_opposite_said_in_a_later_pass_withdraws_the_first() -> None:
    first, second = passes(
        (you("let's use redis instead of sqlite"), agent("Ok.")),
        (you("let's use sqlite instead of redis"), agent("Ok.")),
    )
    assert [type(item) for item in second] == [Withdrawal, Candidate]
    assert second[0].refuted_turn == first[0].turn


def test_a_failure_of_one_pass_is_mended_in_the_next() -> None:
    failed = (
        you("run it"),
        agent("", ran("pytest -q", "Exit code 2\nE   ModuleNotFoundError: No module named 'shop'", 2)),
    )
    mended = (
        agent("", edited("pyproject.toml", "", 'pythonpath = ["src"]')),
        agent("", ran("pytest -q", "3 passed in 1s", 0)),
    )
    first, second = passes(failed, mended)
    assert first == []
    assert [item.title for item in second] == ["`pytest -q` needs `pythonpath` in `pyproject.toml`"]
    assert second[0].evidence[0].quote == "ModuleNotFoundError: No module named 'shop'"


def test_the_same_rule_in_a_later_pass_is_the_same_claim_with_the_new_quote() -> None:
    first, second = passes(RULE, (you("Please always use uv, never pip!"), agent("Ok.")))
    assert [(item.title, item.body) for item in second] == [(item.title, item.body) for item in first]
    assert second[0].evidence[0].quote == "Please always use uv, never pip!"
    assert second[0].turn != first[0].turn


def test_a_state_that_cannot_be_read_is_a_fresh_start() -> None:
    for broken in (b"", b"{", b"\xff\xfe", b'{"version": 99}', b'{"version": 1}', b"[1]"):
        assert list(extraction(broken).finish(True)) == []


def test_the_state_of_a_huge_exchange_stays_bounded() -> None:
    turns = [you("go")] + [agent("x" * 50_000, ran(f"pytest t{n}.py", "y" * 50_000, 0)) for n in range(200)]
    reading = extraction()
    for turn in numbered(turns):
        reading.feed(turn)
    reading.finish(True)
    assert len(reading.state()) < 2_000_000


def test_what_was_dropped_or_withdrawn_shows_what_is_hidden_and_no_secret() -> None:
    token = "ghp_" + "abcdefghij\u2060klmnopqrstuvwxyz0123456789"
    back = f"actually, forget what I said, scrap that: \u202e\x1b[31m{token}"
    first, second = passes((*RULE,), (you(back), agent("Ok.")))
    assert isinstance(first[0], Candidate)
    [withdrawn] = [item for item in second if isinstance(item, Withdrawal)]
    assert "⟨U+202E⟩" in withdrawn.reason and "⟨U+001B⟩" in withdrawn.reason
    assert "abcdefghij" not in withdrawn.reason

    rule = f"always use `tabs\u200b.json` with password: hunter22 for {token}"
    [*dropped] = passes((you(rule), agent("Done."), you("on second thought, scrap that")))[0]
    assert [item.reason for item in dropped if isinstance(item, DroppedSignal)]
    for item in dropped:
        told = f"{item.title} {item.detail}" if isinstance(item, DroppedSignal) else item.title
        assert "\u200b" not in told and "abcdefghij" not in told and "hunter22" not in told
