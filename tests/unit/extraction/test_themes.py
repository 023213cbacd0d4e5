"""The ground that several sessions in a row worked on, named by its folder and the words of the requests."""

from datetime import UTC, datetime, timedelta

from lerim.extraction.themes import ThemeRequest, ThemeSession, find_themes

START = datetime(2026, 7, 1, 9, tzinfo=UTC)
KEY = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A"


def session(day: int, text: str, *changed: str) -> ThemeSession:
    asked = ThemeRequest(f"{day:012x}", text, START + timedelta(days=day), changed)
    return ThemeSession("claude", f"s{day}", (asked,))


BILLING = (
    session(0, "Round refunds of invoices half up in the billing service.", "services/billing/refund.py"),
    session(
        1, "Refunds of partial invoices fail, please look.", "services/billing/refund.py", "services/billing/invoice.py"
    ),
    session(3, "Let invoices show their refunds.", "services/billing/invoice.py"),
)


def test_three_sessions_on_one_folder_are_a_theme_with_its_words_files_and_quotes() -> None:
    [theme] = find_themes(BILLING)
    assert theme.title == "Work on invoices and refunds in `services/billing`"
    assert (theme.primitive, theme.kind, theme.signal, theme.confidence) == ("theme", None, "theme", 0.65)
    assert theme.references == ("services/billing/invoice.py", "services/billing/refund.py")
    assert [item.quote for item in theme.evidence] == [
        "Let invoices show their refunds.",
        "Refunds of partial invoices fail, please look.",
        "Round refunds of invoices half up in the billing service.",
    ]
    assert (theme.session, theme.turn, theme.time) == ("s3", f"{3:012x}", START + timedelta(days=3))


def test_a_day_of_work_two_sessions_or_ground_without_a_word_of_its_own_are_none() -> None:
    same_day = [session(0, one.requests[0].text, *one.requests[0].changed) for one in BILLING]
    assert find_themes([ThemeSession("claude", f"x{at}", one.requests) for at, one in enumerate(same_day)]) == []
    assert find_themes(BILLING[:2]) == []
    assert find_themes([session(day, "please fix the tests", "services/billing/refund.py") for day in range(4)]) == []


def test_a_word_that_fewer_than_three_sessions_or_half_of_them_say_is_no_theme() -> None:
    place = "parcels/store.py"
    asked = ("The whole queue was blocked.", "Weights are whole grams.", "Let readers pass.", "Print barcodes.")
    assert find_themes([session(day, text, place) for day, text in enumerate(asked[:3])]) == []
    spoken = ["Let refunds pass.", "Count refunds.", "Print refunds."]
    [theme] = find_themes([session(day, text, place) for day, text in enumerate((*spoken, *asked[1:]))])
    assert theme.title == "Work on refunds in `parcels`"
    assert find_themes([session(day, text, place) for day, text in enumerate((*spoken, *asked))]) == []


def test_tests_documents_hidden_folders_and_the_root_are_no_ground() -> None:
    for path in ("tests/billing/a.py", "docs/refunds/a.md", ".github/workflows/refunds.yml", "refunds.py"):
        assert find_themes([session(day, "Let refunds be rounded.", path) for day in range(4)]) == [], path


def test_of_folders_in_each_other_the_deeper_is_the_ground_unless_the_outer_has_sessions_of_its_own() -> None:
    deep = [session(day, "Let refunds be rounded.", "src/shop/billing/a.py") for day in range(3)]
    assert [one.title for one in find_themes(deep)] == ["Work on refunds and rounded in `src/shop/billing`"]
    wide = [*deep, *(session(day, "Let coupons expire.", f"src/shop/cart{day}/b.py") for day in range(5, 9))]
    assert [one.title for one in find_themes(wide)] == [
        "Work on coupons and expire in `src/shop`",
        "Work on refunds and rounded in `src/shop/billing`",
    ]


def test_words_that_other_ground_was_asked_for_as_often_tell_nothing() -> None:
    others = [session(day, "Let refunds be listed in the search.", f"src/search/{day}.py") for day in range(10, 14)]
    titles = [one.title for one in find_themes([*BILLING, *others])]
    assert "Work on invoices in `services/billing`" in titles
    assert "Work on listed and search in `src/search`" not in titles  # its folder says `search` already


def test_a_secret_in_a_request_is_in_no_theme() -> None:
    leaky = [session(day, f"Let refunds use {KEY} for invoices.", "services/billing/a.py") for day in range(4)]
    for theme in find_themes(leaky):
        assert KEY not in repr(theme)


def test_the_same_ground_gives_the_same_claim_when_more_sessions_come() -> None:
    [before] = find_themes(BILLING)
    [after] = find_themes([*BILLING, session(4, "Refunds of invoices need a reason.", "services/billing/refund.py")])
    assert (before.title, before.body) == (after.title, after.body)
    assert after.time > before.time
