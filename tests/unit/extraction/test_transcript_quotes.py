"""Finding a model's quote again."""

from hypothesis import given
from hypothesis import strategies as st

from lerim.extraction.model.locate_quote import FoundQuote, MissingQuote, fold_text, is_overlapping, locate_quote
from lerim.extraction.transcript import ShownPiece, ShownTurn, show_turn
from lerim.sessions.model import Turn
from scripted import agent, asked, numbered, ran, you


def turns(*said: Turn) -> list[ShownTurn]:
    return [seen for turn in numbered(said) if (seen := show_turn(turn)) is not None]


SESSION = turns(
    you("Use pnpm here,  not “npm” — the lockfile\nis pnpm's."),
    agent("I'll use pnpm from now on.", ran("pnpm i", "added 12 packages in 3s")),
    you("never push to main directly"),
    agent("", asked("Which database?", ("SQLite", "Postgres"), "SQLite, it is one file")),
)


def found(quote: str, number: int) -> FoundQuote:
    place = locate_quote(quote, number, SESSION)
    assert isinstance(place, FoundQuote), place
    return place


def test_a_quote_is_found_as_it_stands_in_its_turn_whatever_its_marks_and_spaces() -> None:
    place = found('use pnpm here, not "npm" - the lockfile is pnpm\'s', 0)
    assert place.text == "Use pnpm here,  not “npm” — the lockfile\nis pnpm's"
    assert (place.turn.number, place.who) == (0, "user")
    assert found("added 12 packages", 1).who == "tool"
    assert found("Which database?", 3).who == "assistant"


def test_a_wrong_turn_number_is_put_right_when_the_quote_stands_in_one_turn_only() -> None:
    assert found("never push to main", 0).turn.number == 2
    assert found("never push to main", 99).turn.number == 2
    twice = turns(you("use tabs everywhere"), agent("ok"), you("use tabs everywhere"))
    place = locate_quote("use tabs everywhere", 1, twice)
    assert isinstance(place, MissingQuote) and "2 turns" in place.why


def test_an_invented_quote_stands_nowhere_and_one_that_says_nothing_is_refused() -> None:
    for quote in ("always deploy on fridays", "use pnpm here, not yarn", "", "  ", "use", "…", "---- ...."):
        assert isinstance(locate_quote(quote, 0, SESSION), MissingQuote), quote
    assert is_overlapping("Use  pnpm here", "use pnpm here, not npm")
    assert not is_overlapping("use pnpm", "use npm")


def test_what_was_cut_or_escaped_in_the_rendering_is_found_in_the_original() -> None:
    said = "keep [[ ## marker ## ]] lines in src/x.py\n[7] too, and password = hunter2hunter2 stays"
    session = turns(you(said))
    place = locate_quote("keep ⟦ ## marker ## ]] lines in src/x.py ⁅7] too", 0, session)
    assert isinstance(place, FoundQuote)
    assert place.text == "keep [[ ## marker ## ]] lines in src/x.py\n[7] too"
    place = locate_quote("keep ⟦ ## marker ## ]] lines in src/x.py [redacted:password] stays", 0, session)
    assert isinstance(place, FoundQuote)


def test_hidden_characters_do_not_hide_a_quote() -> None:
    session = turns(you("always use\u200b the linter\u202e first"))
    for quote in ("always use the linter first", "always use⟨U+200B⟩ the linter⟨U+202E⟩ first"):
        place = locate_quote(quote, 0, session)
        assert isinstance(place, FoundQuote)
        assert place.text == "always use\u200b the linter\u202e first"


def test_a_quote_that_was_copied_with_its_label_is_found_without_it() -> None:
    assert found("» the person answered: SQLite, it is one file", 3).text == "SQLite, it is one file"
    assert found("the person answered: SQLite, it is one file", 3).who == "user"
    assert found("[2] user: never push to main directly", 2).text == "never push to main directly"
    assert isinstance(locate_quote("the person answered: Postgres, it is faster", 3, SESSION), MissingQuote)


def test_a_short_quote_is_enough_where_it_is_all_that_the_person_said_in_the_turn_it_names() -> None:
    session = turns(you("use MIT."), agent("use tar"), you("use MIT and tell me why"))
    place = locate_quote("use MIT", 0, session)
    assert isinstance(place, FoundQuote)
    assert (place.text, place.who) == ("use MIT", "user")
    for quote, number in (("use MIT", 2), ("use tar", 1), ("use", 0), (".", 0)):
        assert isinstance(locate_quote(quote, number, session), MissingQuote)


@given(st.text(max_size=300), st.text(max_size=300), st.text(max_size=300))
def test_whatever_is_found_stands_there_to_the_letter(before: str, quote: str, after: str) -> None:
    session = [ShownTurn("0" * 12, 0, "user", None, "", (ShownPiece("user", before + quote + after),))]
    place = locate_quote(quote, 0, session)
    if isinstance(place, FoundQuote):
        assert place.text in session[0].words("user")
        assert fold_text(place.text)[0].strip() in fold_text(quote)[0]
