from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.cli.terminal import output
from lerim.errors import NotFoundError, Problem


def test_control_and_hidden_characters_are_shown_and_plain_text_of_any_script_is_left_alone():
    for text in ("use uv, not pip", "naïve façade", "使用 uv", "Пример", "✓ done"):
        assert output.escape_controls(text) == text
    assert output.escape_controls("a\x1b[2Jb\x07") == "a\\x1b[2Jb\\x07"
    assert output.escape_controls("ab\u202ec\u200bd\U000e0041") == "ab\\u{202e}c\\u{200b}d\\u{e0041}"


def test_a_title_stays_on_one_line_and_a_body_keeps_its_lines():
    assert output.escape_controls("a\nb\tc") == "a b c"
    assert output.escape_controls("a\nb\u200b", lines=True) == "a\nb\\u{200b}"


@given(st.text())
def test_nothing_visible_holds_a_control_character(text: str):
    shown = output.escape_controls(text)
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")]


def test_a_table_in_a_pipe_has_no_colour_and_reads_markup_as_text(capsys: pytest.CaptureFixture[str]):
    output.show_table(
        ("title",), [("[red]not red[/red]",), ("a\x1b[31mb",), ("word " * 100,)], title="Some [b]rows[/b]"
    )
    shown = capsys.readouterr().out
    assert "[red]not red[/red]" in shown
    assert "Some [b]rows[/b]" in shown
    assert "a\\x1b[31mb" in shown
    assert "\x1b" not in shown
    assert shown.count("word") == 100, "a long cell is wrapped and never cut"


def test_an_error_says_what_where_and_what_to_do(capsys: pytest.CaptureFixture[str]):
    output.show_error(
        NotFoundError("No memory has this id.", where="2026\x1b", todo="See `lerim memory list`."), as_json=False
    )
    output.print_problems([Problem("settings", "config.toml", "is broken")])
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines() == [
        "error: No memory has this id.",
        "  where: 2026\\x1b",
        "  what to do: See `lerim memory list`.",
        "warning: config.toml: is broken",
    ]


def test_a_number_is_broken_in_no_terminal_that_holds_the_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(output, "MAX_TABLE_WIDTH", 40)
    output.show_table(("name", "spent at last", "hours"), [("a rather long name of a repository", "229.8M", "1,284")])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 40
    assert any("229.8M" in line and "1,284" in line for line in lines)
    monkeypatch.setattr(output, "MAX_TABLE_WIDTH", 10)
    output.show_table(("name", "spent at last", "hours"), [("a rather long name of a repository", "229.8M", "1,284")])
    assert any("229.8M" in line and "1,284" in line for line in capsys.readouterr().out.splitlines())
