"""Whatever stands in an agent's file and whatever memories say: writing twice is writing once, removing restores every
byte, and nothing outside of the markers changes."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from lerim.export.choosing import MAX_BYTES, MAX_LINES, RuleMemory
from lerim.rules_files import split_rules
from long import at_most
from rules import files, memory, plan, removal, written
from test_agent_text import HOSTILE, texts

PIECES = ("\n", "\r\n", "\r", "\ufeff", "# App", "- item", "\u2028", "\x0c", "\x85", "```", " ", "\t", "@AGENTS.md")
file_texts = st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=12)), max_size=20).map("".join)
names = st.sampled_from(("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "GEMINI.md"))
places = st.lists(
    st.sampled_from(("src/a.py", "src/b/c.py", "docs/x.md", "top.py", "[id]/x.py", "lib/y.py#f")), max_size=3
)
kinds = st.sampled_from(("decision", "question", "learning"))
agents = st.sets(st.sampled_from(("claude", "codex", "cursor", "opencode", "copilot", "gemini")))


@st.composite
def memories(draw: st.DrawFn) -> list[RuleMemory]:
    titles = draw(st.lists(texts, min_size=1, max_size=5))
    return [
        memory(title, *draw(places), id=f"20260302-m{number}", primitive=draw(kinds), uses=draw(st.integers(0, 50)))
        for number, title in enumerate(titles)
    ]


@given(st.dictionaries(names, file_texts, max_size=3), memories(), agents)
def test_writing_again_changes_nothing_and_removing_restores_every_byte(
    there: dict[str, str], given: list[RuleMemory], used: set[str]
) -> None:
    start = files(there)
    after = written(start, plan(given, start, *used))
    again = plan(given, after, *used)
    assert again.edits == again.hand_edited == ()
    gone = removal(after)
    assert gone.hand_edited == ()
    assert written(after, gone).texts == start.texts


@given(file_texts, file_texts, memories(), memories())
def test_what_stands_around_the_block_stays_to_the_byte(
    above: str, below: str, first: list[RuleMemory], second: list[RuleMemory]
) -> None:
    start = files({"AGENTS.md": above})
    there = written(start, plan(first, start)).texts["AGENTS.md"]
    moved = files({"AGENTS.md": f"{there}\n{below}"})
    later = written(moved, plan(second, moved)).texts["AGENTS.md"]
    head = there.partition("<!-- lerim:begin")[0]
    assert later.startswith(head) and later.endswith(f"<!-- lerim:end -->{there.rpartition('-->')[2]}\n{below}")


@given(memories(), agents)
def test_no_memory_leaves_its_line_or_passes_a_limit(given: list[RuleMemory], used: set[str]) -> None:
    for text in written(files(), plan(given, files(), *used)).texts.values():
        lines = text.split("\n")
        assert len(lines) <= MAX_LINES + 1 and len(text.encode()) <= MAX_BYTES + 200
        assert text.count("<!--") in (1, 2) and text.splitlines() == lines[:-1]
        for line in lines:
            if line.startswith("- "):
                assert re.fullmatch(
                    r"- (decision|learning|open question): [^<>\n]*\(2026-03-02[^<>\n]*\) \[[0-9a-f]{7}\]", line
                )
                assert not re.search(r"\b(?:https?|javascript|command):\S", line, re.IGNORECASE)


@given(texts, file_texts)
def test_any_text_can_be_split_into_claims_and_the_lines_are_those_of_the_file(hostile: str, around: str) -> None:
    text = f"{around}\n- {hostile}\n\n{around}"
    lines = text.replace("\r\n", "\n").split("\n")
    for claim in split_rules(text):
        assert "\n" not in claim.text and 1 <= claim.line <= len(lines)
        first = claim.text.split()[0]
        assert first in lines[claim.line - 1].expandtabs(4) or not first.isprintable()


def test_hostile_strings_stay_in_their_lines() -> None:
    pairs = [f"{one} {other} {at}" for at in range(at_most(20, few=2)) for one in HOSTILE for other in HOSTILE]
    for at in range(0, len(pairs), 30):
        given = [memory(title, id=f"20260302-m{number}") for number, title in enumerate(pairs[at : at + 30])]
        planned = plan(given, files({"AGENTS.md": "# App\n"}))
        [edit] = planned.edits
        lines = (edit.after or "").split("\n")
        assert lines[:2] == ["# App", ""] and lines[-2:] == ["<!-- lerim:end -->", ""]
        assert len([line for line in lines if line.startswith("- decision: ")]) == len(planned.written)
        assert len(lines) == len(planned.written) + 9
        after = files({"AGENTS.md": edit.after})
        assert written(after, removal(after)).texts == {"AGENTS.md": "# App\n"}
