"""The same words in another order say the same only where the order cannot matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lerim.memory.contrast import read
from lerim.memory.order import reordered
from lerim.memory.reconcile import relation

TURNED = [
    ("Environment variables override the config file", "The config file overrides environment variables"),
    ("Environment variables always override the config file", "The config file must override environment variables"),
    ("The file is overridden by environment variables", "Environment variables are overridden by the file"),
    ("Environment variables override the config file", "Environment variables are overridden by the config file"),
    ("Flags override environment variables", "Environment variables override flags"),
    ("The frontend depends on the backend", "The backend depends on the frontend"),
    ("The frontend depends on the backend", "The backend depends upon the frontend"),
    ("Service A calls service B over gRPC", "Service B calls service A over gRPC"),
    ("The web worker calls the job worker", "The job worker calls the web worker"),
    ("Lint first, then test", "Test first, then lint"),
    ("Lint first, then test", "Test, then lint"),
    ("Lint, then test", "Test and lint"),
    ("Encrypt, then compress", "Compress, then encrypt"),
    ("Parse, then validate, then store", "Validate, then parse, then store"),
    ("Squash before merging, then tag", "Tag before merging, then squash"),
    ("Run the linter before the tests", "Run the tests before the linter"),
    ("Comments say why, not what", "Comments say what, not why"),
    ("Comments say why, not what", "Comments should say what instead of why"),
    ("Say why, not what", "Don't say why, say what"),
    ("Test names say what, not how", "Test names say how, not what"),
    ("Call it when, not if", "Call it if, not when"),
    ("Send reads to the replica, writes to the primary", "Send writes to the replica, reads to the primary"),
    ("Send reads to the replica, writes to the primary", "Send reads to the primary and writes to the replica"),
    ("Reads go to the replica and writes to the primary", "Reads go to the primary and writes to the replica"),
    ("Reads: replica, writes: primary", "Reads: primary, writes: replica"),
    ("Log at debug in development and at info in production", "Log at info in development and at debug in production"),
    ("Use short names for locals and long names for globals", "Use long names for locals and short names for globals"),
    ("Tests import the app, the app never imports tests", "The app imports tests, tests never import the app"),
    ("Admins approve what users request", "Users approve what admins request"),
    ("Users who pay see no ads", "Users who see no ads pay"),
    ("Delete the branch once it is merged", "Merge the branch once it is deleted"),
    ("Every service has its own database", "Every database has its own service"),
    ("Only admins may upload files", "Admins may upload only files"),
    ("`old` maps to `new`", "`new` maps to `old`"),
    ("Photos are copied from the phone to the server", "Photos are copied from the server to the phone"),
    ("Copy photos from the phone to the server", "Copy photos to the phone from the server"),
    ("Old code must work with the new schema", "New code must work with the old schema"),
    ("Look in memory first and on disk second", "Look on disk first and in memory second"),
    ("Look in memory and on disk, in this order", "Look on disk and in memory, in this order"),
    ("Sort the list by name and date", "Sort the list by date and name"),
    ("On error log, on success delete", "Log on success, delete on error"),
    ("Configuration comes from environment variables, then the file",
     "Configuration comes from the file, then environment variables"),
    ("The proxy sits behind the cache", "The cache sits behind the proxy"),
    ("Users are admins", "Admins are users"),
    ("A square is a rectangle", "A rectangle is a square"),
    ("Prefer speed over memory", "Prefer memory over speed"),
    ("Das Frontend benutzt das Backend", "Das Backend benutzt das Frontend"),
    ("Retries happen after timeouts", "Timeouts happen after retries"),
    ("Nobody but the owner may add members", "Nobody but members may add the owner"),
    ("1. Lint\n2. Test", "1. Test\n2. Lint"),
]  # fmt: skip
ALIKE = [
    ("Before a commit run the linter", "Run the linter before a commit"),
    ("Before a commit, run the linter", "Run the linter before a commit"),
    ("When the cache fails, answer from the database", "Answer from the database when the cache fails"),
    ("In tests use the fake clock", "Use the fake clock in tests"),
    ("Support Linux and macOS", "Support macOS and Linux"),
    ("Python, Java and Rust files are linted", "Java, Rust and Python files are linted"),
    ("Log at debug in development and at info in production", "Log at info in production and at debug in development"),
    ("The loader checks the config file", "The config file is checked by the loader"),
    ("The marketplace refuses SVG", "SVG is refused by the marketplace"),
    ("The first milestone is a login page", "A login page is the first milestone"),
    ("The default is `json`", "`json` is the default"),
    ("Checks of a pull request run on the merge with main", "Pull request checks run on the merge with main"),
    ("Run `make check` before every commit", "Before every commit run `make check`"),
]


def said(earlier: tuple[str, str], later: tuple[str, str]) -> str:
    return relation(read(*earlier), read(*later))[0]


@pytest.mark.parametrize("at", ["title", "body", "both", "crossed"])
@pytest.mark.parametrize("pair", TURNED)
def test_the_same_words_the_other_way_round_are_never_the_same(pair: tuple[str, str], at: str) -> None:
    one, other = pair
    first, second = {
        "title": ((one, ""), (other, "")),
        "body": (("The rule", one), ("The rule", other)),
        "both": ((one, f"{one}."), (other, f"{other}.")),
        "crossed": ((one, f"{one}."), (other, "It matters.")),
    }[at]
    assert said(first, second) != "same"
    assert said(second, first) != "same"


@pytest.mark.parametrize("pair", ALIKE)
def test_a_clause_moved_whole_a_list_and_a_passive_say_the_same(pair: tuple[str, str]) -> None:
    one, other = pair
    for texts in (((one, ""), (other, "")), (("The rule", one), ("The rule", other))):
        assert said(*texts) == "same" == said(*texts[::-1])


def test_a_sentence_without_an_end_costs_no_time() -> None:
    words = [f"word{at} for thing{at} and" for at in range(2_000)]
    assert reordered((" ".join(words), ""), (" ".join(words[::-1]), ""))


THINGS = ["the api", "the worker", "`db.py`", "readers", "old jobs", "Redis", "the German docs"]
VERBS = [
    "calls",
    "depends on",
    "waits for",
    "overrides",
    "comes before",
    "writes to",
    "is faster than",
    "owns",
    "feeds",
]


@given(
    st.lists(st.sampled_from(THINGS), min_size=2, max_size=2, unique=True),
    st.sampled_from(VERBS),
    st.sampled_from(["", " in production", " at night", " when it rains"]),
    st.booleans(),
)
def test_two_things_that_change_places_around_a_verb_are_never_the_same(
    things: list[str], verb: str, where: str, body: bool
) -> None:
    texts = [f"{one} {verb} {other}{where}" for one, other in (things, things[::-1])]
    first, second = ((("The rule", text) if body else (text, "")) for text in texts)
    assert said(first, second) != "same"


@given(st.text(alphabet="ab, .`\nnot by is ed then", max_size=80))
def test_a_text_is_in_the_order_of_itself(text: str) -> None:
    assert not reordered((text, text), (text, text))
