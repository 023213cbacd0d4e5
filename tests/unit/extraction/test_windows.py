"""Windows over a session's turns; `tests/properties/test_window_limits.py` has what holds of all of them."""

from pathlib import Path

from lerim.extraction.model.windows import TokenCounter, cut_windows, halve_window, take_overlap
from lerim.extraction.transcript import ShownPiece, ShownTurn
from lerim.models import tokens
from lerim.paths import Home
from lerim.sessions.catalog.catalog import Catalog


def turn(number: int, text: str) -> ShownTurn:
    return ShownTurn(f"{number:012x}", number, "user", None, "", (ShownPiece("user", text),))


def session(count: int, words: int = 40) -> list[ShownTurn]:
    return [turn(number, f"turn {number} says " + "word " * words) for number in range(count)]


def test_a_turn_is_counted_once_ever(tmp_path: Path) -> None:
    turns, home = session(40), Home(tmp_path)
    with Catalog.open(home) as catalog:
        count = TokenCounter(catalog)
        first = cut_windows(turns[:30], 500, 100, count=count)
        take_overlap(turns[:30], 100, count)
        count.store()
        assert catalog.db.execute("SELECT count(*) FROM counted").fetchone() == (30,)
        catalog.db.execute("UPDATE counted SET tokens = tokens + 1")  # so that it shows who counted
    with Catalog.open(home) as catalog:
        [again] = cut_windows(turns[:30], 2_000, 100, count=TokenCounter(catalog))
        assert again.size == sum(tokens.count_tokens(block.text) for block in again.blocks) + 30
    assert len(first) > 1


def test_a_window_is_halved_between_turns_and_only_what_is_new_is_in_its_halves() -> None:
    window = cut_windows(session(40), 500, 100)[1]
    one, two = halve_window(window)
    assert (*one.fresh_turns, *two.fresh_turns) == window.fresh_turns
    assert one.text + two.text == "".join(block.text for block in window.blocks if block.is_fresh)
    assert abs(one.size - two.size) <= 120
    assert (one.first_fresh, two.first_fresh) == (window.first_fresh, two.turns[0].number)


def test_a_window_of_one_turn_is_halved_within_the_turn() -> None:
    text = "\n".join(f"line {number} of a very long message" for number in range(300))
    [window] = cut_windows([turn(7, text)])
    one, two = halve_window(window)
    assert "[7] user (part 1 of 2):" in one.text
    assert "[7] user (part 2 of 2):" in two.text
    assert one.text.count("line ") + two.text.count("line ") == 300
    assert one.first_fresh == two.first_fresh == 7
    for part in halve_window(two):
        assert part.size < two.size


def test_a_session_that_fits_is_one_window_and_nothing_is_counted() -> None:
    tokens.load_encoding.cache_clear()
    [window] = cut_windows(session(20))
    assert tokens.load_encoding.cache_info().misses == 0
    assert [held.number for held in window.turns] == list(range(20))
