"""What a hover says, what is under the cursor, and what a lens counts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from lerim.lsp.features.memories.editor_requests import path_at, possible_paths, word_at
from lerim.lsp.features.memories.hovers import HoverMemory, describe_age, link_more, render_hover
from lerim.lsp.features.memories.lenses import MAX_SYMBOLS, Lens, encode_lenses, lens_title, place_lenses
from lerim.memory.record import Evidence, MemoryRecord

NOW = datetime(2026, 8, 22, 12, tzinfo=UTC)
RECORD = MemoryRecord(
    id="20260801-use-uv",
    primitive="decision",
    title="Use uv, not pip",
    created=NOW - timedelta(days=21),
    updated=NOW,
    source="claude:11111111-2222-3333-4444-555555555555#0123456789ab",
    confidence=0.9,
    tags=(),
    body="Dependencies are installed with uv.\n\nIt is faster.",
    evidence=(Evidence("please use uv", "0123456789ab", "user"),),
)


def shown(**changes: object) -> HoverMemory:
    return HoverMemory(replace(RECORD, **changes), "aaaa", turn=True)  # type: ignore[arg-type]


def text(memory: HoverMemory, trusted: bool = True) -> str:
    return render_hover(memory, NOW, trusted=trusted)


def plain(markdown: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


def test_a_hover_names_what_how_old_and_who_said_it() -> None:
    said = plain(text(shown()))
    assert "**Use uv, not pip**" in said
    assert "Lerim · decision · 3 weeks ago  \n" in said, (
        "no confidence: that of what a person accepted says nothing more"
    )
    assert '"Record the code that it refers to as it is now")' in said
    assert "Dependencies are installed with uv." in said
    assert "“please use uv”" in said
    assert "(the developer)" in said, "a teammate may have said it"
    assert "(you)" in plain(text(replace(shown(), is_own=True)))
    assert "pitfall · " in text(shown(primitive="learning", kind="pitfall"))
    assert "“" not in text(shown(evidence=(Evidence("", "t", "user"),))), "a quote that is kept elsewhere"
    assert len(text(shown(body="word " * 1000))) < 900
    assert "openTurn" not in render_hover(HoverMemory(RECORD, "aaaa"), NOW, trusted=True)


def test_a_body_that_only_says_what_the_quote_below_it_says_is_left_out() -> None:
    quote = Evidence("Use uv, not pip: the mirror has no wheels for it.", "0123456789ab", "user")
    said = plain(text(shown(body="Use uv, not pip: the mirror has no wheels for it.", evidence=(quote,))))
    assert said.count("the mirror has no wheels") == 1
    assert "…" not in said
    assert "It is slow." in plain(text(shown(body="Use uv, not pip: It is slow.", evidence=(quote,))))
    replied = f"{quote.quote} In reply to: “Shall I use pip?”"
    said = plain(text(shown(body=replied, evidence=(quote,))))
    assert said.count("the mirror has no wheels") == 1
    assert "In reply to: “Shall I use pip?”" in said
    quote = Evidence("Do not use mocks in tests.", "0123456789ab", "user")
    said = plain(text(shown(title="How tests are written", body="Use mocks in tests.", evidence=(quote,))))
    assert "Use mocks in tests." in said, "a part of a quoted sentence may say the opposite"


@pytest.mark.parametrize("said", ["use uv, not pip.", "Use `uv`, not `pip`!"])
def test_a_quote_that_is_the_title_is_not_shown_a_second_time_but_who_said_it_is(said: str) -> None:
    hover = plain(text(shown(evidence=(Evidence(said, "0123456789ab", "user"),))))
    assert "“" not in hover
    assert hover.endswith("*Said by the developer*")
    longer = Evidence(f"{said} It is faster.", "0123456789ab", "user")
    assert f"“{longer.quote}”" in plain(text(shown(evidence=(longer,))))


def test_the_quote_shown_is_the_persons_else_the_one_that_says_what_the_title_says() -> None:
    error = Evidence("E 1 failed", "0123456789ab", "tool")
    cause = Evidence("pip has no wheels, so use uv", "0123456789ab", "assistant")
    passed = Evidence("9 passed", "0123456789ab", "tool")
    mine = Evidence("yes", "0123456789ab", "user")
    assert "“pip has no wheels, so use uv”" in plain(text(shown(evidence=(error, cause, passed))))
    assert "“yes”" in plain(text(shown(evidence=(error, cause, mine))))


def test_a_secret_in_a_memory_is_not_shown() -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    quote = Evidence(f"use {secret}", "0123456789ab", "user")
    said = plain(text(shown(title=f"Key {secret}", body=f"It is {secret}.", evidence=(quote,))))
    assert secret not in said
    assert said.count("[redacted:github-token]") == 3


def test_the_other_memories_are_one_link_whose_arguments_are_encoded() -> None:
    assert link_more(0, "file:///a.py", 1, 2) == ""
    link = link_more(2, "file:///a%20b).py", 1, 2)
    assert (
        link
        == "[2 more about this](command:lerim.showFileMemories?%5B%22file%3A%2F%2F%2Fa%2520b%29.py%22%2C%201%2C%202%5D)"
    )
    links, *_ = render_hover(shown(), NOW, trusted=True, more=link).split("\n\n")
    assert links.endswith(f" · {link}"), "above the text, which a low hover cuts off"


def test_ages_are_said_in_words_by_the_calendar() -> None:
    ages = {-3: "today", 0: "today", 1: "yesterday", 6: "6 days ago", 7: "1 week ago", 59: "1 month ago"}
    for days, said in {**ages, 800: "2 years ago"}.items():
        for time in (NOW - timedelta(days=days), (NOW - timedelta(days=days)).replace(tzinfo=None)):
            assert describe_age(time, NOW) == said
    morning = datetime(2026, 8, 22, 9).astimezone()
    assert describe_age(morning - timedelta(hours=12), morning) == "yesterday"
    assert describe_age(morning - timedelta(hours=8), morning) == "today"


@pytest.mark.parametrize(
    ("body", "rest"),
    [
        ("Use uv, not pip. It is faster.", "It is faster."),
        ("use `uv`, not `pip`!\n\nIt is faster.", "It is faster."),
        ("Use uv, not pip: it is faster. And safer.", "Use uv, not pip: it is faster. And safer."),
        ("Use uv, not pip-tools.", "Use uv, not pip-tools."),
        ("Use uv. It is faster.", "Use uv. It is faster."),
        ("Use uv, not pip.", ""),
        ("(Use uv, not pip()). It is faster.", "It is faster."),
        ("You're absolutely right - use uv, not pip. It is faster.", "It is faster."),
        ("But please use uv, not pip.", ""),
        ("No, use uv, not pip. It is faster.", "It is faster."),
        ("Well - use uv, not pip.", ""),
        ("No use uv, not pip.", "No use uv, not pip."),
        ("Never use uv, not pip.", "Never use uv, not pip."),
    ],
)
def test_a_body_that_begins_by_saying_the_title_shows_only_the_sentences_after_it(body: str, rest: str) -> None:
    said = plain(text(shown(body=body, evidence=())))
    head, *shown_body = said.split("\n\n")
    assert head.startswith("**Use uv, not pip**")
    assert "\n\n".join(shown_body) == rest


def test_a_body_with_nothing_but_our_own_sentences_is_not_shown() -> None:
    assert "concerns" not in text(shown(body="Use uv, not pip. It concerns `pyproject.toml`."))
    assert "slow" in text(shown(body="Use uv, not pip. pip was slow. It concerns `pyproject.toml`."))


def test_a_word_and_a_path_are_found_around_the_cursor() -> None:
    for line, index, word in (
        ("    store.save(x)", 11, "save"),
        ("    store.save(x)", 14, "save"),
        ("größe = 1", 2, "größe"),
        ("a  b", 2, ""),
        ("abc", 99, "abc"),
        ("x" * 5000, 2500, ""),
    ):
        assert word_at(line, index) == word
    for line, index, path in (
        ("see src/app.py, then", 8, "src/app.py"),
        ('from "./store.ts"', 9, "./store.ts"),
        ("open(src\\app.py)", 8, "src/app.py"),
        ("src/app.py:12", 3, "src/app.py"),
        ("word", 2, ""),
        ("...", 1, ""),
        ("a/" * 3000, 100, ""),
    ):
        assert path_at(line, index) == path


def test_a_path_is_looked_for_beside_the_file_and_from_the_root_and_never_outside() -> None:
    assert possible_paths("./store.ts", "src/ui") == ("src/ui/store.ts", "store.ts")
    assert possible_paths("../lib/a.py", "src") == ("lib/a.py",)
    assert possible_paths("../../../etc/passwd", "src") == ()
    assert possible_paths("/src/app.py", "docs") == ("src/app.py",)
    assert possible_paths("", "src") == ("src",)


def test_a_lens_says_what_a_click_does_and_where_to_hover() -> None:
    encoded = json.loads(encode_lenses("file:///app.py", [Lens(0, "one"), Lens(3, "two", "load")]))
    assert [one["command"]["tooltip"] for one in encoded] == [
        "List these memories. To see one, hover over line 1.",
        "List these memories. To see one, hover over load.",
    ]


def test_a_lens_names_the_weightier_kinds_first_and_is_on_no_more_symbols_than_an_editor_can_show() -> None:
    assert lens_title(("summary", "pitfall", "summary", "decision")) == "Lerim: 1 decision · 1 pitfall · 2 summaries"
    symbols = [f"name{number}" for number in range(500)]
    lenses = place_lenses(["decision"], symbols, lambda _: ["decision"], lambda _: None)
    assert len(lenses) == MAX_SYMBOLS + 1
    assert lenses[1] == Lens(None, "Lerim: 1 decision", "name0"), "one not found is left to the editor"
    first = place_lenses(["decision", "pitfall"], ["load", "save"], lambda _: ["decision"], lambda name: len(name) - 4)
    assert first == [Lens(0, "Lerim: 1 decision · 1 pitfall")], "what is on the first line is counted there"
