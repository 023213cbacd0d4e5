"""Counting and cutting tokens, offline."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.errors import SettingsError
from lerim.models import tokens

SCRIPTS = (
    "abc XYZ 0123 .,/{}[]()\n\n\t  äöß éñ Привет мир 你好世界 日本語テキスト 한국어 مرحبا שלום हिन्दी ไทย 🙂👩‍💻🏳️‍🌈 ⟦⟧"
)
ANY = st.text(max_size=400) | st.text(alphabet=SCRIPTS, max_size=800) | st.binary(max_size=300).map(bytes.hex)


def test_the_package_carries_the_encoding_and_counts_without_a_network() -> None:
    assert tokens.count_tokens("hello world") == 2
    assert tokens.load_encoding().name == "o200k_base"


def test_the_environment_is_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "/elsewhere")
    tokens.load_encoding.cache_clear()
    tokens.load_encoding()
    assert os.environ["TIKTOKEN_CACHE_DIR"] == "/elsewhere"


@pytest.mark.parametrize("content", [None, b"damaged"])
def test_a_missing_or_damaged_encoding_is_said_and_not_fetched(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / tokens.FILE_NAME).write_bytes(content)
    with pytest.raises(SettingsError) as caught:
        tokens.load_encoding(tmp_path)
    assert "make package" in caught.value.todo
    assert content is None or (tmp_path / tokens.FILE_NAME).read_bytes() == content


@given(ANY, st.integers(8, 60))
def test_pieces_fit_in_any_script_and_lose_nothing(text: str, most: int) -> None:
    found = tokens.split_by_tokens(text, most)
    assert "".join(found) == text
    assert all(tokens.count_tokens(piece) <= most for piece in found)


def test_pieces_end_with_lines_where_lines_fit() -> None:
    text = "".join(f"line {number} of a longer text\n" for number in range(200))
    found = tokens.split_by_tokens(text, 50)
    assert len(found) > 10
    assert all(piece.endswith("\n") for piece in found)


@pytest.mark.parametrize("line", ["好" * 3_000, "x" * 30_000, "some words, " * 3_000])
def test_a_line_without_an_end_is_cut_into_pieces_of_nearly_the_allowed_size(line: str) -> None:
    found = tokens.split_by_tokens(line, 500)
    assert max(tokens.count_tokens(piece) for piece in found) <= 500
    assert sum(tokens.count_tokens(piece) > 400 for piece in found) >= len(found) - 1


def test_lone_surrogates_are_cut_without_loss() -> None:
    text = "\ud800 text " * 400
    assert "".join(tokens.split_by_tokens(text, 20)) == text
