"""What a model takes, from its own words, and remembered."""

from __future__ import annotations

import stat
import threading
from pathlib import Path

import pytest

from chat_server import TOO_LONG
from lerim.models.limits import choose_window_tokens, load_limit, most_output_tokens, parse_limit, remember_limit
from lerim.models.model import Model
from lerim.models.money.consent import KnownModels, allow_model, load_known_models
from lerim.paths import Home

MODEL = Model("openai", "m", "http://127.0.0.1/v1", "", 30, 300_000, 30_000, "")


@pytest.mark.parametrize("vendor", TOO_LONG)
def test_each_services_words_tell_its_limit_or_nothing(vendor: str) -> None:
    status, body, told = TOO_LONG[vendor]
    assert status >= 400
    assert parse_limit(body) == told


@pytest.mark.parametrize(
    "said",
    [
        "",
        "too long",
        "context length is 7",
        "context length is 99999999999",
        "> 12",
        "a > b",
        "maximum context length is x",
    ],
)
def test_words_without_a_number_that_can_be_one_tell_nothing(said: str) -> None:
    assert parse_limit(said) is None


def test_hostile_words_are_read_in_no_time() -> None:
    assert parse_limit("> 1," * 200_000 + "context length " * 50_000) is None


def test_a_limit_is_remembered_beside_what_the_person_allowed(isolated: Path) -> None:
    home = Home(isolated / ".lerim")
    assert load_limit(home, "openai:m") is None
    allow_model(home, "openai:m")
    remember_limit(home, "openai:m", 8_192)
    assert load_limit(home, "openai:m") == 8_192
    assert load_known_models(home) == (KnownModels(frozenset({"openai:m"}), {"openai:m": 8_192}), [])
    assert stat.S_IMODE(home.models.stat().st_mode) == 0o600


def test_many_that_learn_at_once_lose_nothing(isolated: Path) -> None:
    home = Home(isolated / ".lerim")
    threads = [threading.Thread(target=remember_limit, args=(home, f"openai:{number}", 4_096)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(load_known_models(home)[0].limits) == 12


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"limits": 5}', b"\xff"])
def test_a_damaged_file_holds_nothing_and_is_made_anew(isolated: Path, content: bytes) -> None:
    home = Home(isolated / ".lerim")
    home.root.mkdir()
    home.models.write_bytes(content)
    assert load_known_models(home)[0] == KnownModels()
    remember_limit(home, "openai:m", 8_192)
    assert load_limit(home, "openai:m") == 8_192


def test_windows_leave_room_for_the_answer() -> None:
    assert (choose_window_tokens(MODEL, None), most_output_tokens(None)) == (300_000, 16_000)
    assert (choose_window_tokens(MODEL, 32_768), most_output_tokens(32_768)) == (17_260, 8_192)
    assert (choose_window_tokens(MODEL, 2_048), most_output_tokens(2_048)) == (500, 512)
    assert choose_window_tokens(MODEL, 2_000_000) == 300_000
