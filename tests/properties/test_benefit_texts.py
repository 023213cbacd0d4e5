"""Any text of a memory, prompt or command is looked at without an error, and what a memory is about is found again."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from lerim.memory import Evidence, MemoryRecord
from lerim.statistics.benefit import find_practice, judge_actions, says_again
from lerim.statistics.benefit.practices import AgentAction
from lerim.statistics.benefit.repetitions import make_known_claim

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PARTS = (
    *("use ", "Use `", "`", " instead of ", ", not ", " needs ", " to be set", "npm", "uv run"),
    *("=", "-x", "\n", "  ", "((", "[", "é", "从"),
)
texts = st.lists(st.one_of(st.sampled_from(PARTS), st.text(max_size=6)), max_size=12).map("".join)
names = st.from_regex(r"[a-z]{3,8}[0-9._-][a-z0-9]{2,6}", fullmatch=True)


def memory(title: str, body: str = "") -> MemoryRecord:
    quote = Evidence(title[:200], "0a1b2c3d4e5f", "user")
    return MemoryRecord("20260301-x", "decision", title, NOW, NOW, "manual", 0.9, (), body, None, (), (quote,))


@given(texts, texts, texts)
def test_no_text_of_a_memory_prompt_or_command_is_an_error(title: str, body: str, text: str) -> None:
    practice = find_practice(memory(title, body))
    says_again(make_known_claim(memory(title, body), practice), text)
    if practice is not None:
        assert practice.wanted or practice.given_up
        judge_actions(practice, [AgentAction(text, True, True), AgentAction(text, False, True)])


@given(names, names)
def test_what_is_wanted_follows_a_memory_and_what_is_given_up_contradicts_it(wanted: str, given_up: str) -> None:
    if wanted in given_up or given_up in wanted:
        return
    practice = find_practice(memory(f"Use {wanted} instead of {given_up}"))
    assert practice is not None
    assert judge_actions(practice, [AgentAction(f"{wanted} --all", True, True)]) == "followed"
    assert judge_actions(practice, [AgentAction(f"x = {given_up}(1)", False, True)]) == "contradicted"
    assert judge_actions(practice, [AgentAction("something else", True, True)]) is None
