"""Memory text in a hover: shown as it is, and dead."""

from __future__ import annotations

import re

import pytest

from lerim.lsp.boundary.markdown import escape_block, escape_line, shorten_text, show_hidden_characters

HOSTILE = [
    "[click](command:workbench.action.terminal.sendSequence?%5B%5D)",
    "![x](https://example.invalid/pixel.png)",
    "<img src=x onerror=alert(1)><a href='command:x'>y</a>",
    "<!-- hidden -->",
    "```\nfence\n```",
    "https://example.invalid/a?b=c and www.example.invalid",
    "[ref]: command:x",
    "$(zap) **bold** _it_ `code` # heading",
    "1. one\n2. two\n- three\n> quote",
    "a | b\n--|--\nc | d",
    "Title\n=====\n",
    "\\[not escaped away\\](command:x)",
    "`safe` ``[x](command:y)`` `` ` `` `[z](command:y)",
    "\\`[x](command:y)\\`",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_every_mark_that_could_mean_something_is_escaped(text: str) -> None:
    for shown in (escape_line(text), escape_block(text)):
        # read as a renderer does, from the left: an escaped mark, or a code span, inside which nothing means anything
        rest = re.sub(r"\\[!-/:-@\[-`{-~]|`[^`]+`", "", shown)
        assert not re.search(r"[\[\]<>`*_()#&~|!$@:\\]", rest)


def test_lines_and_code_spans_stay_and_indentation_makes_no_code_block() -> None:
    assert escape_block("one\r\ntwo\n\n\nthree") == "one  \ntwo\n\nthree"
    assert escape_block("    [x](command:y)\n\tz") == "\\[x\\]\\(command\\:y\\)  \nz"
    assert escape_line("see `[x](command:y)` (or `a_b`)") == "see `[x](command:y)` \\(or `a_b`\\)"


def test_hidden_characters_are_spelled_out_and_ordinary_text_of_every_script_is_untouched() -> None:
    for character in "\u202e\u200b\ufeff\u00ad\U000e0041\u2028\x1b\x00\u3164\ud800\u200d":
        assert show_hidden_characters(f"pay{character}load") == f"pay⟦U+{ord(character):04X}⟧load"
    text = "Grüße, 日本語, العربية, हिन्दी, 👩\u200d💻 and ❤\ufe0f"
    assert show_hidden_characters(text) == text


def test_long_text_is_cut_at_a_word() -> None:
    assert shorten_text("one two three four", 12) == "one two …"
    assert shorten_text("x" * 20, 10) == "x" * 10 + " …"
    assert shorten_text(" short ", 10) == "short"
